"""Agents that are let into a server's room by a host grant, and by no sign-in of this machine.

The server is ours, in this process; what answers are lost or made up, its transport is told.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.keeping import ROOM, World
from tests.contract.served import ADA, hosting

from letagents.adapters.supervision.memory import MemorySupervision
from letagents.application.agents.agent_states import Agent
from letagents.application.agents.grant_renewals import GrantRenewals
from letagents.application.agents.granted_sessions import Way
from letagents.application.agents.granting import Grants
from letagents.application.agents.household import Household
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.servers import Lodging, Servers
from letagents.application.client import LetAgents
from letagents.application.server.hosting import Hosting
from letagents.domain.agent_states import State
from letagents.domain.bindings import Claim, Lent
from letagents.domain.custody import Phase
from letagents.domain.deeds import Act
from letagents.domain.errors import NotSignedIn
from letagents.domain.held_grants import AuthorityBlocked
from letagents.domain.ids import RoomId
from letagents.domain.manifest import Admission, Delivery, Entry, ManifestRefused
from letagents.domain.messages import Latest
from letagents.domain.recovery import Desired
from letagents.entrypoints.daemon.agents import shown
from letagents.entrypoints.daemon.grants import GrantMethods
from letagents.entrypoints.daemon.tools import RoomTools
from letagents.entrypoints.server.app import application
from letagents.ports.tools import Authority
from letagents.settings import Settings
from letagents.testing.contracts.room_callers import arrival
from letagents.testing.scripted_provider import Play
from letagents.wire import kept, moments
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Request
from letagents.wiring.granting import open_grants

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="supervisors are not there"),
]
SERVER = "https://rooms.test"
LOST = "lost"


@attrs.define(eq=False)
class Told(httpx.AsyncBaseTransport):
    """Reaches a server, but for calls with a grant: of those each does what comes next."""

    inner: httpx.AsyncBaseTransport
    plan: list[Any] = attrs.field(factory=list)
    asked: list[str] = attrs.field(factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.startswith("/supervisor-host-grants/"):
            return await self.inner.handle_async_request(request)
        self.asked.append(request.url.path.rpartition("/")[2])
        told = self.plan.pop(0) if self.plan else None
        if callable(told):
            told()
        if isinstance(told, int):
            said = f"not with {request.headers['authorization']}"
            return httpx.Response(told, json={"error": said})
        if isinstance(told, dict):
            return httpx.Response(200, json=told)
        answer = await self.inner.handle_async_request(request)
        if isinstance(told, datetime):
            document = json.loads(await answer.aread())
            ends = {"worker_bearer_expires_at": moments.to_text(told)}
            return httpx.Response(201, json=document | ends)
        if told == LOST:
            raise httpx.ReadTimeout("no answer", request=request)
        return answer


@attrs.define(eq=False)
class GrantedWorld(World):
    """A server that gives grants, and a supervisor whose machine is signed in nowhere."""

    home: Path = attrs.field(default=Path(), kw_only=True)
    delivery: Delivery = Delivery.INBOX
    served: Hosting = attrs.field(init=False)
    told: Told = attrs.field(init=False)
    grants: Grants = attrs.field(init=False)
    renewals: GrantRenewals = attrs.field(init=False)
    secret: str = ""
    grant_id: str = ""
    stack: Any = None

    async def open(self) -> None:
        await super().open()
        self.served = attrs.evolve(hosting(self.rooms, self.clock), takes_bearers=True)
        self.told = Told(httpx.ASGITransport(application(self.served)))
        given, self.secret = await self.served.keeper.grant(ADA, timedelta(hours=24))
        self.grant_id = given.grant_id

    def fresh(self) -> Entry:
        named = attrs.evolve(super().fresh(), api_url=SERVER, display_name="Juniper")
        return attrs.evolve(named, delivery=self.delivery)

    async def keeper(self) -> Keeper:
        keeper = await super().keeper()
        opening = open_grants(Settings(home=self.home), keeper.sessions, transport=self.told)
        self.grants = await opening.__aenter__()
        self.renewals = GrantRenewals(self.grants.granted)
        self.stack = opening
        self.grants.granted.wait = self._at_once
        self.grants.look_again = lambda _entry_id: keeper.look_again()
        self.grants.granted.withdraw = lambda _entry_id: keeper.withdraw()
        return keeper

    async def _at_once(self, _seconds: float) -> None:
        """Wait for nothing."""

    async def lodging(self, api_url: str) -> Lodging:
        granted = await self.grants.lodging("e1")
        if granted is None:
            raise NotSignedIn("Nobody is signed in here.", remedy="Sign in.")
        return granted

    async def install(self, **more: object) -> Any:
        asked = {
            "entry_id": "e1",
            "room_id": str(ROOM),
            "agent_key": "ada/e1",
            "grant_id": self.grant_id,
            "supervisor_grant": self.secret,
            "grant_generation": 1,
            "api_url": SERVER,
            "host_id": "host",
            "installation_id": "home",
            "grant_expires_at": moments.to_text(self.clock.now() + timedelta(hours=24)),
            "daemon_generation": self.place.generation,
        }
        install = GrantMethods(self.grants).table()[wire.INSTALL_GRANT]
        return await install(Request(2, "1", wire.INSTALL_GRANT, asked | more))

    def condition(self) -> object:
        """Return what is shown to keep the agent from its room."""
        return shown(Agent(self.entry, State.IDLE))["condition"]

    async def lent(self, keeper: Keeper) -> tuple[Lent, str | None]:
        """Return what the agent's own process is lent."""
        binding = self.place.journal.binding("e1")
        execution = self.entry.execution
        assert execution is not None
        claim = Claim(
            "e1",
            str(ROOM),
            self.entry.work_attempt_id,
            execution.execution_id,
            binding.session_id if binding is not None else "",
            SERVER,
        )
        lent, credential = await keeper.sessions.lend(claim, self.place.generation)
        return lent, credential.value if credential is not None else None

    async def end(self) -> None:
        await super().end()
        if self.stack is not None:
            await self.stack.__aexit__(None, None, None)


