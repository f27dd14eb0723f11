"""Arms that are commands: run without a shell unless asked for, measured by a small process (`spawner`)."""

import glob
import json
import math
import os
import queue
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.files.metrics import FAILED
from paretoguard.race import spawner
from paretoguard.race.command_template import Command
from paretoguard.race.measure_table import How
from paretoguard.race.output import MOST_OUTPUT, read_patterns, read_printed
from paretoguard.race.sources import Findings, Pull, RaceError, RunFailedError, digest_line
from paretoguard.race.watched_files import Stamps, described, named_files

FOREVER = 1e9  # seconds
GROWTH = 1.02  # of the process that starts commands, with room
TAIL = 300  # characters of what a failed command said


class Commands:
    """Runs the commands of a problem file, in the folder of that file."""

    def __init__(self, sources: Mapping[str, Mapping[str, Any]], how: How, folder: Path, seed: int, jobs: int) -> None:
        self._how, self._folder, self._seed = how, folder, seed
        self._patterns = read_patterns(how.metrics)
        self._words = {arm: {"arm": arm, **source.get("with", {})} for arm, source in sources.items()}
        self._inputs = {word: _files(word, given, folder) for word, given in how.inputs.items()}
        self._commands = {arm: self._read(arm, f"arms.{arm}.command", sources[arm].get("command")) for arm in sources}
        self._prepare = {arm: self._extra(arm, "prepare") for arm in sources}
        self._cleanup = {arm: self._extra(arm, "cleanup") for arm in sources}
        self._named = {name: path for arm in sources for name, path in self._named_by(arm).items()}
        self._watched, self.written = set[str](), set[str]()  # arms; files that were changed by a first run
        self._scratch = tempfile.TemporaryDirectory(prefix="paretoguard-")
        self._spawners: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._every = [self._spawner() for _ in range(jobs)]
        for each in self._every:
            if each.stdout is not None:
                each.stdout.readline()  # it is ready
            self._spawners.put(each)
        self.least_peak = least_peak(self._every[0].pid)

    def _read(self, arm: str, key: str, own: Any) -> Command:
        text = own if own is not None else self._how.command
        if text is None:
            raise ProblemError(f"{key} is missing: say how to measure this arm, or give measure.command for all")
        key = key if own is not None else "measure.command"
        return self._checked(arm, Command(key, text, self._known(arm), shell=self._how.shell))

    def _extra(self, arm: str, key: str) -> Command | None:
        text = getattr(self._how, key)
        if text is None:
            return None
        return self._checked(arm, Command(f"measure.{key}", text, self._known(arm), shell=self._how.shell))

    def _known(self, arm: str) -> list[str]:
        return [*self._words[arm], *self._inputs]

    def _checked(self, arm: str, command: Command) -> Command:
        """Refuse a program that is not there, before anything is measured."""
        program = command.program(self._words[arm])
        if program is None:
            return command
        there = os.path.join(self._folder.resolve(), program) if os.sep in program else program
        if shutil.which(there) is None:
            where = f"no program {program!r} in {self._folder}" if os.sep in program else f"no program {program!r}"
            raise ProblemError(f"{command.key}: there is {where}; install it, or correct the command")
        return command

    def _named_by(self, arm: str) -> dict[str, Path]:
        """The files that the commands of an arm name."""
        found: dict[str, Path] = {}
        for command in (self._commands[arm], self._prepare[arm], self._cleanup[arm]):
            if command is not None:
                found |= named_files(command.known(self._words[arm]), self._folder, shell=command.shell)
        return found

    def _spawner(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-I", "-S", spawner.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            start_new_session=True,  # Ctrl-C is for us to handle
        )

    def measure(self, pull: Pull) -> dict[str, Any]:
        """One run: what is measured of it, and what it prints."""
        chance = random.Random(f"{self._seed} {pull.number}")
        drawn = {word: chance.choice(files) for word, files in self._inputs.items()}
        words = {**self._words[pull.arm], **drawn}
        process = self._spawners.get()
        stamps = Stamps(self._named if pull.arm not in self._watched else {})
        self._watched.add(pull.arm)
        try:
            self._aside(process, self._prepare[pull.arm], words, "prepare")
            try:
                size = sum(os.path.getsize(self._folder / file) for file in drawn.values())
                return self._run(process, self._commands[pull.arm].filled(words), size)
            finally:
                self._aside(process, self._cleanup[pull.arm], words, "cleanup")
        finally:
            self.written |= stamps.changed()
            self._spawners.put(process)

    def _aside(self, process: Any, command: Command | None, words: Mapping[str, Any], key: str) -> None:
        if command is None or process.poll() is not None:
            return
        answer, _, said = self._ask(process, command.filled(words))
        if answer["status"] != 0:
            raise RaceError(f"measure.{key} failed with {_ending(answer)}: {shlex.join(command.filled(words))}{said}")

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
        found = Findings({**read_printed(text, self._patterns), **measured})
        found.said, found.has_brace = text[-TAIL:].strip(), "{" in text
        return found

    def _ask(self, process: Any, argv: list[str]) -> tuple[dict[str, Any], str, str]:
        """What the spawner says, where the output is, and the last of what went to stderr."""
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
        """The files that inputs are drawn from, and those that commands name."""
        inputs = [
            f"inputs.{word}: {digest_line(*(self._folder / file for file in files))}"
            for word, files in self._inputs.items()
        ]
        return [*inputs, *described(self._named)]

    def close(self) -> None:
        """Kill what runs."""
        every, self._every = self._every, []
        for each in every:
            if each.stdin is not None:
                each.stdin.close()
        for each in every:
            each.wait()
            if each.stdout is not None:
                each.stdout.close()
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


def least_peak(process: int) -> float | None:
    """The least peak memory that is told apart from less, in MB: what the process takes that starts the commands.

    In whole MB, so that it is the same when a race goes on. None where the system does not say.
    """
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return float(math.ceil(GROWTH * int(line.split()[1]) * 1024 / 1e6))
    return None
