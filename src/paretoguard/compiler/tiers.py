"""How a kernel runs: as plain Python, or as machine code. Decided call by call; the results are the same.

A first use is interpreted: a sample takes a millisecond or less, and nobody waits for a compiler. Where the work so far
predicts that it pays, machine code is read from disk or, if there is none, a process beside compiles the kernel; calls
use machine code from the moment it is there. PARETOGUARD_TIER=interpreted or =compiled forces one tier.
"""

import functools
import importlib.util
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from paretoguard.compiler import beside
from paretoguard.compiler.cache_folder import PAUSE, cache_folder
from paretoguard.errors import SettingsError

if TYPE_CHECKING:
    from paretoguard.compiler.machine_code import MachineCode

INTERPRETED, COMPILED, AUTO = TIERS = ("interpreted", "compiled", "auto")
VARIABLE = "PARETOGUARD_TIER"
# Seconds of interpreting, spent or expected, from which on it pays …
WORTH_READING = 0.4  # … to load numba and to read machine code
WORTH_COMPILING = 2.0  # … to let a process beside compile
WORTH_WAITING = 20.0  # … to wait for the compiler, where no process beside can help: about as long as that takes

Call = Callable[..., Any]
_P = ParamSpec("_P")
_R = TypeVar("_R")
_forced: list[str | Callable[[], str]] = []  # the last one holds
_listeners: list[Call] = []
_kernels: list["Kernel[..., Any]"] = []
_loading = threading.Lock()


class _Way:
    """How a kernel runs for one kind of arguments."""

    def __init__(self, *, is_large: bool) -> None:
        self.is_large = is_large
        self.spent = 0.0  # seconds of interpreting so far …
        self.ahead = 0.0  # … and those expected
        self.was_sought = False  # on disk
        self.was_noted = False  # that so much is expected
        self.process: beside.Compiling | None = None
        self.is_hopeless = False  # it does not compile

    @property
    def seconds(self) -> float:
        return max(self.spent, self.ahead)


