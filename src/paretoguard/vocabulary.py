"""Words and numbers that stand for the same thing everywhere: statuses, tasks, orders, guarantees, stop reasons."""

STATUSES = ("undecided", "optimal", "dominated", "infeasible")  # a status is a place in this list inside the engine
UNDECIDED, OPTIMAL, DOMINATED, INFEASIBLE = 0, 1, 2, 3
TASKS = ("cpsi", "e-cpsi")  # the best arms alone; or a reason for every other arm as well
ORDERS = ("arrival", "asked")  # how results are counted that come in another order than they were asked for
FINITE_SAMPLE, ASYMPTOTIC, HEURISTIC = GUARANTEES = ("finite-sample", "asymptotic", "heuristic")
STOP_REASONS = ("open", "answered", "budget")  # why a run ended; inside the engine a place in this list
