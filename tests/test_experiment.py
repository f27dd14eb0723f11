"""Live experiments: the same decisions as a Trial, whoever asks, however often the process dies."""

import itertools
import multiprocessing
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import paretoguard as pg
from paretoguard import reference
from paretoguard.experiment import experiment as experiment_module, ledger_state as fold_module, transfer
from paretoguard.experiment.audit import audit, counted, verify
from paretoguard.experiment.events import START, Draft, Entry, Event, chain, first_break, seal
from paretoguard.experiment.experiment import Experiment
from paretoguard.experiment.ledger_state import Fold
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.experiment.recording import Told
from paretoguard.experiment.sql import SqlStorage
from paretoguard.trial.session import Session

PROBLEM = pg.Problem(
    {"efficacy": "max", "safety": "max"},
    arms=["low", "middle", "high"],
    noise=pg.Bernoulli(),
    constraints=["safety >= 0.5"],
    dependence="independent",
)
MEANS = {
    "low": {"efficacy": 0.1, "safety": 0.55},
    "middle": {"efficacy": 0.8, "safety": 0.95},
    "high": {"efficacy": 0.9, "safety": 0.05},
}
CHOSEN = {"delta": 0.1, "evidence": "certified"}


def rewards(seed: int = 0) -> Callable[[str], dict[str, float]]:
    return pg.sampler(pg.Instance(PROBLEM, MEANS), seed=seed)


def begin(storage: Any = None, **given: Any) -> Experiment:
    return Experiment.create("doses", PROBLEM, storage=storage or MemoryStorage(), **{**CHOSEN, **given})


def run_to_the_end(experiment: Experiment, sample: Callable[[str], dict[str, float]], n: int = 1) -> None:
    while tickets := experiment.ask(n):
        for ticket in tickets:
            experiment.tell(ticket, sample(ticket.arm))


@pytest.mark.parametrize("n", [1, 4])
def test_an_experiment_pulls_what_a_trial_pulls(n: int) -> None:
    experiment, trial = begin(), pg.Trial(PROBLEM, **CHOSEN)  # type: ignore[arg-type]
    run_to_the_end(experiment, rewards(), n)
    sample = rewards()
    while tickets := trial.ask(n):
        for ticket in tickets:
            trial.tell(ticket, sample(ticket.arm))
    found, expected = experiment.result(), trial.result()
    assert found.pulls == expected.pulls
    assert found.stopped == expected.stopped == "answered"
    assert {a: v.status for a, v in found.verdicts.items()} == {a: v.status for a, v in expected.verdicts.items()}
    assert [event["kind"] for event in experiment.history()].count("stopped") == 1
    assert experiment.ask() == []
    assert experiment.status().done


@pytest.mark.parametrize(
    ("algorithm", "evidence"),
    [
        ("pitfall", "certified"),
        ("e-cape", "practical"),
        ("two-stage", "practical"),
        ("racing", "practical"),
        ("game-cpsi", "glr"),
    ],
)
def test_whoever_opens_the_ledger_has_the_same_state(algorithm: str, evidence: str) -> None:
    """After any change a new fold of the ledger decides as the process that made it, with all that algorithms keep."""
    chance, sample, waiting = random.Random(3), rewards(), list[pg.Ticket]()
    experiment = begin(algorithm=algorithm, evidence=evidence if evidence != "glr" else "certified", delta=0.2)
    for step in range(120):
        if waiting and chance.random() < 0.55:
            ticket = waiting.pop(chance.randrange(len(waiting)))
            experiment.tell(ticket, sample(ticket.arm))
        else:
            waiting += experiment.ask(chance.choice([1, 1, 2, 3]) if algorithm != "racing" else 1)
        if step % 5 == 0:
            other = Experiment.open("doses", experiment.storage)
            assert other.status() == experiment.status()
            assert other._fold().session.due() == experiment._fold().session.due()
            assert [a.state for a in other._fold().slots] == [b.state for b in experiment._fold().slots]


