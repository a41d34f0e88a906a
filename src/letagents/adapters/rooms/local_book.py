"""The book of a room in the database."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import attrs
from sqlalchemy import (
    and_,
    bindparam,
    or_,
    select,
)

from letagents.adapters.rooms import (
    hearing,
    local_beside,
    local_reading,
    local_receipts,
    local_rows,
    local_seats,
    local_threads,
    slips,
)
from letagents.adapters.rooms import local_things as things
from letagents.adapters.rooms.book import (
    EVERYTHING,
    SPEAKER,
    SYSTEM,
    Admins,
    Book,
    ByName,
    Kind,
    Lookup,
    Named,
    Where,
    as_in,
)
from letagents.adapters.rooms.kept.focus_records import FOCUS_ROOMS
from letagents.adapters.rooms.local_receipts import Slips
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.stirred import Stirred
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import (
    MESSAGES,
    ROOMS,
    SESSIONS,
    written,
)
from letagents.adapters.sql.upserts import add_statement
from letagents.domain import messages, recipients
from letagents.domain.activation import Spoken
from letagents.domain.fencing import Fence
from letagents.domain.focus_rooms import Focus
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Message
from letagents.domain.receipts import Receipt, State
from letagents.domain.rooms import Room
from letagents.domain.sessions import Seat, Session, SessionKind
from letagents.domain.threads import Summary, Tally, Voice
from letagents.domain.ticks import Tick
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes
from letagents.wire import kept

V = TypeVar("V")
T = TypeVar("T")


_LIVE = (
    select(*local_rows.SEAT)
    .where(SESSIONS.c.room_id == bindparam("room_id"), SESSIONS.c.ended_at.is_(None))
    .order_by(SESSIONS.c.created_at, SESSIONS.c.session_id)
)
_WORKERS = and_(
    SESSIONS.c.room_id == bindparam("room_id"), SESSIONS.c.kind == SessionKind.WORKER.value
)
_BEFORE = (
    select(*local_rows.SEAT)
    .where(
        _WORKERS,
        or_(
            SESSIONS.c.created_at < bindparam("created_at"),
            and_(
                SESSIONS.c.created_at == bindparam("created_at"),
                SESSIONS.c.session_id < bindparam("session_id"),
            ),
        ),
    )
    .order_by(SESSIONS.c.created_at.desc(), SESSIONS.c.session_id.desc())
    .limit(bindparam("limit"))
)
_NEVER = 2**62
"""Later than any moment."""
_OF_PROCESS = select(*local_rows.SEAT).where(
    _WORKERS,
    SESSIONS.c.agent_key == bindparam("agent_key"),
    SESSIONS.c.instance_id == bindparam("instance_id"),
)
_NAMES = select(
    SESSIONS.c.session_id, SESSIONS.c.agent_key, SESSIONS.c.name_key, SESSIONS.c.ended_at
).where(_WORKERS)
_SAID = select(MESSAGES.c.number).where(
    MESSAGES.c.room_id == bindparam("room_id"),
    MESSAGES.c.agent_key == SPEAKER,
    MESSAGES.c.client_key == bindparam("client_key"),
)
_SAW = (
    SESSIONS.update()
    .where(
        SESSIONS.c.room_id == bindparam("at_room"),
        SESSIONS.c.session_id == bindparam("of_session"),
    )
    .values(seen_boot=bindparam("boot"), seen_seconds=bindparam("seconds"))
)
_SAY = add_statement(MESSAGES, MESSAGES.c.room_id, MESSAGES.c.agent_key, MESSAGES.c.client_key)
_COUNT = (
    ROOMS.update()
    .where(ROOMS.c.room_id == bindparam("at_room"))
    .values(last_number=bindparam("number"), active_at=bindparam("now"))
)


_UNKNOWN: tuple[Kind[Any] | None, Any] = (None, None)


@attrs.define(eq=False)
class LocalBook:
    """One room within one transaction on the database.

    What was looked up by its name is not looked up again, nor is what was not there: nobody else
    writes meanwhile.
    """

    room_id: RoomId
    caller: Session | None
    origin: RoomId | None
    parent: RoomId | None
    is_admin: bool
    now: datetime
    tick: Tick
    ids: Ids
    grace: timedelta
    _unit: Unit
    _processes: Processes
    _last_number: int
    _stirred: Stirred
    _known: dict[tuple[str, str], tuple[Kind[Any], Any]] = attrs.field(factory=dict)
    _highest: dict[str, int] = attrs.field(factory=dict)
    _brought: dict[str, dict[Lookup, list[Any]]] = attrs.field(factory=dict)
    _sessions: dict[SessionId, Session | None] = attrs.field(factory=dict)

    def get(self, kind: Kind[V], key: str) -> V | None:
        """Return the thing of that name."""
        of_kind, known = self._known.get((kind.name, key), _UNKNOWN)
        if of_kind is kind or (of_kind is not None and known is None):
            return known  # type: ignore[no-any-return]  # a value of this kind, or None
        row = self._unit.row(things.getting(kind.name), room_id=self.room_id.value, name=key)
        return self._read_named(kind, key, None if row is None else row[0])

    def find(self, kind: Kind[V], where: Where = EVERYTHING) -> list[V]:
        """Return the things that fit."""
        brought = self._brought.get(kind.name)
        if brought is not None and (found := brought.get((kind, where))) is not None:
            return list(found)
        shape, facts = things.shape_of(kind, where)
        rows = self._unit.rows(things.finding(shape), room_id=self.room_id.value, **facts)
        return [self._read(kind, value) for (value,) in rows[: where.limit]]

    def bring(
        self,
        *asked: Lookup,
        named: Sequence[ByName] = (),
        numbered: Sequence[Kind[Any]] = (),
    ) -> None:
        """Look up with one statement what will be asked for."""
        asked = tuple(one for one in asked if one not in self._brought.get(one[0].name, ()))
        named = [one for one in named if (one[0].name, one[1]) not in self._known]
        numbered = [kind for kind in numbered if kind.name not in self._highest]
        found = self._found_at_once(asked, named, numbered)
        for (kind, where), texts in zip(asked, found, strict=False):
            values = [self._read(kind, text) for text in texts]
            values.sort(key=kind.number, reverse=where.newest_first)
            self._brought.setdefault(kind.name, {})[kind, where] = values[: where.limit]
        for (kind, key), texts in zip(named, found[len(asked) :], strict=False):
            self._read_named(kind, key, texts[0] if texts else None)
        for kind, texts in zip(numbered, found[len(asked) + len(named) :], strict=True):
            self._highest[kind.name] = int(texts[0]) if texts else 0

    def _found_at_once(
        self, asked: Sequence[Lookup], named: Sequence[ByName], numbered: Sequence[Kind[Any]]
    ) -> list[list[str]]:
        """Return the texts that fit each, in their order."""
        found: list[list[str]] = [[] for _ in (*asked, *named, *numbered)]
        if not found:
            return found
        shapes: list[things.Shape] = []
        facts: dict[str, object] = {f"name_{at}": key for at, (_, key) in enumerate(named)}
        for at, (kind, where) in enumerate(asked):
            shape, given = things.shape_of(kind, where)
            shapes.append(shape)
            facts.update({f"{name}_{at}": value for name, value in given.items()})
        statement = things.bringing(
            tuple(shapes),
            tuple(kind.name for kind, _ in named),
            tuple(kind.name for kind in numbered),
        )
        for at, text in self._unit.rows(statement, room_id=self.room_id.value, **facts):
            found[at].append(text)
        return found

    def count(self, kind: Kind[V], where: Where = EVERYTHING) -> int:
        """Return how many things fit."""
        given, facts = things.given_by(where)
        row = self._unit.row(things.counting(kind.name, given), room_id=self.room_id.value, **facts)
        return int(row[0]) if row else 0

    def next_number(self, kind: Kind[V]) -> int:
        """Return one more than the highest number."""
        highest = self._highest.get(kind.name)
        if highest is None:
            row = self._unit.row(things.numbering(kind.name), room_id=self.room_id.value)
            highest = self._highest[kind.name] = row[0] if row else 0
        return highest + 1

    def put(self, kind: Kind[V], value: V) -> None:
        """Keep `value`. Of a thing that is known, only what has changed is written."""
        room_id, key, facts = self.room_id.value, kind.key(value), things.facts_of(kind, value)
        before = self._as_known(kind, key)
        self._known[kind.name, key] = kind, value
        if kind.name in self._highest:
            self._highest[kind.name] = max(self._highest[kind.name], kind.number(value))
        self._brought.pop(kind.name, None)
        self._stirred.put(kind.name, is_open=kind.is_open(value))
        facts["value"] = kept.written(value)
        if before is None:
            self._unit.change(
                things.PUT, {**facts, "room_id": room_id, "kind": kind.name, "key": key}
            )
            return
        changed = tuple(
            name for name, was in things.facts_of(kind, before).items() if facts[name] != was
        )
        new = {name: facts[name] for name in (*changed, "value")}
        statement = things.changing(kind.name, changed)
        self._unit.soon(statement, {**new, "at_room": room_id, "name": key}, (kind.name, key))

    def _as_known(self, kind: Kind[V], key: str) -> V | None:
        of_kind, value = self._known.get((kind.name, key), _UNKNOWN)
        return value if of_kind is kind else None

    def _read_named(self, kind: Kind[V], key: str, text: str | None) -> V | None:
        """Return the value that `text` is, or None if there is no thing of that name."""
        if text is not None:
            return self._read(kind, text)
        self._known[kind.name, key] = kind, None
        return None

    def _read(self, kind: Kind[V], text: str) -> V:
        value = kept.read(text, kind.of)
        self._known[kind.name, kind.key(value)] = kind, value
        return value

    def session(self, session_id: SessionId) -> Session | None:
        """Return a session of the room."""
        if session_id not in self._sessions:
            seat = local_seats.seat(self._unit, self.room_id, session_id)
            self._sessions[session_id] = None if seat is None else seat.session
        return self._sessions[session_id]

    def sessions(self) -> list[Session]:
        """Return the sessions that have not ended."""
        rows = self._unit.rows(_LIVE, room_id=self.room_id.value)
        return [local_rows.seat(self.room_id, row).session for row in rows]

    def workers_before(self, session_id: SessionId | None, limit: int) -> list[Session]:
        """Return workers' sessions before that one, the youngest first."""
        start = self.session(session_id) if session_id else None
        since = written(start.created_at) if start else _NEVER
        where = {"created_at": since, "session_id": str(session_id) if start else ""}
        rows = self._unit.rows(_BEFORE, room_id=self.room_id.value, limit=limit, **where)
        return [local_rows.seat(self.room_id, row).session for row in rows]

    def seat(self, session_id: SessionId) -> Seat | None:
        """Return the seat of a session."""
        return local_seats.seat(self._unit, self.room_id, session_id)

    def seats_of(self, agent_key: str, instance_id: str) -> list[Seat]:
        """Return the seats of a worker's process."""
        rows = self._unit.rows(
            _OF_PROCESS,
            room_id=self.room_id.value,
            agent_key=agent_key,
            instance_id=instance_id,
        )
        return [local_rows.seat(self.room_id, row) for row in rows]

    def names(self) -> list[Named]:
        """Return what all workers of the room are called."""
        rows = self._unit.rows(_NAMES, room_id=self.room_id.value)
        return [Named(SessionId(row[0]), row[1], row[2], row[3] is None) for row in rows]

    def take(self, seat: Seat) -> None:
        """Keep a seat."""
        session_id = seat.session.session_id
        local_seats.put(self._unit, self.seat(session_id), seat, self._stirred)
        self._sessions.pop(session_id, None)

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
        self._sessions.pop(session_id, None)

    def beside(self, key: str | None = None) -> list[Room]:
        """Return the focus rooms beside this one, or the one of that key."""
        return local_beside.found(self._unit, self.room_id, key)

    def put_beside(self, make: Callable[[int], Focus], display_name: str) -> Room:
        """Make a room beside this one."""
        room, focus = local_beside.make(self._unit, make, display_name, self.now)
        self.put(FOCUS_ROOMS, focus)
        return room

    def message(self, number: int) -> Message | None:
        """Return the message of that number."""
        return local_rows.message_numbered(self._unit, self.room_id, number)

    def threads(self, limit: int) -> list[Tally]:
        """Return the threads with the newest replies."""
        return local_threads.threads(self._unit, self.room_id, limit)

    def voices(self, root: int, read_to: int) -> list[Voice]:
        """Return who spoke in a thread."""
        return local_threads.voices(self._unit, self.room_id, root, read_to)

    def threads_around(self, first: int, last: int, read_to: ByName) -> list[Summary]:
        """Return the threads of the messages between those numbers."""
        return local_threads.around(self._unit, self.room_id, first, last, read_to)

    def rename(self, display_name: str) -> Room:
        """Call the room so."""
        return local_seats.rename(self._unit, self.room_id, display_name)

    def receipts(self, number: int) -> list[Receipt]:
        """Return the receipts of the message of that number."""
        return self._slips.of_message(number)

    def receipts_changed(self, after: int, limit: int) -> list[tuple[int, int]]:
        """Return the messages whose receipts changed after that change."""
        return self._slips.changed(after, limit)

    def last_receipt_change(self) -> int:
        """Return the number of the last change of a receipt."""
        return self._slips.last_change()

    def show_receipts(self, session: Session, first: int, last: int) -> bool:
        """Note that a session was shown the messages of those numbers; say whether it is news."""
        roster = local_reading.roster_of(self._unit, self.room_id)
        who = hearing.listener(session)
        is_news = slips.shown_among(self._slips, who, roster, first, last, self.now)
        self._stirred.receipts |= is_news
        return is_news

    def declare_receipt(self, session: Session, message_id: MessageId, state: State) -> Receipt:
        """Note how far a session says that it is with a message."""
        roster = local_reading.roster_of(self._unit, self.room_id)
        who = hearing.listener(session)
        self._stirred.receipts = True
        return slips.declared(self._slips, who, roster, message_id, state, self.now)

    def tell_receipts(self, session_id: SessionId, *, is_blocked: bool) -> None:
        """Let the receipts of a session know whether it can go on."""
        moved = slips.told(self._slips, session_id, is_blocked=is_blocked, now=self.now)
        self._stirred.receipts |= moved

    @property
    def _slips(self) -> Slips:
        return Slips(self._unit, self.room_id)

    def say(
        self,
        text: str,
        *,
        key: str,
        source: str = SYSTEM,
        prompt_kind: str | None = None,
        session_id: SessionId | None = None,
    ) -> MessageId:
        """Let the room itself say `text`, once for each key."""
        number, room_id = messages.next_number(self._last_number), self.room_id.value
        said: dict[str, object] = {
            "room_id": room_id,
            "number": number,
            "session_id": session_id and session_id.value,
            "agent_key": SPEAKER,
            "sender": SPEAKER,
            "text": text,
            "source": source,
            "prompt_kind": prompt_kind,
            "said_at": written(self.now),
            "reply_to": None,
            "thread_root": None,
            "client_key": key,
        }
        if self._unit.changed(_SAY, said) == 0:
            return self._said_before(key)
        self._unit.change(_COUNT, {"at_room": room_id, "number": number, "now": said["said_at"]})
        self._last_number = number
        self._stirred.everybody = True
        if recipients.may_wake(text, source, refers=False):
            words = Spoken(number, SPEAKER, text, source, None, session_id, thread_root=number)
            self._address(words)
        return MessageId(number)

    def _address(self, words: Spoken) -> None:
        """Keep a receipt for each whom the room's own words wake."""
        roster = local_reading.roster_of(self._unit, self.room_id)
        found = recipients.recipients(words, roster)
        local_receipts.add(self._unit, self.room_id, words.number, found, self.now)

    def _said_before(self, key: str) -> MessageId:
        said = self._unit.row(_SAID, room_id=self.room_id.value, client_key=key)
        assert said is not None  # noqa: S101  # its key is there
        return MessageId(said[0])


