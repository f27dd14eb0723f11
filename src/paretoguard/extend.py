"""What an algorithm, evidence or noise of your own imports: the stable face of the engine (docs/extending.md).

    from paretoguard.extend import Algorithm, ProblemArrays, View, choose, queue_one

Everything else inside the engine may change without notice.
"""

from paretoguard.algorithms.algorithm import Algorithm
from paretoguard.algorithms.stopping import Rivals, new_rivals, rule_stops
from paretoguard.compiler.jit import aside, inner
from paretoguard.engine.arrays import ProblemArrays
from paretoguard.engine.means import best_lead, eta_of, least_gain
from paretoguard.engine.questions import (
    Moment,
    answer,
    below_some,
    choose,
    dominated,
    gap_radius,
    is_dominated_above,
    is_steady,
    lead_radius,
    moment,
    most_dominated,
    most_weight,
    pair_radius,
    prepare,
    radius,
    ratio_bar,
    row_radius,
    select,
    undominated,
    undominated_below,
    weigh,
    widening,
)
from paretoguard.engine.view import (
    NOTHING,
    View,
    draw_for_decision,
    is_candidate,
    is_outside,
    partition,
    pulls_so_far,
    queue_one,
    queue_two,
    weight_of,
)
from paretoguard.evidence.kind import Evidence, spread, use_widths
from paretoguard.numeric import Bytes, Floats, Integers
from paretoguard.problem.noise import Noise
from paretoguard.simulation.rewards import reward
from paretoguard.vocabulary import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED

__all__ = [
    "DOMINATED",
    "INFEASIBLE",
    "NOTHING",
    "OPTIMAL",
    "UNDECIDED",
    "Algorithm",
    "Bytes",
    "Evidence",
    "Floats",
    "Integers",
    "Moment",
    "Noise",
    "ProblemArrays",
    "Rivals",
    "View",
    "answer",
    "aside",
    "below_some",
    "best_lead",
    "choose",
    "dominated",
    "draw_for_decision",
    "eta_of",
    "gap_radius",
    "inner",
    "is_candidate",
    "is_dominated_above",
    "is_outside",
    "is_steady",
    "lead_radius",
    "least_gain",
    "moment",
    "most_dominated",
    "most_weight",
    "new_rivals",
    "pair_radius",
    "partition",
    "prepare",
    "pulls_so_far",
    "queue_one",
    "queue_two",
    "radius",
    "ratio_bar",
    "reward",
    "row_radius",
    "rule_stops",
    "select",
    "spread",
    "undominated",
    "undominated_below",
    "use_widths",
    "weigh",
    "weight_of",
    "widening",
]
