"""Words and numbers that stand for the same thing everywhere: statuses, tasks, orders, guarantees, stop reasons."""

STATUSES = ("undecided", "optimal", "dominated", "infeasible")  # a status is a place in this list inside the engine
UNDECIDED, OPTIMAL, DOMINATED, INFEASIBLE = 0, 1, 2, 3
E_CPSI, CPSI = TASKS = ("e-cpsi", "cpsi")  # a reason for every arm that is not best, or the best arms alone
# how results are counted that come in another order than they were asked for
BY_ARRIVAL, AS_ASKED = ORDERS = ("arrival", "asked")
FINITE_SAMPLE, ASYMPTOTIC, HEURISTIC = GUARANTEES = ("finite-sample", "asymptotic", "heuristic")
# why a run ended; inside the engine a place in this list
STILL_OPEN, ANSWER_FOUND, BUDGET_SPENT = STOP_REASONS = ("open", "answered", "budget")
# the built-in ones, in the order in which they are listed
ALGORITHM_NAMES = ("pitfall", "e-cape", "two-stage", "racing", "uniform", "game-cpsi")
EVIDENCE_NAMES = ("certified", "practical", "lil", "hanson-wright", "theorem", "glr")
