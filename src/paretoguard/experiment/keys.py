"""What the events of each kind say: a key that this program does not know may change what the others mean."""

from paretoguard.errors import LedgerError
from paretoguard.experiment.events import ASKED, CREATED, EXPIRED, RETRACTED, STOPPED, TOLD, Entry
from paretoguard.version import __version__

NEEDED = {
    CREATED: {"name", "problem", "delta", "algorithm", "evidence", "budget", "seed", "order", "ticket_seconds"}
    | {"program"},
    ASKED: {"arms"},
    TOLD: {"id", "arm", "values"},
    RETRACTED: {"id", "arm", "reason", "blind"},
    EXPIRED: {"ids"},
    STOPPED: {"why", "samples", "statuses"},
}
_ALLOWED = {
    CREATED: {"versions", "protocol", "assumptions", "doubt"},
    ASKED: {"expires", "program"},
    TOLD: {"key"},
    STOPPED: {"program"},
}


def check_keys(entry: Entry) -> None:
    """Refuse an event that lacks something, or says something that this program does not know."""
    needed = NEEDED.get(entry.kind, entry.data.keys())
    named = f"event {entry.sequence} ({entry.kind})"
    missing = sorted(set(needed) - entry.data.keys())
    if missing:
        raise LedgerError(f"{named} does not say {', '.join(missing)}")
    unknown = sorted(entry.data.keys() - set(needed) - _ALLOWED.get(entry.kind, set()))
    if unknown:
        raise LedgerError(
            f"{named} says {', '.join(map(repr, unknown))}, which paretoguard {__version__} does not know: a newer one "
            "wrote it; use that one"
        )