@pytest.fixture
async def world(anyio_backend: str, tmp_path: Path) -> AsyncIterator[GrantedWorld]:
    world = GrantedWorld(home=tmp_path)
    await world.open()
    yield world
    await world.end()


async def started(world: GrantedWorld) -> Keeper:
    keeper = await world.run()
    assert await world.install() == {"status": "installed"}
    await world.is_there()
    return keeper


async def test_an_agent_answers_by_a_grant_where_nobody_is_signed_in(world: GrantedWorld) -> None:
    keeper = await started(world)
    await world.ask("@Juniper one?")

    assert await world.answers(1) == ["ok"]
    page = await world.rooms.read(ROOM, Latest())
    assert page.messages[-1].sender == "Juniper | Ada's agent | Codex"
    lent, bearer = await world.lent(keeper)
    assert (lent, str(bearer)[:5]) == (Lent.AVAILABLE, "lasb_")
    assert world.told.asked == ["worker-sessions"]
    written = "".join(kept.written(one) for one in world.place.journal.entries())
    assert world.secret not in written + repr(world.grants.granted._held)


@pytest.mark.rule("J128")
async def test_an_agent_is_let_in_by_a_grant_where_its_name_is_somebodys(
    world: GrantedWorld,
) -> None:
    other = attrs.evolve(arrival(3, 3), display_name="Juniper")
    await world.rooms.connect(ROOM, other)
    keeper = await started(world)
    await world.ask("@everyone one?")

    assert await world.answers(1) == ["ok"]
    page = await world.rooms.read(ROOM, Latest())
    name = page.messages[-1].sender.partition(" |")[0]
    assert name != "Juniper"
    told = await keeper.sessions.feeds.of("e1").after(0, timedelta())
    assert f"It is in {ROOM}, as {name}: its name is somebody's there." in [
        one.summary for one in told
    ]


