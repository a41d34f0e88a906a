"""Whatever a supervisor is asked badly: the exact error; the connection and the journal as before.

Every method has its row. All are asked on one connection of a real supervisor with an agent in a
turn.
"""

import asyncio
import json
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.supervised import SERVER, put_agent_in_turn

from letagents.entrypoints.daemon.process import Running, supervising
from letagents.settings import Settings
from letagents.testing.contracts.supervisor import MESSAGE, ROOM
from letagents.wire import supervisor as wire

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such sockets"),
]
Plain = dict[str, Any]
SECRET = f"t{7:042d}"
PLACE: Plain = {"entry_id": "e1", "work_attempt_id": "w1", "execution_generation_id": "x1"}
ROUTE: Plain = {**PLACE, "room_id": ROOM, "agent_session_id": "s1"}
SESSION: Plain = {**ROUTE, "agent_session_token": SECRET, "api_url": SERVER}
CALL: Plain = {
    **PLACE,
    "daemon_generation": 1,
    "mcp_request_id": "12",
    "tool_name": "post_status",
    "input": {"status": "working"},
    "mutation": True,
}
MODEL = {**PLACE, "base_url": "https://models.example/v1", "model": "big", "daemon_generation": 1}
STUCK: Plain = {**ROUTE, "source_message_id": MESSAGE, "daemon_generation": 1}
STOP: Plain = {
    "id": "e1",
    "daemon_generation": 1,
    "room_id": ROOM,
    "work_attempt_id": "w1",
    "execution_generation_id": "x1",
    "provider_turn_id": "t1",
    "source_message_id": MESSAGE,
    "action_id": "a1",
}
SEEN: Plain = {**STOP, "resolution": "applied"}
NO_ACTION = "An action has a name of 1 to 200 characters."
STOP_OLD = "The supervisor generation changed; refresh before stopping a turn."
NO_OBJECTS: tuple[object, ...] = (None, [], "x", 7)
GRANT: Plain = {
    "entry_id": "e1",
    "room_id": ROOM,
    "agent_key": "ada/e1",
    "grant_id": "g1",
    "supervisor_grant": "s",
    "grant_generation": 1,
    "api_url": "https://rooms.example",
    "host_id": "h1",
    "installation_id": "i1",
    "grant_expires_at": "2999-01-01T00:00:00.000Z",
    "daemon_generation": 1,
}
BOTH_KINDS = "Host grant installation cannot be both reconnect-only and recovery-only."
UNSAFE_GRANT = "Host grant api_url must be HTTPS or exact loopback HTTP."
STALE = {"status": "stale"}
NO_NAME = "display_name: ' ' is not a name that a room can show."
NOT_BEGUN = {**STALE, "last_observed_message_id": None}
WISH: Plain = {"id": "e1", "expected_desired_state": "paused", "desired_state": "stopped"}

UNKNOWN = "Unknown daemon manifest entry: "
UNTYPED = "Supervised tool execution requires exact typed coordinates."
UNNAMED = "A supervised effect requires MCP request and tool identities."
NO_AUTHORITY = "The supervised effect lost its exact agent work authority."
OLD_EFFECT = "The supervised effect belongs to a stale daemon generation."
OLD_COMPLETION = "The supervised effect completion belongs to a stale daemon generation."
UNSAFE = "Open Model credential handoff contains an unsafe endpoint."
SESSION_ROOM = "Worker session room does not match the supervised manifest entry."
SESSION_ATTEMPT = "Worker session work attempt does not match the supervised manifest entry."
SESSION_EXECUTION = (
    "Worker session execution generation does not match the active supervised manifest entry."
)
CURSOR_ATTEMPT = "Worker cursor work attempt does not match the supervised manifest entry."
CURSOR_BINDING = "Worker cursor checkpoint does not match the active supervised binding."
RETRY_STALE = "The room delivery binding is stale; refresh before retrying."
RETRY_OLD = "The supervisor generation changed; refresh before retrying."
NO_WISH = "No such state can be wanted of an agent."

