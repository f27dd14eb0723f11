"""Races: what is measured of commands, functions and tables, and that nothing is lost whatever goes wrong."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

import paretoguard as pg
from paretoguard.cli.app import app
from paretoguard.cli.live import live_table
from paretoguard.cli.race import FailureLines, drive_race, remaining
from paretoguard.errors import FileError
from paretoguard.experiment.audit import audit
from paretoguard.experiment.storage import open_storage
from paretoguard.files.metrics import Formula
from paretoguard.files.problem_file import load
from paretoguard.page.content import read_facts
from paretoguard.page.markdown import markdown
from paretoguard.page.page import page
from paretoguard.race.ledger import Run, begin
from paretoguard.race.measuring import RaceError, RunFailedError
from paretoguard.race.race import Failed, Measured, Race, Resumed, Unvarying, Waiting, Written
from paretoguard.race.race_plan import Plan, plan_race, without_end
from paretoguard.trial.tickets import Ticket

HEAD = 'name = "a race"\ndelta = 0.1\nbudget = 400\n'
SCRIPT = """
import json, random, sys
mean = float(sys.argv[1])
print("a line before")
print(json.dumps({"score": mean + random.gauss(0, 0.05), "note": "fine"}))
"""


def write(folder: Path, text: str, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("_py", ".py").replace("_csv", ".csv")).write_text(content, encoding="utf-8")
    path = folder / "race.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def scored(folder: Path, more: str = "", constraints: str = "") -> Path:
    """Two arms that print a score; python is slow to start, but there everywhere."""
    return write(
        folder,
        f"""{constraints}
[objectives]
score = "max"
[noise.score]
kind = "gaussian"
std = 0.05
[measure]
command = [{json.dumps(sys.executable)}, "-I", "-S", "score.py", "{{mean}}"]
{more}
[arms]
good = {{ with = {{ mean = 0.9 }} }}
bad = {{ with = {{ mean = 0.1 }} }}
""",
        score_py=SCRIPT,
    )


def read_plan(path: Path, **given: Any) -> Plan:
    return plan_race(load(path), path, **given)


def finish(plan: Plan, storage: str | None = None, **given: Any) -> tuple[pg.Result, list[Any]]:
    race = Race(plan, begin(plan, storage, jobs=given.get("jobs", 1)), **given)
    events = [event for event in race.events() if not isinstance(event, Waiting)]
    return race.result(), events


# --- commands --------------------------------------------------------------------------------------------------------


def test_a_race_of_commands_ends_in_the_answer_and_goes_on_where_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/race.db"
    result, events = finish(read_plan(scored(tmp_path), jobs=2), url, jobs=2)
    assert result.pareto == ("good",)
    assert result.verdicts["bad"].status == "dominated"
    assert result.guarantee == "finite-sample"
    assert len(events) == result.samples
    assert any("in the order they were asked for" in line for line in result.assumptions)
    again, events = finish(read_plan(scored(tmp_path)), url)
    assert events == [Resumed(result.samples)]
    assert again.pulls == result.pulls
    text = (tmp_path / "race.toml").read_text().replace("0.9", "0.8")
    (tmp_path / "race.toml").write_text(text)
    changed = read_plan(tmp_path / "race.toml")
    with pytest.raises(RaceError, match=r"was changed after the race 'a race' began: .*0\.8"):
        begin(changed, url)
    changed.source.close()


def test_a_race_reads_its_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured is then what was checked, whoever changes the file meanwhile."""
    path, read, read_bytes = scored(tmp_path), list[Path](), Path.read_bytes

    def noted(place: Path) -> bytes:
        read.append(place)
        return read_bytes(place)

    monkeypatch.setattr(Path, "read_bytes", noted)
    assert CliRunner().invoke(app, ["run", str(path), "--budget", "4"]).exit_code in (0, 1)
    assert read.count(path) == 1


def test_a_race_of_values_that_cannot_be_zero_starts(tmp_path: Path) -> None:
    """Kernels are compiled beforehand, on results that nobody measured and that the noise may not allow."""
    (tmp_path / "rows.csv").write_text("arm,score\n" + "a,1.5\nb,3.0\na,1.1\nb,3.5\n" * 20)
    path = tmp_path / "race.toml"
    path.write_text('[objectives]\nscore = "max"\n[measure]\ndata = "rows.csv"\n[arms.a]\n[arms.b]\n')
    done = CliRunner().invoke(app, ["run", str(path), "--budget", "20"])
    assert (done.exit_code in (0, 1), "expected a number between" in done.output) == (True, False), done.output


