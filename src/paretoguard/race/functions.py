"""Arms that are measured by a Python function, also an asynchronous one."""

import asyncio
import importlib
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

from paretoguard.errors import ProblemError
from paretoguard.files.metrics import FAILED
from paretoguard.race.measuring import How, RaceError, RunFailedError, Source, digest_line
from paretoguard.trial.tickets import Ticket

RACE_STOPPED = "the race was stopped"
LASTING = (TypeError, NameError, AttributeError, ImportError, NotImplementedError)  # every call raises them


class Functions(Source):
    """Calls `module:function` with the arm's `with` words or, if there are none, with the arm's name."""

    in_process = True

    def __init__(self, sources: Mapping[str, Mapping[str, Any]], how: How, folder: Path) -> None:
        self._timeout = how.timeout
        self._words = {arm: source.get("with", {}) for arm, source in sources.items()}
        self._functions: dict[str, Any] = {}
        for arm, source in sources.items():
            key = f"arms.{arm}.callable" if "callable" in source else "measure.callable"
            self._functions[arm] = _find(key, source.get("callable", how.callable), folder)
            if how.timeout is not None and not inspect.iscoroutinefunction(self._functions[arm]):
                raise ProblemError(
                    f"measure.timeout is for commands and asynchronous functions; {key} cannot be stopped"
                )
            self._check_words(key, arm)
        self._closing, self._closed = threading.Lock(), False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def _check_words(self, key: str, arm: str) -> None:
        given = self._words[arm]
        try:
            inspect.signature(self._functions[arm]).bind(*(() if given else (arm,)), **given)
        except TypeError as error:
            called = ", ".join(f"{name}={value!r}" for name, value in given.items()) or repr(arm)
            raise ProblemError(f"{key} would be called with ({called}), but {error}") from None
        except ValueError:  # of no known signature
            return

    def measure(self, ticket: Ticket) -> dict[str, Any]:
        function, words = self._functions[ticket.arm], self._words[ticket.arm]
        arguments = () if words else (ticket.arm,)
        begin = time.perf_counter()
        try:
            found = function(*arguments, **words)
            if inspect.isawaitable(found):
                found = self._handed_over(found).result()
        except RaceError:
            raise
        except (Exception, asyncio.CancelledError, CancelledError) as error:
            if self._closed:  # we cancelled it: that is no failure of the arm
                raise RaceError(RACE_STOPPED) from error
            late = isinstance(error, TimeoutError) and self._timeout is not None
            why = "no end in time (measure.timeout)" if late else f"{error}{_place(error, function)}"
            lasting = isinstance(error, LASTING)
            raise RunFailedError(f"{type(error).__name__}: {why}", _timed(begin, 1.0), lasting=lasting) from error
        if not isinstance(found, Mapping):
            why = f"it gave {found!r}, expected a mapping from names to numbers"
            raise RunFailedError(why, _timed(begin, 1.0), lasting=True)
        return {**_timed(begin, 0.0), **found}

    def _handed_over(self, found: Any) -> "Future[Any]":
        """Hand a call to the loop, unless the loop is about to stop: the call would never end."""
        with self._closing:
            if self._closed:
                getattr(found, "close", lambda: None)()
                raise RaceError(RACE_STOPPED)
            return asyncio.run_coroutine_threadsafe(asyncio.wait_for(found, self._timeout), self._loop)

    def described(self) -> list[str]:
        files = {inspect.getsourcefile(inspect.unwrap(function)) for function in self._functions.values()}
        return [digest_line(Path(file)) for file in sorted(filter(None, files)) if Path(file).is_file()]

    def close(self) -> None:
        with self._closing:
            was_closed, self._closed = self._closed, True
        if was_closed:
            return
        asyncio.run_coroutine_threadsafe(self._cancelled(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _cancelled(self) -> None:
        """Cancel what is awaited, and wait until it has ended."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _place(error: BaseException, function: Any) -> str:
    """Return where an exception was raised: the last line in the function's own file, else the last of all."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is ours
    try:
        own = inspect.getsourcefile(inspect.unwrap(function))
    except TypeError:  # it is built in
        own = None
    frame = next((frame for frame in reversed(frames) if frame.filename == own), frames[-1] if frames else None)
    return "" if frame is None else f" ({Path(frame.filename).name}, line {frame.lineno})"


def _timed(begin: float, failed: float) -> dict[str, float]:
    wall = time.perf_counter() - begin
    return {"wall_ms": 1e3 * wall, "wall_s": wall, FAILED: failed}


def _find(key: str, given: Any, folder: Path) -> Any:
    """Return the function `module:function`; modules are looked for beside the problem file first."""
    module, colon, name = str(given).partition(":")
    if not colon or not module or not name:
        raise ProblemError(f"{key} is {given!r}, expected a function, as 'module:function'")
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.insert(0, place)  # for good: it may import more when it is called
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:
        raise ProblemError(f"{key}: {module!r} cannot be imported: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise ProblemError(f"{key}: there is no function {name!r} in {module!r}")
    return found
