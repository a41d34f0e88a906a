"""What each kind of process lists and lets be called, and what a model is shown of it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from tests.e2e.chats import ERAS, Served
from tests.e2e.shell import run

from letagents.domain.modes import Mode
from letagents.domain.surfaces import (
    BY_NAME,
    LOCAL_ROOMS,
    OFFERS,
    Caller,
    Profile,
    Toolset,
    offered,
    reads,
)
from letagents.entrypoints.mcp import prompts
from letagents.entrypoints.mcp.parameters import input_schema
from letagents.entrypoints.mcp.surface import tools_of
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.wire.bounds import size

NOT_YET: set[str] = set()
"""Tools that may be missing in this version. The list only gets shorter."""

FULL_LIMIT, CORE_LIMIT = 36 * 1024, 9 * 1024

URL = "https://letagents.example"
TURN = {
    "LETAGENTS_EXECUTION_PROFILE": "supervised_room_turn",
    "LETAGENTS_SUPERVISED_BOUNDED_TURNS": "1",
}
POLL = {"LETAGENTS_EXECUTION_PROFILE": "supervised_mcp_polling", "LETAGENTS_API_URL": URL}
BEARER = {
    "LETAGENTS_AGENT_SESSION_BEARER": "a-secret-bearer",
    "LETAGENTS_API_URL": URL,
    "LETAGENTS_CHAT_STORAGE": "local",
}

CORE = Caller(toolset=Toolset.CORE)
CALLERS = [
    Caller(profile=profile, toolset=toolset, bounded=not profile.is_independent, api_url=url)
    for profile in Profile
    for toolset in Toolset
    for url in (URL, LOCAL_ROOMS)
]


def shown(caller: Caller) -> list[dict[str, object]]:
    """Return what a model is shown of the tools."""
    return [
        {
            "name": tool.name,
            "description": tool.purpose,
            "inputSchema": input_schema(tool.parameters),
        }
        for tool in tools_of(caller)
    ]


@pytest.mark.parametrize(
    ("toolset", "limit"), [(Toolset.FULL, FULL_LIMIT), (Toolset.CORE, CORE_LIMIT)]
)
def test_what_a_model_is_shown_of_the_tools_is_within_its_limit(
    toolset: Toolset, limit: int, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = shown(Caller(toolset=toolset))
    bytes_shown = size(listed)
    with capsys.disabled():
        print(f"{toolset.value}: {len(listed)} tools, {bytes_shown:,} bytes of {limit:,} ", end="")

    assert bytes_shown <= limit


def test_no_text_sends_a_model_to_a_tool_that_it_is_not_offered() -> None:
    assert not [
        (caller, tool.name, text)
        for caller in CALLERS
        for tool in tools_of(caller)
        for text in (tool.purpose, *(one.doc for one in tool.parameters))
        if strangers(text, caller)
    ]
    assert not strangers(prompts.FULL.partition("Where you are offered")[0], CORE)
    assert not strangers(prompts.COMPACT, CORE)


def strangers(text: str, caller: Caller) -> set[str]:
    """Return the tools that `text` names and `caller` is not offered."""
    return (set(re.findall(r"\w+", text)) & BY_NAME.keys()) - set(offered(caller))


def test_every_tool_that_is_there_has_its_place_in_the_table() -> None:
    order = [offer.name for offer in OFFERS]
    there = [tool.name for tool in TOOLS]

    assert there == [name for name in order if name in there]
    assert set(order) - set(there) <= NOT_YET
    assert set(BY_NAME) >= NOT_YET


@pytest.mark.rule("U5")
def test_every_tool_says_of_itself_what_the_table_says() -> None:
    assert {tool.name for tool in TOOLS if tool.read_only} == {
        tool.name for tool in TOOLS if reads(tool.name)
    }


@contextmanager
def served(home: Path, era: str, settings: dict[str, str]) -> Iterator[tuple[Served, Any]]:
    """Start a process; give it and what its readiness says."""
    with Served(home, era, settings) as process:
        answer = process.answer(
            process.ask("resources/read", {"uri": "letagents://runtime/readiness"})
        )
        [content] = answer["result"]["contents"]
        assert content["mimeType"] == "application/json"
        yield process, json.loads(content["text"])
        assert process.close() == 0


def names(process: Served) -> list[str]:
    return [
        tool["name"] for tool in process.answer(process.ask("tools/list", {}))["result"]["tools"]
    ]


def test_a_turn_in_local_rooms_is_told_how_verified_work_is_closed() -> None:
    turn = Caller(profile=Profile.SUPERVISED_ROOM_TURN, bounded=True, api_url=LOCAL_ROOMS)
    told = {
        kind: next(one.purpose for one in tools_of(caller, mode) if one.name == "update_task")
        for kind, caller, mode in (
            ("turn", turn, Mode.SUPERVISED),
            ("elsewhere", attrs.evolve(turn, api_url="https://x"), Mode.SUPERVISED),
            ("owner", Caller(), Mode.OWNER),
        )
    }

    assert "closed with status done" in told["turn"]
    assert "closed with status done" not in told["elsewhere"] + told["owner"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("settings", "caller"),
    [
        ({}, Caller()),
        ({"LETAGENTS_TOOLSET": "core"}, Caller(toolset=Toolset.CORE)),
        (
            {**TURN, "LETAGENTS_API_URL": LOCAL_ROOMS, "LETAGENTS_SUPERVISOR_PROVIDER": "cursor"},
            Caller(Profile.SUPERVISED_ROOM_TURN, True, "cursor", api_url=LOCAL_ROOMS),
        ),
        (POLL, Caller(Profile.SUPERVISED_MCP_POLLING, api_url=URL)),
    ],
)
def test_a_process_lists_what_its_profile_has_and_says_so_as_a_resource(
    era: str, settings: dict[str, str], caller: Caller, tmp_path: Path
) -> None:
    expected = [name for name in offered(caller) if name in {tool.name for tool in TOOLS}]
    with served(tmp_path, era, settings) as (process, ready):
        listed = names(process)

    assert listed == expected
    assert ready == {
        "format": 1,
        "profile": caller.profile.value,
        "provider": caller.provider,
        "tools": sorted(expected),
    }


def test_the_core_says_of_what_it_lacks_how_to_have_it(tmp_path: Path) -> None:
    with served(tmp_path, ERAS[0], {"LETAGENTS_TOOLSET": "core"}) as (process, _ready):
        process.call("join_room", name="workshop")
        elsewhere = process.refused("register_agent_session", registration_key="a key")
        process.call("add_task", title="Oil the gate")
        process.call("update_task", task_id="task_1", status="accepted")
        process.call("claim_task", task_id="task_1")
        released = process.call("release_task_lease", task_id="task_1")
        token = process.refused("claim_task", task_id="task_1", board_intent_id="intent_9")

    assert released["task"]["status"] == "accepted"
    assert "list_board_intents" in token
    assert "leave LETAGENTS_TOOLSET out" in token
    assert "LETAGENTS_TOOLSET" not in elsewhere


@pytest.mark.parametrize(
    ("settings", "why", "code"),
    [
        ({**TURN, "LETAGENTS_API_URL": LOCAL_ROOMS}, "coordinates are", "coordinates_wrong"),
        (POLL, "lacks exact worker coordinates", "poll_refused"),
    ],
)
def test_a_supervised_process_says_of_each_call_that_it_has_no_supervisor(
    settings: dict[str, str], why: str, code: str, tmp_path: Path
) -> None:
    with served(tmp_path, ERAS[0], settings) as (process, _ready):
        told = [
            process.refused("get_current_room"),
            process.refused("send_message", text="hi"),
            process.refused("send_message"),
        ]
        wait, auth = (
            process.answer(process.begin(name))["result"].get("structuredContent", {}).get("error")
            for name in ("wait_for_messages", "start_device_auth")
        )
        room = process.answer(
            process.ask("resources/read", {"uri": "letagents://rooms/workshop/messages"})
        )

    assert all(why in text and f"[{code}]" in text for text in told[:2])
    assert "text: is missing" in told[2]
    assert wait == ("supervised_bounded_delivery" if settings is not POLL else None)
    assert auth == "supervised_bounded_mode"
    assert "no rooms" in room["error"]["message"]
    assert not (tmp_path / "rooms.db").exists()


@pytest.mark.rule("U11")
def test_a_worker_by_bearer_does_what_is_local_and_is_refused_what_is_its_owner_s(
    tmp_path: Path,
) -> None:
    with served(tmp_path, ERAS[0], BEARER) as (process, _ready):
        process.call("join_room", name="workshop")
        listed = set(names(process))
        for name in ("start_device_auth", "set_agent_name"):
            if name not in listed:
                continue
            result = process.answer(process.begin(name, **{"name": "Ada"} if "set" in name else {}))

            refused = result["result"]["structuredContent"]
            assert refused["error"] == "worker_bearer_mode"
            assert "is disabled while" in refused["message"]
    assert b"a-secret-bearer" not in b"".join([*process.said, *process.complained])


@pytest.mark.parametrize("mode", [Mode.WORKER, Mode.SUPERVISED])
@pytest.mark.parametrize("profile", Profile)
def test_every_refusal_is_what_its_tool_declares(profile: Profile, mode: Mode) -> None:
    refused = {"success": False, "error": "a code", "message": "why"}
    for tool in tools_of(Caller(profile), mode):
        if tool.run not in {one.run for one in TOOLS} and mode is Mode.WORKER:
            jsonschema.validate(refused, dict(tool.result))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"LETAGENTS_EXECUTION_PROFILE": "manager"},
            "Invalid LETAGENTS_EXECUTION_PROFILE: manager",
        ),
        ({"LETAGENTS_API_URL": LOCAL_ROOMS}, "Unset LETAGENTS_API_URL"),
        ({"LETAGENTS_TOOLSET": "some"}, "LETAGENTS_TOOLSET"),
        ({"LETAGENTS_SUPERVISED_BOUNDED_TURNS": "1"}, "must be configured together"),
        ({**POLL, "LETAGENTS_TOKEN": "a-secret-token"}, "Custodial polling refuses"),
        ({"LETAGENTS_AGENT_SESSION_BEARER": "a-secret-bearer"}, "LETAGENTS_API_URL"),
        ({**BEARER, "LETAGENTS_API_URL": "http://letagents.example"}, "requires HTTPS unless"),
        ({**BEARER, "LETAGENTS_TOKEN": "a-secret-token"}, "Remove the owner token"),
        ({"LETAGENTS_SUPERVISOR_ENTRY_ID": "e"}, "LETAGENTS_SUPERVISOR_DAEMON_SOCKET"),
    ],
)
def test_what_does_not_go_together_ends_the_process_with_the_reason(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    done = run(tmp_path, "mcp", settings=settings)

    assert done.returncode == 1
    assert done.stdout == ""
    assert said in done.stderr
    assert "a-secret" not in done.stderr


def test_the_contract_is_one_line_and_needs_no_sound_environment(tmp_path: Path) -> None:
    unsound = {"LETAGENTS_EXECUTION_PROFILE": "manager", "LETAGENTS_STATE": "yaml"}
    done = run(tmp_path, "mcp", "--letagents-runtime-contract", settings=unsound)
    contract = json.loads(done.stdout)
    polling = contract["profiles"]["supervised_mcp_polling"]
    turn = contract["profiles"]["cursor_supervised_room_turn"]

    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert contract["format"] == 1
    assert polling["contract"] == "custodial_polling_v1"
    assert polling["tools"] == sorted(polling["tools"])
    assert "wait_for_messages" in polling["tools"]
    assert "wait_for_messages" not in turn["tools"]
    assert not list(tmp_path.iterdir())


def test_the_contract_is_narrower_in_local_rooms(tmp_path: Path) -> None:
    settings = {"LETAGENTS_API_URL": LOCAL_ROOMS}
    done = run(tmp_path, "mcp", "--letagents-runtime-contract", settings=settings)
    turn = json.loads(done.stdout)["profiles"]["cursor_supervised_room_turn"]

    assert "send_message" in turn["tools"]
    assert "join_room" not in turn["tools"]
