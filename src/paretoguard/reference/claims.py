"""What was certified, and what follows from it by chains: the status of each arm (section 7 of docs/guarantees.md)."""

import itertools
from collections.abc import Iterable

from paretoguard.reference.evidence import FEASIBLE, INFEASIBLE, Evidence

OPTIMAL, DOMINATED, UNDECIDED = "optimal", "dominated", "undecided"


class Claims:
    """Claims certified at one time or another; what was certified once stays."""

    def __init__(self, arms: int) -> None:
        self.feasible: set[int] = set()
        self.infeasible: set[int] = set()
        self.above: list[set[int]] = [set() for _ in range(arms)]  # arms that dominate i
        self.harmless: list[set[int]] = [set() for _ in range(arms)]  # arms that do not
        self.some: list[set[frozenset[int]]] = [set() for _ in range(arms)]  # sets of arms at least one of which does

    def look(self, evidence: Evidence, arm: int, others: Iterable[int]) -> bool:
        """Add what is certain of an arm now, also beside the others; is any of it new?"""
        before = self._size(arm)
        side = evidence.side(arm)
        if side == FEASIBLE:
            self.feasible.add(arm)
        if side == INFEASIBLE:
            self.infeasible.add(arm)
        is_new = self._size(arm) > before
        for other in others:
            for i, j in ((arm, other), (other, arm)):
                if j not in self.above[i] and evidence.is_dominated(i, j):
                    self.above[i].add(j)
                    is_new = True
                if j not in self.harmless[i] and evidence.is_undominated(i, j):
                    self.harmless[i].add(j)
                    is_new = True
        return self._look_at_sets(evidence, arm) or is_new

    def _look_at_sets(self, evidence: Evidence, arm: int) -> bool:
        """Add the sets of feasible arms at least one of which certainly dominates an arm; is any with `arm` new?"""
        is_new = False
        for i in range(len(self.above)) if evidence.most_together > 1 else ():
            above = [j for j in sorted(self.feasible - {i}) if evidence.is_above(i, j)]
            sizes = range(2, evidence.most_together + 1)
            for chosen in (frozenset(few) for size in sizes for few in itertools.combinations(above, size)):
                is_known = chosen in self.some[i] or arm not in {i, *chosen}
                if not is_known and evidence.is_dominated_by_some(i, sorted(chosen)):
                    self.some[i].add(chosen)
                    is_new = True
        return is_new

    def _size(self, arm: int) -> int:
        return (arm in self.feasible) + (arm in self.infeasible)

    def holds(self, i: int, status: str) -> bool:
        """Is this status of an arm certain?"""
        if status == INFEASIBLE:
            return i in self.infeasible
        return self.is_optimal(i) if status == OPTIMAL else self.is_dominated(i)

    def status(self, i: int) -> str:
        """The first of infeasible, optimal and dominated that is certain."""
        return next((status for status in (INFEASIBLE, OPTIMAL, DOMINATED) if self.holds(i, status)), UNDECIDED)

    def is_dominated(self, i: int) -> bool:
        """Does a chain of dominances lead from i to another arm that is feasible, or is it below one of several?"""
        if any(few <= self.feasible for few in self.some[i]):
            return True
        reached = {i}
        pending = [i]
        while pending:
            for k in self.above[pending.pop()] - reached:
                if k in self.feasible:
                    return True
                reached.add(k)
                pending.append(k)
        return False

    def is_optimal(self, i: int) -> bool:
        """Is i feasible, and each other arm infeasible, or harmless, or dominated by a harmless one or by i itself?

        Dominated by i does not count for an arm that dominates i as well: the two are equal.
        """
        if i not in self.feasible:
            return False
        harmless = {i} | self.harmless[i]
        left = set(range(len(self.above))) - harmless
        pending = list(harmless)
        while pending:
            k = pending.pop()
            new = {j for j in left if k in self.above[j] and not (k == i and j in self.above[i])}
            left -= new
            pending += new
        return left <= self.infeasible