@pytest.mark.parametrize(
    ("algorithm", "evidence"),
    [
        ("pitfall", "practical"),
        pytest.param("pitfall", "certified", marks=pytest.mark.slow),
        *(pytest.param(name, "practical", marks=pytest.mark.slow) for name in ("e-cape", "two-stage", "racing")),
    ],
)
@pytest.mark.parametrize("order", ["arrival", "asked"])
def test_the_engine_works_in_a_long_ledger_as_the_trial_does_step_by_step(
    algorithm: str, evidence: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if order == "asked" and evidence == "practical":
        return
    chance, sample, waiting = random.Random(5), rewards(), list[pg.Ticket]()
    seconds = 1e-3 if order == "arrival" and algorithm == "pitfall" else None
    experiment = begin(algorithm=algorithm, evidence=evidence, delta=0.2, order=order, ticket_seconds=seconds)
    for _ in range(300):
        what = chance.random()
        if waiting and what < 0.5:
            ticket = waiting.pop(chance.randrange(len(waiting)))
            experiment.tell(ticket, sample(ticket.arm))
        elif what < 0.55 and order == "arrival":
            arm = chance.choice(PROBLEM.arms)
            experiment.tell(None, sample(arm), arm=arm)
        elif len(waiting) < 12:
            waiting += experiment.ask(chance.choice([1, 1, 2, 3]) if algorithm != "racing" else 1)
    step_by_step = Fold(experiment.storage.events("doses"))
    monkeypatch.setattr(fold_module, "LONG", 0)
    at_once = Fold(experiment.storage.events("doses"))
    assert step_by_step.session.samples > 60
    assert step_by_step.session.result() == at_once.session.result()  # asks for the same weights of both
    for name in ("counts", "sums", "means", "pending", "weight", "inside", "optimal"):
        a, b = (getattr(fold.session._state, name) for fold in (step_by_step, at_once))
        np.testing.assert_array_equal(a, b, name)  # nan, a weight that nobody asked for, in both
    for name in ("tally", "queue", "first", "since", "contradicted"):
        a, b = (getattr(fold.session._desk, name) for fold in (step_by_step, at_once))
        np.testing.assert_array_equal(a, b, name)
    assert step_by_step.session.statuses() == at_once.session.statuses()
    assert step_by_step.session.due() == at_once.session.due()
    asked = [[ticket.arm for ticket in fold.session.ask(3)] for fold in (step_by_step, at_once)]
    assert asked[0] == asked[1]


def test_results_may_come_late_out_of_order_twice_and_in_part() -> None:
    experiment = begin()
    first, second, third = experiment.ask(3)
    assert experiment.tell(third, {"efficacy": 1, "safety": 1}).complete
    told = experiment.tell(first.id, {"efficacy": 1})
    assert (told.complete, told.duplicate, experiment.status().samples) == (False, False, 1)
    assert experiment.status().partial == 1
    again = experiment.tell(first, {"efficacy": 1})
    assert (again.duplicate, again.sequence) == (True, told.sequence)
    assert experiment.tell(first, {"safety": 0, "efficacy": 1}).complete
    assert experiment.tell(first, {"safety": 0}).duplicate
    assert experiment.status().samples == 2
    before = experiment.status()
    with pytest.raises(pg.SampleError, match="has safety = 0 already, got 1"):
        experiment.tell(first, {"safety": 1})
    with pytest.raises(pg.SampleError, match="is for 'middle', got a result of 'low'"):
        experiment.tell(second, {"safety": 1}, arm="low")
    for values in ({}, {"efficacy": 2}, {"efficacy": float("nan")}, {"effect": 1}, "no values", {"safety": None}):
        with pytest.raises(pg.SampleError):
            experiment.tell(second, values)  # type: ignore[arg-type]
    for wrong in (99, -1, True, "1", 1.5):
        with pytest.raises(pg.SettingsError, match="there is no ticket"):
            experiment.tell(wrong, {"efficacy": 1})  # type: ignore[arg-type]
    assert experiment.status() == before
    elsewhere = experiment.tell(None, {"efficacy": 0, "safety": 1}, arm="high")
    assert elsewhere.complete
    assert elsewhere.id == 3
    assert experiment.status().samples == 3


def test_tickets_expire_are_asked_again_and_late_results_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    experiment = begin(ticket_seconds=60)
    tickets = experiment.ask(3)
    assert {ticket.arm for ticket in tickets} == set(PROBLEM.arms)
    assert tickets[0].expires == now[0] + 60
    now[0] += 61
    again = experiment.ask(3)
    assert {ticket.arm for ticket in again} == set(PROBLEM.arms)
    assert experiment.status().expired == 3
    assert experiment.tell(tickets[0], {"efficacy": 1, "safety": 1}).complete
    now[0] -= 1_000_000.0  # the clock jumps back: the ledger's time does not
    experiment.tell(again[1], {"efficacy": 1, "safety": 1})
    times = [event["time"] for event in experiment.history()]
    assert times == sorted(times)
    with pytest.raises(pg.SettingsError, match="in the order asked tickets cannot expire"):
        begin(order="asked", ticket_seconds=60)


def test_in_the_order_asked_later_results_wait() -> None:
    experiment = begin(order="asked")
    tickets = experiment.ask(12)
    of_one = [ticket for ticket in tickets if ticket.arm == "low"]
    experiment.tell(of_one[1], {"efficacy": 1, "safety": 1})
    assert (experiment.status().samples, experiment.status().held) == (0, 1)
    experiment.retract(of_one[0], "never enrolled", blind=True)
    assert (experiment.status().samples, experiment.status().held) == (1, 0)
    assert experiment.status().guarantee == "finite-sample"
    entries = [event.read() for event in experiment.storage.events("doses")]
    assert [arm for arm, _ in counted(entries, 2)] == ["low"]


def test_in_the_order_asked_a_retraction_changes_whose_turn_it_was_and_nothing_breaks() -> None:
    experiment = begin(order="asked")
    for _ in range(6):
        experiment.tell(None, {"efficacy": 1, "safety": 1}, arm=experiment._fold().session.due())
    experiment.retract(0, "enrolled twice", blind=True)
    assert experiment.status().samples == 5
    assert Experiment.open("doses", experiment.storage).status() == experiment.status()
    assert audit(experiment).sound
    with pytest.raises(pg.SampleError, match="only a result of the arm that `ask` would give next"):
        experiment.tell(None, {"efficacy": 1, "safety": 1}, arm="high")


def test_in_the_order_asked_a_part_without_a_ticket_is_refused() -> None:
    experiment = begin(order="asked")
    with pytest.raises(pg.SampleError, match="without a ticket a result is told whole, not in parts"):
        experiment.tell(None, {"efficacy": 1}, arm="low")
    assert experiment.status().sequence == 1


def test_a_ticket_of_another_experiment_is_refused() -> None:
    experiment = begin()
    experiment.ask(3)
    with pytest.raises(pg.SampleError, match="ticket 0 is for 'low', got a result of 'high'"):
        experiment.tell(pg.Ticket(0, "high"), {"efficacy": 1, "safety": 1})
    with pytest.raises(pg.SettingsError, match="ticket 0 is for 'low', got one for 'high'"):
        experiment.retract(pg.Ticket(0, "high"), "a mistake", blind=True)
    assert experiment.tell(np.int64(0), {"efficacy": 1, "safety": 1}).complete  # type: ignore[arg-type]


def test_a_key_makes_a_result_without_a_ticket_one_result() -> None:
    experiment = begin()
    first = experiment.tell(None, {"efficacy": 1}, arm="low", key="site2-17")
    assert not first.complete
    second = experiment.tell(None, {"safety": 1}, arm="low", key="site2-17")
    assert (second.duplicate, second.complete, second.id) == (False, True, 0)
    again = Experiment.open("doses", experiment.storage).tell(
        None, {"efficacy": 1, "safety": 1}, arm="low", key="site2-17"
    )
    assert (again.duplicate, again.id) == (True, first.id)
    other = experiment.tell(None, {"efficacy": 1, "safety": 1}, arm="low", key="site2-18")
    assert (other.duplicate, other.id, experiment.status().samples) == (False, 1, 2)
    with pytest.raises(pg.SampleError, match="the result 'site2-17' is of 'low', got a result of 'high'"):
        experiment.tell(None, {"efficacy": 1}, arm="high", key="site2-17")
    with pytest.raises(pg.SampleError, match="has efficacy = 1 already, got 0"):
        experiment.tell(None, {"efficacy": 0}, arm="low", key="site2-17")
    for what, key in ((0, "new"), (None, " "), (None, "a\nb"), (None, 7), (None, "x" * 201)):
        with pytest.raises(pg.SettingsError, match="the key"):
            experiment.tell(what, {"efficacy": 1}, arm="low", key=key)  # type: ignore[arg-type]
    rows = [(None, "high", {"efficacy": 0.0, "safety": 0.0}, f"row {k % 2}") for k in range(4)]
    assert [one.duplicate for one in experiment.tell_all(rows)] == [False, False, True, True]


def test_what_is_assumed_of_lost_results_and_of_those_from_elsewhere_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    experiment = begin(ticket_seconds=60)
    assert "comes first, or never comes, does not depend" in experiment.result().assumptions[-1]
    experiment.ask(2)
    now[0] += 61
    experiment.ask()
    experiment.tell(None, {"efficacy": 1, "safety": 1}, arm="low")
    expired, unasked = experiment.result().assumptions[-2:]
    assert expired.startswith("tickets that expired without a result: 2;")
    assert unasked.startswith("results told without a ticket: 1;")


def test_one_wrong_clock_does_not_stop_tickets_from_running_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    experiment = begin(ticket_seconds=60)
    first, second = experiment.ask(2)
    now[0] += 1e9  # only who asks gives tickets up
    experiment.tell(first, {"efficacy": 1, "safety": 1})
    now[0] -= 1e9
    [third] = experiment.ask()
    assert third.expires == now[0] + 60
    assert [ticket.id for ticket in experiment.pending()] == [second.id, third.id]
    now[0] += 61
    experiment.ask()
    assert experiment.status().expired == 2
    times = [event["time"] for event in experiment.history()]
    assert times == sorted(times)


def test_an_exact_value_that_contradicts_a_known_one_is_refused_at_once() -> None:
    noise = {"efficacy": pg.Bernoulli(), "price": pg.Exact()}
    problem = pg.Problem({"efficacy": "max", "price": "min"}, arms=["a", "b"], noise=noise)
    experiment = Experiment.create("prices", problem, storage=MemoryStorage(), **CHOSEN)  # type: ignore[arg-type]
    experiment.tell(None, {"efficacy": 1, "price": 5}, arm="a")
    with pytest.raises(pg.SampleError, match=r"gave price = 6\.0 after 5\.0"):
        experiment.tell(None, {"price": 6}, arm="a")


def test_long_events_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monkeypatch.setattr(experiment_module, "MOST_IDS", 2)
    monkeypatch.setattr(experiment_module, "MOST_CHARACTERS", 100)
    experiment = begin(ticket_seconds=60)
    assert [ticket.id for ticket in experiment.ask(5)] == [0, 1, 2, 3, 4]
    now[0] += 61
    experiment.ask()
    kinds = [event["kind"] for event in experiment.history()]
    assert kinds == ["created", "asked", "asked", "asked", "expired", "expired", "expired", "asked"]
    assert Experiment.open("doses", experiment.storage).status() == experiment.status()


def test_an_algorithm_that_asks_for_one_at_a_time_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretoguard.trial.session.fills_batches", lambda memory: False)
    experiment = begin(evidence="practical")
    for _ in range(4):
        [ticket] = experiment.ask()
        assert experiment.status().pending == 1
        assert Experiment.open("doses", experiment.storage).tell(ticket, {"efficacy": 1, "safety": 1}).complete
    assert experiment.result().samples == 4


def test_after_a_retraction_the_label_says_what_holds() -> None:
    experiment, sample, told = begin(), rewards(), list[tuple[str, dict[str, float]]]()
    for _ in range(30):
        [ticket] = experiment.ask()
        told.append((ticket.arm, sample(ticket.arm)))
        experiment.tell(ticket, told[-1][1])
    other = Experiment.open("doses", experiment.storage)
    experiment.retract(4, "the wrong patient", blind=True)
    assert other.status() == experiment.status()
    assert experiment.status().samples == 29
    without = pg.Trial(PROBLEM, **CHOSEN)  # type: ignore[arg-type]
    for k, (arm, values) in enumerate(told):
        if k != 4:
            without.tell(arm, values)
    assert experiment.result().pulls == without.result().pulls
    assert experiment.result().verdicts["low"].mean == without.result().verdicts["low"].mean
    assert experiment.result().guarantee == "finite-sample"
    assert any("retracted" in line for line in experiment.result().assumptions)
    experiment.retract(5, "looked odd")
    result = experiment.result()
    assert result.guarantee == "heuristic"
    assert all(verdict.guarantee == "heuristic" for verdict in result.verdicts.values())
    assert "no guarantee stands" in result.notes[0]
    with pytest.raises(pg.SettingsError, match="retracted already"):
        experiment.retract(5, "again")
    waiting = experiment.ask()[0]
    experiment.retract(waiting, "looked odd")
    with pytest.raises(pg.SampleError, match="was retracted: looked odd"):
        experiment.tell(waiting, {"efficacy": 1})


def test_several_results_at_once_all_or_none() -> None:
    experiment = begin()
    tickets = experiment.ask(3)
    rows: list[Any] = [(tickets[0], None, {"efficacy": 1, "safety": 1}), (tickets[0], None, {"efficacy": 0})]
    with pytest.raises(pg.SampleError):
        experiment.tell_all(rows)
    assert experiment.status().samples == 0
    refused: dict[int, Any] = {}
    assert experiment.tell_all(rows, refused) == []
    assert (list(refused), experiment.status().samples) == ([1], 0)
    assert len(experiment.tell_all(rows, refused, atomic=False)) == 1
    assert experiment.status().samples == 1


def test_a_ledger_survives_as_a_file_and_a_changed_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begin()
    run_to_the_end(experiment, rewards(), 5)
    lines = list(transfer.lines(experiment.storage, "doses"))
    other = MemoryStorage()
    assert transfer.take_in(other, lines) == "doses"
    assert list(other.events("doses")) == list(experiment.storage.events("doses"))
    assert Experiment.open("doses", other).status() == experiment.status()
    edited = lines[3].replace("1.0", "0.0") if "1.0" in lines[3] else lines[3].replace("0.0", "1.0")
    for changed in ([*lines[:5], *lines[6:]], [lines[0], lines[2], lines[1]], [*lines[:3], edited]):
        with pytest.raises(pg.LedgerError, match="changed or cut"):
            transfer.take_in(MemoryStorage(), changed)
    with pytest.raises(pg.LedgerError, match="line 2 is no event"):
        transfer.take_in(MemoryStorage(), [lines[0], "hello"])
    monkeypatch.setattr(transfer, "MOST_LINES", 2)
    with pytest.raises(pg.LedgerError, match="more than 2 lines"):
        transfer.take_in(MemoryStorage(), lines)


def test_the_audit_finds_edits_whether_or_not_hashes_were_made_anew() -> None:
    experiment = begin()
    run_to_the_end(experiment, rewards(), 5)
    found = audit(experiment)
    assert found.sound
    assert found.claims == dict.fromkeys(PROBLEM.arms, True)
    events = list(experiment.storage.events("doses"))
    edited, forged = MemoryStorage(), MemoryStorage()
    told = next(k for k, event in enumerate(events) if '"told"' in event.line)
    line = events[told].line
    line = line.replace("1.0", "0.0") if "1.0" in line else line.replace("0.0", "1.0")
    edited.restore("doses", [*events[:told], events[told]._replace(line=line), *events[told + 1 :]])
    assert f"event {told + 1} does not have the hash" in audit(Experiment("doses", edited)).said
    drafts = [Draft(entry.kind, entry.data, entry.time) for entry in (event.read() for event in events)]
    for draft in drafts:
        if draft.kind == "told" and draft.data["arm"] == "high":
            draft.data["values"]["safety"] = 1.0
    forged.restore("doses", chain(drafts, 0, START))
    found = audit(Experiment("doses", forged))
    assert not found.sound
    assert re.search(r"do not support what event \d+ says \(middle optimal, high infeasible\)", found.said)
    assert found.recomputed


def test_an_audit_is_of_one_moment_whoever_writes_meanwhile() -> None:
    class Busy(MemoryStorage):
        """After each reading somebody tells another result."""

        def events(self, name: str, after: int = 0) -> Iterator[Event]:
            yield from list(super().events(name, after))
            number = self.head(name)[0] - 1
            draft = Draft("told", {"id": number, "arm": "low", "values": {"efficacy": 0.0, "safety": 1.0}}, 0.0)
            self.append(name, 10**9, lambda new: [draft])

    busy = Busy()
    busy.restore("doses", list(begin().storage.events("doses")))
    for _ in range(3):
        found, then = verify("doses", busy)
        assert found.sound, found.said
        assert then is not None
        assert then.status().sequence == then.result().samples + 1 < busy.head("doses")[0]


def test_the_claims_of_now_and_of_every_stop_are_audited_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Late results may make the answer another; each is recorded and looked at for what it says."""
    experiment = begin(evidence="practical")
    tickets = experiment.ask(210)
    for k, ticket in enumerate(tickets):
        good = float(ticket.arm == "middle" and k < 60)
        experiment.tell(ticket, {"efficacy": good, "safety": good})
    statuses = [event["data"]["statuses"] for event in experiment.history() if event["kind"] == "stopped"]
    assert len(statuses) > 1
    assert all(one != another for one, another in itertools.pairwise(statuses))
    now = {arm: verdict.status for arm, verdict in experiment.result().verdicts.items()}
    seen = list[dict[str, str]]()

    def noted(problem: Any, results: Any, claims: dict[str, str], **how: Any) -> dict[str, bool]:
        seen.append(claims)
        return dict.fromkeys(claims, len(seen) == 1)

    monkeypatch.setattr(reference, "audit", noted)
    found = audit(experiment)
    assert seen[0] == {arm: status for arm, status in now.items() if status != "undecided"}
    decided = [{arm: status for arm, status in one.items() if status != "undecided"} for one in statuses]
    assert all(one in decided for one in seen[1:])
    assert all(found.claims.values())
    assert not found.sound
    assert "what is claimed now" not in found.said
    assert len(found.recorded) == len(statuses)


def test_after_a_retraction_the_end_is_recorded_anew() -> None:
    experiment = begin(evidence="practical")
    run_to_the_end(experiment, rewards(), 3)
    experiment.retract(0, "enrolled twice", blind=True)
    assert experiment._fold().stopped is None
    run_to_the_end(experiment, rewards(1))
    last = experiment.history()[-1]
    assert (last["kind"], last["data"]["samples"]) == ("stopped", experiment.status().samples)
    assert [event["kind"] for event in experiment.history()].count("stopped") == 2


def test_what_cannot_be_recomputed_is_said() -> None:
    experiment = begin(algorithm="game-cpsi", delta=0.2)
    found = audit(experiment)
    assert (found.sound, found.recomputed) == (True, False)
    assert "were not recomputed" in found.said


# --- random sequences of commands ------------------------------------------------------------------------------------


class Commands(RuleBasedStateMachine):
    """An experiment, with a second process' view of it, against a list of what was acknowledged."""

    given: ClassVar[dict[str, Any]] = {"ticket_seconds": 60}

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000.0
        self.clock = mock.patch("time.time", self.read_clock)
        self.clock.start()
        self.experiment = begin(budget=60, **self.given)
        self.other = Experiment.open("doses", self.experiment.storage)
        self.open: list[pg.Ticket] = []
        self.values: dict[int, dict[str, float]] = {}
        self.gone: set[int] = set()

    @rule(n=st.integers(1, 4), through_other=st.booleans())
    def ask(self, n: int, through_other: bool) -> None:
        self.open += (self.other if through_other else self.experiment).ask(n)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), part=st.booleans(), through_other=st.booleans())
    def tell(self, data: Any, part: bool, through_other: bool) -> None:
        ticket = data.draw(st.sampled_from(self.open))
        known = self.values.setdefault(ticket.id, {})
        names = [name for name in PROBLEM.objectives if name not in known]
        given = {name: float(data.draw(st.booleans())) for name in (names[:1] if part else names)}
        if given and ticket.id not in self.gone:
            told = (self.other if through_other else self.experiment).tell(ticket, given)
            known.update(given)
            assert told.complete == (len(known) == 2)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def tell_again(self, data: Any) -> None:
        ticket = data.draw(st.sampled_from(self.open))
        known = self.values.get(ticket.id, {})
        if known:
            assert self.experiment.tell(ticket, dict(known)).duplicate

    def read_clock(self) -> float:
        return self.now

    def teardown(self) -> None:
        self.clock.stop()

    @rule(seconds=st.sampled_from([-50, 25, 70]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(arm=st.sampled_from(PROBLEM.arms), hit=st.booleans())
    def tell_without_ticket(self, arm: str, hit: bool) -> None:
        values = {"efficacy": float(hit), "safety": 1.0}
        if self.experiment.settings["order"] == "asked":
            session = self.experiment._fold().session
            due = None if session.outstanding or session.held else session.due()
            if arm != due:
                with pytest.raises(pg.SampleError, match="so tell by ticket"):
                    self.experiment.tell(None, values, arm=arm)
            if due is None:
                return
            arm = due
        self.values[self.experiment.tell(None, values, arm=arm).id] = values

    @precondition(lambda self: self.values)
    @rule(data=st.data(), blind=st.booleans())
    def retract(self, data: Any, blind: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.values)))
        if number not in self.gone:
            self.experiment.retract(number, "a reason", blind=blind)
            self.gone.add(number)

    @invariant()
    def nothing_is_lost(self) -> None:
        complete = [k for k, values in self.values.items() if len(values) == 2 and k not in self.gone]
        fresh = Experiment.open("doses", self.experiment.storage)
        assert fresh.status() == self.experiment.status() == self.other.status()
        entries = [event.read() for event in self.experiment.storage.events("doses")]
        assert fresh.status().samples == len(list(counted(entries, 2)))
        if fresh.settings["order"] == "arrival":
            assert fresh.status().samples == len(complete)
        assert fresh.result().pulls == self.experiment.result().pulls
        assert not first_break(self.experiment.storage.events("doses"))


