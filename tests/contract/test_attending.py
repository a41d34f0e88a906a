"""A client keeps one process connection for each worker that it holds, whatever becomes of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import anyio
import attrs
import pytest

from letagents.adapters.state.memory import MemoryState
from letagents.application.attendance import Attendances
from letagents.application.connections import Connections
from letagents.application.remembered import stored
from letagents.domain import sessions
from letagents.domain.errors import (
    ConnectionReplaced,
    LetAgentsError,
    NoAttendance,
    NotSignedIn,
    RoomsUnavailable,
    SessionEnded,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.local_state import LocalState, StoredSession
from letagents.domain.sessions import Arrival, Connection, SessionKind
from letagents.domain.ticks import Tick
from letagents.ports.attendance import Over
from letagents.testing.contracts.room_callers import ROOM, arrival, passing_chat, secret, worker
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

NOW = datetime(2030, 1, 1, tzinfo=UTC)
DOWN = RoomsUnavailable("The server is down.", remedy="Call again.")
OLD = NoAttendance("The server knows of no such thing.", remedy="Nothing is to be done.")
NO = NotSignedIn("Nobody is signed in.", remedy="Sign in.")
ENDED = SessionEnded(None, ROOM, "its session in the room has ended")


@attrs.define(eq=False)
class Open:
    """A connection that the test ends."""

    connection_id: str
    _end: anyio.Event = attrs.field(factory=anyio.Event)
    _how: Over = Over.CLOSED

    def end(self, how: Over) -> None:
        self._how = how
        self._end.set()

    async def over(self) -> Over:
        await self._end.wait()
        return self._how


@attrs.define
class Scripted:
    """A server that does with each attempt what the test has written, and then stays open."""

    script: list[LetAgentsError | Over] = attrs.field(factory=list)
    now_open: dict[str, Open] = attrs.field(factory=dict)
    exits: list[tuple[SessionId, str | None]] = attrs.field(factory=list)
    never_answers: bool = False
    _attempts: int = 0
    _news: anyio.Event = attrs.field(factory=anyio.Event)

    @asynccontextmanager
    async def attend(self, room_id: RoomId, fence: Fence) -> AsyncIterator[Open]:
        step = self.script.pop(0) if self.script else None
        if isinstance(step, LetAgentsError):
            raise step
        self._attempts += 1
        one = Open(f"connection-{self._attempts}")
        if step is not None:
            one.end(step)
        self.now_open[one.connection_id] = one
        self._changed()
        try:
            yield one
        finally:
            del self.now_open[one.connection_id]
            self._changed()

    async def exited(self, room_id: RoomId, fence: Fence, connection_id: str | None) -> bool:
        if self.never_answers:
            await anyio.sleep_forever()
        self.exits.append((fence.session_id, connection_id))
        return True

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Return once something is so."""
        with anyio.fail_after(5):
            while not is_so():
                await self._news.wait()

    def _changed(self) -> None:
        self._news.set()
        self._news = anyio.Event()


@attrs.define
class Naps:
    """How long was slept; the last nap lasts for ever."""

    last: int = 99
    taken: list[float] = attrs.field(factory=list)
    over: anyio.Event = attrs.field(factory=anyio.Event)

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        if len(self.taken) >= self.last:
            self.over.set()
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()


WORKER = arrival(1, 1)


def held(came: Arrival = WORKER, *, session: str = "session_1") -> Connection:
    """Return a connection that a room has given."""
    seat = sessions.seated(
        attrs.evolve(came, account="a"),
        None,
        room_id=ROOM,
        session_id=SessionId(session),
        name=came.display_name,
        base_name=came.display_name,
        now=NOW,
        tick=Tick("boot", 1.0),
    )
    return seat.connection(came.token)


def remembering(*connections: Connection) -> MemoryState:
    """Return a machine's memory in which these sessions are stored."""
    known = {str(one.session.session_id): stored(one) for one in connections}
    return MemoryState(LocalState(sessions=known))


async def remembered(state: MemoryState, connection: Connection) -> StoredSession:
    return (await state.read()).sessions[str(connection.session.session_id)]


@attrs.define
class World:
    """One client, the machine's memory, and the server."""

    connection: Connection = attrs.field(factory=held)
    server: Scripted = attrs.field(factory=Scripted)
    naps: Naps = attrs.field(factory=Naps)
    connections: Connections = attrs.field(factory=Connections)
    state: MemoryState = attrs.field(init=False)
    attendances: Attendances = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.state = remembering(self.connection)
        self.attendances = Attendances(
            self.server, self.state, self.connections, ManualClock(), sleep=self.naps
        )

    def hold(self, connection: Connection | None = None) -> Connection:
        connection = connection or self.connection
        self.connections.hold(worker(1), ROOM, connection, rooms=(ROOM,))
        return connection


async def taken(*script: LetAgentsError | Over) -> list[float]:
    """Return how long is slept between attempts of which these become."""
    world = World(server=Scripted([*script]), naps=Naps(last=len(script)))
    async with world.attendances.kept():
        world.hold()
        with anyio.fail_after(5):
            await world.naps.over.wait()
    return world.naps.taken


