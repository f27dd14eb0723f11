"""Arms that are commands: run without a shell unless asked for, measured by a small process (`spawner`)."""

import glob
import json
import math
import os
import queue
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.files.metrics import FAILED
from paretoguard.race import spawner
from paretoguard.race.command_words import Command, protocol_lines, stamps
from paretoguard.race.measuring import Findings, How, RaceError, RunFailedError, Source, digest_line
from paretoguard.trial.tickets import Ticket

_KEYS = ("command", "prepare", "cleanup")
FOREVER = 1e9  # seconds
GROWTH = 1.02  # of the process that starts commands, with room
TAIL = 300  # characters of what a failed command said
MOST_OUTPUT = 1_000_000  # characters that are looked at, from the end


class Commands(Source):
    """Runs the commands of a problem file, in the folder of that file."""

    def __init__(self, sources: Mapping[str, Mapping[str, Any]], how: How, folder: Path, seed: int, jobs: int) -> None:
        self._how, self._folder, self._seed = how, folder, seed
        self._patterns = {name: _pattern(name, text) for name, text in how.metrics.items()}
        self._words = {arm: {"arm": arm, **source.get("with", {})} for arm, source in sources.items()}
        self._inputs = {word: _files(word, given, folder) for word, given in how.inputs.items()}
        self._commands: dict[tuple[str, str], Command] = {}
        for key, arm in product(_KEYS, sources):
            is_own = key in sources[arm]
            text = sources[arm][key] if is_own else getattr(how, key)
            if text is not None:
                place = f"arms.{arm}.{key}" if is_own else f"measure.{key}"
                command = Command(place, text, [*self._words[arm], *self._inputs], shell=how.shell)
                command.check_program(self._words[arm], folder)
                self._commands[arm, key] = command
        self._named: dict[str, Path] = {}
        for arm, key in product(sources, _KEYS):
            if (arm, key) in self._commands:
                self._named |= self._commands[arm, key].files(self._words[arm], folder)
        self._watched = set[str]()  # arms whose first run shows what runs write
        self.written: set[str] = set()
        self._scratch = tempfile.TemporaryDirectory(prefix="paretoguard-")
        self._spawners: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._every = [self._spawner() for _ in range(jobs)]
        for process in self._every:
            process.stdout.readline()  # it is ready
            self._spawners.put(process)
        self.least_peak = _least_peak(self._every[0].pid)

    def _spawner(self) -> Any:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", spawner.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            start_new_session=True,  # Ctrl-C is for us to handle
        )

    def measure(self, ticket: Ticket) -> dict[str, Any]:
        chance = random.Random(f"{self._seed} {ticket.id}")
        drawn = {word: chance.choice(files) for word, files in self._inputs.items()}
        words = {**self._words[ticket.arm], **drawn}
        process = self._spawners.get()
        before = stamps(self._named) if ticket.arm not in self._watched else {}
        self._watched.add(ticket.arm)
        try:
            self._aside(process, ticket.arm, "prepare", words)
            try:
                size = sum(os.path.getsize(self._folder / file) for file in drawn.values())
                return self._run(process, self._commands[ticket.arm, "command"].filled(words), size)
            finally:
                self._aside(process, ticket.arm, "cleanup", words)
        finally:
            after = stamps(self._named) if before else {}
            self.written |= {repr(name) for name, seen in after.items() if seen != before[name]}
            self._spawners.put(process)

    def _aside(self, process: Any, arm: str, key: str, words: Mapping[str, Any]) -> None:
        if (arm, key) not in self._commands or process.poll() is not None:
            return
        argv = self._commands[arm, key].filled(words)
        answer, _, said = self._ask(process, argv)
        if answer["status"] != 0:
            raise RaceError(f"measure.{key} failed with {_ending(answer)}: {shlex.join(argv)}{said}")

    def _run(self, process: Any, argv: list[str], size: int) -> dict[str, Any]:
        answer, output, said = self._ask(process, argv)
        measured = {
            "wall_ms": 1e3 * answer["wall"],
            "wall_s": answer["wall"],
            "user_ms": 1e3 * answer["user"],
            "peak_mb": max(answer["peak"] / 1e6, self.least_peak or 0.0),
            "exit_code": os.waitstatus_to_exitcode(answer["status"]),
            "output_bytes": os.path.getsize(output),
            "input_bytes": size,
            FAILED: float(answer["status"] != 0),
        }
        if answer["status"] != 0:
            raise RunFailedError(f"{_ending(answer)}: {shlex.join(argv)}{said}", measured)
        with open(output, encoding="utf-8", errors="replace") as file:
            file.seek(max(0, measured["output_bytes"] - MOST_OUTPUT))
            text = file.read()
        found = Findings({**_printed(text, self._patterns), **measured})
        found.said, found.has_brace = text[-TAIL:].strip(), "{" in text
        return found

    def _ask(self, process: Any, argv: list[str]) -> tuple[dict[str, Any], str, str]:
        """Run a command; return the answer of the spawner, the file with its output, and the last of its stderr."""
        name = os.path.join(self._scratch.name, str(process.pid))
        out, err = f"{name}.out", f"{name}.err"
        request = {"argv": argv, "timeout": self._how.timeout or FOREVER, "out": out, "err": err}
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        if not line:
            raise RaceError("the process that runs commands has ended: the race was stopped")
        answer = json.loads(line)
        if "error" in answer:
            raise RaceError(f"cannot run {shlex.join(argv)}: {answer['error']}")
        with open(err, "rb") as file:
            file.seek(max(0, os.path.getsize(err) - TAIL))
            said = " ".join(file.read().decode(errors="replace").split())
        return answer, out, f"; it said: {said}" if said else ""

    def described(self) -> list[str]:
        inputs = [
            f"inputs.{word}: {digest_line(*(self._folder / file for file in files))}"
            for word, files in self._inputs.items()
        ]
        return [*inputs, *protocol_lines(self._named)]

    def close(self) -> None:
        """Kill what runs."""
        every, self._every = self._every, []
        for process in every:
            process.stdin.close()
        for process in every:
            process.wait()
            process.stdout.close()
        self._scratch.cleanup()


