"""Who comes in at /mcp, what each of them shares with others, and how they are sent out again."""

import functools
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import anyio
import attrs
import httpx
import pytest
from mcp import MCPError
from tests.contract.served import ADA, TOKEN, hosting
from tests.e2e.chats import ENVELOPE, ERAS, HELLO, Plain
from tests.e2e.http_chats import HttpChat, chatting
from tests.integration.listening import listening

from letagents.adapters.elsewhere import NoCheckouts, NoSurroundings
from letagents.adapters.forges import WebForges
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.state.memory import MemoryState
from letagents.application.server.hosting import Hosting
from letagents.application.server.remote_chats import Elsewhere
from letagents.domain import accounts
from letagents.domain.accounts import Account, TokenKind
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import After, Page
from letagents.domain.rooms import Room
from letagents.domain.serving import Bounds
from letagents.domain.surfaces import OFFERS
from letagents.entrypoints.mcp.over_http import SESSIONS_OF_ONE
from letagents.entrypoints.server.app import application
from letagents.ports.state import StateStore
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

OLD, NEW = ERAS
BOBS, COOKIE = "b" * 64, "c" * 43
BOTH = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class WaitedFor(MemoryRooms):
    """Rooms that tell who waits in them."""

    waiting = 0
    _changed: anyio.Event | None = None

    is_away = False

    async def join(self, room_id: RoomId, *, create: bool = True) -> Room:
        if self.is_away:
            raise RoomsUnavailable("The rooms in /srv/server.db are full.", remedy="Look at /srv.")
        return await super().join(room_id, create=create)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        self._count(1)
        try:
            return await super().wait(room_id, window, timeout=timeout, viewer=viewer)
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self.waiting += more
        if self._changed is not None:
            self._changed.set()

    async def are_waiting(self, count: int) -> None:
        """Return once so many are."""
        with anyio.fail_after(10):
            while self.waiting != count:
                self._changed = anyio.Event()
                await self._changed.wait()


@attrs.frozen
class House:
    """A server in this process, its rooms, and the chats that are open there."""

    url: str
    rooms: WaitedFor
    hosting: Hosting
    _chats: AsyncExitStack

    async def chat(self, era: str = OLD, token: str = TOKEN) -> HttpChat:
        return await self._chats.enter_async_context(chatting(self.url, token, era))

    async def raw(self, token: str | None = TOKEN, **headers: str) -> httpx.AsyncClient:
        """Return a client that knows nothing of MCP."""
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        client = httpx.AsyncClient(base_url=self.url, headers=BOTH | shown | headers, timeout=30)
        return await self._chats.enter_async_context(client)


@pytest.fixture
def rooms() -> WaitedFor:
    return WaitedFor(CountingIds(), ManualClock())


@pytest.fixture
async def served(rooms: WaitedFor) -> Hosting:
    served = hosting(rooms, ManualClock())
    bob = await served.accounts.add("bob", display_name="Bob")
    await served.accounts.give(bob, accounts.digest(BOBS), TokenKind.OWNER)
    await served.accounts.give(ADA, accounts.digest(COOKIE), TokenKind.SESSION)
    return served


def elsewhere() -> Elsewhere:
    @functools.cache
    def state_of(_account: Account) -> StateStore:
        return MemoryState()

    return Elsewhere(state_of, NoSurroundings(), NoCheckouts(), WebForges())


@pytest.fixture
async def house(rooms: WaitedFor, served: Hosting) -> AsyncIterator[House]:
    with anyio.fail_after(60):
        async with listening(served, elsewhere=elsewhere()) as url, AsyncExitStack() as chats:
            yield House(url, rooms, served, chats)


async def worker(chat: HttpChat, room: str = "harbour", key: str = "a key") -> Plain:
    """Return what a call shows of a worker that the chat has in a room."""
    await chat.call("join_room", name=room)
    made = await chat.call("register_agent_session", registration_key=key, room_id=room)
    return {"worker_id": made["worker_id"], "room_id": room}


async def claimed(chat: HttpChat, by: Plain) -> None:
    """Let a worker have a task."""
    await chat.call("add_task", title="Mend the roof", **by)
    await chat.call("update_task", task_id="task_1", status="accepted", **by)
    await chat.call("claim_task", task_id="task_1", **by)