class CommandsAsAsked(Commands):
    """The same where results wait for earlier ones."""

    given: ClassVar[dict[str, Any]] = {"order": "asked"}


TestCommands, TestCommandsAsAsked = Commands.TestCase, CommandsAsAsked.TestCase
TestCommands.settings = TestCommandsAsAsked.settings = settings(
    max_examples=10, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


# --- many processes, and their deaths --------------------------------------------------------------------------------


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqlStorage]:
    storage = SqlStorage(f"sqlite:///{tmp_path}/ledger.db")
    yield storage
    storage.close()


def in_threads(work: Callable[[int], None]) -> None:
    """Four at once; what fails in one fails here."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_workers_who_ask_at_once_get_different_arms_and_lose_nothing(sqlite: SqlStorage) -> None:
    begin(sqlite, budget=400)
    acknowledged: list[int] = []

    def work(seed: int) -> None:
        experiment, sample = Experiment.open("doses", sqlite), rewards(seed)
        for _ in range(12):
            for ticket in experiment.ask(2):
                acknowledged.append(experiment.tell(ticket, sample(ticket.arm)).sequence)

    in_threads(work)
    assert len(set(acknowledged)) == len(acknowledged)
    status = Experiment.open("doses", sqlite).status()
    assert status.samples == len(acknowledged)
    assert not first_break(sqlite.events("doses"))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_threads_may_share_one_experiment(kind: str, sqlite: SqlStorage) -> None:
    experiment = begin(sqlite if kind == "sqlite" else MemoryStorage(), delta=1e-9)
    told: list[Told] = []

    def work(seed: int) -> None:
        sample = rewards(seed)
        for _ in range(15):
            for ticket in experiment.ask():
                told.append(experiment.tell(ticket, sample(ticket.arm)))
            experiment.status()

    in_threads(work)
    assert sorted(one.id for one in told) == list(range(60))
    recorded = {event["sequence"]: event["data"] for event in experiment.history()}
    assert all(recorded[one.sequence]["id"] == one.id for one in told)
    assert Experiment.open("doses", experiment.storage).status() == experiment.status()


def test_who_lives_on_sees_that_the_ledger_was_restored_from_a_backup() -> None:
    storage = MemoryStorage()
    experiment, ok = begin(storage), {"efficacy": 1, "safety": 1}
    first, *others = experiment.ask(3)
    experiment.tell(first, ok)
    backup = list(storage.events("doses"))
    later = experiment.ask(3)
    experiment.tell(others[0], ok)
    storage._ledgers["doses"] = list(backup)
    with pytest.raises(pg.SettingsError, match=f"there is no ticket {later[1].id}"):
        experiment.tell(later[1], ok)
    told = experiment.tell(others[1], ok)
    assert (told.sequence, told.duplicate) == (len(backup) + 1, False)
    storage._ledgers["doses"] = list(backup)  # and now with as many events as there were, by somebody else
    other = Experiment.open("doses", storage)
    other.tell(others[0], {"efficacy": 0, "safety": 0})
    assert experiment.tell(others[1], ok).sequence == len(backup) + 2
    assert experiment.status() == other.status() == Experiment.open("doses", storage).status()
    assert audit(experiment).sound


def test_ctrl_c_while_reading_leaves_nothing_half_worked_in(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    experiment, other = begin(storage), Experiment.open("doses", storage)
    tickets = experiment.ask(2)
    experiment.tell(tickets[0], {"efficacy": 1, "safety": 1})
    told = Session.told

    def interrupted(session: Session, *given: Any) -> None:
        told(session, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "told", interrupted)
    with pytest.raises(KeyboardInterrupt):
        other.status()
    monkeypatch.undo()
    assert other.status() == experiment.status()


def test_tickets_asked_at_once_are_spread() -> None:
    experiment = begin()
    arms = [experiment.ask()[0].arm for _ in range(6)]
    assert all(arms.count(arm) == 2 for arm in PROBLEM.arms)


def _labour(storage: SqlStorage, pipe: Any, seed: int) -> None:
    experiment, sample = Experiment.open("doses", storage), rewards(seed)
    while tickets := experiment.ask(1 + seed % 3):
        os.write(pipe, "".join(f"asked {ticket.id}\n" for ticket in tickets).encode())
        for ticket in tickets:
            told = experiment.tell(ticket, sample(ticket.arm))
            os.write(pipe, f"told {told.sequence} {ticket.id}\n".encode())


@pytest.mark.parametrize("times", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_killed_in_the_middle_of_ask_and_tell_nothing_acknowledged_is_lost(url: str, times: int) -> None:
    """Children of this process, all warm, die by SIGKILL at any moment; what is asked for is as if none had."""
    storage = SqlStorage(url)
    for n in (1, 2, 3):
        run_to_the_end(begin(), rewards(), n)  # what children need is loaded before they are born
    begin(storage, evidence="certified", delta=1e-9, ticket_seconds=1e6).status()
    chance = random.Random(0)
    asked, told = set[int](), dict[int, int]()
    context = multiprocessing.get_context("fork")
    for seed in range(times):
        reading, writing = os.pipe()
        child = context.Process(target=_labour, args=(storage, writing, seed))
        child.start()
        os.close(writing)
        time.sleep(chance.uniform(0.01, 0.12))
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        with os.fdopen(reading) as pipe:
            for line in pipe.read().splitlines():
                word, *numbers = line.split()
                if word == "asked" and numbers:
                    asked.add(int(numbers[0]))
                elif word == "told" and len(numbers) == 2:
                    told[int(numbers[1])] = int(numbers[0])
    events = [event.read() for event in storage.events("doses")]
    assert not first_break(storage.events("doses"))
    recorded = {entry.data["id"]: entry.sequence for entry in events if entry.kind == "told"}
    assert told.items() <= recorded.items()
    assert len(recorded) == sum(entry.kind == "told" for entry in events)
    fold = Fold(storage.events("doses"))
    assert asked <= set(range(len(fold.slots)))
    assert fold.session.samples == len(recorded)
    assert len(told) > times // 4  # it did work in between
    _asks_as_one_process_would(events)
    storage.close()


def _asks_as_one_process_would(events: list[Entry]) -> None:
    trial = pg.Trial(PROBLEM, delta=1e-9)
    tickets = list[pg.Ticket]()
    for entry in events:
        if entry.kind == "asked":
            chosen = trial.ask(len(entry.data["arms"]))
            assert [ticket.arm for ticket in chosen] == entry.data["arms"]
            tickets += chosen
        elif entry.kind == "told":
            trial.tell(tickets[entry.data["id"]], entry.data["values"])


# --- other versions --------------------------------------------------------------------------------------------------


def test_an_event_of_a_newer_program_is_refused_and_nothing_changes(sqlite: SqlStorage) -> None:
    experiment = begin(sqlite)
    experiment.ask()
    sqlite.append("doses", 0, lambda events: [Draft("asked", {"arms": ["low"]}, time.time())])

    events, last = list[Event](), START
    for event in sqlite.events("doses"):
        line = event.line.replace('"version":1', '"version":2')
        last = seal(last, line)
        events.append(Event(event.sequence, line, last))
    newer = MemoryStorage()
    newer.restore("doses", events)
    with pytest.raises(pg.LedgerError, match="has version 2, this program knows 1"):
        Experiment.open("doses", newer)


def test_the_program_that_decides_is_on_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begin()
    experiment.ask()
    monkeypatch.setattr("paretoguard.experiment.recording.__version__", "9.9")
    experiment.ask()
    experiment.ask()
    assert [event["data"].get("program") for event in experiment.history()] == [pg.__version__, None, "9.9", None]


ONE = {"id": 0, "arm": "low", "values": {"efficacy": 1.0, "safety": 1.0}}
FORGED: list[tuple[list[tuple[str, Any]], str]] = [
    ([("told", {**ONE, "colour": "red"})], r"event 2 \(told\) says 'colour', which paretoguard .* does not know"),
    ([("asked", {})], r"event 2 \(asked\) does not say arms"),
    ([("asked", {"arms": 5})], "expected a list of arms"),
    ([("asked", {"arms": ["low"], "expires": "soon"})], "expected a list of arms, and seconds"),
    ([("asked", {"arms": ["lower"]})], "there is no 'lower'"),
    ([("created", {})], r"event 2 \(created\) does not say"),
    ([("told", {**ONE, "id": 3})], "there is no result 3"),
    ([("told", {**ONE, "id": -1})], "there is no result -1"),
    ([("told", ONE), ("told", ONE)], "result 0 has come before"),
    ([("asked", {"arms": ["high"]}), ("told", ONE)], "result 0 is of 'high', not of 'low'"),
    ([("told", {**ONE, "values": {"efficacy": 1.0, "safety": "1"}})], "got '1', expected 0 or 1"),
    ([("told", {**ONE, "values": {"efficacy": "soon"}})], "got 'soon', expected 0 or 1"),
    ([("told", {**ONE, "key": 5})], "the key 5 is no text"),
    ([("expired", {"ids": [4]})], "there is no result 4"),
    ([("stopped", {"why": "answered", "samples": 0, "statuses": {"low": "fine"}})], "the statuses are"),
    ([("retracted", {"id": 0})], r"event 2 \(retracted\) does not say arm, blind, reason"),
]


@pytest.mark.parametrize(("events", "words"), FORGED)
def test_events_that_make_no_sense_are_named(events: list[tuple[str, Any]], words: str) -> None:
    """Their hashes may be right."""
    storage = MemoryStorage()
    first = begin().storage.head("doses")
    storage.restore("doses", list(begin().storage.events("doses")))
    storage.append("doses", first[0], lambda new: [Draft(kind, data, 0.0) for kind, data in events])
    with pytest.raises(pg.LedgerError, match=words):
        Experiment.open("doses", storage)
    assert re.search(words, audit(Experiment("doses", storage)).said)


@pytest.mark.parametrize("value", [0.5, "1", None, 1e200])
def test_impossible_values_in_a_long_ledger_are_refused(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_module, "LONG", 1)
    storage = begin().storage
    values = [1.0, 0.0, value]
    drafts = [
        Draft("told", {**ONE, "id": k, "values": {"efficacy": x, "safety": 1.0}}, 0.0) for k, x in enumerate(values)
    ]
    storage.append("doses", 1, lambda new: drafts)
    with pytest.raises(pg.LedgerError, match=r"cannot be counted: (objective 'efficacy': got|a result is not a row)"):
        Experiment.open("doses", storage)


def test_a_first_event_that_makes_no_sense_is_named() -> None:
    data = begin().history()[0]["data"]
    for wrong in ({"problem": "arms = 3"}, {"problem": 7}, {"delta": 2}, {"order": "late"}, {"algorithm": None}):
        storage = MemoryStorage()
        storage.create("doses", Draft("created", {**data, **wrong}, 0.0))
        with pytest.raises(pg.LedgerError, match=r"event 1 \(created\) cannot be worked in"):
            Experiment.open("doses", storage)


def test_a_ledger_of_the_first_version_still_opens() -> None:
    storage = MemoryStorage()
    path = Path(__file__).parent / "golden" / "ledger-1.jsonl"
    with path.open(encoding="utf-8") as lines:
        name = transfer.take_in(storage, lines)
    experiment = Experiment.open(name, storage)
    status = experiment.status()
    assert (status.samples, status.stopped, status.retracted) == (47, "answered", 1)
    assert experiment.result().pareto == ("middle",)