@attrs.frozen
class Books:
    """Hands out the books of a store."""

    _store: LocalStore
    _ids: Ids
    _clock: Clock
    _processes: Processes
    _admins: Admins
    _grace: timedelta

    def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None
    ) -> tuple[T, Stirred]:
        """Return what `work` returns once what it put down is committed, and whom it concerns."""

        def change(unit: Unit) -> tuple[T, Stirred]:
            stirred = Stirred()
            return work(self._open(unit, room_id, fence, stirred)), stirred

        return self._store.write(change, room_id.value)

    def look(self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None) -> T:
        """Return what `work` finds in one state of the database."""
        return self._store.read(lambda unit: work(self._open(unit, room_id, viewer, Stirred())))

    def _open(
        self, unit: Unit, room_id: RoomId, fence: Fence | None, stirred: Stirred
    ) -> LocalBook:
        found = local_seats.entered(unit, room_id, fence)
        caller = found.seat.session if found.seat else None
        origin = fence.origin if fence else None
        return self._of(unit, room_id, caller, found, stirred, origin)

    def begun(self, unit: Unit, room_id: RoomId, stirred: Stirred) -> LocalBook:
        """Return the book of a room in a transaction that has begun, for whoever arrives."""
        return self._open(unit, room_id, None, stirred)

    def of(self, unit: Unit, session: Session, stirred: Stirred) -> LocalBook:
        """Return the book of a session's room, in which it has been admitted."""
        found = local_seats.entered(unit, session.room_id, None)
        return self._of(unit, session.room_id, session, found, stirred)

    def _of(
        self,
        unit: Unit,
        room_id: RoomId,
        caller: Session | None,
        found: local_seats.Entered,
        stirred: Stirred,
        origin: RoomId | None = None,
    ) -> LocalBook:
        return LocalBook(
            room_id,
            caller,
            origin,
            found.parent,
            self._admins(as_in(caller, found.parent)),
            self._clock.now(),
            self._clock.tick(),
            self._ids,
            self._grace,
            unit,
            self._processes,
            found.last_number,
            stirred,
        )