def _ending(answer: Mapping[str, Any]) -> str:
    if answer["timed_out"]:
        return f"no end after {answer['wall']:.3g} s (measure.timeout)"
    code = os.waitstatus_to_exitcode(answer["status"])
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _files(word: str, given: str | list[str], folder: Path) -> list[str]:
    patterns = [given] if isinstance(given, str) else given
    found = sorted({name for pattern in patterns for name in glob.glob(pattern, root_dir=folder)})
    if not found:
        raise ProblemError(f"measure.inputs.{word} is {given!r}, but there is no such file in {folder}")
    return found


def _pattern(name: str, text: Any) -> re.Pattern[str]:
    """Return the regular expression of a metric."""
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, TypeError) as error:
        raise ProblemError(f"measure.metrics.{name} is {text!r}, which is no regular expression: {error}") from None
    if pattern.groups != 1:
        raise ProblemError(f"measure.metrics.{name} is {text!r}, expected one (group), which holds the number")
    return pattern


def _printed(output: str, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, Any]:
    """Return what was printed, by name: the last line that is a JSON object, and the last match of each pattern."""
    found: dict[str, Any] = {}
    for line in reversed(output.splitlines()):
        if line.lstrip().startswith("{"):
            with suppress(ValueError):
                found = json.loads(line)
                break
    matches = {name: pattern.findall(output) for name, pattern in patterns.items()}
    return found | {name: all_of_it[-1] for name, all_of_it in matches.items() if all_of_it}


def _least_peak(process: int) -> float | None:
    """Return the memory of the process that starts commands, in MB: less peak memory cannot be told apart.

    In whole MB, so that it is the same when a race goes on. None where the system does not say.
    """
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return float(math.ceil(GROWTH * int(line.split()[1]) * 1024 / 1e6))
    return None