async def test_its_tools_are_run_by_its_bearer(world: GrantedWorld, tmp_path: Path) -> None:
    keeper = await started(world)
    binding = world.place.journal.binding("e1")
    assert binding is not None
    held = keeper.sessions.vault.of(binding)
    assert held is not None
    servers = Servers(open_supervised, granted=world.grants.letagents)
    session_id = binding.session_id
    at = Authority(
        "e1", "codex", str(ROOM), session_id, held.token, SERVER, None, held.session, True
    )
    tools = RoomTools(servers)
    said = await tools.run("send_message", {"text": "Done."}, at)
    added = await tools.run("add_task", {"title": "Mend it"}, at)

    assert [one["isError"] for one in (said, added)] == [False, False]
    page = await world.rooms.read(ROOM, Latest())
    assert [one.sender for one in page.messages if one.text == "Done."] == [
        "Juniper | Ada's agent | Codex"
    ]


def open_supervised(_api_url: str) -> AbstractAsyncContextManager[LetAgents]:
    raise AssertionError("it is let in by its grant")


@pytest.mark.rule("J131")
async def test_a_successor_defers_until_the_grant_is_there_again(world: GrantedWorld) -> None:
    await started(world)
    for task in world.running:
        task.cancel()
    await world.grants.aclose()
    keeper = await world.run()
    await world.until(lambda: world.provider.transcript is not None)

    assert await world.lent(keeper) == (Lent.DEFERRED, None)
    told = await world.install()
    assert told["status"] == "installed"
    assert told["agent_session_id"]
    await world.ask("@Juniper one?")
    assert await world.answers(1) == ["ok"]
    assert (await world.lent(keeper))[0] is Lent.AVAILABLE
    assert len(world.provider.started) == 1


@pytest.mark.rule("J127")
async def test_a_lost_answer_is_asked_for_again_and_it_is_the_same_session(
    world: GrantedWorld,
) -> None:
    world.told.plan = [LOST, 503]
    await started(world)

    assert world.told.asked == ["worker-sessions"] * 3
    await world.ask("@Juniper one?")
    assert await world.answers(1) == ["ok"]


@pytest.mark.rule("J127")
async def test_what_no_repeating_helps_is_told_at_once_without_a_secret(
    world: GrantedWorld,
) -> None:
    world.told.plan = [403]
    await world.run()
    await world.install()
    await world.until(lambda: world.entry.admission is Admission.BLOCKED)
    await world.until(lambda: "mint failed" in (world.entry.last_error or ""))

    assert world.told.asked == ["worker-sessions"]
    said = "Worker credential mint failed after 1 attempt: HTTP 403 not with Bearer [hidden]"
    assert world.entry.last_error is not None
    assert said in world.entry.last_error
    assert world.secret not in world.entry.last_error


@pytest.mark.rule("J127")
async def test_after_three_attempts_it_is_given_up_for_now(world: GrantedWorld) -> None:
    world.told.plan = [503, 429, LOST]
    await world.run()
    await world.install()
    await world.until(lambda: "mint failed" in (world.entry.last_error or ""))

    assert "failed after 3 attempts: timed out after 10000ms" in str(world.entry.last_error)
    assert world.entry.admission is Admission.GRANT


@pytest.mark.rule("J130")
async def test_a_grant_is_renewed_in_its_last_hour(world: GrantedWorld) -> None:
    keeper = await started(world)
    await world.renewals.beat()
    world.clock.pass_by(timedelta(hours=23))
    world.told.plan = [503]
    await world.renewals.beat()

    assert world.told.asked == ["worker-sessions", "renew"]
    assert (await world.lent(keeper))[0] is Lent.AVAILABLE
    await world.renewals.beat()
    assert world.told.asked[2:] == ["renew", "worker-sessions"]
    world.clock.pass_by(timedelta(hours=22))
    await world.ask("@Juniper one?")
    assert await world.answers(1) == ["ok"]


@pytest.mark.rule("J126")
async def test_a_grant_that_is_installed_as_an_older_one_is_renewed_is_the_one_that_is_held(
    world: GrantedWorld,
) -> None:
    await started(world)
    granted = world.grants.granted
    held = granted.of("e1").grant
    newer = attrs.evolve(held, expires_at=held.expires_at + timedelta(hours=48))
    world.clock.pass_by(timedelta(hours=23))
    world.told.plan = [lambda: granted.hold(newer)]
    await world.renewals.beat()

    assert granted.of("e1").grant == newer


