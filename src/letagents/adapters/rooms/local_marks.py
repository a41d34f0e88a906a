"""By what it is known whether a wait in a room could find something new: for many rooms at once.

A mark is another one after each change that could end a wait: a message, an event of the board, an
update of what somebody does, an artifact that was published, a receipt that moved, a session that
was opened, taken over or ended, and a thing that falls due sooner. It says nothing of all else that
rooms keep.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import BindParameter, ScalarSelect, bindparam, func, select

from letagents.adapters.rooms.kept.dues import DUES
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.stirred import TOLD
from letagents.adapters.sql.tables import HAS_CHANGED, RECEIPTS, ROOMS, SESSIONS, THINGS
from letagents.domain.ids import RoomId

_ROOM: BindParameter[str] = bindparam("room_id")


def _newest(kind: str) -> ScalarSelect[int]:
    found = select(func.max(THINGS.c.number))
    return found.where(THINGS.c.room_id == _ROOM, THINGS.c.kind == kind).scalar_subquery()


_DUE = (
    select(func.min(THINGS.c.number))
    .where(THINGS.c.room_id == _ROOM, THINGS.c.kind == DUES.name, THINGS.c.is_open)
    .scalar_subquery()
)
_MOVED = (
    select(func.max(RECEIPTS.c.changed))
    .where(RECEIPTS.c.room_id == _ROOM, HAS_CHANGED)
    .scalar_subquery()
)
# Generations only grow: where their sum is the same, nobody came, and who ended is still so.
_OF_SESSIONS = SESSIONS.c.room_id == _ROOM
_HOLDS = select(func.sum(SESSIONS.c.generation)).where(_OF_SESSIONS).scalar_subquery()
_ENDED = select(func.count(SESSIONS.c.ended_at)).where(_OF_SESSIONS).scalar_subquery()

_MARK = select(
    ROOMS.c.last_number, *map(_newest, sorted(TOLD)), _MOVED, _HOLDS, _ENDED, _DUE
).where(ROOMS.c.room_id == _ROOM)


def of(store: LocalStore, room_ids: Collection[RoomId]) -> Mapping[RoomId, object]:
    """Return the marks of those rooms, all from one state of the database."""
    asked = [{"room_id": room_id.value} for room_id in room_ids]
    found = store.read(lambda unit: unit.row_of_each(_MARK, asked))
    return dict(zip(room_ids, found, strict=True))
