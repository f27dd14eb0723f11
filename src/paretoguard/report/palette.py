"""How each status looks: a colour that colour-blind readers can tell apart, and a shape that survives grey print."""

from typing import NamedTuple

from paretoguard.verdict import DOMINATED, INFEASIBLE, OPTIMAL, UNDECIDED


class Look(NamedTuple):
    """Colour and marker of a status; `face` is the fill of the marker."""

    colour: str
    marker: str
    size: float  # points
    face: str


# Colours of Okabe & Ito (2008). Filled star, hollow triangle, cross, hollow circle: no two alike in grey.
LOOKS = {
    OPTIMAL: Look("#009E73", "*", 14.0, "#009E73"),
    DOMINATED: Look("#0072B2", "v", 8.0, "white"),
    INFEASIBLE: Look("#D55E00", "X", 8.5, "#D55E00"),
    UNDECIDED: Look("#4D4D4D", "o", 8.0, "white"),
}
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")  # for algorithms
FEASIBLE = "#E3EEE8"
LINE = "#3C4A43"  # boundaries of constraints
QUIET = "#5F5F5F"  # captions and notes
