"""The routes of a room's memory, as a client sees them that knows nothing of our own additions."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.served import TOKEN
from tests.contract.served_room import BOBS, Plain, Room, opened, told

FACT: Plain = {
    "client_id": "tabs_or_spaces",
    "category": "decision",
    "title": "We use tabs",
    "body": "All of us.",
}
QUESTION = FACT | {"client_id": "how_wide", "category": "question", "title": "How wide?"}
PULL: Plain = {"provider": "github", "kind": "pull_request", "number": 7}


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with opened() as room:
        await room.call("POST", "/join", token=BOBS)
        yield room


pytestmark = pytest.mark.anyio


def without_ours(record: Plain) -> Plain:
    return {name: value for name, value in record.items() if name not in _OURS}


_OURS = ("number", "agent_session_id", "created_at", "updated_at")


# --- facts and requests ----------------------------------------


async def test_a_fact_is_kept_shown_and_kept_once(room: Room) -> None:
    ada = await room.worker("ada")
    made = await room.call("POST", "/memory", ada | FACT)
    again = await room.call("POST", "/memory", ada | FACT)
    other = await room.call("POST", "/memory", ada | FACT | {"title": "We use spaces"})
    every = await room.call("GET", "/memory")

    author = {"id": ada["actor_key"], "label": ada["actor_label"], "kind": "agent"}
    assert made == (201, again[1])
    assert without_ours(made[1]["record"]) == {
        **{name: value for name, value in FACT.items() if name != "client_id"},
        "id": "tabs_or_spaces",
        "room_id": "shed",
        "type": "memory",
        "recommendation": None,
        "unblocks": None,
        "source_url": None,
        "source_message_id": None,
        "version": 1,
        "author": author,
        "updated_by": author,
        "archived": False,
        "response": None,
    }
    assert told(other)[:2] == (409, "conflict")
    assert every[1]["records"] == [made[1]["record"]]
    assert (every[0], every[1]["room_id"], every[1]["truncated"]) == (200, "shed", False)


async def test_a_record_is_changed_by_people_who_say_which_version(room: Room) -> None:
    ada = await room.worker("ada")
    await room.call("POST", "/memory", ada | FACT)
    change = {"expected_version": 1, "title": "We use spaces"}
    refused = await room.call("PATCH", "/memory/tabs_or_spaces", ada | change)
    revised = await room.call("PATCH", "/memory/tabs_or_spaces", change)
    late = await room.call("PATCH", "/memory/tabs_or_spaces", change)
    gone = await room.call(
        "PATCH", "/memory/tabs_or_spaces", {"expected_version": 2, "archived": True}
    )
    history = await room.call("GET", "/memory/tabs_or_spaces/history")

    assert told(refused)[:2] == (403, "humans_only")
    assert (revised[0], revised[1]["record"]["title"]) == (200, "We use spaces")
    assert revised[1]["record"]["body"] == FACT["body"]
    assert revised[1]["record"]["updated_by"]["kind"] == "human"
    assert told(late)[:2] == (409, "conflict")
    assert (gone[1]["record"]["archived"], gone[1]["record"]["version"]) == (True, 3)
    assert [one["version"] for one in history[1]["records"]] == [3, 2, 1]
    assert told(await room.call("GET", "/memory/nothing_here/history")) == (
        404,
        "unknown_record",
        "Memory not found.",
    )


async def test_a_request_comes_with_what_may_wait_and_is_answered_once(room: Room) -> None:
    ada = await room.worker("ada")
    task = await room.claimed(ada)
    for status in ("in_progress", "blocked"):
        await room.call("PATCH", f"/tasks/{task['id']}", ada | {"status": status})
    made = await room.call("POST", "/attention", ada | QUESTION)
    listed = await room.call("GET", "/attention")
    by_agent = await room.call("POST", "/attention/how_wide/respond", ada | {"body": "Four."})
    answered = await room.call("POST", "/attention/how_wide/respond", {"body": "Four."})
    again = await room.call("POST", "/attention/how_wide/respond", {"body": "Eight."})
    page = await room.call("GET", "/messages?before=latest&limit=1")

    assert made[0] == 201
    assert [one["id"] for one in listed[1]["records"]] == ["how_wide"]
    [waiting] = listed[1]["tasks"]
    assert (waiting["id"], waiting["status"]) == (task["id"], "blocked")
    assert set(waiting) == {"id", "title", "status", "description", "updated_at"}
    assert told(by_agent)[:2] == (403, "humans_only")
    assert answered[1]["record"]["response"]["body"] == "Four."
    assert told(again)[:2] == (409, "already_answered")
    [said] = page[1]["messages"]
    assert said["text"] == f"@agent:{ada['actor_key']}\n\nHuman response (how_wide):\n\nFour."


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"client_id": "short"}, "client_id"),
        ({"client_id": 7}, "client_id"),
        ({"category": "question"}, "category"),
        ({"title": "x" * 161}, "title"),
        ({"body": " "}, "body"),
        ({"body": ["x"]}, "body"),
        ({"source_url": "https://ada:secret@example.com/"}, "source_url"),
        ({"source_message_id": "msg_01"}, "source_message_id"),
        ({"source_message_id": "msg_99"}, "source_message_id"),
    ],
)
async def test_a_fact_that_is_none_is_refused_by_its_field(
    room: Room, change: Plain, field: str
) -> None:
    ada = await room.worker("ada")
    status, body = await room.call("POST", "/memory", ada | FACT | change)

    assert status == 400
    assert body["error"].startswith(field)
    assert "secret" not in body["error"]
    assert (await room.call("GET", "/memory"))[1]["records"] == []


# --- guidelines ----------------------------------------


async def test_guidelines_are_set_by_an_admin_by_hand_and_read_by_all(room: Room) -> None:
    ada = await room.worker("ada")
    none = await room.call("GET", "/agent-guidelines")
    text: Plain = {"guidelines": "Write tests.\r\n\r\n"}
    by_agent = await room.call("PUT", "/agent-guidelines", ada | text)
    by_guest = await room.call("PUT", "/agent-guidelines", text, token=BOBS)
    long = await room.call("PUT", "/agent-guidelines", {"guidelines": "ü" * 4001})
    done = await room.call("PUT", "/agent-guidelines", text)
    found = await room.call("GET", "/agent-guidelines", token=BOBS)
    [said] = (await room.call("GET", "/messages"))[1]["messages"]

    assert (none[1]["guidelines"], none[1]["can_manage"]) == (None, True)
    assert (by_agent[0], by_guest[0]) == (403, 403)
    assert told(by_guest)[2] == "Admin privileges required"
    assert (long[0], long[1]["bytes"], long[1]["max_bytes"]) == (413, 8002, 8000)
    assert (done[0], done[1]["guidelines"]) == (200, "Write tests.")
    assert (found[1]["guidelines"], found[1]["can_manage"]) == ("Write tests.", False)
    assert (found[1]["token_budget"], found[1]["inherited_from_room_id"]) == (2000, None)
    assert said["source"] == "room_settings"


# --- artifacts and events ----------------------------------------


async def test_an_artifact_is_published_by_itself_or_among_the_fields(room: Room) -> None:
    ada = await room.worker("ada")
    task = await room.claimed(ada)
    first = await room.call(
        "POST", "/artifacts", ada | {"artifact": PULL | {"title": "Gears"}, "task_id": task["id"]}
    )
    second = await room.call("POST", "/artifacts", ada | PULL | {"state": "merged"})
    found = await room.call("GET", f"/artifacts?task_id={task['id']}")
    none = await room.call("POST", "/artifacts", ada | {"provider": "github", "kind": "branch"})
    many = {"linked_task_ids": [f"task_{number}" for number in range(1, 34)]}

    assert (first[0], second[0]) == (200, 200)
    [shared] = found[1]["artifacts"]
    assert shared == second[1]["artifact"]
    assert (shared["artifact_number"], shared["title"], shared["state"]) == (7, "Gears", "merged")
    assert shared["identity_key"] == "github:pull_request:number:7"
    assert shared["linked_task_ids"] == [task["id"]]
    assert told(none)[::2] == (
        400,
        "artifact requires at least one stable identity: url, id, number, or ref",
    )
    assert (await room.call("POST", "/artifacts", ada | PULL | many))[0] == 400


@pytest.mark.parametrize("prefix", ["", "/api"])
async def test_events_are_asked_for_and_it_is_said_why_there_are_none(
    room: Room, prefix: str
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    path = f"{prefix}/rooms/shed/events"
    found = await room.http.get(path, params={"event_type": "push"}, headers=headers)
    late = {"since": "2030-01-02T00:00:00Z", "until": "2030-01-01T00:00:00Z"}
    refused = await room.http.get(path, params=late, headers=headers)

    assert found.status_code == 200
    assert (found.json()["events"], found.json()["has_more"]) == ([], False)
    assert "hosted rooms only" in found.json()["note"]
    assert refused.status_code == 400


# --- reasoning ----------------------------------------


async def test_a_trace_is_opened_gone_on_with_and_closed(room: Room) -> None:
    ada = await room.worker("ada")
    bob = await room.worker("bob", BOBS)
    opened = await room.call(
        "POST", "/reasoning-sessions", ada | {"summary": "one", "confidence": 0.5}
    )
    at = f"/reasoning-sessions/{opened[1]['session']['id']}"
    gone_on = await room.call("POST", f"{at}/updates", ada | {"goal": "two", "status": "working"})
    by_other = await room.call("POST", f"{at}/updates", bob | {"summary": "x"}, token=BOBS)
    label = {"open": "true", "actor_label": ada["actor_label"]}
    mine = await room.http.get(
        "/rooms/shed/reasoning", params=label, headers={"Authorization": f"Bearer {TOKEN}"}
    )
    whole = await room.call("GET", at)
    none = await room.call("PATCH", at, ada)
    about = await room.call("PATCH", at, ada | {"task_id": "task_1"})
    of_task = await room.call("GET", "/reasoning-sessions?task_id=task_1")
    wrong = await room.call("PATCH", at, ada | {"anchor_message_id": "here"})
    moved = {"task_id": None, "closed_at": "2030-01-01T00:00:00Z"}
    closed = await room.call("PATCH", at, ada | moved)
    late = await room.call("POST", f"{at}/updates", ada | {"summary": "three"})

    assert (opened[0], opened[1]["update"]["payload"]["confidence"]) == (201, 0.5)
    assert (gone_on[0], gone_on[1]["session"]["summary"]) == (201, "two")
    assert told(by_other)[:2] == (403, "foreign_reasoning_session")
    assert [one["id"] for one in mine.json()["sessions"]] == [opened[1]["session"]["id"]]
    assert [one["summary"] for one in whole[1]["updates"]] == ["two", "one"]
    assert whole[1]["session"]["status"] == "working"
    assert (none[0], wrong[0], about[0]) == (400, 400, 200)
    assert about[1]["session"]["task_id"] == "task_1"
    assert of_task[1]["sessions"] == [about[1]["session"]]
    assert closed[1]["session"]["task_id"] is None
    assert closed[1]["session"]["closed_at"] is not None
    assert told(late)[:2] == (409, "closed_reasoning_session")
    assert (await room.call("GET", "/reasoning-sessions"))[1]["sessions"] == []
    every = await room.call("GET", "/reasoning-sessions?open=false")
    assert every[1]["sessions"] == [closed[1]["session"]]
    assert (await room.call("GET", "/reasoning-sessions?task_id=task_1"))[1]["sessions"] == []
    assert told(await room.call("GET", "/reasoning-sessions/rs_0"))[::2] == (
        404,
        "Reasoning session not found",
    )


@pytest.mark.parametrize(
    "trace",
    [{}, {"summary": " "}, {"summary": 7}, {"summary": "x", "confidence": 2}, {"status": "x"}],
)
async def test_what_is_no_trace_is_refused(room: Room, trace: Plain) -> None:
    ada = await room.worker("ada")

    assert (await room.call("POST", "/reasoning-sessions", ada | trace))[0] == 400
    assert (await room.call("GET", "/reasoning-sessions"))[1]["sessions"] == []


# --- wake rules ----------------------------------------


async def test_a_wake_rule_is_asked_for_listed_and_cancelled(room: Room) -> None:
    ada = await room.worker("ada")
    rule = {"event": "timer", "arguments": {"after_ms": 60_000}, "note": "tea", "repeat": True}
    made = await room.call("POST", "/wake-rules", ada | {"rule": rule})
    again = await room.call("POST", "/wake-rules", ada | {"rule": rule})
    mine = await room.call("GET", f"/wake-rules?agent_key={ada['actor_key']}")
    others = await room.call("GET", "/wake-rules?agent_key=bob/bob")
    rule_id = made[1]["rule"]["id"]
    cancelled = await room.call("POST", f"/wake-rules/{rule_id}/cancel", ada)
    none = await room.call("POST", "/wake-rules/wake_0/cancel", ada)
    bad = await room.call("POST", "/wake-rules", ada | {"rule": {"event": "timer"}})

    assert (made[0], made[1]["created"], again[0], again[1]["created"]) == (201, True, 200, False)
    assert made[1]["rule"]["arguments"] == {"after_ms": 60_000}
    assert [one["id"] for one in mine[1]["active"]] == [rule_id]
    assert (others[1]["active"], others[1]["recent"]) == ([], [])
    assert cancelled[1]["rule"]["status"] == "cancelled"
    assert told(none)[:2] == (404, "unknown_wake_rule")
    assert bad[0] == 400
    assert bad[1]["error"].startswith("arguments")


# --- search ----------------------------------------


async def test_what_was_said_is_searched_page_by_page(room: Room) -> None:
    ada = await room.worker("ada")
    for number in range(3):
        await room.call("POST", "/messages", ada | {"text": f"the lexer {number}"})
    first = await room.call("GET", "/messages/search?words=lexer&author=ada&limit=2")
    second = await room.call("GET", "/messages/search?words=lexer&limit=2&before=msg_2")
    refused = await room.call("GET", "/messages/search?words=a*")

    assert [one["id"] for one in first[1]["hits"]] == ["msg_3", "msg_2"]
    assert set(first[1]["hits"][0]) == {"id", "sender", "timestamp", "thread_root_id", "snippet"}
    assert (first[1]["has_more"], second[1]["has_more"]) == (True, False)
    assert [one["id"] for one in second[1]["hits"]] == ["msg_1"]
    assert refused[0] == 400


async def test_a_thread_is_shown_by_itself_with_its_root(room: Room) -> None:
    ada = await room.worker("ada")
    await room.call("POST", "/messages", ada | {"text": "a plan"})
    await room.call("POST", "/messages", ada | {"text": "something else"})
    for number in range(3):
        reply = {"text": f"step {number}", "thread_root_id": "msg_1"}
        await room.call("POST", "/messages", ada | reply)
    whole = await room.call("GET", "/messages/msg_4/thread")
    newest = await room.call("GET", "/messages/msg_1/thread?limit=2")
    rest = await room.call("GET", "/messages/msg_1/thread?limit=2&before=msg_4")
    over = await room.call("GET", "/messages/msg_1/thread?before=msg_1")
    alone = await room.call("GET", "/messages/msg_2/thread")

    def ids(answered: tuple[int, Plain]) -> list[str]:
        return [one["id"] for one in answered[1]["messages"]]

    assert ids(whole) == ["msg_1", "msg_3", "msg_4", "msg_5"]
    assert (whole[1]["root_message_id"], whole[1]["root"]["text"]) == ("msg_1", "a plan")
    assert (ids(newest), newest[1]["has_more"]) == (["msg_4", "msg_5"], True)
    assert (ids(rest), rest[1]["has_more"]) == (["msg_1", "msg_3"], False)
    assert (ids(over), over[1]["root"]["id"]) == ([], "msg_1")
    assert ids(alone) == ["msg_2"]
    for missing in ("msg_9", "msg_01", "x"):
        gone = await room.call("GET", f"/messages/{missing}/thread")
        assert gone == (404, {"error": "thread not found"})


async def test_a_room_that_is_not_there_has_no_memory(room: Room) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for path in (
        "memory",
        "attention",
        "memory/some_record/history",
        "agent-guidelines",
        "artifacts",
        "events",
        "reasoning-sessions",
        "wake-rules",
        "messages/search?words=x",
        "messages/msg_1/thread",
    ):
        found = await room.http.get(f"/rooms/nowhere/{path}", headers=headers)

        assert (found.status_code, found.json()["code"]) == (404, "ROOM_NOT_FOUND"), path