async def test_a_session_that_comes_after_its_grant_was_given_up_is_not_used(
    world: GrantedWorld,
) -> None:
    keeper = await started(world)
    before = await world.lent(keeper)
    world.told.plan = [world.grants.granted.forget_all]
    with pytest.raises(AuthorityBlocked):
        await world.grants.granted.bound("e1", fresh=True)

    assert await world.lent(keeper) == before


async def test_what_one_grant_opened_is_not_used_once_another_is_there(
    world: GrantedWorld,
) -> None:
    await started(world)
    given, secret = await world.served.keeper.grant(ADA, timedelta(hours=24))
    told = await world.install(grant_id=given.grant_id, supervisor_grant=secret)

    assert told["status"] == "installed"
    assert world.told.asked == ["worker-sessions"] * 2


async def test_who_is_forgotten_has_no_session_and_no_grant_any_more(world: GrantedWorld) -> None:
    keeper = await started(world)
    household = Household(keeper.sessions.journal, lambda _: keeper, 1, grants=world.grants)
    await world.want(Desired.STOPPED)
    keeper.look_again()
    await world.until(lambda: world.entry.place.has_ended)
    await household.remove("e1")

    assert world.told.asked == ["worker-sessions", "end"]
    assert world.grants.granted.entry_ids == ()


async def test_a_failure_that_nobody_foresaw_leaves_no_grant_to_run_out(
    world: GrantedWorld,
) -> None:
    def fail(_api_url: str) -> Way:
        raise ZeroDivisionError

    await started(world)
    world.clock.pass_by(timedelta(hours=23))
    granted = world.grants.granted
    way_to, granted.way_to = granted.way_to, fail
    await world.renewals.beat()
    granted.way_to = way_to
    await world.renewals.beat()

    assert world.told.asked[1:] == ["renew", "worker-sessions"]


@pytest.mark.rule("J130")
@pytest.mark.parametrize("plan", [[401], [409], ["another"]])
async def test_who_is_refused_is_handed_nothing_until_a_new_grant_is_there(
    world: GrantedWorld, plan: list[Any]
) -> None:
    keeper = await started(world)
    world.clock.pass_by(timedelta(hours=23, minutes=30))
    answer = {"grant_id": "grant_other", "supervisor_grant": "x", "current_generation": 1}
    answer["expires_at"] = moments.to_text(world.clock.now() + timedelta(hours=24))
    world.told.plan = [answer] if plan == ["another"] else plan
    await world.renewals.beat()
    await world.until(lambda: not keeper.is_delivering)

    assert (world.entry.admission, world.condition()) == (
        Admission.BLOCKED,
        "auth_blocked",
    )
    assert await world.lent(keeper) == (Lent.STALE, None)
    assert world.alive() == 1
    told = await world.install()
    await world.ask("@Juniper one?")
    assert await world.answers(1) == ["ok"]
    assert (told["status"], world.condition()) == ("installed", "none")
    assert len(world.provider.started) == 1


@pytest.mark.rule("J130")
async def test_an_agent_whose_grant_was_ended_is_not_let_in_again(world: GrantedWorld) -> None:
    await started(world)
    await world.served.keeper.take_grant(world.grant_id)
    await world.ask("@Juniper one?")
    await world.until(lambda: world.entry.admission is Admission.BLOCKED)

    assert world.told.asked == ["worker-sessions"] * 2
    assert "HTTP 401" in str(world.entry.last_error)


@pytest.mark.rule("J130")
async def test_a_grant_that_is_over_ends_without_a_call(world: GrantedWorld) -> None:
    await started(world)
    world.clock.pass_by(timedelta(hours=25))
    await world.renewals.beat()

    assert world.entry.admission is Admission.BLOCKED
    assert world.told.asked == ["worker-sessions"]


@pytest.mark.rule("J125")
async def test_what_is_installed_is_looked_at_first(world: GrantedWorld) -> None:
    await world.keeper()
    over = moments.to_text(world.clock.now())
    for wrong in (
        {"grant_generation": 0},
        {"daemon_generation": 7},
        {"grant_expires_at": over},
        {"grant_expires_at": "soon"},
        {"entry_id": "e2"},
        {"room_id": "elsewhere"},
        {"api_url": "https://other.test"},
    ):
        assert await world.install(**wrong) == {"status": "stale"}
    assert await world.install(credential_only=True) == {"status": "provider_unavailable"}
    assert world.entry.admission is Admission.SIGN_IN
    assert await world.install(recovery_only=True) == {"status": "installed"}
    assert world.told.asked == []


