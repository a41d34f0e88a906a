"""The threads of a room in the database: which there are, and who spoke in one."""

import functools
from typing import Any

from sqlalchemy import Select, and_, bindparam, case, func, literal_column, or_, select

from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import MESSAGES
from letagents.domain.ids import RoomId
from letagents.domain.threads import Tally, Voice

_IN_ROOM = MESSAGES.c.room_id == bindparam("room_id")
_IN_A_THREAD = MESSAGES.c.thread_root.is_not(None)
_LATEST = func.max(MESSAGES.c.number)

_IS_UNREAD = and_(_IN_A_THREAD, MESSAGES.c.number > bindparam("read_to"))
_VOICES = (
    select(
        MESSAGES.c.sender,
        MESSAGES.c.source,
        func.count(),
        _LATEST,
        func.sum(case((_IS_UNREAD, literal_column("1")), else_=literal_column("0"))),
    )
    .where(
        _IN_ROOM,
        or_(MESSAGES.c.thread_root == bindparam("root"), MESSAGES.c.number == bindparam("root")),
    )
    .group_by(MESSAGES.c.sender, MESSAGES.c.source)
    .order_by(_LATEST.desc())
)


@functools.cache
def _threads(limit: int) -> Select[Any]:
    return (
        select(MESSAGES.c.thread_root, func.count(), _LATEST)
        .where(_IN_ROOM, _IN_A_THREAD)
        .group_by(MESSAGES.c.thread_root)
        .order_by(_LATEST.desc())
        .suffix_with(f"LIMIT {limit}")
    )


def threads(unit: Unit, room_id: RoomId, limit: int) -> list[Tally]:
    """Return the threads with the newest replies, those first."""
    rows = unit.rows(_threads(limit), room_id=room_id.value)
    return [Tally(root, replies, latest) for root, replies, latest in rows]


def voices(unit: Unit, room_id: RoomId, root: int, read_to: int) -> list[Voice]:
    """Return who spoke in a thread, the last first, and how many replies come after `read_to`."""
    rows = unit.rows(_VOICES, room_id=room_id.value, root=root, read_to=read_to)
    return [
        Voice(sender=sender, source=source, messages=count, latest=latest, unread=int(unread))
        for sender, source, count, latest, unread in rows
    ]
