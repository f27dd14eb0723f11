"""The paper's results run, are the same every time, and stand in the committed folder as its page says."""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import paretoguard as pg
from paretoguard.cli.app import app
from paretoguard.cli.paper import FOLDER
from paretoguard.papers import NAMES, bounds, choices, errors, folder, warming
from paretoguard.papers.outcome import Line, Outcome, read, write
from paretoguard.papers.published import predicted
from paretoguard.pictures.instance_map import corners, faces

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "papers" / "kone2025"
SUFFIXES = (".csv", ".comparison.csv", ".svg", ".png", ".timing.csv")
UNIT_BOX = [(0.0, 1.0)] * 3


def paper(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["paper", *arguments], env={"COLUMNS": "120"})


AGAIN = ("polyhedra", "racing", "errors", "choices")  # with another number of threads


def test_smoke_runs_everything_and_writes_the_same_files_on_any_number_of_threads(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    result = paper("--all", "--smoke", "--json", "--threads", "1", "--out", str(one))
    assert result.exit_code == 0, result.output
    for name in AGAIN:
        assert paper(name, "--smoke", "--threads", "2", "--out", str(two)).exit_code == 0

    answer = json.loads(result.stdout)
    assert list(answer["results"]) == list(NAMES)
    assert answer["smoke"]
    assert not answer["interrupted"]
    for name, found in answer["results"].items():
        assert found["files"] == [str(one / f"{name}{suffix}") for suffix in SUFFIXES]
        assert {"what", "paper", "ours", "agrees", "why"} == set(found["comparison"][0])

    written = {path.name for path in two.iterdir()} & {path.name for path in one.iterdir()}
    assert {f"{name}{suffix}" for name in AGAIN for suffix in SUFFIXES} <= written
    for name in written:
        if not name.endswith(".timing.csv"):
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    page = folder.fill(f"before\n{folder.START}{folder.END}\nafter", one)
    assert all(f"({name}.png)" in page for name in NAMES)


# --- the command -----------------------------------------------------------------------------------------------------


def test_without_a_name_the_results_are_listed() -> None:
    assert all(name in paper().stdout for name in NAMES)
    assert list(json.loads(paper("--json").stdout)["results"]) == list(NAMES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["racin"], "did you mean 'racing'"),
        (["nope"], "two_stage_gap, bounds, errors, choices"),
        (["racing", "--all"], "both a NAME and --all"),
        (["racing", "--smoke", "--out", str(FOLDER)], "--smoke would overwrite"),
        (["racing", "--out", "README.md"], "--out is README.md, which is a file; name a folder"),
    ],
)
def test_refusals_say_what_to_do(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = paper(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_smoke_goes_to_a_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paretoguard.papers.script", quick)
    assert list(json.loads(paper("--smoke", "--json").stdout)["results"]) == list(NAMES)
    answer = json.loads(paper("racing", "--smoke", "--json").stdout)
    assert not (tmp_path / FOLDER).exists()
    assert Path(answer["folder"], "racing.csv").exists()


def test_results_go_to_the_folder_of_the_paper_or_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paretoguard.papers.script", quick)
    assert "3 in the paper" in paper("racing").stdout
    assert (tmp_path / FOLDER / "racing.csv").read_text() == "samples\n7\n"
    paper("racing", "--out", "there")
    assert (tmp_path / "there" / "racing.comparison.csv").exists()


def test_ctrl_c_keeps_the_results_that_had_finished(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("paretoguard.papers.script", lambda name: quick(name, stop=name == NAMES[2]))
    result = paper("--all", "--smoke", "--json", "--out", str(tmp_path))
    assert result.exit_code == 130
    answer = json.loads(result.stdout)
    assert answer["interrupted"]
    assert list(answer["results"]) == list(NAMES[:2])
    assert all((tmp_path / f"{name}.csv").exists() == (name in NAMES[:2]) for name in NAMES)


def test_smoke_never_overwrites_results_from_wherever_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(COMMITTED.parent)
    result = paper("racing", "--smoke", "--out", COMMITTED.name)
    assert result.exit_code == 2
    assert "--smoke would overwrite the results in kone2025" in result.stderr


def test_a_result_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def interrupted(path: Path) -> Any:
        raise KeyboardInterrupt

    good = quick("racing")(None)
    folder.keep("racing", good, tmp_path, 1.0)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        folder.keep("racing", dataclasses.replace(good, rows=[{"samples": 8}], draw=interrupted), tmp_path, 1.0)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_kernels_are_compiled_beside_by_runs_of_every_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(warming, "simulate", lambda instance, **kind: made.append(kind))
    warming.main()
    kinds = {(how, kind.get("evidence", "glr")) for kind in made for how in np.atleast_1d(kind["algorithms"])}
    results = {(row["algorithm"], row["evidence"]) for row in read(COMMITTED / "bounds.csv")}
    theirs = {(how, "practical") for how in ("e-cape", "two-stage", "racing", "uniform")}
    assert kinds == results - theirs  # which the first results need themselves
    assert made[0]["algorithms"] == "game-cpsi"  # asked for first
    assert {kind["runs"] for kind in made} == {2}


def test_who_compiles_beside_does_not_outlive_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def sleep(words: list[str], **streams: Any) -> subprocess.Popen[bytes]:
        assert words[1:] == ["-P", "-m", "paretoguard.papers.warming"]
        begun.append(start([sys.executable, "-c", "import time; time.sleep(600)"], **streams))
        return begun[-1]

    said: list[str] = []
    monkeypatch.setattr(subprocess, "Popen", sleep)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with warming.warming(None, said.append):
        assert begun[0].poll() is None
    assert begun[0].poll() is not None
    with warming.warming(1, said.append):
        assert len(begun) == 1  # one thread has nothing to spare
    monkeypatch.setattr(warming, "cache_folder", lambda: None)
    with warming.warming(None, said.append):
        assert len(begun) == 1  # machine code cannot be shared
    assert not said


def test_it_is_said_that_who_compiles_beside_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    start = subprocess.Popen

    def fail(words: list[str], **streams: Any) -> subprocess.Popen[bytes]:
        helper = start([sys.executable, "-c", "raise SystemExit(3)"], **streams)
        helper.wait()
        return helper

    monkeypatch.setattr(subprocess, "Popen", fail)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with warming.warming(None, said.append):
        pass
    assert said == ["the process that compiles beside ended with status 3: the results are the same, only later"]


def test_who_compiles_beside_ends_when_its_parent_is_killed() -> None:
    code = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-m', 'paretoguard.papers.warming'], stdin=subprocess.PIPE)\n"
        "print('begun', flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"begun\n"
    parent.kill()
    parent.communicate(timeout=60)  # the helper has inherited stdout: this returns when it is gone too


def test_who_compiles_beside_may_end_before_its_parent() -> None:
    code = "from paretoguard.compiler.beside import end_with_parent; end_with_parent()"
    helper = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert helper.wait(timeout=60) == 0
    helper.communicate()


@pytest.mark.parametrize(("words", "is_warmed"), [(["--all"], True), (["racing"], False), (["--smoke"], False)])
def test_only_all_results_compile_beside(
    words: list[str], is_warmed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun: list[int | None] = []

    def warmed(threads: int | None, say: Any) -> Any:
        begun.append(threads)
        return contextlib.nullcontext()

    monkeypatch.setattr("paretoguard.papers.script", quick)
    monkeypatch.setattr(warming, "warming", warmed)
    assert paper(*words, "--threads", "2", "--out", str(tmp_path)).exit_code == 0
    assert begun == ([2] if is_warmed else [])


def test_runs_of_a_result_are_counted_per_instance(tmp_path: Path) -> None:
    rows = [{"instance": "a", "run": run} for run in range(3)] + [{"instance": "b", "run": run} for run in range(2)]
    write([*rows, *rows], tmp_path / "racing.csv")
    assert folder._runs("racing", tmp_path) == "2 to 3"


def quick(name: str, *, stop: bool = False) -> Any:
    """The function of a result that is done at once, or interrupted."""

    def reproduce(effort: Any) -> Outcome:
        if stop:
            raise pg.Interrupted(study=None)
        timing = [{"instance": "one", "algorithm": "e-cape", "ms_per_run": 1.0, "paper_ms_per_run": ""}]
        return Outcome([{"samples": 7}], [Line("number", "3 in the paper", "4")], lambda path: path.touch(), timing)  # type: ignore[arg-type, return-value]

    return reproduce


# --- the committed folder --------------------------------------------------------------------------------------------


def test_the_page_shows_what_was_measured() -> None:
    page = (COMMITTED / "README.md").read_text(encoding="utf-8")
    assert folder.fill(page, COMMITTED) == page


def test_every_result_is_committed_at_full_size() -> None:
    assert {path.name for path in COMMITTED.iterdir()} == {
        *(f"{name}{suffix}" for name in NAMES for suffix in SUFFIXES), "README.md", folder.TIMES
    }  # fmt: skip
    trials = ("secukinumab", "covboost", "polyhedra", "racing", "explainability")
    runs = {name: read(COMMITTED / f"{name}.csv") for name in trials}
    assert {name: 1 + max(int(row["run"]) for row in rows) for name, rows in runs.items()} == {
        "secukinumab": 500, "covboost": 500, "polyhedra": 500, "racing": 250, "explainability": 250
    }  # fmt: skip
    assert {row["runs"] for row in read(COMMITTED / "two_stage_gap.csv")} == {"500"}
    assert {row["runs"] for row in read(COMMITTED / "choices.csv")} == {str(choices.RUNS)}
    assert {row["instance"] for row in read(COMMITTED / "errors.csv")} == set(errors.RUNS)
    for row in read(COMMITTED / "errors.csv"):
        assert int(row["runs"]) == errors.RUNS[row["instance"]]
        assert float(row["error_cpsi"]) <= float(row["error_ecpsi"]) <= float(row["error_ecpsi_upper"])
        if row["instance"] in errors.SHORT:
            assert float(row["mean"]) < 5000
    for row in read(COMMITTED / "bounds.csv"):
        assert row["algorithm"] == "game-cpsi" or int(row["runs"]) == bounds.RUNS[row["evidence"]]


def test_a_page_without_a_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pg.FileError, match="<!-- results -->"):
        folder.fill("nothing here", tmp_path)


# --- what is compared ------------------------------------------------------------------------------------------------


def test_a_choice_turns_the_order_only_where_both_sides_are_clear() -> None:
    def row(choice: str, ratio: float, error: float) -> dict[str, Any]:
        return {"instance": "one", "choice": choice, "ratio": ratio, "error": error}

    decided = row(choices.AS_DECIDED, 1.5, 0.1)
    told = choices.lines([decided, row("ties", 0.9, 0.2), row("split", 0.7, 0.1)])
    assert [line.why for line in told] == ["", "turns no order of the two", "turns the order on one"]


def test_errors_beyond_delta_are_said_to_be_so() -> None:
    row = {"instance": "one", "evidence": "practical", "runs": 1000, "undecided": 0.0}
    row |= {"error_ecpsi": 0.005, "error_ecpsi_upper": 0.009}
    told = errors.lines([{**row, "delta": delta} for delta in errors.DELTAS])
    assert [line.agrees for line in told] == ["yes", "–", "–"]
    assert [line.why for line in told] == ["nowhere more than δ"] * 2 + ["more than δ on one"]
    assert told[0].ours == "at most 0.500% (95% limit 0.900%), on one in 1,000 runs"


def test_the_weakest_limit_is_shown_where_nothing_went_wrong() -> None:
    row = {"evidence": "certified", "undecided": 0.0, "error_ecpsi": 0.0}
    many, few = {"instance": "many", "runs": 100_000}, {"instance": "few", "runs": 500}
    limits = [{**many, "error_ecpsi_upper": 3e-5}, {**few, "error_ecpsi_upper": 0.006}]
    told = errors.lines([{**row, **one, "delta": delta} for delta in errors.DELTAS for one in limits])
    assert told[2].ours == "at most 0.000% (95% limit 0.600%), on few in 500 runs"
    assert told[2].why == "more than δ cannot be excluded everywhere by so few runs"


def test_bounds_name_the_rivals_that_need_fewer() -> None:
    row = {"instance": "one", "evidence": "practical", "runs": 100, "std": 10.0, "ratio": 2.0, "undecided": 0.0}
    means = {"e-cape": 100.0, "two-stage": 80.0, "racing": 99.0, "uniform": 200.0, "pitfall": 70.0}
    rows = [{**row, "algorithm": name, "mean": mean} for name, mean in means.items()]
    told = bounds.lines(rows)
    assert (told[-1].ours, told[-1].agrees, told[-1].why) == ("0 of 1", "–", "one: two-stage fewer")
    told = bounds.lines([*rows, *({**one, "instance": "cut", "undecided": 0.01} for one in rows)])
    assert (told[-1].ours, told[-1].why.partition("; cut ")[2][:8]) == ("0 of 1", "left out")


def test_racing_is_predicted_to_cost_twice_as_much_with_twice_the_arms() -> None:
    assert 1.8 < predicted("racing-10") / predicted("racing-5") < 2.2


def test_stage_one_alone_and_stage_two_alone_are_parts_of_the_instance() -> None:
    instance = pg.instances.load("two-stage-gap")
    first, second = choices.incomparable(instance), choices.feasible_alone(instance)
    assert first.truth().is_feasible.tolist() == instance.truth().is_feasible.tolist()
    assert first.truth().is_pareto.tolist() == first.truth().is_feasible.tolist()
    assert second.problem.arms == ("a1", "a2")
    assert second.truth().pareto == instance.truth().pareto


# --- solids ----------------------------------------------------------------------------------------------------------


def solid(*constraints: str) -> pg.Problem:
    goals = dict.fromkeys(("x", "y", "z"), "max")
    return pg.Problem(goals, arms=["a"], noise=pg.Gaussian(1.0), constraints=constraints)


@pytest.mark.parametrize(
    ("constraints", "sizes"),
    [
        ((), [4, 4, 4, 4, 4, 4]),
        (("x <= 1", "z >= 0"), [4, 4, 4, 4, 4, 4]),  # sides of the box already
        (("x + y + z <= 1",), [3, 3, 3, 3]),
        (("x <= y",), [3, 3, 4, 4, 4]),  # half a box
        (("x + y + z <= 2.5",), [3, 4, 4, 4, 5, 5, 5]),  # a box without a corner
        (("x >= 2",), []),
    ],
)
def test_faces_of_simple_solids(constraints: tuple[str, ...], sizes: list[int]) -> None:
    found = faces(solid(*constraints), UNIT_BOX)
    assert sorted(len(face) for face in found) == sizes
    for face in found:
        assert convex(face)


def convex(face: Any) -> bool:
    """Do all corners of a plane polygon turn the same way?"""
    sides = np.roll(face, -1, axis=0) - face
    turns = np.cross(sides, np.roll(sides, -1, axis=0))
    return bool(np.all(turns @ turns[0] > 0))


def test_corners_of_whole_solids() -> None:
    simplex = corners(solid("x >= 0", "y >= 0", "z >= 0", "x + y + z <= 1"))
    assert sorted(map(tuple, simplex.tolist())) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert corners(solid("x <= y", "y <= z")).shape == (0, 3)
