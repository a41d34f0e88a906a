"""The tools as a model sees them, in both eras of the protocol: what they are, take and return."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest
from mcp import MCPError
from tests.e2e.chats import ERAS, SCHEMAS, Chat, House, Served, living_in, schema_is_sound

from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import After, Page, Window
from letagents.domain.surfaces import Caller, reads
from letagents.entrypoints.mcp.prompts import COMPACT, Prompts, full
from letagents.entrypoints.mcp.surface import tools_of
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.wire.bounds import size

WITH_IDENTITY = {
    "disconnect_agent_session",
    "post_status",
    "send_message",
    "send_thread_message",
    "read_messages",
    "wait_for_messages",
    "search_messages",
}
SHORT = 1000
"""Milliseconds of a wait in which nothing is to come."""


@pytest.fixture(params=ERAS)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[House]:
    async with living_in(tmp_path, request.param) as house:
        yield house


@pytest.fixture
async def chat(house: House) -> Chat:
    return await house.chat("claude-code")


async def joined(chat: Chat, name: str = "workshop") -> Chat:
    await chat.call("join_room", name=name)
    return chat


async def worker(chat: Chat, key: str = "a key", **more: object) -> str:
    """Register a worker in the chat's room; return its handle."""
    registered = await chat.call(
        "register_agent_session", registration_key=key, **{"room_id": "workshop", **more}
    )
    return str(registered["worker_id"])


# --- what there is -------------------------------------------------------------------------------


async def test_the_tools_are_listed_in_their_order_with_honest_annotations(chat: Chat) -> None:
    listed = (await chat.client.list_tools()).tools
    by_name = {tool.name: tool for tool in listed}
    read_only = {name for name, tool in by_name.items() if _hint(tool, "read_only_hint")}
    open_world = {name for name, tool in by_name.items() if _hint(tool, "open_world_hint")}

    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    assert read_only == {name for name in by_name if reads(name)}
    assert open_world >= {
        "check_repo_visibility",
        "send_message",
        "send_thread_message",
        "read_messages",
        "wait_for_messages",
        "search_messages",
    }
    assert not _hint(by_name["create_room"], "idempotent_hint")
    assert not _hint(by_name["send_message"], "idempotent_hint")
    assert _hint(by_name["register_agent_session"], "idempotent_hint")
    assert all(tool.output_schema and tool.description for tool in listed)


def _hint(tool: Any, name: str) -> bool:
    return bool(getattr(tool.annotations, name))


async def test_every_tool_that_speaks_or_looks_takes_an_identity_and_a_room(chat: Chat) -> None:
    parameters = {
        tool.name: set(tool.input_schema["properties"])
        for tool in (await chat.client.list_tools()).tools
    }

    for name in WITH_IDENTITY:
        assert {"room_id", "worker_id", "agent_session_id"} <= parameters[name], name
    for name in ("send_message", "send_thread_message", "post_status"):
        assert {"client_message_id", "conversation_id"} <= parameters[name], name
    assert {"room_id", "worker_id"} <= parameters["resume_room_session"]
    assert "worker_id" in parameters["set_agent_name"]
    for name in ("create_room", "join_room", "join_code", "get_current_room"):
        assert "worker_id" not in parameters[name], name


async def test_the_wait_says_how_its_cursor_is_used(chat: Chat) -> None:
    tools = {tool.name: tool for tool in (await chat.client.list_tools()).tools}
    wait = tools["wait_for_messages"]
    cursor = wait.input_schema["properties"]["after_message_id"]["description"]

    assert "most recent" in cursor
    assert "all existing messages" not in cursor
    for said in (
        "silent",
        "last_observed_message_id",
        "in their thread",
        "legacy",
        "not an end",
    ):
        assert said in (wait.description or "")
    assert "LETAGENTS_POLL_MAX_MS" in json.dumps(wait.input_schema)


def test_every_declared_schema_is_one() -> None:
    for tool in TOOLS:
        schema_is_sound(SCHEMAS[tool.name])


# --- rooms ---------------------------------------------------------------------------------------