def asked(method: str, params: Plain, era: str) -> Plain:
    """Return a request as it is sent."""
    whole = {**params, "_meta": ENVELOPE} if era == NEW else params
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": whole}


def routed(method: str, name: str | None = None) -> dict[str, str]:
    """Return the headers with which a request of the newer era is sent."""
    named = {"Mcp-Name": name} if name else {}
    return {"MCP-Protocol-Version": NEW, "Mcp-Method": method, **named}


async def begun(http: httpx.AsyncClient) -> dict[str, str]:
    """Begin a session of the older era; return the headers of what is asked in it."""
    answer = await http.post("/mcp", json=asked("initialize", HELLO, OLD))
    assert answer.status_code == 200
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": OLD}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await http.post("/mcp", json=ready, headers=session)).status_code == 202
    return session


# --- who comes in --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT"])
async def test_nobody_comes_in_without_the_token_of_an_account(house: House, method: str) -> None:
    nobody, stranger = await house.raw(None), await house.raw("wrong")
    browser = await house.raw(None, Cookie=f"letagents_session={COOKIE}", Origin=house.url)
    for client, challenge in (
        (nobody, 'Bearer realm="letagents"'),
        (stranger, 'Bearer realm="letagents", error="invalid_token"'),
        (browser, 'Bearer realm="letagents"'),
    ):
        refused = await client.request(method, "/mcp", json=asked("initialize", HELLO, OLD))

        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == challenge


@pytest.mark.parametrize("era", ERAS)
async def test_a_token_is_asked_for_with_every_call(house: House, era: str) -> None:
    ada, nobody = await house.raw(), await house.raw(None)
    headers = routed("tools/list") if era == NEW else await begun(ada)
    allowed = await ada.post("/mcp", json=asked("tools/list", {}, era), headers=headers)
    refused = await nobody.post("/mcp", json=asked("tools/list", {}, era), headers=headers)

    assert (allowed.status_code, refused.status_code) == (200, 401)


async def test_who_was_led_here_by_somebody_elses_page_is_sent_away(house: House) -> None:
    ada = await house.raw()
    port = house.url.rpartition(":")[2]
    statuses = [
        (await ada.post("/mcp", json=asked("initialize", HELLO, OLD), headers=shown)).status_code
        for shown in (
            {"Host": f"evil.example:{port}"},
            {"Host": f"127.0.0.1.evil.example:{port}"},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"},
        )
    ]

    assert statuses == [421, 421, 403, 403, 200]


async def test_a_server_without_its_lifespan_says_that_it_serves_no_tools(served: Hosting) -> None:
    transport = httpx.ASGITransport(application(served, elsewhere()))
    shown = {"Authorization": f"Bearer {TOKEN}", **BOTH}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        refused = await client.post("/mcp", json={}, headers=shown)

    assert refused.status_code == 503


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"x" * (1024 * 1024 + 1), {}, 413),
        (b"{}", {"Content-Type": "text/plain"}, 400),
        (b"{}", {"Accept": "text/html"}, 406),
        (b"{}", {"Mcp-Session-Id": "nobody's"}, 404),
        (b"{}", {"Mcp-Session-Id": "x" * 10_000}, 404),
        (b"{", {"MCP-Protocol-Version": NEW}, 400),
        (b"[]", {"MCP-Protocol-Version": NEW}, 400),
        (b"\xff\xfe", {"MCP-Protocol-Version": NEW}, 400),
        (b"[" * 100_000, {"MCP-Protocol-Version": NEW}, 400),
        (b"x" * (1024 * 1024 + 1), {"MCP-Protocol-Version": NEW}, 413),
        (b"{}", {"MCP-Protocol-Version": "1999-01-01"}, 400),
    ],
)
async def test_what_is_no_request_is_refused(
    house: House, body: bytes, headers: dict[str, str], status: int
) -> None:
    ada = await house.raw()
    refused = await ada.post("/mcp", content=body, headers=headers)
    after = await ada.post("/mcp", json=asked("initialize", HELLO, OLD))

    assert (refused.status_code, after.status_code) == (status, 200)


