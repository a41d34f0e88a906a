"""Two processes after one handle: whatever the order of their steps, one of them ends up with it.

A step is one write to the machine's memory or one connection to the room. The tests do not wait for
luck: they let one flow take one step at a time, in every order there is, or in those chosen.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import attrs
import pytest
from tests.contract.machine import ROOM, Machine, Process, raising, switched_on

from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    RegistrationConflict,
    RoomsUnavailable,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, WorkerId
from letagents.domain.local_state import LocalState
from letagents.domain.sessions import Arrival, Connection, Session
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore, T

BUSY = RoomsUnavailable("The place is busy.", remedy="Call again.")


@attrs.define
class Flow:
    """Something that goes on step by step, when it is let."""

    is_free: bool = False
    """Whether it goes on without being let."""
    ended: bool = False
    _paused: anyio.Event = attrs.field(factory=anyio.Event)
    _let: anyio.Event = attrs.field(factory=anyio.Event)
    _scope: anyio.CancelScope = attrs.field(factory=anyio.CancelScope)

    async def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work`, pausing before each of its steps."""
        with self._scope:
            await work()
        self.ended = True
        self._paused.set()

    async def step(self) -> None:
        """Pause here until the test lets this flow go on."""
        if self.is_free:
            return
        self._paused.set()
        await self._let.wait()
        self._let = anyio.Event()

    async def go_on(self) -> None:
        """Let the flow take its next step; return when it pauses again, or has ended."""
        await self._paused.wait()
        if not self.ended:
            self._paused = anyio.Event()
            self._let.set()
        await self._paused.wait()

    async def kill(self) -> None:
        """End the flow before its next step, as the system ends a process."""
        await self._paused.wait()
        if not self.ended:
            self._paused = anyio.Event()
            self._scope.cancel()
        await self._paused.wait()


@attrs.define
class SteppedState:
    """A state store whose writes are steps of a flow."""

    inner: StateStore
    flow: Flow

    async def read(self) -> LocalState:
        return await self.inner.read()

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        await self.flow.step()
        return await self.inner.transact(decide)


class SteppedRooms:
    """Rooms in which coming and going are steps of a flow."""

    def __init__(self, inner: RoomTransport, flow: Flow) -> None:
        self._flow = flow
        self.create, self.join, self.known = inner.create, inner.join, inner.known
        self.post, self.read, self.wait, self.message = (
            inner.post,
            inner.read,
            inner.wait,
            inner.message,
        )
        self._inner = inner

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        await self._flow.step()
        return await self._inner.connect(room_id, arrival)

    async def disconnect(self, room_id: RoomId, fence: Fence) -> Session:
        await self._flow.step()
        return await self._inner.disconnect(room_id, fence)


@attrs.define
class Rival:
    """A process whose steps are let by the test, and what came of its registration."""

    flow: Flow
    process: Process
    connection: Connection | None = None
    refused: LetAgentsError | None = None

    @classmethod
    async def on(cls, machine: Machine) -> "Rival":
        flow = Flow()
        process = await machine.process(
            around_rooms=lambda rooms: SteppedRooms(rooms, flow),
            around_state=lambda state: SteppedState(state, flow),
        )
        return cls(flow, process)

    async def reconnect(self, worker_id: WorkerId) -> None:
        try:
            self.connection = (await self.process.reconnect(worker_id)).connection
        except LetAgentsError as error:
            self.refused = error

    async def disconnect(self, connection: Connection) -> None:
        try:
            await self.process.client.registration.disconnect(connection)
        except ConnectionLost as error:
            self.refused = error


@attrs.define
class Order:
    """One order of steps: the first ones as given, then always the first flow that can."""

    given: Sequence[int]
    taken: list[int] = attrs.field(factory=list)
    others: list[tuple[int, ...]] = attrs.field(factory=list)
    """Orders that part from this one at some step after the given ones."""

    async def of(self, flows: Sequence[Flow]) -> None:
        """Let `flows` go on until all have ended."""
        while able := [number for number, flow in enumerate(flows) if not flow.ended]:
            at = len(self.taken)
            chosen = self.given[at] if at < len(self.given) else able[0]
            if at >= len(self.given):
                self.others += [(*self.taken, other) for other in able[1:]]
            self.taken.append(chosen)
            await flows[chosen].go_on()


def orders() -> Iterator[Order]:
    """Give every order there is, once each: those found while one was taken come later."""
    left: list[tuple[int, ...]] = [()]
    while left:
        order = Order(left.pop())
        yield order
        left += order.others


# --- beginnings ----------------------------------------------------------------------------------


async def unborn(machine: Machine) -> WorkerId:
    """A worker whose very first connection never got as far as being written down."""
    process = await machine.process()
    process.rooms.before.append(raising(BUSY))
    with pytest.raises(RoomsUnavailable):
        await process.register(name="Juniper")
    [worker_id] = (await machine.state()).workers
    return worker_id


async def live(machine: Machine) -> WorkerId:
    """A worker that a third process holds."""
    return (await (await machine.process()).register(name="Juniper")).worker_id


async def left_over_unasked(machine: Machine) -> WorkerId:
    """A worker whose last process died before it asked the room."""
    worker_id = await live(machine)
    await _killed_after(machine, worker_id, steps=2)
    return worker_id


async def left_over_asked(machine: Machine) -> WorkerId:
    """A worker whose last process died before it heard the room's answer."""
    worker_id = await live(machine)
    await _killed_after(machine, worker_id, steps=3)
    return worker_id


