"""The receipts of rooms in a database: added with their message, moved with what moves them."""

from collections.abc import Collection, Iterable
from datetime import datetime

import attrs
from sqlalchemy import bindparam, func, literal_column, select

from letagents.adapters.rooms import slips
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import (
    HAS_CHANGED,
    RECEIPTS,
    SESSIONS,
    UNSETTLED,
    moment,
    written,
)
from letagents.domain.activation import Reason
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.receipts import Receipt, Recipient, State
from letagents.domain.sessions import Session, SessionKind

_COLUMNS = (
    RECEIPTS.c.number,
    RECEIPTS.c.agent_key,
    RECEIPTS.c.session_id,
    RECEIPTS.c.actor_label,
    RECEIPTS.c.reason,
    RECEIPTS.c.state,
    RECEIPTS.c.changed,
    RECEIPTS.c.created_at,
    RECEIPTS.c.updated_at,
)
_IN_ROOM = RECEIPTS.c.room_id == bindparam("room_id")
_ADD = RECEIPTS.insert()
_OF_MESSAGE = (
    select(*_COLUMNS)
    .where(_IN_ROOM, RECEIPTS.c.number == bindparam("number"))
    .order_by(RECEIPTS.c.agent_key)
)
_OF_AGENT = select(*_COLUMNS).where(
    _IN_ROOM,
    RECEIPTS.c.number == bindparam("number"),
    RECEIPTS.c.agent_key == bindparam("agent_key"),
)
_OPEN = (
    select(*_COLUMNS)
    .where(
        _IN_ROOM,
        UNSETTLED,
        RECEIPTS.c.session_id == bindparam("session_id"),
        RECEIPTS.c.state != literal_column(f"'{State.UNAVAILABLE.value}'"),
    )
    .order_by(RECEIPTS.c.number)
)
_LAST_CHANGE = select(func.max(RECEIPTS.c.changed)).where(_IN_ROOM, HAS_CHANGED)
_CHANGED = (
    select(RECEIPTS.c.number, RECEIPTS.c.changed)
    .where(_IN_ROOM, HAS_CHANGED, RECEIPTS.c.changed > bindparam("after"))
    .order_by(RECEIPTS.c.changed, RECEIPTS.c.number)
    .limit(bindparam("limit"))
)
_MOVE = (
    RECEIPTS.update()
    .where(
        RECEIPTS.c.room_id == bindparam("at_room"),
        RECEIPTS.c.number == bindparam("of_number"),
        RECEIPTS.c.agent_key == bindparam("of_agent"),
    )
    .values(
        {
            column: bindparam(column.name)
            for column in (
                RECEIPTS.c.session_id,
                RECEIPTS.c.state,
                RECEIPTS.c.changed,
                RECEIPTS.c.updated_at,
            )
        }
    )
)
_IN_SIGHT = select(*_COLUMNS).where(
    _IN_ROOM, RECEIPTS.c.number.between(bindparam("first"), bindparam("last"))
)
_HEIR = (
    select(SESSIONS.c.session_id)
    .where(
        SESSIONS.c.room_id == bindparam("room_id"),
        SESSIONS.c.agent_key == bindparam("agent_key"),
        SESSIONS.c.ended_at.is_(None),
        SESSIONS.c.kind == SessionKind.WORKER.value,
    )
    .order_by(SESSIONS.c.created_at, SESSIONS.c.session_id)
    .limit(bindparam("limit"))
)
WAITS = (
    select(literal_column("1"))
    .select_from(RECEIPTS)
    .where(
        RECEIPTS.c.room_id == bindparam("room_id"),
        UNSETTLED,
        RECEIPTS.c.session_id == bindparam("session_id"),
    )
    .exists()
)
"""Whether a session has receipts that it has not acknowledged."""