async def test_what_is_asked_is_as_large_and_as_much_at_once_as_the_server_allows(
    rooms: WaitedFor, served: Hosting
) -> None:
    small = attrs.evolve(served, bounds=Bounds(body=1000, at_once=1))
    async with listening(small, elsewhere=elsewhere()) as url, AsyncExitStack() as chats:
        ada = await House(url, rooms, small, chats).raw()
        beyond = await ada.post("/mcp", content=b" " * 1001)
        with small.under_way.one(ADA.account_id):
            too_much = await ada.post("/mcp", json=asked("initialize", HELLO, OLD))
        fits = await ada.post("/mcp", json=asked("initialize", HELLO, OLD))

    assert [one.status_code for one in (beyond, too_much, fits)] == [413, 429, 200]


# --- what is one's own ---------------------------------------------------------------------------


async def test_a_session_is_there_for_nobody_but_its_account(house: House) -> None:
    ada, bob = await house.raw(), await house.raw(BOBS)
    session = await begun(ada)
    tools = asked("tools/list", {}, OLD)
    theirs = await bob.post("/mcp", json=tools, headers=session)
    ended = await bob.delete("/mcp", headers=session)
    own = await ada.post("/mcp", json=tools, headers=session)

    assert (theirs.status_code, ended.status_code, own.status_code) == (404, 404, 200)


async def test_one_account_opens_so_many_sessions_and_leaves_room_for_others(house: House) -> None:
    ada, bob = await house.raw(), await house.raw(BOBS)
    sessions = [await begun(ada) for _ in range(SESSIONS_OF_ONE)]
    refused = await ada.post("/mcp", json=asked("initialize", HELLO, OLD))
    await begun(bob)
    alone = await ada.post("/mcp", json=asked("tools/list", {}, NEW), headers=routed("tools/list"))
    assert (await ada.delete("/mcp", headers=sessions[0])).status_code == 200
    await begun(ada)

    assert (refused.status_code, alone.status_code) == (429, 200)


async def test_each_session_has_a_room_of_its_own(house: House) -> None:
    one, two = await house.chat(), await house.chat()
    await one.call("join_room", name="harbour")
    await two.call("join_room", name="quay")
    sent = [await chat.call("send_message", text="where am I?") for chat in (one, two)]

    assert [said["room_id"] for said in sent] == ["harbour", "quay"]
    assert sent[0]["sender"] != sent[1]["sender"]


async def test_a_call_that_stands_alone_says_where_and_who(house: House) -> None:
    chat = await house.chat(NEW)
    await chat.call("join_room", name="harbour")
    nowhere = await chat.refused("read_messages")
    nobody = await chat.refused("send_message", text="hello", room_id="harbour")
    hers = await worker(chat)
    here = await chat.call("send_message", text="hello", worker_id=hers["worker_id"])

    assert "pass room_id" in nowhere
    assert "Pass worker_id" in nobody
    assert "register_agent_session(registration_key=..., room_id='harbour')" in nobody
    assert here["room_id"] == "harbour"


@pytest.mark.parametrize("era", ERAS)
async def test_who_is_disconnected_is_so_for_all_chats_of_the_account(
    house: House, era: str
) -> None:
    one, two = await house.chat(era), await house.chat(era)
    hers = await worker(one)
    await two.call("disconnect_agent_session", **hers)
    refused = [await chat.refused("send_message", text="?", **hers) for chat in (one, two)]
    back = await one.call("register_agent_session", **hers)

    assert all("[session_ended]" in told for told in refused)
    assert back["worker_id"] == hers["worker_id"]


@pytest.mark.parametrize("era", ERAS)
async def test_what_needs_the_callers_machine_says_what_to_do_there(house: House, era: str) -> None:
    chat = await house.chat(era)
    listed = {tool.name for tool in (await chat.client.list_tools()).tools}
    needing = [offer for offer in OFFERS if offer.afar is not None]
    told = {
        offer.name: await chat.instead(offer.name, **NEEDED.get(offer.name, {}))
        for offer in needing
    }

    assert {offer.name for offer in needing} <= listed
    assert {one["error"] for one in told.values()} == {"needs_your_machine"}
    assert "git remote get-url origin" in told["check_repo"]["message"]