@pytest.mark.rule("J129")
async def test_a_bearer_is_followed_by_another_a_minute_before_its_end(world: GrantedWorld) -> None:
    world.told.plan = [world.clock.now() + timedelta(minutes=30)]
    keeper = await started(world)
    await world.renewals.beat()
    world.clock.pass_by(timedelta(minutes=29))
    await world.renewals.beat()
    await world.renewals.beat()
    await world.ask("@Juniper one?")

    assert await world.answers(1) == ["ok"]
    assert world.told.asked == ["worker-sessions"] * 2
    assert (await world.lent(keeper))[0] is Lent.AVAILABLE


@pytest.mark.rule("J130", "J131")
async def test_an_agent_that_polls_goes_on_polling_with_a_new_grant(tmp_path: Path) -> None:
    world = GrantedWorld(home=tmp_path, delivery=Delivery.POLLING)
    world.provider.plays.extend([Play(hangs=True)] * 9)
    await world.open()
    await world.ask("@Juniper one?")
    keeper = await started(world)
    await world.until(lambda: world.entry.polling is not None)
    await world.until(lambda: world.entry.polling.phase is Phase.ACTIVE)  # type: ignore[union-attr]
    before = world.entry.polling
    world.clock.pass_by(timedelta(hours=23, minutes=30))
    world.told.plan = [401]
    await world.renewals.beat()
    await world.until(lambda: not keeper.is_delivering)
    refused = await world.lent(keeper)
    told = await world.install()
    lent, _ = await world.lent(keeper)
    await world.until(lambda: keeper.is_delivering)

    assert (refused, lent, told["status"]) == ((Lent.STALE, None), Lent.AVAILABLE, "installed")
    assert world.entry.polling is not None
    assert before is not None
    assert world.entry.polling.activation_id == before.activation_id
    assert (world.alive(), len(world.provider.started)) == (1, 1)
    await world.end()


@pytest.mark.rule("J129")
async def test_in_another_room_it_has_another_session(world: GrantedWorld) -> None:
    await started(world)
    annex = (await world.rooms.join(RoomId("annex"))).room_id
    here = await world.grants.granted.opened("e1")
    moved = attrs.evolve(world.entry, room_id=str(annex))
    await MemorySupervision(world.place, world.place.generation).change(
        lambda journal: journal.put_entry(moved)
    )
    there = await world.grants.granted.opened("e1")

    assert (here.session.room_id, there.session.room_id) == (ROOM, annex)
    assert await world.grants.granted.opened("e1") is there


@pytest.mark.rule("J131", "J160")
async def test_who_gives_a_grant_up_is_let_in_by_the_sign_in_again(world: GrantedWorld) -> None:
    keeper = await started(world)
    give_up = GrantMethods(world.grants).table()[wire.GIVE_UP_GRANT]
    asked = Request(2, "1", wire.GIVE_UP_GRANT, {"entry_id": "e1"})
    told = await give_up(asked)

    assert told == {"given_up": True, "entry_id": "e1"}
    assert world.entry.admission is Admission.SIGN_IN
    assert world.told.asked[-1] == "end"
    assert await world.lent(keeper) == (Lent.STALE, None)
    assert world.alive() == 1
    with pytest.raises(ManifestRefused, match="is let in by no host grant"):
        await give_up(asked)
    did = world.place.journal.newest_deeds("e1", 9)
    assert [one.act for one in did] == [Act.GRANT_GIVEN_UP, Act.GRANTED]
    assert did[1].detail == world.grant_id
    assert world.secret not in "".join(kept.written(one) for one in did)
    await world.install()
    await world.ask("@Juniper one?")
    assert await world.answers(1) == ["ok"]


async def test_an_agent_that_is_forgotten_leaves_no_session(world: GrantedWorld) -> None:
    await started(world)
    await world.grants.granted.forget("e1")

    assert world.told.asked == ["worker-sessions", "end"]
