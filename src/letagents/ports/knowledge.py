"""What the application needs of what rooms know.

K34  What was answered is kept, and found by any store opened on the same place.
K35  Records come with those that wait or count first, then the newest, and a cursor finds all,
     whatever becomes meanwhile of those that were found.
K36  An answer is said in the room in the transaction that keeps it, once, to who asked alone.
K37  A source is looked for in the transaction that keeps what names it.
"""

from typing import Protocol

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.knowledge import Entry, Section
from letagents.domain.records import Record

MOST = 200
"""Records that a page holds at most."""


@attrs.frozen
class Records:
    """Some records of a section; `more` says that others come after the last of them."""

    records: tuple[Record, ...]
    more: bool = False


class Knowledge(Protocol):
    """The facts and requests of rooms. Where no fence is shown, the room's owner acts."""

    async def records(
        self,
        room_id: RoomId,
        section: Section,
        *,
        after: str | None = None,
        limit: int = MOST,
        viewer: Fence | None = None,
    ) -> Records:
        """Return the records of a section, from behind `after`, which is `records.cursor` of one.

        Raises:
            UnknownRecord: there is no such one.
            Malformed: it is no place of one.
        """
        ...

    async def history(
        self, room_id: RoomId, record_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> Records:
        """Return the versions of a record, the newest first.

        Raises:
            UnknownRecord: there is no such one.
        """
        ...

    async def add(
        self,
        room_id: RoomId,
        section: Section,
        record_id: str,
        said: Entry,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, made now or by the same call before.

        Raises:
            Conflict: the id has other content, or another author.
            UnknownMessage: its source is not a message that the room shows.
        """
        ...

    async def revise(
        self,
        room_id: RoomId,
        record_id: str,
        said: Entry,
        *,
        version: int,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record with new content. Raises: as `domain.records.revised`."""
        ...

    async def archive(
        self,
        room_id: RoomId,
        record_id: str,
        *,
        version: int,
        archived: bool = True,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, archived or restored. Raises: as `domain.records.archived`."""
        ...

    async def answer(
        self, room_id: RoomId, record_id: str, text: str, fence: Fence | None = None
    ) -> Record:
        """Return the request with its answer, which is said. Raises: as `domain...answered`."""
        ...
