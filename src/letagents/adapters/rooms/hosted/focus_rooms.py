"""The focus rooms beside rooms on a server. (Source: hosted-api 3.8, 3.11.)"""

from typing import Any

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.fencing import Fence
from letagents.domain.focus_rooms import Changes, Outcome
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room
from letagents.domain.tasks import UnknownTask
from letagents.ports.focus_rooms import Concluded, Opened
from letagents.wire.http import credentials, rooms
from letagents.wire.http import focus_rooms as wire
from letagents.wire.http import messages as wire_messages
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

WHAT = "focus rooms"


@attrs.frozen
class HostedFocusRooms:
    """The focus rooms beside rooms on one server, used by one account."""

    _calls: Calls

    async def beside(self, room_id: RoomId, viewer: Fence | None = None) -> tuple[Room, ...]:
        """Return the focus rooms beside the room, the newest first."""
        asked = self._calls.get(
            f"{rooms.path(room_id)}/focus-rooms",
            lambda answer: tuple(map(rooms.room, Fields(answer).list("focus_rooms"))),
            headers=credentials.in_headers(viewer),
        )
        return await there(WHAT, asked)

    async def of_key(self, room_id: RoomId, key: str, viewer: Fence | None = None) -> Room:
        """Return the focus room of that key."""
        asked = self._calls.get(
            _path(room_id, key), rooms.room, headers=credentials.in_headers(viewer)
        )
        return await there(WHAT, asked)

    async def open_for_task(
        self,
        room_id: RoomId,
        task_id: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of a task, made if there is none."""
        path = f"{rooms.path(room_id)}/tasks/{part(task_id)}/focus-room"
        try:
            return await self._open(path, {"display_name": display_name}, fence)
        except Absent as error:
            raise UnknownTask(task_id) from error

    async def open(
        self,
        room_id: RoomId,
        title: str,
        fence: Fence | None = None,
        *,
        display_name: str | None = None,
    ) -> Opened:
        """Return the open focus room of that title, made if there is none."""
        asked = {"title": title, "display_name": display_name}
        opening = self._open(f"{rooms.path(room_id)}/focus-rooms", asked, fence)
        return await there(WHAT, opening)

    async def _open(self, path: str, asked: dict[str, Any], fence: Fence | None) -> Opened:
        return await self._calls.send(
            "POST",
            path,
            asked | credentials.in_body_of_anybody(fence),
            lambda answer: Opened(_room(answer), is_new=Fields(answer).flag("created")),
            headers=credentials.origin(fence),
        )

    async def set(
        self, room_id: RoomId, key: str, changes: Changes, fence: Fence | None = None
    ) -> Room:
        """Set how it belongs to the room."""
        asked = self._calls.send(
            "PATCH",
            f"{_path(room_id, key)}/settings",
            wire.plain_changes(changes) | credentials.in_body_of_anybody(fence),
            rooms.room,
            headers=credentials.origin(fence),
        )
        return await there(WHAT, asked)

    async def conclude(
        self, room_id: RoomId, key: str, outcome: Outcome, fence: Fence | None = None
    ) -> Concluded:
        """Conclude it."""

        def concluded(answer: object) -> Concluded:
            said = Fields(answer).part("message")
            message = wire_messages.message(said.document, room_id) if said else None
            return Concluded(_room(answer), message)

        asked = self._calls.send(
            "POST",
            f"{_path(room_id, key)}/conclude",
            wire.plain_outcome(outcome) | credentials.in_body_of_anybody(fence),
            concluded,
            headers=credentials.origin(fence),
        )
        return await there(WHAT, asked)


def _path(room_id: RoomId, key: str) -> str:
    return f"{rooms.path(room_id)}/focus/{part(key)}"


def _room(answer: object) -> Room:
    return rooms.room(Fields(answer).document.get("focus_room"))
