"""Bad input: every parameter of every tool, from the table of tools itself.

Whatever is passed, the answer is one clear error that names the parameter and what it should be,
nothing is stored, and the process goes on.
"""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.e2e.chats import Chat, Served, living_in, text_of

from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import codex, unavailable
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.entrypoints.mcp.visit import Visit

MEGABYTES = "x" * 10_000_000

GOOD: dict[str, object] = {
    "action": "release",
    "action_type": "task_create",
    "actor": "ada",
    "after": "1",
    "after_message_id": "msg_1",
    "agent_key": "ada/sage",
    "agent_session_id": None,
    "arguments": {"after_ms": 60_000},
    "artifact": {"provider": "github", "kind": "branch", "ref": "main"},
    "assignee": "Sage",
    "author": "Ada",
    "auto_join": True,
    "before_message_id": "msg_2",
    "blocker": "a",
    "board_approval_token": "t" * 43,
    "board_intent_id": "intent_1",
    "body": "Tabs.",
    "capture_id": "a capture",
    "category": "decision",
    "checking": "a",
    "claim_id": "claim_1",
    "client_id": "a_client_id",
    "client_message_id": "a key",
    "client_task_id": "a key",
    "code": None,
    "confidence": 0.5,
    "conversation_id": "one",
    "created_by": "Sage",
    "cursor": None,
    "cwd": "/",
    "repository": "https://github.com/acme/app.git",
    "description": "a description",
    "description_offset": 0,
    "display_name": "Sage",
    "epoch": 1,
    "event": "timer",
    "event_type": "push",
    "expected_head_sha": "a" * 40,
    "expires_at": "2030-01-02T00:00:00Z",
    "force": True,
    "goal": "a goal",
    "hypothesis": "a",
    "idempotency_key": "a key",
    "intent_id": "intent_1",
    "lease_id": "lease_1",
    "limit": 5,
    "linked_task_ids": [],
    "manager_failover": "auto",
    "manager_mode": "manager_optional",
    "max_minutes": 5,
    "message_id": "msg_1",
    "milestone": "a",
    "mode": "shared",
    "name": "another room",
    "next_action": "a",
    "note": "tea",
    "object_id": "1",
    "open_only": True,
    "outcome": "no_reply",
    "path": "src",
    "patterns": ["src"],
    "payload": {"title": "Tabs"},
    "pr_url": "https://example.com/1",
    "reason": "because",
    "recommendation": "tabs",
    "recover_lost_worker": False,
    "registration_key": "another key",
    "repeat": True,
    "reply_to": "msg_1",
    "request_id": "a request",
    "room": "workshop",
    "room_id": "workshop",
    "rule_id": "wake_0",
    "runtime": "codex",
    "runtime_source": "unknown",
    "sender": "anybody",
    "session_id": "a session",
    "session_kind": "worker",
    "session_mode": "current",
    "shutdown_server": True,
    "since": "2030-01-01",
    "source_message_id": "msg_1",
    "source_url": "https://example.com",
    "status": "done",
    "stop_phrase": "stop",
    "summary": "done",
    "target_actor_instance_id": "one",
    "target_agent_key": "ada/sage",
    "target_agent_session_id": "a session",
    "task_id": "task_1",
    "text": "hi",
    "text_offset": 0,
    "thread_parent_id": "msg_1",
    "timeout": 1000,
    "title": "Tabs",
    "unblocks": "all",
    "until": "2030-01-02",
    "verdict": "comment",
    "words": "hi",
    "worker_id": None,
    "workflow_artifacts": [],
}
"""A value that goes through, for each name of a parameter; None where only a test can know one."""

IDS = {
    "agent_session_id",
    "after_message_id",
    "before_message_id",
    "code",
    "message_id",
    "reply_to",
    "room_id",
    "thread_parent_id",
    "worker_id",
}
OF_MESSAGES = (
    *("after_message_id", "before_message_id", "message_id"),
    *("reply_to", "thread_parent_id"),
)
OF_ANOTHER_KIND = ["msg_1", "worker_" + "0" * 32, "local_" + "0" * 64, "ABCD-EFGH-JKLM", "claim_1"]

IGNORED = {"sender", "conversation_id"}
"""What a room never believes, or what has no meaning there; only its form is looked at."""


@attrs.frozen
class Bad:
    """A value that some parameter cannot have, and what kind of wrong it is."""

    tool: Tool[Visit]
    parameter: Parameter
    kind: str
    value: Any

    def __str__(self) -> str:
        return f"{self.tool.name}-{self.parameter.name}-{self.kind}"


def wrong_types(parameter: Parameter) -> Iterator[tuple[str, object]]:
    values = {"string": "x", "integer": 1, "number": 1.5, "boolean": True}
    for kind, value in values.items():
        fits_anyway = kind == "integer" and parameter.kind == "number"
        if kind != parameter.kind and not fits_anyway:
            yield f"a-{kind}", value
    if parameter.kind == "array":
        yield from (("a-list-in-a-list", [["x"]]), ("null-in-a-list", [None]))
        yield "too-many", ["x"] * (parameter.max_items + 1)
    else:
        yield "a-list", ["x"]
    if parameter.kind != "object" or parameter.fields:
        yield "an-object", {"x": 1}


