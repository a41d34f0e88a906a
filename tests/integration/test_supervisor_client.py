"""What a supervised process makes of supervisors that answer oddly, late, or not at all."""

import asyncio
import functools
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import attrs
import pytest

from letagents.adapters.supervisor.checkpoints import Checkpoints
from letagents.adapters.supervisor.socket import SocketSupervisor
from letagents.adapters.system import SystemIds
from letagents.application.borrowed import BorrowedRooms
from letagents.domain.errors import NotSignedIn
from letagents.domain.ids import MessageId
from letagents.domain.modes import Mode
from letagents.domain.supervised import (
    STALE,
    CoordinatesWrong,
    SupervisorGarbled,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
)
from letagents.domain.surfaces import Caller, Profile
from letagents.entrypoints.mcp import supervised
from letagents.entrypoints.mcp.supervised import Supervised, called, within_reach
from letagents.entrypoints.mcp.surface import tools_of
from letagents.settings import Settings
from letagents.testing.contracts.supervisor import SESSION, change
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Request, Response
from letagents.wiring.borrowed import open_borrowed_rooms

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
IDENTITY = {"protocol_version": 2, "generation": 7, "pid": 4242, "started_at": "2030-01-01"}
BOUND = {"bound": True}
SILENCE = "silence"
Said = Callable[[Request], Any] | Any


@attrs.define(eq=False)
class Fake:
    """Answers each method with what it was told to, and remembers what it was asked."""

    socket: Path
    said: dict[str, Any] = attrs.field(factory=lambda: {wire.NEGOTIATE: IDENTITY})
    asked: list[Request] = attrs.field(factory=list)
    version: int = 2
    _listening: asyncio.Server | None = None

    async def start(self) -> None:
        self._listening = await asyncio.start_unix_server(self._answer, str(self.socket))

    async def stop(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        self.socket.unlink(missing_ok=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = wire.read_request(await reader.readline())
            self.asked.append(request)
            await self._say(request, reader, writer)
        finally:
            writer.close()

    async def _say(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        said = self.said.get(request.method, {})
        said = said(request) if callable(said) else said
        if said is None:
            return
        if said is SILENCE:
            await reader.read()
        elif isinstance(said, bytes):
            writer.write(said)
        elif isinstance(said, str):
            writer.write(Response(self.version, request.id, ok=False, error=said).line())
        else:
            writer.write(Response(self.version, request.id, ok=True, result=said).line())

    def methods(self) -> list[str]:
        return [request.method for request in self.asked]

    def params(self, method: str) -> list[Any]:
        return [request.params for request in self.asked if request.method == method]


@pytest.fixture
async def fake(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Fake]:
    fake = Fake(tmp_path / "daemon.sock")
    await fake.start()
    yield fake
    await fake.stop()


def process(fake: Fake, patience: float = 30.0, **environ: str) -> SocketSupervisor:
    given = {
        "LETAGENTS_SUPERVISOR_ENTRY_ID": "e1",
        "LETAGENTS_SUPERVISOR_DAEMON_SOCKET": str(fake.socket),
        "LETAGENTS_SUPERVISOR_WORK_ATTEMPT_ID": "w1",
        "LETAGENTS_SUPERVISOR_EXECUTION_GENERATION_ID": "x1",
    }
    return SocketSupervisor(
        given | environ,
        fake.socket,
        fake.socket.parent,
        SystemIds(),
        patience=patience,
        quick=patience,
        gap=0.0,
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (IDENTITY | {"protocol_version": 999}, "unsupported version"),
        (IDENTITY | {"protocol_version": "2"}, "unsupported version"),
        (IDENTITY | {"protocol_version": 3}, "does not match its negotiated protocol"),
        (["healthy"], "returned a malformed result"),
        ("It is resting.", "It is resting."),
        (" ", "Supervisor protocol negotiation failed."),
    ],
)
async def test_what_cannot_be_negotiated_is_asked_once(fake: Fake, said: Any, told: str) -> None:
    fake.said[wire.NEGOTIATE] = said

    with pytest.raises(SupervisorRefused, match=told):
        await process(fake).bind(SESSION)
    assert fake.methods() == [wire.NEGOTIATE]


GARBLED = [b"not JSON\n", b"[1]\n", b'{"id":"another","ok":true}\n']


@pytest.mark.parametrize("said", [None, *GARBLED])
async def test_what_is_no_answer_leaves_it_open(fake: Fake, said: Any) -> None:
    fake.said[wire.BIND] = said

    with pytest.raises(SupervisorSilent):
        await process(fake).bind(SESSION)


@pytest.mark.parametrize("said", GARBLED)
async def test_what_is_no_answer_is_not_asked_for_again(fake: Fake, said: bytes) -> None:
    fake.said[wire.EXECUTE] = said
    caller = Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True)
    tool = {one.name: one for one in tools_of(caller, Mode.SUPERVISED)}["post_status"]
    supervisor = attrs.evolve(process(fake), gap=30.0)

    told = await called(tool, Supervised(supervisor, caller, no_rooms), {"status": "idle"}, 1)
    assert told["isError"] is True
    assert "Look whether it was done before" in json.dumps(told)
    assert fake.methods() == [wire.NEGOTIATE, wire.EXECUTE]


def no_rooms() -> AbstractAsyncContextManager[BorrowedRooms]:
    raise AssertionError


async def done_here(fake: Fake, name: str, **arguments: object) -> dict[str, Any]:
    """Return what becomes of a call that a supervisor leaves to its agent's process."""
    fake.said[wire.EXECUTE] = f"{wire.UNSUPPORTED}{wire.EXECUTE}"
    does = {"room_id": "r", "effect_id": "f1", "state": "prepared", "action": "execute"}
    fake.said[wire.PREPARE] = does
    url = "https://rooms.example"
    caller = Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True, provider="cursor", api_url=url)
    tool = {one.name: one for one in tools_of(caller, Mode.SUPERVISED)}[name]
    supervisor = process(fake, LETAGENTS_SUPERVISOR_AGENT_SESSION_ID="s1")
    home = fake.socket.parent
    settings = Settings(home=home, api_url=url, caller=caller)
    doing = Supervised(
        supervisor,
        caller,
        lambda: open_borrowed_rooms(settings, supervisor, supervisor._environ, home),
    )
    told = await called(tool, doing, arguments, 1)
    await doing.aclose()
    return told


