"""Rooms and the places in them: made, found, taken, ended, each in one transaction."""

import functools
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, literal_column, select

from letagents.adapters.rooms import local_rows
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.stirred import Stirred
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import ROOMS, SESSIONS, written
from letagents.domain import fencing, locators, rooms, sessions
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Resumed, Seat, Session, SessionKind
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.processes import Processes

if TYPE_CHECKING:
    from letagents.domain.roster import Listener

_IN_ROOM = SESSIONS.c.room_id == bindparam("room_id")
_WORKER = SESSIONS.c.kind == SessionKind.WORKER.value

EVERY_ROOM = select(*local_rows.ROOM).select_from(local_rows.OF_ROOMS)
_ROOM = EVERY_ROOM.where(ROOMS.c.room_id == bindparam("room_id"))
_ROOMS = EVERY_ROOM.order_by(ROOMS.c.active_at.desc(), ROOMS.c.room_id)
_ROOMS = _ROOMS.limit(rooms.KNOWN_LIMIT)
_LOCATED = EVERY_ROOM.where(
    ROOMS.c.parent_room_id == bindparam("parent"), ROOMS.c.focus_key == bindparam("key")
)
_MAKE_ROOM = ROOMS.insert()
_SEAT = select(*local_rows.SEAT).where(_IN_ROOM, SESSIONS.c.session_id == bindparam("session_id"))
_ENTERED = (
    select(ROOMS.c.last_number, ROOMS.c.roster_changes, ROOMS.c.parent_room_id, *local_rows.SEAT)
    .outerjoin(
        SESSIONS,
        and_(
            SESSIONS.c.room_id == ROOMS.c.room_id,
            SESSIONS.c.session_id == bindparam("session_id"),
        ),
    )
    .where(ROOMS.c.room_id == bindparam("room_id"))
)
_BY_SECRET = select(SESSIONS.c.session_id).where(
    _IN_ROOM, SESSIONS.c.token_digest == bindparam("token_digest")
)
_NAMES = select(SESSIONS.c.name_key).where(
    _IN_ROOM, _WORKER, SESSIONS.c.agent_key != bindparam("agent_key")
)
_OTHERS = select(*local_rows.SEAT).where(
    _IN_ROOM,
    _WORKER,
    SESSIONS.c.agent_key == bindparam("agent_key"),
    SESSIONS.c.session_id != bindparam("session_id"),
    SESSIONS.c.ended_at.is_(None),
)
_OPEN = SESSIONS.insert()
_CHANGE = (
    SESSIONS.update()
    .where(
        and_(
            SESSIONS.c.room_id == bindparam("room_id"),
            SESSIONS.c.session_id == bindparam("session_id"),
        )
    )
    .values(
        {
            column: bindparam(column.name)
            for column in SESSIONS.c
            if column.name not in ("room_id", "session_id")
        }
    )
)
_COUNT_CHANGE = (
    ROOMS.update()
    .where(ROOMS.c.room_id == bindparam("at_room"))
    .values(roster_changes=ROOMS.c.roster_changes + literal_column("1"))
)

_RENAME = (
    ROOMS.update()
    .where(ROOMS.c.room_id == bindparam("at_room"))
    .values(display_name=bindparam("display_name"))
)


def create(store: LocalStore, ids: Ids, clock: Clock) -> Room:
    """Make a room that is entered by a new invite code."""

    def create(unit: Unit, room_id: RoomId) -> Room | None:
        is_there = found(unit, room_id) is not None
        return None if is_there else _make(unit, room_id, clock, code=str(room_id))

    while True:
        room_id = RoomId(ids.invite_code())
        made = store.write(functools.partial(create, room_id=room_id), room_id.value)
        if made is not None:
            return made


def join(store: LocalStore, room_id: RoomId, clock: Clock, *, create: bool) -> Room:
    """Return the room, making it if it is not there and may be made."""
    known = store.read(lambda unit: found(unit, room_id))
    if known is not None:
        return known
    if not create:
        raise rooms.missing(room_id)
    rooms.check_may_be_made(room_id)
    return store.write(
        lambda unit: found(unit, room_id) or _make(unit, room_id, clock), room_id.value
    )