def add(
    unit: Unit, room_id: RoomId, number: int, found: Iterable[Recipient], now: datetime
) -> None:
    """Keep a receipt for each whom a message wakes that is said now."""
    at = written(now)
    for recipient in found:
        listener = recipient.listener
        unit.change(
            _ADD,
            {
                "room_id": room_id.value,
                "number": number,
                "agent_key": listener.agent_key,
                "session_id": listener.session_id.value,
                "actor_label": listener.actor_label,
                "reason": recipient.reason.value,
                "state": State.QUEUED.value,
                "changed": 0,
                "created_at": at,
                "updated_at": at,
            },
        )


@attrs.frozen
class Slips:
    """The slip box of a room within one transaction."""

    _unit: Unit
    _room_id: RoomId

    def of_message(self, number: int) -> list[Receipt]:
        """Return the receipts of a message."""
        return self._read(self._unit.rows(_OF_MESSAGE, room_id=self._room_id.value, number=number))

    def of_agent(self, numbers: Collection[int], agent_key: str) -> list[Receipt]:
        """Return an agent's receipts for the messages of those numbers."""
        where = {"room_id": self._room_id.value, "agent_key": agent_key}
        rows = (self._unit.row(_OF_AGENT, number=number, **where) for number in numbers)
        return self._read(row for row in rows if row is not None)

    def open_of(self, session_id: SessionId) -> list[Receipt]:
        """Return the receipts of a session that are open."""
        where = {"room_id": self._room_id.value, "session_id": session_id.value}
        return self._read(self._unit.rows(_OPEN, **where))

    def last_change(self) -> int:
        """Return the highest number of a change."""
        row = self._unit.row(_LAST_CHANGE, room_id=self._room_id.value)
        return (row[0] or 0) if row else 0

    def changed(self, after: int, limit: int) -> list[tuple[int, int]]:
        """Return messages whose receipts have changed, each with the number of the change."""
        room_id = self._room_id.value
        rows = self._unit.rows(_CHANGED, room_id=room_id, after=after, limit=limit)
        return [(number, change) for number, change in rows]

    def put(self, receipt: Receipt) -> None:
        """Keep a receipt in the place of the one before."""
        self._unit.change(
            _MOVE,
            {
                "at_room": self._room_id.value,
                "of_number": receipt.message_id.number,
                "of_agent": receipt.agent_key,
                "session_id": receipt.session_id.value,
                "state": receipt.state.value,
                "changed": receipt.changed,
                "updated_at": written(receipt.updated_at),
            },
        )

    def in_sight(self, first: int, last: int, agent_key: str) -> dict[int, "Receipt | None"]:
        """Return which messages have receipts, of those from `first` to `last`.

        Each comes with the one of the agent, if it has one.
        """
        found: dict[int, Receipt | None] = {}
        where = {"room_id": self._room_id.value, "first": first, "last": last}
        for row in self._unit.rows(_IN_SIGHT, **where):
            number, key = row[0], row[1]
            own = _receipt(row) if key == agent_key else None
            found[number] = own or found.get(number)
        return found

    def _read(self, rows: Iterable[Row]) -> list[Receipt]:
        return [_receipt(row) for row in rows]


def _receipt(row: Row) -> Receipt:
    number, agent_key, session_id, label, reason, state, changed, created_at, updated_at = row
    return Receipt(
        message_id=MessageId(number),
        agent_key=agent_key,
        session_id=SessionId(session_id),
        actor_label=label,
        reason=Reason(reason),
        state=State(state),
        changed=changed,
        created_at=moment(created_at),
        updated_at=moment(updated_at),
    )


def left(unit: Unit, session: Session, now: datetime) -> bool:
    """Take note that a session has ended, which is kept as ended by now; say if any moved."""
    room_id = session.room_id
    row = unit.row(_HEIR, room_id=room_id.value, agent_key=session.agent_key, limit=1)
    heir = SessionId(row[0]) if row else None
    return slips.left(Slips(unit, room_id), session.session_id, heir, now)
