"""The longest tests come first, so that no worker is left with one at the end; databases for those who need one."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from paretoguard.compiler.beside import nobody_beside
from paretoguard.engine.loop import advance
from paretoguard.geometry.nearest_alternative import entering_alternative, nearest_alternative
from servers import Server

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background; Ctrl-C is tested in processes begun here
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = (
    "test_papers.py::test_smoke", "test_twin.py::test_the_engine_decides_as_the_twin_does_with_every_evidence",
    "test_twin.py::test_the_engine_decides_as_the_twin_does_where_scales", "test_laws.py::test_whole_checks",
    "test_docs.py::test_python_examples_run[extending.md]", "test_trace.py::test_a_trace_ends",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(name in item.nodeid for name in LONG))


WORTH_COMPILING = (
    2.0  # seconds that a study or a bound is interpreted by this worker before it is compiled, for all of them
)


@pytest.fixture(scope="session", autouse=True)
def few_kernels() -> Iterator[None]:
    """Interpret what is little work, also of studies; compile nothing else unless a test asks for it."""
    advance.at_once = False
    for kernel in (advance, nearest_alternative, entering_alternative):
        kernel._is_worth_waiting = lambda way: way.spent >= WORTH_COMPILING  # type: ignore[method-assign]
    with nobody_beside():
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server for all tests of this worker."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
def postgresql(server: Server) -> Iterator[str]:
    """The URL of an empty database in it."""
    with server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledgers.db'}"
    return str(request.getfixturevalue("postgresql"))
