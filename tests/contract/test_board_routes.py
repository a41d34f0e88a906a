"""The routes of a board, as a client sees them that knows nothing of our own additions."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.contract.served import TOKEN
from tests.contract.served_room import BOBS, Plain, Room, opened, told

SHA = "0123456789" * 4


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with opened() as room:
        await room.call("POST", "/join", token=BOBS)
        yield room


pytestmark = pytest.mark.anyio


# --- tasks ----------------------------------------


async def test_a_task_is_put_on_the_board_read_and_listed(room: Room) -> None:
    ada = await room.worker("ada")
    asked = {"title": "mend the roof", "description": "It leaks.", "client_task_id": "k"}
    made = await room.call("POST", "/tasks", ada | asked)
    again = await room.call("POST", "/tasks", ada | asked)
    one = await room.call("GET", "/tasks/task_1")
    every = await room.call("GET", "/tasks")

    assert made[0] == 201
    assert (made[1]["status"], made[1]["created_by"]) == ("proposed", ada["actor_label"])
    assert (again[0], again[1]["idempotent"], again[1]["id"]) == (200, True, "task_1")
    assert one == (200, made[1])
    assert every[1]["tasks"] == [made[1]]
    assert (every[1]["room_id"], every[1]["has_more"]) == ("shed", False)


async def test_a_board_is_listed_by_status_openness_and_page(room: Room) -> None:
    for number in range(3):
        await room.task(f"task {number}")
    person = {"desktop_human_client": True}
    await room.call("PATCH", "/tasks/task_2", person | {"status": "cancelled"})

    async def listed(query: str) -> tuple[list[str], bool]:
        _, page = await room.call("GET", f"/tasks?{query}")
        return [task["id"] for task in page["tasks"]], page["has_more"]

    assert await listed("") == (["task_1", "task_2", "task_3"], False)
    assert await listed("open=true&status=cancelled") == (["task_1", "task_3"], False)
    assert await listed("status=cancelled") == (["task_2"], False)
    assert await listed("limit=1") == (["task_1"], True)
    assert await listed("limit=1&after=task_1") == (["task_2"], True)
    status, refused = await room.call("GET", "/tasks?status=gone")
    assert (status, refused["code"]) == (400, "malformed")


async def test_an_older_client_claims_works_and_completes(room: Room) -> None:
    ada = await room.worker("ada")
    claimed = await room.claimed(ada)
    (lease,) = claimed["active_leases"]
    done = {"status": "in_review", "pr_url": "https://github.com/o/r/pull/7"}
    status, completed = await room.call("PATCH", f"/tasks/{claimed['id']}", ada | done)

    assert (claimed["status"], claimed["assignee"]) == ("assigned", ada["actor_label"])
    assert claimed["assignee_agent_key"] == ada["actor_key"]
    assert (lease["kind"], lease["status"], lease["epoch"]) == ("work", "active", 1)
    assert (lease["output_intent"], lease["task_id"]) == ("mend the roof", claimed["id"])
    assert (status, completed["status"]) == (200, "in_review")
    assert completed["pr_url"] == "https://github.com/o/r/pull/7"


async def test_who_may_not_change_a_task_is_told_so_in_the_words_of_the_interface(
    room: Room,
) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob")
    path = f"/tasks/{(await room.claimed(ada))['id']}"

    async def refused(body: Plain, **more: Any) -> tuple[int, object, object]:
        return told(await room.call("PATCH", path, body, **more))

    moving = {"status": "in_progress"}
    assert await refused(moving) == (
        403,
        "worker_session_required",
        "Registered worker session is required for agent write actions.",
    )
    half = {"agent_session_id": ada["agent_session_id"]}
    assert (await refused(half | moving))[0] == 403
    wrong = ada | {"agent_session_token": "x" * 43}
    assert (await refused(wrong | moving))[2] == "Invalid agent session credentials."
    others = await refused(ada | moving, token=BOBS)
    assert others[0::2] == (401, "Invalid agent session credentials.")
    assert (await refused(ada | moving, token=None))[0] == 401
    assert (await refused(bob | moving))[:2] == (409, "coordination_ownership")
    assert (await refused(bob | {"pr_url": "https://x/1"}))[:2] == (409, "coordination_wrong_actor")
    assert (await refused(ada | {"pr_url": "https://x/1", "epoch": 7}))[:2] == (
        409,
        "coordination_lease_fence_stale",
    )
    status, _, text = await refused(ada | {"status": "blocked"})
    assert status == 400
    assert str(text) == (
        "Invalid transition: assigned → blocked. Allowed: in_progress, in_review, cancelled."
    )


async def test_what_is_not_there_is_said_to_be_missing(room: Room) -> None:
    ada = await room.worker("ada")

    assert told(await room.call("GET", "/tasks/task_9"))[0::2] == (404, "Task not found")
    assert told(await room.call("PATCH", "/tasks/x", ada | {"status": "done"}))[0] == 404
    answer = await room.http.get("/rooms/other/tasks", headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.json()["code"]) == (404, "ROOM_NOT_FOUND")
    assert answer.json()["error"] == "Room not found"


@pytest.mark.parametrize(
    "body",
    [
        {"title": 7},
        {"title": " "},
        {"title": "x", "description": {}},
        {"title": "x", "source_message_id": "7"},
        {"title": "x" * 301},
        {"title": "x", "board_intent_id": 7},
        {"title": "x", "board_approval_token": "short"},
    ],
)
async def test_a_task_of_a_wrong_form_is_refused_and_nothing_is_kept(
    room: Room, body: Plain
) -> None:
    ada = await room.worker("ada")
    status, refused = await room.call("POST", "/tasks", ada | body)

    assert status == 400, refused
    assert (await room.call("GET", "/tasks"))[1]["tasks"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"status": "gone"},
        {"status": 7},
        {"status": "in_progress", "epoch": "1"},
        {"status": "in_progress", "epoch": 1.5},
        {"status": "in_progress", "epoch": True},
        {"workflow_artifacts": "x"},
        {"workflow_artifacts": [7]},
        {"workflow_artifacts": [{"provider": "github"}]},
        {"workflow_artifacts": [{"provider": "forge", "kind": "issue"}]},
        {"pr_url": "javascript:alert(1)"},
        {"where": "accepted"},
        {"where": [7]},
        {"assignee": 7},
        {"assignee": "x" * 513},
        {"assignee": "Ada", "assignee_agent_key": "x" * 513},
        {"assignee": "Ada", "assignee_agent_session_id": "no session"},
    ],
)
async def test_a_change_of_a_wrong_form_is_refused_and_nothing_is_changed(
    room: Room, body: Plain
) -> None:
    ada = await room.worker("ada")
    path = f"/tasks/{(await room.claimed(ada))['id']}"
    before = await room.call("GET", path)
    status, refused = await room.call("PATCH", path, ada | body)

    assert status == 400, refused
    assert await room.call("GET", path) == before


# --- leases, reviews, locks ----------------------------------------


async def test_a_lease_is_released_and_handed_over(room: Room) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob")
    path = f"/tasks/{(await room.claimed(ada))['id']}/lease-action"
    handing = {"action": "handoff", "target_actor_key": bob["actor_key"]}

    assert told(await room.call("POST", path, ada | {"action": "x"}))[0] == 400
    unknown = handing | {"target_actor_key": "nobody/here"}
    assert told(await room.call("POST", path, ada | unknown))[0] == 404
    stale = handing | {"lease_id": "work_lease_9"}
    assert told(await room.call("POST", path, ada | stale))[:2] == (
        409,
        "coordination_stale_lease_reference",
    )
    status, handed = await room.call("POST", path, ada | handing)
    assert (status, handed["action"], handed["room_id"]) == (200, "handoff", "shed")
    assert handed["released_lease"]["status"] == "released"
    assert handed["new_lease"]["agent_key"] == bob["actor_key"]
    assert handed["task"]["assignee"] == bob["actor_label"]
    status, freed = await room.call("POST", path, bob | {"action": "release"})
    assert (freed["task"]["status"], freed["new_lease"]) == ("accepted", None)
    missing = await room.call("POST", path, bob | {"action": "release"})
    assert told(missing)[:2] == (409, "coordination_missing_lease")


async def test_a_review_is_claimed_said_and_let_go(room: Room) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob")
    task = f"/tasks/{(await room.claimed(ada))['id']}"
    path = f"{task}/review-lease-action"
    claim, release = {"action": "claim"}, {"action": "release"}

    early = await room.call("POST", path, bob | claim)
    assert told(early)[:2] == (409, "coordination_invalid_task_status")
    await room.call("PATCH", task, ada | {"status": "in_review"})
    own = await room.call("POST", path, ada | claim)
    assert told(own)[:2] == (409, "coordination_work_lease_holder")
    nothing = await room.call("POST", path, bob | release)
    assert told(nothing)[0::2] == (404, "Active review lease not found")
    status, claimed = await room.call("POST", path, bob | claim)
    assert (status, claimed["lease"]["kind"], claimed["action"]) == (200, "review", "claim")
    others = await room.call("POST", path, ada | release)
    assert told(others)[:2] == (403, "coordination_review_lease_forbidden")
    said = {
        "verdict": "approve",
        "body": "Good.",
        "idempotency_key": "k",
        "expected_head_sha": SHA,
    }
    refused = await room.call("POST", f"{task}/review-verdict", ada | said)
    assert told(refused)[:2] == (409, "coordination_review_lease_required")
    short = await room.call(
        "POST", f"{task}/review-verdict", bob | said | {"expected_head_sha": "1"}
    )
    assert told(short)[:2] == (400, "workflow_effect_invalid_head_sha")
    status, kept = await room.call("POST", f"{task}/review-verdict", bob | said)
    assert (status, kept["effect"]["state"], kept["task_id"]) == (200, "succeeded", "task_1")
    status, released = await room.call("POST", path, bob | release)
    assert released["released_lease"]["status"] == "released"


async def test_a_lock_is_put_on_and_taken_off(room: Room) -> None:
    ada = await room.worker("ada")
    task = f"/tasks/{(await room.claimed(ada))['id']}"
    person = {"desktop_human_client": True}
    status, locked = await room.call("POST", "/locks", person | {"task_id": "task_1"})
    refused = await room.call("PATCH", task, ada | {"status": "in_progress"})
    gone = await room.call("DELETE", f"/locks/{locked['lock']['id']}", person)
    missing = await room.call("DELETE", "/locks/lock_9", person)

    assert (status, locked["lock"]["scope"], locked["lock"]["reason"]) == (
        201,
        "task",
        "human_stop",
    )
    assert told(refused)[:2] == (409, "coordination_active_lock")
    assert (gone[0], gone[1]["lock"]["cleared_by"]) == (200, "Ada")
    assert missing[0] == 404
    assert (await room.call("POST", "/locks", person | {"reason": "x"}))[0] == 400


async def test_what_happened_to_a_task_is_read_page_by_page(room: Room) -> None:
    ada = await room.worker("ada")
    await room.claimed(ada)
    first = (await room.call("GET", "/tasks/task_1/history?limit=1"))[1]
    rest = (await room.call("GET", f"/tasks/task_1/history?after={first['events'][0]['number']}"))[
        1
    ]

    assert [one["event_type"] for one in first["events"]] == ["task_admit"]
    assert first["has_more"] is True
    assert [one["event_type"] for one in rest["events"]] == ["task_claim"]


# --- approvals ----------------------------------------


async def test_only_an_admin_of_the_room_says_how_its_board_is_governed(room: Room) -> None:
    asked = {"manager_mode": "intent_required"}
    refused = await room.call("PATCH", "/board-settings", asked, token=BOBS)
    nobody = await room.call("PATCH", "/board-settings", asked, token=None)
    wrong = await room.call("PATCH", "/board-settings", {"manager_mode": "x"})
    status, changed = await room.call("PATCH", "/board-settings", asked)
    governed = (await room.call("GET", "/board-settings", token=BOBS))[1]

    assert told(refused) == (403, "admin_required", "Admin privileges required")
    assert nobody[0] == 401
    assert wrong[0] == 400
    assert (status, changed["settings"]["manager_mode"]) == (200, "intent_required")
    assert governed["settings"] == changed["settings"]
    assert (governed["active_manager"], governed["pending_intent_count"]) == (None, 0)


async def test_a_manager_is_the_session_that_the_body_names(room: Room) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob")
    shown = {
        "X-LetAgents-Agent-Session-Id": ada["agent_session_id"],
        "X-LetAgents-Agent-Session-Token": ada["agent_session_token"],
    }
    target = {"agent_session_id": bob["agent_session_id"], "runtime_source": "external"}
    status, made = await room.call("POST", "/board-managers", target, headers=shown)
    missing = await room.call("POST", "/board-managers", {"agent_session_id": "nobody"})
    none = await room.call("POST", "/board-managers", {})
    overview = (await room.call("GET", "/board-governance"))[1]
    gone = await room.call("DELETE", "/board-managers/active", {"reason": "lunch"})
    again = await room.call("DELETE", "/board-managers/active", {})

    assert (status, made["manager"]["agent_key"]) == (201, bob["actor_key"])
    assert made["manager"]["assigned_by"] == ada["actor_label"]
    assert told(missing)[0::2] == (404, "Active agent session not found")
    assert none[0] == 400
    assert {one["agent_key"] for one in overview["candidates"]} == {
        ada["actor_key"],
        bob["actor_key"],
    }
    assert overview["capabilities"]["can_decide_intents"] is True
    assert (gone[1]["manager"]["status"], again[1]["manager"]) == ("released", None)


async def test_an_intent_is_asked_for_decided_and_used(room: Room) -> None:
    ada = await room.worker("ada")
    task = await room.task()
    await room.call("PATCH", "/board-settings", {"manager_mode": "intent_required"})
    claim = {
        "status": "assigned",
        "assignee": ada["actor_label"],
        "assignee_agent_key": ada["actor_key"],
    }
    refused = await room.call("PATCH", f"/tasks/{task['id']}", ada | claim)
    payload = claim | {"task_id": task["id"]}
    asking = ada | {"action_type": "task_claim", "payload": payload, "task_id": task["id"]}
    status, asked = await room.call("POST", "/board-intents", asking)
    intent = asked["intent"]
    listed = (await room.call("GET", "/board-intents?status=pending"))[1]
    decide = f"/board-intents/{intent['id']}/approve"
    forbidden = await room.call("POST", decide, ada)
    missing = await room.call("POST", "/board-intents/intent_9/deny", {})
    status_of_approval, approved = await room.call("POST", decide, {"reason": "go on"})
    again = (await room.call("POST", decide, {}))[1]
    token = {"board_approval_token": approved["approval_token"]}
    used = await room.call("PATCH", f"/tasks/{task['id']}", ada | claim | token)

    assert told(refused)[:2] == (409, "board_intent_required")
    assert (status, intent["status"], intent["proposer_actor_key"]) == (
        201,
        "pending",
        ada["actor_key"],
    )
    assert asked["manager_notification"]["delivered"] is False
    assert listed["intents"] == [intent]
    assert told(forbidden)[0::2] == (
        403,
        "Only the active Board Manager can decide board intents with worker credentials.",
    )
    assert told(missing)[0::2] == (404, "Pending board intent not found")
    assert (status_of_approval, approved["result"]) == (
        200,
        {"kind": "approval_token", "requires_follow_up": True},
    )
    assert approved["proposer_notification"]["delivered"] is True
    assert "approval_token" not in again
    assert again["result"] == {"kind": "approval_recorded", "requires_follow_up": True}
    assert (used[0], used[1]["status"]) == (200, "assigned")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"action_type": "x", "payload": {}}, "action_type"),
        ({"action_type": "task_create", "payload": []}, "payload must be an object"),
        ({"action_type": "task_create", "payload": {}}, "task_create payload must include a title"),
        (
            {"action_type": "task_claim", "payload": {"task_id": "task_1", "x": "y"}},
            "no such field",
        ),
    ],
)
async def test_an_intent_of_a_wrong_form_is_refused(room: Room, body: Plain, said: str) -> None:
    status, _, text = told(await room.call("POST", "/board-intents", body))

    assert status == 400
    assert said in str(text)


async def test_approving_a_new_task_puts_it_on_the_board(room: Room) -> None:
    ada = await room.worker("ada")
    asking = {"action_type": "task_create", "payload": {"title": "mend the roof"}}
    _, asked = await room.call("POST", "/board-intents", ada | asking)
    status, approved = await room.call(
        "POST", f"/board-intents/{asked['intent']['id']}/approve", {}
    )

    assert (status, approved["result"]["kind"]) == (200, "task_created")
    assert approved["result"]["task"]["created_by"] == ada["actor_label"]
    assert "approval_token" not in approved
    assert (await room.call("GET", "/tasks/task_1"))[1]["status"] == "proposed"


async def test_paths_are_claimed_listed_and_released(room: Room) -> None:
    ada, bob = await room.worker("ada"), await room.worker("bob")
    hers, his = await room.claimed(ada), await room.claimed(bob, "paint the door")
    wanted = {"patterns": ["src/"], "repository": "github.com/o/r"}
    claim = wanted | {"task_id": hers["id"]}
    status, made = await room.call("POST", "/path-claims", ada | claim)
    again = await room.call("POST", "/path-claims", ada | claim)
    held = await room.call("POST", "/path-claims", bob | wanted | {"task_id": his["id"]})
    nobody = await room.call("POST", "/path-claims", claim)
    listed = (await room.call("GET", "/path-claims?path=src/app.py"))[1]
    unknown = {"task_id": hers["id"], "claim_id": "paths_lease_9"}
    missing = await room.call("DELETE", "/path-claims", ada | unknown)
    gone = await room.call("DELETE", "/path-claims", ada | {"task_id": hers["id"]})
    malformed: list[Plain] = [
        {"patterns": []},
        {"repository": "x" * 1025},
        {"root": "x" * 4097},
        {"mode": "x"},
    ]
    wrong = [(await room.call("POST", "/path-claims", ada | claim | one))[0] for one in malformed]

    assert (status, made["is_new"], again[0], again[1]["is_new"]) == (201, True, 200, False)
    assert told(held)[:2] == (409, "paths_held")
    assert nobody[0] == 403
    assert [one["id"] for one in listed["claims"]] == [made["claim"]["id"]]
    assert missing[0] == 404
    assert [one["status"] for one in gone[1]["claims"]] == ["released"]
    assert wrong == [400] * 4