def wrong_texts(parameter: Parameter) -> Iterator[tuple[str, object]]:
    if not parameter.blank:
        yield from (("empty", ""), ("blank", " \t\u00a0 " if parameter.free_text else "  "))
    if (most := parameter.max_length or parameter.ceiling) is not None:
        yield "too-long", "x" * (most + 1)
    yield from (("nul", "a\x00b"), ("escape", "a\x1b[31mb"), ("c1", "a\x9bb"), ("del", "a\x7fb"))
    if not parameter.free_text:
        yield "line-end", "a\nb"
    yield from (("high-half", "a\ud800b"), ("low-half", "a\udc00"), ("halves", "\udc00\ud800"))
    yield "ten-megabytes", MEGABYTES


def wrong_numbers(parameter: Parameter) -> Iterator[tuple[str, object]]:
    yield from (("negative", -1), ("large-negative", -(10**30)))
    if parameter.kind == "integer":
        yield from (("huge", 1e308), ("beyond-doubles", 2**53), ("without-end", 10**400))
        yield "not-whole", 1.5


def wrong_ids(parameter: Parameter) -> Iterator[tuple[str, object]]:
    """Give ids of other kinds, and such as are spelt like one and are none."""
    spellings = {
        "after_message_id": ["msg_", "msg_0", "msg_01", "msg_-1", "msg_2147483648", "MSG_1", "1"],
        "worker_id": ["worker_", "worker_" + "0" * 31, "worker_" + "G" * 32, "WORKER_" + "0" * 32],
    }
    spellings |= dict.fromkeys(OF_MESSAGES, spellings["after_message_id"])
    is_message = parameter.name in OF_MESSAGES
    others = OF_ANOTHER_KIND[1:] if is_message else OF_ANOTHER_KIND
    for number, value in enumerate([*others, *spellings.get(parameter.name, ())]):
        yield f"id-{number}", value
    if is_message and parameter.name != "before_message_id":
        yield "from-the-future", "msg_999"


def is_made_by_the_room(tool: Tool[Visit], parameter: Parameter) -> bool:
    """Whether only what an earlier answer held goes through."""
    is_cursor = parameter.name in ("after", "cursor") and tool.name != "get_room_events"
    return is_cursor or parameter.name == "board_approval_token"


def bad_values(tool: Tool[Visit], parameter: Parameter) -> Iterator[tuple[str, object]]:
    yield from wrong_types(parameter)
    if parameter.kind == "string":
        yield from wrong_texts(parameter)
    if parameter.kind in ("integer", "number"):
        yield from wrong_numbers(parameter)
    if parameter.enum:
        yield "no-choice", "hovercraft"
    if parameter.name in IDS:
        yield from wrong_ids(parameter)
    if is_made_by_the_room(tool, parameter):
        yield "nobodys", "hovercraft"
    if parameter.name in ("display_name", "name") and tool.name != "join_room":
        yield "a-bar", "Ada | Codex"
    if parameter.required:
        yield from (("missing", Ellipsis), ("null", None))


def told_otherwise(bad: Bad) -> bool:
    """Whether a value is answered by a result that says no, as the tool's result declares it."""
    no_room_is_entered = ("resume_room_session", "start_device_auth", "poll_device_auth")
    asks_for_a_room = bad.tool.name in no_room_is_entered and bad.parameter.name == "room_id"
    is_not_there = bad.tool in (*codex.CODEX, *unavailable.CAPTURE)
    return (asks_for_a_room or is_not_there) and bad.kind.startswith("id-")


BAD = [
    Bad(tool, parameter, kind, value)
    for tool in TOOLS
    for parameter in tool.parameters
    for kind, value in bad_values(tool, parameter)
]


@attrs.frozen
class Scene:
    """A room with a worker and two messages, and a chat in it."""

    chat: Chat
    home: Path
    worker_id: str

    def arguments(self, bad: Bad) -> dict[str, object]:
        """Return arguments that are good but for the bad one."""
        given: dict[str, object] = {}
        for parameter in bad.tool.parameters:
            if parameter.required:
                given[parameter.name] = self.good(parameter.name)
        if bad.tool.name == "register_agent_session":
            given |= self.registering(bad.parameter.name)
        elif any(parameter.name == "room_id" for parameter in bad.tool.parameters):
            given["room_id"] = "workshop"
        if bad.tool.name == "disconnect_agent_session" and bad.parameter.name == "room_id":
            given["worker_id"] = self.worker_id
        if bad.tool.name == "assign_board_manager":
            given["agent_session_id"] = "local_0"
        given[bad.parameter.name] = bad.value
        return {name: value for name, value in given.items() if value is not Ellipsis}

    def good(self, name: str) -> object:
        return "AAAA-BBBB-CCCC" if name == "code" else GOOD[name]

    def registering(self, parameter: str) -> dict[str, object]:
        if parameter == "worker_id":
            return {"room_id": "workshop"}
        return {"room_id": "workshop", "registration_key": "another key"}

    async def kept(self) -> tuple[object, ...]:
        """Return all that is stored: what is said, who is there, what the machine remembers."""
        letagents = self.chat.visit.client.places
        page = await letagents.rooms.read(RoomId("workshop"), Latest(500))
        rooms = {room.room_id for room in await letagents.rooms.known()}
        state = self.home / "mcp-state.json"
        return page, rooms, json.loads(state.read_bytes())


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    """One house for all: nothing that a test does may change it."""
    home = tmp_path_factory.mktemp("home")
    async with living_in(home) as house:
        chat = await house.chat()
        await chat.call("join_room", name="workshop")
        registered = await chat.call(
            "register_agent_session", registration_key="a key", room_id="workshop"
        )
        for text in ("one", "two"):
            await chat.call("send_message", worker_id=registered["worker_id"], text=text)
        await chat.call("register_agent_session")  # so that no call has to open a session first
        await chat.visit.client.places.remember()
        yield Scene(chat, home, registered["worker_id"])


