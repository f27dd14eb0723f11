"""Experiment: ask what to measure next, tell the result, from any number of processes, for as long as it takes."""

import platform
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from paretoguard.algorithms import Algorithm
from paretoguard.compiler.gc_pause import without_collecting
from paretoguard.errors import LedgerError, ParetoguardError, SampleError, SettingsError
from paretoguard.evidence import Evidence
from paretoguard.experiment.events import CREATED, EXPIRED, NOTED, RETRACTED, START, Draft, Event, first_break
from paretoguard.experiment.ledger_state import LATE, WITHDRAWN, Fold
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.recording import Recorder, Reported, Told, check_tellable, find_slot
from paretoguard.experiment.storage import DEFAULT, Storage, checked_name, open_storage
from paretoguard.files.problem_file import ProblemFile, dumps
from paretoguard.problem import Problem
from paretoguard.trial import checks, registry
from paretoguard.trial.setup import Setup
from paretoguard.trial.tickets import Ticket
from paretoguard.verdict import Result, Verdict
from paretoguard.version import __version__
from paretoguard.vocabulary import AS_ASKED, STILL_OPEN

MOST_AT_ONCE = 10_000  # tickets
MOST_IDS, MOST_CHARACTERS = 50_000, 500_000  # of one event, whose line must not be too long
CHECKED = 100_000  # of the last events whoever opens a ledger checks the hashes; an audit checks all


class Status(NamedTuple):
    """Where an experiment stands."""

    name: str
    samples: int  # results that count
    done: bool  # nothing is left to ask for
    stopped: str  # "answered", "budget" or "open"
    pending: int  # tickets without their whole result
    partial: int  # … of which so many have a part of it
    expired: int  # tickets that ran out, and whose results have not come
    retracted: int
    sequence: int  # of the last event
    hash: str  # and its hash: with it, nobody can change the ledger unseen
    guarantee: str
    held: int  # results that wait for earlier ones of their arm, in the order asked


