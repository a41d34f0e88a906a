"""The book of a room in the database."""

import functools
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

import attrs
from sqlalchemy import ColumnElement, Select, Update, bindparam, func, literal_column, select

from letagents.adapters.rooms import local_rows, local_seats
from letagents.adapters.rooms.book import (
    EVERYTHING,
    SPEAKER,
    SYSTEM,
    Admins,
    Book,
    Kind,
    Where,
)
from letagents.adapters.rooms.local_rows import SeatRow
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import MESSAGES, ROOMS, SESSIONS, THINGS, written
from letagents.domain import messages, rooms
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.sessions import Session
from letagents.domain.ticks import Tick
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes
from letagents.wire import kept

V = TypeVar("V")
T = TypeVar("T")

_FACTS = ("state", "is_open", "about", "by", "also")

# The name of a kind and the limit stand in the text of each statement. Of a parameter there, SQLite
# asks of each value anew whether an index serves that is only for some, and prepares the statement
# again, which takes longer than to run it.


def _of(kind: str) -> ColumnElement[bool]:
    return THINGS.c.kind == literal_column(f"'{kind}'")


@functools.cache
def _getting(kind: str) -> Select[Any]:
    return select(THINGS.c.value).where(
        THINGS.c.room_id == bindparam("room_id"), _of(kind), THINGS.c.key == bindparam("name")
    )


@functools.cache
def _numbering(kind: str) -> Select[Any]:
    """Return the statement for the highest number of a kind."""
    of_kind = select(THINGS.c.number).where(THINGS.c.room_id == bindparam("room_id"), _of(kind))
    return of_kind.order_by(THINGS.c.number.desc()).limit(literal_column("1"))


_INSERT = THINGS.insert()


@functools.cache
def _putting(kind: str) -> Update:
    """Return the statement that puts a thing in the place of the one of its name."""
    kept_facts = ("number", *_FACTS, "value")
    return (
        THINGS.update()
        .where(
            THINGS.c.room_id == bindparam("at_room"), _of(kind), THINGS.c.key == bindparam("name")
        )
        .values({THINGS.c[name]: bindparam(name) for name in kept_facts})
    )


_LIVE = (
    select(*local_rows.SEAT)
    .where(SESSIONS.c.room_id == bindparam("room_id"), SESSIONS.c.ended_at.is_(None))
    .order_by(SESSIONS.c.created_at, SESSIONS.c.session_id)
)
_SAID = select(MESSAGES.c.number).where(
    MESSAGES.c.room_id == bindparam("room_id"),
    MESSAGES.c.agent_key == SPEAKER,
    MESSAGES.c.client_key == bindparam("client_key"),
)
_LAST = select(ROOMS.c.last_number).where(ROOMS.c.room_id == bindparam("room_id"))
_SAW = (
    SESSIONS.update()
    .where(
        SESSIONS.c.room_id == bindparam("at_room"),
        SESSIONS.c.session_id == bindparam("of_session"),
    )
    .values(seen_boot=bindparam("boot"), seen_seconds=bindparam("seconds"))
)
_SAY = MESSAGES.insert()
_COUNT = (
    ROOMS.update()
    .where(ROOMS.c.room_id == bindparam("at_room"))
    .values(last_number=bindparam("number"), active_at=bindparam("now"))
)


@functools.cache
def _finding(kind: str, given: tuple[str, ...], *, newest_first: bool, limit: int) -> Select[Any]:
    """Return the statement for the facts that are given; there are few, and each is built once."""
    order = THINGS.c.number.desc() if newest_first else THINGS.c.number
    found = _fitting(select(THINGS.c.value), kind, given)
    return found.order_by(order).limit(literal_column(str(limit)))


def _rounded(limit: int) -> int:
    """Return the next power of two, so that there are few statements."""
    return 1 << max(limit - 1, 0).bit_length()


@functools.cache
def _counting(kind: str, given: tuple[str, ...]) -> Select[Any]:
    return _fitting(select(func.count()).select_from(THINGS), kind, given)


def _fitting(statement: Select[Any], kind: str, given: tuple[str, ...]) -> Select[Any]:
    statement = statement.where(THINGS.c.room_id == bindparam("room_id"), _of(kind))
    for name in given:
        if name == "after":
            statement = statement.where(THINGS.c.number > bindparam("after"))
        elif name == "before":
            statement = statement.where(THINGS.c.number < bindparam("before"))
        elif name in ("open", "closed"):
            is_open = THINGS.c.is_open
            statement = statement.where(is_open if name == "open" else ~is_open)
        else:
            statement = statement.where(THINGS.c[name] == bindparam(f"with_{name}"))
    return statement


def _given(where: Where) -> tuple[tuple[str, ...], dict[str, object]]:
    """Return which facts are asked for, and their values as the statement takes them."""
    facts = {
        f"with_{name}": value
        for name in ("state", "about", "by", "also")
        if (value := getattr(where, name)) is not None
    }
    names = [name.removeprefix("with_") for name in facts]
    if where.is_open is not None:
        names.append("open" if where.is_open else "closed")
    bounds = {name: getattr(where, name) for name in ("after", "before")}
    given = {name: value for name, value in bounds.items() if value is not None}
    return (*names, *given), {**facts, **given}


