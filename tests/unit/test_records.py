"""The form of the state file."""

import json
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letagents.domain import connections, local_state, workers
from letagents.domain.errors import StateDamaged
from letagents.domain.ids import RegistrationKey, RoomId, WorkerId
from letagents.domain.local_state import LONG_AGO, ForeignToken, LocalState, StoredSession
from letagents.testing.determinism import CountingIds
from letagents.wire import records
from letagents.wire.records import Record

PLACE = "/home/ada/.letagents/mcp-state.json"
ROOM = RoomId("workshop")
NOW = datetime(2030, 1, 1, 12, 0, 0, 5000, tzinfo=UTC)
EMPTY = Record(PLACE)


def as_bytes(plain: object) -> bytes:
    return f"{json.dumps(plain, ensure_ascii=False, indent=2)}\n".encode()


def session() -> StoredSession:
    return StoredSession(
        session_id="local_1",
        session_token=CountingIds().token(),
        room_id="workshop",
        agent_instance_id=f"worker_{1:032x}",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )


# --- the form -----------------------------------------------------------------------------------


def test_a_new_file_has_the_form_that_other_programs_read() -> None:
    ids = CountingIds()
    state, worker = workers.ensure(
        LocalState(),
        scope="http://a\nada",
        key=RegistrationKey("key"),
        fresh=ids.worker_id(),
        display_name="Jüniper",
    )
    state, _ = connections.begin(
        state, worker.worker_id, ROOM, operation_id=ids.uuid(), token=ids.token()
    )
    state, _ = local_state.save_room(state, ROOM, joined_via="join_room", now=NOW)
    state = local_state.save_session(state, session())

    assert EMPTY.rewritten(state).decode() == NEW_FILE


NEW_FILE = """{
  "mcp_workers": {
    "worker_00000000000000000000000000000001": {
      "worker_id": "worker_00000000000000000000000000000001",
      "scope": "http://a\\nada",
      "registration_key_hash": "HASH",
      "display_name": "Jüniper",
      "rooms": {
        "workshop": {
          "pending": {
            "operation_id": "00000000-0000-4000-8000-000000000001",
            "connection_token": "t000000000000000000000000000000000000000001"
          }
        }
      }
    }
  },
  "agent_sessions": {
    "local_1": {
      "session_id": "local_1",
      "session_token": "t000000000000000000000000000000000000000001",
      "room_id": "workshop",
      "session_kind": "worker",
      "runtime": "",
      "host_id": null,
      "host_kind": null,
      "host_label": null,
      "liveness_capability": null,
      "tool_bridge_id": null,
      "actor_label": "",
      "agent_key": "",
      "agent_instance_id": "worker_00000000000000000000000000000001",
      "display_name": "",
      "requested_base_display_name": null,
      "owner_label": "",
      "ide_label": "",
      "repo_branch": null,
      "created_at": "2030-01-01T12:00:00.005Z",
      "updated_at": "2030-01-01T12:00:00.005Z",
      "last_seen_at": "2030-01-01T12:00:00.005Z",
      "ended_at": null
    }
  },
  "current_agent_session_ids": {
    "workshop": "local_1"
  },
  "current_room": {
    "room_id": "workshop",
    "project_id": null,
    "code": null,
    "display_name": null,
    "git_room": null,
    "joined_via": "join_room",
    "joined_at": "2030-01-01T12:00:00.005Z",
    "last_seen_at": "2030-01-01T12:00:00.005Z"
  },
  "room_sessions": {
    "workshop": {
      "room_id": "workshop",
      "project_id": null,
      "code": null,
      "display_name": null,
      "git_room": null,
      "joined_via": "join_room",
      "joined_at": "2030-01-01T12:00:00.005Z",
      "last_seen_at": "2030-01-01T12:00:00.005Z"
    }
  }
}
""".replace("HASH", workers.key_hash("http://a\nada", RegistrationKey("key")))


def test_a_settled_operation_leaves_no_trace_of_what_was_pending() -> None:
    state = records.load(NEW_FILE.encode(), place=PLACE)
    [worker_id] = state.state.workers
    settled = connections.finish(
        state.state,
        worker_id,
        ROOM,
        operation_id="00000000-0000-4000-8000-000000000001",
        session=session(),
    )

    plain = json.loads(state.rewritten(settled))
    assert plain["mcp_workers"][str(worker_id)]["rooms"] == {"workshop": {"session_id": "local_1"}}