def rename(unit: Unit, room_id: RoomId, display_name: str) -> Room:
    """Call a room so, and return it."""
    unit.change(_RENAME, {"at_room": room_id.value, "display_name": display_name})
    renamed = found(unit, room_id)
    assert renamed is not None  # noqa: S101  # it was entered in this transaction
    return renamed


def known(store: LocalStore) -> tuple[Room, ...]:
    """Return the rooms, the latest active first."""
    return tuple(local_rows.room(row) for row in store.read(lambda unit: unit.rows(_ROOMS)))


def connect(
    store: LocalStore,
    room_id: RoomId,
    arrival: Arrival,
    ids: Ids,
    clock: Clock,
    process: str | None = None,
    resumed: "Callable[[Unit, Session, Stirred], tuple[Resumed, ...]] | None" = None,
) -> tuple[Connection, Stirred]:
    """Open a session or take it over, as `process`; `resumed` says what it finds again."""
    from letagents.adapters.rooms import (  # noqa: F401  # loaded here, and not in the transaction
        hearing,
        local_receipts,
    )

    def connect(unit: Unit) -> tuple[Connection, Stirred]:
        _check_there(unit, room_id)
        session_id, now = _session_id(unit, room_id, arrival, ids), clock.now()
        stirred = Stirred()
        before = seat(unit, room_id, session_id)
        after = sessions.arrive(
            arrival,
            before,
            room_id=room_id,
            session_id=session_id,
            taken=_names_of_others(unit, room_id, arrival),
            now=now,
            process=process,
            tick=clock.tick(),
        )
        if after is not before:
            put(unit, before, after, stirred)
            if arrival.ends_earlier_sessions:
                _end_others(unit, after.session, now, stirred)
        if resumed is None or not sessions.may_resume(arrival, before):
            return after.connection(arrival.token), stirred
        found = resumed(unit, after.session, stirred)
        return after.connection(arrival.token, found), stirred

    return store.write(connect, room_id.value)


def disconnect(
    store: LocalStore, room_id: RoomId, fence: Fence, clock: Clock
) -> tuple[Session, Stirred]:
    """End the session."""

    def disconnect(unit: Unit) -> tuple[Session, Stirred]:
        before, stirred = admitted(unit, room_id, fence), Stirred()
        after = sessions.ended(before, now=clock.now(), tick=clock.tick())
        put(unit, before, after, stirred)
        return after.session, stirred

    return store.write(disconnect, room_id.value)


def touch(
    store: LocalStore, room_id: RoomId, fence: Fence, clock: Clock, processes: Processes
) -> None:
    """Write down that the session called from this process."""

    def touch(unit: Unit) -> None:
        before = admitted(unit, room_id, fence)
        process = processes.own if before.session.kind is SessionKind.WORKER else None
        after = sessions.heard(before, now=clock.now(), tick=clock.tick(), process=process)
        put(unit, before, after, Stirred())  # that somebody called concerns nobody

    store.write(touch, room_id.value)


class Entered(NamedTuple):
    """A room as who has entered it finds it, and the seat that a fence admits to."""

    last_number: int
    roster_changes: int
    parent: RoomId | None
    seat: Seat | None


def entered(unit: Unit, room_id: RoomId, fence: Fence | None) -> Entered:
    """Return what who shows `fence`, or nobody, finds in the room.

    Raises:
        UnknownRoom: it is not there.
        ConnectionLost: `fence` admits to no seat.
    """
    asked = fence.session_id.value if fence else None
    row = unit.row(_ENTERED, room_id=room_id.value, session_id=asked)
    if row is None:
        raise rooms.missing(room_id)
    found = None if row[3] is None else local_rows.seat(room_id, row[3:])
    if fence is not None:
        standing, worker = (found.standing, found.session.instance_id) if found else (None, None)
        fencing.admit(fence, standing, worker=worker, room_id=room_id)
    return Entered(row[0], row[1], None if row[2] is None else RoomId(row[2]), found)


