"""Studies: the same for any number of threads, extended without recomputing, saved whole, interrupted without loss."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import paretoguard as pg
from paretoguard.files.problem_file import ProblemFile
from paretoguard.simulation.rewards import sampler
from paretoguard.simulation.summary import upper_limit
from paretoguard.vocabulary import STATUSES


def easy(name: str = "easy", arms: int = 3) -> pg.Instance:
    problem = pg.Problem(
        {"speed": "max", "cost": "min"},
        arms=[f"arm{i}" for i in range(arms)],
        noise=pg.Gaussian(1.0),
        constraints=["cost <= 2"],
        dependence="independent",
        name=name,
    )
    means = np.array([[1.0, 1.0], [0.2, 1.5], [2.0, 3.0], [0.5, 0.2]])[:arms]
    return pg.Instance(problem, means)


def untimed(study: pg.Study) -> Any:
    """The records without their timing, which may differ."""
    return study.records[[name for name in study.records.dtype.names or () if name != "ns"]].tolist()


def test_the_number_of_threads_changes_nothing() -> None:
    algorithms = ["pitfall", "e-cape", "uniform", "racing", "two-stage"]
    studies = [pg.simulate(easy(), algorithms=algorithms, runs=40, seed=5, threads=n) for n in (1, 2, 5)]
    for other in studies[1:]:
        assert untimed(studies[0]) == untimed(other)
        assert np.array_equal(studies[0].pulls, other.pulls)
        assert np.array_equal(studies[0].statuses, other.statuses)


@pytest.mark.parametrize("evidence", ["practical", "certified"])
@pytest.mark.parametrize("budget", [2, 60])
def test_runs_end_at_their_budget_with_the_verdicts_of_identify(evidence: str, budget: int) -> None:
    study = pg.simulate(easy(), algorithms="e-cape", evidence=evidence, runs=30, budget=budget)
    assert (study.records["stopped"] == "budget").any()
    for run, statuses in enumerate(study.statuses):
        sample = sampler(easy(), seed=0, run=run)
        told = pg.identify(easy().problem, sample, algorithm="e-cape", evidence=evidence, delta=0.1, budget=budget)
        assert [STATUSES.index(verdict.status) for verdict in told.verdicts.values()] == statuses.tolist()


def test_more_runs_extend_a_study_without_recomputing() -> None:
    short = pg.simulate(easy(), algorithms="e-cape", runs=15, seed=1)
    longer = short.extend(40)
    whole = pg.simulate(easy(), algorithms="e-cape", runs=40, seed=1)
    assert untimed(longer) == untimed(whole)
    assert longer.records["ns"][:15].tolist() == short.records["ns"].tolist()  # the old runs were not run again
    assert untimed(longer.extend(40)) == untimed(longer)


def test_a_study_is_saved_and_loaded_whole(tmp_path: Path) -> None:
    study = pg.simulate([easy(), easy("wider", 4)], algorithms=["e-cape"], delta=[0.1, 0.01], runs=8, budget=500)
    study.save(tmp_path / "study.npz")
    again = pg.Study.load(tmp_path / "study.npz")
    assert again.summary() == study.summary()
    assert [cell.instance for cell in again.cells] == [cell.instance for cell in study.cells]
    assert np.array_equal(again.records, study.records)
    assert untimed(again.extend(12)) == untimed(study.extend(12))
    study.to_csv(tmp_path / "records.csv")
    lines = (tmp_path / "records.csv").read_text().splitlines()
    assert lines[0].startswith("instance,algorithm,evidence,delta,run,samples")
    assert len(lines) == 1 + len(study.records) == 33


def test_pulls_and_statuses_stand_beside_the_records() -> None:
    study = pg.simulate([easy(), easy("wider", 4)], algorithms="e-cape", runs=5)
    assert study.pulls.shape == study.statuses.shape == (10, 4)
    assert np.array_equal(study.pulls.sum(axis=1), study.records["samples"])
    narrow = study.records["instance"] == "easy"
    assert set(study.statuses[narrow, 3]) == {255}
    assert set(study.statuses[~narrow, 3]) <= {1, 2, 3}


def test_the_summary_is_what_the_records_say() -> None:
    study = pg.simulate(easy(), algorithms="e-cape", runs=60, seed=2)
    (row,) = study.summary()
    samples = study.records["samples"]
    assert row["mean"] == samples.mean()
    assert row["std"] == pytest.approx(np.std(samples, ddof=1))
    assert (row["q05"], row["median"], row["q95"]) == tuple(np.quantile(samples, [0.05, 0.5, 0.95]))
    assert row["error_ecpsi"] == study.records["wrong_ecpsi"].mean()
    assert row["guarantee"] == "heuristic"
    assert row["undecided"] == 0
    json.dumps(study.summary())
    assert "easy" in str(study)


@pytest.mark.parametrize(("errors", "runs"), [(0, 10), (3, 50), (50, 50), (1, 100_000)])
def test_upper_limits_are_exact_binomial_ones(errors: int, runs: int) -> None:
    limit = upper_limit(errors, runs)
    expected = stats.binomtest(errors, runs, alternative="less").proportion_ci(0.95, "exact").high
    assert limit == pytest.approx(expected, rel=1e-9)


def test_runs_that_end_at_the_budget_are_undecided_and_claim_nothing_wrong() -> None:
    study = pg.simulate(easy(), algorithms=["e-cape", "uniform"], runs=50, budget=60)
    assert study.records["samples"].max() <= 60
    assert study.records["undecided"].any()
    assert np.array_equal(study.records["undecided"], study.records["stopped"] == "budget")
    assert not study.records["wrong_ecpsi"][study.records["undecided"]].any()


BASELINES = ("uniform", "racing", "two-stage", "two-stage:form=e-cape")


@pytest.mark.parametrize(
    "algorithm", ["pitfall", "e-cape", *(pytest.param(how, marks=pytest.mark.slow) for how in BASELINES)]
)
def test_identify_fed_the_rewards_of_a_simulated_run_makes_the_same_pulls(algorithm: str) -> None:
    """Totals at every budget are the same, so the pulls are the same one by one."""
    instance = easy("wider", 4)
    asked: list[str] = []
    sample = sampler(instance, seed=9)

    def recorded(arm: str) -> dict[str, float]:
        asked.append(arm)
        return sample(arm)

    told = pg.identify(instance.problem, recorded, algorithm=algorithm, evidence="practical", delta=0.1, seed=9)
    for budget in (None, *range(1, min(len(asked), 60))):
        study = pg.simulate(instance, algorithms=algorithm, runs=1, seed=9, budget=budget)
        made = asked[:budget] if budget else asked
        assert study.pulls[0].tolist() == [made.count(arm) for arm in instance.problem.arms]
        if budget is None:
            codes = {"optimal": 1, "dominated": 2, "infeasible": 3}
            assert [codes[verdict.status] for verdict in told.verdicts.values()] == study.statuses[0].tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"algorithms": "e-capes"},
            "not one of those built: pitfall, e-cape, two-stage, racing, uniform, game-cpsi; did you mean 'e-cape'?",
        ),
        ({"evidence": "certain"}, "evidence 'certain' is not one of those built: certified, practical, lil"),
        ({"delta": 1.0}, "delta is 1.0; it is the error probability you accept, a number between 0 and 1"),
        ({"delta": float("nan")}, "delta is nan"),
        ({"runs": 0}, "runs is 0; it is the number of runs of each kind, a whole number of at least 1"),
        ({"seed": -1}, "seed is -1; expected a whole number from 0"),
        ({"budget": 2.5}, "budget is 2.5; it is the largest number of samples"),
        ({"threads": 0}, "threads is 0"),
        ({"runs": 10**12}, "runs is 1000000000000; it is the number of runs of each kind, at most 100,000,000"),
        ({"batch": 0}, "batch is 0; it is the number of arms pulled before the next decision"),
        ({"algorithms": []}, "nothing to simulate"),
        ({"algorithms": ["e-cape", "e-cape"]}, "is asked for twice"),
        ({"algorithms": "e-cape:form=2023"}, "'e-cape' has no option 'form'; it takes none"),
        ({"evidence": "certified:sevral=0.1"}, "expected_samples, order, several; did you mean 'several'?"),
        ({"evidence": "certified:several"}, "option 'several' of 'certified' has no value; write certified:several=…"),
        ({"evidence": "certified:several=much"}, "option 'several' of 'certified' is 'much', expected a number"),
        ({"algorithms": "two-stage:form=2024"}, "form is '2024'; expected one of 2023, e-cape"),
        ({"algorithms": 3}, "algorithm is 3; expected a name"),
        ({"algorithms": pg.algorithms.ECape}, "algorithm is the class ECape; pass a record of it: ECape()"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pg.SettingsError) as caught:
        pg.simulate(easy(), **{"algorithms": "e-cape", **changes})
    assert message in str(caught.value)


def test_what_is_not_an_instance_is_refused() -> None:
    with pytest.raises(pg.SettingsError, match=r"expected an Instance, the name of one, or .*; got 5"):
        pg.simulate(5, algorithms="e-cape")  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"", b"not a study", b"PK\x03\x04 cut short"])
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(pg.FileError, match=r"is not a study written by Study\.save, or it is cut short"):
        pg.Study.load(path)
    with pytest.raises(pg.FileError, match="there is no study at"):
        pg.Study.load(tmp_path / "missing.npz")


def test_a_study_of_another_format_is_refused(tmp_path: Path) -> None:
    header = np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8)
    np.savez(tmp_path / "later.npz", header=header, records=header, pulls=header, statuses=header)
    with pytest.raises(pg.FileError, match="has study format 99; this version reads format 1"):
        pg.Study.load(tmp_path / "later.npz")


def test_a_problem_file_can_be_simulated_if_it_has_means() -> None:
    instance = easy()
    file = ProblemFile(instance.problem, instance.means)
    assert untimed(pg.simulate(file, algorithms="e-cape", runs=3)) == untimed(
        pg.simulate(instance, algorithms="e-cape", runs=3)
    )
    with pytest.raises(pg.FileError, match="this problem file gives no means, so there is nothing to simulate"):
        pg.simulate(ProblemFile(instance.problem), algorithms="e-cape")
    with pytest.raises(pg.SettingsError, match="no instance was given"):
        pg.simulate([], algorithms="e-cape")


def test_a_truncated_study_is_refused(tmp_path: Path) -> None:
    study = pg.simulate(easy(), algorithms="e-cape", runs=5)
    study.save(tmp_path / "study.npz")
    whole = (tmp_path / "study.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(pg.FileError, match="cut short"):
        pg.Study.load(tmp_path / "cut.npz")


def test_ctrl_c_keeps_what_there_is() -> None:
    program = """
import signal, sys; sys.path.insert(0, "tests")
import paretoguard as pg
from test_study import easy
pg.simulate(easy(), algorithms="e-cape", runs=2)
print("ready", flush=True)
try:
    pg.simulate(easy(), algorithms="e-cape", runs=1_000_000)
except pg.Interrupted as stop:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    study = stop.study
    print("kept", len(study.records), (study.records["samples"] > 0).all(), len(set(study.records["run"].tolist())))
"""
    for patience in (1, 5, 20):  # a busy machine may need longer before the first run ends
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(patience)
        for _ in range(2):  # impatience loses nothing either
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        words = process.communicate(timeout=120)[0].split()
        if words and int(words[1]) > 0:
            break
    word, kept, complete, distinct = words
    assert word == "kept"
    assert int(kept) == int(distinct) > 0
    assert complete == "True"