class Experiment:
    """A live experiment on a ledger. Make one with `create`, go on with `open`; both in as many processes as you like.

    Threads may share one: they take turns. `name` is what it is called on the ledger, and `storage` is where that is.

    >>> import paretoguard as pg
    >>> from paretoguard.experiment.memory import MemoryStorage
    >>> problem = pg.Problem({"speed": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    >>> exp = pg.Experiment.create("speeds", problem, delta=0.1, storage=MemoryStorage())
    >>> [ticket] = exp.ask()
    >>> exp.tell(ticket, {"speed": 3.5}).complete
    True
    """

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = name
        self.storage = storage
        self._known: Fold | None = None
        self._broken: str | None = None  # of a copy: what is wrong with its chain, which may be read all the same
        self._turn = threading.RLock()  # a fold is for one thread at a time

    @classmethod
    def create(
        cls,
        name: str,
        problem: Problem,
        *,
        delta: float = registry.DEFAULT_DELTA,
        storage: str | Storage = DEFAULT,
        algorithm: str | Algorithm = registry.DEFAULT_ALGORITHM,
        evidence: str | Evidence = registry.DEFAULT_EVIDENCE,
        budget: int | None = None,
        seed: int = 0,
        order: str | None = None,
        ticket_seconds: float | None = None,
        protocol: str | None = None,
        assumptions: Sequence[str] = (),
        doubt: str | None = None,
    ) -> "Experiment":
        """Begin an experiment; nothing that is set here changes later.

        Parameters
        ----------
        name
            What it is called on the ledger; `open` finds it by that.
        problem, delta, algorithm, evidence, budget, seed, order
            As for `Trial`.
        storage
            Where the ledger is: the URL of a database, or a `Storage`.
        ticket_seconds
            How long a ticket waits for its result; None means for ever.
        protocol
            A text to keep, such as a file.
        assumptions
            Sentences that are stated with every answer.
        doubt
            Why answers are heuristic whatever the evidence; None where there is no doubt.

        Returns
        -------
        Experiment
            The experiment, which has no results yet.
        """
        chosen = {"delta": delta, "algorithm": algorithm, "evidence": evidence, "budget": budget, "seed": seed}
        setup = Setup.of(problem, order=order, **chosen)  # type: ignore[arg-type]
        setup.engine()  # raises where the parts do not go with the problem
        check_tellable(problem)
        data = {
            "name": checked_name(name),
            "problem": dumps(ProblemFile(problem)),
            "delta": setup.delta,
            "algorithm": registry.label(setup.algorithm),
            "evidence": registry.label(setup.evidence),
            "budget": None if budget is None else setup.budget,
            "seed": setup.seed,
            "order": setup.order,
            "ticket_seconds": _checked_seconds(ticket_seconds, setup.order),
            "program": __version__,
            "versions": _versions(),
        }
        more = {"protocol": protocol, "assumptions": list(assumptions), "doubt": doubt}
        data |= {key: value for key, value in more.items() if value}
        place = open_storage(storage)
        place.create(name, Draft(CREATED, data, time.time()))
        return cls(name, place)

    @classmethod
    def open(cls, name: str, storage: str | Storage = DEFAULT) -> "Experiment":
        """Go on with an experiment.

        Raise StorageError if there is none of this name, and LedgerError if its ledger was changed after it was
        written.

        Parameters
        ----------
        name
            What it is called on the ledger.
        storage
            Where the ledger is: the URL of a database, or a `Storage`.

        Returns
        -------
        Experiment
            The experiment as its last event left it.
        """
        found = cls(name, open_storage(storage))
        found._fold()
        return found

    @classmethod
    def at(cls, name: str, events: list[Event], broken: str | None = None) -> "Experiment":
        """Return the experiment after these events, on a copy of its ledger.

        Parameters
        ----------
        name
            What it is called on the ledger.
        events
            The events of the ledger from the first on, in order.
        broken
            What is wrong with the chain of hashes, by default as `first_break` says. If it is not empty, the experiment
            can be read all the same, but nothing is guaranteed.
        """
        copy = MemoryStorage()
        copy.restore(name, events)
        found = cls(name, copy)
        found._broken = first_break(events, reads=False) if broken is None else broken
        found._fold()
        return found

    # --- what changes the ledger -------------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> list[Ticket]:
        """Return tickets for up to n arms to measure next, on top of those asked for before; [] if there is none.

        Tickets that have run out are given up first, and their arms may be asked for again.

        Parameters
        ----------
        n
            How many arms can be measured now.

        Returns
        -------
        list of Ticket
            One for each measurement: its arm, and until when its result is awaited.
        """
        checks.check_count(n, "n", "how many arms to ask for", MOST_AT_ONCE)
        issued: list[Ticket] = []

        def make(recorder: Recorder) -> None:
            issued.clear()
            fold, now = recorder.fold, recorder.now
            overdue = [k for k, slot in fold.open.items() if slot.expires is not None and slot.expires <= now]
            for first in range(0, len(overdue), MOST_IDS):
                recorder.write(EXPIRED, {"ids": overdue[first : first + MOST_IDS]})
            longest = 3 + 6 * max(map(len, fold.problem.arms))  # in JSON: at worst six characters for one of a name
            seconds, at_once = fold.settings["ticket_seconds"], max(1, MOST_CHARACTERS // longest)
            for done in range(0, n, at_once):
                issued.extend(recorder.ask(min(at_once, n - done), seconds))
            if not issued:
                recorder.note_end()

        self._change(make)
        return issued

    def tell(
        self,
        what: Ticket | int | None,
        values: Mapping[str, float],
        *,
        arm: str | None = None,
        key: str | None = None,
    ) -> Told:
        """Record the result of a ticket, or of an arm measured elsewhere (`what` = None, arm = …).

        Telling the same again changes nothing if there is a ticket or a key; without either it is one more result.
        Raise SampleError or SettingsError if the result cannot be right; nothing is recorded then.

        Parameters
        ----------
        what
            The ticket or its id; None for an arm measured elsewhere.
        values
            {objective: value}, in your units. They may be a part of the result, which counts when the last part has
            come.
        arm
            The arm that was measured, where there is no ticket.
        key
            A text of your own that names the result.

        Returns
        -------
        Told
            Whether the result counts now, and whether it was known before.
        """
        return self.tell_all([(what, arm, values, key)])[0]

    def tell_all(
        self,
        results: Iterable[
            tuple[Ticket | int | None, str | None, Mapping[str, float]]
            | tuple[Ticket | int | None, str | None, Mapping[str, float], str | None]
        ],
        refused: dict[int, ParetoguardError] | None = None,
        *,
        atomic: bool = True,
    ) -> list[Told]:
        """Record several results at once: all, or none.

        Parameters
        ----------
        results
            Tuples (what, arm, values) or (what, arm, values, key), as for `tell`.
        refused
            A dictionary to be filled with the errors of refused results, by position. Nothing is raised for them then.
        atomic
            False, with `refused`: the other results are recorded even if some are refused.

        Returns
        -------
        list of Told
            What became of each result that was recorded.
        """
        given, told, wrong = [Reported(*one) for one in results], list[Told](), dict[int, ParetoguardError]()

        def make(recorder: Recorder) -> None:
            told.clear()
            wrong.clear()
            for place, one in enumerate(given):
                try:
                    told.append(recorder.tell(one))
                except (SampleError, SettingsError) as error:
                    if refused is None:
                        raise
                    wrong[place] = error
            if wrong and atomic:
                raise _RefusedError
            if told:
                recorder.note_end()

        try:
            self._change(make)
        except _RefusedError:
            told.clear()
        if refused is not None:
            refused.update(wrong)
        return told

    def retract(self, number: Ticket | int, reason: str, *, blind: bool = False) -> None:
        """Leave a result out, as if it had never come. The ledger keeps it, and the reason.

        Parameters
        ----------
        number
            The ticket or the id of the result.
        reason
            Why it is left out, in a sentence.
        blind
            True if this was decided without regard to any measured value: only then a guarantee stands.
        """
        if not isinstance(reason, str) or not reason.strip():
            given = number.id if isinstance(number, Ticket) else number
            raise SettingsError(f"the reason is {reason!r}, expected a text: why is result {given} left out?")

        def make(recorder: Recorder) -> None:
            chosen, slot = find_slot(recorder.fold, number, of_any=True)
            if isinstance(number, Ticket) and number.arm != slot.arm:
                raise SettingsError(f"ticket {chosen} is for {slot.arm!r}, got one for {number.arm!r}")
            if slot.state == WITHDRAWN:
                raise SettingsError(f"result {chosen} ({slot.arm}) has been retracted already")
            recorder.write(RETRACTED, {"id": chosen, "arm": slot.arm, "reason": reason.strip(), "blind": bool(blind)})

        self._change(make)

    def note(self, about: str, **facts: Any) -> None:
        """Record what reports should tell, and what changes no answer: how measurements were made, and which failed.

        Parameters
        ----------
        about
            What the note is about, in a word.
        facts
            What is noted, by name, in plain values.
        """
        self._change(lambda recorder: recorder.write(NOTED, {"about": about, **facts}))

    # --- what reads it -----------------------------------------------------------------------------------------------

    def result(self) -> Result:
        """Return the answer, or what is certain so far."""
        with self._now() as fold:
            return fold.result()

    def verdicts(self) -> dict[str, Verdict]:
        """Return each arm's verdict."""
        return dict(self.result().verdicts)

    def since(self) -> dict[str, int]:
        """Return arm -> after how many samples its verdict was certain first, for verdicts that are kept for good."""
        with self._now() as fold:
            return fold.session.since()

    def status(self) -> Status:
        """Return where the experiment stands."""
        with self._now() as fold:
            session = fold.session
            session.look()
            states = [slot.state for slot in fold.slots]
            return Status(
                name=self.name,
                samples=session.samples,
                done=session.stopped != STILL_OPEN,
                stopped=session.stopped,
                pending=len(fold.open),
                partial=sum(bool(slot.values) for slot in fold.open.values()),
                expired=states.count(LATE),
                retracted=states.count(WITHDRAWN),
                sequence=fold.sequence,
                hash=fold.hash,
                guarantee=fold.guarantee,
                held=session.held,
            )

    def pending(self) -> list[Ticket]:
        """Return the tickets without their whole result."""
        with self._now() as fold:
            return [Ticket(k, slot.arm, slot.expires) for k, slot in fold.open.items()]

    def history(self) -> list[dict[str, Any]]:
        """Return every event as a dictionary: `sequence`, `time`, `kind`, `data` and `hash`."""
        return [{**event.read()._asdict(), "hash": event.hash} for event in self.storage.events(self.name)]

    @property
    def problem(self) -> Problem:
        """The question."""
        return self._fold().problem

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, as given to `create`."""
        return dict(self._fold().settings)

    def close(self) -> None:
        """Close the storage."""
        self.storage.close()

    def __enter__(self) -> "Experiment":
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()

    # --- the fold, kept up to date -----------------------------------------------------------------------------------

    @contextmanager
    def _now(self) -> Iterator[Fold]:
        """Give this thread alone the state after the last event."""
        with self._turn:
            yield self._fold()

    def _fold(self) -> Fold:
        """Return the state after the last event."""
        with self._turn:
            known, self._known = self._known, None  # should this be interrupted, it is half worked in
            if known is None:
                self._known = self._folded()
            else:
                self._known = self._caught_up(known, list(self.storage.events(self.name, known.sequence - 1)))
            return self._known

    def _folded(self) -> Fold:
        """Return the state after all events."""
        head = self.storage.head(self.name)  # before the events: more may come meanwhile
        with without_collecting():
            events = list(self.storage.events(self.name))
            before = events[-CHECKED - 1] if len(events) > CHECKED else None
            self._check_chain(events[-CHECKED:], head, (0, START) if before is None else (before.sequence, before.hash))
            return Fold(events, self._broken or "")

    def _caught_up(self, known: Fold, events: list[Event]) -> Fold:
        """Return the state after these events, of which `known` stands on the first.

        All is folded anew where that is another event, as after a backup was restored, and where results are retracted.
        """
        entries = [(event.read(), event.hash) for event in events]
        is_another = not events or (events[0].sequence, events[0].hash) != (known.sequence, known.hash)
        if is_another or any(entry.kind == RETRACTED for entry, _ in entries[1:]):
            return self._folded()
        self._check_chain(events[1:], None, (known.sequence, known.hash))
        for entry, seal in entries[1:]:
            known.apply(entry, seal)
        return known

    def _check_chain(self, events: list[Event], head: tuple[int, str] | None, before: tuple[int, str]) -> None:
        """Raise LedgerError if these events were changed after they were written."""
        if self._broken is None and (broken := first_break(events, head, before=before, reads=False)):
            raise LedgerError(
                f"the ledger of {self.name!r} was changed after it was written: {broken}. Nothing more is recorded on "
                "it; restore it from what `export` wrote"
            )

    def _change(self, make: Callable[[Recorder], object]) -> None:
        """Let `make` add events to the ledger, after all others; if that fails nothing has changed."""
        with self._turn:
            if self._known is None:  # before the lock: others need wait neither for this nor for the compiler
                self._fold().session.look()
            assert self._known is not None
            known, recorders = self._known, list[Recorder]()
            self._known = None  # until all is on disk: it may be ahead of the ledger

            def draft(events: list[Event]) -> list[Draft]:
                recorders.append(Recorder(self._caught_up(known, events)))
                make(recorders[-1])
                return recorders[-1].drafts

            added = self.storage.append(self.name, known.sequence - 1, draft)
            fold, drafts = recorders[-1].fold, recorders[-1].drafts
            if added:
                fold.hash = added[-1].hash
            if all(draft.kind != RETRACTED for draft in drafts):  # else all is folded anew, without the result
                self._known = fold


def _versions() -> dict[str, str]:
    """Return the versions of what the experiment is begun with; of numba, if it is at work."""
    loaded = [(name, sys.modules[name]) for name in ("numpy", "numba") if name in sys.modules]
    return {"python": platform.python_version()} | {name: str(vars(module)["__version__"]) for name, module in loaded}


class _RefusedError(Exception):
    """One of several results is refused, and so all are."""


def _checked_seconds(seconds: Any, order: str) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e10:
        raise SettingsError(f"ticket_seconds is {seconds!r}, expected how many seconds a ticket is good for, or None")
    if order == AS_ASKED:
        raise SettingsError(
            "in the order asked tickets cannot expire: whether a result comes may depend on its value; leave "
            "ticket_seconds away, or choose order='arrival'"
        )
    return float(seconds)