class Kernel(Generic[_P, _R]):
    """A kernel: called from Python, it runs its body or the machine code of it."""

    def __init__(self, body: Callable[_P, _R], *, at_once: bool = False) -> None:
        functools.update_wrapper(self, body)
        self.body: Call = body
        self.at_once = at_once
        self._ways: dict[tuple[type, ...], _Way] = {}
        self._code: MachineCode | None = None
        _kernels.append(self)

    def __call__(self, *arguments: _P.args, **named: _P.kwargs) -> _R:
        if named:
            raise TypeError(f"{self.body.__name__} takes its arguments by position")
        if self._code is None or _forced:
            return cast(_R, self._choose(*arguments)(*arguments))
        return cast(_R, self._code.call(*arguments))  # where it has none for these, it asks `_choose`

    def expect(self, seconds: float, *arguments: Any) -> None:
        """Say that calls with arguments of this kind will take so long if they are interpreted."""
        self._way(arguments).ahead = seconds

    def kind(self, *arguments: Any) -> tuple[type, ...]:
        """Return what arguments that need the same machine code have in common."""
        return tuple(_types(arguments))

    def compile(self, *arguments: Any) -> None:
        """Compile the kernel for arguments of this kind, if kernels like it are compiled at once."""
        if self._is_compiled_at_once():
            self._compiled(arguments)

    def lacking(self, wanted: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Return the arguments that `compile` would have to compile the kernel for."""
        return [each for each in wanted if self.code().read(each) is None] if self._is_compiled_at_once() else []

    def compile_apart(self, wanted: Sequence[tuple[Any, ...]], processes: int, report: Callable[[int], None]) -> None:
        """Compile the kernel for several kinds of arguments, in so many processes, the first ones first.

        Compiling takes a gigabyte, which a process gives back. Kinds that do not compile there are left to `compile`.
        `report` is told how many more have ended.
        """
        left, running = list(wanted), list[beside.Compiling]()
        _announce(len(left))
        try:
            while left or running:
                while left and len(running) < processes:
                    way = self._way(left[0])
                    way.process = beside.compile_beside(self.body, left.pop(0), politely=False)
                    running.append(way.process)
                ended = [each for each in running if not each.is_running]
                running = [each for each in running if each not in ended]
                report(len(ended))
                if running:
                    time.sleep(PAUSE)
        finally:
            for each in running:
                each.end()

    def code(self) -> "MachineCode":
        """Return the machine code, which loads numba."""
        with _loading:
            if self._code is None:
                from paretoguard.compiler.machine_code import MachineCode

                self._code = MachineCode(self.body, self._choose)
            return self._code

    # --- the choice --------------------------------------------------------------------------------------------------

    def _is_compiled_at_once(self, *, is_large: bool = False) -> bool:
        wanted = tier()
        return wanted == COMPILED or (wanted == AUTO and (self.at_once or is_large))

    def _choose(self, *arguments: Any) -> Call:
        """Return what runs these arguments now."""
        way = self._way(arguments)
        if self._is_compiled_at_once(is_large=way.is_large):
            return self._compiled(arguments)
        code = self._sought(way, arguments) if tier() == AUTO else None
        return code or functools.partial(self._interpret, way)

    def _way(self, arguments: tuple[Any, ...]) -> _Way:
        types = self.kind(*arguments)
        return self._ways.get(types) or self._ways.setdefault(types, _Way(is_large=_Large in types))

    def _compiled(self, arguments: tuple[Any, ...]) -> Call:
        """Return machine code, compiled apart if possible, else here. Raise NotCompiledError if it does not compile."""
        if self.code().read(arguments) is None and self._way(arguments).process is None:
            self.compile_apart([arguments], 1, lambda ended: None)
        return cast(Call, self.code().compile(arguments))

    def _interpret(self, way: _Way, *arguments: Any) -> Any:
        begun = time.perf_counter()
        try:
            with np.errstate(all="ignore"), undivided():  # as machine code does
                return self.body(*arguments)
        finally:
            way.spent += time.perf_counter() - begun

    def _sought(self, way: _Way, arguments: tuple[Any, ...]) -> Call | None:
        """Return machine code if it pays and is at hand; else let it be compiled where that pays."""
        if way.is_hopeless or way.seconds < WORTH_READING:
            return None
        try:
            return self._found(way, arguments)
        except Exception:  # it does not compile, or numba is broken: nobody asked for machine code
            way.is_hopeless = True
            return None

    def _found(self, way: _Way, arguments: tuple[Any, ...]) -> Call | None:
        if not way.was_sought:
            way.was_sought = True
            if self._may_be_on_disk() and (code := self.code().read(arguments)) is not None:
                return cast(Call, code)
        if self._is_worth_waiting(way):
            return self._compiled(arguments)
        if way.process is None and way.seconds >= WORTH_COMPILING and beside.has_room():
            way.process = beside.compile_beside(self.body, arguments, politely=True)
        if way.process is None or way.process.is_running:
            return None
        way.is_hopeless = way.process.is_refused
        return cast("Call | None", self.code().read(arguments)) if way.process.is_done else None

    def _is_worth_waiting(self, way: _Way) -> bool:
        """True if so much was interpreted here, or by processes that each had a long record to replay."""
        if beside.is_quiet() or way.is_hopeless:
            return False
        if way.ahead >= WORTH_READING and not way.was_noted:
            way.was_noted = True
            return _replayed(self.body.__name__, way.ahead) >= WORTH_WAITING
        is_helped = way.process is not None and (way.process.is_running or way.process.is_refused)
        return way.spent >= WORTH_WAITING and not is_helped

    def _may_be_on_disk(self) -> bool:
        folder = cache_folder()
        return folder is not None and any(folder.glob(f"*.{self.body.__name__}-*.nbc"))


class _Large:
    """Marks the arguments of a problem that is too large to be interpreted."""


def _types(arguments: Sequence[Any]) -> Iterator[type]:
    """Yield the types of arguments, also of the fields of records; a record may say that it `is_large`."""
    for each in arguments:
        yield type(each)
        if isinstance(each, tuple):
            yield from _types(each)
            if getattr(each, "is_large", False):
                yield _Large


def _replayed(name: str, seconds: float) -> float:
    """Return the seconds that processes have spent, or will, on replaying long records with this kernel; keep them."""
    folder = cache_folder()
    if folder is None:
        return seconds
    place = folder / f"{name}.seconds"
    with suppress(OSError, ValueError):
        seconds += float(place.read_text()) if place.exists() else 0.0
        place.write_text(f"{seconds:.1f}")
    return seconds


@contextmanager
def undivided() -> Iterator[None]:
    """Put off Ctrl-C to the end of this block, in which records may be half changed; a second Ctrl-C ends the block."""
    before = signal.getsignal(signal.SIGINT)
    if before is None or threading.current_thread() is not threading.main_thread():  # signals are not Python's here
        yield
        return
    caught: list[int] = []

    def catch(number: int, frame: Any) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, catch)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if len(caught) == 1:
            signal.raise_signal(signal.SIGINT)


def _announce(kernels: int) -> None:
    for listener in _listeners:
        listener(kernels)


# --- for the whole process --------------------------------------------------------------------------------------------


@functools.cache
def has_compiler() -> bool:
    """True if numba is installed."""
    return importlib.util.find_spec("numba") is not None


def tier() -> str:
    """Return the tier of now: "interpreted", "compiled" or "auto"."""
    forced = _forced[-1] if _forced else os.environ.get(VARIABLE) or AUTO
    wanted = forced() if callable(forced) else forced
    if wanted not in TIERS:
        raise SettingsError(f"{VARIABLE} is {wanted!r}; expected one of {', '.join(TIERS)}")
    if has_compiler():
        return wanted
    if wanted == COMPILED:
        raise SettingsError(f"{VARIABLE} is {COMPILED!r}, but numba is not installed: pip install numba")
    return INTERPRETED


@contextmanager
def forced(wanted: str | Callable[[], str]) -> Iterator[None]:
    """Run every kernel in this block in this tier, or in the one that a function says call by call."""
    _forced.append(wanted)
    try:
        yield
    finally:
        _forced.pop()


@contextmanager
def announcing(say: Callable[[int], None]) -> Iterator[None]:
    """Call `say` with how many kernels are to be compiled, whenever this process waits for that."""
    _listeners.append(say)
    try:
        yield
    finally:
        _listeners.remove(say)


def cache_hits() -> tuple[int, int]:
    """Return how many kernels this process loaded from disk, and how many it compiled."""
    codes = [kernel._code for kernel in _kernels if kernel._code is not None]
    return sum(code.loaded for code in codes), sum(code.compiled for code in codes)
