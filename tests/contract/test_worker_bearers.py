"""A worker's bearer opens its own room, as its session, and nothing else."""

import attrs
import pytest
from tests.contract.bearing import World, opened

from letagents.entrypoints.server.app import ROUTES
from letagents.entrypoints.server.workers import OPEN
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.wire.http import worker_bearers
from letagents.wire.http.credentials import in_body, in_headers

pytestmark = pytest.mark.anyio


@pytest.fixture
async def world(anyio_backend: str) -> World:
    return await opened(takes_bearers=True)


async def test_it_speaks_and_reads_as_its_session(world: World) -> None:
    status, said = await world.calls("POST", "/rooms/workshop/messages", json={"text": "Done."})
    shown = in_body(world.worker.fence)
    again = await world.calls("POST", "/rooms/workshop/messages", json={"text": "So.", **shown})
    _, page = await world.calls("GET", "/rooms/workshop/messages")
    polled, _ = await world.calls("GET", "/rooms/workshop/messages/poll?timeout=0")

    assert (status, again[0], polled) == (201, 201, 200)
    assert said["sender"].startswith("Worker1 | ")
    assert [one["text"] for one in page["messages"]] == ["Done.", "So."]
    assert all("activation" in one for one in page["messages"])


async def test_it_opens_nothing_else(world: World) -> None:
    for method, path in (
        ("POST", "/rooms/workshop/join"),
        ("PATCH", "/rooms/workshop/board-settings"),
        ("POST", "/rooms/workshop/agent-sessions"),
        ("GET", "/rooms"),
        ("POST", "/projects"),
    ):
        status, told = await world.calls(method, path, json={} if method != "GET" else None)
        assert status == 403, path
        assert told["error"] == "Worker bearers cannot perform owner or admin actions."
    status, told = await world.calls("GET", "/rooms/elsewhere/messages")
    assert (status, told["error"]) == (403, "Worker bearer is scoped to a different room.")


async def test_another_session_beside_it_is_refused(world: World) -> None:
    other = attrs.evolve(world.worker.fence, token=arrival(ADA, 9).token)
    path = "/rooms/workshop/messages"
    for status, told in (
        await world.calls("POST", path, json={"text": "x", **in_body(other)}),
        await world.calls("GET", path, headers=in_headers(other)),
    ):
        expected = "Invalid or mismatched agent session bearer credentials."
        assert (status, told["error"]) == (401, expected)


async def test_it_lasts_as_long_as_its_hold(world: World) -> None:
    fake = attrs.evolve(world.worker.fence, token=arrival(ADA, 9).token)
    path = "/rooms/workshop/messages"
    shown = {"Authorization": f"Bearer {worker_bearers.spelled(fake, ROOM)}"}
    for route in OPEN:
        method, place = route.replace("{room_id:path}", "workshop").split(" ", 1)
        told = await world.http.request(
            method, place.replace("{", "").replace("}", ""), headers=shown
        )
        assert "stream" in place or told.status_code == 401, route
    assert (await world.calls("GET", path))[0] == 200
    await world.rooms.connect(ROOM, arrival(ADA, 2, after=world.worker))

    assert (await world.calls("GET", path))[0] == 401
    for text in ("lasb_", "lasb_zz", "lasb_00", "lasb_" + b"a".hex()):
        assert worker_bearers.read(text) is None


async def test_a_server_gives_none_unless_it_was_told_to(anyio_backend: str) -> None:
    world = await opened(takes_bearers=False)
    assert world.worker.bearer is None
    bearer = worker_bearers.spelled(world.worker.fence, ROOM)
    shown = {"Authorization": f"Bearer {bearer}"}

    assert (await world.http.get("/rooms/workshop/messages", headers=shown)).status_code == 401


async def test_what_it_opens_is_there() -> None:
    assert {f"{method} {path}" for method, path, _ in ROUTES} >= OPEN