NOT_BOUND = "Worker session verification does not match the active supervised binding."
Rows = list[tuple[Plain, object]]
OF_SESSION: Rows = [
    ({}, UNKNOWN),
    ({"entry_id": "  "}, f"{UNKNOWN}  "),
    ({**SESSION, "entry_id": "e2"}, f"{UNKNOWN}e2"),
    ({**SESSION, "entry_id": 7}, UNKNOWN),
    ({**SESSION, "room_id": "another", "work_attempt_id": "w2"}, SESSION_ROOM),
    ({**SESSION, "room_id": None}, SESSION_ROOM),
    ({**SESSION, "work_attempt_id": "", "execution_generation_id": ""}, SESSION_ATTEMPT),
    ({**SESSION, "execution_generation_id": "x0"}, SESSION_EXECUTION),
]
OF_STUCK: Rows = [
    ({}, UNKNOWN),
    ({**STUCK, "entry_id": "e2"}, f"{UNKNOWN}e2"),
    ({**STUCK, "daemon_generation": 0}, RETRY_OLD),
    ({**STUCK, "daemon_generation": "1"}, RETRY_OLD),
    (STUCK, RETRY_STALE),  # no session is bound
]
MOVING: Plain = {"entry_id": "e1", "daemon_generation": 1}
MOVE_OLD = "The supervisor generation changed; refresh before moving an agent."
SAME_ROOM = "A room move requires a different valid destination room."
OF_MOVE: Rows = [
    ({}, MOVE_OLD),
    ({**MOVING, "daemon_generation": "1"}, MOVE_OLD),
    ({**MOVING, "entry_id": "e2"}, f"{UNKNOWN}e2"),
    ({**MOVING, "operation_id": "none"}, "The agent has no room move of that name."),
]
OF_AGENT: Rows = [
    ({}, UNKNOWN),
    ({"entry_id": ["e1"]}, UNKNOWN),
    ({"entry_id": "e2"}, f"{UNKNOWN}e2"),
]

