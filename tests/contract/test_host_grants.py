"""What a supervisor gets for a host grant from our server, and what that opens."""

from datetime import timedelta
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.served import ADA, client, hosting

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.server.hosting import Hosting
from letagents.domain.host_grants import Given, GrantRefused
from letagents.testing.contracts.room_callers import ROOM
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

ASKED = {
    "generation": 1,
    "room_id": "workshop",
    "agent_key": "ada/e1",
    "agent_instance_id": "daemon:e1",
    "display_name": "Juniper",
    "runtime": "codex",
    "ide_label": "Codex",
}


@attrs.define(eq=False)
class World:
    """A server with a room, and a grant of its account."""

    served: Hosting
    http: httpx.AsyncClient
    given: Given
    secret: str
    clock: ManualClock

    async def asks(
        self, path: str, body: dict[str, Any], shown: str | None = None, grant_id: str | None = None
    ) -> tuple[int, Any]:
        headers = {
            "Authorization": f"Bearer {shown or self.secret}",
            "x-letagents-supervisor-generation": "1",
        }
        where = f"/supervisor-host-grants/{grant_id or self.given.grant_id}/{path}"
        answer = await self.http.post(where, json=body, headers=headers)
        return answer.status_code, answer.json()

    async def says(self, bearer: str, room: str = "workshop") -> int:
        shown = {"Authorization": f"Bearer {bearer}"}
        path = f"/rooms/{room}/messages"
        return (await self.http.post(path, json={"text": "Here."}, headers=shown)).status_code


@pytest.fixture
async def world(anyio_backend: str) -> World:
    clock = ManualClock()
    kept = MemoryRooms(CountingIds(), clock)
    served = attrs.evolve(hosting(kept, clock), takes_bearers=True)
    await kept.join(ROOM)
    given, secret = await served.keeper.grant(ADA, timedelta(hours=24))
    return World(served, client(served), given, secret, clock)


async def test_it_opens_a_session_of_the_agent_that_speaks_by_its_bearer(world: World) -> None:
    status, made = await world.asks("worker-sessions", ASKED)
    asked_for = {name: made[name] for name in ASKED if name != "generation"}

    assert status == 201
    assert asked_for == {name: ASKED[name] for name in asked_for}
    assert (made["session_kind"], made["ended_at"]) == ("worker", None)
    assert await world.says(made["worker_bearer"]) == 201


async def test_who_proposed_the_secret_gets_the_same_session_again(world: World) -> None:
    asked = ASKED | {"proposed_session_token": "t" * 43}
    _, made = await world.asks("worker-sessions", asked)
    _, again = await world.asks("worker-sessions", asked)

    assert (again["session_id"], again["worker_bearer"]) == (
        made["session_id"],
        made["worker_bearer"],
    )


@pytest.mark.rule("J120")
async def test_it_is_of_no_other_use(world: World) -> None:
    shown = {"Authorization": f"Bearer {world.secret}"}
    for method, path in (("GET", "/rooms"), ("POST", "/projects"), ("GET", "/agents/me")):
        assert (await world.http.request(method, path, headers=shown)).status_code == 401
    status, told = await world.asks("worker-sessions", ASKED | {"agent_key": "bob/e1"})

    assert (status, told["code"]) == (403, "grant_refused")
    assert (await world.asks("worker-sessions", ASKED | {"room_id": "nowhere"}))[0] == 404


@pytest.mark.rule("J121")
async def test_once_it_is_ended_its_bearers_open_nothing(world: World) -> None:
    _, made = await world.asks("worker-sessions", ASKED)
    await world.served.keeper.take_grant(world.given.grant_id)

    assert await world.says(made["worker_bearer"]) == 401
    assert (await world.asks("worker-sessions", ASKED))[0] == 401
    with pytest.raises(GrantRefused):
        await world.served.keeper.take_grant(world.given.grant_id)


@pytest.mark.rule("J122")
async def test_only_its_own_id_and_generation_are_its(world: World) -> None:
    other, _ = await world.served.keeper.grant(ADA, timedelta(hours=1))

    assert (await world.asks("renew", {"generation": 1}, grant_id=other.grant_id))[0] == 403
    assert (await world.asks("renew", {"generation": 2}))[0] == 409
    assert (await world.asks("worker-sessions", ASKED | {"generation": 2}))[0] == 409


@pytest.mark.rule("J123")
async def test_it_lasts_on_when_it_is_renewed(world: World) -> None:
    _, made = await world.asks("worker-sessions", ASKED)
    world.clock.pass_by(timedelta(hours=23))
    status, renewed = await world.asks("renew", {"generation": 1, "ttl_ms": 86_400_000})
    world.clock.pass_by(timedelta(hours=23))

    assert (status, renewed["supervisor_grant"]) == (200, world.secret)
    assert await world.says(made["worker_bearer"]) == 201
    world.clock.pass_by(timedelta(hours=2))
    assert await world.says(made["worker_bearer"]) == 401
    assert (await world.asks("renew", {"generation": 1}))[0] == 401
    assert (await world.asks("renew", {"generation": 1, "ttl_ms": -1}))[0] == 401


@pytest.mark.parametrize("where", [{"room_id": "workshop"}, {"room_id": None}, {}])
async def test_it_ends_the_sessions_that_it_opened(
    world: World, where: dict[str, str | None]
) -> None:
    _, made = await world.asks("worker-sessions", ASKED)
    path = f"worker-sessions/{made['session_id']}/end"
    nowhere = await world.asks(path, {"generation": 1, "room_id": "elsewhere"})
    assert nowhere[0] == 404
    status, told = await world.asks(path, {"generation": 1, **where})

    assert (status, told["agent_session"]["ended_at"] is None) == (200, False)
    assert await world.says(made["worker_bearer"]) == 401
    unknown = f"worker-sessions/{made['session_id'][:-1]}z/end"
    assert (await world.asks(unknown, {"generation": 1, **where}))[0] == 404


async def test_where_bearers_are_not_taken_none_is_given(world: World) -> None:
    served = attrs.evolve(world.served, takes_bearers=False)
    world.http = client(served)

    assert (await world.asks("worker-sessions", ASKED))[0] == 403
