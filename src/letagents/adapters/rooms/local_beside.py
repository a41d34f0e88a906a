"""The focus rooms beside a room: found and made, within a transaction of that room."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import bindparam, func, select

from letagents.adapters.rooms import local_rows, local_seats
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import ROOMS
from letagents.adapters.sql.upserts import add_statement
from letagents.domain import focus_rooms
from letagents.domain.focus_rooms import Focus
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room

_BESIDE = local_seats.EVERY_ROOM.where(ROOMS.c.parent_room_id == bindparam("parent"))
_ALL_BESIDE = _BESIDE.order_by(ROOMS.c.focus_number.desc()).limit(focus_rooms.LISTED + 1)
_ONE_BESIDE = _BESIDE.where(ROOMS.c.focus_key == bindparam("key"))
_LAST_BESIDE = select(func.max(ROOMS.c.focus_number))
_MAKE_BESIDE = add_statement(ROOMS, ROOMS.c.focus_number)


def found(unit: Unit, parent: RoomId, key: str | None) -> list[Room]:
    """Return the focus rooms beside a room, the newest first, or the one of that key."""
    if key is None:
        rows = unit.rows(_ALL_BESIDE, parent=parent.value)
    else:
        rows = unit.rows(_ONE_BESIDE, parent=parent.value, key=key)
    return [local_rows.room(row) for row in rows]


def make(
    unit: Unit, focus_of: Callable[[int], Focus], display_name: str, now: datetime
) -> tuple[Room, Focus]:
    """Make a focus room under the first number that none has; others may take one meanwhile."""
    last = unit.row(_LAST_BESIDE)
    number = (last and last[0]) or 0
    while True:
        number += 1
        focus = focus_of(number)
        room = Room(focus.room_id, display_name, now, focus=focus)
        is_free = local_seats.found(unit, room.room_id) is None
        if is_free and unit.changed(_MAKE_BESIDE, local_seats.facts(room)):
            return room, focus