async def test_a_made_room_is_entered_by_its_code(house: House, chat: Chat) -> None:
    made = await chat.call("create_room")
    other = await house.chat()
    entered = await other.call("join_code", code=f" {made['code'].lower()} ")
    again = await other.call("join_project", code=made["code"])

    assert made["room_id"] == made["code"] == entered["room_id"] == again["room_id"]
    assert made["room_path"] == f"/in/{made['code']}"
    assert made["is_local"] is True
    assert made["room_url"] is None
    assert (entered["joined_via"], entered["session_mode"]) == ("join_code", "current")
    assert not {"id", "project_id"} & {*made, *entered}
    assert (await chat.call("create_project"))["room_id"] != made["room_id"]


async def test_a_named_room_is_made_when_it_is_first_entered(chat: Chat) -> None:
    entered = await chat.call("join_room", name=" GitHub.com/Ada/Engine ", session_mode="current")

    assert entered["room_id"] == "github.com/ada/engine"
    assert entered["room_path"] == "/in/github.com/ada/engine"
    assert entered["agent_prompt_kind"] == "join"
    assert entered["agent_prompt"] == full("join")
    assert (await chat.call("join_room", name="github.com/ada/engine"))["room_id"] == entered[
        "room_id"
    ]


async def test_a_wrong_code_opens_nothing(chat: Chat) -> None:
    assert (await chat.refused("join_code", code="hello")).startswith("code: ")
    assert (await chat.refused("join_code", code="ABCD-EFGH-JKLM")).startswith("code: No room")
    assert (await chat.refused("join_room", name="ABCD-EFGH-JKLM")).startswith("name: No room")
    assert (await chat.call("get_current_room"))["connected"] is False


async def test_a_chat_is_told_where_and_who_it_is(chat: Chat) -> None:
    nowhere = await chat.call("get_current_room")
    await joined(chat)
    here = await chat.call("get_current_room")

    assert nowhere["connected"] is False
    assert "join_room" in nowhere["message"]
    assert (here["connected"], here["room_id"], here["joined_via"]) == (
        True,
        "workshop",
        "join_room",
    )
    assert here["agent_prompt"] == full("join")
    assert here["auth"] is None
    assert here["git_room"] is None
    assert here["local_codex_session_count"] == 0
    assert here["agent_identity"]["owner_label"] == "Ada Lovelace"


async def test_the_last_room_is_entered_again_after_a_restart(house: House, chat: Chat) -> None:
    assert (await chat.call("resume_room_session"))["success"] is False
    await joined(chat, "first")
    await joined(chat)
    await chat.call("send_message", text="one")
    after = await house.chat()
    await chat.visit.client.places.remember()
    resumed = await after.call("resume_room_session")
    earlier = await after.call("resume_room_session", room_id="first")

    assert resumed["rejoined_from_local_state"] is True
    assert resumed["server_session_resumed"] is False
    assert resumed["room"]["room_id"] == "workshop"
    assert resumed["last_message_id_before_restart"] == "msg_1"
    assert resumed["agent_prompt"] == full("join")
    assert earlier["room"]["room_id"] == "first"
    assert (await after.call("get_current_room"))["room_id"] == "first"
    unknown = await after.call("resume_room_session", room_id="never")
    assert (unknown["success"], "never" in unknown["error"]) == (False, True)