def test_an_empty_state_is_an_empty_object() -> None:
    assert EMPTY.rewritten(LocalState(extra={})) == b"{}\n"
    assert records.load(b"{}", place=PLACE).state == LocalState()


# --- what is kept -------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)  # fmt: skip
UNKNOWN = st.dictionaries(st.text(max_size=8).map(lambda key: f"new {key}"), JSON, max_size=3)
MAYBE_TEXT = st.none() | st.text(max_size=8)


def some(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Records with unknown keys, some keys left out, and their keys in any order."""
    known = st.fixed_dictionaries(required, optional=optional)
    merged = st.tuples(known, UNKNOWN).map(lambda parts: [*parts[0].items(), *parts[1].items()])
    return merged.flatmap(st.permutations).map(dict)


SECRETS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=50)
STAMPS = st.sampled_from(["2030-01-01T12:00:00.005Z", "2030-01-01", "once upon a time", ""])
PENDING = some(
    {"operation_id": st.text(), "connection_token": SECRETS},
    {"predecessor_id": st.text(), "predecessor_token": SECRETS},
)
PLACES = st.dictionaries(
    st.text(max_size=5), some({}, {"session_id": st.text(), "pending": PENDING}), max_size=2
)
WORKERS = st.dictionaries(
    st.integers(0, 9).map(lambda number: f"worker_{number:032x}"),
    some(
        {
            "worker_id": st.just(f"worker_{1:032x}"),
            "scope": st.text(),
            "registration_key_hash": st.text(),
            "display_name": st.text(),
            "rooms": PLACES,
        },
        {},
    ),
    max_size=2,
)
SESSIONS = st.dictionaries(
    st.text(max_size=5),
    some(
        {"session_id": st.text(), "session_token": SECRETS, "room_id": st.text()},
        {"repo_branch": MAYBE_TEXT, "ended_at": st.none() | STAMPS, "created_at": STAMPS,
         "host_id": MAYBE_TEXT, "runtime": st.text()},
    ),
    min_size=1, max_size=3,
)  # fmt: skip
ROOMS = some(
    {"room_id": st.text()},
    {"code": MAYBE_TEXT, "git_room": JSON, "joined_at": STAMPS, "last_message_id": st.text()},
)
STATES = some(
    {"agent_sessions": SESSIONS},
    {
        "mcp_workers": WORKERS,
        "current_room": st.none() | ROOMS,
        "room_sessions": st.dictionaries(st.text(max_size=5), ROOMS, max_size=2),
        "auth": JSON,
        "codex_live_sessions": JSON,
        "current_agent_session_ids": st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
    },
)


@given(plain=STATES)
@settings(max_examples=60)
def test_rewriting_changes_what_was_changed_and_not_a_byte_more(plain: dict[str, Any]) -> None:
    record = records.load(spelled(plain), place=PLACE)
    first = next(iter(record.state.sessions))
    branched = attrs.evolve(record.state.sessions[first], repo_branch="a new branch")
    state = attrs.evolve(record.state, sessions={**record.state.sessions, first: branched})
    plain["agent_sessions"][first]["repo_branch"] = "a new branch"

    assert ordered(json.loads(record.rewritten(state))) == ordered(plain)


@given(plain=STATES)
@settings(max_examples=60)
def test_a_state_that_is_written_anew_is_read_as_the_same(plain: dict[str, Any]) -> None:
    state = records.load(spelled(plain), place=PLACE).state

    again = records.load(Record(PLACE).rewritten(state), place=PLACE).state
    assert again == state


def spelled(plain: object) -> bytes:
    return json.dumps(plain).encode()


def ordered(value: object) -> object:
    """Return `value` in a form in which the order of keys counts, and 1 is not True."""
    if isinstance(value, dict):
        return [(key, ordered(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [ordered(part) for part in value]
    return repr(value)


def test_numbers_and_texts_that_the_fast_writer_refuses_are_kept_too() -> None:
    plain = {"large": 2**70, "half a pair": "\ud83d", "whole": "😀", "agent_sessions": {}}
    record = records.load(json.dumps(plain).encode(), place=PLACE)

    text = record.rewritten(local_state.save_session(record.state, session())).decode()
    assert '"half a pair": "\\ud83d"' in text
    assert '"whole": "😀"' in text
    assert f'"large": {2**70}' in text


def test_what_was_dropped_on_purpose_is_gone() -> None:
    record = records.load(b'{"auth": {}, "new": 1, "local_host_id": "host"}', place=PLACE)
    state = attrs.evolve(record.state, extra={"new": 1}, local_host_id=None)

    assert json.loads(record.rewritten(state)) == {"new": 1}


@pytest.mark.parametrize(
    ("ended_at", "is_over"), [(None, False), ("", False), ("some day", True), ("2030-01-01", True)]
)
def test_an_end_in_any_spelling_is_an_end(ended_at: str | None, is_over: bool) -> None:
    plain = {"session_id": "a", "session_token": "short", "room_id": "b", "ended_at": ended_at}
    read = records.load(as_bytes({"agent_sessions": {"a": plain}}), place=PLACE).state.sessions["a"]

    assert (read.ended_at is not None) is is_over
    assert read.created_at == LONG_AGO
    assert read.session_token == ForeignToken("short")


# --- what is damaged ----------------------------------------------------------------------------

WORKER = f"worker_{1:032x}"


def damage_of(content: bytes) -> str:
    with pytest.raises(StateDamaged) as damaged:
        records.load(content, place=PLACE)
    assert PLACE in damaged.value.happened
    assert "left exactly as it is" in damaged.value.happened
    return damaged.value.happened


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON at line 1, column 1"),
        (b'{"auth": ', "not JSON at line 1"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b"[]", "no JSON object"),
        (b"null", "no JSON object"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": {"b": 1, "b": 2}}', "'b' is there twice"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number in it is too large"),
    ],
    ids=range(11),
)
def test_what_is_not_json_is_damaged(content: bytes, why: str) -> None:
    assert why in damage_of(content)


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        ({"mcp_workers": []}, "mcp_workers has to be an object"),
        ({"mcp_workers": {"me": {}}}, "mcp_workers.me has to be a worker's id"),
        ({"mcp_workers": {WORKER: {"worker_id": WORKER}}}, f"{WORKER}.scope has to be there"),
        ({"agent_sessions": {"a b": 1}}, "agent_sessions['a b'] has to be an object"),
        (
            {"agent_sessions": {"a": {"session_id": "a", "session_token": None, "room_id": "b"}}},
            "agent_sessions.a.session_token has to be a text",
        ),
        (
            {"agent_sessions": {"a": {"session_id": "a", "session_token": "t", "room_id": "b",
                                      "ended_at": 5}}},
            "agent_sessions.a.ended_at has to be a text or null",
        ),
        ({"current_agent_session_ids": {"r": 1}}, "current_agent_session_ids.r has to be a text"),
        ({"current_room": "here"}, "current_room has to be an object"),
        ({"room_sessions": {"r": {"joined_at": 5}}}, "room_sessions.r.joined_at has to be a text"),
        ({"local_host_id": 5}, "local_host_id has to be a text or null"),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_part_of_the_wrong_kind_is_damaged_and_named(plain: object, why: str) -> None:
    assert why in damage_of(as_bytes(plain))


def test_damage_is_told_without_quoting_any_value() -> None:
    told = damage_of(as_bytes({"agent_sessions": {"a": "a very secret text"}}))

    assert "secret" not in told


def test_a_secret_that_no_text_can_hold_is_damaged() -> None:
    plain = {"session_id": "a", "session_token": "\ud83d", "room_id": "b"}

    assert "lone surrogates" in damage_of(json.dumps({"agent_sessions": {"a": plain}}).encode())


def test_what_can_be_read_and_not_written_is_damaged_too() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    record = Record(PLACE, LocalState(extra={"a": deep}), {"a": deep})

    with pytest.raises(StateDamaged, match="nested too deeply"):
        record.rewritten(attrs.evolve(record.state, local_host_id="host"))


def test_a_handle_is_read_as_a_handle() -> None:
    assert list(records.load(NEW_FILE.encode(), place=PLACE).state.workers) == [WorkerId(WORKER)]
