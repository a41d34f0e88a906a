"""When a client's session is opened, and that it is closed in order whatever happens."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import attrs
import pytest

from letagents.entrypoints.mcp import opening as module
from letagents.entrypoints.mcp.opening import opening


@attrs.define
class Door:
    """A session that notes how often it was opened and closed in order."""

    opened: int = 0
    closed: int = 0

    @asynccontextmanager
    async def go_through(self) -> AsyncIterator["Door"]:
        self.opened += 1
        try:
            yield self
        finally:
            await anyio.lowlevel.checkpoint()  # where it is cancelled, it comes no further
            self.closed += 1


@pytest.fixture
async def _bounded() -> AsyncIterator[None]:
    with anyio.fail_after(20):
        yield


@pytest.fixture
def door(_bounded: None) -> Door:
    return Door()


async def test_a_session_that_nobody_needed_is_never_opened(door: Door) -> None:
    async with opening(door.go_through):
        await anyio.wait_all_tasks_blocked()

    assert (door.opened, door.closed) == (0, 0)


async def test_calls_at_once_share_one_session_which_is_closed_at_the_end(door: Door) -> None:
    got: list[Door] = []

    async with opening(door.go_through) as session:

        async def call() -> None:
            got.append(await session())

        async with anyio.create_task_group() as calls:
            for _ in range(3):
                calls.start_soon(call)
        assert (door.opened, door.closed) == (1, 0)

    assert got == [door] * 3
    assert (door.opened, door.closed) == (1, 1)


@pytest.mark.parametrize("constant", ["BEGIN", "BREATH"])
async def test_it_is_opened_though_no_call_comes(
    door: Door, monkeypatch: pytest.MonkeyPatch, constant: str
) -> None:
    monkeypatch.setattr(module, constant, 0.0)

    async with opening(door.go_through) as session:
        if constant == "BREATH":
            session.soon()
        await session._opened.wait()

    assert (door.opened, door.closed) == (1, 1)


async def test_a_fault_elsewhere_closes_it_in_order(door: Door) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(ValueError)):
        async with opening(door.go_through) as session:
            await session()
            raise ValueError

    assert (door.opened, door.closed) == (1, 1)


async def test_a_cancelled_server_closes_it_in_order(door: Door) -> None:
    with anyio.CancelScope() as scope:
        async with opening(door.go_through) as session:
            await session()
            scope.cancel()

    assert (door.opened, door.closed) == (1, 1)


@pytest.mark.usefixtures("_bounded")
async def test_what_fails_in_opening_it_is_heard_of() -> None:
    def failing() -> AbstractAsyncContextManager[Door]:
        raise ValueError

    with pytest.RaisesGroup(pytest.RaisesExc(ValueError)):
        async with opening(failing) as session:
            await session()