NEEDED: dict[str, dict[str, Any]] = {
    "start_local_codex_session": {"room": "harbour"},
    "begin_workspace_capture": {"room_id": "harbour"},
    "publish_workspace_capture": {"room_id": "harbour", "capture_id": "x", "summary": "y"},
    "check_repo": {"cwd": "/"},
    "initialize_repo": {"cwd": "/tmp", "room": "harbour"},  # nothing is written
}


@pytest.mark.parametrize("era", ERAS)
async def test_who_says_the_locator_of_a_focus_room_comes_in_by_it(house: House, era: str) -> None:
    bob, ada = await house.chat(era, BOBS), await house.raw(**{"X-LetAgents-Desktop-Client": "1"})
    code = (await ada.post("/projects", json={})).json()["code"]
    made = await ada.post(f"/rooms/{code}/focus-rooms", json={"title": "An idea"})
    focus = made.json()["focus_room"]["room_id"]
    register = functools.partial(bob.call, "register_agent_session", registration_key="his")
    guessed = await bob.refused("register_agent_session", registration_key="his", room_id=focus)
    his = await register(room_id=f"{code}/focus/an-idea")
    said = await bob.call("send_message", text="I am in.", worker_id=his["worker_id"])

    assert "[unknown_room]" in guessed
    assert said["room_id"] == focus


@pytest.mark.parametrize("era", ERAS)
async def test_who_has_no_folder_here_names_the_repository_of_its_files(
    house: House, era: str
) -> None:
    chat = await house.chat(era)
    hers = await worker(chat)
    await claimed(chat, hers)
    claim = {"task_id": "task_1", "patterns": ["src/"], **hers}
    unnamed = await chat.refused("claim_paths", **claim)
    made = await chat.call("claim_paths", repository="git@github.com:o/r.git", **claim)

    assert "or instead repository, what `git remote get-url origin` prints there" in unnamed
    assert made["claim"]["repository"] == "github.com/o/r"


# --- waiting, and being told ---------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_wait_ends_with_who_hangs_up(house: House, era: str) -> None:
    hers = await worker(await house.chat(era))
    http = await house.raw()
    wait = {"name": "wait_for_messages", "arguments": {**hers, "timeout": 60_000}}
    headers = routed("tools/call", "wait_for_messages") if era == NEW else await begun(http)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            functools.partial(
                http.post, "/mcp", json=asked("tools/call", wait, era), headers=headers
            )
        )
        await house.rooms.are_waiting(1)
        tasks.cancel_scope.cancel()
    await house.rooms.are_waiting(0)


@pytest.mark.parametrize("era", ERAS)
async def test_a_wait_ends_where_it_is_cancelled(house: House, era: str) -> None:
    chat = await house.chat(era)
    hers = await worker(chat)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(functools.partial(chat.call, "wait_for_messages", timeout=60_000, **hers))
        await house.rooms.are_waiting(1)
        tasks.cancel_scope.cancel()
    await house.rooms.are_waiting(0)
    after = await chat.call("send_message", text="still here", **hers)

    assert after["text"] == "still here"


@pytest.mark.parametrize("era", ERAS)
async def test_who_waits_hears_of_the_end_of_the_server(house: House, era: str) -> None:
    chat = await house.chat(era)
    hers = await worker(chat)
    heard: list[Plain] = []

    async def wait() -> None:
        heard.append(await chat.call("wait_for_messages", timeout=60_000, **hers))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await house.rooms.are_waiting(1)
        house.hosting.stopping.set()

    assert heard[0]["messages"] == []


async def test_who_only_listens_is_sent_out_at_the_end_of_the_server(house: House) -> None:
    http = await house.raw()
    session = await begun(http)
    stream = http.stream("GET", "/mcp", headers=session | {"Accept": "text/event-stream"})
    async with stream as opened:
        assert opened.status_code == 200
        house.hosting.stopping.set()
        rest = [piece async for piece in opened.aiter_bytes()]

    assert b"".join(rest) == b""