def test_a_race_that_is_cut_short_goes_on_with_the_tickets_it_had(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/race.db"
    plan = read_plan(scored(tmp_path))
    events = Race(plan, experiment := begin(plan, url)).events()
    assert isinstance(next(events), Measured)
    events.close()  # type: ignore[attr-defined]
    waiting = [ticket.id for ticket in experiment.pending()]
    assert waiting
    experiment.close()
    result, happened = finish(read_plan(scored(tmp_path)), url)
    assert happened[0] == Resumed(1)
    assert result.pareto == ("good",)
    history = pg.Experiment.open("a race", url).history()
    told = [event["data"]["id"] for event in history if event["kind"] == "told"]
    assert sorted(told) == list(range(result.samples))
    assert told[1] == waiting[0]


def test_attempts_that_failed_and_how_it_was_run_are_on_the_ledger(tmp_path: Path) -> None:
    """The good arm's first run fails and is made again; then two fail in a row, which stops the race."""
    count = "if mean > 0.5:\n    open('runs', 'a').write('x')\n    sys.exit(len(open('runs').read()) in (1, 3, 4))\n"
    path, url = scored(tmp_path, 'on_failure = "retry"\nretries = 1'), f"sqlite:///{tmp_path}/race.db"
    (tmp_path / "score.py").write_text(SCRIPT + count)
    path.write_text(path.read_text().replace("std = 0.05", "std = 0.5"))
    with pytest.raises(RaceError, match="failed 2 times: exit code 1"):
        finish(read_plan(path), url)
    finish(read_plan(path), url)
    finish(read_plan(path), url, batch=5)  # is answered, and measures nothing
    facts = read_facts("a race", open_storage(url))
    assert {arm: failures.attempts for arm, failures in facts.failures.items()} == {"good": 3}
    assert facts.failures["good"].why.startswith("exit code 1: ")
    assert facts.runs == (Run(0, 1, 2),)
    assert facts.events["noted"] == 4
    for text in (page(facts), markdown(facts)):
        assert "Attempts that failed, count for nothing and were made again" in text
        assert "The problem file as it was understood at the beginning, rewritten" in text
        assert "--jobs 1 (at once), --batch 2 (asked for at a time)" in text
    assert "Report on a race" in page(facts)
    assert facts.to_dict()["failures"]["good"]["attempts"] == 3
    assert audit(pg.Experiment.open("a race", url)).sound


VARIES = """
import os, sys
size = os.path.getsize("count") if os.path.exists("count") else 0
with open("count", "a") as file:
    file.write("x")
print("o" * (1 if size < int(sys.argv[1]) else 2))
"""


@pytest.mark.parametrize(
    ("same", "stated", "message"),
    [
        (1, "", "output_bytes of '.' was 2, then 3: where the file states no noise .* kind = \"unknown\""),
        (5, "", "a result of '.' cannot be used: .*output_bytes = 3.0 after 2.0, but .* declare its noise"),
        (2, '[noise.output_bytes]\nkind = "exact"', "a result of '.' cannot be used: .* declare its noise"),
    ],
)
def test_what_is_taken_to_be_exact_must_be(tmp_path: Path, same: int, stated: str, message: str) -> None:
    text = f"""[objectives]
wall_ms = "min"
output_bytes = "min"
{stated}
[measure]
command = "python3 -I -S varies.py {same}"
[arms.a]
[arms.b]
"""
    plan = read_plan(write(tmp_path, text, varies_py=VARIES))
    with pytest.raises(RaceError, match=message):
        finish(plan)


def test_what_is_exact_is_run_twice_and_counts_once(tmp_path: Path) -> None:
    path = command_of(tmp_path, "sh -c 'echo x >> runs; echo {arm}'", objectives='output_bytes = "min"')
    path.write_text(path.read_text().replace("[arms.b]", "[arms.long]"))
    result, _ = finish(read_plan(path))
    assert (result.pareto, result.samples) == (("a",), 2)
    assert (tmp_path / "runs").read_text().count("x") == 4


def test_a_race_that_goes_on_another_way_says_from_when(tmp_path: Path) -> None:
    plan, url = read_plan(scored(tmp_path)), f"sqlite:///{tmp_path}/race.db"
    events = Race(plan, begin(plan, url)).events()
    next(events)
    events.close()  # type: ignore[attr-defined]
    finish(read_plan(scored(tmp_path)), url, batch=5)
    facts = read_facts("a race", open_storage(url))
    assert facts.runs == (Run(0, 1, 2), Run(1, 1, 5))
    assert "from result 2 on" in markdown(facts)


def test_what_is_measured_of_a_command(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
[objectives]
wall_ms = "min"
peak_mb = "guard"
output_bytes = "guard"
mb = "max"
[derived]
mb = "input_bytes / 1e6"
[measure]
command = "python3 -I -S eat.py {size} {file} {arm}"
inputs = { file = ["*.bin"] }
prepare = "touch {arm}.begun"
cleanup = "touch {arm}.done"
[arms]
small = { with = { size = 1 } }
large = { with = { size = 60 } }
""",
        eat_py="import sys\nx = bytearray(1_000_000 * int(sys.argv[1]))\nprint(sys.argv[2:])",
    )
    (tmp_path / "a b.bin").write_bytes(bytes(2_000_000))
    plan = read_plan(path)
    small, large = (plan.source.measure(Ticket(0, arm)) for arm in ("small", "large"))
    plan.source.close()
    assert large["peak_mb"] - small["peak_mb"] == pytest.approx(59, abs=3)
    assert 0 < small["wall_ms"] < 20_000
    assert small["wall_s"] == small["wall_ms"] / 1000
    assert small["output_bytes"] == len("['a b.bin', 'small']\n")
    assert plan.values(small)["mb"] == 2.0
    assert (tmp_path / "small.begun").exists()
    assert (tmp_path / "large.done").exists()
    assert {type(plan.problem.noise[name]).__name__ for name in plan.problem.objectives} == {"Unknown"}


def command_of(folder: Path, command: str, more: str = "", objectives: str = 'score = "max"') -> Path:
    text = f"[objectives]\n{objectives}\n[measure]\ncommand = {json.dumps(command)}\n{more}\n[arms.a]\n[arms.b]\n"
    return write(folder, "constraints = []\n" + text)


@pytest.mark.parametrize(
    ("command", "more", "message"),
    [
        ("sh -c 'echo oops >&2; exit 3'", "", "measuring '.' failed: exit code 3: .*it said: oops"),
        ("sleep 30", "timeout = 0.2", r"no end after 0\.2\d* s \(measure.timeout\)"),
        ("echo hello", "", "there is no 'score' in what it gave, .* nothing that has a name; .* which ends: 'hello'"),
        ("echo hi", "metrics = { score = 'x=(.)' }", r"pattern 'x=\(.\)' of measure.metrics.score .* ends: 'hi'"),
        ("""echo '{{"score": "high"}}'""", "", "score is 'high', expected a number"),
        ("""echo '{{"score": null, "other": 1}}'""", "", "score is 'None', expected a number"),
        ("false", 'on_failure = "retry"\nretries = 2', "failed 3 times: exit code 1"),
        (
            "echo score=1",
            "prepare = 'false'\nmetrics = { score = 'score=(.*)' }",
            "measure.prepare failed with exit code 1",
        ),
    ],
)
def test_what_fails_is_said_and_nothing_is_lost(tmp_path: Path, command: str, more: str, message: str) -> None:
    plan = read_plan(command_of(tmp_path, command, more))
    race = Race(plan, begin(plan, None))
    with pytest.raises(RaceError, match=message):
        list(race.events())
    assert race.experiment.pending()


def test_what_is_printed_is_found_by_regular_expressions_too(tmp_path: Path) -> None:
    plan = read_plan(
        command_of(tmp_path, "printf 'score: 1\\nscore: 2.5\\n'", "metrics = { score = 'score: ([0-9.]+)' }")
    )
    assert plan.values(plan.source.measure(Ticket(0, "a"))) == {"score": 2.5}
    plan.source.close()


def test_failures_count_where_they_are_limited(tmp_path: Path) -> None:
    flaky = "import random, sys\nsys.exit(1 if random.random() < float(sys.argv[1]) else 0)"
    text = """constraints = ["failed <= 0.3"]
[objectives]
score = "max"
failed = "guard"
[derived]
score = "1 - failed"
[measure]
command = "python3 -I -S flaky.py {rate}"
on_failure = "infeasible"
[arms]
sound = { with = { rate = 0.0 } }
flaky = { with = { rate = 0.95 } }
"""
    result, events = finish(read_plan(write(tmp_path, text, flaky_py=flaky), jobs=2), jobs=2)
    assert {arm: verdict.status for arm, verdict in result.verdicts.items()}["sound"] == "optimal"
    assert result.verdicts["flaky"].status in (
        "infeasible",
        "dominated",
    )  # both are true
    assert any(isinstance(event, Failed) and event.then == "it counts as a failure" for event in events)


def test_ctrl_c_kills_what_runs_and_keeps_what_was_measured(tmp_path: Path) -> None:
    path = command_of(tmp_path, "sh -c 'echo $$ >> pids; sleep 60'", objectives='wall_ms = "min"')
    child = subprocess.Popen(
        [sys.executable, "-m", "paretoguard", "run", str(path), "--jobs", "2"], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130
    assert child.stderr is not None
    child.stderr.close()
    for pid in map(int, (tmp_path / "pids").read_text().split()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert pg.Experiment.open("a race", f"sqlite:///{tmp_path}/race.db").pending()


def test_a_race_goes_on_with_the_seed_it_was_begun_with(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/rows.db"
    begun = begin(read_plan(table(tmp_path), seed=7), url)
    begun.tell(begun.ask()[0], dict.fromkeys(begun.problem.objectives, 0.0))
    with pytest.raises(RaceError, match="was begun with seed = 7, now 0 is asked for"):
        begin(read_plan(table(tmp_path)), url)


def test_of_several_runs_at_once_the_quick_ones_must_not_count_first(tmp_path: Path) -> None:
    plan = read_plan(scored(tmp_path))
    with pytest.raises(RaceError, match="was begun with one run at a time"):
        Race(plan, begin(plan, None), jobs=2)
    assert begin(plan, None, jobs=2).settings["order"] == "asked"
    plan.source.close()


def test_what_ended_well_is_kept_where_another_run_fails(tmp_path: Path) -> None:
    text = """[objectives]
wall_ms = "min"
[measure]
command = "sh -c '{script}'"
[arms]
good = { with = { script = "sleep 0.3" } }
bad = { with = { script = "sleep 0.1; exit 1" } }
"""
    plan = read_plan(write(tmp_path, text.replace("sh -c '{script}'", "sh -c {script}")), jobs=2)
    experiment = begin(plan, None, jobs=2)
    with pytest.raises(RaceError, match="measuring 'bad' failed: exit code 1"):
        list(Race(plan, experiment, jobs=2).events())
    assert [ticket.arm for ticket in experiment.pending()].count("bad") >= 1


def test_warm_up_runs_that_fail_are_told_and_count_for_nothing(tmp_path: Path) -> None:
    cold = "import os, sys\nif not os.path.exists('warm'):\n    open('warm', 'w').close()\n    sys.exit(3)"
    text = """constraints = ["failed <= 0.3"]
[objectives]
score = "max"
failed = "guard"
[derived]
score = "1 - failed"
[measure]
command = "python3 -I -S cold.py"
warmup = 1
on_failure = "infeasible"
[arms.only]
"""
    path = write(tmp_path, text, cold_py=cold)
    path.write_text(path.read_text().replace("budget = 400", "budget = 2"))
    result, events = finish(read_plan(path))
    assert [event.then for event in events if isinstance(event, Failed)] == ["in a warm-up, which does not count"]
    assert result.verdicts["only"].mean["failed"] == 0.0


def test_a_shell_is_used_where_asked_for_and_what_is_put_in_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "a $(touch evil).txt").write_text("12345")
    more = "shell = true\ninputs = { file = '*.txt' }\nmetrics = { score = '([0-9]+)' }"
    plan = read_plan(command_of(tmp_path, "cat {file} | wc -c", more))
    assert plan.values(plan.source.measure(Ticket(0, "a"))) == {"score": 5.0}
    plan.source.close()
    assert not (tmp_path / "evil").exists()
    with pytest.raises(pg.FileError, match="without quotes"):
        read_plan(command_of(tmp_path, 'cat "{file}" | wc -c', more))


def test_what_a_failed_run_prints_does_not_count(tmp_path: Path) -> None:
    path = command_of(
        tmp_path,
        """echo '{{"score": NaN}}'""",
        'on_failure = "infeasible"\ncounts_as = { score = 0.0 }',
        'score = "max"\nfailed = "guard"',
    )
    path.write_text(
        path.read_text()
        .replace("constraints = []", 'constraints = ["failed <= 0.3"]\nbudget = 3')
        .replace("budget = 400\n", "")
    )
    result, events = finish(read_plan(path))
    assert result.verdicts["a"].mean == {"score": 0.0, "failed": 1.0}
    assert all(isinstance(event, Failed | Measured) for event in events)


# --- before anything is measured -------------------------------------------------------------------------------------

WRONG = {
    "an unknown program": (
        '[objectives]\nwall_ms = "min"\n[arms]\na = { command = "no-such-program -x" }',
        r"arms.a.command: there is no program 'no-such-program'; install it",
    ),
    "an unknown word": (
        '[objectives]\nwall_ms = "min"\n[arms]\na = { command = "echo {levl}", with = { level = 3 } }',
        r"arms.a.command has \{levl\}, which stands for nothing: did you mean 'level'",
    ),
    "an unknown word that is like none": (
        '[objectives]\nwall_ms = "min"\n[arms]\na = { command = "echo {zzz}", with = { x = 3 } }',
        r"stands for nothing: expected one of 'arm', 'x'\. Give it in",
    ),
    "no input": (
        '[objectives]\nwall_ms = "min"\n[measure]\ncommand = "cat {file}"\ninputs = { file = "*.none" }\n[arms.a]',
        r"measure.inputs.file is '\*.none', but there is no such file",
    ),
    "an unknown key": (
        '[objectives]\nwall_ms = "min"\n[measure]\ncommand = "true"\ntimeot = 3\n[arms.a]',
        "measure.timeot is not known; did you mean 'timeout'",
    ),
    "two ways": (
        '[objectives]\nwall_ms = "min"\n[arms]\na = { command = "true", callable = "m:f" }',
        "arms.a has command and callable; expected one of",
    ),
    "a failing policy without a limit": (
        '[objectives]\nscore = "max"\n[measure]\ncommand = "true"\non_failure = "infeasible"\n[arms.a]',
        'needs a limit on failures: write failed = "guard"',
    ),
    "a failed run without a value": (
        'constraints = ["failed <= 0.1"]\n[objectives]\nscore = "max"\nfailed = "guard"\n[measure]\ncommand = "true"\n'
        'on_failure = "infeasible"\n[arms.a]',
        "'score' is not known of a run that failed; say what it counts as",
    ),
    "the slowest runs left out": (
        '[objectives]\nwall_ms = "min"\n[measure]\ncommand = "true"\ntimeout = 1\non_failure = "retry"\n[arms.a]',
        "would leave the slowest runs out",
    ),
    "a key of another kind": (
        '[objectives]\nx = "min"\n[measure]\ncallable = "math:sin"\ninputs = { file = "*" }\n[arms.a]',
        "measure.inputs has no meaning where arms are measured by a callable",
    ),
    "a program named by an arm": (
        '[objectives]\nwall_ms = "min"\n[measure]\ncommand = "{tool} -x"\n'
        '[arms]\na = { with = { tool = "no-such-tool" } }',
        "there is no program 'no-such-tool'",
    ),
    "a quantile": (
        'constraints = ["p99 <= 200"]\n[objectives]\nwall_ms = "min"\n[measure]\ncommand = "true"\n[arms.a]',
        "derive slow = 'wall_ms > 200' and write slow <= 0.01",
    ),
    "a misspelt constraint": (
        'constraints = ["wall_sec <= 2"]\n[objectives]\nscore = "max"\n[measure]\ncommand = "true"\n[arms.a]',
        "names no objective 'wall_sec'; if 'wall_s' is meant, write wall_s = \"guard\" under",
    ),
    "a misspelt constraint on an objective": (
        'constraints = ["wall_mss <= 2"]\n[objectives]\nwall_ms = "min"\n[measure]\ncommand = "true"\n[arms.a]',
        "names no objective 'wall_mss'; did you mean 'wall_ms'\\?\n",
    ),
    "a constraint on what is no objective": (
        'constraints = ["slow <= 0.1"]\n[objectives]\nscore = "max"\n[derived]\nslow = "wall_ms > 2"\n'
        '[measure]\ncommand = "true"\n[arms.a]',
        "names no objective 'slow'; write slow = \"guard\" under",
    ),
    "a quantile of what is no objective": (
        'constraints = ["wall_ms_p99 <= 200"]\n[objectives]\nscore = "max"\n[measure]\ncommand = "true"\n[arms.a]',
        "write slow <= 0.01",
    ),
    "a formula that is none": (
        '[objectives]\nx = "min"\n[derived]\nx = "__import__(\'os\').getcwd()"\n[measure]\ncommand = "true"\n[arms.a]',
        "which is not understood",
    ),
    "a function that is not there": (
        '[objectives]\nx = "min"\n[measure]\ncallable = "math:sinn"\n[arms.a]',
        "there is no function 'sinn' in 'math'",
    ),
    "a table that is not there": (
        '[objectives]\nx = "min"\n[measure]\ndata = "none.csv"\n[arms.a]',
        "there is no file .*none.csv",
    ),
}


@pytest.mark.parametrize("word", ["|", "||", "&&", ";", "&", ">", ">>", "<", "2>", "2>/dev/null", ">out", "done;"])
def test_what_a_shell_would_understand_is_refused_without_one(tmp_path: Path, word: str) -> None:
    message = re.escape(
        f"without a shell {word!r} is taken for a word that is given to the program. Write shell = true"
    )
    with pytest.raises(pg.FileError, match=message):
        read_plan(command_of(tmp_path, f"echo it\\'s {word} wc -c"))
    with pytest.raises(pg.FileError, match=message):
        read_plan(command_of(tmp_path, "true", f"prepare = {json.dumps(f'echo {word} x')}"))


@pytest.mark.parametrize("command", ["echo '|' x", 'echo "a ; b" x', r"echo \; \| x", "echo a|b 'x;' x", "echo -> x"])
def test_words_in_quotes_are_words(tmp_path: Path, command: str) -> None:
    plan = read_plan(command_of(tmp_path, command))
    assert plan.source.measure(Ticket(0, "a"))["output_bytes"] > 2
    plan.source.close()


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_measured_is_refused_before_anything_is(tmp_path: Path, case: str) -> None:
    text, message = WRONG[case]
    with pytest.raises(pg.ParetoguardError, match=message):
        read_plan(write(tmp_path, text))


# --- functions -------------------------------------------------------------------------------------------------------

FUNCTIONS = """
import asyncio, random
def plain(arm):
    return {"x": random.gauss({"a": 1.0, "b": 0.0}[arm], 0.05)}
async def slow(mean):
    await asyncio.sleep(0.001)
    return {"x": random.gauss(mean, 0.05)}
async def stuck(arm):
    await asyncio.sleep(60)
def wrong(arm):
    raise RuntimeError("no luck")
def text(arm):
    return "x"

def other(arm):
    return {"y": 1.0}
"""


@pytest.mark.parametrize("name", ["plain", "slow"])
def test_functions_are_raced(tmp_path: Path, name: str) -> None:
    arms = "a = { with = { mean = 1.0 } }\nb = { with = { mean = 0.0 } }" if name == "slow" else "a = {}\nb = {}"
    text = (
        '[objectives]\nx = "max"\n[noise.x]\nkind = "gaussian"\nstd = 0.05\n'
        f'[measure]\ncallable = "fun_{name}:{name}"\n[arms]\n{arms}\n'
    )
    (tmp_path / f"fun_{name}.py").write_text(FUNCTIONS)
    result, _ = finish(read_plan(write(tmp_path, text), jobs=3), jobs=3)
    assert result.pareto == ("a",)


def test_asynchronous_calls_end_when_another_fails(tmp_path: Path) -> None:
    (tmp_path / "mixed.py").write_text(
        "import asyncio\nasync def f(arm):\n"
        "    await asyncio.sleep(60 if arm == 'a' else 0.05)\n    raise OSError('gone')\n"
    )
    text = '[objectives]\nx = "max"\n[measure]\ncallable = "mixed:f"\n[arms.a]\n[arms.b]\n'
    plan = read_plan(write(tmp_path, text))
    begun = time.monotonic()
    with pytest.raises(RaceError, match="OSError: gone"):
        list(Race(plan, begin(plan, None, jobs=3), jobs=3).events())
    assert time.monotonic() - begun < 30


def test_calls_that_are_cancelled_are_no_failures(tmp_path: Path) -> None:
    (tmp_path / "halting.py").write_text(
        "import asyncio\nasync def f(arm):\n"
        "    await asyncio.sleep(0.01 if arm == 'a' else 60)\n    return {'x': 1.0}\n"
    )
    text = """constraints = ["failed <= 0.3"]
[objectives]
x = "max"
failed = "guard"
[measure]
callable = "halting:f"
on_failure = "infeasible"
counts_as = { x = 0.0 }
[arms.a]
[arms.b]
"""
    plan = read_plan(write(tmp_path, text))
    experiment = begin(plan, None, jobs=3)
    events = Race(plan, experiment, jobs=3).events()
    next(events)
    events.close()  # type: ignore[attr-defined]
    told = [event["data"]["values"] for event in experiment.history() if event["kind"] == "told"]
    assert told
    assert all(values == {"x": 1.0, "failed": 0.0} for values in told)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("wrong", "", r"RuntimeError: no luck \(bad_wrong.py, line [0-9]+\)"),
        ("other", "", "there is no 'x' in the mapping that it returned, which has: y"),
        ("text", "", "it gave 'x', expected a mapping"),
        ("stuck", "timeout = 0.1", "no end in time"),
    ],
)
def test_functions_that_fail_are_told(tmp_path: Path, name: str, more: str, message: str) -> None:
    (tmp_path / f"bad_{name}.py").write_text(FUNCTIONS)
    text = f'[objectives]\nx = "max"\n[measure]\ncallable = "bad_{name}:{name}"\n{more}\n[arms.a]\n[arms.b]\n'
    plan = read_plan(write(tmp_path, text))
    with pytest.raises(RaceError, match=message):
        list(Race(plan, begin(plan, None)).events())


# --- recorded data ---------------------------------------------------------------------------------------------------


def table(folder: Path, more: str = "", rows: int = 400, arms: str = '["a", "b"]') -> Path:
    lines = [f"{arm},{int(k % 10 < good)},{k % 7}" for arm, good in (("a", 9), ("b", 2)) for k in range(rows)]
    text = (
        f'arms = {arms}\nconstraints = ["late <= 0.9"]\n[objectives]\nhit = "max"\nlate = "guard"\n'
        f'[derived]\nlate = "days > 3"\n[measure]\ndata = "rows.csv"\narm = "who"\n{more}\n'
    )
    return write(folder, text, rows_csv="who,hit,days\n" + "\n".join(lines) + "\n")


def test_a_table_is_raced_with_a_finite_sample_guarantee(tmp_path: Path) -> None:
    plan = read_plan(table(tmp_path))
    assert plan.recorded is not None
    assert plan.recorded.size == 800
    result, _ = finish(plan)
    assert result.pareto == ("a",)
    assert result.guarantee == "finite-sample"
    assert result.samples < 800
    again, _ = finish(read_plan(table(tmp_path)))
    assert again.to_dict() == result.to_dict()
    other, _ = finish(read_plan(table(tmp_path), seed=5))
    assert other.samples != result.samples or other.verdicts != result.verdicts


def test_how_much_measuring_would_have_been_saved_is_printed(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", str(table(tmp_path))])
    assert done.exit_code == 0, done.output
    (drawn, rows, less) = re.findall(r"rows drawn: ([0-9]+) of ([0-9]+), ([0-9]+)% less than all", done.stdout)[0]
    assert int(rows) == 800
    assert int(less) == pytest.approx(100 * (1 - int(drawn) / 800), abs=0.51)


def test_without_replacement_is_heuristic_and_what_is_exhausted_stays_undecided(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/rows.db"
    result, _ = finish(read_plan(table(tmp_path, "replacement = false")), url)
    assert result.guarantee == "heuristic"
    assert pg.Experiment.open("a race", url).result().guarantee == "heuristic"
    (tmp_path / "rows.csv").write_text((tmp_path / "rows.csv").read_text() + "a,1,1\n")
    changed = read_plan(tmp_path / "race.toml")
    with pytest.raises(RaceError, match=r"was changed after the race .*rows\.csv: sha256"):
        begin(changed, url)
    assert result.pareto == ("a",)
    short = read_plan(table(tmp_path, "replacement = false", rows=5))
    race = Race(short, begin(short, None))
    list(race.events())
    assert race.exhausted == {"a", "b"}
    found = race.result()
    assert {verdict.status for verdict in found.verdicts.values()} == {"undecided"}
    assert any("there were no more rows of a, b" in note for note in found.notes)
    assert found.samples == 10


def test_what_is_left_of_others_is_drawn_when_an_arm_is_exhausted(tmp_path: Path) -> None:
    path = table(tmp_path, "replacement = false", rows=60)
    kept = [line for k, line in enumerate((tmp_path / "rows.csv").read_text().splitlines()) if k <= 63]
    (tmp_path / "rows.csv").write_text("\n".join(kept) + "\n")
    plan = read_plan(path)
    race = Race(plan, begin(plan, None))
    list(race.events())
    assert race.exhausted == {"a", "b"}
    assert race.result().pulls == {"a": 60, "b": 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("who,hit\na,1\n", "has no column 'days'"),
        ("who,hit,days\na,1,2\nb,x,1\n", "line 3: hit is 'x', expected a number"),
        ("who,hit,days\na,1,2\nb,1\n", "line 3: got 2 cells, expected 3"),
        ("who,hit,days\na,1,2\n", "has no row whose 'who' is 'b'"),
    ],
)
def test_a_table_that_lacks_something_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = table(tmp_path)
    (tmp_path / "rows.csv").write_text(content)
    with pytest.raises(pg.ParetoguardError, match=message):
        read_plan(path)


def test_parquet_is_read_where_pyarrow_is_installed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (the extra parquet)")
    import pyarrow

    path = table(tmp_path)
    expected, _ = finish(read_plan(path))
    rows = [line.split(",") for line in (tmp_path / "rows.csv").read_text().splitlines()]
    columns = {name: [row[c] if c == 0 else int(row[c]) for row in rows[1:]] for c, name in enumerate(rows[0])}
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    path.write_text(path.read_text().replace("rows.csv", "rows.parquet"))
    assert finish(read_plan(path))[0].verdicts == expected.verdicts


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = table(tmp_path)
    path.write_text(path.read_text().replace("rows.csv", "rows.parquet"))
    with pytest.raises(pg.FileError, match=r"needs pyarrow: pip install 'paretoguard\[parquet\]', or save it as \.csv"):
        read_plan(path)


# --- formulas --------------------------------------------------------------------------------------------------------


def test_formulas_are_arithmetic_and_nothing_else() -> None:
    values = {"a": 3.0, "b": 4.0}
    for text, expected in {
        "a + 2*b - 1": 10.0,
        "sqrt(a*a + b*b)": 5.0,
        "a >= 3": 1.0,
        "-a / b < -1": 0.0,
        "max(a, b, 7) - min(a, b)": 4.0,
    }.items():
        assert Formula("x", text).value(values) == expected
    for text in (
        "a.b",
        "a[0]",
        "a if b else 1",
        "lambda: a",
        "a and b",
        "a ** b",
        "f(a)",
        "3",
        "a <",
        "'a'",
        "a < b < 3",
    ):
        with pytest.raises(pg.ProblemError, match=r"derived\.x"):
            Formula("x", text)
    with pytest.raises(pg.ProblemError, match=r"has no value for a = 0\.0"):
        Formula("x", "1 / a").value({"a": 0.0})


def test_a_run_without_what_a_formula_needs_is_told(tmp_path: Path) -> None:
    path = command_of(tmp_path, "echo '{{\"q\": 1}}'", objectives='z = "max"')
    path.write_text(path.read_text().replace("[measure]", '[derived]\nz = "q / w"\n[measure]'))
    plan = read_plan(path)
    with pytest.raises(RunFailedError, match="there is no 'w' in what it gave, which was: q"):
        plan.values(plan.source.measure(Ticket(0, "a")))
    plan.source.close()


# --- what is said meanwhile -------------------------------------------------------------------------------------------


def test_what_remains_is_guessed_within_a_factor_and_the_budget() -> None:
    asked = pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Gaussian(1.0))
    trial = pg.Trial(asked)
    for _ in range(50):
        trial.tell("a", {"x": 1.0})
        trial.tell("b", {"x": 0.7})
    guess = sum(trial.verdicts()["b"].missing.pulls.values())  # type: ignore[union-attr]
    low, high = (int(word.replace(",", "")) for word in re.findall("[0-9,]+", remaining(trial.result(), None))[:2])
    assert low == pytest.approx(guess / 3, rel=0.06)
    assert high == pytest.approx(3 * guess, rel=0.06)
    assert "to 200 samples more, then the budget ends" in remaining(trial.result(), 300)
    assert remaining(trial.result(), 110).startswith("the budget ends in 10 samples")
    for _ in range(2000):
        trial.tell("a", {"x": 1.0})
        trial.tell("b", {"x": 0.7})
    assert remaining(trial.result(), None) == "nothing is open"


def test_a_guess_before_scales_are_known_minds_the_budget() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Unknown()))
    trial.tell("a", {"x": 1.0})
    assert remaining(trial.result(), 11) == "the budget ends in 10 samples, before scales are known"
    assert remaining(trial.result(), 2) == "the budget ends in 1 sample, before scales are known"
    assert remaining(trial.result(), 500).endswith("until scales are known; the budget ends in 499 samples")


def test_what_is_assumed_fits_how_failures_and_rows_are_treated(tmp_path: Path) -> None:
    plan = read_plan(scored(tmp_path))
    assert plan.assumptions[0].startswith("a run that fails stops the race")
    plan.source.close()
    drawn = read_plan(table(tmp_path, "replacement = false"))
    race = Race(drawn, begin(drawn, f"sqlite:///{tmp_path}/rows.db"))
    for _ in race.events():
        pass
    for lines in (
        race.result().assumptions,
        read_facts("a race", open_storage(f"sqlite:///{tmp_path}/rows.db")).result.assumptions,
        pg.Experiment.open("a race", f"sqlite:///{tmp_path}/rows.db").result().assumptions,  # as `status` has it
    ):
        assert not any("independent draw" in line for line in lines)
        assert any("none of them twice" in line for line in lines)


def test_what_cannot_be_guessed_is_said_with_its_reason() -> None:
    trial = pg.Trial(pg.Problem({"x": "max"}, arms=["a", "b"], noise=pg.Unknown()))
    trial.tell("a", {"x": 1.0})
    assert remaining(trial.result(), None) == "at least 30 samples more, until scales are known"
    for _ in range(40):
        trial.tell("a", {"x": 1.0})
        trial.tell("b", {"x": 0.7})
    assert remaining(trial.result(), None).startswith("how much more cannot be guessed (a: x has not varied")


def test_a_race_says_now_and_then_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("paretoguard.cli.race.LINES_SECONDS", 0.0)
    options = dict.fromkeys(("algorithm", "evidence", "delta", "budget", "seed"))
    path = scored(tmp_path)
    drive_race(load(path), path, options, jobs=1, batch=None, name=None, storage=None)
    lines = capsys.readouterr().err.splitlines()
    assert any(re.match("[0-9]+ samples?: .*; (about|how much|nothing)", line) for line in lines), lines


@pytest.mark.parametrize(("width", "height"), [(60, 20), (40, 12), (110, 40)])
def test_a_live_table_fits_the_screen_with_its_caption(width: int, height: int) -> None:
    arms = [f"configuration {number} with a very long name" for number in range(30)]
    trial = pg.Trial(pg.Problem({"x": "max", "y": "min"}, arms=arms, noise=pg.Gaussian(1.0)))
    for arm in arms:
        trial.tell(arm, {"x": 1.0, "y": 2.0})
    console = Console(width=width, height=height, record=True, file=io.StringIO())
    caption = "about 100 to 900 samples more, as things look; measuring a, b, c and 4 others; Ctrl-C saves"
    console.print(live_table(trial.result(), console, caption))
    lines = console.export_text().splitlines()
    assert len(lines) < height
    assert all(len(line) <= width for line in lines)
    assert "Ctrl-C" in lines[-1] or "saves" in lines[-1]
    assert sum("configurati" in line for line in lines) >= 3


STILL = """
[objectives]
wall_ms = "min"
score = "max"
[measure]
command = [PYTHON, "-I", "-S", "-c", "print('score: 0.5')"]
metrics = { score = 'score: ([0-9.]+)' }
[arms]
one = {}
two = {}
"""


def test_a_metric_that_never_varies_is_named_and_does_not_keep_a_race_running(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STILL.replace("PYTHON", json.dumps(sys.executable)).replace('wall_ms = "min"\n', "")
    path = write(tmp_path, text)
    path.write_text(path.read_text().replace("budget = 400\n", ""))
    options = dict.fromkeys(("algorithm", "evidence", "delta", "budget", "seed"))
    result, interrupted, more = drive_race(load(path), path, options, jobs=2, batch=None, name=None, storage=None)
    assert not interrupted
    assert result.stopped == "open"
    assert more["stuck"].startswith("stopped, as all that is open rests on score")
    assert result.samples < 200
    assert more["stuck"] in result.notes
    said = " ".join(capsys.readouterr().err.split())
    assert "note: score has not varied in 30 results or more of one" in said
    assert '[noise.score] with kind = "exact" if it is the same in every run' in said
    # says so at once
    again, _, more = drive_race(load(path), path, options, jobs=2, batch=None, name=None, storage=None)
    assert (again.samples, more["stuck"] in again.notes) == (result.samples, True)
    assert "note: score has not varied" in " ".join(capsys.readouterr().err.split())
    most = result.samples + 3
    on, _, more = drive_race(load(path), path, options | {"budget": most}, jobs=2, batch=None, name=None, storage=None)
    assert (on.samples, more["stuck"]) == (most, None)


SHELLS = '[objectives]\npeak_mb = "guard"\nwall_ms = "min"\n[measure]\ncommand = "sh -c :"\n[arms]\none = {}\n'


def test_less_memory_than_is_told_apart_is_said_to_be(tmp_path: Path) -> None:
    """A rate is proposed, with the limit that the file has; `sh` needs less than the process that starts it."""
    path = write(tmp_path, 'constraints = ["peak_mb <= 48"]\n' + SHELLS)
    path.write_text(path.read_text().replace("budget = 400", "budget = 40"))
    plan = read_plan(path)
    least = plan.source.least_peak
    result, events = finish(plan)
    if least is None:
        pytest.skip("this system does not tell what a process takes")
    assert {event.values["peak_mb"] for event in events if isinstance(event, Measured)} == {least}
    found = [event for event in events if isinstance(event, Unvarying)]
    assert found[0].name == "peak_mb"
    assert 'heavy = "peak_mb > 48"' in found[0].advice
    assert f"less than {least:g} MB are not told apart here" in found[0].advice
    assert "the limit of 48 MB held in all of those runs" in found[0].advice
    assert result.stopped == "budget"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell what a process takes")
def test_limits_on_less_memory_than_is_told_apart_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"limit on peak_mb is 4 MB, but less than \d+ MB are not told apart"):
        read_plan(write(tmp_path, 'constraints = ["peak_mb <= 4"]\n' + SHELLS))
    derived = SHELLS.replace("peak_mb =", "heavy =") + '[derived]\nheavy = "peak_mb > 4"\n'
    with pytest.raises(FileError, match=r"derived.heavy = 'peak_mb > 4' is not the same below [\d]+ MB"):
        read_plan(write(tmp_path, 'constraints = ["heavy <= 0.1"]\n' + derived))
    read_plan(write(tmp_path, 'constraints = ["heavy <= 0.1"]\n' + derived.replace("> 4", "> 64"))).source.close()


def test_a_first_attempt_without_results_binds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, runner = scored(tmp_path), CliRunner()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "score.py").write_text("raise SystemExit(3)")
    assert runner.invoke(app, ["run", "race.toml"]).exit_code == 2
    (tmp_path / "score.py").write_text(SCRIPT)
    path.write_text(path.read_text().replace("delta = 0.1", "delta = 0.2").replace("0.9", "0.8"))
    done = runner.invoke(app, ["run", "race.toml", "--jobs", "2"])
    assert done.exit_code == 0, done.stderr
    assert "this race is 'a race (2)'" in done.stderr
    assert "going on" in runner.invoke(app, ["run", "race.toml", "--jobs", "2"]).stderr
    assert "Best trade-offs: good" in runner.invoke(app, ["report", "race.toml"]).stdout
    assert "Best trade-offs: good" in runner.invoke(app, ["status", "race.toml"]).stdout
    other = runner.invoke(app, ["run", "race.toml", "--name", "other"])
    assert "paretoguard report race.toml --name other -o report.html" in other.stdout
    assert runner.invoke(app, ["report", "race.toml", "--name", "other"]).stdout.startswith("# other")
    assert "is a name itself" in runner.invoke(app, ["report", "other", "--name", "x"]).stderr


# --- what the user may change meanwhile -------------------------------------------------------------------------------


def cut_short(path: Path, url: str, results: int = 2) -> list[Any]:
    """A race that is stopped after some results."""
    plan = read_plan(path)
    experiment = begin(plan, url)
    events, happened = Race(plan, experiment).events(), list[Any]()
    while sum(isinstance(event, Measured) for event in happened) < results:
        happened.append(next(events))
    events.close()  # type: ignore[attr-defined]
    experiment.close()
    return happened


@pytest.mark.parametrize(
    ("command", "more", "changed"),
    [
        ("python3 -I -S score.py {mean}", "", "score.py"),
        ("python3 -I -S score.py {mean} --with=other.txt", "", "other.txt"),
        ("sh -c 'python3 -I -S score.py 0.5|cat'", "", "score.py"),
        ("python3 -I -S score.py {mean}|cat", "shell = true", "score.py"),
        ("./own {mean}", "", "own"),
        ("python3 -I -S score.py {mean}", 'prepare = "cat other.txt"', "other.txt"),
        ("python3 -I -S score.py {mean}", 'cleanup = "cat other.txt"', "other.txt"),
    ],
)
def test_a_race_does_not_go_on_with_another_script(tmp_path: Path, command: str, more: str, changed: str) -> None:
    path, url = scored(tmp_path, more), f"sqlite:///{tmp_path}/race.db"
    lines = [
        f"command = {json.dumps(command)}" if "command =" in line else line for line in path.read_text().splitlines()
    ]
    path.write_text("\n".join(lines))
    (tmp_path / "other.txt").write_text("other")
    (tmp_path / "own").write_text(f"#!/bin/sh\nexec {sys.executable} -I -S score.py $1\n")
    (tmp_path / "own").chmod(0o755)
    cut_short(path, url)
    before = (tmp_path / changed).read_text()
    (tmp_path / changed).write_text(before + "\n# another\n")
    plan = read_plan(path)
    with pytest.raises(RaceError, match=rf"{changed}', which a command names, was changed .*--name NEW"):
        begin(plan, url)
    plan.source.close()
    (tmp_path / changed).write_text(before)
    plan = read_plan(path)
    begin(plan, url).close()
    plan.source.close()


def test_a_script_that_is_gone_is_told_and_large_files_go_by_size_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paretoguard.race.command_words.LARGE_FILE", 10)
    path, url = scored(tmp_path, 'prepare = "test -e other.txt"'), f"sqlite:///{tmp_path}/race.db"
    (tmp_path / "other.txt").write_text("other, which is large")
    plan = read_plan(path)
    assert re.search(r"# named by a command: 21 bytes, changed at [0-9]+ of 'other.txt'", plan.protocol)
    plan.source.close()
    cut_short(path, url)
    (tmp_path / "other.txt").unlink()
    plan = read_plan(path)
    with pytest.raises(RaceError, match=r"'other.txt', which a command names, was removed"):
        begin(plan, url)
    plan.source.close()


def test_a_race_that_was_begun_without_digests_of_scripts_goes_on(tmp_path: Path) -> None:
    path, url = scored(tmp_path), f"sqlite:///{tmp_path}/race.db"
    plan = read_plan(path)
    assert "# named by a command: sha256 " in plan.protocol
    older = [line for line in plan.protocol.splitlines() if "named by a command" not in line]
    begun = begin(replace(plan, protocol="\n".join(older)), url)
    begun.tell(begun.ask()[0], {"score": 0.5})
    begun.close()
    plan.source.close()
    (tmp_path / "score.py").write_text(SCRIPT + "# another\n")
    result, events = finish(read_plan(path), url)
    assert events[0] == Resumed(1)
    assert result.pareto == ("good",)


def test_files_that_runs_write_may_change(tmp_path: Path) -> None:
    """One was there before, one comes about; neither is a reason to refuse to go on."""
    more = 'prepare = "cp score.py before.txt"\ncleanup = "touch since.txt"'
    path, url = scored(tmp_path, more), f"sqlite:///{tmp_path}/race.db"
    (tmp_path / "before.txt").write_text("of another race")
    assert Written(("'before.txt'",)) in cut_short(path, url)
    (tmp_path / "since.txt").write_text("changed")
    result, events = finish(read_plan(path), url)
    assert result.pareto == ("good",)
    assert not any(isinstance(event, Written) for event in events)


FAILING = """
import os, sys
size = os.path.getsize("count") if os.path.exists("count") else 0
with open("count", "a") as file:
    file.write("x")
if size >= int(sys.argv[1]):
    sys.exit(3)
print('{"score": 0.5}')
"""


@pytest.mark.parametrize(
    ("good", "more", "said"),
    [
        (0, "", '"retry" tries again, measure.on_failure = "infeasible" counts failures) and run it again'),
        (2, "", "run it again to go on, if it was chance. Else .* and begin another race: --name NEW"),
        (0, 'on_failure = "retry"', "(more measure.retries try more often, .*) and run it again"),
        (0, "timeout = 60", '(measure.on_failure = "infeasible" counts failures) and run it again'),
    ],
)
def test_advice_after_a_failure_can_be_followed(tmp_path: Path, good: int, more: str, said: str) -> None:
    path = command_of(tmp_path, f"python3 -I -S failing.py {good}", more)
    (tmp_path / "failing.py").write_text(FAILING)
    pattern = ".*".join(re.escape(part) for part in said.split(".*"))
    with pytest.raises(RaceError, match=pattern + "$"):
        finish(read_plan(path))


@pytest.mark.parametrize("name", ["none", "wrong_type", "other", "null"])
def test_a_mistake_that_comes_again_is_not_called_chance(tmp_path: Path, name: str) -> None:
    functions = """
def none(arm): return None
def wrong_type(arm): return {"x": "a" + 1}
def other(arm): return {"y": 1.0}
def null(arm): return {"x": None}
"""
    (tmp_path / f"lasting_{name}.py").write_text(functions)
    text = f'[objectives]\nx = "max"\n[measure]\ncallable = "lasting_{name}:{name}"\n[arms.a]\n[arms.b]\n'
    with pytest.raises(RaceError, match=r"a mistake which comes again in each run: correct it, and run it again$"):
        finish(read_plan(write(tmp_path, text)))


def test_commands_that_failed_are_shown_to_be_pasted(tmp_path: Path) -> None:
    plan = read_plan(command_of(tmp_path, "sh -c 'exit 3' 'a b'"))
    with pytest.raises(RaceError, match="exit code 3: sh -c 'exit 3' 'a b'"):
        finish(plan)


def test_many_failures_of_an_arm_do_not_flood_the_screen() -> None:
    failures = FailureLines()
    said = [failures.said(Failed("slow one", "exit code 1", "it counts as a failure")) for _ in range(30)]
    assert said[:3] == ["'slow one' failed, it counts as a failure: exit code 1"] * 3
    assert [line for line in said[3:] if line] == [f"'slow one': {count} failures so far" for count in (10, 20, 30)]


def test_a_metric_that_does_not_appear_is_told_with_what_may_be_meant(tmp_path: Path) -> None:
    path = command_of(tmp_path, "true", objectives='z = "max"')
    path.write_text(path.read_text().replace("[measure]", '[derived]\nz = "1 / wall_sec"\n[measure]'))
    with pytest.raises(RaceError, match=r"there is no 'wall_sec' \(did you mean 'wall_s'\?\) in what it gave"):
        finish(read_plan(path))
    spread = command_of(tmp_path, """printf '{{\\n"score": 1\\n}}'""")
    with pytest.raises(RaceError, match=r"expected a line \(JSON must be on one line\) such as"):
        finish(read_plan(spread))


def tied(folder: Path, more: str = "") -> Path:
    """Two arms that are equal, without a budget."""
    path = scored(folder)
    text = path.read_text().replace("0.1 }", "0.9 }").replace("budget = 400\n", more)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "arms that are equal in score would be measured without end"),
        ("tolerance = 0.01\n", ""),
        ("tolerance = { score = 0.01 }\n", ""),
    ],
)
def test_ties_that_would_never_end_are_told(tmp_path: Path, more: str, said: str) -> None:
    plan = read_plan(tied(tmp_path, more))
    assert without_end(plan, None) == said
    assert without_end(plan, 10) == ""
    plan.source.close()


def results(url: str) -> int:
    """How many there are; 0 where the race has not begun: no file yet, no tables in it, or no experiment in these."""
    storage = open_storage(url)
    try:
        return pg.Experiment.open("a race", storage).status().samples if "a race" in storage.names() else 0
    finally:
        storage.close()


def test_a_tie_is_told_at_the_beginning_and_at_ctrl_c_and_a_budget_ends_it_later(tmp_path: Path) -> None:
    path = tied(tmp_path)
    child = subprocess.Popen([sys.executable, "-m", "paretoguard", "run", str(path)], stderr=subprocess.PIPE, text=True)
    url, deadline = f"sqlite:///{tmp_path}/race.db", time.monotonic() + 60
    while results(url) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=30)[1]
    assert child.returncode == 130
    assert "measured without end; a [tolerance] or a --budget ends that" in said
    assert "measured without end; run it again with --budget N" in said
    most = pg.Experiment.open("a race", url).status().samples + 5
    done = CliRunner().invoke(app, ["run", str(path), "--budget", str(most)])
    assert done.exit_code == 1, done.stderr
    assert f"stopped after {most:,} results, as --budget says" in " ".join(done.stdout.split())
    assert "without end" not in done.stderr
    experiment = pg.Experiment.open("a race", url)
    assert experiment.settings["budget"] is None
    assert experiment.status().samples == most
    assert audit(experiment).sound
    again = CliRunner().invoke(app, ["run", str(path), "--budget", str(most)])
    assert again.exit_code == 1, again.stderr
    assert pg.Experiment.open("a race", url).status().samples == most


def test_a_budget_that_was_given_at_the_beginning_is_fixed(tmp_path: Path) -> None:
    path, url = scored(tmp_path), f"sqlite:///{tmp_path}/race.db"
    cut_short(path, url)
    plan = read_plan(path, budget=10)
    with pytest.raises(RaceError, match="was begun with budget = 400, now 10 is asked for"):
        begin(plan, url)
    plan.source.close()
