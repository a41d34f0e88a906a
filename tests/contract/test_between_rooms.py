"""What one room calls something means nothing in another, not even in a focus room beside it.

The routes are those that are served, and so are the ids in their paths: one of a new kind fails
here until it is among what the room `shed` has.
"""

import re
from collections.abc import AsyncIterator
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.served import TOKEN, client, hosting, stores

from letagents.adapters.rooms.kept import board_records
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.entrypoints.server.app import ROUTES
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

Plain = dict[str, Any]
pytestmark = pytest.mark.anyio

FACT: Plain = {
    "client_id": "tabs_or_spaces",
    "category": "decision",
    "title": "We use tabs",
    "body": "All of us.",
}
GOOD: Plain = {
    "title": "mend the door",
    "summary": "It shuts.",
    "status": "blocked",
    "action": "claim",
    "verdict": "comment",
    "receipt_state": "responding",
    "idempotency_key": "k",
    "expected_head_sha": "0" * 40,
    "category": "decision",
    "body": "All of us.",
    "expected_version": 1,
    "archived": True,
    "closed_at": "2030-01-01T00:00:00Z",
    "parent_visibility": "silent",
}
"""Of what the routes want, something of a form that is right."""
OF_A_THING = sorted(
    (method, path)
    for method, path, _ in ROUTES
    if path.startswith("/rooms/") and path.count("{") > 1
)
"""All routes of rooms that name something within one."""


@attrs.frozen
class Place:
    """A room, and the session in it of one who calls."""

    http: httpx.AsyncClient
    room_id: str
    session: Plain

    async def call(self, method: str, path: str, **body: object) -> httpx.Response:
        """Call a route of the room through the session."""
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            SESSION_ID: self.session["agent_session_id"],
            SESSION_TOKEN: self.session["agent_session_token"],
        }
        given = None if method == "GET" else self.session | body
        return await self.http.request(
            method, f"/rooms/{self.room_id}{path}", json=given, headers=headers
        )

    async def made(self, method: str, path: str, **body: object) -> Plain:
        """Return what a route answers that does what it is asked."""
        answer = await self.call(method, path, **body)
        assert answer.is_success, answer.text
        made: Plain = answer.json()
        return made

    async def task(self, title: str) -> Plain:
        """Return a new task on which the session works."""
        task = await self.made("POST", "/tasks", title=title)
        await self.made("PATCH", f"/tasks/{task['id']}", status="accepted")
        return await self.made("PATCH", f"/tasks/{task['id']}", status="assigned")

    async def whole(self) -> list[Plain]:
        """Return all that is kept in the room, as far as anybody is shown it."""
        shown = ["messages?limit=500", "tasks", "board-intents", "memory", "attention", "artifacts"]
        shown += ["reasoning", "path-claims", "wake-rules", "focus-rooms", "board-governance"]
        return [await self.made("GET", f"/{one}") for one in shown]