def test_every_parameter_of_every_tool_is_tried() -> None:
    tried = {(bad.tool.name, bad.parameter.name) for bad in BAD}

    assert tried == {(tool.name, one.name) for tool in TOOLS for one in tool.parameters}
    assert {one.name for tool in TOOLS for one in tool.parameters} == set(GOOD)
    assert len(BAD) > 1000


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_bad_input_is_refused_by_name_and_leaves_nothing(
    scene: Scene, tool: Tool[Visit]
) -> None:
    before = await scene.kept()
    for bad in (bad for bad in BAD if bad.tool is tool):
        result = await scene.chat.client.call_tool(tool.name, scene.arguments(bad))
        told = text_of(result)

        if told_otherwise(bad):
            assert (result.structured_content or {})["success"] is False, (str(bad), told)
            continue
        assert result.is_error, (str(bad), told[:300])
        assert bad.parameter.name in told, (str(bad), told)
        assert "[internal_error]" not in told, (str(bad), told)
        assert len(told) < 700, (str(bad), len(told))
        assert told.isprintable() or "\n" not in told, (str(bad), told)

    assert await scene.kept() == before


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_an_unknown_parameter_is_refused_with_those_there_are(
    scene: Scene, tool: Tool[Visit]
) -> None:
    before = await scene.kept()
    for name in ("hovercraft", "chamber", "x" * 10_000, "a\x00b", "\ud800"):
        told = await scene.chat.refused(tool.name, **{name: "x"})

        assert "There is no parameter" in told
        assert len(told) < 700
    assert await scene.kept() == before


@pytest.mark.parametrize("name", sorted(IGNORED))
async def test_what_is_ignored_may_be_blank_and_changes_nothing(scene: Scene, name: str) -> None:
    """It is taken from older programs, and never believed."""
    said = await scene.chat.call(
        "send_message", text="hi", client_message_id="ignoring", worker_id=scene.worker_id
    )
    again = await scene.chat.call(
        "send_message",
        text="hi",
        client_message_id="ignoring",
        worker_id=scene.worker_id,
        **{name: ""},
    )

    assert again == said


# --- over pipes, as bytes ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("home")) as served:
        served.call("join_room", name="workshop")
        yield served


def raw(served: Served, arguments: bytes, tool: bytes = b"send_message") -> str:
    """Call a tool with arguments as they stand on the wire; return what the model is told."""
    served.write(
        b'{"jsonrpc":"2.0","id":"raw","method":"tools/call",'
        b'"params":{"name":"%b","arguments":%b}}' % (tool, arguments)
    )
    result = served.answer("raw")["result"]
    assert result["isError"] is True
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (rb'{"text":"\ud800"}', "text: the character 1"),
        (rb'{"text":"a\udc00\ud800"}', "text: the character 2"),
        (b'{"text":"\xed\xa0\x80"}', "text: the character 1"),
        (rb'{"text":"\u0000"}', "text: the character 1"),
        (b'{"text":1e999}', "text: "),
        (b'{"text":[[[[[[]]]]]]}', "text: a list"),
        (b'{"text":"hi","room_id":"\\u202e\\u0000"}', "room_id: "),
        (b'{"text":"hi","worker_id":"worker_x"}', "Unknown worker_id of a form"),
        (b'{"text":"' + b"x" * 10_000_000 + b'"}', "text: 10000000 characters are too many"),
        (b'{"text":"' + "é".encode() * 5_000_000 + b'"}', "text: 5000000 characters"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_bad_bytes_are_refused_by_the_name_of_their_field(
    served: Served, arguments: bytes, told: str
) -> None:
    assert told in raw(served, arguments)
    assert served.call("read_messages")["messages"] == []


def test_a_process_goes_on_after_all_of_that(served: Served) -> None:
    assert served.process.poll() is None
    assert served.call("get_current_room")["room_id"] == "workshop"
    assert b"Traceback" not in b"".join(served.complained)