async def test_what_was_done_and_is_not_noted_is_not_to_be_done_again(fake: Fake) -> None:
    fake.said[wire.COMPLETE] = "It is not of the turn."
    told = await done_here(fake, "get_current_room")

    assert told["isError"] is True
    assert "It is not of the turn. It was done" in json.dumps(told)
    assert len(fake.params(wire.COMPLETE)) == 1


async def test_a_turn_says_its_answer_also_where_its_supervisor_runs_no_tools(fake: Fake) -> None:
    told = await done_here(fake, "complete_room_turn", outcome="reply", text="Done.")
    silent = await done_here(fake, "complete_room_turn", outcome="reply")

    answer, refused = fake.params(wire.COMPLETE)
    assert told["structuredContent"]["accepted"] is True
    assert answer["result"] == told
    assert silent["isError"] is True
    assert "requires non-empty text when outcome is reply" in refused["error"]


async def test_no_error_names_a_tool_that_the_agent_cannot_call() -> None:
    caller = Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True)

    async def failing(remedy: str) -> None:
        raise NotSignedIn("The room server answers 401.", remedy=remedy)

    for remedy, is_kept in (
        ("Call start_device_auth.", False),
        ("Call join_room(name=...) to open it.", False),
        ("Call read_messages first.", True),
        ("Call again.", True),
    ):
        with pytest.raises(NotSignedIn) as raised:
            await within_reach(caller, functools.partial(failing, remedy))
        assert (raised.value.remedy == remedy) is is_kept


async def test_what_may_have_been_done_before_is_told_as_that(fake: Fake) -> None:
    fake.said[wire.EXECUTE] = {"room_id": "r", "effect_id": "f1", "state": "uncertain"}

    with pytest.raises(SupervisorRefused, match="outcome is uncertain") as raised:
        await process(fake).execute(change())
    assert "Look whether" in raised.value.remedy


async def test_a_silent_supervisor_is_not_waited_for_long(fake: Fake) -> None:
    fake.said[wire.NEGOTIATE] = SILENCE

    with pytest.raises(SupervisorUnavailable, match="Timed out communicating with the supervisor"):
        await process(fake, patience=0.05).bind(SESSION)