async def test_what_breaks_off_is_opened_again_soon() -> None:
    assert await taken(DOWN, DOWN, DOWN, DOWN) == [1, 2, 5, 5]


async def test_what_is_refused_or_unknown_is_asked_for_less_and_less() -> None:
    assert await taken(NO, NO, NO, NO) == [5, 15, 60, 60]
    assert await taken(OLD, OLD, OLD, OLD) == [10, 60, 300, 300]
    assert await taken(DOWN, NO, DOWN, OLD) == [1, 5, 2, 10]


async def test_once_it_was_open_all_begins_anew() -> None:
    assert await taken(DOWN, DOWN, NO, Over.CLOSED, Over.CLOSED, NO) == [1, 2, 5, 1, 1, 5]


@pytest.mark.parametrize("end", [Over.ENDED, ENDED])
async def test_the_end_of_a_session_is_written_down_and_no_connection_follows(
    end: Over | LetAgentsError,
) -> None:
    world = World(server=Scripted([end]))
    async with world.attendances.kept():
        world.hold()
        with anyio.fail_after(5):
            while (await remembered(world.state, world.connection)).ended_at is None:
                await anyio.lowlevel.checkpoint()

    assert world.connections.held(worker(1), ROOM) is None
    assert isinstance(world.connections.why_lost(worker(1), ROOM), SessionEnded)
    assert (world.naps.taken, world.server.now_open) == ([], {})


async def test_the_end_of_an_earlier_connection_ends_nothing_of_its_successor() -> None:
    world = World(server=Scripted([Over.ENDED]))
    successor = attrs.evolve(
        await remembered(world.state, world.connection), session_token=secret(7)
    )

    def succeeded(state: LocalState) -> tuple[LocalState, None]:
        return attrs.evolve(state, sessions={successor.session_id: successor}), None

    await world.state.transact(succeeded)
    async with world.attendances.kept():
        world.hold()
        with anyio.fail_after(5):
            while world.connections.held(worker(1), ROOM) is not None:
                await anyio.lowlevel.checkpoint()

    assert (await remembered(world.state, world.connection)).ended_at is None


async def test_who_is_refused_because_another_process_took_over_asks_no_more() -> None:
    replaced = ConnectionReplaced(None, ROOM, "a newer process holds its connection now")
    world = World(server=Scripted([DOWN, replaced]), naps=Naps(last=2))
    await world.state.transact(lambda state: (attrs.evolve(state, sessions={}), None))
    async with world.attendances.kept():
        world.hold()
        with anyio.fail_after(5):
            while world.server.script:
                await anyio.lowlevel.checkpoint()
            for _ in range(10):
                await anyio.lowlevel.checkpoint()

    assert world.naps.taken == [1]


async def test_one_connection_is_held_for_each_session_and_the_newest_secret() -> None:
    world = World()
    async with world.attendances.kept():
        world.hold()
        await world.server.until(lambda: set(world.server.now_open) == {"connection-1"})
        world.connections.confirm(world.connection)
        world.hold(held(arrival(1, 2)))
        await world.server.until(lambda: set(world.server.now_open) == {"connection-2"})
        world.connections.hold_own(held(passing_chat(3), session="session_2"))
        await world.server.until(
            lambda: set(world.server.now_open) == {"connection-2", "connection-3"}
        )


async def test_what_is_no_worker_has_no_process_connection() -> None:
    world = World()
    controller = attrs.evolve(passing_chat(3), kind=SessionKind.CONTROLLER)
    async with world.attendances.kept():
        world.connections.hold_own(held(controller, session="session_2"))
        world.hold()
        await world.server.until(lambda: bool(world.server.now_open))
        assert list(world.server.now_open) == ["connection-1"]


async def test_who_disconnects_holds_its_connection_no_more() -> None:
    world = World()
    async with world.attendances.kept():
        mine = world.hold()
        await world.server.until(lambda: bool(world.server.now_open))
        world.connections.lost(mine, ENDED)
        await world.server.until(lambda: not world.server.now_open)
        await world.attendances.leave()

    assert world.server.exits == []


async def test_who_leaves_says_so_for_each_of_its_workers() -> None:
    world = World(server=Scripted([Over.CLOSED]), naps=Naps(last=1))
    async with world.attendances.kept():
        world.hold()
        with anyio.fail_after(5):
            await world.naps.over.wait()
        world.connections.hold_own(held(passing_chat(3), session="session_2"))
        await world.server.until(lambda: bool(world.server.now_open))
        await world.attendances.leave()

    assert set(world.server.exits) == {
        (SessionId("session_1"), "connection-1"),
        (SessionId("session_2"), "connection-2"),
    }
    assert world.server.now_open == {}


async def test_a_server_that_does_not_answer_holds_up_nobody_who_leaves() -> None:
    world = World(server=Scripted(never_answers=True))
    async with world.attendances.kept():
        world.hold()
        await world.server.until(lambda: bool(world.server.now_open))
        with anyio.fail_after(5):
            await world.attendances.leave()


async def test_what_a_client_raises_comes_out_as_it_is() -> None:
    world = World()

    async def fail() -> None:
        async with world.attendances.kept():
            world.hold()
            raise DOWN

    with pytest.raises(RoomsUnavailable):
        await fail()
