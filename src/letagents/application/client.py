"""All that one chat holds and can ask for. A process may serve many; each has its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import attrs

from letagents.application.callers import Callers
from letagents.application.chat import Chat
from letagents.application.connections import Connections
from letagents.application.messaging import Messaging
from letagents.application.places import Places
from letagents.application.registration import Registration
from letagents.domain.errors import StateUnavailable
from letagents.domain.identity import Hints
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Surroundings


@attrs.frozen
class Client:
    """One chat's way into rooms."""

    chat: Chat
    connections: Connections
    registration: Registration
    callers: Callers
    places: Places
    messages: Messaging


@attrs.frozen
class LetAgents:
    """The whole, over whatever plays its ports. Open one with `letagents.open_letagents`."""

    state: StateStore
    rooms: RoomTransport
    surroundings: Surroundings
    clock: Clock
    ids: Ids
    longest_wait: timedelta
    api_url: str | None = None

    @asynccontextmanager
    async def client(self, hints: Hints | None = None) -> AsyncIterator[Client]:
        """Serve one chat; when it leaves, how far it read is remembered."""
        client = self._client(hints or Hints())
        try:
            yield client
        finally:
            await _remembered(client)

    def _client(self, hints: Hints) -> Client:
        chat = Chat(self.state, self.surroundings, self.clock, hints, self.ids.uuid(), self.api_url)
        held = Connections()
        registration = Registration(
            self.state, self.rooms, held, chat, self.surroundings, self.clock, self.ids
        )
        return Client(
            chat,
            held,
            registration,
            Callers(self.state, held, registration, chat),
            Places(self.state, self.rooms, self.clock),
            Messaging(self.rooms, held, self.ids, self.longest_wait),
        )


async def _remembered(client: Client) -> None:
    """A note of where one was is worth little: without it the next start reads a little more."""
    try:
        await client.places.remember()
    except StateUnavailable:
        return