async def test_one_that_says_who_it_is_is_bound_to_once(fake: Fake) -> None:
    supervisor = process(fake)
    await supervisor.bind(SESSION)
    await supervisor.bind(SESSION)
    assert fake.methods() == [wire.NEGOTIATE, wire.BIND, wire.NEGOTIATE]
    fake.said[wire.NEGOTIATE] = IDENTITY | {"generation": 8}
    await supervisor.bind(SESSION)

    assert fake.methods().count(wire.BIND) == 2
    assert fake.asked[0].version == 1
    assert fake.asked[1].version == 2
    assert fake.params(wire.BIND)[0] == {
        "entry_id": "e1",
        "room_id": SESSION.room_id,
        "work_attempt_id": "w1",
        "execution_generation_id": "x1",
        "agent_session_id": "s1",
        "agent_session_token": SESSION.token.value,
        "api_url": "https://letagents.chat",
    }


async def test_one_that_does_not_is_bound_to_each_time(fake: Fake) -> None:
    fake.said[wire.NEGOTIATE] = {"protocol_version": 2, "generation": 7}
    supervisor = process(fake)
    for _ in range(2):
        await supervisor.bind(SESSION, is_known=True)

    assert fake.methods().count(wire.BIND) == 2


async def test_a_known_session_is_only_verified(fake: Fake) -> None:
    supervisor = process(fake)
    await supervisor.bind(SESSION)
    await supervisor.bind(SESSION, is_known=True)
    assert fake.methods()[2:] == [wire.VERIFY]
    fake.said[wire.VERIFY] = "no"

    with pytest.raises(SupervisorRefused):
        await supervisor.bind(SESSION, is_known=True)
    await supervisor.bind(SESSION, is_known=True)
    assert fake.methods()[4:] == [wire.NEGOTIATE, wire.BIND]


@pytest.mark.parametrize("said", [SILENCE, None, "no"])
async def test_who_cannot_be_verified_is_told_at_once_and_binds_the_next_time(
    fake: Fake, said: Any
) -> None:
    supervisor = attrs.evolve(process(fake), gap=30.0, quick=0.05)
    await supervisor.bind(SESSION)
    fake.said[wire.VERIFY] = said

    with pytest.raises((SupervisorRefused, SupervisorSilent)) as raised:
        await supervisor.bind(SESSION, is_known=True)
    assert "bound anew" in raised.value.remedy
    assert fake.methods()[2:] == [wire.VERIFY]
    await supervisor.bind(SESSION, is_known=True)
    assert fake.methods()[3:] == [wire.NEGOTIATE, wire.BIND]


async def test_only_workers_are_bound(fake: Fake) -> None:
    person = attrs.evolve(SESSION, is_worker=False)

    with pytest.raises(SupervisorRefused, match="must register a worker session"):
        await process(fake).bind(person)
    assert await process(fake).borrow(person) == STALE
    assert fake.asked == []


@pytest.mark.parametrize(
    "said",
    [{"status": "available"}, {"status": "available", "credential": " "}, {}, [], "no", None],
)
async def test_whatever_is_lent_oddly_is_stale(fake: Fake, said: Any) -> None:
    fake.said[wire.BORROW] = said

    assert await process(fake).borrow(SESSION) == STALE


async def test_each_borrowing_asks_anew_and_names_the_turn(fake: Fake) -> None:
    credentials = iter(["first", "second"])
    fake.said[wire.BORROW] = lambda _: {"status": "available", "credential": next(credentials)}
    supervisor = process(fake, LETAGENTS_SUPERVISOR_PROVIDER_TURN_ID="t1")
    lent = [await supervisor.borrow(SESSION) for _ in range(2)]

    assert [one.credential.value for one in lent if one.credential] == ["first", "second"]
    sent = fake.params(wire.BORROW)[0]
    assert sent["provider_turn_id"] == "t1"
    assert sent["daemon_generation"] == 7
    assert "agent_session_token" not in sent


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nowhere", "requires a valid LETAGENTS_API_URL"),
        ("http://letagents.example", "requires HTTPS unless"),
        ("http://localhost.evil.example", "requires HTTPS unless"),
    ],
)
async def test_nothing_is_borrowed_for_a_place_that_is_not_safe(
    fake: Fake, url: str, told: str
) -> None:
    with pytest.raises(CoordinatesWrong, match=told):
        await process(fake, LETAGENTS_API_URL=url).borrow(SESSION)
    assert fake.asked == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:3001", "http://[::1]:3001", "https://a.example"])
