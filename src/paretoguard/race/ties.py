"""Arms that are equal: without a tolerance no number of results shows that neither is better."""

from paretoguard.problem.noise import Exact
from paretoguard.race.race_plan import Plan


def without_end(plan: Plan, budget: int | None) -> str:
    """That exact ties would never end, and in what; nothing where something ends them."""
    problem = plan.problem
    rows_end = plan.recorded is not None and not plan.how.replacement
    if budget is not None or rows_end or len(problem.arms) == 1:
        return ""
    names = [name for name in problem.compared if not isinstance(problem.noise[name], Exact)]
    open_ = [name for name in names if problem.tolerance.get(name, 0.0) == 0.0]
    return f"arms that are equal in {' or '.join(open_)} would be measured without end" if open_ else ""
