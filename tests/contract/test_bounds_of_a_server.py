"""How much of a server one caller may use: each bound has a setting, and holds."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import anyio
import attrs
import httpx
import pytest
from tests.contract.callers import BOB, BOBS
from tests.contract.served import ADA, TOKEN, hosting
from tests.integration.listening import listening

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.errors import SettingsInvalid
from letagents.domain.serving import Bounds
from letagents.domain.sign_in import Begun, Over, Waiting
from letagents.entrypoints.server.app import application
from letagents.ports.people import Comer
from letagents.server_settings import BOUNDS, load
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

MINUTE = timedelta(minutes=1)
ADAS = {"Authorization": f"Bearer {TOKEN}"}
OTHERS = {"Authorization": f"Bearer {BOBS}"}

Client = Callable[[str], httpx.AsyncClient]
"""Who calls from an address."""


class Strangers:
    """A service where anybody may begin to sign in."""

    async def begin(self) -> Begun:
        return Begun("there", "ABCD", "https://example.org", timedelta(minutes=15), MINUTE / 12)

    async def poll(self, request_id: str) -> Waiting | Over | Comer:
        return Waiting("pending", MINUTE / 12)


@asynccontextmanager
async def bounded(clock: ManualClock, **bounds: int) -> AsyncIterator[Client]:
    """Serve within `bounds`."""
    accounts = MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB})
    served = attrs.evolve(
        hosting(MemoryRooms(CountingIds(), clock), clock),
        accounts=accounts,
        bounds=Bounds(**bounds),
        people=Strangers(),
    )
    app = application(served)

    def client(address: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app, client=(address, 4711))
        return httpx.AsyncClient(transport=transport, base_url="http://rooms.test")

    yield client


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_each_bound_can_be_set_and_is_a_number_above_nothing(tmp_path: Path) -> None:
    for name in BOUNDS:
        variable = f"LETAGENTS_SERVER_{name.upper()}"

        assert getattr(load(tmp_path, {variable: "7"}).bounds, name) == 7
        for wrong in ("0", "-1", "many", "1.5", "9" * 30):
            with pytest.raises(SettingsInvalid) as told:
                load(tmp_path, {variable: wrong})
            assert variable in str(told.value)


async def test_rooms_are_entered_so_often_by_an_account_from_an_address(clock: ManualClock) -> None:
    async with bounded(clock, joins=2) as client, client("10.0.0.1") as here, client("b") as there:
        first = [await here.post(f"/rooms/r{n}/join", headers=ADAS) for n in range(3)]
        again = await here.post("/rooms/r1/join", headers=ADAS)
        elsewhere = await there.post("/rooms/r3/join", headers=ADAS)
        other = await here.post("/rooms/r3/join", headers=OTHERS)
        clock.pass_by(MINUTE)
        later = await here.post("/rooms/r2/join", headers=ADAS)

    assert [one.status_code for one in first] == [200, 200, 429]
    assert first[2].json()["code"] == "RATE_LIMITED"
    assert {one.status_code for one in (again, elsewhere, other, later)} == {200}


async def test_rooms_that_are_not_there_are_asked_for_so_often_by_an_account(
    clock: ManualClock,
) -> None:
    async with bounded(clock, misses=3) as client, client("a") as here, client("b") as there:
        await here.post("/rooms/shed/join", headers=ADAS)
        asked = [
            await one.get(f"/rooms/none{n}/messages", headers=ADAS)
            for n, one in enumerate([here, there, here, there])
        ]
        join = await here.post("/rooms/none/join?create=false", headers=ADAS)
        own = await here.get("/rooms/shed/messages", headers=ADAS)
        other = await here.get("/rooms/none/messages", headers=OTHERS)
        clock.pass_by(MINUTE)
        later = await here.get("/rooms/none/messages", headers=ADAS)

    assert [one.status_code for one in asked] == [404, 404, 404, 429]
    assert join.status_code == 429
    assert own.status_code == 200
    assert [other.status_code, later.status_code] == [404, 404]


async def test_sign_ins_are_begun_so_often_from_an_address(clock: ManualClock) -> None:
    async with bounded(clock, sign_ins=2) as client, client("a") as here, client("b") as there:
        begun = [await here.post("/auth/device/start") for _ in range(3)]
        elsewhere = await there.post("/auth/device/start")
        clock.pass_by(MINUTE)
        later = await here.post("/auth/device/start")

    assert [one.status_code for one in begun] == [201, 201, 429]
    assert [elsewhere.status_code, later.status_code] == [201, 201]


async def test_so_many_requests_of_an_account_are_under_way(clock: ManualClock) -> None:
    async with bounded(clock, at_once=2) as client, client("a") as here:
        await here.post("/rooms/shed/join", headers=ADAS)
        poll = "/rooms/shed/messages/poll?timeout=60000"
        async with anyio.create_task_group() as waiting:
            for _ in range(2):
                waiting.start_soon(lambda: here.get(poll, headers=ADAS))
            await anyio.wait_all_tasks_blocked()
            more = await here.get(poll, headers=ADAS)
            other = await here.get("/agents/me", headers=OTHERS)
            waiting.cancel_scope.cancel()
        after = await here.get("/rooms/shed/messages", headers=ADAS)

    assert (more.status_code, more.json()["code"]) == (429, "RATE_LIMITED")
    assert [other.status_code, after.status_code] == [200, 200]


async def test_a_body_is_so_large(clock: ManualClock) -> None:
    async with bounded(clock, body=100) as client, client("a") as here:
        fits = await here.post("/agents", headers=ADAS, json={"name": "x" * 50})
        beyond = await here.post("/agents", headers=ADAS, json={"name": "x" * 150})
        unread = await here.post("/projects", headers=ADAS, json={"name": "x" * 150})
        listed = await here.get("/rooms", headers=ADAS)

    assert [fits.status_code, beyond.status_code, unread.status_code] == [201, 413, 413]
    assert listed.json()["rooms"] == []


async def test_so_many_connections_are_answered(clock: ManualClock) -> None:
    served = hosting(MemoryRooms(CountingIds(), clock), clock)
    async with (
        listening(attrs.evolve(served, bounds=Bounds(connections=1))) as url,
        httpx.AsyncClient(base_url=url) as one,
        httpx.AsyncClient(base_url=url) as other,
    ):
        first = await one.get("/api/health")
        second = await other.get("/api/health")
        again = await one.get("/api/health")

    assert [first.status_code, second.status_code, again.status_code] == [200, 503, 200]
