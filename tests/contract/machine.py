"""One machine with many processes, over memory and over files, in which a test can put a fault."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import attrs

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.memory import MemoryState
from letagents.application.client import Client
from letagents.application.registration import Registered, Wish
from letagents.domain.errors import ConnectionLost, LetAgentsError
from letagents.domain.fencing import Fence
from letagents.domain.hints import Hints
from letagents.domain.ids import MessageId, RegistrationKey, RoomId, WorkerId
from letagents.domain.local_state import LocalState
from letagents.domain.messages import After, Draft, Message, Page, Window
from letagents.domain.rooms import Room
from letagents.domain.sessions import Arrival, Connection, Session
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore, T
from letagents.settings import Settings
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.client import open_letagents

ROOM, ELSEWHERE = RoomId("workshop"), RoomId("elsewhere")
KEY = RegistrationKey("the random key of one chat")


@attrs.define
class Here:
    """Surroundings that a test decides."""

    owner: str | None = "Ada Lovelace"
    checked_out: str | None = "main"

    async def person(self) -> str | None:
        return self.owner

    async def branch(self, cwd: str | None = None) -> str | None:
        return cwd or self.checked_out


Planned = Callable[[], None]


def raising(error: LetAgentsError) -> Planned:
    """Return what raises `error` when it happens."""

    def fail() -> None:
        raise error

    return fail


@attrs.define
class WatchedRooms:
    """Rooms that count connections, and to which happens what a test plans.

    What is planned `before` and `after` happens around the next connection or message, one at a
    time; an error planned after it means that the answer got lost. So it is `before_waiting`.
    """

    inner: RoomTransport
    connects: int = 0
    before: list[Planned] = attrs.field(factory=list)
    after: list[Planned] = attrs.field(factory=list)
    before_waiting: list[Planned] = attrs.field(factory=list)

    async def create(self) -> Room:
        return await self.inner.create()

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        return await self.inner.join(room_id, create=create)

    async def known(self) -> tuple[Room, ...]:
        return await self.inner.known()

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        self.connects += 1
        _happen(self.before)
        connection = await self.inner.connect(room_id, arrival)
        _happen(self.after)
        return connection

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        return await self.inner.disconnect(room_id, fence)

    async def post(self, room_id: RoomId, draft: Draft, fence: Fence) -> Message:
        _happen(self.before)
        message = await self.inner.post(room_id, draft, fence)
        _happen(self.after)
        return message

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        return await self.inner.read(room_id, window, viewer)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        _happen(self.before_waiting)
        return await self.inner.wait(room_id, window, timeout=timeout, viewer=viewer)

    async def message(self, room_id: RoomId, message_id: MessageId) -> Message | None:
        return await self.inner.message(room_id, message_id)


def _happen(planned: list[Planned]) -> None:
    if planned:
        planned.pop(0)()


@attrs.define
class WatchedState:
    """A state store whose next writes fail where a test puts an error into `failing`."""

    inner: StateStore
    reads: int = 0
    failing: list[LetAgentsError] = attrs.field(factory=list)

    async def read(self) -> LocalState:
        self.reads += 1
        return await self.inner.read()

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        if self.failing:
            raise self.failing.pop(0)
        return await self.inner.transact(decide)


@attrs.define
class Process:
    """One process of the machine: a chat's client, and what it stands on."""

    client: Client
    rooms: WatchedRooms
    state: WatchedState

    async def register(
        self, key: RegistrationKey = KEY, name: str | None = None, room: RoomId = ROOM
    ) -> Registered:
        return await self.client.registration.register(key, Wish(room, display_name=name))

    async def reconnect(self, worker_id: WorkerId, room: RoomId = ROOM) -> Registered:
        return await self.client.registration.reconnect(worker_id, Wish(room))

    async def can_speak(self, connection: Connection | None) -> bool:
        """Whether the room still hears who holds `connection`."""
        if connection is None:
            return False
        try:
            await self.client.messages.send(connection, "do you hear me?")
        except ConnectionLost:
            return False
        return True


RoomsAround = Callable[[RoomTransport], RoomTransport]
StateAround = Callable[[StateStore], StateStore]


def unchanged(port: T) -> T:
    """Put nothing around a port."""
    return port


@attrs.define
class Machine:
    """Its processes open the same places: files if it has a `folder`, else memory."""

    folder: Path | None
    api_url: str | None = None
    here: Here = attrs.field(factory=Here)
    clock: ManualClock = attrs.field(factory=ManualClock)
    opened: AsyncExitStack = attrs.field(factory=AsyncExitStack)
    _state: MemoryState = attrs.field(factory=MemoryState)
    _rooms: MemoryRooms = attrs.field(init=False)
    _begun: int = 0

    def __attrs_post_init__(self) -> None:
        self._rooms = MemoryRooms(CountingIds(), self.clock)

    async def process(
        self,
        hints: Hints | None = None,
        *,
        around_rooms: RoomsAround = unchanged,
        around_state: StateAround = unchanged,
    ) -> Process:
        """Begin a process that serves one chat, until the machine is switched off."""
        self._begun += 1
        ids = CountingIds(first=self._begun * 10_000)
        rooms = WatchedRooms(around_rooms(await self._rooms_for(ids)))
        state = WatchedState(around_state(self.stored()))
        letagents = await self.opened.enter_async_context(
            open_letagents(
                Settings(home=self.folder or Path("unused"), api_url=self.api_url),
                state=state,
                rooms=rooms,
                surroundings=self.here,
                clock=self.clock,
                ids=ids,
            )
        )
        client = await self.opened.enter_async_context(letagents.client(hints))
        return Process(client, rooms, state)

    async def state(self) -> LocalState:
        """Return what the machine remembers."""
        return await self.stored().read()

    def stored(self) -> StateStore:
        """Return where the machine remembers it."""
        return JsonFileState(self.folder / "state.json") if self.folder else self._state

    async def _rooms_for(self, ids: CountingIds) -> RoomTransport:
        if self.folder is None:
            return self._rooms
        rooms = LocalRooms(self.folder / "rooms.db", ids, self.clock, NoNudges())
        self.opened.push_async_callback(rooms.aclose)
        return rooms


@asynccontextmanager
async def switched_on(folder: Path | None, *rooms: RoomId) -> AsyncIterator[Machine]:
    """Give a machine on which rooms have been made."""
    machine = Machine(folder)
    async with machine.opened:
        first = await machine.process()
        for room_id in rooms or (ROOM, ELSEWHERE):
            await first.client.places.join(room_id)
        yield machine
