"""The commands of live experiments, as a user has them: what they print where, how they end, and how they refuse."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from paretoguard.cli.app import app
from paretoguard.cli.stdin import stdin
from paretoguard.errors import FileError
from paretoguard.experiment.events import START, seal
from paretoguard.experiment.memory import MemoryStorage
from paretoguard.trial import promises, registry
from paretoguard.vocabulary import ORDERS

ROOT = Path(__file__).parents[1]
COMMANDS = ("create", "ask", "tell", "retract", "status", "report", "list", "export", "import")
PROBLEM = """name = "ab"
evidence = "practical"
arms = ["a", "b"]
[objectives]
x = "max"
y = "min"
[noise]
kind = "gaussian"
std = 1.0
"""
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command, in a folder of its own with a problem file and a database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARETOGUARD_STORAGE", "sqlite:///trial.db")
    monkeypatch.setattr("paretoguard.cli.live.compiling", nullcontext)  # what is said depends on what ran before
    (tmp_path / "ab.toml").write_text(PROBLEM, encoding="utf-8")
    (tmp_path / "arm.toml").write_text(PROBLEM.replace("x =", "arm ="), encoding="utf-8")
    (tmp_path / "bytes.jsonl").write_bytes(b"{}\xff\n")
    (tmp_path / "junk.db").write_text("this is no database" * 100, encoding="utf-8")

    def invoke(line: str | list[str], given: str | bytes = "") -> Any:
        arguments = line.split() if isinstance(line, str) else line
        return CliRunner().invoke(app, arguments, input=given, env={"COLUMNS": "120"})

    return invoke


@pytest.fixture
def begun(run: Run) -> Run:
    """… and an experiment with three tickets: 0 (a), 1 (b), 2 (a)."""
    assert run("create ab.toml").exit_code == 0
    assert run("ask ab -n 3").exit_code == 0
    return run


def read(result: Any) -> dict[str, Any]:
    """The one JSON object on stdout."""
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def is_refused(result: Any, *words: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


# --- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(run: Run, command: str) -> None:
    result = run([command, "--help"])
    assert result.exit_code == 0
    assert f"paretoguard {command}" in result.stdout
    assert "--storage" in result.stdout
    assert ("--json" in result.stdout) == (command != "export")  # which writes JSON lines


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom paretoguard.cli.app import app\n"
        f"for name in {COMMANDS!r}:\n"
        "    try: app([name, '--help'])\n"
        "    except SystemExit: pass\n"
        "print([name for name in ('numba', 'numpy', 'scipy', 'sqlalchemy') if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr.strip() == "[]"


def test_the_shell_completes_commands(run: Run) -> None:
    assert "--install-completion" in run(["--help"]).stdout
    asked = {"_PARETOGUARD_COMPLETE": "complete_bash", "COMP_WORDS": "paretoguard re", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], prog_name="paretoguard", env=asked)
    assert set(done.stdout.split()) == {"retract", "report"}


def test_the_shell_completes_names_of_parts(run: Run) -> None:
    assert list(promises.COUNTED) == list(ORDERS)
    for words, expected in (
        ("create ab.toml --evidence ", set(registry.EVIDENCE)),
        ("create ab.toml --algorithm e", {"e-cape"}),
        ("create ab.toml --order a", {"arrival", "asked"}),
        ("paper cov", {"covboost"}),
    ):
        asked = {"_PARETOGUARD_COMPLETE": "complete_bash", "COMP_WORDS": f"paretoguard {words}"}
        asked["COMP_CWORD"] = str(len(f"paretoguard {words}".split(" ")) - 1)
        done = CliRunner().invoke(app, [], prog_name="paretoguard", env=asked)
        assert set(done.stdout.split()) == expected


@pytest.mark.parametrize("line", ["status ab", "ask ab", "tell ab 0 x=1 y=1", "retract ab 0 --reason oops"])
def test_compiling_is_said(begun: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    said = []

    @contextmanager
    def compiling(console: Any) -> Iterator[None]:
        said.append(console.stderr)
        yield

    monkeypatch.setattr("paretoguard.cli.live.compiling", compiling)
    assert begun(line).exit_code == 0
    assert said == [True]


def test_list_counts_as_status_does(begun: Run) -> None:
    begun("create ab.toml --name asked --order asked")
    begun("ask asked -n 4")
    for name in ("ab", "asked"):
        begun(f"tell {name} 2 x=1 y=1")
        begun(f"tell {name} 1 x=1")
        begun(f"retract {name} 0 --reason oops")
    begun("create ab.toml --name answered")
    results = [json.dumps({"arm": arm, "x": x, "y": y}) for arm, x, y in [("a", 9, 0), ("b", 0, 9)] * 4]
    begun("tell answered", "\n".join(results))
    for row in read(begun("list --json"))["experiments"]:
        stand = read(begun(["status", row["name"], "--json"]))
        names = ("stopped", "samples", "pending", "retracted", "sequence")
        assert [stand[key] for key in names] == list(row.values())[1:-1]
    shown = begun("list").stdout
    assert "answered" in shown
    assert "last change" in shown


def test_a_mistyped_objective_is_told_which_there_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(PROBLEM.replace("\ny =", "\nsafety =").replace("x =", "efficacy ="), "utf-8")
    run("create long.toml")
    run("ask ab")
    for line in ("tell ab 0 efficacy=1 safty=1", "tell ab 0 safty=1"):
        is_refused(run(line), "which is no objective; did you mean 'safety'? Objectives are 'efficacy', 'safety'")


# --- a session --------------------------------------------------------------------------------------------------------


def test_a_session(run: Run) -> None:
    created = run("create ab.toml")
    assert created.stdout == "created ab: 2 arms, heuristic guarantee\n"
    assert created.stderr == "next: paretoguard ask ab\n"
    assert run("ask ab -n 3").stdout == "0\ta\n1\tb\n2\ta\n"
    assert run("tell ab 1 x=0 y=1").stderr == "result 1 recorded\n"
    assert run("tell ab 1 x=0 y=1").stderr == "result 1 was known already; nothing changed\n"
    assert run("tell ab 0 x=9").stderr == "result 0 recorded; it counts when the rest has come\n"
    half = run("status ab").stdout
    assert "results: 1; waiting for 2 (1 in part)" in half
    assert run("tell ab 0 y=0").stderr == "result 0 recorded\n"
    assert run("tell ab --arm b x=0 y=1").stderr == "result 3 recorded\n"
    shown = run("status ab")
    assert shown.exit_code == 0
    assert "results: 3; waiting for 1\n" in shown.stdout
    assert f"ledger: 6 events, hash {read(run('status ab --json'))['hash']}" in shown.stdout
    assert "ab " in run("list").stdout


def test_each_command_prints_one_json_object(run: Run) -> None:
    created = read(run("create ab.toml --json --delta 0.1 --budget 50 --ticket-seconds 60"))
    assert list(created) == ["name", "settings", "guarantee", "hash"]
    chosen = {key: created["settings"][key] for key in ("delta", "budget", "ticket_seconds", "order", "evidence")}
    assert chosen == {
        "delta": 0.1, "budget": 50, "ticket_seconds": 60.0, "order": "arrival", "evidence": "practical"
    }  # fmt: skip
    asked = read(run("ask ab -n 2 --json"))
    assert [(one["ticket"], one["arm"]) for one in asked["tickets"]] == [(0, "a"), (1, "b")]
    assert all(one["expires"].endswith("Z") for one in asked["tickets"])
    assert asked["stopped"] == "open"
    kept = {"id": 0, "retracted": False}
    assert read(run("tell ab 0 x=1 --json")) == {"sequence": 3, "duplicate": False, "complete": False, **kept}
    assert read(run("tell ab 0 x=1 --json")) == {"sequence": 3, "duplicate": True, "complete": False, **kept}
    assert read(run("tell ab 0 y=1 --json")) == {"sequence": 4, "duplicate": False, "complete": True, **kept}
    assert read(run("tell ab --json", "ticket,x,y\n0,1,1\n1,1,1\n")) == {
        "recorded": 1, "partial": 0, "duplicates": 1, "numbers": {}, "refused": {}
    }  # fmt: skip
    assert read(run("retract ab 1 --reason oops --json")) == {"retracted": 1, "guarantee": "heuristic"}
    status = read(run("status ab --json"))
    assert (status["samples"], status["retracted"], status["sequence"], status["waiting"]) == (1, 1, 6, [])
    assert status["result"]["pulls"] == {"a": 1, "b": 0}
    (row,) = read(run("list --json"))["experiments"]
    assert row.pop("last_change").endswith("Z")
    assert row == {"name": "ab", "state": "open", "results": 1, "waiting": 0, "retracted": 1, "events": 6}
    exported = run("export ab")
    assert [json.loads(line)["sequence"] for line in exported.stdout.splitlines()] == [1, 2, 3, 4, 5, 6]
    imported = {"name": "copy", "events": 6, "hash": status["hash"]}
    assert read(run("import --name copy --json", exported.stdout)) == imported


def test_nothing_here_is_no_error(run: Run) -> None:
    assert "no experiments in sqlite:///trial.db" in run("list").stdout
    assert read(run("list --json")) == {"experiments": []}


def test_the_database_may_be_named(run: Run, tmp_path: Path) -> None:
    assert run("create ab.toml --storage sqlite:///other.db").exit_code == 0
    assert (tmp_path / "other.db").exists()
    is_refused(run("ask ab"), "there is no experiment 'ab' here; there are: none")
    assert run("ask ab --storage sqlite:///other.db").stdout == "0\ta\n"


# --- how it ends ------------------------------------------------------------------------------------------------------


def test_ask_says_why_there_is_nothing_to_ask_for(run: Run) -> None:
    run("create ab.toml --budget 2")
    assert run("ask ab -n 5").stdout == "0\ta\n1\tb\n"
    full = run("ask ab")
    assert (full.exit_code, full.stdout) == (0, "")
    assert full.stderr == "nothing to ask for: all that the budget allows is asked for\n"
    run("tell ab", "ticket,x,y\n0,1,1\n1,1,1\n")
    assert run("ask ab").stderr == "nothing to ask for: the budget is spent\n"
    assert read(run("ask ab --json")) == {"tickets": [], "stopped": "budget"}
    assert read(run("status ab --json"))["stopped"] == "budget"


def test_an_answer_ends_it(run: Run) -> None:
    run("create ab.toml")
    tickets = run("ask ab -n 2").stdout.splitlines()
    assert len(tickets) == 2
    results = [json.dumps({"arm": arm, "x": x, "y": y}) for arm, x, y in [("a", 9, 0), ("b", 0, 9)] * 4]
    assert run("tell ab", "\n".join(results)).exit_code == 0
    assert run("ask ab").stderr == "nothing to ask for: the answer is found\n"
    status = read(run("status ab --json"))
    assert (status["done"], status["stopped"], status["result"]["pareto"]) == (True, "answered", ["a"])


def test_tickets_expire_and_their_results_still_count(run: Run) -> None:
    run("create ab.toml --ticket-seconds 0.01")
    run("ask ab -n 2")
    time.sleep(0.02)
    (ticket,) = read(run("ask ab --json"))["tickets"]
    assert (ticket["ticket"], ticket["arm"]) == (2, "a")
    status = read(run("status ab --json"))
    assert (status["pending"], status["expired"], status["samples"]) == (1, 2, 0)
    assert read(run("tell ab 0 x=1 y=1 --json"))["complete"] is True
    status = read(run("status ab --json"))
    assert (status["pending"], status["expired"], status["samples"]) == (1, 1, 1)


def test_results_count_in_the_order_asked(run: Run) -> None:
    run("create ab.toml --order asked")
    run("ask ab -n 3")
    run("tell ab 2 x=1 y=1")
    waiting = read(run("status ab --json"))
    assert waiting["samples"] == 0
    assert any("wait for earlier ones" in note for note in waiting["result"]["notes"])
    is_refused(run("tell ab --arm a x=1 y=1"), "results count in the order asked, so tell by ticket")
    run("tell ab 0 x=1 y=1")
    assert read(run("status ab --json"))["samples"] == 2


# --- many results at once ---------------------------------------------------------------------------------------------

CSV = {
    2: ("1,1,2", ""),
    3: ("2,1", "got 2 cells, expected 3: ticket, x, y"),
    4: ("9,1,2", "there is no ticket 9; waiting for a result are: 0 (a), 2 (a)"),
    5: ("q,1,2", "the ticket is 'q', expected its number, as `ask` gave it"),
    6: ("", ""),
    7: ("2,high,2", "arm 'a', objective 'x': got 'high', expected a finite number (Gaussian noise)"),
    8: ('2,"1,2', "this is not CSV"),
    9: (",3,4", "neither a ticket nor an arm was given"),
    10: ("0,1,", ""),
    11: ("2,1_0,2", "objective 'x': got '1_0', expected a finite number"),
    12: ("2,\uff11,2", "objective 'x': got '\uff11', expected a finite number"),
}
JSON = {
    1: ('{"ticket": 1, "x": 1, "y": 2}', ""),
    2: ('{"ticket": 2', "this is not JSON"),
    3: ('["ticket"]', "expected a JSON object"),
    4: ('{"arm": ["a"], "x": 1, "y": 1}', "there is no arm ['a']; expected one of 'a', 'b'"),
    5: ('{"arm": "a", "x": NaN, "y": 1}', "got nan, expected a finite number"),
    6: ('{"ticket": 2, "z": 1}', "arm 'a' has a value for 'z', which is no objective; expected one of 'x', 'y'"),
    7: ('{"ticket": -1, "x": 1}', "the ticket is -1, expected its number, as `ask` gave it"),
    8: ('{"ticket": 0, "x": 1}', ""),
    9: ('{"ticket": 2, "x": 1, "x": 2}', "x is given twice"),
}


@pytest.mark.parametrize(("lines", "header"), [(CSV, "ticket,x,y\n"), (JSON, "")], ids=["csv", "json"])
def test_bad_lines_are_named_and_the_others_recorded(
    begun: Run, lines: dict[int, tuple[str, str]], header: str
) -> None:
    text = header + "\n".join(line for line, _ in lines.values())
    wrong = {at: words for at, (_, words) in lines.items() if words}
    atomic = begun("tell ab --atomic --json", text)
    assert atomic.exit_code == 2
    assert json.loads(atomic.stdout)["recorded"] == 0
    assert read(begun("status ab --json"))["sequence"] == 2
    result = begun("tell ab", text)
    assert (result.exit_code, result.stdout) == (2, "")
    first, *rest = result.stderr.splitlines()
    assert first == "2 results recorded (1 in part)"
    assert len(rest) == len(wrong)
    for said, (at, words) in zip(rest, wrong.items(), strict=True):
        assert said.startswith(f"line {at}: ")
        assert words in said
    status = read(begun("status ab --json"))
    assert (status["samples"], status["partial"]) == (1, 1)


def test_atomic_refuses_all_for_one(begun: Run) -> None:
    for bad, words in (("9,1,2", "there is no ticket 9"), ("2,1", "got 2 cells")):
        result = begun("tell ab --atomic", f"ticket,x,y\n0,1,2\n{bad}\n")
        assert result.exit_code == 2
        assert f"line 3: {words}" in result.stderr
        assert result.stderr.endswith("nothing was recorded, as --atomic asks\n")
    assert read(begun("status ab --json"))["sequence"] == 2
    assert begun("tell ab --atomic", "ticket,x,y\n0,1,2\n1,3,4\n").exit_code == 0
    assert read(begun("status ab --json"))["samples"] == 2


@pytest.mark.parametrize("text", ["x,y\n1,2\n", "arm,arm,x\na,b,1\n", "hello", "ticket;x;y\n0;1;2\n"])
def test_a_table_without_names_is_refused(begun: Run, text: str) -> None:
    first = text.splitlines()[0]
    is_refused(begun("tell ab", text), f"the first line is {first!r}; expected the names of columns")


@pytest.mark.parametrize("text", ["", "\n\n", "ticket,x,y\n"])
def test_no_lines_are_no_results(begun: Run, text: str) -> None:
    is_refused(begun("tell ab", text), "no results on stdin")


def test_a_long_line_is_refused(begun: Run) -> None:
    result = begun("tell ab", 'ticket,x,y\n0,1,2\n1,1,"' + "9" * 200_000 + '"\n')
    assert result.exit_code == 2
    assert "line 3: the line has more than 100,000 bytes" in result.stderr
    assert read(begun("status ab --json"))["samples"] == 1
    assert "no objective" in begun("tell ab", f"ticket,{'y' * 99_000}\n0,1\n").stderr
    assert "line 1: the line has more" in begun("tell ab", f"ticket,x,{'y' * 3_000_000}\n").stderr


def test_bytes_that_are_no_text_are_named_by_line(begun: Run) -> None:
    result = begun("tell ab", b"ticket,x,y\n0,1,2\n1,\xff,2\n2,1,2\n")
    assert result.stderr.splitlines() == ["2 results recorded", "line 3: the line is not UTF-8: byte 3 is 0xff"]
    result = begun("tell ab", b'\xff\n\xef\xbb\xbf{"ticket": 1, "x": 1, "y": 2}\n')
    assert result.stderr.splitlines() == ["1 result recorded", "line 1: the line is not UTF-8: byte 1 is 0xff"]
    is_refused(begun("tell ab", "ticket,x\r,y\n"), "expected the names of columns")


def test_a_closed_stdin_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="stdin is closed"):
        stdin()


def test_a_key_keeps_results_without_a_ticket_from_counting_twice(begun: Run) -> None:
    assert begun("tell ab --arm a --key s-1 x=1 y=1").stderr == "result 3 recorded\n"
    assert begun("tell ab --arm a --key s-1 x=1 y=1").stderr == "result 3 was known already; nothing changed\n"
    table = "arm,key,x,y\na,s-1,1,1\nb,s-2,1,1\nb,,1,1\n"
    numbers = "numbers of those without a ticket: "
    assert begun("tell ab", table).stderr == f"2 results recorded, 1 known already\n{numbers}3 to 5\n"
    lines = '{"arm": "b", "key": "s-2", "x": 1, "y": 1}\n{"arm": "b", "key": 7, "x": 1, "y": 1}\n'
    assert begun("tell ab", lines).stderr == f"1 result recorded, 1 known already\n{numbers}4, 6\n"
    found = read(begun("tell ab --json", "arm,x,y\nb,1,1\na,2,\n"))
    assert found == {"recorded": 2, "partial": 1, "duplicates": 0, "numbers": {"2": 7, "3": 8}, "refused": {}}
    assert begun("retract ab 8 --reason twice --blind").exit_code == 0
    is_refused(begun("tell ab 0 --key s-9 x=1 y=1"), "the key 's-9' was given with a ticket")


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSED = {
    "create ab.toml": "there is an experiment 'ab' already; choose another name, or go on with that one",
    "create nowhere.toml": "there is no file nowhere.toml",
    "create .": "is a directory, expected a problem file",
    "create junk.db": "junk.db is not valid TOML",
    "create ab.toml --name c --delta 2": "delta is 2.0",
    "create ab.toml --name c --evidence maybe": "evidence 'maybe'",
    "create ab.toml --name c --order late": "order is 'late'; expected one of arrival, asked",
    "create ab.toml --name c --order asked --ticket-seconds 9": "in the order asked tickets cannot expire",
    "create ab.toml --name c --order asked --evidence lil": "no guarantee for results counted in the order asked",
    "create ab.toml --name c --ticket-seconds -1": "ticket_seconds is -1.0, expected how many seconds",
    "create ab.toml --storage nonsense": "storage is 'nonsense', expected a URL such as sqlite:///paretoguard.db",
    "create ab.toml --storage mysql://x/y": "expected sqlite:///FILE or postgresql://USER@HOST/DATABASE",
    "create ab.toml --storage sqlite://": "would be lost with this process; give a file",
    "create ab.toml --storage sqlite:///junk.db": "is no SQLite database, or a damaged one",
    "create ab.toml --storage sqlite:///no/where.db": "is there such a folder, and may you write to it?",
    "ask nope": "there is no experiment 'nope' here; there are: ab",
    "ask ab -n 0": "n is 0; it is how many arms to ask for, a whole number of at least 1",
    "ask ab -n 10001": "at most 10,000",
    "tell nope 0 x=1": "there is no experiment 'nope' here; there are: ab",
    "tell ab seven x=1 y=1": "the ticket is 'seven', expected its number, as `ask` gave it",
    "tell ab 99 x=1 y=1": "there is no ticket 99; waiting for a result are: 0 (a), 1 (b), 2 (a)",
    "tell ab 0 x=high": "arm 'a', objective 'x': got 'high', expected a finite number (Gaussian noise)",
    "tell ab 0 x=nan": "got nan, expected a finite number",
    "tell ab 0 z=1": "which is no objective; expected one of 'x', 'y'",
    "tell ab 0 x": "got 'x', expected OBJECTIVE=VALUE, such as efficacy=1",
    "tell ab 0 x=1 x=2": "x is given twice",
    "tell ab 0": "expected",
    "tell ab x=1": "neither a ticket nor an arm was given: whose result is it?",
    "tell ab 0 --arm b x=1": "ticket 0 is for 'a', got a result of 'b'",
    "tell ab --arm c x=1": "there is no arm 'c'; expected one of 'a', 'b'",
    "retract ab 99 --reason oops": "there is no result 99; there are: 0 (a, waiting), 1 (b, waiting), 2 (a, waiting)",
    "status ab --verify --expect 04fcc0": "--expect is '04fcc0', expected a hash in full, 64 digits",
    "import ab.jsonl --expect xyz": "--expect is 'xyz', expected a hash in full, 64 digits",
    "status ab.toml": "there is no ledger 'ab.db' beside ab.toml: its race has not begun",
    "retract ab 0": "Missing option '--reason'",
    "status nope": "there is no experiment 'nope' here; there are: ab",
    "list --storage sqlite:///junk.db": "is no SQLite database",
    "export nope": "there is no experiment 'nope' here; there are: ab",
    "export ab -o nowhere/ab.jsonl": "there is no directory 'nowhere'",
    "import nowhere.jsonl": "nowhere.jsonl: No such file or directory",
    "import ab.toml": "line 1 is no event of a ledger",
    "import bytes.jsonl": "line 1 is no event of a ledger: byte 3 is not UTF-8",
    "create arm.toml": "objective 'arm' cannot be told: a result says ticket, arm, key, OBJECTIVE=VALUE; rename it",
    "list --storage postgresql://me:SECRET@host:port/db": "storage is 'postgresql://me:***@host:port/db', expected",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refusals_are_one_paragraph_on_stderr_and_exit_code_2(begun: Run, line: str) -> None:
    is_refused(begun(line), REFUSED[line])
    assert read(begun("status ab --json"))["sequence"] == 2


@pytest.mark.parametrize(
    "url", ["me:SECRET@host", "postgresql:/me:SECRET@host/db", "x://me:SE/CR@ET@host?password=SECRET"]
)
def test_passwords_are_never_shown(run: Run, url: str) -> None:
    result = run(["list", "--storage", url])
    assert result.exit_code == 2
    assert not any(word in result.stderr for word in ("SECRET", "SE/CR", "ET@"))


def test_an_empty_database_is_named_without_its_password(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paretoguard.experiment.storage.open_storage", lambda url: MemoryStorage())
    shown = run("list --storage postgresql://me:SECRET@host/db?password=SECRET").stdout
    assert shown.startswith("no experiments in postgresql://me:***@host/db?***;")


@pytest.mark.parametrize("name", ["a\nb", "x" * 201, " "])
def test_names_that_cannot_be_are_refused(begun: Run, name: str) -> None:
    is_refused(begun(["create", "ab.toml", "--name", name]), "expected a text of 1 to 200 characters on one line")


def test_another_value_is_refused(begun: Run) -> None:
    begun("tell ab 0 x=1")
    is_refused(begun("tell ab 0 x=2"), "result 0 (a) has x = 1 already, got 2; if the first was a mistake, retract it")


def test_retract_once_and_with_a_reason(begun: Run) -> None:
    begun("tell ab 1 x=1 y=1")
    is_refused(begun(["retract", "ab", "1", "--reason", " "]), "expected a text: why is result 1 left out?")
    done = begun("retract ab 1 --reason oops --blind")
    assert done.stderr == "result 1 is left out; guarantee from now on: heuristic\n"
    is_refused(begun("retract ab 1 --reason oops"), "result 1 (b) has been retracted already")
    assert begun("tell ab 1 x=1 y=1").stderr == "result 1 was known already, and was retracted; nothing changed\n"
    is_refused(begun("tell ab 1 x=2 y=1"), "result 1 (b) was retracted: oops; tell the right one without a ticket")
    begun("retract ab 0 --reason oops")
    is_refused(begun("tell ab 0 x=1 y=1"), "result 0 (a) was retracted: oops")


@pytest.mark.parametrize("blind", [True, False])
def test_only_blind_retractions_keep_the_guarantee(run: Run, blind: bool) -> None:
    run("create ab.toml --evidence certified")
    run("ask ab -n 2")
    run("tell ab", "ticket,x,y\n0,1,1\n1,1,1\n")
    run("retract ab 1 --reason oops" + " --blind" * blind)
    status = read(run("status ab --json"))
    result = status["result"]
    assert status["guarantee"] == result["guarantee"] == ("finite-sample" if blind else "heuristic")
    said = result["assumptions"] if blind else result["notes"]
    assert any("1 result was retracted" in text for text in said)


# --- export, import, and the audit ------------------------------------------------------------------------------------


def test_what_is_exported_comes_back_the_same(begun: Run, tmp_path: Path) -> None:
    begun("tell ab 1 x=0.1 y=1e-300")
    last = read(begun("status ab --json"))["hash"]
    said = f"imported ab: 3 events, hash {last}; see paretoguard status ab\n"
    assert begun("export ab -o ab.jsonl").stderr == f"exported ab: 3 events, hash {last}\n"
    assert begun("export ab").stdout == (tmp_path / "ab.jsonl").read_text(encoding="utf-8")
    assert begun("import ab.jsonl --storage sqlite:///other.db").stderr == said
    assert begun("export ab --storage sqlite:///other.db").stdout == begun("export ab").stdout
    assert begun("ask ab --storage sqlite:///other.db").stdout == begun("ask ab").stdout
    is_refused(begun("import ab.jsonl"), "there is an experiment 'ab' already")
    other = "0" * 64
    is_refused(begun(f"import ab.jsonl --name c --expect {other}"), f"whose hash is {last}, not {other}: it was cut")
    assert begun(f"import ab.jsonl --name c --expect {last.upper()}").exit_code == 0
    missing = begun(f"status c --verify --expect {other}")
    assert f"the hash {other} is not in this ledger: mistyped, cut, or written anew" in missing.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: [lines[0], lines[1], lines[2].replace("1.0", "2.0")], "event 3 does not have the hash"),
        (lambda lines: [lines[0], lines[2]], "event 2 does not have the hash"),
        (lambda lines: lines[1:], "event 1 does not have the hash"),
        (lambda lines: [], "there are no events"),
        (lambda lines: [lines[0], "hello", *lines[1:]], "line 2 is no event of a ledger: 'hello'"),
    ],
)
def test_a_changed_file_is_refused(begun: Run, change: Any, words: str) -> None:
    begun("tell ab 0 x=1 y=1")
    lines = begun("export ab").stdout.splitlines()
    is_refused(begun("import --name copy", "\n".join(change(lines))), words)
    is_refused(begun("status copy"), "there is no experiment 'copy' here")


def test_exported_is_what_was_written_whatever_the_terminal_shows(begun: Run) -> None:
    begun(["retract", "ab", "1", "--reason", "zu früh ★"])
    exported = CliRunner(charset="ascii").invoke(app, ["export", "ab"]).stdout_bytes
    assert "zu früh ★".encode() in exported
    assert read(begun("import --name copy --json", exported))["name"] == "copy"


def test_forged_files_and_ledgers_are_refused_and_do_not_hide_others(begun: Run, tmp_path: Path) -> None:
    def forged(data: str) -> str:
        line = f'{{"version":1,"sequence":1,"time":0,"kind":"created","data":{data}}}'
        return f'{line[:-1]},"hash":"{seal(START, line)}"}}\n'

    for data, words in (
        ("[]", "event 1 cannot be read"),
        ("[" * 99_999 + "]" * 99_999, "event 1 cannot be read (maximum recursion"),
        ('{"x":"' + "x" * 1_000_100 + '"}', "line 1 is no event of a ledger: it has more than 1,000,100 characters"),
        ('{"name":NaN}', "NaN is no number"),
    ):
        is_refused(begun("import --name forged", forged(data)), words)
    assert begun("import --name bad", forged("{}")).exit_code == 0
    is_refused(begun("status bad"), "event 1 (created) does not say")
    good, bad = read(begun("list --json"))["experiments"]
    assert (good["name"], good["waiting"], bad["name"], bad["waiting"]) == ("ab", 3, "bad", None)
    assert "cannot be read: event 1 (created) does not say" in bad["error"]
    assert "cannot be read" in begun("list").stdout


def test_verify_says_that_all_is_in_order(begun: Run) -> None:
    begun("tell ab", "ticket,x,y\n0,1,1\n1,1,1\n")
    shown = begun("status ab --verify")
    assert shown.exit_code == 0, shown.stderr
    assert "the chain of hashes is whole (4 events)" in shown.stdout
    assert read(begun("status ab --verify --json"))["audit"]["sound"] is True


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE paretoguard_event SET line = replace(line, '1.0', '2.0') WHERE sequence = 3", "event 3 does not have"),
        ("DELETE FROM paretoguard_event WHERE sequence = 3", "event 3 is missing: event 4 follows event 2"),
        ("UPDATE paretoguard_event SET line = replace(line, 'problem', 'p')", "event 1 does not have the hash"),
        ("UPDATE paretoguard_event SET line = replace(line, '\"id\":1', '\"id\":9')", "event 4 does not have the hash"),
        ("UPDATE paretoguard_event SET line = '[]' WHERE sequence = 2", "event 2 does not have the hash"),
    ],
)
def test_verify_finds_what_was_changed_later(begun: Run, tmp_path: Path, statement: str, words: str) -> None:
    begun("tell ab", "ticket,x,y\n0,1,1\n1,1,1\n")
    with sqlite3.connect(tmp_path / "trial.db") as connection:
        connection.execute(statement)
    connection.close()
    result = begun("status ab --verify")
    assert result.exit_code == 2
    assert "the ledger was changed after it was written" in result.stderr
    assert words in result.stderr
    assert json.loads(begun("status ab --verify --json").stdout)["audit"]["sound"] is False


TAMPERED = "UPDATE paretoguard_event SET line = replace(line, '\"x\":1.0', '\"x\":2.0') WHERE sequence = 3"


@pytest.fixture
def tampered(begun: Run, tmp_path: Path) -> Run:
    """… of which a result was changed by hand."""
    begun("create ab.toml --name sure --evidence certified")
    begun("ask sure -n 3")
    begun("tell sure", "ticket,x,y\n0,1,1\n1,1,1\n")
    with sqlite3.connect(tmp_path / "trial.db") as connection:
        connection.execute(TAMPERED)
    connection.close()
    return begun


def test_a_changed_ledger_takes_nothing_more(tampered: Run) -> None:
    words = ("the ledger of 'sure' was changed after it was written: event 3 does not have the hash",)
    for line in ("ask sure", "tell sure 2 x=1 y=1", "retract sure 0 --reason oops --blind"):
        is_refused(tampered(line), *words)
    assert tampered("ask ab").exit_code == 0  # the others are as they were


@pytest.mark.parametrize("more", ["", " --verify"])
def test_a_changed_ledger_has_no_guarantee(tampered: Run, more: str) -> None:
    none = "none: the ledger was changed after it was written"
    shown = tampered("status sure" + more)
    assert shown.exit_code == 2
    assert shown.stdout.startswith(f"error: {none[6:]}: event 3 does not have the hash")
    assert f"Guarantee: {none}" in shown.stdout
    assert "finite-sample" not in shown.stdout.partition("Assumed:")[0].replace("(finite-sample)", "")
    assert shown.stderr.startswith(f"error: {none[6:]}: event 3")
    told = tampered("status sure --json" + more)
    found = json.loads(told.stdout)
    assert told.exit_code == 2
    assert found["guarantee"] == found["result"]["guarantee"] == none
    assert {verdict["guarantee"] for verdict in found["result"]["verdicts"].values()} == {none}
    assert found["audit"]["sound"] is found["audit"]["whole"] is False


def test_a_report_on_a_changed_ledger_promises_nothing(tampered: Run) -> None:
    none = "none: the ledger was changed after it was written"
    page = tampered("report sure")
    assert page.exit_code == 2
    assert f"guarantee: {none}" in page.stdout
    assert "the ledger was changed after it was written: event 3" in page.stderr
    assert json.loads(tampered("report sure --json").stdout)["guarantee"]["label"] == none


def test_last_events_that_were_taken_away_are_missed(begun: Run, tmp_path: Path) -> None:
    begun("tell ab 0 x=1 y=1")
    with sqlite3.connect(tmp_path / "trial.db") as connection:
        connection.execute("DELETE FROM paretoguard_event WHERE sequence = 3")
    connection.close()
    is_refused(begun("ask ab"), "event 3 is missing: event 3 was recorded, but the last one is event 2")
    assert begun("status ab").exit_code == 2
