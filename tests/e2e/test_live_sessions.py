"""A Codex that works in a room by itself, as the chat sees it that started it."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from tests.contract.machine import Here
from tests.e2e.chats import Chat, House, chatting
from tests.integration import provider_stages

from letagents.adapters.providers.live_codex import AppServers
from letagents.adapters.state.memory import MemoryState
from letagents.domain import live_sessions
from letagents.domain.activity import Report
from letagents.domain.errors import Malformed, StateUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.progress import Activity
from letagents.ports.live_codex import Seen
from letagents.settings import Settings
from letagents.testing.determinism import ManualClock
from letagents.testing.scripted_codex import ScriptedCodex
from letagents.testing.scripted_provider import Play
from letagents.wiring.client import open_letagents

PATIENCE = 30.0
ROOM = RoomId("workshop")


@attrs.define
class Forgetful(MemoryState):
    """A state that knows how often it could not be read."""

    failures: int = 0

    def _complain(self) -> None:
        self.failures += self.fault is not None
        super()._complain()


@pytest.fixture
def codex() -> ScriptedCodex:
    return ScriptedCodex()


@pytest.fixture
async def house(tmp_path: Path, codex: ScriptedCodex) -> AsyncIterator[House]:
    settings = Settings(home=tmp_path, codex_observed=timedelta(0))
    async with (
        open_letagents(settings, codex=codex, surroundings=Here()) as letagents,
        AsyncExitStack() as chats,
    ):
        yield House(letagents, "2025-11-25", chats)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def timed(
    tmp_path: Path, codex: ScriptedCodex, clock: ManualClock
) -> AsyncIterator[tuple[House, Chat]]:
    """A house whose time passes when a test says so."""
    settings = Settings(home=tmp_path, codex_observed=timedelta(0))
    async with (
        open_letagents(settings, codex=codex, surroundings=Here(), clock=clock) as letagents,
        AsyncExitStack() as chats,
    ):
        house = House(letagents, "2025-11-25", chats)
        yield house, await house.chat("claude-code")


@pytest.fixture
async def chat(house: House) -> Chat:
    return await house.chat("claude-code")


async def start(chat: Chat, **more: object) -> dict[str, Any]:
    return await chat.call("start_local_codex_session", room="workshop", **more)


async def test_a_session_is_started_seen_and_stopped(chat: Chat, codex: ScriptedCodex) -> None:
    started = await start(chat, stop_phrase="enough", max_minutes=30)
    here = await chat.call("get_current_room")
    status = await chat.call("status_local_codex_session")
    session = started["local_codex_session"]
    stopped = await chat.call("stop_local_codex_session", session_id=session["session_id"])

    assert started["local_codex_session_started"] is True
    assert (session["status"], session["thread_id"]) == ("running", "thread-1")
    assert session["launched_server"] is True
    assert "enough" in codex.prompts[0]
    assert here["current_local_codex_session"] == session
    assert here["local_codex_session_count"] == 1
    assert (status["server_reachable"], status["turn_status"]) == (True, "inProgress")
    assert codex.interrupted == ["turn-1"]
    assert stopped["session"]["status"] == "interrupted"
    assert (codex.there, codex.ended) == ({}, [session["server_pid"]])
    assert "token" not in str(started)


async def test_a_session_is_gone_on_with_and_not_doubled(chat: Chat, codex: ScriptedCodex) -> None:
    first = await start(chat)
    again = await start(chat)
    elsewhere = await start(chat, cwd="/elsewhere")

    assert again["local_codex_session_reused"] is True
    assert again["local_codex_session"]["session_id"] == first["local_codex_session"]["session_id"]
    assert elsewhere["local_codex_session_reused"] is False
    assert len(codex.prompts) == 2


async def test_a_session_that_is_asked_for_twice_at_once_is_started_once(
    chat: Chat, codex: ScriptedCodex
) -> None:
    told: list[dict[str, Any]] = []

    async def ask() -> None:
        told.append(await start(chat))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)

    assert sorted(one["local_codex_session_reused"] for one in told) == [False, True]
    assert len(codex.prompts) == 1


@pytest.mark.rule("Y36")
async def test_of_two_chats_that_start_one_at_once_one_gives_way(
    house: House, codex: ScriptedCodex
) -> None:
    chats = [await house.chat(), await house.chat()]
    told: list[dict[str, Any]] = []
    codex.begin_together = 2

    async def ask(chat: Chat) -> None:
        told.append(await start(chat))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for chat in chats:
                tasks.start_soon(ask, chat)

    assert len({one["local_codex_session"]["session_id"] for one in told}) == 1
    assert sorted(one["local_codex_session_reused"] for one in told) == [False, True]
    assert (len(codex.there), len(codex.ended), len(codex.interrupted)) == (1, 1, 1)


async def test_a_chat_enters_a_room_with_a_live_session(chat: Chat) -> None:
    joined = await chat.call("join_room", name="workshop", session_mode="live")

    assert joined["session_mode"] == "live"
    assert joined["local_codex_session"]["room_id"] == "workshop"
    assert joined["local_codex_session_started"] is True


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (Seen("idle", "failed"), "turn entered failed"),
        (Seen("idle", "completed"), "turn completed before entering the room polling loop"),
        (None, "worker status became unknown during startup"),
    ],
)
async def test_a_session_that_ends_at_once_is_no_session_and_leaves_nothing(
    house: House, codex: ScriptedCodex, seen: Seen | None, why: str
) -> None:
    chat = await house.chat()
    chat.visit.client.live.sessions.observed = timedelta(seconds=PATIENCE)
    codex.seen_later, codex.breaks_later = seen, seen is None
    told = await start(chat)

    assert told["success"] is False
    assert told["error"] == f"Codex worker exited during startup: {why}."
    assert codex.there == {}


@pytest.mark.parametrize("url", ["garbage", "http://127.0.0.1:1", "ws://[::1", "ws://h:99999"])
async def test_a_server_that_is_set_wrongly_is_refused_before_anything_is_started(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETAGENTS_CODEX_SERVER_URL", url)
    servers = AppServers(provider_stages.TOOLS)

    with pytest.raises(Malformed, match="LETAGENTS_CODEX_SERVER_URL"):
        _ = servers.set_url
    assert not await servers.is_ready(url)


async def test_where_there_is_none_it_is_said(chat: Chat) -> None:
    told = [
        await chat.call("status_local_codex_session"),
        await chat.call("stop_local_codex_session", session_id="nobody's"),
    ]

    assert [(one["success"], one["error"]) for one in told] == [
        (False, "No local Codex live session found.")
    ] * 2
    assert "cwd" in await chat.refused("start_local_codex_session", room="workshop", cwd="odd")


async def test_a_server_that_is_ready_and_answers_nothing_is_not_known(
    chat: Chat, codex: ScriptedCodex
) -> None:
    await start(chat)
    codex.is_broken = True
    status = await chat.call("status_local_codex_session")

    assert status["server_reachable"] is True
    assert status["session"]["status"] == "unknown"
    assert "WebSocket" in status["session"]["last_error"]
    assert codex.there == {}


async def test_the_servers_of_a_chat_end_with_it(house: House, codex: ScriptedCodex) -> None:
    async with chatting(house.letagents) as passing:
        await start(passing)
        assert codex.there
    left = live_sessions.current(await house.letagents.state.read(), ROOM)
    after = await house.chat()
    status = await after.call("status_local_codex_session")

    assert codex.there == {}
    assert left is not None
    assert (left.status.value, left.last_error) == (
        "interrupted",
        "the chat that started it has ended",
    )
    assert (status["server_reachable"], status["session"]["status"]) == (False, "interrupted")


async def test_the_room_sees_what_the_session_s_worker_does(
    house: House, chat: Chat, codex: ScriptedCodex
) -> None:
    await start(chat)
    own = await house.chat("codex-mcp-client")
    await own.call("join_room", name="workshop")
    registered = await own.call(
        "register_agent_session", registration_key="its own", room_id="workshop", runtime="codex"
    )
    with anyio.fail_after(PATIENCE):
        await codex.followed.wait()
        codex.tell(Activity("item/started", "Codex reads the tests", checking="Handling tests."))
        traces = await _traces(house)

    status = await chat.call("status_local_codex_session")
    assert [(one.latest.summary, one.latest.checking) for one in traces] == [
        ("Codex reads the tests", "Handling tests.")
    ]
    bound = (await house.letagents.state.read()).sessions[status["session"]["agent_session_id"]]
    assert bound.agent_instance_id == registered["worker_id"]


@pytest.mark.rule("Y37", "Y48")
async def test_the_room_is_shown_no_secret_and_nothing_under_somebody_else_s_name(
    timed: tuple[House, Chat], clock: ManualClock, codex: ScriptedCodex
) -> None:
    house, chat = timed
    other = await house.chat("codex-mcp-client")
    await other.call("join_room", name="workshop")
    await other.call("register_agent_session", registration_key="other", room_id="workshop")
    clock.pass_by(timedelta(minutes=1))
    await start(chat)
    mark = re.findall(r"LOCAL_CODEX_ROOM_[\w-]+(?=_DONE)", codex.prompts[0])[0]
    codex.seen = Seen("active", "inProgress", ({"type": "userMessage", "text": codex.prompts[0]},))
    own = await house.chat("codex-mcp-client")
    await own.call("join_room", name="workshop")
    its = await own.call(
        "register_agent_session", registration_key="its own", room_id="workshop", runtime="codex"
    )
    with anyio.fail_after(PATIENCE):
        await codex.followed.wait()
        codex.tell(Activity("item/started", f"\x1b[1mcurl -H 'Bearer {'k' * 20}' {mark}"))
        [trace] = await _traces(house)
    status = await chat.call("status_local_codex_session")

    assert trace.latest.summary == "\N{REPLACEMENT CHARACTER}[1mcurl -H 'Bearer [hidden]' [hidden]"
    assert mark not in str(status["recent_items"])
    bound = (await house.letagents.state.read()).sessions[status["session"]["agent_session_id"]]
    assert bound.agent_instance_id == its["worker_id"]


async def test_a_session_is_heard_again_after_the_line_to_it_ended_and_until_its_turn_ends(
    timed: tuple[House, Chat], clock: ManualClock, codex: ScriptedCodex
) -> None:
    house, chat = timed
    chat.visit.client.live.sessions.bridge.snapshot = 0.02
    await start(chat)
    await chat.call(
        "register_agent_session", registration_key="its", room_id="workshop", runtime="codex"
    )
    with anyio.fail_after(PATIENCE):
        await codex.followed.wait()
        codex.hang_up()
        await codex.followed.wait()
        codex.tell(Activity("item/started", "heard again"))
        [trace] = await _traces(house)
        clock.pass_by(timedelta(seconds=1))
        codex.seen = Seen("idle", "completed", activity=Activity("snapshot", "That is all."))
        while codex.there:  # noqa: ASYNC110  nobody is told
            await anyio.sleep(0.02)
    [last] = await _traces(house)
    status = await chat.call("status_local_codex_session")

    assert trace.latest.summary == "heard again"
    assert (last.latest.summary, last.latest.status) == ("That is all.", "idle")
    assert status["session"]["status"] == "completed"


@pytest.mark.rule("Y38")
async def test_what_comes_too_soon_after_another_is_not_shown(
    tmp_path: Path, codex: ScriptedCodex
) -> None:
    clock = ManualClock()
    settings = Settings(home=tmp_path, codex_observed=timedelta(0))
    async with (
        open_letagents(settings, codex=codex, clock=clock, surroundings=Here()) as letagents,
        chatting(letagents) as chat,
    ):
        house = House(letagents, "2025-11-25", AsyncExitStack())
        chat.visit.client.live.sessions.bridge.snapshot = 0.02
        await start(chat)
        await chat.call(
            "register_agent_session", registration_key="its", room_id="workshop", runtime="codex"
        )
        with anyio.fail_after(PATIENCE):
            await codex.followed.wait()
            codex.tell(Activity("item/started", "first"))
            [trace] = await _traces(house)
            codex.tell(Activity("item/started", "too soon"))
            looks = codex.looks
            while codex.looks < looks + 2:  # noqa: ASYNC110  it looks once nothing is left
                await anyio.sleep(0.02)
            clock.pass_by(timedelta(seconds=1))
            shown: list[str] = []
            while "later" not in shown:
                codex.tell(Activity("item/started", "later"))
                await anyio.sleep(0.02)
                shown = await _updates(house, trace.reasoning_id)

    assert shown == ["later", "first"]


@pytest.mark.rule("Y50")
async def test_what_two_chats_look_after_is_shown_once_and_goes_on_with_either(
    house: House, codex: ScriptedCodex
) -> None:
    first, second = await house.chat(), await house.chat()
    second.visit.client.live.sessions.bridge.snapshot = 0.02
    await start(first)
    await second.call(
        "register_agent_session", registration_key="its", room_id="workshop", runtime="codex"
    )
    with anyio.fail_after(PATIENCE):
        await codex.followed.wait()
        again = await start(second)
        codex.tell(Activity("item/started", "once"))
        [trace] = await _traces(house)
        shown = await _updates(house, trace.reasoning_id)
        codex.followed = anyio.Event()
        codex.shown.clear()  # as when the first chat's process ends
        await codex.followed.wait()

    assert again["local_codex_session_reused"] is True
    assert shown == ["once"]


@pytest.mark.rule("X28")
async def test_the_room_hears_that_the_session_s_program_is_there(
    house: House, chat: Chat, codex: ScriptedCodex
) -> None:
    heard: list[tuple[str, str]] = []

    class Ear:
        async def report(self, room_id: RoomId, found: Report, fence: Fence) -> None:
            heard.append((found.method, found.status))

    bridge = chat.visit.client.live.sessions.bridge
    bridge.reports, bridge.snapshot = Ear, 0.02
    await start(chat)
    await chat.call(
        "register_agent_session", registration_key="its", room_id="workshop", runtime="codex"
    )
    with anyio.fail_after(PATIENCE):
        while not heard:  # noqa: ASYNC110  the ear is not awaited
            await anyio.sleep(0.02)
        while len(heard) < 2:
            codex.tell(Activity("turn/failed", "It failed", "blocked"))
            await anyio.sleep(0.02)

    assert heard == [("native_harness.heartbeat", "working"), ("turn/failed", "blocked")]


async def test_a_session_that_is_over_is_seen_to_without_being_asked_for(
    house: House, chat: Chat, codex: ScriptedCodex
) -> None:
    chat.visit.client.live.sessions.watched_every = 0.02
    await start(chat)
    codex.seen = Seen("idle", "completed")
    with anyio.fail_after(PATIENCE):
        while codex.there:  # noqa: ASYNC110  nobody is told
            await anyio.sleep(0.02)
    status = await chat.call("status_local_codex_session")

    assert status["session"]["status"] == "completed"
    assert len(codex.ended) == 1


async def test_a_server_that_is_gone_is_noted_without_being_asked_for(
    chat: Chat, codex: ScriptedCodex
) -> None:
    chat.visit.client.live.sessions.watched_every = 0.02
    await start(chat)
    codex.there.clear()
    status = "running"
    with anyio.fail_after(PATIENCE):
        while status == "running":
            await anyio.sleep(0.02)
            here = await chat.call("get_current_room")
            status = here["current_local_codex_session"]["status"]

    assert status == "unknown"


@pytest.mark.parametrize(("watched_every", "snapshot"), [(0.02, 3600.0), (3600.0, 0.02)])
async def test_a_session_is_seen_to_though_for_a_while_nothing_can_be_remembered(
    tmp_path: Path, codex: ScriptedCodex, watched_every: float, snapshot: float
) -> None:
    settings, state = Settings(home=tmp_path, codex_observed=timedelta(0)), Forgetful()
    async with (
        open_letagents(settings, state=state, codex=codex, surroundings=Here()) as letagents,
        AsyncExitStack() as chats,
    ):
        chat = await House(letagents, "2025-11-25", chats).chat("claude-code")
        sessions = chat.visit.client.live.sessions
        sessions.watched_every, sessions.bridge.snapshot = watched_every, snapshot
        await start(chat)
        with anyio.fail_after(PATIENCE):
            await codex.followed.wait()
            state.fault = StateUnavailable("It is away.", remedy="Wait.")
            while state.failures < 3:  # noqa: ASYNC110  nobody is told
                await anyio.sleep(0.02)
            state.fault, codex.seen = None, Seen("idle", "completed")
            while codex.there:  # noqa: ASYNC110  nobody is told
                await anyio.sleep(0.02)

    assert len(codex.ended) == 1


@pytest.mark.rule("Y39")
async def test_a_session_lasts_no_longer_than_it_may(tmp_path: Path, codex: ScriptedCodex) -> None:
    settings, clock = Settings(home=tmp_path, codex_observed=timedelta(0)), ManualClock()
    async with (
        open_letagents(settings, codex=codex, surroundings=Here(), clock=clock) as letagents,
        AsyncExitStack() as chats,
    ):
        chat = await House(letagents, "2025-11-25", chats).chat("claude-code")
        chat.visit.client.live.sessions.watched_every = 0.02
        await start(chat, max_minutes=30)
        clock.pass_by(timedelta(minutes=30))
        with anyio.fail_after(PATIENCE):
            while codex.there:  # noqa: ASYNC110  nobody is told
                await anyio.sleep(0.02)
        here = await chat.call("get_current_room")
        status = await chat.call("status_local_codex_session")

    assert here["current_local_codex_session"] == status["session"]
    assert status["session"]["status"] == "interrupted"
    assert status["session"]["last_error"] == "it has lasted the 30 minutes that it was given"
    assert codex.interrupted == ["turn-1"]


@pytest.mark.rule("Y39")
@pytest.mark.parametrize("tool", ["get_current_room", "start_local_codex_session"])
async def test_a_session_that_nobody_looks_after_ends_once_any_chat_comes_by(
    timed: tuple[House, Chat], codex: ScriptedCodex, clock: ManualClock, tool: str
) -> None:
    house, killed = timed
    started = await start(killed, max_minutes=30)
    for unwatch in killed.visit.client.live.sessions._watches.values():
        unwatch()  # as if it had been killed
    clock.pass_by(timedelta(minutes=30))
    other = await house.chat("claude-code")
    assert codex.there

    await other.call(tool, **({"room": "elsewhere"} if tool != "get_current_room" else {}))
    broken_off, ended = list(codex.interrupted), len(codex.ended)
    named = {"session_id": started["local_codex_session"]["session_id"]}
    status = await other.call("status_local_codex_session", **named)

    assert (broken_off, ended) == (["turn-1"], 1)
    assert status["session"]["last_error"] == "it has lasted the 30 minutes that it was given"


async def _updates(house: House, reasoning_id: str) -> list[str]:
    stores = house.letagents.memory()
    assert stores is not None
    updates = await stores.reasonings.updates(ROOM, reasoning_id)
    return [one.trace.summary for one in updates]


async def _traces(house: House) -> Any:
    stores = house.letagents.memory()
    assert stores is not None
    while not (traces := await stores.reasonings.traces(ROOM)):  # noqa: ASYNC110  no nudge tells
        await anyio.sleep(0.02)
    return traces


@pytest.mark.rule("Y41")
async def test_codex_itself_is_started_seen_and_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = provider_stages.codex(tmp_path, monkeypatch)
    monkeypatch.setenv("LETAGENTS_TOKEN", "owner's")
    monkeypatch.setenv("CODEX_THREAD_ID", "the one of the chat")
    monkeypatch.setenv("LETAGENTS_AGENT_INSTANCE_ID", "the chat's")
    stage.play(Play(hangs=True))
    settings = Settings(home=tmp_path / "home", codex_observed=timedelta(0))
    servers = AppServers(provider_stages.TOOLS)
    with anyio.fail_after(60):
        async with (
            open_letagents(settings, codex=servers, surroundings=Here()) as letagents,
            chatting(letagents) as chat,
        ):
            started = await start(chat, cwd=stage.launch.workspace)
            status = await chat.call("status_local_codex_session")
            stopped = await chat.call("stop_local_codex_session")
    argv = stage.argv()

    assert stage.turns_run() == ["live"]

    assert started["success"] is True
    assert (status["thread_status"], status["turn_status"]) == ("active", "inProgress")
    assert [item["type"] for item in status["recent_items"]] == ["userMessage"]
    assert stopped["session"]["last_error"] is None
    assert argv[:3] == ["app-server", "-c", "features.plugins=false"]
    assert argv[argv.index("notify=[]") + 1] == "-c"
    assert argv[-2:] == ["--listen", started["local_codex_session"]["server_url"]]
    assert "owner's" not in " ".join(argv)
    assert not {"CODEX_THREAD_ID", "LETAGENTS_AGENT_INSTANCE_ID"} & set(stage.environ())
