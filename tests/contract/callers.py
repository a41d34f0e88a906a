"""A server with a room full of things, and everybody who may call it or may not."""

import pickle
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import attrs
import httpx
from tests.contract.served import ADA, TOKEN, hosting

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.server.hosting import Hosting
from letagents.domain.accounts import Account, TokenKind, digest
from letagents.domain.serving import Bounds
from letagents.domain.sessions import Session
from letagents.entrypoints.server.app import application
from letagents.server_settings import LARGEST_BOUND
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

Plain = dict[str, Any]

CALLERS = {
    "nobody": "shows nothing",
    "unknown": "shows a token that is nobody's",
    "bearer": "shows what has the form of a worker's bearer token, which this server does not give",
    "signedout": "shows the worker's session without an account's token",
    "thief": "shows the worker's session with the member's token",
    "abroad": "shows another account's session in another room",
    "elsewhere": "shows the admin's session in another room",
    "ended": "shows a session of the admin's that has ended",
    "replaced": "shows a connection of the admin's that another one has replaced",
    "half": "shows a session's id without its secret",
    "lured": "is the admin's browser, sent by a page of somebody else",
    "stranger": "shows the token of an account that never entered the room",
    "member": "shows the token of an account that entered the room, and is no admin",
    "memberworker": "shows that account's session in the room",
    "admin": "shows the token of the account that is admin of the room",
    "browser": "is that account's browser",
    "worker": "shows that account's session in the room: what is there, it made",
}
"""Who calls, and what they show."""

BOBS, CYDS, BROWSERS = "b" * 64, "c" * 64, "d" * 64
BOB = Account(account_id="account_2", login="bob")
CYD = Account(account_id="account_3", login="cyd")
HOLDING = ("/process", "/messages/stream")
"""What the paths of those routes end with that answer for as long as the caller listens."""

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
    "agent_reply_order": "sequential",
    "receipt_state": "acknowledged",
    "provider": "github",
    "kind": "pull_request",
    "number": 7,
    "rule": {"event": "timer", "arguments": {"after_ms": 60_000}},
    "name": "poplar",
    "kinds": ["review"],
    "filename": "plan.txt",
    "content_base64": "eA==",
    "code": "provider_error",
    "display_name": "The Shed",
    "summary": "I look at the roof.",
}
"""Of what the routes want, something of a form that is right."""
_ROOM = "/rooms/{room_id:path}"
ASKED: dict[tuple[str, str], Plain] = {
    ("POST", f"{_ROOM}/attention"): {"client_id": "how_wide", "category": "question"},
    ("POST", f"{_ROOM}/presence"): {"status": "working"},
    ("PUT", f"{_ROOM}/agents/self/observation"): {
        "first_message_id": "msg_1",
        "last_message_id": "msg_1",
    },
    ("POST", f"{_ROOM}/agent-sessions"): {"actor_key": "ada/juniper"},
    ("POST", f"{_ROOM}/agent-sessions/{{session_id}}/native-activity"): {
        "observed_at": "2030-01-01T00:00:00Z",
        "sequence": 1,
        "method": "turn/started",
        "status": "working",
    },
    ("POST", f"{_ROOM}/board-managers"): {"agent_session_id": "{session_id}"},
    ("POST", f"{_ROOM}/reasoning-sessions"): {"status": "working"},
    ("POST", f"{_ROOM}/reasoning-sessions/{{reasoning_id}}/updates"): {"status": "working"},
    ("PATCH", f"{_ROOM}/reasoning-sessions/{{reasoning_id}}"): {"closed_at": "now"},
}
"""Where a route wants something else under the same names."""
NAMED = {
    "room_id:path": "shed",
    "message_id": "msg_1",
    "task_id": "task_1",
    "attachment_id": "att_1",
    "request_id": "0" * 32,
}