def admitted(unit: Unit, room_id: RoomId, fence: Fence) -> Seat:
    """Return the seat that `fence` admits to. Raises as `entered`."""
    found = entered(unit, room_id, fence).seat
    assert found is not None  # noqa: S101  # nobody is admitted to no seat
    return found


def _check_there(unit: Unit, room_id: RoomId) -> None:
    if found(unit, room_id) is None:
        raise rooms.missing(room_id)


def found(unit: Unit, room_id: RoomId) -> Room | None:
    """Return the room of that id, or the focus room that a locator names."""
    row = unit.row(_ROOM, room_id=str(room_id))
    if row is None and (where := locators.located(room_id)) is not None:
        row = unit.row(_LOCATED, parent=str(where.parent), key=where.key)
    return None if row is None else local_rows.room(row)


def _make(unit: Unit, room_id: RoomId, clock: Clock, *, code: str | None = None) -> Room:
    room = Room(room_id, str(room_id), clock.now(), code)
    unit.change(_MAKE_ROOM, facts(room))
    return room


def facts(room: Room) -> dict[str, Any]:
    focus = room.focus
    return {
        "room_id": str(room.room_id),
        "display_name": room.display_name,
        "code": room.code,
        "created_at": written(room.created_at),
        "active_at": written(room.created_at),
        "last_number": 0,
        "roster_changes": 0,
        "parent_room_id": None if focus is None else str(focus.parent),
        "focus_key": None if focus is None else focus.key,
        "focus_number": None if focus is None else focus.number,
    }


def _session_id(unit: Unit, room_id: RoomId, arrival: Arrival, ids: Ids) -> SessionId:
    if arrival.worker_id is not None:
        return sessions.lasting_session_id(arrival.worker_id, room_id)
    known = unit.row(_BY_SECRET, room_id=str(room_id), token_digest=fencing.digest(arrival.token))
    return SessionId(known[0] if known else f"local_{ids.uuid()}")


def seat(unit: Unit, room_id: RoomId, session_id: SessionId) -> Seat | None:
    """Return the seat of that session, ended or not."""
    row = unit.row(_SEAT, room_id=str(room_id), session_id=str(session_id))
    return None if row is None else local_rows.seat(room_id, row)


def _names_of_others(unit: Unit, room_id: RoomId, arrival: Arrival) -> frozenset[str]:
    rows = unit.rows(_NAMES, room_id=str(room_id), agent_key=arrival.agent_key)
    return frozenset(name for (name,) in rows)


def _end_others(unit: Unit, session: Session, now: datetime, stirred: Stirred) -> None:
    others = unit.rows(
        _OTHERS,
        room_id=str(session.room_id),
        agent_key=session.agent_key,
        session_id=str(session.session_id),
    )
    for row in others:
        before = local_rows.seat(session.room_id, row)
        put(unit, before, sessions.ended(before, now=now), stirred)


def put(unit: Unit, before: Seat | None, after: Seat, stirred: Stirred) -> None:
    """Keep a seat, and count the change if it is one of who is in the room."""
    stirred.took(before, after)
    unit.change(_OPEN if before is None else _CHANGE, local_rows.seat_facts(after))
    if _listed(before) != _listed(after):
        unit.change(_COUNT_CHANGE, {"at_room": str(after.session.room_id)})
    ended_at = after.session.ended_at
    if _listed(before) is not None and ended_at is not None:
        from letagents.adapters.rooms import local_receipts

        stirred.receipts |= local_receipts.left(unit, after.session, ended_at)


def _listed(seat: Seat | None) -> "tuple[datetime, Listener] | None":
    """Return what a seat adds to the roster of its room."""
    if seat is None or not seat.is_live or seat.session.kind is not SessionKind.WORKER:
        return None
    from letagents.adapters.rooms import hearing

    return seat.session.created_at, hearing.listener(seat.session)
