"""What an algorithm, evidence or noise of your own imports: the stable face of the engine (docs/extending.md).

    from paretoguard.extend import Algorithm, ProblemArrays, View, choose, queue_one

Everything else inside the engine may change without notice.
"""

from paretoguard.algorithms.algorithm import Algorithm as Algorithm
from paretoguard.algorithms.stopping import (
    Rivals as Rivals,
    RuleMemory as RuleMemory,
    new_rivals as new_rivals,
    rule_stops as rule_stops,
)
from paretoguard.compiler.jit import aside as aside, inner as inner
from paretoguard.engine.arrays import ProblemArrays as ProblemArrays
from paretoguard.engine.means import best_lead as best_lead, eta_of as eta_of, least_gain as least_gain
from paretoguard.engine.questions import (
    Moment as Moment,
    answer as answer,
    below_some as below_some,
    choose as choose,
    dominated as dominated,
    gap_radius as gap_radius,
    is_dominated_above as is_dominated_above,
    is_steady as is_steady,
    lead_radius as lead_radius,
    moment as moment,
    most_dominated as most_dominated,
    most_weight as most_weight,
    pair_radius as pair_radius,
    prepare as prepare,
    radius as radius,
    ratio_bar as ratio_bar,
    row_radius as row_radius,
    select as select,
    undominated as undominated,
    undominated_below as undominated_below,
    weigh as weigh,
    widening as widening,
)
from paretoguard.engine.view import (
    NOTHING as NOTHING,
    View as View,
    draw_for_decision as draw_for_decision,
    is_candidate as is_candidate,
    is_outside as is_outside,
    partition as partition,
    pulls_so_far as pulls_so_far,
    queue_one as queue_one,
    queue_two as queue_two,
    weight_of as weight_of,
)
from paretoguard.evidence.kind import Evidence as Evidence, spread as spread, use_widths as use_widths
from paretoguard.numeric import Bytes as Bytes, Floats as Floats, Integers as Integers
from paretoguard.problem.noise import Noise as Noise
from paretoguard.simulation.rewards import reward as reward
from paretoguard.vocabulary import (
    DOMINATED as DOMINATED,
    INFEASIBLE as INFEASIBLE,
    OPTIMAL as OPTIMAL,
    UNDECIDED as UNDECIDED,
)