async def _killed_after(machine: Machine, worker_id: WorkerId, *, steps: int) -> Rival:
    rival = await Rival.on(machine)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rival.flow.run, lambda: rival.reconnect(worker_id))
        for _ in range(steps):
            await rival.flow.go_on()
        await rival.flow.kill()
    return rival


BEGINNINGS = [unborn, live, left_over_unasked, left_over_asked]


@asynccontextmanager
async def begun(
    folder: Path | None, beginning: Callable[[Machine], Awaitable[WorkerId]]
) -> AsyncIterator[tuple[Machine, WorkerId]]:
    with anyio.fail_after(60):
        async with switched_on(folder, ROOM) as machine:
            yield machine, await beginning(machine)


async def race(machine: Machine, worker_id: WorkerId, order: Order, *, refuse: int = 0) -> None:
    """Let two processes connect the worker in that order, and see that one ends up with it.

    The first of them is refused by the room, as by a busy one, `refuse` times.
    """
    rivals = [await Rival.on(machine), await Rival.on(machine)]
    rivals[0].process.rooms.before.extend([raising(BUSY)] * refuse)
    async with anyio.create_task_group() as tasks:
        for rival in rivals:
            tasks.start_soon(rival.flow.run, _reconnecting(rival, worker_id))
        await order.of([rival.flow for rival in rivals])
    heard = [rival for rival in rivals if await rival.process.can_speak(rival.connection)]

    if refuse:
        assert len(heard) <= 1, order.taken
    else:
        assert len(heard) == 1, order.taken
    for rival in rivals:
        assert rival.refused is None or isinstance(
            rival.refused, RegistrationConflict | RoomsUnavailable
        ), (order.taken, rival.refused)
    await is_never_lost(machine, worker_id)


def _reconnecting(rival: Rival, worker_id: WorkerId) -> Callable[[], Awaitable[None]]:
    return lambda: rival.reconnect(worker_id)


async def is_never_lost(machine: Machine, worker_id: WorkerId) -> None:
    """See that the next process gets the worker, as what it always was."""
    after = await machine.process()
    registered = await after.reconnect(worker_id)
    assert registered.connection.session.display_name == "Juniper"
    assert await after.can_speak(registered.connection)


# --- every order ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beginning", BEGINNINGS)
async def test_in_every_order_of_two_registrations_exactly_one_process_can_act(
    beginning: Callable[[Machine], Awaitable[WorkerId]],
) -> None:
    counted = 0
    for order in orders():
        async with begun(None, beginning) as (machine, worker_id):
            await race(machine, worker_id, order)
        counted += 1

    assert counted >= 50


@pytest.mark.parametrize("beginning", BEGINNINGS)
async def test_in_every_order_with_a_refusal_the_handle_is_never_lost(
    beginning: Callable[[Machine], Awaitable[WorkerId]],
) -> None:
    """A refused operation must not be taken back while the other process carries it out."""
    for order in orders():
        async with begun(None, beginning) as (machine, worker_id):
            await race(machine, worker_id, order, refuse=1)


async def test_in_every_order_of_leaving_and_coming_the_handle_is_never_lost() -> None:
    for order in orders():
        async with begun(None, live) as (machine, worker_id):
            leaving, coming = await Rival.on(machine), await Rival.on(machine)
            held = await _connected_freely(leaving, worker_id)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(leaving.flow.run, _disconnecting(leaving, held))
                tasks.start_soon(coming.flow.run, _reconnecting(coming, worker_id))
                await order.of([leaving.flow, coming.flow])

            assert not await leaving.process.can_speak(held)
            if leaving.refused is not None:
                assert await coming.process.can_speak(coming.connection)
            await is_never_lost(machine, worker_id)


async def _connected_freely(rival: Rival, worker_id: WorkerId) -> Connection:
    rival.flow.is_free = True
    await rival.reconnect(worker_id)
    rival.flow.is_free = False
    assert rival.connection is not None
    return rival.connection


def _disconnecting(rival: Rival, connection: Connection) -> Callable[[], Awaitable[None]]:
    return lambda: rival.disconnect(connection)


# --- over files, and killed ----------------------------------------------------------------------

STEPS = 7
SWITCHES = [
    (0,) * first + (1,) * second
    for first in range(STEPS)
    for second in range(1, STEPS)
    if first + second < 9
]
"""One process for some steps, then the other for some, and then each to its end."""


@pytest.mark.parametrize("beginning", [live, left_over_asked])
async def test_over_files_too_exactly_one_process_can_act(
    tmp_path: Path, beginning: Callable[[Machine], Awaitable[WorkerId]]
) -> None:
    for number, given in enumerate([(0, 1, 0, 1, 0, 1), (0, 0, 1, 1, 0, 0), *SWITCHES[::6]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        async with begun(folder, beginning) as (machine, worker_id):
            await race(machine, worker_id, Order(given))


@pytest.mark.parametrize("durable", [False, True], ids=["memory", "files"])
@pytest.mark.parametrize("steps", range(1, STEPS))
@pytest.mark.parametrize("beginning", BEGINNINGS)
async def test_wherever_a_process_is_killed_the_next_one_gets_the_worker(
    tmp_path: Path,
    beginning: Callable[[Machine], Awaitable[WorkerId]],
    steps: int,
    durable: bool,
) -> None:
    async with begun(tmp_path if durable else None, beginning) as (machine, worker_id):
        await _killed_after(machine, worker_id, steps=steps)

        await is_never_lost(machine, worker_id)