async def test_the_room_of_a_worker_is_entered_again(house: House, chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    await joined(chat, "elsewhere")
    resumed = await chat.call("resume_room_session", worker_id=worker_id)

    assert resumed["room"]["room_id"] == "workshop"
    stranger = await house.chat()
    assert "this process has not connected it" in await stranger.refused(
        "resume_room_session", worker_id=worker_id
    )


# --- workers -------------------------------------------------------------------------------------


async def test_a_worker_is_registered_found_again_and_told_what_to_keep(chat: Chat) -> None:
    await joined(chat)
    first = await chat.call(
        "register_agent_session",
        registration_key="a key",
        room_id="workshop",
        display_name=" Juniper ",
        runtime="Claude-Code",
        cwd="feature/one",
    )
    again = await chat.call(
        "register_agent_session", worker_id=first["worker_id"], room_id="workshop"
    )

    session = first["agent_session"]
    assert again == first
    assert session["display_name"] == "Juniper"
    assert (session["runtime"], session["repo_branch"]) == ("claude-code", "feature/one")
    assert session["agent_instance_id"] == first["worker_id"]
    assert session["ended_at"] is None
    assert set(session) >= {"host_id", "host_kind", "tool_bridge_id", "liveness_capability"}
    assert "name_notice" not in first
    for word in ("worker_id", "restart", "key"):
        assert word in first["instruction"]


async def test_a_registration_key_in_the_wrong_place_is_not_shown(chat: Chat) -> None:
    await joined(chat)
    for name in ("worker_id", "agent_session_id"):
        for key in ("0123456789abcdef", "a key of some words"):
            for tool in ("read_messages", "disconnect_agent_session"):
                assert key not in await chat.refused(tool, room_id="workshop", **{name: key})
            assert key not in await chat.refused("add_task", title="Tabs", **{name: key})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"worker_id": "worker_x", "registration_key": "k"},
            "worker_id: registration_key was passed",
        ),
        (
            {"registration_key": "k", "recover_lost_worker": True},
            "recover_lost_worker: registration",
        ),
        ({"worker_id": "worker_x", "recover_lost_worker": True}, "recover_lost_worker: worker_id"),
        ({"registration_key": "k", "session_kind": "controller"}, "session_kind: a lasting worker"),
        ({"registration_key": "k", "room_id": None}, "room_id: it is missing"),
        ({"registration_key": "k", "room_id": "  "}, "room_id: is blank"),
        ({"registration_key": "  "}, "registration_key: is blank"),
        ({"registration_key": "k" * 201}, "registration_key: 201 characters are too many"),
        ({"recover_lost_worker": True}, "display_name: it is missing"),
        ({"recover_lost_worker": True, "display_name": " "}, "display_name: is blank"),
        ({"recover_lost_worker": True, "display_name": "Juniper"}, "no worker named 'Juniper'"),
        ({"registration_key": "k", "display_name": "a|b"}, "display_name: 'a|b' is not a name"),
        ({"registration_key": "k", "room_id": "werkshop"}, "room_id: There is no room werkshop"),
        ({"worker_id": "worker_x"}, "Unknown worker_id of a form that no handle has"),
        ({"worker_id": f"worker_{'f' * 32}"}, "Unknown worker_id worker_ffff"),
        ({"session_kind": "hovercraft"}, "session_kind: 'hovercraft' is not a choice"),
    ],
)
async def test_each_wrong_way_to_register_has_an_error_of_its_own(
    chat: Chat, arguments: dict[str, object], told: str
) -> None:
    await joined(chat)
    whole = {"room_id": "workshop", **arguments}

    assert told in await chat.refused("register_agent_session", **whole)


async def test_a_taken_name_is_told_with_the_way_back_and_no_handle(chat: Chat) -> None:
    await joined(chat)
    first = await worker(chat, display_name="Juniper")
    second = await chat.call(
        "register_agent_session",
        registration_key="another",
        room_id="workshop",
        display_name="juniper",
    )
    notice = second["name_notice"]
    recovered = await chat.call(
        "register_agent_session",
        recover_lost_worker=True,
        room_id="workshop",
        display_name="juniper",
    )

    assert first not in json.dumps(second)
    for said in (
        "juniper",
        second["agent_session"]["display_name"],
        "recover_lost_worker=true",
        "room_id='workshop'",
        "disconnect_agent_session",
    ):
        assert said in notice
    assert notice.index("recover_lost_worker") < notice.index("disconnect_agent_session")
    assert recovered["worker_id"] == first


