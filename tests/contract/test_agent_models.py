"""Agents of open models as a program adds them: their keys are found, and kept nowhere."""

from pathlib import Path

import attrs
import pytest
from tests.contract.keeping import World

from letagents.adapters.providers.model_keys import OwnKeys
from letagents.application.agents.household import Household
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.open_models import OpenModels
from letagents.domain.errors import Malformed
from letagents.domain.open_models import Endpoint
from letagents.domain.turns import ProviderMissing, ProviderUnusable
from letagents.entrypoints.daemon.agents import Agents
from letagents.wire import kept
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Request

pytestmark = pytest.mark.anyio
KEY = "sk-hunter2-0123456789"
OPEN = {
    "id": "e2",
    "room_id": "workshop",
    "provider": "open-model",
    "desired_state": "stopped",
    "base_url": "https://models.example/v1/",
    "model": "big",
}


@attrs.define(eq=False)
class Supervisor:
    """One supervisor, of generation 1, as programs ask it."""

    world: World
    models: OpenModels
    keeper: Keeper
    agents: Agents

    @classmethod
    async def open(cls, environ: dict[str, str]) -> "Supervisor":
        world, models = World(), OpenModels(OwnKeys(environ))
        await world.open()
        keeper = await world.keeper()
        household = Household(keeper.sessions.journal, lambda _: keeper, 1, models=models)
        return cls(world, models, keeper, Agents(household, world.clock.now))

    async def ask(self, method: str, params: object) -> object:
        return await self.agents.table()[method](Request(2, "1", method, params))

    async def add(self, **more: object) -> object:
        return await self.ask(wire.PUT_AGENT, {"entry": {**OPEN, **more}})

    def endpoint(self) -> Endpoint | None:
        entry = self.world.place.journal.entry("e2")
        assert entry is not None
        return self.models.endpoint(entry)

    async def hand_over(self, **more: object) -> object:
        given = {"entry_id": "e2", "base_url": "http://127.0.0.1:8000", "model": "small"}
        asked = {**given, "api_key": KEY, "daemon_generation": 1, **more}
        return await self.ask(wire.INSTALL_MODEL, asked)

    def written(self) -> str:
        return "".join(kept.written(one) for one in self.world.place.journal.entries())


@pytest.mark.rule("Y43", "Y46")
async def test_a_key_is_found_by_its_name_and_neither_kept_nor_shown() -> None:
    environ = {"MODEL_KEY": f" {KEY} "}
    supervisor = await Supervisor.open(environ)
    shown = await supervisor.add(api_key_variable="MODEL_KEY")
    found = supervisor.endpoint()
    environ["MODEL_KEY"] = ""

    assert isinstance(shown, dict)
    assert shown["base_url"] == "https://models.example/v1"
    assert shown["api_key_from"] == "the variable MODEL_KEY"
    assert found == Endpoint("https://models.example/v1", "big", KEY)
    assert KEY not in f"{shown}{supervisor.written()}{supervisor.models!r}{found!r}"
    with pytest.raises(ProviderUnusable, match="no key in the variable MODEL_KEY"):
        supervisor.endpoint()


@pytest.mark.rule("Y46")
async def test_a_file_with_a_key_is_its_owner_s_alone(tmp_path: Path) -> None:
    file = tmp_path / "key"
    supervisor = await Supervisor.open({})
    await supervisor.add(api_key_file=str(file))
    with pytest.raises(ProviderUnusable, match="There is no key in the file"):
        supervisor.endpoint()
    file.write_text(f"{KEY}\n")
    file.chmod(0o640)
    with pytest.raises(ProviderUnusable, match="nobody else may read") as told:
        supervisor.endpoint()
    file.chmod(0o600)

    assert f"chmod 600 {file}" in told.value.remedy
    assert supervisor.endpoint() == Endpoint("https://models.example/v1", "big", KEY)
    for content in (f"{KEY} {KEY}", "k" * 5000):
        file.write_text(content)
        with pytest.raises(ProviderUnusable) as told:
            supervisor.endpoint()
        assert KEY not in str(told.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"base_url": f"https://ada:{KEY}@models.example"}, "unsafe endpoint"),
        ({"model": " "}, "has no name"),
        ({"provider": "codex"}, "Only agents of an open model"),
        ({"api_key_variable": KEY}, "no name of a variable"),
        ({"api_key_variable": "A", "api_key_file": "/b"}, "in one place"),
        ({"source_repo_path": "engine"}, "its whole path"),
    ],
)
async def test_what_cannot_be_a_model_is_refused_and_nothing_is_kept(
    more: dict[str, object], said: str
) -> None:
    supervisor = await Supervisor.open({})
    with pytest.raises(Malformed, match=said) as told:
        await supervisor.add(**more)

    assert KEY not in str(told.value)
    assert supervisor.world.place.journal.entry("e2") is None


@pytest.mark.rule("Y47")
async def test_a_key_that_is_handed_over_is_in_memory_alone() -> None:
    supervisor = await Supervisor.open({})
    await supervisor.add(base_url=None)
    assert supervisor.endpoint() is None
    assert await supervisor.hand_over(daemon_generation=2) == {"status": "stale"}
    assert await supervisor.hand_over(entry_id="nobody") == {"status": "stale"}
    assert await supervisor.hand_over(entry_id="e1") == {"status": "stale"}
    assert await supervisor.hand_over() == {"status": "installed"}

    assert supervisor.endpoint() == Endpoint("http://127.0.0.1:8000", "small", KEY)
    assert KEY not in supervisor.written()
    await supervisor.ask(wire.REMOVE_AGENT, {"id": "e2"})
    await supervisor.add(base_url=None)
    assert supervisor.endpoint() is None
    for wrong in ({"base_url": "ftp://m"}, {"model": ""}, {"api_key": 7}, {"api_key": " "}):
        with pytest.raises(Malformed):
            await supervisor.hand_over(**wrong)


async def test_an_agent_whose_program_is_missing_is_not_added_and_its_person_told_how() -> None:
    supervisor = await Supervisor.open({})
    supervisor.world.provider.is_installed = False
    with pytest.raises(ProviderMissing) as told:
        await supervisor.add()

    assert "pip install scripted" in told.value.remedy
    assert supervisor.world.place.journal.entry("e2") is None
