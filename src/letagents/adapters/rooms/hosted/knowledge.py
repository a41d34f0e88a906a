"""Facts and requests of rooms on a server, through its HTTP interface. (Source: hosted-api 3.13.)

Who acts without a session, acts as the human being of the account.
"""

from collections.abc import Awaitable
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.knowledge import Entry, Section
from letagents.domain.records import Record, UnknownRecord, place
from letagents.ports.knowledge import MOST, Records
from letagents.wire.http import credentials, rooms
from letagents.wire.http import knowledge as wire
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

T = TypeVar("T")

WHAT = "facts and requests that are kept"


@attrs.frozen
class HostedKnowledge:
    """The facts and requests of rooms on one server, used by one account."""

    _calls: Calls

    async def records(
        self,
        room_id: RoomId,
        section: Section,
        *,
        after: str | None = None,
        limit: int = MOST,
        viewer: Fence | None = None,
    ) -> Records:
        """Return the records of a section, those that are open first."""
        asked = self._calls.get(
            _path(room_id, section),
            lambda answer: _behind(answer, after),
            query={"after": after, "limit": max(1, limit), "tasks": "false"},
            headers=credentials.in_headers(viewer),
        )
        return await there(WHAT, asked)

    async def history(
        self, room_id: RoomId, record_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> Records:
        """Return the versions of a record, the newest first."""
        asked = self._calls.get(
            f"{_one(room_id, record_id)}/history",
            lambda answer: Records(*wire.page(answer)),
            query={"limit": limit},
            headers=credentials.in_headers(viewer),
        )
        return await _known(record_id, asked)

    async def add(
        self,
        room_id: RoomId,
        section: Section,
        record_id: str,
        said: Entry,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, made now or by the same call before."""
        asked = {"client_id": record_id} | wire.plain_entry(said)
        sent = self._send("POST", _path(room_id, section), record_id, asked, fence)
        return await there(WHAT, sent)

    async def revise(
        self,
        room_id: RoomId,
        record_id: str,
        said: Entry,
        *,
        version: int,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record with new content."""
        asked = {"expected_version": version} | wire.plain_entry(said)
        return await self._change(room_id, record_id, asked, fence)

    async def archive(
        self,
        room_id: RoomId,
        record_id: str,
        *,
        version: int,
        archived: bool = True,
        fence: Fence | None = None,
    ) -> Record:
        """Return the record, archived or restored."""
        asked = {"expected_version": version, "archived": archived}
        return await self._change(room_id, record_id, asked, fence)

    async def answer(
        self, room_id: RoomId, record_id: str, text: str, fence: Fence | None = None
    ) -> Record:
        """Return the request with its answer, which is said in the room."""
        path = f"{_one(room_id, record_id, Section.ATTENTION)}/respond"
        return await _known(record_id, self._send("POST", path, record_id, {"body": text}, fence))

    async def _change(
        self, room_id: RoomId, record_id: str, asked: dict[str, Any], fence: Fence | None
    ) -> Record:
        path = _one(room_id, record_id)
        return await _known(record_id, self._send("PATCH", path, record_id, asked, fence))

    async def _send(
        self, method: str, path: str, record_id: str, asked: dict[str, Any], fence: Fence | None
    ) -> Record:
        return await self._calls.send(
            method,
            path,
            asked | credentials.in_body_of_anybody(fence),
            about(
                record_id,
                lambda record: record.record_id,
                lambda answer: wire.record(Fields(answer).document.get("record")),
            ),
        )


def _path(room_id: RoomId, section: Section) -> str:
    return f"{rooms.path(room_id)}/{section.value}"


def _one(room_id: RoomId, record_id: str, section: Section = Section.MEMORY) -> str:
    return f"{_path(room_id, section)}/{part(record_id)}"


def _behind(document: object, after: str | None) -> Records:
    """Return what comes behind `after`; of a server's only page, what else there is on it."""
    page = Records(*wire.page(document))
    if after is None or wire.goes_on(document):
        return page
    seen, record_id = False, place(after)[1]
    rest = []
    for record in page.records:
        if seen:
            rest.append(record)
        seen = seen or record.record_id == record_id
    return Records(tuple(rest))


async def _known(record_id: str, asked: Awaitable[T]) -> T:
    try:
        return await asked
    except Absent as error:
        raise UnknownRecord(
            f"record_id: this room has no record {quoted(record_id)}.",
            remedy="Call get_room_memory or get_human_requests to see those that there are.",
        ) from error