@pytest.mark.filterwarnings("ignore:resources/")
async def test_each_session_is_told_of_the_rooms_to_which_it_subscribed(house: House) -> None:
    one, two = await house.chat(), await house.chat()
    hers = await worker(one)
    uri = "letagents://rooms/harbour/messages"
    for chat in (one, two):
        await chat.client.subscribe_resource(uri)
    await two.client.unsubscribe_resource(uri)
    await one.call("send_message", text="news", **hers)
    await one.told(2)
    content = await two.client.read_resource(uri)

    assert one.notices == [
        "notifications/resources/updated",
        "notifications/resources/list_changed",
    ]
    assert two.notices == []
    [read] = content.contents
    assert [said["text"] for said in json.loads(getattr(read, "text", ""))["messages"]] == ["news"]


async def test_a_stream_is_told_of_its_room(house: House) -> None:
    chat = await house.chat(NEW)
    hers = await worker(chat)
    uri = "letagents://rooms/harbour/messages"
    with anyio.fail_after(10):
        async with chat.client.listen(resource_subscriptions=[uri]) as updates:
            await chat.call("send_message", text="news", **hers)
            told = await anext(aiter(updates))

    assert getattr(told, "uri", None) == uri


async def test_there_are_no_more_than_the_tools(house: House) -> None:
    chat = await house.chat()
    with pytest.raises(MCPError, match="There is no tool"):
        await chat.client.call_tool("nothing", {})


@pytest.mark.parametrize("era", ERAS)
async def test_a_task_is_worked_on_from_the_board_to_its_end(house: House, era: str) -> None:
    chat = await house.chat(era)
    hers = await worker(chat)
    await chat.call("add_task", title="Mend the roof", **hers)
    await chat.call("update_task", task_id="task_1", status="accepted", **hers)
    claimed = await chat.call("claim_task", task_id="task_1", **hers)
    await chat.call("update_task", task_id="task_1", status="in_progress", epoch=1, **hers)
    done = await chat.call("complete_task", task_id="task_1", pr_url="https://x/1", **hers)
    [row] = (await chat.call("get_board", room_id="harbour"))["tasks"]

    assert claimed["task"]["active_leases"][0]["epoch"] == 1
    assert done["task"]["status"] == row["status"] == "in_review"


# --- who looks into a room that they have not entered --------------------------------------------

ENTERING = {"join_room", "register_agent_session"}
"""By these one enters a room that one knows the name of."""
GIVEN: Plain = {
    "room_id": "harbour",
    "text": "ahoy",
    "title": "Mend the roof",
    "task_id": "task_1",
    "message_id": "msg_1",
    "summary": "I look at the roof.",
    "status": "working",
    "words": "plan",
    "query": "plan",
    "timeout": 1,
}
"""Of what the tools want, something of a form that is right."""


async def looked(chat: HttpChat) -> dict[str, str]:
    """Call each tool that is about a room; return what they answer that do not refuse."""
    told = {}
    for tool in (await chat.client.list_tools()).tools:
        fields = tool.input_schema.get("properties", {})
        if "room_id" not in fields or tool.name in ENTERING:
            continue
        asked = {name: value for name, value in GIVEN.items() if name in fields}
        answer = await chat.client.call_tool(tool.name, asked)
        content = answer.structured_content or {}
        is_done = not answer.is_error and content.get("success") is not False
        told[tool.name] = str(content) if is_done else "refused"
    return told


async def test_who_has_not_entered_a_room_reads_and_writes_nothing_there(house: House) -> None:
    chat = await house.chat(NEW)
    hers = await worker(chat)
    await chat.call("send_message", text="the secret plan", **hers)
    await chat.call("add_task", title="Carry out the secret plan", **hers)
    before = repr(house.rooms._kept)
    stranger = await house.chat(NEW, BOBS)
    alone = await looked(stranger)
    assert repr(house.rooms._kept) == before
    own = [await chat.call(tool, room_id="harbour") for tool in ("read_messages", "get_board")]

    assert {name: told for name, told in alone.items() if told != "refused"} == {}
    assert all("the secret plan" in str(one) for one in own)


async def test_nobody_is_told_where_a_server_keeps_its_rooms(house: House) -> None:
    chat, http = await house.chat(NEW), await house.raw()
    house.rooms.is_away = True
    told = [
        await chat.refused("join_room", name="harbour"),
        (await http.post("/rooms/harbour/join")).text,
    ]

    assert all("rooms_unavailable" in one and "/srv" not in one for one in told), told
