"""What was certified, and what follows from it by chains: the status of each arm (section 7 of docs/guarantees.md)."""

import itertools
from collections.abc import Iterable

from paretoguard.reference.evidence import FEASIBLE, INFEASIBLE, Evidence


class Claims:
    """Claims certified at one time or another; what was certified once stays."""

    def __init__(self, arms: int) -> None:
        self.feasible: set[int] = set()
        self.infeasible: set[int] = set()
        self.above: list[set[int]] = [set() for _ in range(arms)]  # arms that dominate i
        self.harmless: list[set[int]] = [set() for _ in range(arms)]  # arms that do not
        self.some: list[set[frozenset[int]]] = [set() for _ in range(arms)]  # sets of arms at least one of which does

    def look(self, evidence: Evidence, arm: int, others: Iterable[int]) -> bool:
        """Add what is certain now of an arm alone and beside the others; return whether any of it is new."""
        before = self._count()
        side = evidence.side(arm)
        if side == FEASIBLE:
            self.feasible.add(arm)
        if side == INFEASIBLE:
            self.infeasible.add(arm)
        for other in others:
            for i, j in ((arm, other), (other, arm)):
                if j not in self.above[i] and evidence.is_dominated(i, j):
                    self.above[i].add(j)
                if j not in self.harmless[i] and evidence.is_undominated(i, j):
                    self.harmless[i].add(j)
        if evidence.most_together > 1:
            self._look_at_sets(evidence, arm)
        return self._count() > before

    def _look_at_sets(self, evidence: Evidence, arm: int) -> None:
        """Add the sets of feasible arms at least one of which certainly dominates an arm, if `arm` is among them."""
        for i in range(len(self.above)):
            above = [j for j in sorted(self.feasible - {i}) if evidence.is_above(i, j)]
            for size in range(2, evidence.most_together + 1):
                for few in itertools.combinations(above, size):
                    is_known = frozenset(few) in self.some[i]
                    if not is_known and arm in (i, *few) and evidence.is_dominated_by_some(i, few):
                        self.some[i].add(frozenset(few))

    def _count(self) -> int:
        of_arms = [self.feasible, self.infeasible, *self.above, *self.harmless]
        return sum(map(len, of_arms)) + sum(map(len, self.some))

    def holds(self, i: int, status: str) -> bool:
        """Return whether this status of an arm is certain."""
        if status == "infeasible":
            return i in self.infeasible
        return self.is_optimal(i) if status == "optimal" else self.is_dominated(i)

    def status(self, i: int) -> str:
        """Return the first of infeasible, optimal and dominated that is certain, else "undecided"."""
        return next((status for status in ("infeasible", "optimal", "dominated") if self.holds(i, status)), "undecided")

    def is_dominated(self, i: int) -> bool:
        """Return whether a chain of dominances leads from i to another feasible arm, or i is below one of several."""
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
        """Return whether i is feasible, and each other arm infeasible, harmless, or below a harmless one or i itself.

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