async def test_a_safe_place_is_named_by_its_origin(fake: Fake, url: str) -> None:
    fake.said[wire.BORROW] = {"status": "deferred"}
    await process(fake, LETAGENTS_API_URL=f"{url}/api").borrow(SESSION)

    assert fake.params(wire.BORROW)[0]["api_url"] == url


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"state": "prepared", "effect_id": "f1"}, "valid exact room authority"),
        ({"room_id": "a\0b", "state": "completed"}, "valid exact room authority"),
        ({"room_id": "r", "state": "prepared"}, "did not return an effect id"),
        ({"room_id": "r", "effect_id": "f1", "state": "resting"}, "unsupported state"),
        ({"room_id": "r", "effect_id": "f1", "state": "prepared"}, "unsupported action"),
        (
            {"room_id": "r", "effect_id": "f1", "state": "prepared", "action": "use_final_answer"},
            "unsupported action",
        ),
    ],
)
async def test_what_cannot_be_believed_of_an_effect_is_refused(
    fake: Fake, said: Any, told: str
) -> None:
    fake.said[wire.PREPARE] = said

    with pytest.raises(SupervisorRefused, match=told):
        await process(fake).prepare(change())
    assert fake.methods() == [wire.NEGOTIATE, wire.PREPARE]


async def test_without_a_generation_nothing_is_begun(fake: Fake) -> None:
    fake.said[wire.NEGOTIATE] = {"protocol_version": 2}

    with pytest.raises(SupervisorRefused, match="generation is unavailable"):
        await process(fake).execute(change())
    with pytest.raises(SupervisorRefused, match="generation is unavailable"):
        await process(fake).complete("f1", result={})
    assert fake.methods() == [wire.NEGOTIATE] * 2


async def test_an_older_supervisor_leaves_calls_to_us(fake: Fake) -> None:
    fake.said[wire.EXECUTE] = f"{wire.UNSUPPORTED}{wire.EXECUTE}"

    assert await process(fake).execute(change()) is None
    fake.said[wire.EXECUTE] = "It may not."
    with pytest.raises(SupervisorRefused, match="It may not") as raised:
        await process(fake).execute(change())
    assert "version" not in raised.value.remedy


async def test_a_call_that_does_not_fit_a_line_is_not_sent(fake: Fake) -> None:
    with pytest.raises(SupervisorRefused, match="longer than"):
        await process(fake).execute(change(text="a" * wire.LONGEST_LINE))
    assert fake.methods() == [wire.NEGOTIATE]


async def test_an_answer_may_come_in_many_pieces(fake: Fake) -> None:
    text = "a" * 3_000_000
    fake.said[wire.EXECUTE] = {"state": "completed", "room_id": "workshop", "result": text}
    answered = await process(fake).execute(change())

    assert answered is not None
    assert answered.result == text


async def test_word_of_an_outcome_outlasts_a_handover(fake: Fake) -> None:
    told = asyncio.Event()
    fake.said[wire.COMPLETE] = lambda _: told.set()
    supervisor = process(fake)
    telling = asyncio.create_task(supervisor.complete("f1", result={"n": 1}))
    async with asyncio.timeout(30):
        await told.wait()
    await fake.stop()
    fake.said |= {wire.NEGOTIATE: IDENTITY | {"generation": 8}, wire.COMPLETE: {"completed": True}}
    await fake.start()
    async with asyncio.timeout(30):
        await telling

    sent = fake.params(wire.COMPLETE)
    assert (sent[0]["daemon_generation"], sent[-1]["daemon_generation"]) == (7, 8)
    assert {one["effect_id"] for one in sent} == {"f1"}
    assert "provider_turn_id" not in sent[0]


async def test_what_is_refused_for_good_is_told_once(fake: Fake) -> None:
    words = iter(["It belongs to a stale daemon generation.", "It is not of the turn."])
    fake.said[wire.COMPLETE] = lambda _: next(words)

    with pytest.raises(SupervisorRefused, match="not of the turn"):
        await process(fake).complete("f1", result={})
    assert fake.methods().count(wire.COMPLETE) == 2


async def test_a_socket_that_no_path_leads_to_is_told_at_once(fake: Fake) -> None:
    there = attrs.evolve(fake, socket=fake.socket.parent / ("x" * 200))

    with pytest.raises(CoordinatesWrong, match="longer than"):
        await attrs.evolve(process(there), gap=30.0).execute(change())


