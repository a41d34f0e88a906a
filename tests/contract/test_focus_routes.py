"""The routes of focus rooms, as a client sees them that knows nothing of our own additions."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.served import TOKEN
from tests.contract.served_room import BOBS, Plain, Room, opened, told

DETAILS: Plain = {
    "artifact": "https://example.com/pull/3",
    "review_state": "reviewed",
    "blocker_state": "none",
    "parent_task_next": "mark_done",
    "next_owner": None,
}
pytestmark = pytest.mark.anyio


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with opened() as room:
        yield room


async def at(
    room: Room, method: str, path: str, body: object = None, token: str = TOKEN
) -> tuple[int, Plain]:
    """Call a route of any room."""
    shown = {"Authorization": f"Bearer {token}"}
    answer = await room.http.request(method, path, json=body, headers=shown)
    return answer.status_code, answer.json()


async def test_the_room_of_a_task_is_opened_worked_in_and_concluded(room: Room) -> None:
    ada = await room.worker("ada")
    task = await room.claimed(ada)
    opened = await room.call("POST", f"/tasks/{task['id']}/focus-room", ada)
    again = await room.call("POST", f"/tasks/{task['id']}/focus-room", ada)
    focus = opened[1]["focus_room"]

    assert (opened[0], opened[1]["created"], again[0], again[1]["created"]) == (
        201,
        True,
        200,
        False,
    )
    assert again[1]["focus_room"] == focus
    assert focus == focus | {
        "room_id": "focus_1",
        "kind": "focus",
        "display_name": "mend the roof",
        "parent_room_id": "shed",
        "focus_key": "task_1",
        "source_task_id": "task_1",
        "focus_status": "active",
        "focus_parent_visibility": "summary_only",
        "focus_activity_scope": "task_and_branch",
        "focus_github_event_routing": "task_and_branch",
        "focus_settings": {
            "parent_visibility": "summary_only",
            "activity_scope": "task_and_branch",
            "github_event_routing": "task_and_branch",
        },
        "concluded_at": None,
    }
    for name in ("focus_1", "shed/focus/task_1", "shed%2Ffocus%2Ftask_1"):
        status, joined = await at(room, "POST", f"/rooms/{name}/join")
        assert (status, joined["room_id"], joined["role"]) == (200, "focus_1", "admin")
    refused = await room.call("POST", "/focus/task_1/conclude", ada | {"summary": "It holds."})
    assert refused[0] == 400
    said = ada | {"summary": "It holds.", "conclusion_details": DETAILS}
    status, done = await room.call("POST", "/focus/task_1/conclude", said)
    assert (status, done["focus_key"], done["shared"]) == (200, "task_1", True)
    assert "It holds." in done["message"]["text"]
    assert done["focus_room"]["focus_status"] == "concluded"
    assert done["focus_room"]["conclusion_summary"] == "It holds."
    assert done["focus_room"]["conclusion_details"] == DETAILS
    assert await room.call("GET", "/focus/task_1") == (200, done["focus_room"])
    assert (await room.call("GET", "/focus-rooms"))[1] == {
        "room_id": "shed",
        "focus_rooms": [done["focus_room"]],
    }


async def test_what_is_refused_is_refused_in_the_words_of_the_interface(room: Room) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob", BOBS)
    task = await room.claimed(ada)
    path = f"/tasks/{task['id']}/focus-room"

    assert told(await room.call("POST", "/tasks/task_9/focus-room", ada)) == (
        404,
        "unknown_task",
        "Task not found",
    )
    assert told(await room.call("POST", path, bob, token=BOBS))[:2] == (
        409,
        "coordination_wrong_actor",
    )
    assert told(await room.call("POST", "/focus-rooms", ada))[2] == "title is required. Pass title."
    for method, path in (("GET", "/focus/x"), ("POST", "/focus/x/conclude")):
        body = None if method == "GET" else ada | {"summary": "Done."}
        assert told(await room.call(method, path, body)) == (
            404,
            "ROOM_NOT_FOUND",
            "Focus Room not found",
        )
    assert told(await at(room, "POST", "/rooms/focus_9/join")) == (
        404,
        "ROOM_NOT_FOUND",
        "Room not found",
    )


async def test_only_an_admin_of_the_parent_sets_how_it_belongs_there(room: Room) -> None:
    bob = await room.worker("bob", BOBS)
    await room.call("POST", "/focus-rooms", bob | {"title": "An idea"}, token=BOBS)
    silent = {"parent_visibility": "silent", "desktop_human_client": True}
    asked = ("PATCH", "/focus/an-idea/settings", silent)

    assert (await room.call(*asked, token=BOBS))[0] == 403
    status, changed = await room.call(*asked)
    assert (status, changed["focus_settings"]["parent_visibility"]) == (200, "silent")
    wrong = {"parent_visibility": "loud", "desktop_human_client": True}
    assert (await room.call("PATCH", "/focus/an-idea/settings", wrong))[0] == 400
    guidelines = {"guidelines": "Write tests.", "desktop_human_client": True}
    for token, expected in ((BOBS, 403), (TOKEN, 200)):
        path = "/rooms/focus_1/agent-guidelines"
        assert (await at(room, "PUT", path, guidelines, token))[0] == expected
    concluded = await room.call(
        "POST", "/focus/an-idea/conclude", bob | {"summary": "No."}, token=BOBS
    )
    assert (concluded[1]["shared"], concluded[1]["message"]) == (False, None)


@pytest.mark.rule("R27")
async def test_who_says_that_it_calls_from_a_focus_room_may_be_kept_to_it(room: Room) -> None:
    ada = await room.worker("ada")
    task = await room.claimed(ada)
    await room.call("POST", "/focus-rooms", ada | {"title": "An idea"})
    scope = {"activity_scope": "room", "desktop_human_client": True}
    await room.call("PATCH", "/focus/an-idea/settings", scope)
    intent = {"action_type": "task_create", "payload": {"title": "paint it"}}
    on_task = f"/tasks/{task['id']}"
    writes: list[tuple[str, str, Plain]] = [
        ("POST", "/tasks", {"title": "paint it"}),
        ("PATCH", on_task, {"status": "in_progress"}),
        ("POST", f"{on_task}/lease-action", {"action": "release"}),
        ("POST", f"{on_task}/review-lease-action", {"action": "claim"}),
        ("POST", f"{on_task}/focus-room", {}),
        ("POST", "/board-intents", intent),
    ]

    for origin in ("focus_1", "shed/focus/an-idea"):
        within = {"X-LetAgents-Origin-Room-Id": origin}
        for method, path, body in writes:
            answered = await room.call(method, path, ada | body, headers=within)
            assert told(answered)[:2] == (409, "focus_parent_board_read_only"), (path, answered)
    for origin in ("shed", "focus_2", "shed/focus/other", "barn", "x" * 300):
        elsewhere = {"X-LetAgents-Origin-Room-Id": origin}
        change = (
            ada | {"status": "in_progress"}
            if origin == "shed"
            else ada | {"pr_url": "https://x.org/1"}
        )
        assert (await room.call("PATCH", on_task, change, headers=elsewhere))[0] == 200
    person = {"title": "a person's", "desktop_human_client": True}
    within = {"X-LetAgents-Origin-Room-Id": "focus_1"}
    assert (await room.call("POST", "/tasks", person, headers=within))[0] == 201


@pytest.mark.rule("Q33")
async def test_a_focus_room_beside_one_with_a_code_is_for_who_has_the_code(room: Room) -> None:
    _, made = await at(room, "POST", "/projects")
    code = made["code"]
    person = {"title": "An idea", "desktop_human_client": True}
    await at(room, "POST", f"/rooms/{code}/focus-rooms", person)

    async def walk(token: str) -> list[int]:
        calls: list[tuple[str, str, object]] = [
            ("POST", "/rooms/focus_1/join", None),
            ("GET", "/rooms/focus_1/messages", None),
            ("GET", "/rooms/focus_1/messages/msg_1", None),
            ("GET", "/rooms/focus_1/tasks", None),
            ("GET", "/rooms/focus_1/agent-guidelines", None),
            ("POST", "/rooms/focus_1/tasks", person),
        ]
        return [(await at(room, *call, token))[0] for call in calls]

    assert await walk(BOBS) == [404] * 6
    assert (await at(room, "GET", "/rooms", token=BOBS))[1]["rooms"] == []
    status, joined = await at(room, "POST", f"/rooms/{code}/focus/an-idea/join", token=BOBS)
    assert (status, joined["room_id"], joined["role"]) == (200, "focus_1", "participant")
    assert await walk(BOBS) == [200, 200, 404, 200, 200, 201]
    known = (await at(room, "GET", "/rooms", token=BOBS))[1]["rooms"]
    assert {one["room_id"] for one in known} == {code, "focus_1"}


@pytest.mark.rule("K31")
async def test_a_focus_room_has_the_guidelines_of_the_room_beside_it(room: Room) -> None:
    person = {"desktop_human_client": True}
    await room.call("POST", "/focus-rooms", person | {"title": "An idea"})
    await room.call("PUT", "/agent-guidelines", person | {"guidelines": "Write tests."})
    _, inherited = await at(room, "GET", "/rooms/focus_1/agent-guidelines")
    own = person | {"guidelines": "Write prose."}
    await at(room, "PUT", "/rooms/focus_1/agent-guidelines", own)
    _, after = await at(room, "GET", "/rooms/focus_1/agent-guidelines")

    told_of = ("guidelines", "inherited_from_room_id")
    assert [inherited[name] for name in told_of] == ["Write tests.", "shed"]
    assert [after[name] for name in told_of] == ["Write prose.", None]


async def test_nobody_comes_into_a_focus_room_who_is_not_signed_in(room: Room) -> None:
    await room.call("POST", "/focus-rooms", {"title": "An idea", "desktop_human_client": True})
    for path in ("/rooms/focus_1/messages", "/rooms/shed/focus/an-idea", "/rooms/focus_9/tasks"):
        assert (await room.http.get(path)).status_code == 401


async def test_an_agent_comes_in_by_the_locator_and_not_by_the_id(room: Room) -> None:
    shown = {"desktop_human_client": True}
    code = (await at(room, "POST", "/projects", {}))[1]["code"]
    await at(room, "POST", f"/rooms/{code}/focus-rooms", shown | {"title": "An idea"})
    agent = (await at(room, "POST", "/agents", {"name": "oak"}, BOBS))[1]["canonical_key"]
    asked = {"actor_key": agent, "agent_instance_id": "oak"}
    guessed = await at(room, "POST", "/rooms/focus_1/agent-sessions", asked, BOBS)
    by_locator = f"/rooms/{code}/focus/an-idea/agent-sessions"

    status, session = await at(room, "POST", by_locator, asked, BOBS)
    assert guessed[0] == 404
    assert (status, session["room_id"]) == (201, "focus_1")
