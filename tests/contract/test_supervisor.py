"""Every adapter of a supervisor, as its agents see it, keeps the promises of the port."""

from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import pytest
from tests.contract.supervised import CountingTools, socket_world
from tests.e2e.supervised import process_world

from letagents.adapters.supervisor.none import NoSupervisor
from letagents.domain.errors import NotAvailable
from letagents.domain.supervised import (
    DEFERRED,
    NOT_SUPERVISED,
    STALE,
    Answered,
    Call,
    MayBeDone,
    OwnSession,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
)
from letagents.ports.supervisor import Supervisor
from letagents.testing.contracts.supervisor import (
    MESSAGE,
    RESULT,
    ROOM,
    SESSION,
    SupervisorContract,
    World,
    change,
)
from letagents.testing.scripted_supervisor import ScriptedHouse, refused, silent, unavailable


@pytest.mark.rule("J60")
@pytest.mark.anyio
async def test_who_is_not_supervised_is_told_so() -> None:
    nobody = NoSupervisor()
    await nobody.checkpoint(SESSION, "msg_1")

    assert not (await nobody.bind(SESSION)).is_supervised
    assert await nobody.borrow(SESSION) == NOT_SUPERVISED
    assert not NOT_SUPERVISED.is_supervised
    for asking in (nobody.execute(change()), nobody.prepare(change()), nobody.complete("e")):
        with pytest.raises(NotAvailable):
            await asking


@attrs.define
class ScriptedWorld:
    """A house without walls."""

    house: ScriptedHouse
    session: OwnSession = SESSION
    runs: list[Call] = attrs.field(factory=list)

    def supervisor(self) -> Supervisor:
        return self.house.supervisor()

    async def does(self, call: Call) -> object:
        self.runs.append(call)
        return RESULT

    async def take_over(self) -> None:
        self.house.take_over()

    async def end(self) -> None:
        self.house.is_there = False

    async def cursor(self) -> str | None:
        binding = self.house.binding
        return str(binding.cursor) if binding is not None and binding.cursor else None

    def performed(self) -> int:
        return len(self.runs)


class TestScripted(SupervisorContract):
    @pytest.fixture(params=["executes", "leaves it to us"])
    def world(self, request: pytest.FixtureRequest) -> World:
        world = ScriptedWorld(ScriptedHouse(ROOM, MESSAGE))
        if request.param == "executes":
            world.house.does = world.does
        return world


@pytest.mark.anyio
async def test_a_scripted_supervisor_plays_what_it_is_told_and_then_goes_on() -> None:
    world = ScriptedWorld(ScriptedHouse(ROOM, MESSAGE))
    world.house.does = world.does
    supervisor = world.supervisor()
    await supervisor.bind(SESSION)
    handing_over = "Supervisor handoff has fenced new daemon mutations."
    may_be_done = MayBeDone(ROOM, "effect-9", "Nobody knows.")
    world.house.play("execute", refused(handing_over), silent(), unavailable())
    world.house.play("prepare", may_be_done)
    world.house.play("borrow", DEFERRED, silent())

    with pytest.raises(SupervisorRefused) as told:
        await supervisor.execute(change())
    assert told.value.happened == handing_over
    with pytest.raises(SupervisorSilent):
        await supervisor.execute(change())
    with pytest.raises(SupervisorUnavailable):
        await supervisor.execute(change())
    assert await supervisor.prepare(change("2")) == may_be_done
    assert await supervisor.borrow(SESSION) == DEFERRED
    assert await supervisor.borrow(SESSION) == STALE

    assert await supervisor.execute(change()) == Answered(ROOM, RESULT)
    assert (await supervisor.borrow(SESSION)).credential is not None
    assert (world.performed(), world.house.asked["execute"]) == (1, 4)
    world.house.play("execute", Answered(ROOM, {"n": 2}))
    assert await supervisor.execute(change()) == Answered(ROOM, {"n": 2})


class TestSocket(SupervisorContract):
    @pytest.fixture(params=["executes", "leaves it to us"])
    async def world(
        self, anyio_backend: str, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[World]:
        tools = CountingTools() if request.param == "executes" else None
        async with socket_world(tmp_path / "h", tools) as world:
            yield world


@pytest.mark.long
class TestProcess(SupervisorContract):
    """The real thing: `letagents supervise`, killed where another one takes over."""

    @pytest.fixture
    async def world(self, anyio_backend: str, tmp_path: Path) -> AsyncIterator[World]:
        async with process_world(tmp_path / "h") as world:
            yield world