async def test_a_supervisor_that_stays_away_is_given_up(fake: Fake) -> None:
    await fake.stop()

    with pytest.raises(SupervisorUnavailable):
        await process(fake, patience=0.1).complete("f1", error="It failed.")


async def test_the_newest_cursor_is_sent_again_after_a_failure(fake: Fake) -> None:
    answers = iter([None, {"checkpointed": True}])
    fake.said[wire.CHECKPOINT] = lambda _: next(answers)
    supervisor = process(fake)
    await supervisor.checkpoint(SESSION, "msg_12")
    await supervisor.checkpoint(SESSION, "msg_10")
    await supervisor.settled()

    sent = fake.params(wire.CHECKPOINT)
    assert [one["room_cursor"] for one in sent] == ["msg_12", "msg_12"]
    assert "agent_session_token" not in sent[0]


async def test_a_newer_cursor_takes_the_place_of_one_that_failed() -> None:
    sent: list[str] = []

    async def send(_route: str, cursor: str) -> None:
        sent.append(cursor)
        if cursor == "msg_1":
            checkpoints.schedule("route", MessageId(2))
            raise SupervisorUnavailable("It is away.", remedy="Wait.")

    forgotten: list[str] = []
    checkpoints = Checkpoints(send, forgotten.append, pauses=(30.0,))
    checkpoints.schedule("route", MessageId(1))
    async with asyncio.timeout(20):
        await checkpoints.settled()

    assert sent == ["msg_1", "msg_2"]
    assert forgotten == []


async def test_an_older_cursor_does_not_take_the_place_of_one_that_failed() -> None:
    sent: list[str] = []

    async def send(_route: str, cursor: str) -> None:
        sent.append(cursor)
        if len(sent) < 3:
            checkpoints.schedule("route", MessageId(3))
            raise SupervisorUnavailable("It is away.", remedy="Wait.")

    checkpoints = Checkpoints(send, lambda _: None, pauses=(0.0, 0.0, 0.0))
    checkpoints.schedule("route", MessageId(5))
    async with asyncio.timeout(20):
        await checkpoints.settled()

    assert sent == ["msg_5"] * 3


async def test_who_closes_before_a_cursor_is_on_its_way_is_kept_by_nothing() -> None:
    sent: list[str] = []

    async def send(_route: str, cursor: str) -> None:
        sent.append(cursor)

    checkpoints = Checkpoints(send, lambda _: None)
    checkpoints.schedule("route", MessageId(1))
    async with asyncio.timeout(20):
        await checkpoints.aclose()

    assert sent == []


@pytest.mark.parametrize(
    ("failure", "times"),
    [
        (SupervisorUnavailable("It is away.", remedy="Wait."), 4),
        (SupervisorRefused("It is not of the agent.", remedy="Bind."), 1),
        (SupervisorGarbled("It makes no sense.", remedy="Look."), 1),
    ],
)
async def test_a_cursor_that_never_passes_is_dropped(failure: Exception, times: int) -> None:
    sent: list[str] = []

    async def send(_route: str, cursor: str) -> None:
        sent.append(cursor)
        raise failure

    forgotten: list[str] = []
    checkpoints = Checkpoints(send, forgotten.append, pauses=(0.0, 0.0, 0.0))
    checkpoints.schedule("route", MessageId(1))
    await checkpoints.settled()

    assert sent == ["msg_1"] * times
    assert forgotten == ["route"]


async def test_who_is_cut_off_after_long_is_answered_by_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    async def ask() -> str:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise SupervisorSilent("It is cut off.", remedy="Look.")
        return "done"

    monkeypatch.setattr(supervised, "PAUSE", 0.0)
    monkeypatch.setattr("anyio.current_time", lambda: 100.0 * asked)

    assert await supervised.persistently(ask) == "done"


@pytest.mark.parametrize(
    ("caller", "mode", "is_asked"),
    [
        (Caller(), Mode.OWNER, True),
        (Caller(Profile.SUPERVISED_ROOM_TURN, bounded=True), Mode.SUPERVISED, False),
        (Caller(Profile.SUPERVISED_MCP_POLLING), Mode.SUPERVISED, False),
    ],
)
def test_a_tool_asks_for_a_worker_only_where_no_supervisor_says_which(
    caller: Caller, mode: Mode, is_asked: bool
) -> None:
    asked = {one.name for tool in tools_of(caller, mode) for one in tool.parameters}

    assert ("worker_id" in asked) is is_asked
