"""Ledgers in a database: SQLite (a file, the default) or PostgreSQL, by SQLAlchemy.

One row an event. A change of a ledger first locks it (SQLite: the database, BEGIN IMMEDIATE; PostgreSQL: the ledger's
row), so that no two events can have one number and no decision rests on a state that has passed. A commit is on disk
when it returns: SQLite runs with a write-ahead log and full synchronisation.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    ProgrammingError,
    SQLAlchemyError,
)

from paretoguard.errors import StorageError
from paretoguard.experiment.events import START, Draft, Event, chain
from paretoguard.experiment.storage import Make, taken, unknown

BUSY_SECONDS = 30.0  # how long to wait for others
AT_ONCE = 10_000  # rows
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}

_tables = sa.MetaData()
_ledger = sa.Table(
    "paretoguard_ledger",
    _tables,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("sequence", sa.BigInteger, nullable=False),  # of the last event
    sa.Column("hash", sa.String(64), nullable=False),
)
_event = sa.Table(
    "paretoguard_event",
    _tables,
    sa.Column("ledger", sa.String, sa.ForeignKey("paretoguard_ledger.name"), primary_key=True),
    sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("line", sa.Text, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sqlite_with_rowid=False,
)
_select = (
    sa.select(_event.c.sequence, _event.c.line, _event.c.hash)
    .where(_event.c.ledger == sa.bindparam("name"), _event.c.sequence > sa.bindparam("after"))
    .order_by(_event.c.sequence)
)
_head = sa.select(_ledger.c.sequence, _ledger.c.hash).where(_ledger.c.name == sa.bindparam("name"))
_locked_head = _head.with_for_update()
_advance = (
    sa.update(_ledger)
    .where(_ledger.c.name == sa.bindparam("whose"))
    .values(sequence=sa.bindparam("sequence"), hash=sa.bindparam("hash"))
)


class SqlStorage:
    """Ledgers in the database at a URL."""

    def __init__(self, url: str) -> None:
        self._url = _address(url)
        self._shown = self._url.render_as_string(hide_password=True)
        self._is_sqlite = self._url.get_backend_name() == "sqlite"
        self._engine = self._connect()
        self._process = os.getpid()
        self._is_ready = False  # the tables are there

    def _connect(self) -> sa.Engine:
        if not self._is_sqlite:
            try:
                return sa.create_engine(self._url, pool_pre_ping=True)
            except ModuleNotFoundError as error:
                message = f"{self._shown} needs {error.name}: pip install 'paretoguard[postgres]'"
                raise StorageError(message) from None
        engine = sa.create_engine(self._url, connect_args={"timeout": BUSY_SECONDS})
        sa.event.listen(engine, "connect", _prepare)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def create(self, name: str, first: Draft) -> Event:
        """Begin a ledger."""
        event = chain([first], 0, START)[0]
        self.restore(name, [event])
        return event

    def restore(self, name: str, events: list[Event]) -> None:
        """Begin a ledger with these events."""
        with self._transaction(writes=True) as connection:
            try:
                last = events[-1]
                connection.execute(sa.insert(_ledger), {"name": name, "sequence": last.sequence, "hash": last.hash})
            except IntegrityError:
                raise taken(name) from None
            _insert(connection, name, events)

    def names(self) -> list[str]:
        """The names of all ledgers."""
        with self._transaction(writes=False) as connection:
            return sorted(connection.execute(sa.select(_ledger.c.name)).scalars())

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        """The events that follow event `after`."""
        with self._transaction(writes=False) as connection:
            if connection.execute(_head, {"name": name}).one_or_none() is None:
                raise unknown(name, self.names())
            rows = connection.execution_options(yield_per=AT_ONCE).execute(_select, {"name": name, "after": after})
            for row in rows:
                yield Event(*row)

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        """Add the events that `make` drafts."""
        with self._transaction(writes=True) as connection:
            head = connection.execute(_head if self._is_sqlite else _locked_head, {"name": name}).one_or_none()
            if head is None:
                raise unknown(name, list(connection.execute(sa.select(_ledger.c.name)).scalars()))
            rows = connection.execute(_select, {"name": name, "after": after}) if head.sequence > after else ()
            added = chain(make([Event(*row) for row in rows]), head.sequence, head.hash)
            if added:
                _insert(connection, name, added)
                connection.execute(_advance, {"whose": name, "sequence": added[-1].sequence, "hash": added[-1].hash})
        return added

    def close(self) -> None:
        """Let go of the connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        if os.getpid() != self._process:  # a fork must not share connections
            self._engine.dispose(close=False)
            self._process = os.getpid()
        with self._failures():
            if not self._is_ready:
                self._make_tables()
            with self._engine.connect().execution_options(writes=writes) as connection, connection.begin():
                yield connection

    def _make_tables(self) -> None:
        """Two processes may do so at once."""
        try:
            with self._engine.connect().execution_options(writes=True) as connection, connection.begin():
                _tables.create_all(connection)
        except (IntegrityError, ProgrammingError):
            if not sa.inspect(self._engine).has_table(_event.name):
                raise
        self._is_ready = True

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._failure(str(error.orig).strip()) from error
        except SQLAlchemyError as error:
            raise self._failure(str(error)) from error

    def _failure(self, why: str) -> StorageError:
        if "is locked" in why:
            return StorageError(
                f"{self._shown} is in use: another process has held it for more than {BUSY_SECONDS:g} s; try again"
            )
        if "unable to open" in why:
            return StorageError(f"cannot open {self._shown}: is there such a folder, and may you write to it?")
        if "is full" in why:
            return StorageError(f"{self._shown}: {why}; nothing of this change was recorded: make room and try again")
        if "not a database" in why or "malformed" in why:
            return StorageError(f"{self._shown} is no SQLite database, or a damaged one ({why})")
        return StorageError(f"{self._shown}: {why}")


def _address(url: str) -> URL:
    try:
        given = make_url(url)
        backend = given.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise StorageError(f"storage is {url!r}, expected a URL such as sqlite:///paretoguard.db ({error})") from None
    if backend not in DRIVERS:
        raise StorageError(f"storage {url!r} is not known; expected sqlite:///FILE or postgresql://USER@HOST/DATABASE")
    if backend == "sqlite" and given.database in (None, "", ":memory:"):
        raise StorageError(f"storage {url!r} would be lost with this process; give a file: sqlite:///FILE")
    return given.set(drivername=DRIVERS[backend])


def _prepare(connection: Any, record: Any) -> None:
    """Durable commits, and transactions that begin where we say so."""
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _insert(connection: Connection, name: str, events: list[Event]) -> None:
    rows = [{"ledger": name, "sequence": event.sequence, "line": event.line, "hash": event.hash} for event in events]
    for first in range(0, len(rows), AT_ONCE):
        connection.execute(sa.insert(_event), rows[first : first + AT_ONCE])
