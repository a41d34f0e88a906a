"""A human being at this machine: speaks in rooms under their own name, and follows them unseen.

A person has no lasting handle. Each thing said is said through a session of its own, which ends
again at once; so nobody has to be waited for, and nothing of it is kept on this machine.
"""

import difflib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import anyio
import attrs

from letagents.application.attachments import Files
from letagents.application.chat import Chat
from letagents.application.messaging import Messaging
from letagents.domain import names, rooms
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import ClientKey, MessageId, RoomId
from letagents.domain.messages import PAGE_LIMIT, After, Before, Latest, Message
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, SessionKind
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport

if TYPE_CHECKING:
    from letagents.domain.attachments import File

LOOK_AGAIN = timedelta(minutes=3)
"""So long one wait lasts, before the next one is begun."""

PROGRAM = "Terminal"
NEAREST = 3

_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f|\ud800-\udfff]")


@attrs.frozen
class Glance:
    """A room as it is listed. Numbers have no gaps, so the newest one is how many there are."""

    room: Room
    messages: int
    last_activity: datetime


@attrs.frozen
class Person:
    """One person's way into rooms."""

    rooms: RoomTransport
    messages: Messaging
    chat: Chat
    ids: Ids
    files: Files

    async def glances(self) -> list[Glance]:
        """Return the rooms of this place, the latest active first."""
        return [await self._glance(room) for room in await self.rooms.known()]

    async def room(self, name: str, *, create: bool = False) -> Room:
        """Return the room of that name or invite code.

        Raises:
            Malformed: no room can be called so.
            UnknownRoom: it is not there, and was not to be made.
        """
        return await self.rooms.join(rooms.canonical(name), create=create)

    async def nearest(self, name: str) -> list[str]:
        """Return the rooms whose names are most like `name`."""
        known = {
            str(room.room_id).casefold(): str(room.room_id) for room in await self.rooms.known()
        }
        asked = name.strip().casefold()
        begun = [key for key in known if asked and key.startswith(asked)]
        alike = [*begun, *difflib.get_close_matches(asked, known, NEAREST, 0.5)]
        return [known[key] for key in dict.fromkeys(alike)][:NEAREST]

    async def name(self) -> str:
        """Return what the person is called where nothing else is said: what their agents say."""
        label = _NOT_IN_NAMES.sub(" ", (await self.chat.owner()).label)
        return names.trim(names.collapse(label)[: names.DISPLAY_NAME_LIMIT]) or "Owner"

    async def say(
        self,
        room_id: RoomId,
        text: str,
        *,
        name: str,
        key: ClientKey | None = None,
        reply_to: MessageId | None = None,
        thread: MessageId | None = None,
        files: "Sequence[File]" = (),
    ) -> Message:
        """Say `text`, with files, as the person called `name`. Raises: as Messaging.send."""
        async with self.present(room_id, name) as speaker:
            return await self.messages.send(
                speaker,
                text,
                key=key,
                reply_to=reply_to or thread,
                thread=thread,
                attachments=await self.files.upload(speaker, files) if files else (),
            )

    async def newest(self, room_id: RoomId, count: int) -> list[Message]:
        """Return the newest `count` messages, oldest first. Raises: as RoomTransport.read."""
        page = await self.rooms.read(room_id, Latest(min(count, PAGE_LIMIT), prompts=False))
        found = list(page.messages)
        while page.more and len(found) < count:
            before = Before(found[0].id, min(count - len(found), PAGE_LIMIT), prompts=False)
            page = await self.rooms.read(room_id, before)
            found = [*page.messages, *found]
        return found[-count:] if count else []

    async def follow(
        self, room_id: RoomId, after: MessageId | None
    ) -> AsyncGenerator[Message, None]:
        """Give each message after that one as soon as it is there; never ends by itself."""
        while True:
            window = After(after, PAGE_LIMIT, prompts=False)
            page = await self.rooms.wait(room_id, window, timeout=LOOK_AGAIN)
            for message in page.messages:
                after = message.id
                yield message

    async def last(self, room_id: RoomId) -> MessageId | None:
        """Return the room's newest message, or None if it has none yet."""
        newest = await self.newest(room_id, 1)
        return newest[0].id if newest else None

    async def _glance(self, room: Room) -> Glance:
        newest = await self.newest(room.room_id, 1)
        if not newest:
            return Glance(room, 0, room.created_at)
        return Glance(room, newest[0].id.number, newest[0].said_at)

    @asynccontextmanager
    async def present(self, room_id: RoomId, name: str) -> AsyncIterator[Connection]:
        """Be in the room for a moment. What was said stands, even if leaving fails."""
        connection = await self.rooms.connect(room_id, self._arrival(name))
        try:
            yield connection
        finally:
            with anyio.CancelScope(shield=True), suppress(LetAgentsError):
                await self.rooms.disconnect(room_id, connection.fence)

    def _arrival(self, name: str) -> Arrival:
        return Arrival(
            token=self.ids.token(),
            agent_key=f"human:name:{names.slug(name, names.sender_form(name))}",
            instance_id=self.chat.instance,
            display_name=name,
            owner_label=name,
            ide_label=PROGRAM,
            runtime=PROGRAM.lower(),
            kind=SessionKind.PERSON,
        )
