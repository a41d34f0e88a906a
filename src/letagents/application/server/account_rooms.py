"""A server's own rooms, as one account has them that calls without a process of its own."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import anyio
import attrs

from letagents.application.server.hosting import Hosting
from letagents.domain import accounts
from letagents.domain.accounts import Account, Principal
from letagents.domain.errors import NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import After, Draft, Message, Page, Window
from letagents.domain.rooms import Room
from letagents.domain.search import Found, Query
from letagents.domain.sessions import Arrival, Connection, Host, Session
from letagents.ports.search import Search


@attrs.frozen
class AccountRooms:
    """The rooms for one account, which calls from `address`. Each verb sees that it may."""

    hosting: Hosting
    principal: Principal
    address: str

    @property
    def account(self) -> Account:
        """Whose they are. Raises NotSignedIn."""
        return accounts.signed_in(self.principal)

    async def create(self) -> Room:
        """Make a room, of which the account is admin."""
        return _afar(await self.hosting.entrances.create(self.account))

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        """Return the room, which the account has entered then."""
        room, _ = await self.hosting.entrances.enter(
            self.account, room_id, address=self.address, create=create
        )
        return _afar(room)

    async def known(self) -> tuple[Room, ...]:
        """Return the rooms that the account has entered."""
        return tuple(map(_afar, await self.hosting.entrances.known(self.account)))

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        """Open a session or take it over, as an agent of the account."""
        agent = await self.hosting.accounts.register_agent(
            self.account,
            accounts.checked_name(arrival.agent_key.rpartition("/")[2]),
            display_name=arrival.display_name,
            owner_label=arrival.owner_label,
        )
        coming = attrs.evolve(
            arrival,
            agent_key=agent.key,
            account=self.account.account_id,
            host=Host(kind=None, label=None),
        )
        await self.hosting.entrances.admit(self.account, room_id, self.address)
        made = await self.hosting.rooms.connect(room_id, coming)
        self._tell(room_id, made.displaced)
        return made

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        """End the session."""
        ended = await self.hosting.rooms.disconnect(room_id, await self._own(room_id, fence))
        self._tell(room_id, [ended.session_id])
        return ended

    def _tell(self, room_id: RoomId, ended: Sequence[SessionId]) -> None:
        """Let the processes hear whose sessions have ended."""
        if self.hosting.roll is not None:
            self.hosting.roll.ended(room_id, ended)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        """Say `draft` in the room."""
        return await self.hosting.rooms.post(room_id, draft, await self._own(room_id, fence))

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        """Return the messages in `window`."""
        viewer = await self.hosting.sessions.looking(self.principal, room_id, viewer)
        return await self.hosting.rooms.read(room_id, window, viewer)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        """Return as `read` does once there is a message; empty as soon as the server is to end."""
        viewer = await self.hosting.sessions.looking(self.principal, room_id, viewer)
        rooms = self.hosting.rooms
        async with self.hosting.sessions.delivering(room_id, viewer):
            found = await self._unless_stopping(
                lambda: rooms.wait(room_id, window, timeout=timeout, viewer=viewer)
            )
        return found if found is not None else Page(())

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        """Return one message."""
        await self.hosting.entrances.check_entered(self.principal, room_id)
        return await self.hosting.rooms.message(room_id, message_id)

    async def search(self, room_id: RoomId, query: Query, viewer: Fence | None = None) -> Found:
        """Return what fits in the room."""
        rooms = self.hosting.rooms
        if not isinstance(rooms, Search):
            raise NotAvailable(
                "The rooms of this server cannot be searched.",
                remedy="Call read_messages to read the newest messages.",
            )
        viewer = await self.hosting.sessions.looking(self.principal, room_id, viewer)
        return await rooms.search(room_id, query, viewer)

    async def _own(self, room_id: RoomId, fence: Fence) -> Fence:
        return await self.hosting.sessions.acting(self.principal, room_id, fence)

    async def _unless_stopping(self, ask: Callable[[], Awaitable[Page]]) -> Page | None:
        found: list[Page] = []
        failed: list[Exception] = []

        async def end_with_server() -> None:
            await self.hosting.stopping.wait()
            waiting.cancel_scope.cancel()

        async with anyio.create_task_group() as waiting:
            waiting.start_soon(end_with_server)
            try:
                found.append(await ask())
            except Exception as error:  # noqa: BLE001  # it is raised again outside of the group
                failed.append(error)
            waiting.cancel_scope.cancel()
        if failed:
            raise failed[0]
        return found[0] if found else None


def _afar(room: Room) -> Room:
    """Return the room as who calls has it: not on their machine."""
    return attrs.evolve(room, is_local=False)
