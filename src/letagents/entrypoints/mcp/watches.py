"""Telling of new messages in rooms, for as long as somebody wants to know it.

A room that nobody asked about is not watched; one that is costs what a waiting agent costs.
"""

from collections.abc import Awaitable, Callable

import anyio
import attrs
import structlog
from anyio.abc import TaskGroup

from letagents.application.messaging import Messaging
from letagents.domain.errors import NotAvailable, RoomsUnavailable
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Latest

Tell = Callable[[], Awaitable[None]]

AGAIN = 5.0
"""Seconds after which rooms that could not be read are tried again."""
MOST = 100
"""Rooms that one client can have watched."""

log = structlog.get_logger()


@attrs.define(eq=False)
class _Watch:
    scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)
    listeners: dict[object, Tell] = attrs.field(factory=dict)


@attrs.define(eq=False)
class Watches:
    """The rooms that one client is told about. They are followed by tasks of `tasks`."""

    _messages: Messaging
    _tasks: TaskGroup
    _rooms: dict[RoomId, _Watch] = attrs.field(factory=dict)
    _kept: dict[str, Callable[[], None]] = attrs.field(factory=dict)

    @property
    def rooms(self) -> tuple[RoomId, ...]:
        """The rooms that are watched now."""
        return tuple(self._rooms)

    async def begin(self, room_id: RoomId, tell: Tell) -> Callable[[], None]:
        """Call `tell` after each message from now on; return what ends that.

        Raises:
            UnknownRoom: the room is not there.
            NotAvailable: too many rooms are watched.
        """
        newest = (await self._messages.read(room_id, Latest(1))).messages
        watch = self._rooms.get(room_id)
        if watch is None:
            watch = self._opened(room_id, newest[0].id if newest else None)
        listener = object()
        watch.listeners[listener] = tell

        def end() -> None:
            watch.listeners.pop(listener, None)
            if not watch.listeners:
                watch.scope.cancel()
                self._forget(room_id, watch)

        return end

    def keep(self, name: str, end: Callable[[], None]) -> None:
        """Keep what ends a watch under a name, and end what was kept under it before."""
        self.end(name)
        self._kept[name] = end

    def end(self, name: str) -> None:
        """End what was kept under a name, if anything was."""
        if (end := self._kept.pop(name, None)) is not None:
            end()

    def close(self) -> None:
        """End all."""
        for watch in tuple(self._rooms.values()):
            watch.scope.cancel()

    def _opened(self, room_id: RoomId, after: MessageId | None) -> _Watch:
        if len(self._rooms) >= MOST:
            raise NotAvailable(
                f"{MOST} rooms are watched already, which is the most.",
                remedy="End a subscription first.",
            )
        watch = self._rooms[room_id] = _Watch()
        self._tasks.start_soon(self._follow, room_id, watch, after)
        return watch

    def _forget(self, room_id: RoomId, watch: _Watch) -> None:
        if self._rooms.get(room_id) is watch:
            del self._rooms[room_id]

    async def _follow(self, room_id: RoomId, watch: _Watch, after: MessageId | None) -> None:
        try:
            with watch.scope:
                while True:
                    after = await self._next(room_id, after)
                    for tell in tuple(watch.listeners.values()):
                        await tell()
        except Exception as error:  # noqa: BLE001  the calls of this chat go on without notices
            log.warning("watch.failed", room_id=str(room_id), error=type(error).__name__)
        finally:
            self._forget(room_id, watch)

    async def _next(self, room_id: RoomId, after: MessageId | None) -> MessageId:
        """Return the last of the messages that came after `after`, once there are any."""
        messages = self._messages
        while True:
            try:
                heard = await messages.wait(room_id, after, timeout=messages.longest_wait)
            except RoomsUnavailable:
                await anyio.sleep(AGAIN)
            else:
                if heard.page.messages:
                    return heard.page.messages[-1].id