async def test_a_worker_leaves_and_comes_back(house: House, chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    left = await chat.call("disconnect_agent_session", worker_id=worker_id)
    again = await chat.call("disconnect_agent_session", worker_id=worker_id)
    refused = await chat.refused("send_message", worker_id=worker_id, text="still here?")

    assert left["success"] is True
    assert left["local_state"] == "ended"
    assert left["agent_session"]["ended_at"] is not None
    assert (again["success"], again["already_ended"]) == (True, True)
    assert again["agent_session"]["ended_at"] == left["agent_session"]["ended_at"]
    assert "has ended" in refused
    assert f"register_agent_session(worker_id='{worker_id}', room_id='workshop')" in refused
    assert await worker(chat) == worker_id
    assert (await chat.call("send_message", worker_id=worker_id, text="back"))["id"] == "msg_1"


async def test_leaving_has_to_say_who_leaves(chat: Chat) -> None:
    nowhere = await chat.call("disconnect_agent_session")
    await joined(chat)
    nobody = await chat.call("disconnect_agent_session")

    assert (nowhere["success"], nobody["success"]) == (False, False)
    assert "join_room" in nowhere["hint"]
    assert "worker_id" in nobody["hint"]
    assert "Unknown worker_id" in await chat.refused("disconnect_agent_session", worker_id="x")
    assert "there is no such session" in await chat.refused(
        "disconnect_agent_session", agent_session_id="local_x"
    )


async def test_a_chat_without_a_key_registers_as_older_ones_do(house: House, chat: Chat) -> None:
    nowhere = await chat.call("register_agent_session")
    await joined(chat)
    plain = await chat.call("register_agent_session", display_name="Juniper")
    session_id = plain["agent_session_id"]
    said = await chat.call("send_message", text="hi", agent_session_id=session_id)

    assert (nowhere["success"], "join_room" in nowhere["hint"]) == (False, True)
    assert (plain["success"], plain["local"]) == (True, True)
    assert plain["use_agent_session_id"] == session_id
    assert session_id.startswith("local_")
    assert plain["agent_session"]["room_id"] == "workshop"
    assert plain["agent_session"]["display_name"] == "Juniper"
    assert said["sender"].startswith("Juniper | ")
    left = await chat.call("disconnect_agent_session", agent_session_id=session_id)
    again = await chat.call("disconnect_agent_session", agent_session_id=session_id)
    assert (left["local"], again["already_ended"]) == (True, True)


async def test_one_call_has_one_identity(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for tool in sorted(WITH_IDENTITY):
        more = {"text": "hi"} if tool.startswith("send") else {}
        more |= {"thread_parent_id": "msg_1"} if tool == "send_thread_message" else {}
        more |= {"status": "hi"} if tool == "post_status" else {}
        told = await chat.refused(tool, worker_id=worker_id, agent_session_id="local_x", **more)

        assert told.startswith("worker_id: agent_session_id was passed too.")


async def test_a_chat_is_named_and_speaks_under_its_name(chat: Chat) -> None:
    await joined(chat)
    await chat.call("send_message", text="before")
    named = await chat.call("set_agent_name", name=" Sage ")
    after = await chat.call("send_message", text="after")
    other = await chat.call("set_agent_name", name="Quill", conversation_id="one")

    assert named["agent_identity"]["display_name"] == "Sage"
    assert after["sender"].startswith("Sage | ")
    assert other["agent_identity"]["display_name"] == "Quill"
    assert (await chat.call("get_current_room"))["agent_identity"]["display_name"] == "Sage"
    within = await chat.call("get_current_room", conversation_id="one")
    assert within["agent_identity"]["display_name"] == "Quill"


async def test_a_name_that_cannot_be_is_refused(chat: Chat) -> None:
    short = await chat.call("set_agent_name", name=" x ")

    assert (short["success"], short["error"][:5]) == (False, "name:")
    assert (await chat.refused("set_agent_name", name="a|b")).startswith("name: ")
    long = await chat.call("set_agent_name", name="x" * 65)
    assert (long["success"], long["error"][:5]) == (False, "name:")
    told = await chat.refused("set_agent_name", name="Sage", worker_id="worker_x")
    assert told.startswith("worker_id: a lasting worker's name is chosen at its first registration")


@pytest.mark.parametrize("era", ERAS)
async def test_the_program_is_called_what_its_client_says(tmp_path: Path, era: str) -> None:
    async with living_in(tmp_path, era) as house:
        for program, label in [
            ("claude-code", "Claude Code"),
            ("codex-mcp-client", "Codex"),
            ("unheard-of", "Agent"),
        ]:
            chat = await joined(await house.chat(program))
            said = await chat.call("send_message", text="hi")

            assert said["agent_identity"]["ide_label"] == label
            assert said["sender"].endswith(f" | {label}")


# --- messages ------------------------------------------------------------------------------------


async def test_what_is_said_is_read_with_who_said_it(house: House, chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat, display_name="Juniper")
    said = await chat.call(
        "send_message", worker_id=worker_id, text="<b>é\n\t🙂", sender="Somebody else"
    )
    reader = await joined(await house.chat())
    [heard] = (await reader.call("read_messages"))["messages"]

    assert said["room_id"] == "workshop"
    assert said["agent_identity"]["runtime_key"].startswith("agent_session:local_")
    assert heard["id"] == said["id"] == "msg_1"
    assert heard["text"] == "<b>é\n\t🙂"
    assert heard["sender"] == "Juniper | Ada Lovelace's agent | Claude Code"
    assert heard["source"] == "agent"
    assert heard["agent_identity"]["agent_key"].startswith("ada-lovelace/worker-")
    assert heard["thread"]["is_thread_reply"] is False


async def test_a_key_says_a_message_once_and_no_other(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    key = {"worker_id": worker_id, "client_message_id": "mine"}
    first = await chat.call("send_message", text="once", **key)
    again = await chat.call("send_message", text="once", **key)
    status = await chat.call("post_status", status="on it", worker_id=worker_id)

    assert again == first
    assert status["message_id"] == "msg_2"
    assert (await chat.refused("send_message", text="other", **key)).startswith("client_message_id")
    assert len((await chat.call("read_messages"))["messages"]) == 2


async def test_a_quotation_stays_top_level_and_a_thread_reply_does_not(chat: Chat) -> None:
    await joined(chat)
    await chat.call("send_message", text="root")
    quoting = await chat.call("send_message", text="quoting", reply_to="msg_1")
    reply = await chat.call("send_message", text="reply", thread_parent_id="msg_1")
    nested = await chat.call("send_thread_message", text="nested", thread_parent_id="msg_3")
    below = await chat.call("send_thread_message", text="below", thread_parent_id="msg_2")

    assert "thread_root_id" not in quoting
    assert (quoting["thread"]["is_thread_reply"], quoting["reply_to"]["id"]) == (False, "msg_1")
    assert (reply["thread_root_id"], reply["thread"]["is_thread_reply"]) == ("msg_1", True)
    assert (nested["thread_root_id"], nested["reply_to"]["id"]) == ("msg_1", "msg_3")
    assert below["thread_root_id"] == "msg_2"
    root = (await chat.call("read_messages"))["messages"][0]
    assert root["thread"]["reply_count_in_result"] == 2
    assert root["thread"]["latest_reply_id_in_result"] == "msg_4"


async def test_a_reply_and_its_thread_have_to_fit_each_other(chat: Chat) -> None:
    await joined(chat)
    for text in ("one", "two"):
        await chat.call("send_message", text=text)

    told = await chat.refused(
        "send_message", text="three", reply_to="msg_1", thread_parent_id="msg_2"
    )
    assert "must match" in told
    assert "does not exist" in await chat.refused("send_message", text="x", reply_to="msg_9")
    assert "is not a message id" in await chat.refused("send_message", text="x", reply_to="msg_01")
    assert len((await chat.call("read_messages"))["messages"]) == 2


async def test_the_newest_are_read_up_to_a_limit(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for number in range(1, 106):
        await chat.call("send_message", worker_id=worker_id, text=str(number))

    async def read(**arguments: object) -> tuple[int, str, bool]:
        page = await chat.call("read_messages", **arguments)
        messages = page["messages"]
        return len(messages), messages[0]["text"], page.get("truncated", False)

    assert await read(limit=2) == (2, "104", True)
    assert await read(limit=2, before_message_id="msg_104") == (2, "102", True)
    assert await read(limit=2, before_message_id="msg_3") == (2, "1", False)
    assert await read(limit=50) == (50, "56", True)
    shown = (await read(limit=0))[0]
    assert await read() == await read(limit=0) == await read(limit=2**53 - 1)
    assert 50 < shown < 105, "as many as fit into a result"


async def test_what_a_page_leaves_out_is_had_page_by_page(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for number in range(1, 221):
        await chat.call("send_message", worker_id=worker_id, text=f"{number} {'é' * number}")
    read: list[str] = []
    cursor: dict[str, object] = {}
    while True:
        page = await chat.call("read_messages", limit=0, **cursor)
        assert size(page) <= RESULT_LIMIT
        read = [message["id"] for message in page["messages"]] + read
        if "truncated" not in page:
            break
        cursor = {"before_message_id": page["next_before_message_id"]}

    assert read == [f"msg_{number}" for number in range(1, 221)]


async def test_a_text_too_long_for_a_result_is_read_in_pieces(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    text = "".join(chr(0x1F300 + number % 200) for number in range(65_536))
    said = await chat.call("send_message", worker_id=worker_id, text=text)
    [first] = (await chat.call("read_messages"))["messages"]
    pieces, offset = [first["text"]], first["next_text_offset"]
    while offset is not None:
        page = await chat.call("read_messages", message_id="msg_1", text_offset=offset)
        assert size(page) <= RESULT_LIMIT
        [piece] = page["messages"]
        pieces.append(piece["text"])
        offset = piece.get("next_text_offset")

    assert "".join(pieces) == text
    assert first["content_truncated"] is said["content_truncated"] is True
    assert size(said) <= RESULT_LIMIT
    assert len(pieces) < 12


async def test_one_message_is_read_by_its_id(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for text in ("one", "two", "three"):
        await chat.call("send_message", worker_id=worker_id, text=text)
    [second] = (await chat.call("read_messages", message_id="msg_2"))["messages"]

    assert second["text"] == "two"
    assert "content_truncated" not in second
    for wrong, field in (
        ({"message_id": "msg_4"}, "message_id"),
        ({"message_id": "msg_2", "text_offset": 3}, "text_offset"),
        ({"text_offset": 3}, "text_offset"),
        ({"message_id": "msg_2", "limit": 3}, "limit"),
        ({"message_id": "msg_2", "before_message_id": "msg_3"}, "before_message_id"),
    ):
        assert (await chat.refused("read_messages", **wrong)).startswith(f"{field}: ")


async def test_a_status_is_a_message_that_says_so(chat: Chat) -> None:
    nowhere = await chat.call("post_status", status="looking around")
    await joined(chat)
    posted = await chat.call("post_status", status="reading the parser", client_message_id="k")
    [message] = (await chat.call("read_messages"))["messages"]

    assert (nowhere["success"], "join_room" in nowhere["hint"]) == (False, True)
    assert posted["status_posted"] == "reading the parser"
    assert message["text"] == "[status] reading the parser"
    assert message["sender"] == posted["sender"]
    assert (message["id"], message["timestamp"]) == (posted["message_id"], posted["timestamp"])


async def test_without_a_room_nothing_is_said_or_heard(chat: Chat) -> None:
    for tool, arguments in [
        ("send_message", {"text": "hi"}),
        ("send_thread_message", {"text": "hi", "thread_parent_id": "msg_1"}),
        ("read_messages", {}),
        ("wait_for_messages", {}),
    ]:
        assert "No room is available" in await chat.refused(tool, **arguments)


# --- waiting -------------------------------------------------------------------------------------


async def test_a_wait_brings_the_tail_and_then_what_follows_its_cursor(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for text in ("one", "two"):
        await chat.call("send_message", worker_id=worker_id, text=text)
    tail = await chat.call("wait_for_messages")
    later = await chat.call("wait_for_messages", after_message_id=" msg_1 ")
    nothing = await chat.call("wait_for_messages", after_message_id="msg_2", timeout=SHORT)

    assert [message["text"] for message in tail["messages"]] == ["one", "two"]
    assert tail["last_observed_message_id"] == "msg_2"
    assert [message["text"] for message in later["messages"]] == ["two"]
    assert nothing == {
        "room_id": "workshop",
        "messages": [],
        "last_observed_message_id": "msg_2",
    }


async def test_what_is_for_others_is_skipped_listed_and_counted(chat: Chat) -> None:
    await joined(chat)
    ada = await worker(chat, "a", display_name="Ada")
    ben = await worker(chat, "b", display_name="Ben")
    await worker(chat, "c", display_name="Cid")
    for text in ("@everyone hello", "@Cid you", "@Ada and you"):
        await chat.call("send_message", worker_id=ben, text=text)
    after = {"after_message_id": "msg_1", "timeout": SHORT}
    heard = await chat.call("wait_for_messages", worker_id=ada, **after)
    only = await chat.call("wait_for_messages", worker_id=ben, **after)

    assert [message["id"] for message in heard["messages"]] == ["msg_3"]
    assert heard["messages"][0]["activation"]["for_current_agent"]["decision"] == "activate"
    assert heard["skipped_message_ids"] == ["msg_2"]
    assert heard["skipped_message_count"] == 1
    assert heard["last_observed_message_id"] == "msg_3"
    assert only["messages"] == []
    assert only["skipped_message_ids"] == ["msg_2", "msg_3"], "its own words are not for it"
    assert only["last_observed_message_id"] == "msg_3"


SILENT = [f"msg_{number}" for number in range(3, 7)]


async def test_what_is_for_others_takes_no_room_from_what_is_shown(chat: Chat) -> None:
    await joined(chat)
    ada = await worker(chat, "a", display_name="Ada")
    ben = await worker(chat, "b", display_name="Ben")
    await worker(chat, "c", display_name="Cid")
    for text in ("@Cid hello", "@Ada do it", *["@Cid " + "x" * 16_000] * 4, "@Ada now"):
        await chat.call("send_message", worker_id=ben, text=text)
    tail = await chat.call("wait_for_messages", worker_id=ada)
    first = await chat.call("wait_for_messages", worker_id=ada, after_message_id="msg_1")

    for heard, skipped in ((tail, ["msg_1", *SILENT]), (first, SILENT)):
        assert [message["id"] for message in heard["messages"]] == ["msg_2", "msg_7"]
        assert heard["skipped_message_ids"] == skipped
        assert heard["last_observed_message_id"] == "msg_7"
        assert "truncated" not in heard


async def test_a_wait_without_a_cursor_goes_on_where_all_that_was_said_is_for_others(
    chat: Chat,
) -> None:
    await joined(chat)
    ada = await worker(chat, "a", display_name="Ada")
    ben = await worker(chat, "b", display_name="Ben")
    await worker(chat, "c", display_name="Cid")
    await chat.call("send_message", worker_id=ben, text="@Cid you")
    heard: list[dict[str, Any]] = []

    async def wait() -> None:
        heard.append(await chat.call("wait_for_messages", worker_id=ada, timeout=20_000))

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        await chat.call("send_message", worker_id=ben, text="@Ada and you")

    [only] = heard
    assert [message["id"] for message in only["messages"]] == ["msg_2"]
    assert only["skipped_message_ids"] == ["msg_1"]


async def test_many_skipped_messages_are_counted_and_the_latest_listed(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    for number in range(130):
        await chat.call("send_message", worker_id=worker_id, text=str(number))
    heard = await chat.call(
        "wait_for_messages", worker_id=worker_id, after_message_id="msg_1", timeout=SHORT
    )

    assert heard["skipped_message_count"] == 129
    assert heard["skipped_message_ids"][-1] == heard["last_observed_message_id"] == "msg_130"
    assert len(heard["skipped_message_ids"]) == 100


async def test_a_wait_keeps_within_its_bytes_and_observes_no_further(chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    large = "🙂" * 65_536
    for _ in range(10):
        await chat.call("send_message", worker_id=worker_id, text=large)
    following = await chat.call("wait_for_messages", after_message_id="msg_1")
    count = len(following["messages"])
    tail = await chat.call("wait_for_messages")
    read = await chat.call("read_messages")

    assert 0 < count < 9
    assert max(size(page) for page in (following, tail, read)) <= RESULT_LIMIT
    assert following["truncated"] is True
    assert following["omitted_message_count"] == 9 - count
    assert following["last_observed_message_id"] == f"msg_{1 + count}"
    for newest in (tail, read):
        assert newest["messages"][-1]["id"] == "msg_10"
        assert newest["omitted_message_count"] == 10 - len(newest["messages"])
    rest = await chat.call(
        "wait_for_messages", after_message_id=following["last_observed_message_id"]
    )
    assert rest["messages"][0]["id"] == f"msg_{2 + count}", "nothing is lost"


async def test_a_cursor_from_the_future_is_refused(chat: Chat) -> None:
    await joined(chat)
    told = await chat.refused("wait_for_messages", after_message_id="msg_7")

    assert told.startswith("after_message_id: msg_7 does not exist in this room; it has no message")


async def test_a_waiter_who_is_replaced_gets_its_error(house: House, chat: Chat) -> None:
    await joined(chat)
    worker_id = await worker(chat)
    rival, told = await house.chat(), list[str]()

    async def wait() -> None:
        told.append(await chat.refused("wait_for_messages", worker_id=worker_id, timeout=60_000))

    async with anyio.create_task_group() as waiting:
        waiting.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert await worker(rival) == worker_id

    assert "a newer process holds its connection now" in told[0]
    assert "[connection_replaced]" in told[0]


# --- prompts -------------------------------------------------------------------------------------


@attrs.define
class PromptingRooms(MemoryRooms):
    """Rooms as a server keeps them, in which a message may carry working notes for agents."""

    async def read(self, room_id: RoomId, window: Window, viewer: Fence | None = None) -> Page:
        page = await MemoryRooms.read(self, room_id, window, viewer)
        return Page(tuple(map(self._prompting, page.messages)), page.more)

    async def wait(
        self, room_id: RoomId, window: After, *, timeout: timedelta, viewer: Fence | None = None
    ) -> Page:
        return await MemoryRooms.wait(self, room_id, window, timeout=timeout, viewer=viewer)

    def _prompting(self, message: Any) -> Any:
        kind, colon, _ = message.text.partition(": ")
        return attrs.evolve(message, prompt_kind=kind) if colon else message


@pytest.fixture(params=ERAS)
async def prompting(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Chat]:
    async with living_in(tmp_path, request.param, rooms=PromptingRooms()) as house:
        chat = await house.chat()
        other = await joined(await house.chat())
        for text in ("nothing", "inline: do it", "AUTO: remember", "other: none"):
            await other.call("send_message", text=text)
        yield chat


async def test_working_notes_come_in_full_once_and_then_in_short(prompting: Chat) -> None:
    page = await prompting.call("read_messages", room_id="workshop")
    plain, inline, auto, other = page["messages"]

    assert "agent_prompt" not in {*plain, *other}
    assert inline["agent_prompt"] == full("inline")
    assert (inline["visible_text"], inline["prompt_injected"]) == ("inline: do it", True)
    assert (auto["agent_prompt"], auto["prompt_injected"]) == (COMPACT, False)
    [*_, again, _, _] = (await prompting.call("wait_for_messages", room_id="workshop"))["messages"]
    assert again["agent_prompt"] == COMPACT


async def test_notes_that_were_not_shown_count_as_not_told(prompting: Chat) -> None:
    """A message that is for somebody else is skipped, and what it carries with it."""
    await prompting.call("join_room", name="workshop")
    prompting.visit.prompts = Prompts()  # as if nothing had been told
    worker_id = await worker(prompting)
    await prompting.call("send_message", worker_id=worker_id, text="inline: to myself")
    other = await worker(prompting, "another key")
    await prompting.call("send_message", worker_id=other, text="@everyone look")
    heard = await prompting.call(
        "wait_for_messages", worker_id=worker_id, after_message_id="msg_4", timeout=SHORT
    )

    assert [message["id"] for message in heard["messages"]] == ["msg_6"]
    assert heard["skipped_message_ids"] == ["msg_5"]
    assert prompting.visit.prompts.dispense("inline") == full("inline")


# --- over pipes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_works_over_pipes(tmp_path: Path, era: str) -> None:
    with Served(tmp_path, era) as served:
        listed = served.answer(served.ask("tools/list", {}))["result"]["tools"]
        made = served.call("create_room")
        served.call("create_project")
        served.call("join_code", code=made["code"])
        served.call("join_project", code=made["code"])
        served.call("join_room", name="workshop")
        registered = served.call(
            "register_agent_session", registration_key="a key", room_id="workshop"
        )
        me = {"worker_id": registered["worker_id"]}
        served.call("send_message", text="root", **me)
        served.call("send_thread_message", text="reply", thread_parent_id="msg_1", **me)
        served.call("post_status", status="busy", **me)
        assert len(served.call("read_messages", **me)["messages"]) == 3
        assert len(served.call("wait_for_messages", after_message_id="msg_1")["messages"]) == 2
        served.call("set_agent_name", name="Sage")
        here = served.call("get_current_room")
        served.call("resume_room_session", **me)
        served.call("disconnect_agent_session", **me)

        assert [tool["name"] for tool in listed] == [tool.name for tool in tools_of(Caller())]
        assert here["agent_identity"]["ide_label"] == "Claude Code"
        assert served.close() == 0


async def test_a_call_of_no_tool_is_told_which_there_are(chat: Chat) -> None:
    with pytest.raises(MCPError, match="There is no tool 'rental_accept'") as told:
        await chat.client.call_tool("rental_accept", {})

    assert "The tools are: create_room, " in str(told.value)
