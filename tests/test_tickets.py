"""Tickets: several measurements at once, late and out of order, and what each order of counting promises."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg
from paretoguard.evidence.certified.certified import either_way
from paretoguard.experiment.memory import MemoryStorage


def problem(**changes: Any) -> pg.Problem:
    stated: dict[str, Any] = {"arms": ["a", "b", "c"], "noise": pg.Gaussian(1.0), "constraints": ["x <= 1"]}
    return pg.Problem({"x": "max", "y": "max"}, **{**stated, **changes})


def instance() -> pg.Instance:
    return pg.Instance(problem(name="three"), [[0.0, 0.0], [-0.6, -0.7], [2.0, 1.0]])


def test_asking_for_one_arm_at_a_time_is_as_taking_the_next_arm() -> None:
    by_arm, by_ticket = pg.Trial(problem(), delta=0.1), pg.Trial(problem(), delta=0.1)
    first, second = pg.sampler(instance(), seed=4), pg.sampler(instance(), seed=4)
    for _ in range(10_000):
        arm, tickets = by_arm.next_arm(), by_ticket.ask()
        assert [ticket.arm for ticket in tickets] == ([] if arm is None else [arm])
        if arm is None:
            break
        by_arm.tell(arm, first(arm))
        by_ticket.tell(tickets[0], second(arm))
    assert by_arm.answered
    assert by_arm.result().to_dict() == by_ticket.result().to_dict()


@pytest.mark.parametrize("algorithm", ["two-stage", "racing"])
def test_an_answer_that_was_looked_at_stays_while_tickets_are_out(algorithm: str) -> None:
    """A ledger looks after each result whether the answer is found; who asks for more is told that it is."""
    how: dict[str, Any] = {"evidence": "practical", "delta": 0.1, "storage": MemoryStorage()}
    experiment, sample = pg.Experiment.create("three", problem(), algorithm=algorithm, **how), pg.sampler(instance())
    waiting = deque(experiment.ask(4))
    while not experiment.status().done:
        ticket = waiting.popleft()
        experiment.tell(ticket, sample(ticket.arm))
        waiting += experiment.ask(4 - len(waiting)) if algorithm == "two-stage" or not waiting else []
    found = experiment.result()
    assert (found.stopped, found.pareto) == ("answered", ("a",))
    assert experiment.ask(2) == []
    assert experiment.result() == found
    assert experiment.status().pending == len(waiting) > 0


@pytest.mark.parametrize("algorithm", ["pitfall", "e-cape", pytest.param("racing", marks=pytest.mark.slow)])
def test_batches_are_those_of_a_simulation(algorithm: str) -> None:
    how: dict[str, Any] = {"evidence": "practical", "delta": 0.1}
    study = pg.simulate(instance(), algorithms=algorithm, runs=1, seed=4, batch=8, **how)
    trial, sample = pg.Trial(problem(), algorithm=algorithm, seed=4, **how), pg.sampler(instance(), seed=4)
    while tickets := trial.ask(8):
        for ticket in tickets:
            trial.tell(ticket, sample(ticket.arm))
    assert trial.answered
    assert list(trial.result().pulls.values()) == study.pulls[0].tolist()


def test_pending_measurements_count_in_the_choice_of_arms_and_in_the_budget() -> None:
    trial = pg.Trial(problem(), budget=7)
    assert [ticket.arm for ticket in trial.ask(2)] == ["a", "b"]
    tickets = trial.ask(9)
    assert [ticket.arm for ticket in tickets] == ["c", "a", "b", "c", "a"]
    assert trial.ask(3) == []
    assert (trial.samples, trial.result().stopped) == (0, "open")
    assert trial.result().verdicts["a"].reason == "never pulled"


def test_results_of_each_arm_wait_for_earlier_ones_in_the_order_asked_only() -> None:
    values = [{"x": float(k), "y": 0.0} for k in range(6)]
    arrival, asked = pg.Trial(problem()), pg.Trial(problem(), order="asked")
    for trial, counted in ((arrival, [1, 2, 3]), (asked, [0, 1, 3])):
        first_a, b, _, second_a = trial.ask(4)
        assert (first_a.arm, b.arm, second_a.arm) == ("a", "b", "a")
        seen = []
        for ticket in (second_a, b, first_a):
            trial.tell(ticket, values[ticket.id])
            seen.append(trial.samples)
        assert seen == counted


def test_the_order_of_arrival_does_not_matter_in_the_order_asked() -> None:
    rng, kept = np.random.default_rng(0), []
    for _ in range(3):
        trial = pg.Trial(problem(), order="asked", seed=3)
        tickets = trial.ask(60)
        values = {t.id: {"x": np.sin(t.id), "y": np.cos(t.id)} for t in tickets}
        for k in rng.permutation(len(tickets)):
            trial.tell(tickets[k], values[tickets[k].id])
        kept.append(trial.result().to_dict())
    assert kept[0] == kept[1] == kept[2]
    assert kept[0]["samples"] == 60


def test_waiting_results_are_said() -> None:
    trial = pg.Trial(problem(), order="asked")
    first, _, _, second = trial.ask(4)
    trial.tell(second, {"x": 5.0, "y": 5.0})
    assert (trial.samples, trial.held) == (0, 1)
    assert trial.result().notes == ("results that wait for earlier ones of their arm, not counted yet: 1",)
    trial.tell(first, {"x": 1.0, "y": 1.0})
    assert (trial.samples, trial.result().notes) == (2, ())
    assert "in the order they were asked for" in trial.result().assumptions[-1]
    assert "does not depend on their values" in pg.Trial(problem()).result().assumptions[-1]


def test_in_the_order_asked_results_without_a_ticket_come_one_by_one() -> None:
    trial = pg.Trial(problem(), evidence="certified:order=asked")
    assert trial.setup.order == "asked"
    trial.tell("a", {"x": 1.0, "y": 1.0})
    with pytest.raises(pg.SampleError, match=r"of the arm that `ask` would give next can be told, 'b' now"):
        trial.tell("c", {"x": 1.0, "y": 1.0})
    (ticket,) = trial.ask(1)
    with pytest.raises(pg.SampleError, match=r"so tell by ticket .* while no ticket is open"):
        trial.tell(ticket.arm, {"x": 1.0, "y": 1.0})
    assert trial.samples == 1
    with pytest.raises(pg.SettingsError, match=r"order is 'arrival', but the evidence is 'certified:order=asked'"):
        pg.Trial(problem(), evidence="certified:order=asked", order="arrival")


def test_the_next_arm_knows_what_is_outstanding() -> None:
    trial = pg.Trial(problem(), budget=5)
    assert len(trial.ask(4)) == 4
    assert trial.next_arm() is not None
    trial.ask(1)
    assert trial.next_arm() is None


def test_an_arm_that_cannot_be_asked_for_leaves_nothing_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretoguard.trial.session.fills_batches", lambda memory: False)
    trial = pg.Trial(problem(), evidence="practical")
    with pytest.raises(pg.SettingsError, match="does not say how to choose arms while results are outstanding"):
        trial.ask(2)
    assert [ticket.arm for ticket in trial.ask(1)] == ["a"]


@pytest.mark.parametrize(
    "algorithm",
    ["pitfall", "e-cape", *(pytest.param(how, marks=pytest.mark.slow) for how in ("two-stage", "racing", "uniform"))],
)
def test_a_pool_of_workers_takes_about_as_many_samples_as_one(algorithm: str) -> None:
    """n measurements under way, one result in, one ask; also with one that never returns."""

    def samples(workers: int, lost: int) -> int:
        trial, sample = (
            pg.Trial(problem(), delta=0.1, evidence="practical", algorithm=algorithm),
            pg.sampler(instance()),
        )
        trial.ask(lost or 1) if lost else None
        pool: list[pg.Ticket] = []
        for _ in range(20_000):
            pool += trial.ask(workers - len(pool)) if len(pool) < workers else []
            if not pool:
                return trial.samples
            ticket = pool.pop(0)
            trial.tell(ticket, sample(ticket.arm))
        raise AssertionError(f"no answer: {trial.result().pulls}")

    alone = samples(1, 0)
    for workers, lost in ((2, 0), (4, 0), (8, 0), (1, 1), (3, 1)):
        assert samples(workers, lost) < 2 * alone + 10 * workers


def test_lost_tickets_can_be_listed_and_dropped() -> None:
    trial = pg.Trial(problem(), budget=3)
    tickets = trial.ask(3)
    assert trial.outstanding == tickets
    assert trial.ask(1) == []
    trial.drop(tickets[1])
    assert trial.outstanding == [tickets[0], tickets[2]]
    assert len(trial.ask(1)) == 1
    with pytest.raises(pg.SettingsError, match="has its result already"):
        trial.drop(tickets[1])
    asked = pg.Trial(problem(), order="asked")
    with pytest.raises(pg.SettingsError, match="cannot be dropped: in the order asked, later results of a wait for it"):
        asked.drop(asked.ask(1)[0])


def test_a_ticket_is_for_one_result_and_a_bad_one_leaves_it_open() -> None:
    trial = pg.Trial(problem())
    ticket, other = trial.ask(2)
    with pytest.raises(pg.SampleError, match="expected a finite number"):
        trial.tell(ticket, {"x": float("nan"), "y": 0.0})
    trial.tell(ticket, {"x": 1.0, "y": 0.0})
    with pytest.raises(pg.SampleError, match="ticket 0 has its result already; a ticket is for one"):
        trial.tell(ticket, {"x": 1.0, "y": 0.0})
    with pytest.raises(pg.SampleError, match=r"Ticket\(id=7, arm='b'\) was not asked for.*are: 1 \(b\)"):
        trial.tell(pg.Ticket(7, "b"), {"x": 1.0, "y": 0.0})
    with pytest.raises(pg.SampleError, match=r"Ticket\(id=1, arm='a'\) was not asked for"):
        trial.tell(pg.Ticket(other.id, "a"), {"x": 1.0, "y": 0.0})
    assert trial.samples == 1


def test_orders_that_cannot_be_kept_are_refused() -> None:
    with pytest.raises(pg.SettingsError, match="order is 'random'; expected one of arrival, asked"):
        pg.Trial(problem(), order="random")
    with pytest.raises(pg.SettingsError, match="'lil' has no guarantee for results counted in the order asked"):
        pg.Trial(problem(), order="asked", evidence="lil")
    for evidence in ("theorem", "practical", "certified:expected_samples=500"):
        pg.Trial(problem(), order="asked", evidence=evidence)
    with pytest.raises(pg.SettingsError, match="order is 'late', expected one of arrival, asked"):
        pg.simulate("secukinumab", algorithms="e-cape", evidence="certified:order=late", runs=1)
    with pytest.raises(pg.SettingsError, match="n is 0; it is how many arms to ask for"):
        pg.Trial(problem()).ask(0)


def test_the_order_asked_costs_pairs_what_the_proof_says() -> None:
    space = problem(dependence="independent").space()
    levels = pg.evidence.Certified(order="asked").fit(0.1, space)
    level = np.exp(-levels.below_bar)
    assert level * (1 + np.log(1 / level)) == pytest.approx(0.1 / (2 * 6) / (3 * 2))
    assert levels.lead_bar == levels.below_bar
    assert levels.joint_bar == np.inf
    assert levels.row_bar == pg.evidence.Certified().fit(0.1, space).row_bar
    assert either_way(1e-9) > 1e-9


def misled(order: str, seed: int) -> bool:
    """One arm on the border, 60 measurements under way; good news comes at once, bad news 60 later."""
    border = pg.Problem({"x": "max"}, arms=["a"], noise=pg.Gaussian(1.0), constraints=["x <= 0"])
    trial, rng, slow = pg.Trial(border, delta=0.05, order=order), np.random.default_rng(seed), deque[Any]()
    for _ in range(400):
        tickets = trial.ask(1)
        if not tickets:  # certain
            break
        (ticket,) = tickets
        value = float(rng.normal())
        if value > 0:
            trial.tell(ticket, {"x": value})
            if trial.statuses()["a"] == "infeasible":
                return True
        else:
            slow.append((ticket, value))
        if len(slow) > 60:
            ticket, value = slow.popleft()
            trial.tell(ticket, {"x": value})
    return trial.statuses()["a"] == "infeasible"


def test_slow_bad_news_misleads_what_is_counted_on_arrival_and_not_what_is_counted_as_asked() -> None:
    runs = 60
    assert sum(misled("arrival", seed) for seed in range(runs)) > 0.5 * runs
    wrong = sum(misled("asked", seed) for seed in range(runs))
    assert stats.binom.sf(wrong - 1, runs, 0.05) > 1e-4