@attrs.define(eq=False)
class LocalBook:
    """One room within one transaction on the database."""

    room_id: RoomId
    caller: Session | None
    is_admin: bool
    now: datetime
    tick: Tick
    ids: Ids
    grace: timedelta
    _unit: Unit
    _processes: Processes

    def get(self, kind: Kind[V], key: str) -> V | None:
        """Return the thing of that name."""
        row = self._unit.row(_getting(kind.name), room_id=self.room_id.value, name=key)
        return None if row is None else kept.read(row[0], kind.of)

    def find(self, kind: Kind[V], where: Where = EVERYTHING) -> list[V]:
        """Return the things that fit."""
        given, facts = _given(where)
        limit = _rounded(where.limit)
        statement = _finding(kind.name, given, newest_first=where.newest_first, limit=limit)
        rows = self._unit.rows(statement, room_id=self.room_id.value, **facts)
        return [kept.read(value, kind.of) for (value,) in rows[: where.limit]]

    def count(self, kind: Kind[V], where: Where = EVERYTHING) -> int:
        """Return how many things fit."""
        given, facts = _given(where)
        row = self._unit.row(_counting(kind.name, given), room_id=self.room_id.value, **facts)
        return int(row[0]) if row else 0

    def next_number(self, kind: Kind[V]) -> int:
        """Return one more than the highest number."""
        row = self._unit.row(_numbering(kind.name), room_id=self.room_id.value)
        return (row[0] if row else 0) + 1

    def put(self, kind: Kind[V], value: V) -> None:
        """Keep `value`."""
        facts: dict[str, object] = {
            "number": kind.number(value),
            "value": kept.written(value),
            **{name: getattr(kind, name)(value) for name in _FACTS},
        }
        where = {"at_room": self.room_id.value, "name": kind.key(value)}
        self._unit.change(_putting(kind.name), {**facts, **where})
        if self._unit.cursor.rowcount == 0:
            names = {"room_id": self.room_id.value, "kind": kind.name, "key": kind.key(value)}
            self._unit.change(_INSERT, {**facts, **names})

    def session(self, session_id: SessionId) -> Session | None:
        """Return a session of the room."""
        seat = local_seats.seat(self._unit, self.room_id, session_id)
        return None if seat is None else seat.session

    def sessions(self) -> list[Session]:
        """Return the sessions that have not ended."""
        rows = self._unit.rows(_LIVE, room_id=self.room_id.value)
        return [SeatRow._make(row).seat(self.room_id).session for row in rows]

    def is_alive(self, process: str | None) -> bool | None:
        """Whether that process is there."""
        return None if process is None else self._processes.is_alive(process)

    def last_seen(self, process: str | None) -> Tick | None:
        """Return when that process was there last."""
        return None if process is None else self._processes.last_seen(process)

    def saw(self, session_id: SessionId) -> None:
        """Note that the process of a session is there now."""
        facts = {"boot": self.tick.boot, "seconds": self.tick.seconds}
        where = {"at_room": self.room_id.value, "of_session": session_id.value}
        self._unit.change(_SAW, {**facts, **where})

    def message(self, number: int) -> Message | None:
        """Return the message of that number."""
        return local_rows.message_numbered(self._unit, self.room_id, number)

    def say(
        self,
        text: str,
        *,
        key: str,
        source: str = SYSTEM,
        prompt_kind: str | None = None,
        session_id: SessionId | None = None,
    ) -> Message:
        """Let the room itself say `text`, once for each key."""
        room_id = self.room_id.value
        said = self._unit.row(_SAID, room_id=room_id, client_key=key)
        number = said[0] if said else self._insert(text, key, source, prompt_kind, session_id)
        message = self.message(number)
        assert message is not None  # noqa: S101  # it was just found, or made
        return message

    def _insert(
        self,
        text: str,
        key: str,
        source: str,
        prompt_kind: str | None,
        session_id: SessionId | None,
    ) -> int:
        room_id, said_at = self.room_id.value, written(self.now)
        last = self._unit.row(_LAST, room_id=room_id)
        number = messages.next_number(last[0] if last else 0)
        facts: Mapping[str, object] = {
            "room_id": room_id,
            "number": number,
            "session_id": session_id and session_id.value,
            "agent_key": SPEAKER,
            "sender": SPEAKER,
            "text": text,
            "source": source,
            "prompt_kind": prompt_kind,
            "said_at": said_at,
            "reply_to": None,
            "thread_root": None,
            "client_key": key,
        }
        self._unit.change(_SAY, facts)
        self._unit.change(_COUNT, {"at_room": room_id, "number": number, "now": said_at})
        return number


@attrs.frozen
class Books:
    """Hands out the books of a store."""

    _store: LocalStore
    _ids: Ids
    _clock: Clock
    _processes: Processes
    _admins: Admins
    _grace: timedelta

    def change(self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None) -> T:
        """Return what `work` returns once what it put down is committed."""
        return self._store.write(lambda unit: work(self._open(unit, room_id, fence)))

    def look(self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None) -> T:
        """Return what `work` finds in one state of the database."""
        return self._store.read(lambda unit: work(self._open(unit, room_id, viewer)))

    def _open(self, unit: Unit, room_id: RoomId, fence: Fence | None) -> LocalBook:
        if unit.row(_LAST, room_id=room_id.value) is None:
            raise rooms.missing(room_id)
        caller = local_seats.admitted(unit, room_id, fence).session if fence else None
        return self.of(unit, room_id, caller)

    def of(self, unit: Unit, room_id: RoomId, caller: Session | None) -> LocalBook:
        """Return the book of a room in which `caller` has been admitted, or nobody acts."""
        now, tick = self._clock.now(), self._clock.tick()
        is_admin = self._admins(caller)
        processes = self._processes
        return LocalBook(
            room_id, caller, is_admin, now, tick, self._ids, self._grace, unit, processes
        )
