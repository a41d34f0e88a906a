"""Saying, reading and waiting."""

from datetime import timedelta

import anyio
import attrs
import structlog

from letagents.application.connections import Connections, fence_of
from letagents.domain.errors import ConnectionLost, LetAgentsError, OutcomeUnknown
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.messages import After, Draft, Latest, Message, Page, Window
from letagents.domain.sessions import Connection
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport

log = structlog.get_logger()

WAIT = timedelta(seconds=30)
SHORTEST_WAIT = timedelta(seconds=1)
PAGE = 100
"""Messages that one wait gives at most. (Source: mcp-tools 18.)"""


@attrs.frozen
class Heard:
    """What a wait brought: a page, and what was passed over on the way, being for others."""

    page: Page
    passed_over: tuple[MessageId, ...] = ()


@attrs.define
class Messaging:
    """Room messages for one client."""

    rooms: RoomTransport
    connections: Connections
    ids: Ids
    longest_wait: timedelta

    async def send(
        self,
        speaker: Connection,
        text: str,
        *,
        key: ClientKey | None = None,
        reply_to: MessageId | None = None,
        thread: MessageId | None = None,
        attachments: tuple[str, ...] = (),
    ) -> Message:
        """Say `text` as `speaker`. Without a `key` one is made, so a lost answer is never doubled.

        Raises: as RoomTransport.post.
        """
        draft = Draft(
            text,
            key or self.ids.client_key(),
            reply_to=reply_to,
            thread=thread,
            attachments=attachments,
        )
        room_id = speaker.session.room_id
        try:
            message = await self._post(room_id, draft, speaker.fence)
        except ConnectionLost as refused:
            raise self._lost(speaker, refused) from refused
        log.info(
            "message.sent",
            room_id=str(room_id),
            session_id=str(speaker.session.session_id),
            number=message.id.number,
            generation=speaker.fence.generation,
        )
        return message

    async def _post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Post; where the answer got lost, ask once more, which the key makes harmless."""
        try:
            return await self.rooms.post(room_id, draft, fence)
        except OutcomeUnknown as unknown:
            try:
                return await self.rooms.post(room_id, draft, fence)
            except LetAgentsError:
                raise unknown from None

    async def read(self, room_id: RoomId, window: Window, viewer: Connection | None = None) -> Page:
        """Return a page of the room. Raises: as RoomTransport.read."""
        try:
            return await self.rooms.read(room_id, window, fence_of(viewer))
        except ConnectionLost as refused:
            raise self._lost(viewer, refused) from refused

    async def wait(
        self,
        room_id: RoomId,
        after: MessageId | None,
        *,
        timeout: timedelta | None = None,
        viewer: Connection | None = None,
    ) -> Heard:
        """Return as soon as something is there for `viewer`, or when the time is over.

        Without `after` the newest messages are returned at once, if any is for `viewer`. Messages
        that are for others do not end the wait; they are counted as passed over.

        Raises: as RoomTransport.wait.
        """
        ends = anyio.current_time() + self.bounded(timeout).total_seconds()
        passed: list[MessageId] = []
        if after is None and (newest := await self.read(room_id, Latest(PAGE), viewer)).messages:
            if any(is_for_reader(message) for message in newest.messages):
                return Heard(newest)
            passed, after = [one.id for one in newest.messages], newest.messages[-1].id
        while True:
            left = timedelta(seconds=max(0.0, ends - anyio.current_time()))
            page = await self._next(room_id, After(after, PAGE), left, viewer)
            if not page.messages or any(is_for_reader(message) for message in page.messages):
                return Heard(page, tuple(passed))
            passed += [message.id for message in page.messages]
            after = page.messages[-1].id

    def bounded(self, timeout: timedelta | None) -> timedelta:
        """Return how long a wait of `timeout` lasts at most; nothing, like none, is the default."""
        return min(max(timeout or WAIT, SHORTEST_WAIT), self.longest_wait)

    async def _next(
        self, room_id: RoomId, window: After, left: timedelta, viewer: Connection | None
    ) -> Page:
        try:
            return await self.rooms.wait(room_id, window, timeout=left, viewer=fence_of(viewer))
        except ConnectionLost as refused:
            raise self._lost(viewer, refused) from refused

    def _lost(self, connection: Connection | None, refused: ConnectionLost) -> LetAgentsError:
        if connection is None:
            return refused.again()
        log.info(
            "connection.lost",
            room_id=str(connection.session.room_id),
            session_id=str(connection.session.session_id),
            generation=connection.fence.generation,
            code=refused.code,
        )
        return self.connections.lost(connection, refused)


def is_for_reader(message: Message) -> bool:
    """Whether a reader is to be shown `message`: all but what is known to be for others."""
    return message.activation is None or not message.activation.is_silent
