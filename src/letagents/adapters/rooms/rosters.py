"""The rosters of rooms, each remembered for as long as its room has counted no change of it."""

from collections.abc import Callable

import attrs

from letagents.domain.ids import RoomId
from letagents.domain.roster import Roster

REMEMBERED = 32
"""The rosters of so many rooms are remembered."""


@attrs.define
class Rosters:
    """The rosters that were read last of the rooms of one database. Any thread may ask."""

    _known: dict[str, tuple[int, Roster]] = attrs.field(factory=dict)

    def of(self, room_id: RoomId, changes: int, read: Callable[[], Roster]) -> Roster:
        """Return the roster of a room that has counted so many changes; `read` reads it.

        Both are of one transaction: then the same count means the same roster, whoever changed it.
        """
        known = self._known.get(room_id.value)
        if known is not None and known[0] == changes:
            return known[1]
        roster = read()
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[room_id.value] = changes, roster
        return roster
