"""A call that meets one supervisor going and the next one coming is done by the next one, once.

When the first one goes is chosen: at which request, and how; when the next one comes too.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.contract.supervised import SERVER, CountingTools, SocketWorld, socket_world
from tests.integration.test_supervisor_client import BOUND, IDENTITY, Fake, process

from letagents.adapters.supervisor.calls import Deadline
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.supervisor.successors import HANDING_OVER, outlasting, outlasting_until
from letagents.adapters.system import SystemIds
from letagents.domain.supervised import (
    Answered,
    Borrowed,
    DoIt,
    SupervisorRefused,
    SupervisorSilent,
)
from letagents.testing.contracts.supervisor import RESULT, ROOM, SESSION, change
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Request

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
FENCED = "Supervisor handoff has fenced new daemon mutations."
STALE = "The supervised effect belongs to a stale daemon generation."
NO_IDENTITY = (
    "The exact server-issued worker identity is unavailable for this supervised tool execution."
)
NEXT = {**IDENTITY, "generation": 8}
DONE = {"state": "completed", "room_id": ROOM, "result": RESULT}
PREPARED = {"state": "prepared", "effect_id": "f1", "room_id": ROOM, "action": "execute"}
LENT = {"status": "available", "credential": "secret"}


@attrs.define(eq=False)
class Replaced(Fake):
    """One that is replaced at its request of that number, which it answers so, or cuts (None).

    The next one is there after two pauses of who waits for it.
    """

    at: int = 1
    how: object = None
    pauses: int = 0

    async def _say(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        is_last = len(self.asked) == self.at
        known = self.said
        if is_last:
            self.said = {**known, request.method: self.how}
        await super()._say(request, reader, writer)
        if is_last:
            self.said = {**known, wire.NEGOTIATE: NEXT}
            await self.stop()

    async def pause(self, _seconds: float) -> None:
        self.pauses += 1
        await asyncio.sleep(0)
        if self.pauses == 2 and self._listening is None:
            await self.start()

    def process(self) -> SocketSupervisor:
        environ = {
            "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
            "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(self.socket),
            "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
            "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
            "LETAGENTS_API_URL": SERVER,
        }
        return SocketSupervisor(
            environ, self.socket, self.socket.parent, SystemIds(), gap=30.0, pause=self.pause
        )


Act = Callable[[SocketSupervisor], Awaitable[Any]]
ACTS: dict[str, tuple[Act, Any]] = {
    wire.BIND: (lambda one: one.bind(SESSION), BOUND),
    wire.BORROW: (lambda one: one.borrow(SESSION), LENT),
    wire.EXECUTE: (lambda one: one.execute(change()), DONE),
    wire.PREPARE: (lambda one: one.prepare(change()), PREPARED),
    wire.COMPLETE: (lambda one: one.complete("f1", result={}), {"completed": True}),
}


@pytest.mark.parametrize("how", [FENCED, None], ids=["fenced", "cut"])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("method", ACTS)
async def test_the_next_supervisor_does_what_the_last_one_did_not(
    tmp_path: Path, method: str, at: int, how: object
) -> None:
    act, said = ACTS[method]
    fake = Replaced(tmp_path / "daemon.sock", at=at, how=how)
    fake.said[method] = said
    await fake.start()
    async with asyncio.timeout(30):
        came = await act(fake.process())
    await fake.stop()

    if isinstance(came, Answered):
        assert came.result == RESULT
    elif isinstance(came, Borrowed):
        assert came.credential is not None
    else:
        assert came is None or isinstance(came, DoIt) or came.is_supervised
    last = fake.params(method)[-1]
    assert last.get("daemon_generation", 8) == 8
    assert fake.pauses >= 2


async def test_what_is_lent_is_asked_of_the_supervisor_that_came_between(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "daemon.sock")
    whose = iter([IDENTITY, NEXT])
    fake.said[wire.NEGOTIATE] = lambda _: next(whose)
    fake.said[wire.BORROW] = lambda request: (
        LENT if request.params["daemon_generation"] == 8 else {"status": "stale"}
    )
    await fake.start()
    async with asyncio.timeout(30):
        lent = await Replaced.process(Replaced(fake.socket)).borrow(SESSION)
    await fake.stop()

    assert lent.credential is not None


@pytest.fixture
async def world(anyio_backend: str, tmp_path: Path) -> AsyncIterator[SocketWorld]:
    async with socket_world(tmp_path / "h", CountingTools()) as world:
        yield world


async def test_a_call_waits_until_the_next_one_is_there_and_knows_the_agents_session(
    world: SocketWorld,
) -> None:
    assert world.tools is not None
    steps = iter([world.start(), world.supervisor().bind(SESSION)])

    async def pause(_seconds: float) -> None:
        await next(steps)

    ours = world.supervisor()
    await ours.bind(SESSION)
    ours._gap, ours._pause = 30.0, pause
    await world.end()
    async with asyncio.timeout(30):
        done = await ours.execute(change())

    assert done == Answered(ROOM, RESULT)
    assert len(world.tools.runs) == 1


@pytest.mark.parametrize("why", [STALE, NO_IDENTITY])
async def test_what_stays_so_is_told_after_a_while(why: str) -> None:
    seconds: list[float] = []

    async def act() -> None:
        raise SupervisorRefused(why, remedy="Wait.")

    async def pause(span: float) -> None:
        seconds.append(span)

    with pytest.raises(SupervisorRefused):
        await outlasting(act, within=0.02, pause=pause)
    assert seconds
    assert max(seconds) <= 0.25


async def test_what_may_have_been_done_is_repeated_only_under_the_same_request() -> None:
    tries = 0

    async def act() -> None:
        nonlocal tries
        tries += 1
        raise SupervisorSilent("Supervisor connection closed before a response.", remedy="Look.")

    async def pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    with pytest.raises(SupervisorSilent):
        await outlasting(act, within=30.0, pause=pause, is_repeatable=False)
    assert tries == 1


async def test_all_tries_to_say_what_became_of_a_call_have_one_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadlines: list[float | None] = []

    async def refused(_ours: object, *asked: object) -> None:
        (deadline,) = (one for one in asked if isinstance(one, Deadline))
        deadlines.append(deadline.at)
        raise SupervisorRefused(STALE, remedy="Wait.")

    monkeypatch.setattr(SocketSupervisor, "_complete", refused)
    with pytest.raises(SupervisorRefused):
        await process(Fake(tmp_path / "daemon.sock"), patience=0.1).complete("f1", result={})

    assert len(deadlines) > 1
    assert len(set(deadlines)) == 1


async def test_each_try_is_told_until_when_all_of_them_last() -> None:
    told: list[float] = []

    async def act(until: float) -> None:
        told.append(until)
        if len(told) < 3:
            raise SupervisorRefused(STALE if len(told) < 2 else FENCED, remedy="Wait.")

    async def pause(_seconds: float) -> None:
        await asyncio.sleep(0)

    await outlasting_until(act, within=5.0, pause=pause)

    first, again, handed_over = told
    assert first == again
    assert handed_over - first == pytest.approx(HANDING_OVER - 5.0)
