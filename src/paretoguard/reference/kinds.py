"""The kinds of evidence that can be audited, by the text that names one: "certified:expected_samples=5000"."""

from typing import Any

from paretoguard.errors import SettingsError
from paretoguard.reference.certified import Certified
from paretoguard.reference.evidence import Evidence
from paretoguard.reference.units import Units
from paretoguard.reference.widths import Lil, Practical, Theorem

WIDTHS: dict[str, type[Evidence]] = {"practical": Practical, "theorem": Theorem, "lil": Lil}
ORDERS = ("arrival", "asked")
MOST_SHARE = 0.5


def evidence_of(units: Units, delta: Any, text: str, order: str) -> Evidence:
    """The evidence of this name and options, before any result."""
    if isinstance(delta, bool) or not isinstance(delta, float | int) or not 0.0 < delta < 1.0:
        raise SettingsError(f"delta is {delta!r}, expected a number between 0 and 1")
    name, _, rest = (part.strip() for part in str(text).partition(":"))
    known = ("certified", *WIDTHS)
    if name not in known:
        raise SettingsError(f"evidence is {text!r}, expected one that can be audited: {', '.join(known)}")
    options = _options(text, rest, ("expected_samples", "order", "several") if name == "certified" else ())
    counted = options.get("order", "arrival") if order == "arrival" else order
    if counted not in ORDERS:
        raise SettingsError(f"order is {counted!r}, expected one of {', '.join(ORDERS)}")
    if name == "certified":
        several = _share(text, options.get("several", "0"))
        is_apart = units.dependence.is_independent or len(units.compared) == 1
        if several > 0.0 and (counted == "asked" or units.is_learning or not is_apart):
            raise SettingsError(f"evidence {text!r}: several > 0 needs known scales, independence and order 'arrival'")
        several = several if units.arms > 2 else 0.0
        return Certified(units, delta, _count(text, options.get("expected_samples", "None")), counted, several)
    if name == "lil" and counted == "asked":
        raise SettingsError("evidence 'lil' promises nothing of results counted in the order asked; use 'certified'")
    if units.is_learning:
        raise SettingsError(f"evidence {name!r} needs the scale of every noise; declare it, or use 'certified'")
    return WIDTHS[name](units, delta)


def _options(text: str, rest: str, known: tuple[str, ...]) -> dict[str, str]:
    """ "a=1,b=x" as a mapping."""
    options = {}
    for item in rest.split(",") if rest else ():
        key, equals, value = (word.strip() for word in item.partition("="))
        if not equals or key not in known:
            expected = f"option=value, with {' or '.join(known)}" if known else "none"
            raise SettingsError(f"evidence {text!r} has the option {item.strip()!r}, expected {expected}")
        options[key] = value
    return options


def _count(text: str, given: str) -> int | None:
    if given == "None":
        return None
    if not given.isdecimal() or int(given) < 1:
        raise SettingsError(f"evidence {text!r}: expected_samples is {given!r}, expected a whole number of at least 1")
    return int(given)


def _share(text: str, given: str) -> float:
    try:
        share = float(given)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= MOST_SHARE:
        raise SettingsError(f"evidence {text!r}: several is {given!r}, expected a number from 0 to {MOST_SHARE}")
    return share
