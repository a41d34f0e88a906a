"""Who may use which route of a room: a walk through all of them, for all who may not."""

import re
from collections.abc import AsyncIterator
from typing import Any

import attrs
import httpx
import pytest
from tests.contract.served import ADA, TOKEN, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.accounts import Account
from letagents.entrypoints.server.app import ROUTES, application
from letagents.entrypoints.server.routes import (
    artifacts,
    board,
    governance,
    memory,
    messages,
    paths,
    search,
    threads,
    wakes,
)
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

Plain = dict[str, Any]

BOBS = "b" * 64
BOB = Account(account_id="account_2", login="bob")

IN_ROOMS = sorted({(method, path) for method, path, _ in ROUTES if path.startswith("/rooms/")})
"""All routes of rooms, as they are served."""
BY_THE_ACCOUNT = {
    ("POST", "/rooms/{room_id:path}/join"),
    ("POST", "/rooms/{room_id:path}/agent-sessions"),
}
"""What an account does before it has a session."""
GOOD: Plain = {
    "text": "ahoy",
    "title": "mend the roof",
    "status": "cancelled",
    "action": "release",
    "verdict": "comment",
    "idempotency_key": "k",
    "expected_head_sha": "0" * 40,
    "task_id": "task_1",
    "patterns": ["src"],
    "repository": "github.com/o/r",
    "action_type": "task_create",
    "payload": {"title": "mend the roof"},
    "manager_mode": "off",
    "client_id": "tabs_or_spaces",
    "category": "decision",
    "body": "All of us.",
    "expected_version": 1,
    "archived": True,
    "guidelines": "Write tests.",
    "provider": "github",
    "kind": "pull_request",
    "number": 7,
    "rule": {"event": "timer", "arguments": {"after_ms": 60_000}},
}
"""Of what the routes want, something of a form that is right."""
_BOARDS = (board, governance, messages, paths)
_MEMORY = (artifacts, memory, search, threads, wakes)
WELL_CALLED = {(method, path) for part in (*_BOARDS, *_MEMORY) for method, path, _ in part.ROUTES}
"""Routes that find all that they want in it: others may refuse first what they are asked."""
BY_SESSIONS = [one for one in IN_ROOMS if one not in BY_THE_ACCOUNT]


@attrs.frozen
class Shown:
    """What a call shows: an account's token, and a session with its secret."""

    token: str | None
    session_id: str | None = None
    secret: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What it shows in its headers."""
        shown = {SESSION_ID: self.session_id, SESSION_TOKEN: self.secret}
        given = {name: value for name, value in shown.items() if value is not None}
        return given | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    @property
    def body(self) -> Plain:
        """What it shows in its body."""
        shown = {"agent_session_id": self.session_id, "agent_session_token": self.secret}
        return {name: value for name, value in shown.items() if value is not None}


@attrs.frozen
class World:
    """A server with two rooms, where Ada has a session each and one that has ended."""

    http: httpx.AsyncClient
    shown: dict[str, Shown]

    async def call(self, method: str, path: str, shown: Shown) -> httpx.Response:
        """Call a route of the room `shed`, on things that need not be there."""
        where = path.replace("{room_id:path}", "shed").replace("{message_id}", "msg_1")
        where = re.sub(r"\{(\w+)\}", lambda part: f"{part[1].removesuffix('_id')}_1", where)
        body = None if method == "GET" else GOOD | shown.body
        return await self.http.request(method, where, json=body, headers=shown.headers)


async def _session(http: httpx.AsyncClient, room: str, name: str) -> Shown:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    await http.post(f"/rooms/{room}/join", headers=headers)
    await http.post("/agents", json={"name": name}, headers=headers)
    made = await http.post(
        f"/rooms/{room}/agent-sessions",
        json={"actor_key": f"ada/{name}", "agent_instance_id": name},
        headers=headers,
    )
    return Shown(TOKEN, made.json()["session_id"], made.json()["session_token"])


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = ManualClock()
    accounts = MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB})
    served = attrs.evolve(hosting(MemoryRooms(CountingIds(), clock), clock), accounts=accounts)
    transport = httpx.ASGITransport(application(served))
    async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as http:
        own = await _session(http, "shed", "juniper")
        ended = await _session(http, "shed", "willow")
        away = await _session(http, "elsewhere", "rowan")
        await http.post(
            f"/rooms/shed/agent-sessions/{ended.session_id}/disconnect",
            json=ended.body,
            headers=ended.headers,
        )
        yield World(
            http,
            {
                "nobody": Shown(None),
                "a stranger": Shown("c" * 64),
                "a session alone": attrs.evolve(own, token=None),
                "another account": attrs.evolve(own, token=BOBS),
                "another secret": attrs.evolve(own, secret="x" * 43),
                "half a session": attrs.evolve(own, secret=None),
                "another room's session": away,
                "an ended session": ended,
            },
        )


pytestmark = pytest.mark.anyio

LOOKED_AT_BY_THE_ACCOUNT = {("GET", "/rooms/{room_id:path}/messages/{message_id}")}
"""Where it is the account that may look, whatever its session."""
OF_THE_ACCOUNT = ("another secret", "an ended session")


async def test_nobody_reads_or_writes_where_they_do_not_belong(world: World) -> None:
    let_through = []
    for who, shown in world.shown.items():
        for method, path in BY_SESSIONS:
            if who in OF_THE_ACCOUNT and (method, path) in LOOKED_AT_BY_THE_ACCOUNT:
                continue
            answer = await world.call(method, path, shown)
            refused_first = answer.status_code in (400, 501) and (method, path) not in WELL_CALLED
            if answer.status_code not in (401, 403) and not refused_first:
                let_through.append((who, method, path, answer.status_code, answer.text[:80]))

    assert let_through == []


async def test_only_an_account_comes_into_a_room(world: World) -> None:
    for who in ("nobody", "a stranger"):
        for method, path in BY_THE_ACCOUNT:
            answer = await world.call(method, path, world.shown[who])

            assert answer.status_code == 401, (who, method, path)


async def test_an_ended_session_is_told_that_it_ended_and_to_its_own_account_alone(
    world: World,
) -> None:
    ended = world.shown["an ended session"]
    own = await world.call("POST", "/rooms/{room_id:path}/tasks", ended)
    others = await world.call(
        "POST", "/rooms/{room_id:path}/tasks", attrs.evolve(ended, token=BOBS)
    )

    assert own.json()["error"].startswith("This agent session has ended.")
    assert others.json()["error"] == "Invalid agent session credentials."