ROWS: dict[str, Rows] = {
    wire.NEGOTIATE: [],
    wire.STATUS: [],
    wire.PREPARE_HANDOFF: [],
    wire.LIST_AGENTS: [],
    wire.LIST_EFFECTS: [({"entry_id": "e2"}, []), ({"entry_id": 7}, [])],
    wire.BIND: [
        *OF_SESSION,
        ({**SESSION, "agent_session_token": " "}, "Worker session token is not valid."),
        ({**SESSION, "api_url": "nowhere"}, "Worker session API URL is not valid."),
    ],
    wire.VERIFY: [
        *OF_SESSION,
        (SESSION, NOT_BOUND),
        ({**SESSION, "agent_session_token": ""}, NOT_BOUND),
    ],
    wire.BORROW: [
        ({}, STALE),
        ({**SESSION, "daemon_generation": 1}, STALE),
        ({**SESSION, "daemon_generation": 1e9}, STALE),
    ],
    wire.INSTALL: [({}, STALE), ({**SESSION, "daemon_generation": 0}, STALE)],
    wire.CHECKPOINT: [
        ({}, UNKNOWN),
        ({**PLACE, "work_attempt_id": "w2"}, CURSOR_ATTEMPT),
        ({**PLACE, "agent_session_id": "s1", "room_cursor": "msg_1"}, CURSOR_BINDING),
    ],
    wire.PREPARE: [
        ({}, UNNAMED),
        ({**CALL, "mcp_request_id": "  "}, UNNAMED),
        ({**CALL, "daemon_generation": 2}, OLD_EFFECT),
        ({**CALL, "daemon_generation": None}, OLD_EFFECT),
        ({**CALL, "entry_id": "e2"}, NO_AUTHORITY),
        ({**CALL, "work_attempt_id": "w2"}, NO_AUTHORITY),
        ({**CALL, "execution_generation_id": "x0"}, NO_AUTHORITY),
        (
            {**CALL, "provider_turn_id": "t2"},
            "The supervised effect does not belong to the exact active turn.",
        ),
        (
            {**CALL, "mutation": "yes"},
            "The supervised effect classification does not match the registered tool policy.",
        ),
    ],
    wire.EXECUTE: [
        ({}, UNTYPED),
        *(({**CALL, name: " x"}, UNTYPED) for name in (*PLACE, "mcp_request_id", "tool_name")),
        *(({**CALL, "daemon_generation": one}, UNTYPED) for one in (0, -1, "1", 1.5, None, True)),
        ({**CALL, "mcp_request_id": 12}, UNTYPED),
        ({**CALL, "daemon_generation": 2}, OLD_EFFECT),
        ({**CALL, "entry_id": "e2"}, NO_AUTHORITY),
    ],
    wire.COMPLETE: [
        ({}, OLD_COMPLETION),
        ({**CALL, "effect_id": "none", "daemon_generation": 9}, OLD_COMPLETION),
        (
            {**CALL, "effect_id": "none"},
            "The supervised effect does not belong to the exact active turn.",
        ),
    ],
    wire.PUT_AGENT: [
        ({}, "manifest.put requires an entry."),
        ({"entry": []}, "manifest.put requires an entry."),
        ({"entry": {}}, "'' is not the id of a room."),
        ({"entry": {"room_id": ROOM, "id": "../x"}}, "That cannot be the name of an agent."),
    ],
    wire.WANT_AGENT: [
        ({}, NO_WISH),
        ({"id": "e1", "desired_state": "Running"}, NO_WISH),
        ({"id": "e2", "desired_state": "running"}, f"{UNKNOWN}e2"),
    ],
    wire.WATCH_AGENTS: [],
    wire.WANT_IF: [
        ({}, NO_WISH),
        ({"id": "e1", "desired_state": "stopped"}, NO_WISH),
        ({**WISH, "id": "e2"}, f"{UNKNOWN}e2"),
    ],
    wire.NAME_AGENT: [
        ({}, UNKNOWN),
        ({"id": "e2", "display_name": "Ada"}, f"{UNKNOWN}e2"),
        ({"id": "e1", "display_name": " "}, NO_NAME),
    ],
    wire.APPEND_ACTIVITY: [
        ({}, UNKNOWN),
        ({"id": "e1", "event": "x"}, "manifest.append_activity requires an event."),
        ({"id": "e1", "event": {}}, "An event has a kind."),
    ],
    wire.PREPARE_MOVE: [
        ({}, MOVE_OLD),
        ({**MOVING, "entry_id": "e2"}, f"{UNKNOWN}e2"),
        (MOVING, "A room move requires a different valid destination room."),
        ({**MOVING, "destination_room_id": ROOM, "request_id": "r"}, SAME_ROOM),
        (
            {**MOVING, "destination_room_id": "elsewhere", "request_id": "r"},
            "An agent that polls by itself is moved by nobody else.",
        ),
    ],
    wire.COMMIT_MOVE: OF_MOVE,
    wire.ROLL_BACK_MOVE: OF_MOVE,
    wire.GET_MOVE: OF_MOVE,
    wire.ACKNOWLEDGE_MOVE: OF_MOVE,
    wire.GET_CURRENT_MOVE: [({}, MOVE_OLD), ({**MOVING, "entry_id": ""}, UNKNOWN), (MOVING, None)],
    wire.CONTROL_TURN: [
        ({}, NO_ACTION),
        ({**STOP, "action_id": "a" * 201}, NO_ACTION),
        ({**STOP, "correction": 7}, "A correction is a text, or null."),
        ({**STOP, "correction": " "}, "A correction is a text of 1 to 4000 characters."),
        ({**STOP, "daemon_generation": 0}, STOP_OLD),
        ({**STOP, "id": "e2"}, f"{UNKNOWN}e2"),
        (STOP, "The agent is in no turn that this supervisor runs."),
    ],
    wire.RESOLVE_CONTROL: [
        ({}, "A stop was applied or not_applied."),
        ({**SEEN, "id": "e2"}, f"{UNKNOWN}e2"),
        (SEEN, "The agent has no turn-control action of that name."),
    ],
    wire.READ_ATTEMPT: [({}, UNKNOWN), ({"id": ["e1"]}, UNKNOWN), ({"id": "e2"}, f"{UNKNOWN}e2")],
    wire.BEGIN_INGRESS: [
        ({}, NOT_BEGUN),
        ({**PLACE, "daemon_generation": 7}, NOT_BEGUN),
        (
            {**PLACE, "daemon_generation": 1, "initial_message": " "},
            "An initial message is a text, or null.",
        ),
        (
            {**PLACE, "daemon_generation": 1, "initial_message": "hello"},
            "An agent that waits for messages by itself is handed none.",
        ),
    ],
    wire.REMOVE_AGENT: [
        ({}, UNKNOWN),
        ({"id": "e2"}, f"{UNKNOWN}e2"),
        ({"id": "e1"}, "e1 is not stopped."),
    ],
    wire.GIVE_UP_GRANT: [({}, UNKNOWN), ({"entry_id": "e2"}, f"{UNKNOWN}e2")],
    wire.INSTALL_GRANT: [
        ({}, "Host grant entry_id is required."),
        ({**GRANT, "credential_only": True, "recovery_only": True}, BOTH_KINDS),
        ({**GRANT, "supervisor_grant": " "}, "Host grant supervisor_grant is required."),
        ({**GRANT, "api_url": "http://localhost:3001"}, UNSAFE_GRANT),
        ({**GRANT, "grant_expires_at": "soon"}, STALE),
        ({**GRANT, "grant_generation": 0}, STALE),
        ({**GRANT, "daemon_generation": 7}, STALE),
        ({**GRANT, "entry_id": "e2"}, STALE),
    ],
    wire.INSTALL_MODEL: [
        ({}, UNSAFE),
        ({**MODEL, "base_url": "https://u:p@models.example"}, UNSAFE),
        ({**MODEL, "base_url": "file:///etc"}, UNSAFE),
        ({**MODEL, "api_key": " "}, "A model's key is a text, or null."),
        ({**MODEL, "daemon_generation": 7}, STALE),
        ({**MODEL, "entry_id": "e2"}, STALE),
    ],
    wire.SETTLE_EFFECT: [
        ({}, "effects.settle requires whether it happened."),
        ({"effect_id": "none", "happened": True}, "There is no effect none."),
    ],
    wire.AUTHORIZE: [({}, "Custodial polling authority is stale or unsupported.")],
    wire.INSPECT_AGENT: OF_AGENT,
    wire.LIST_DEEDS: [
        ({}, []),
        ({"limit": -1}, []),
        ({"limit": "many"}, []),
        ({"entry_id": "e2"}, f"{UNKNOWN}e2"),
    ],
    wire.WATCH_AGENT: OF_AGENT,
    wire.RETRY_MESSAGE: OF_STUCK,
    wire.SKIP_MESSAGE: OF_STUCK,
}
"""What is asked of each method, and the error, or the result, that it comes to."""
FREE = (wire.NEGOTIATE, wire.STATUS, wire.PREPARE_HANDOFF, wire.LIST_AGENTS)
"""Those that look at no parameters."""


