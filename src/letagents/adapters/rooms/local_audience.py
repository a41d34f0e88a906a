"""Whom a message wakes as it is said in a database's rooms, found in its own transaction."""

from collections.abc import Sequence

import attrs
from sqlalchemy import bindparam, or_, select

from letagents.adapters.rooms import hearing, local_reading, local_receipts
from letagents.adapters.rooms.rosters import Rosters
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.tables import MESSAGES
from letagents.domain.ids import RoomId
from letagents.domain.messages import Before, Message
from letagents.domain.roster import Roster

_SPEAKERS = (
    select(MESSAGES.c.agent_key)
    .distinct()
    .where(
        MESSAGES.c.room_id == bindparam("room_id"),
        MESSAGES.c.agent_key.is_not(None),
        or_(
            MESSAGES.c.thread_root == bindparam("root"),
            MESSAGES.c.number == bindparam("root"),
        ),
    )
)


@attrs.define
class Hearers:
    """Those who are in a room that has counted so many `changes` of them."""

    _unit: Unit
    _room_id: RoomId
    _rosters: Rosters
    _changes: int

    def addressed(self, said: Message) -> Message:
        """Keep a receipt for each whom a new message wakes; return it as its author is told."""
        if not hearing.may_wake(said):
            return said
        words, roster = hearing.spoken(said), self._roster()
        before = self._before(said, roster)
        found = hearing.woken(
            said,
            words,
            roster,
            speakers=self._speakers(said),
            before=before,
            owners=local_reading.owners_in(self._unit, self._room_id)
            if hearing.wants_owners([*before, said])
            else (),
        )
        local_receipts.add(self._unit, self._room_id, said.id.number, found, said.said_at)
        return hearing.noticed(said, words, roster)

    def noticed(self, said: Message) -> Message:
        """Return a message that was said before as its author is told of it."""
        if "@" not in said.text:
            return said
        return hearing.noticed(said, hearing.spoken(said), self._roster())

    def _roster(self) -> Roster:
        return self._rosters.of(
            self._room_id, self._changes, lambda: local_reading.roster_of(self._unit, self._room_id)
        )

    def _before(self, said: Message, roster: Roster) -> Sequence[Message]:
        if not hearing.wants_history([said], roster):
            return ()
        window = Before(said.id, hearing.LOOKED_BACK)
        return local_reading.page_in(self._unit, self._room_id, window, said.id.number).messages

    def _speakers(self, said: Message) -> frozenset[str]:
        if not said.is_thread_reply:
            return frozenset()
        where = {"room_id": self._room_id.value, "root": said.thread_root.number}
        return frozenset(key for (key,) in self._unit.rows(_SPEAKERS, **where))