@attrs.frozen
class Shown:
    """What a call shows: an account's token or a browser's cookie, and a session's secret."""

    token: str | None = None
    session_id: str | None = None
    secret: str | None = None
    more: dict[str, str] = attrs.field(factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """What it shows in its headers."""
        shown = {SESSION_ID: self.session_id, SESSION_TOKEN: self.secret}
        given = {name: value for name, value in shown.items() if value is not None}
        signed_in = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return given | signed_in | self.more

    @property
    def body(self) -> Plain:
        """What it shows in its body."""
        shown = {"agent_session_id": self.session_id, "agent_session_token": self.secret}
        return {name: value for name, value in shown.items() if value is not None}


@attrs.define
class World:
    """A server with two rooms, all that it keeps, and who calls it."""

    http: httpx.AsyncClient
    ending: httpx.AsyncClient
    """The same server, which is about to end: whoever listens there is sent away at once."""
    rooms: MemoryRooms
    accounts: MemoryAccounts
    ends: Hosting
    """What is served where it is about to end."""
    callers: dict[str, Shown] = attrs.field(factory=dict)
    named: dict[str, str] = attrs.field(factory=lambda: dict(NAMED))
    _whole: tuple[Any, Any] = (None, None)
    _in_short: bytes = b""

    async def call(self, method: str, path: str, shown: Shown) -> httpx.Response:
        """Call a route about things that are there."""
        http = self.ending if path.endswith(HOLDING) else self.http
        asked = GOOD | self._asked(method, path) | shown.body
        with anyio.fail_after(30):
            return await http.request(
                method,
                self._path(path, shown),
                json=None if method == "GET" else asked,
                headers=shown.headers,
            )

    def _asked(self, method: str, path: str) -> Plain:
        asked = ASKED.get((method, path), {})
        return {
            name: value.format(**self.named) if isinstance(value, str) else value
            for name, value in asked.items()
        }

    def _path(self, path: str, shown: Shown) -> str:
        named = self.named | ({"session_id": shown.session_id} if shown.session_id else {})
        where = re.sub(r"\{([\w:]+)\}", lambda part: self._name(part[1], path, named), path)
        return where + ("?timeout=0" if where.endswith("/poll") else "")

    @staticmethod
    def _name(part: str, path: str, named: dict[str, str]) -> str:
        in_attention = part == "record_id" and "/attention/" in path
        return named.get("attention_id" if in_attention else part, f"{part.removesuffix('_id')}_1")

    @property
    def kept(self) -> tuple[Any, Any]:
        """All that is kept of rooms, and of accounts."""
        held = self.accounts
        return self.rooms._kept, (held._accounts, held._tokens, held._agents, held._roles)

    def remember(self) -> None:
        """Take it down as it is now."""
        self._in_short = pickle.dumps(self.kept)
        self._whole = pickle.loads(self._in_short)  # noqa: S301  # it is our own

    @property
    def is_as_it_was(self) -> bool:
        """Whether what is kept is what was taken down."""
        return self.kept == self._whole

    def restore(self) -> None:
        """Let it be as it was taken down."""
        kept, held = pickle.loads(self._in_short)  # noqa: S301  # it is our own
        self.rooms._kept = kept
        accounts = self.accounts
        accounts._accounts, accounts._tokens, accounts._agents, accounts._roles = held

    async def session(self, shown: Shown, room: str, name: str, **more: object) -> Shown:
        """Let an agent of an account come into a room."""
        await self.http.post(f"/rooms/{room}/join", headers=shown.headers)
        made = await self.http.post("/agents", json={"name": name}, headers=shown.headers)
        asked = {"actor_key": made.json()["canonical_key"], "agent_instance_id": name} | more
        session = await self.http.post(
            f"/rooms/{room}/agent-sessions", json=asked, headers=shown.headers
        )
        told = session.json()
        return attrs.evolve(shown, session_id=told["session_id"], secret=told["session_token"])

    async def make(self, path: str, shown: Shown, **body: object) -> Plain:
        """Make a thing in the room, and return it."""
        made = await self.http.post(
            f"/rooms/shed{path}", json=body | shown.body, headers=shown.headers
        )
        assert made.status_code in (200, 201), made.text
        told: Plain = made.json()
        return told

    async def claim(self, task_id: str, shown: Shown) -> None:
        """Let an agent claim a task."""
        claimed = await self.http.patch(
            f"/rooms/shed/tasks/{task_id}",
            json=shown.body | {"status": "assigned"},
            headers=shown.headers,
        )
        assert claimed.status_code == 200, claimed.text


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """Serve it for as long as the context lasts."""
    clock = ManualClock()
    accounts = MemoryAccounts.of(clock, {TOKEN: ADA, BOBS: BOB, CYDS: CYD})
    await accounts.give(ADA, digest(BROWSERS), TokenKind.SESSION)

    def is_admin(caller: Session | None) -> bool:
        return caller is not None and accounts.is_admin(caller.agent_key, caller.room_id)

    ids = CountingIds()
    rooms = MemoryRooms(ids, clock, admins=is_admin)
    served = attrs.evolve(
        hosting(rooms, clock),
        accounts=accounts,
        roll=KeptAttendance(rooms, ids),
        bounds=Bounds(misses=LARGEST_BOUND),
    )
    ending = attrs.evolve(served, stopping=anyio.Event())
    ending.stopping.set()
    async with AsyncExitStack() as opened:
        http, other = [await opened.enter_async_context(_client(one)) for one in (served, ending)]
        made = World(http, other, rooms, accounts, ending)
        await _let_in(made)
        await _fill(made)
        await _have_been_there(made)
        made.remember()
        yield made


def _client(served: Hosting) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(application(served))
    return httpx.AsyncClient(transport=transport, base_url="http://rooms.test")


async def _let_in(made: World) -> None:
    ada, bob, cyd = Shown(TOKEN), Shown(BOBS), Shown(CYDS)
    own = await made.session(ada, "shed", "juniper")
    ended = await made.session(ada, "shed", "willow")
    await made.make(f"/agent-sessions/{ended.session_id}/disconnect", ended)
    first = await made.session(ada, "shed", "aspen")
    again = {
        "replace_agent_session_id": first.session_id,
        "replace_agent_session_token": first.secret,
    }
    await made.session(ada, "shed", "aspen", **again)
    browser = {"Cookie": f"letagents_session={BROWSERS}"}
    made.callers = {
        "nobody": Shown(),
        "unknown": Shown("e" * 64),
        "bearer": Shown(f"lasb_{'f' * 43}"),
        "signedout": attrs.evolve(own, token=None),
        "thief": attrs.evolve(own, token=CYDS),
        "abroad": await made.session(bob, "barn", "oak"),
        "elsewhere": await made.session(ada, "barn", "rowan"),
        "ended": ended,
        "replaced": first,
        "half": attrs.evolve(own, secret=None),
        "lured": Shown(more=browser | {"Origin": "https://evil.test"}),
        "stranger": bob,
        "member": cyd,
        "memberworker": await made.session(cyd, "shed", "hazel"),
        "admin": ada,
        "browser": Shown(more=browser),
        "worker": own,
    }


async def _have_been_there(made: World) -> None:
    """Let everybody have called before, and all have come in who act as people.

    Those come in for what they do, whatever becomes of it.
    """
    for shown in made.callers.values():
        await made.http.get("/auth/session", headers=shown.headers)
    mode = {"manager_mode": "off"}
    member = made.callers["member"]
    await made.http.patch("/rooms/shed/board-settings", json=mode, headers=member.headers)


async def _fill(made: World) -> None:
    """Put one of each kind of thing into the room: what there is, is the admin's worker's."""
    own, admin = made.callers["worker"], made.callers["admin"]
    file = await made.make("/attachments", own, filename="plan.txt", content_base64="eA==")
    named = [{"upload_id": file["upload_id"]}]
    await made.make("/messages", own, text="hello", attachments=named)
    await made.make("/tasks", admin, title="paint the door", desktop_human_client=True)
    await made.claim("task_1", own)
    intent = await made.make(
        "/board-intents", own, action_type="task_create", payload={"title": "sweep the floor"}
    )
    other = await made.make("/tasks", admin, title="oil the hinges", desktop_human_client=True)
    lock = await made.make("/locks", admin, task_id=other["id"], desktop_human_client=True)
    fact = {"title": "We use tabs", "body": "All of us.", "category": "decision"}
    await made.make("/memory", own, client_id="just_a_fact", **fact)
    await made.make("/attention", own, client_id="just_a_wish", **(fact | {"category": "question"}))
    coded = await made.http.post("/projects", headers=admin.headers)
    trace = await made.make("/reasoning-sessions", own, summary="I look at the door.")
    rule = await made.make("/wake-rules", own, event="timer", arguments={"after_ms": 60_000})
    await made.make("/focus-rooms", admin, title="An idea", desktop_human_client=True)
    made.named |= {
        "key": "an-idea",
        "session_id": str(own.session_id),
        "code": coded.json()["code"],
        "intent_id": intent["intent"]["id"],
        "lock_id": lock["lock"]["id"],
        "record_id": "just_a_fact",
        "attention_id": "just_a_wish",
        "reasoning_id": trace["session"]["id"],
        "rule_id": rule["rule"]["id"],
    }
