"""Rooms on a server, through its HTTP interface. (Source: hosted-api 3.2 to 3.5.)"""

from collections.abc import Sequence
from datetime import timedelta

import anyio
import attrs

from letagents.adapters.rooms.hosted import search as searching
from letagents.adapters.rooms.hosted.calls import Busy, Calls
from letagents.adapters.rooms.hosted.meant import about
from letagents.adapters.rooms.hosted.projects import Absent, NoRoute
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import (
    After,
    Before,
    Draft,
    Latest,
    Message,
    Page,
    Window,
    bounded,
)
from letagents.domain.rooms import Room, looks_like_code
from letagents.domain.search import Found, Query
from letagents.domain.sessions import Arrival, Connection, Session, SessionKind
from letagents.wire.http import credentials
from letagents.wire.http import messages as wire_messages
from letagents.wire.http import projects as wire_projects
from letagents.wire.http import rooms as wire_rooms
from letagents.wire.http import sessions as wire_sessions
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields, Unreadable

_ALL = {"include_prompt_only": 1}
"""With what a server would otherwise leave out: no number is missing. (Source: mcp-tools 12.7.)"""

PATIENCE = 30.0
"""Seconds that an answer may take beyond what was asked to be waited for."""


@attrs.define(eq=False)
class HostedRooms:
    """Rooms on one server, used by one account."""

    calls: Calls
    _pauses: Sequence[float] = (1.0, 2.0)
    """Seconds after each of which a busy server is asked once more to let somebody in."""

    async def create(self) -> Room:
        """Make a room that is entered by a new invite code."""
        return await self.calls.send("POST", "/projects", {}, self._noted)

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room, made if it is not there and may be made."""
        path = f"{wire_rooms.path(room_id)}/join{'' if create else '?create=false'}"
        try:
            return await self.calls.send("POST", path, {}, self._noted)
        except NoRoute:
            # What makes a room is asked only where that is wanted, or where it is there already.
            is_code = looks_like_code(str(room_id))
            if not (create or is_code or room_id in self.calls.projects):
                raise

        def read(answer: object) -> Room:
            return self._noted(answer, wire_projects.room(answer, room_id))

        if is_code:
            return await self.calls.get(wire_projects.by_code(room_id), read)
        return await self.calls.send("POST", wire_projects.by_name(room_id), {}, read)

    def _noted(self, answer: object, room: Room | None = None) -> Room:
        entered = room or wire_rooms.room(answer)
        self.calls.projects.note(entered.room_id, wire_projects.id_of(answer))
        return entered

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms, the latest active first."""
        try:
            return await self.calls.get(
                "/rooms", lambda answer: tuple(map(wire_rooms.room, Fields(answer).list("rooms")))
            )
        except NoRoute:
            return await self.calls.get("/projects", wire_projects.listed)

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Open a session or take it over, as the agent that the server knows by its name."""
        key = await self._agent_key(arrival)
        for pause in self._pauses:
            try:
                return await self._let_in(room_id, arrival, key)
            except Busy:
                await anyio.sleep(pause)
        return await self._let_in(room_id, arrival, key)

    async def _let_in(self, room_id: RoomId, arrival: Arrival, key: str) -> Connection:
        return await self.calls.send(
            "POST",
            f"{wire_rooms.path(room_id)}/agent-sessions",
            wire_sessions.plain_arrival(arrival, key),
            lambda answer: wire_sessions.connection(answer, arrival, room_id, key),
        )

    async def _agent_key(self, arrival: Arrival) -> str:
        if arrival.kind is SessionKind.PERSON:
            return arrival.agent_key
        asked = {
            "name": arrival.agent_key.rpartition("/")[2],
            "display_name": arrival.display_name,
            "owner_label": arrival.owner_label,
        }
        return await self.calls.send(
            "POST", "/agents", asked, lambda answer: Fields(answer).text("canonical_key")
        )

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        """End the session."""
        path = f"{wire_rooms.path(room_id)}/agent-sessions/{part(str(fence.session_id))}/disconnect"
        return await self.calls.send(
            "POST",
            path,
            credentials.in_body(fence),
            about(
                fence.session_id,
                lambda session: session.session_id,
                lambda answer: wire_sessions.session(Fields(answer).document.get("agent_session")),
            ),
        )

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Say `draft` in the room, as whoever `fence` is."""
        said: dict[str, object] = {
            "text": draft.text,
            "client_message_id": str(draft.key),
            "reply_to": draft.reply_to and str(draft.reply_to),
            "thread_root_id": draft.thread and str(draft.thread),
            "agent_prompt_kind": draft.prompt_kind,
        }
        if draft.attachments:
            said["attachments"] = [{"upload_id": one} for one in draft.attachments]
        return await self.calls.projects.either(
            room_id,
            lambda path: self.calls.send(
                "POST",
                f"{path}/messages",
                said | credentials.in_body(fence),
                lambda answer: _said(answer, room_id, draft),
                headers=credentials.origin(fence),
            ),
        )

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return the messages in `window`, oldest first."""
        return await self.calls.projects.either(
            room_id,
            lambda path: self.calls.get(
                f"{path}/messages",
                lambda answer: wire_messages.page(answer, room_id, _first_after(window)),
                query=_query(window),
                headers=credentials.in_headers(viewer),
            ),
        )

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        """Return as `read` does, as soon as the window holds a message; empty after `timeout`."""
        return await self.calls.projects.either(
            room_id,
            lambda path: self.calls.get(
                f"{path}/messages/poll",
                lambda answer: wire_messages.polled(answer, room_id, _first_after(window)),
                query=_query(window) | {"timeout": max(0, timeout // timedelta(milliseconds=1))},
                headers=credentials.in_headers(viewer),
                patience=timeout.total_seconds() + PATIENCE,
            ),
        )

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message, or None if the room has no such."""
        try:
            return await self.calls.get(
                f"{wire_rooms.path(room_id)}/messages/{message_id}",
                about(
                    message_id,
                    lambda message: message.id,
                    lambda found: wire_messages.message(
                        Fields(found).document.get("message"), room_id
                    ),
                ),
                query=_ALL,
            )
        except Absent:
            return None

    async def search(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> Found:
        """Return the newest hits of `query` in the room, below where the query says."""
        return await searching.search(self.calls, room_id, query, viewer)


def _said(answer: object, room_id: RoomId, draft: Draft) -> Message:
    """Return the message that was made of `draft`, if that is what the answer tells."""
    key = Fields(answer).document.get("client_message_id")
    if isinstance(key, str) and key != str(draft.key).strip():
        raise Unreadable("it is about another message")
    return wire_messages.message(answer, room_id)


def _first_after(window: Window) -> MessageId | None:
    return window.id if isinstance(window, After) else None


def _query(window: Window) -> dict[str, str | int | None]:
    match window:
        case Latest(limit=limit):
            asked: dict[str, str | int | None] = {"before": "latest", "limit": bounded(limit)}
        case Before(id=id, limit=limit):
            asked = {"before": str(id), "limit": bounded(limit)}
        case After(id=id, limit=limit):
            asked = {"after": str(id) if id else None, "limit": bounded(limit)}
    return {**asked, **_ALL} if window.prompts else asked
