"""The command line: what it prints where, how it ends, and how it refuses."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import paretoguard as pg
from paretoguard.cli.app import app
from paretoguard.cli.inputs import items
from paretoguard.trial import registry

ROOT = Path(__file__).parents[1]
EXAMPLE = str(ROOT / "examples" / "dose-finding.toml")
SUMMARY = [
    *("instance", "algorithm", "evidence", "delta", "guarantee", "runs", "mean", "std", "median", "q05", "q95"),
    *("error_cpsi", "error_cpsi_upper", "error_ecpsi", "error_ecpsi_upper", "undecided", "ns_per_sample", "task"),
]
COMMANDS = ("demo", "run", "simulate", "plan", "paper")


def run(*arguments: str, width: int = 120) -> Any:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(width)})


def process(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "paretoguard.cli", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=environment, **options
    )


def problem_file(
    folder: Path, *lines: str, arms: str = "[arms.a]\nmean = { x = 0.0 }\n[arms.b]\nmean = { x = 1.0 }"
) -> str:
    path = folder / "problem.toml"
    path.write_text("\n".join([*lines, '[objectives]\nx = "max"\n[noise]\nkind = "gaussian"\nstd = 1.0', arms]))
    return str(path)


# --- help and version ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Examples" in result.stdout
    assert f"paretoguard {command}" in result.stdout
    assert "--json" in result.stdout


@pytest.mark.parametrize(("command", "usage"), [("run", "[OPTIONS] FILE"), ("paper", "[OPTIONS] [NAME]")])
def test_help_names_arguments_once_and_flags_without_a_type(command: str, usage: str) -> None:
    shown = run(command, "--help").stdout
    assert f"{command} {usage} " in shown
    assert "<bool>" not in shown


def test_without_a_command_help_is_shown() -> None:
    result = run()
    assert result.exit_code == 0
    assert all(command in result.stdout for command in COMMANDS)


def test_the_version_is_shown() -> None:
    assert run("--version").stdout == f"paretoguard {pg.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["simulate", "--help"], ["demo", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom paretoguard.cli.app import app\n"
        f"try: app({arguments!r})\nexcept SystemExit: pass\n"
        "print([name for name in ('numba', 'numpy', 'scipy', 'matplotlib') if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr.strip() == "[]"


# --- run -----------------------------------------------------------------------------------------------------------


def test_run_answers_the_example_and_says_that_it_is_simulated() -> None:
    result = run("run", EXAMPLE, "--evidence", "practical")
    assert result.exit_code == 0
    assert result.stdout.startswith("Simulated: ")
    assert "Best trade-offs: 75mg, 150mg, 300mg" in result.stdout
    assert "simulated samples" in result.stdout
    assert "heuristic" in result.stdout


def test_run_gives_the_answer_that_identify_gives() -> None:
    file = pg.load(EXAMPLE)
    assert file.means is not None
    sample = pg.sampler(pg.Instance(file.problem, file.means), seed=3)
    expected = pg.identify(file.problem, sample, delta=0.05, evidence="practical", seed=3).to_dict()
    printed = json.loads(run("run", EXAMPLE, "--evidence", "practical", "--seed", "3", "--json").stdout)
    assert printed == json.loads(json.dumps({**expected, "simulated": True}))


def test_json_of_run_has_every_field_of_a_result() -> None:
    result = run("run", "secukinumab", "--budget", "300", "--json")
    printed = json.loads(result.stdout)
    assert list(printed) == [field.name for field in fields(pg.Result) if field.name != "stated"]
    assert printed["simulated"] is True
    assert all(
        list(verdict) == [field.name for field in fields(pg.Verdict)] for verdict in printed["verdicts"].values()
    )


def test_undecided_at_the_budget_is_exit_code_1() -> None:
    result = run("run", "secukinumab", "--budget", "300")
    assert result.exit_code == 1
    assert "undecided" in result.stdout


def test_options_override_the_settings_of_the_file(tmp_path: Path) -> None:
    path = problem_file(
        tmp_path, "delta = 0.2", 'evidence = "practical"', 'algorithm = "uniform"', "budget = 2", "seed = 5"
    )
    from_file = json.loads(run("run", path, "--json").stdout)
    assert [from_file[key] for key in ("delta", "evidence", "algorithm", "samples")] == [0.2, "practical", "uniform", 2]
    chosen = json.loads(run("run", path, "--json", "--delta", "0.01", "--algorithm", "e-cape", "--budget", "9").stdout)
    assert [chosen[key] for key in ("delta", "evidence", "algorithm", "samples")] == [0.01, "practical", "e-cape", 9]


def test_without_evidence_in_the_file_the_default_has_a_guarantee(tmp_path: Path) -> None:
    printed = json.loads(run("run", problem_file(tmp_path), "--json", "--budget", "4").stdout)
    assert printed["evidence"] == registry.DEFAULT_EVIDENCE
    assert printed["guarantee"] == "finite-sample"


def test_notes_on_the_problem_go_to_stderr(tmp_path: Path) -> None:
    result = run("run", problem_file(tmp_path, 'constraints = ["x <= 5", "x <= 6"]'), "--evidence", "practical")
    assert "note: constraint 'x <= 6' never binds" in result.stderr


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("instance", ["secukinumab", "covboost"])
def test_tables_keep_within_the_width(instance: str, width: int) -> None:
    result = run("run", instance, "--evidence", "practical", "--budget", "3000", width=width)
    assert max(len(line) for line in result.stdout.splitlines()) <= width
    for arm in pg.instances.load(instance).problem.arms:
        assert any(line.lstrip("★▽✕?│ ").startswith(arm) for line in result.stdout.splitlines())
    assert ("┃ why" in result.stdout) == (width == 200)


def test_names_are_printed_as_they_are(tmp_path: Path) -> None:
    arms = '[arms."[red]a[/]"]\nmean = { x = 0.0 }\n[arms."$b$"]\nmean = { x = 9.0 }'
    result = run("run", problem_file(tmp_path, arms=arms), "--evidence", "practical", "--plot", str(tmp_path / "a.png"))
    assert result.exit_code == 0
    assert "[red]a[/]" in result.stdout
    assert "$b$" in result.stdout


# --- simulate ------------------------------------------------------------------------------------------------------


def test_simulate_prints_one_row_for_each_combination() -> None:
    result = run("simulate", "simplex", EXAMPLE, "--algorithm", "e-cape,uniform", "--runs", "10", "--budget", "2000")
    assert result.exit_code == 0
    assert "40 simulated runs" in result.stdout
    rows = [line.split("│")[:2] for line in result.stdout.splitlines() if "│" in line]
    names = [(instance, algorithm) for instance in ("simplex", "dose-finding") for algorithm in ("e-cape", "uniform")]
    assert [tuple(cell.strip() for cell in row) for row in rows] == names


def test_json_of_simulate_has_the_documented_fields_and_the_same_numbers_as_python() -> None:
    arguments = ("--runs", "20", "--seed", "7", "--delta", "0.2", "--delta", "0.1")
    printed = json.loads(run("simulate", "simplex", *arguments, "--json").stdout)
    assert (printed["seed"], printed["runs"], printed["interrupted"]) == (7, 40, False)
    expected = pg.simulate("simplex", algorithms="pitfall", runs=20, seed=7, delta=[0.2, 0.1]).summary()
    assert [list(row) for row in printed["summary"]] == [SUMMARY, SUMMARY]
    for row, other in zip(printed["summary"], expected, strict=True):
        assert {**row, "ns_per_sample": 0} == {**other, "ns_per_sample": 0}


def test_one_run_has_no_standard_deviation_and_json_says_null() -> None:
    printed = json.loads(run("simulate", "simplex", "--runs", "1", "--json").stdout)
    assert printed["summary"][0]["std"] is None


def test_simulate_saves_what_is_asked_for(tmp_path: Path) -> None:
    out, table, plot = tmp_path / "study.npz", tmp_path / "records.csv", tmp_path / "picture.svg"
    result = run("simulate", "simplex", "--runs", "5", "--out", str(out), "--csv", str(table), "--plot", str(plot))
    assert result.exit_code == 0
    assert len(pg.Study.load(out).records) == 5
    assert len(list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))) == 5
    assert plot.read_text(encoding="utf-8").startswith("<?xml")
    assert all(str(path) in result.stderr for path in (out, table, plot))
    assert str(out) not in result.stdout


def test_simulate_draws_the_first_run_of_each_kind(tmp_path: Path) -> None:
    path = tmp_path / "trace.svg"
    result = run("simulate", "simplex", "--algorithm", "e-cape,racing", "--runs", "2", "--trace", str(path))
    assert result.exit_code == 0
    assert f"trace: {path}" in result.stderr
    assert path.read_text(encoding="utf-8").startswith("<?xml")


def test_simulate_takes_the_settings_that_files_agree_on(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    one = problem_file(first, 'name = "one"', "delta = 0.2", "budget = 3", "seed = 4")
    two = problem_file(second, 'name = "two"')
    printed = json.loads(run("simulate", one, two, "--runs", "2", "--json").stdout)
    assert (printed["seed"], printed["budget"], [row["delta"] for row in printed["summary"]]) == (4, 3, [0.2, 0.2])
    problem_file(second, 'name = "two"', "delta = 0.3")
    refused = run("simulate", one, two, "--runs", "2")
    assert refused.exit_code == 2
    assert "choose with --delta" in refused.stderr
    assert run("simulate", one, two, "--runs", "2", "--delta", "0.1").exit_code == 0


def test_commas_part_values_but_not_the_options_of_one() -> None:
    assert items(["a,b", " c ", "d:x=1,y=2,e"]) == ["a", "b", "c", "d:x=1,y=2", "e"]


# --- demo ----------------------------------------------------------------------------------------------------------


def test_demo_tells_the_whole_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretoguard.cli.demo._RUNS", 5)
    result = run("demo", "--out", str(tmp_path / "pictures"))
    assert result.exit_code == 0
    for words in (
        "Simulated",
        "published means",
        "Best trade-offs: 150mg",
        "heuristic",
        "uniform took",
        "verdicts.png",
    ):
        assert words in result.stdout
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"verdicts.png", "comparison.png"}


def test_json_of_demo_stands_alone_on_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretoguard.cli.demo._RUNS", 2)
    result = run("demo", "--json", "--out", str(tmp_path))
    printed = json.loads(result.stdout)
    assert list(printed) == ["provenance", "result", "summary", "files"]
    assert printed["result"]["pareto"] == ["150mg"]
    assert [row["algorithm"] for row in printed["summary"]] == ["pitfall", "uniform"]
    assert all(Path(path).is_file() for path in printed["files"])
    assert "Best trade-offs" in result.stderr


# --- refusals ------------------------------------------------------------------------------------------------------

REFUSED = {
    "simulate nowhere.toml": "there is no file 'nowhere.toml', and no instance of that name; instances: covboost,",
    "simulate simplx": "did you mean 'simplex'?",
    "simulate random:K=0": "parameter 'K'",
    "simulate simplex --algorithm ecape": "algorithm 'ecape' is not one of those built: pitfall, e-cape",
    "simulate simplex --evidence maybe": "evidence 'maybe'",
    "simulate simplex --delta 2": "delta is 2.0",
    "simulate simplex --delta small": "--delta is 'small'",
    "simulate simplex --runs 0": "runs is 0",
    "simulate simplex --runs many": "--runs",
    "simulate simplex --threads 0": "threads is 0",
    "simulate simplex --out nowhere/study.npz": "there is no directory 'nowhere'",
    "simulate simplex --csv .": "it is a directory",
    "simulate simplex --plot picture.txt": "should end in .png, .svg or .pdf",
    "simulate simplex --trace picture.gif": "should end in .png, .svg or .pdf",
    "simulate simplex --trace nowhere/run.png": "there is no directory 'nowhere'",
    "simulate simplex simplex": "asked for twice",
    "simulate simplex --bogus": "No such option: --bogus",
    "simulate": "Missing argument",
    "run": "Missing argument",
    "run .": "is a directory",
    "run simplex --seed -1": "seed is -1",
    "run simplex --budget 0": "budget is 0",
    "run simplex --plot nowhere/a.png": "there is no directory 'nowhere'",
    "demo --seed -1": "seed is -1",
    "nonsense": "No such command 'nonsense'",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refusals_are_one_paragraph_on_stderr_and_exit_code_2(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _is_refused(run(*line.split()), REFUSED[line])


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_files_that_cannot_be_used_are_refused(command: str, tmp_path: Path) -> None:
    _is_refused(run(command, problem_file(tmp_path, "deltta = 0.1")), "did you mean 'delta'?")
    _is_refused(run(command, problem_file(tmp_path, "a = b")), "not valid TOML")
    _is_refused(run(command, problem_file(tmp_path, 'arms = ["a", "b"]', arms="")), "no means to simulate from")


def test_commands_that_are_not_there_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    path = problem_file(tmp_path, arms='[arms.a]\ncommand = "./measure"')
    _is_refused(run("run", path), "arms.a.command: there is no program './measure'")
    assert not list(tmp_path.glob("*.db"))
    _is_refused(run("run", "racing-5", "--jobs", "2"), "are for arms that are measured; these are simulated")


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    _is_refused(run("demo", "--out", str(tmp_path / "file")), "cannot read or write")


def _is_refused(result: Any, *words: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


# --- processes -----------------------------------------------------------------------------------------------------


def test_ctrl_c_keeps_the_runs_that_had_finished(tmp_path: Path) -> None:
    run("simulate", "simplex", "--runs", "1")  # compiled by now
    out = tmp_path / "study.npz"
    for patience in (3, 10, 30):  # a busy machine may need longer before the first run ends
        simulating = process("simulate", "simplex", "--runs", "10000000", "--json", "--out", str(out))
        time.sleep(patience)
        simulating.send_signal(signal.SIGINT)
        stdout, stderr = simulating.communicate(timeout=120)
        assert simulating.returncode == 130
        assert "Traceback" not in stderr
        if stdout and json.loads(stdout)["runs"] > 0:
            break
    printed = json.loads(stdout)
    assert printed["interrupted"] is True
    assert 0 < printed["runs"] < 10_000_000
    assert len(pg.Study.load(out).records) == printed["runs"]


def test_ctrl_c_shows_what_a_run_knows() -> None:
    run("run", "simplex", "--budget", "1")
    for patience in (3, 10, 30):
        running = process("run", "secukinumab", "--delta", "1e-300")
        time.sleep(patience)
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=120)
        assert running.returncode == 130
        assert "Traceback" not in stderr
        if stdout:
            break
    assert "undecided" in stdout


def test_a_closed_pipe_is_not_an_error() -> None:
    with process("simulate", "simplex", "--runs", "2") as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        stderr = running.stderr.read()
        assert running.wait(timeout=60) == 141
    assert "Traceback" not in stderr
    assert "Exception" not in stderr