@pytest.fixture
async def running(anyio_backend: str, tmp_path: Path) -> AsyncIterator[Running]:
    async with supervising(Settings(home=tmp_path / "h"), {}) as running:
        await running.server.methods.sessions.journal.change(put_agent_in_turn)
        yield running


def dumped(tmp_path: Path) -> list[str]:
    with closing(sqlite3.connect(tmp_path / "h" / "supervisor.db")) as journal:
        return list(journal.iterdump())


async def test_each_method_tells_exactly_what_is_wrong_and_nothing_is_harmed(
    running: Running, tmp_path: Path
) -> None:
    before = dumped(tmp_path)
    there = [method for method in ROWS if running.server.methods.named(method) is not None]
    asked: list[tuple[str, object, object]] = [
        (method, given, said) for method in there for given, said in ROWS[method]
    ]
    for method in set(there) - set(FREE):
        asked += [(method, given, wire.NO_PARAMS) for given in NO_OBJECTS]
    async with asyncio.timeout(60):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "h" / "daemon.sock"))
        with closing(writer):
            told = {}
            for number, (method, given, _) in enumerate(asked):
                document = {"version": 2, "id": number, "method": method, "params": given}
                writer.write(json.dumps(document).encode() + b"\n")
                if number % 20 == 0:
                    writer.write(b'{"version": 2,\n')
                    writer.write(json.dumps({**document, "version": 1, "id": "old"}).encode())
                    writer.write(b"\n")
                answer = json.loads(await reader.readline())
                while answer.get("id") != number:
                    assert answer["error"] in (wire.INVALID, wire.mismatch(1))
                    answer = json.loads(await reader.readline())
                told[number] = answer.get("error", answer.get("result"))
    wrong = {
        (method, json.dumps(given)): (told[number], said)
        for number, (method, given, said) in enumerate(asked)
        if told[number] != said
    }

    assert wrong == {}
    assert dumped(tmp_path) == before
    assert SECRET not in "".join(before)


async def test_every_method_has_its_row(running: Running) -> None:
    methods = running.server.methods
    assert {name for name in _names() if methods.named(name) is not None} <= set(ROWS)
    assert {name for name in ROWS if methods.named(name) is None} <= {wire.AUTHORIZE}


def _names() -> set[str]:
    """Return every method that the wire knows by name."""
    names = (value for name, value in vars(wire).items() if name.isupper())
    return {one for one in names if isinstance(one, str) and "." in one and " " not in one}
