"""Transactions in a database at a URL, whose failures are StorageErrors in plain words.

A commit is on disk when it returns. SQLAlchemy keeps the connections; statements run on the driver's own cursors,
because SQLAlchemy's take five times as long as what SQLite does in an append.
"""

import os
import random
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError, SQLAlchemyError

from paretoguard.errors import StorageError
from paretoguard.experiment.storage import hidden

BUSY_SECONDS = 30.0  # how long to wait for others
ROWS_AT_ONCE = 10_000  # rows
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_chance = random.SystemRandom()  # of no stream that somebody may have seeded
_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()


class Database:
    """Connections to the database at a URL."""

    def __init__(self, url: str) -> None:
        address = read_address(url)
        backend = address.get_backend_name()
        self.shown = hidden(address.set(drivername=backend).render_as_string(hide_password=True))
        self.is_sqlite = backend == "sqlite"
        self._file = address.database or ""
        self._was_there = False
        self.engine = self._lite(address) if self.is_sqlite else self._postgres(address)
        self.driver = self.engine.dialect.loaded_dbapi
        _databases.add(self)

    def _lite(self, address: URL) -> sa.Engine:
        engine = sa.create_engine(address, paramstyle="named", connect_args={"timeout": BUSY_SECONDS})
        sa.event.listen(engine, "do_connect", self._look_for)
        sa.event.listen(engine, "connect", self._prepare)
        sa.event.listen(engine, "checkout", self._look_again)
        return engine

    def _postgres(self, address: URL) -> sa.Engine:
        patience = {} if "connect_timeout" in address.query else {"connect_timeout": max(2, round(BUSY_SECONDS))}
        try:
            engine = sa.create_engine(address, pool_pre_ping=True, connect_args=patience)
        except ModuleNotFoundError as error:
            message = f"{self.shown} needs {error.name}: pip install 'paretoguard[postgres]'"
            raise StorageError(message) from None
        sa.event.listen(engine, "connect", _settle)
        return engine

    @contextmanager
    def transaction(self, *, writes: bool) -> Iterator[Any]:
        """Give a cursor whose statements take effect together at the end, or not at all."""
        with self._failures(writes), self._connection() as connection:
            cursor = connection.cursor()
            if self.is_sqlite:
                self._begin(cursor, writes)
            yield cursor
            try:
                connection.commit()
            except self.driver.OperationalError as error:
                if self.is_sqlite or not writes:
                    raise
                raise StorageError(
                    f"{self.shown}: the connection broke ({_line(error)}) while a change was being confirmed: it may "
                    "be recorded or not; look before you repeat it"
                ) from error

    def _begin(self, cursor: Any, writes: bool) -> None:
        """Begin a transaction. SQLite's own wait backs off and starves early writers; random pauses are fair."""
        if not writes:
            cursor.execute("BEGIN")
            return
        end = time.monotonic() + BUSY_SECONDS
        cursor.execute("PRAGMA busy_timeout=0")
        try:
            while True:
                try:
                    cursor.execute("BEGIN IMMEDIATE")
                    return
                except self.driver.OperationalError as error:
                    if "is locked" not in str(error) or time.monotonic() > end:
                        raise
                time.sleep(_chance.uniform(0.0005, 0.002))
        finally:
            cursor.execute(f"PRAGMA busy_timeout={round(1000 * BUSY_SECONDS)}")

    def long_cursor(self, cursor: Any) -> Any:
        """Return a cursor that does not fetch all rows at once, in the same transaction."""
        if self.is_sqlite:
            return cursor
        long = cursor.connection.cursor(name="long")  # kept by the server
        long.itersize = ROWS_AT_ONCE
        return long

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        connection = self.engine.raw_connection()
        try:
            yield connection
        except BaseException:
            try:
                connection.rollback()
            except self.driver.Error:
                connection.invalidate()
            raise
        finally:
            connection.close()

    @contextmanager
    def _failures(self, writes: bool) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._failure(_line(error.orig), writes) from error
        except (SQLAlchemyError, self.driver.Error) as error:
            raise self._failure(_line(error), writes) from error

    def _failure(self, why: str, writes: bool) -> StorageError:
        if "is locked" in why or "lock timeout" in why:
            return StorageError(
                f"{self.shown} is in use: another process has held it for more than {BUSY_SECONDS:g} s; try again"
            )
        if "unable to open" in why:
            return StorageError(f"cannot open {self.shown}: is there such a folder, and may you write to it?")
        if "not a database" in why or "malformed" in why:
            return StorageError(f"{self.shown} is no SQLite database, or a damaged one ({why})")
        record = "; nothing of this change was recorded: mend this, and try again" if writes else ""
        return StorageError(f"{self.shown} cannot be used: {why}{record}")

    def exists(self) -> bool:
        """Return False where SQLite would begin a new file."""
        return not self.is_sqlite or os.path.exists(self._file) or not os.path.isdir(os.path.dirname(self._file))

    def close(self) -> None:
        """Close the connections; the next transaction makes new ones."""
        self.engine.dispose()

    def _look_for(self, dialect: Any, record: Any, args: Any, options: Any) -> None:
        """Refuse a file that has gone, where SQLite would begin an empty one."""
        if self._was_there and not os.path.exists(self._file):
            raise StorageError(f"{self.shown} is gone: it was moved or deleted after it was opened; bring it back")

    def _prepare(self, connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
        except self.driver.Error:
            connection.close()
            raise
        record.info["file"] = self._which()
        self._was_there = True

    def _look_again(self, connection: Any, record: Any, proxy: Any) -> None:
        """Drop a connection to a file that was deleted or replaced: it would go on writing there."""
        if record.info["file"] != self._which():
            raise DisconnectionError

    def _which(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _settle(connection: Any, record: Any) -> None:
    """Set what a PostgreSQL server may have been told otherwise."""
    connection.execute("SELECT set_config('lock_timeout', %s, false)", (str(round(1000 * BUSY_SECONDS)),))
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.commit()


def _line(error: object) -> str:
    return " ".join(str(error).split())


def _before_fork() -> None:
    """Close all connections: two processes must not share one, and SQLite's may not be closed by the child."""
    for database in list(_databases):
        database.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def read_address(url: str) -> URL:
    """Return the URL with the driver we use, and with the full path of a file; raise StorageError if it is unusable."""
    try:
        given = make_url(url)
        backend = given.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise StorageError(f"storage is {hidden(url)!r}, expected a URL such as sqlite:///paretoguard.db") from None
    shown = hidden(url)
    if backend not in DRIVERS:
        raise StorageError(
            f"storage {shown!r} is not known; expected sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        )
    given = given.set(drivername=DRIVERS[backend])
    if backend != "sqlite":
        return given
    if given.host:
        raise StorageError(f"storage {shown!r} names a host; a file has three slashes before it: sqlite:///FILE")
    if given.database in (None, "", ":memory:"):
        raise StorageError(f"storage {shown!r} would be lost with this process; give a file: sqlite:///FILE")
    if given.database.startswith("file:"):
        raise StorageError(f"storage {shown!r} gives a URI within the URL; give the file alone: sqlite:///FILE")
    return given.set(database=os.path.abspath(given.database))
