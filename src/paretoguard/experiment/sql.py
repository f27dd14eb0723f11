"""Ledgers in a database, SQLite or PostgreSQL: one row an event.

A change of a ledger first locks it (SQLite: the database, BEGIN IMMEDIATE; PostgreSQL: the ledger's row), so that no
two events can have one number and no decision rests on a state that has passed.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from paretoguard.errors import LedgerError
from paretoguard.experiment.database import Database
from paretoguard.experiment.events import START, Draft, Event, chain
from paretoguard.experiment.storage import Make, last_of, taken, unknown

MAKING_TABLES = "SELECT pg_advisory_xact_lock(7261954017)"  # any number: two processes may do so at once

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
_head = sa.select(_ledger.c.sequence, _ledger.c.hash).where(_ledger.c.name == sa.bindparam("name"))
_STATEMENTS: dict[str, sa.ClauseElement] = {
    "names": sa.select(_ledger.c.name),
    "head": _head,
    "lock": _head.with_for_update(),
    "read": sa.select(_event.c.sequence, _event.c.line, _event.c.hash)
    .where(_event.c.ledger == sa.bindparam("name"), _event.c.sequence > sa.bindparam("after"))
    .order_by(_event.c.sequence),
    "begin": sa.insert(_ledger),
    "add": sa.insert(_event),
    "advance": sa.update(_ledger)
    .where(_ledger.c.name == sa.bindparam("whose"))
    .values(sequence=sa.bindparam("sequence"), hash=sa.bindparam("hash")),
}
_HAS_TABLES = {
    True: "SELECT 1 FROM sqlite_master WHERE name = 'paretoguard_event'",
    False: "SELECT 1 WHERE to_regclass('paretoguard_event') IS NOT NULL",
}


class SqlStorage:
    """Ledgers in the database at a URL; the methods are those of `Storage`."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self._has_tables = False
        dialect = self._database.engine.dialect
        self._sql = {name: str(statement.compile(dialect=dialect)) for name, statement in _STATEMENTS.items()}

    def create(self, name: str, first: Draft) -> Event:
        event = chain([first], 0, START)[0]
        self.restore(name, [event])
        return event

    def restore(self, name: str, events: list[Event]) -> None:
        sequence, last = last_of(name, events)
        if not self._finds_tables():
            self._make_tables()
        with self._database.transaction(writes=True) as cursor:
            try:
                cursor.execute(self._sql["begin"], {"name": name, "sequence": sequence, "hash": last})
            except self._database.driver.IntegrityError:
                raise taken(name) from None
            self._insert(cursor, name, events)

    def names(self) -> list[str]:
        if not self._finds_tables():
            return []
        with self._database.transaction(writes=False) as cursor:
            return self._names(cursor)

    def head(self, name: str) -> tuple[int, str]:
        with self._within(name, writes=False) as cursor:
            return self._head(cursor, name, "head")

    def events(self, name: str, after: int = 0) -> Iterator[Event]:
        with self._within(name, writes=False) as cursor:
            self._head(cursor, name, "head")
            with closing(self._database.long_cursor(cursor)) as rows:
                rows.execute(self._sql["read"], {"name": name, "after": after})
                yield from map(Event._make, rows)

    def append(self, name: str, after: int, make: Make) -> list[Event]:
        with self._within(name, writes=True) as cursor:
            sequence, last = self._head(cursor, name, "lock")
            rows = cursor.execute(self._sql["read"], {"name": name, "after": after}) if sequence > after else ()
            added = chain(make([Event._make(row) for row in rows]), sequence, last)
            if added:
                self._insert(cursor, name, added)
                sequence, last = last_of(name, added)
                cursor.execute(self._sql["advance"], {"whose": name, "sequence": sequence, "hash": last})
        return added

    def close(self) -> None:
        self._database.close()

    def _finds_tables(self) -> bool:
        """True if the tables are there; they are made only for a first ledger."""
        if not self._has_tables and self._database.exists():
            with self._database.transaction(writes=False) as cursor:
                self._has_tables = bool(cursor.execute(_HAS_TABLES[self._database.is_sqlite]).fetchone())
        return self._has_tables

    def _make_tables(self) -> None:
        with self._database.transaction(writes=True) as cursor:
            if not self._database.is_sqlite:
                cursor.execute(MAKING_TABLES)
            for table in _tables.sorted_tables:
                cursor.execute(str(CreateTable(table, if_not_exists=True).compile(self._database.engine)))
        self._has_tables = True

    def _within(self, name: str, *, writes: bool) -> AbstractContextManager[Any]:
        if not self._finds_tables():
            raise unknown(name, [])
        return self._database.transaction(writes=writes)

    def _names(self, cursor: Any) -> list[str]:
        return sorted(name for (name,) in cursor.execute(self._sql["names"]))

    def _head(self, cursor: Any, name: str, how: str) -> tuple[int, str]:
        found: tuple[int, str] | None = cursor.execute(self._sql[how], {"name": name}).fetchone()
        if found is None:
            raise unknown(name, self._names(cursor))
        return found

    def _insert(self, cursor: Any, name: str, events: list[Event]) -> None:
        rows = ({"ledger": name, **event._asdict()} for event in events)
        try:
            if len(events) == 1:  # a third less time than psycopg's executemany
                cursor.execute(self._sql["add"], next(rows))
            else:
                cursor.executemany(self._sql["add"], rows)
        except self._database.driver.IntegrityError:
            raise LedgerError(
                f"the ledger of {name!r} holds more events than it says, from event {events[0].sequence} on: something "
                "else than paretoguard changed it; nothing was recorded"
            ) from None