async def entered(http: httpx.AsyncClient, room_id: str) -> Place:
    """Return the place of a new session in a room."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    joined = await http.post(f"/rooms/{room_id}/join", headers=headers)
    await http.post("/agents", json={"name": "juniper"}, headers=headers)
    asked = {"actor_key": "ada/juniper", "agent_instance_id": "one"}
    made = await http.post(f"/rooms/{room_id}/agent-sessions", json=asked, headers=headers)
    session = {
        "agent_session_id": made.json()["session_id"],
        "agent_session_token": made.json()["session_token"],
    }
    return Place(http, joined.json()["room_id"], session)


@attrs.frozen
class World:
    """The room `shed` and what is in it, and two rooms that have nothing of it."""

    shed: Place
    others: tuple[Place, ...]
    there: Plain
    """Of each kind of thing one that is in the shed: its id, by the name that paths have for it."""


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = ManualClock()
    rooms = MemoryRooms(CountingIds(), clock)
    memory = stores(rooms, board_records.task)
    served = hosting(rooms, clock, memory)
    served = attrs.evolve(served, roll=KeptAttendance(rooms, served.ids))
    async with client(served) as http:
        shed = await entered(http, "shed")
        there = await _filled(shed)
        beside = await entered(http, there["focus_room"]["room_id"])
        yield World(shed, (beside, await entered(http, "barn")), there)


async def _filled(shed: Place) -> Plain:
    tasks = [await shed.task(f"mend {number}") for number in range(3)]
    for number in range(12):
        said = await shed.made("POST", "/messages", text=f"word {number}")
    page = await shed.made("POST", "/attachments", filename="plan.txt", content_base64="eA==")
    named = [{"upload_id": page["upload_id"]}]
    said = await shed.made("POST", "/messages", text="the plan", attachments=named)
    lease = tasks[-1]["active_leases"][0]["id"]
    payload = {"title": "mend the roof"}
    intent = await shed.made("POST", "/board-intents", action_type="task_create", payload=payload)
    await shed.made("POST", "/memory", **FACT)
    question = FACT | {"client_id": "how_wide_1", "category": "question"}
    await shed.made("POST", "/attention", **question)
    reasoning = await shed.made("POST", "/reasoning-sessions", summary="It leaks.")
    rule = {"event": "timer", "arguments": {"after_ms": 60_000}}
    wake = await shed.made("POST", "/wake-rules", rule=rule)
    lock = await shed.made("POST", "/locks", task_id="task_1")
    opened = await shed.made("POST", "/focus-rooms", title="An idea")
    return {
        "message_id": said["id"],
        "attachment_id": said["attachments"][0]["id"],
        "task_id": tasks[-1]["id"],
        "lease_id": lease,
        "intent_id": intent["intent"]["id"],
        "record_id": "tabs_or_spaces",
        "reasoning_id": reasoning["session"]["id"],
        "rule_id": wake["rule"]["id"],
        "lock_id": lock["lock"]["id"],
        "session_id": shed.session["agent_session_id"],
        "key": opened["focus_room"]["focus_key"],
        "focus_room": opened["focus_room"],
    }


@pytest.mark.rule("R44")
async def test_no_route_takes_in_one_room_what_another_calls_something(world: World) -> None:
    let_through, before = [], await world.shed.whole()
    for other in world.others:
        for method, path in OF_A_THING:
            where = re.sub(r"\{(\w+)\}", lambda part: world.there[part[1]], path.partition("}")[2])
            action = {"action": "release"} if path.endswith("/lease-action") else {}
            answer = await other.call(method, where, **GOOD | action)
            if answer.status_code not in (401, 403, 404, 409):
                let_through.append((other.room_id, method, where, answer.text[:80]))

    assert let_through == []
    assert await world.shed.whole() == before


REFERRING: list[tuple[str, str, Plain]] = [
    ("POST", "/messages", {"text": "yes", "reply_to": "message_id"}),
    ("POST", "/messages", {"text": "yes", "thread_root_id": "message_id"}),
    ("POST", "/tasks", {"title": "a door", "source_message_id": "message_id"}),
    ("POST", "/tasks", {"title": "mend the roof", "board_intent_id": "intent_id"}),
    ("POST", "/tasks/task_1/lease-action", {"action": "release", "lease_id": "lease_id"}),
    (
        "POST",
        "/tasks/task_1/lease-action",
        {
            "action": "handoff",
            "target_actor_key": "ada/juniper",
            "target_agent_session_id": "session_id",
        },
    ),
    ("POST", "/board-managers", {"agent_session_id": "session_id"}),
    (
        "POST",
        "/board-intents",
        {"action_type": "task_close", "payload": {"task_id": "task_id", "status": "cancelled"}},
    ),
    ("POST", "/locks", {"task_id": "task_id"}),
    ("POST", "/path-claims", {"task_id": "task_id", "patterns": ["src"], "repository": "r"}),
    ("POST", "/memory", FACT | {"client_id": "no_such_1", "source_message_id": "message_id"}),
    (
        "POST",
        "/artifacts",
        {"provider": "github", "kind": "pull_request", "number": 7, "task_id": "task_id"},
    ),
]
"""What refers in its body to something; instead of an id stands the kind of thing that it is of."""


@pytest.mark.rule("R44")
async def test_nothing_in_one_room_refers_to_what_is_in_another(world: World) -> None:
    let_through, shed = [], await world.shed.whole()
    for other in world.others:
        await other.task("mend the door")
        before = await other.whole()
        for method, path, body in REFERRING:
            answer = await other.call(method, path, **_with_ids(body, world.there))
            if answer.status_code not in (400, 403, 404, 409):
                let_through.append((other.room_id, path, body, answer.text[:80]))
        assert await other.whole() == before

    assert let_through == []
    assert await world.shed.whole() == shed


@pytest.mark.rule("R44")
async def test_what_is_referred_to_so_would_be_taken_in_its_own_room(world: World) -> None:
    for method, path, body in REFERRING:
        if "lease-action" in path or "intent_id" in body.values() or "managers" in path:
            continue  # these take more than the right id
        answer = await world.shed.call(method, path, **_with_ids(body, world.there))

        assert answer.is_success, (path, answer.text)


def _with_ids(body: Plain, there: Plain) -> Plain:
    def put(value: object) -> object:
        if isinstance(value, dict):
            return _with_ids(value, there)
        return there.get(value, value) if isinstance(value, str) else value

    return {name: put(value) for name, value in body.items()}


@pytest.mark.rule("R44")
async def test_no_page_begins_after_what_another_room_calls_something(world: World) -> None:
    message = world.there["message_id"]
    for other in world.others:
        for path in (
            "/messages?after=",
            "/messages/poll?timeout=0&after=",
            "/messages/search?words=word&thread=",
        ):
            answer = await other.call("GET", f"{path}{message}")

            assert answer.status_code == 400, (path, answer.text)


@pytest.mark.rule("R44")
async def test_no_session_of_another_room_proves_who_comes_in_or_reads(world: World) -> None:
    shed = world.shed.session
    for other in world.others:
        as_in_shed = attrs.evolve(other, session=shed)
        for path in ("/messages", "/tasks", "/memory", "/presence", "/focus-rooms"):
            assert (await as_in_shed.call("GET", path)).status_code == 401, path
        asked = {
            "actor_key": "ada/juniper",
            "agent_instance_id": f"worker_{7:032x}",
            "connection_token": "t" * 43,
            "replace_agent_session_id": shed["agent_session_id"],
            "replace_agent_session_token": shed["agent_session_token"],
        }
        answer = await other.call("POST", "/agent-sessions", **asked)
        assert answer.status_code == 409, answer.text
    assert (await world.shed.call("GET", "/tasks")).status_code == 200
