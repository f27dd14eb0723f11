"""What a report says of how a race was run."""

from collections.abc import Iterable, Mapping

from paretoguard.race.ledger import Failures, Run

MADE_AGAIN = "Attempts that failed, count for nothing and were made again, or are when the race goes on"
MEASURED = "How it was measured, which may change when a race goes on"


def failure_rows(failures: Mapping[str, Failures]) -> list[dict[str, str]]:
    """A row for each arm with attempts that failed."""
    return [{"arm": arm, "attempts": f"{one.attempts:,}", "the last": one.why} for arm, one in failures.items()]


def run_pairs(runs: Iterable[Run]) -> list[tuple[str, str]]:
    """How many measurements were made at once, and asked for at a time, from which result on."""
    return [
        (
            f"from result {run.results + 1:,} on",
            f"--jobs {run.jobs} (at once), --batch {run.batch} (asked for at a time)",
        )
        for run in runs
    ]
