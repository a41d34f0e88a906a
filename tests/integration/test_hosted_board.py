"""Boards on servers that know nothing of our own additions, and on some that answer amiss."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import pytest

from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Always, Calls
from letagents.adapters.rooms.hosted.governance import HostedGovernance
from letagents.adapters.rooms.hosted.paths import HostedPaths
from letagents.domain.board import Handoff, Query, Release, Target
from letagents.domain.denials import IntentNotFound, IntentRequired
from letagents.domain.errors import (
    LetAgentsError,
    Malformed,
    NotAvailable,
    OutcomeUnknown,
    RoomsUnavailable,
    SessionEnded,
    UnknownRoom,
)
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.governance import Failover, RuntimeSource
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.intents import Action, Approval, ApprovalToken, create_payload
from letagents.domain.leases import LeaseHeld
from letagents.domain.locks import Locked
from letagents.domain.moves import WrongStatus
from letagents.domain.path_claims import Query as PathQuery
from letagents.domain.tasks import Assignee, Patch, Proposal, Status, UnknownTask
from letagents.domain.verdicts import Verdict, VerdictKind

Plain = dict[str, Any]
Answer = Callable[[httpx.Request], httpx.Response]

ROOM = RoomId("github.com/o/r")
FENCE = Fence(SessionId("agent_session_7"), UNNUMBERED, Token("t" * 43))
MOMENTS = {"created_at": "2030-01-01T00:00:00.000Z", "updated_at": "2030-01-01 00:00:00+00"}
LEASE: Plain = {
    "id": "tl_" + "0f" * 16,
    "room_id": str(ROOM),
    "task_id": "task_3",
    "kind": "work",
    "status": "active",
    "agent_key": "grace/ada",
    "agent_instance_id": "worker_" + "0" * 32,
    "agent_session_id": "agent_session_7",
    "actor_label": "Ada | Grace's agent | Codex",
    "epoch": 0,
    "branch_ref": None,
    "pr_url": None,
    "output_intent": "mend the roof",
    "expires_at": None,
    "last_heartbeat_at": None,
    "revoked_reason": None,
    "created_by": None,
    **MOMENTS,
}
TASK: Plain = {
    "id": "task_3",
    "room_id": str(ROOM),
    "title": "mend the roof",
    "description": None,
    "status": "assigned",
    "assignee": "Ada | Grace's agent | Codex",
    "assignee_agent_key": "grace/ada",
    "created_by": "Grace",
    "source_message_id": None,
    "pr_url": None,
    "workflow_artifacts": [],
    "workflow_refs": [],
    "stale_prompt_state": {"is_stale": False},
    "active_leases": [LEASE],
    "active_locks": [],
    **MOMENTS,
}
INTENT: Plain = {
    "id": "bi_" + "0f" * 16,
    "room_id": str(ROOM),
    "task_id": None,
    "action_type": "task_create",
    "payload": dict(create_payload("mend the roof")),
    "payload_hash": "x",
    "status": "pending",
    "proposer_actor_label": "Ada | Grace's agent | Codex",
    "proposer_actor_key": "grace/ada",
    "proposer_agent_session_id": "agent_session_7",
    "expires_at": "2030-01-02T00:00:00.000Z",
    **MOMENTS,
}
MANAGER: Plain = {
    "id": "bm_" + "0f" * 16,
    "agent_session_id": "agent_session_7",
    "agent_key": "grace/ada",
    "actor_label": "Ada | Grace's agent | Codex",
    "runtime_source": "external",
    "status": "active",
    **MOMENTS,
}

pytestmark = pytest.mark.anyio


class Server:
    """Answers each path with what it is told, and notes what it was sent."""

    def __init__(self, answers: dict[str, tuple[int, object]]) -> None:
        self.answers = answers
        self.sent: list[tuple[str, Plain, httpx.Headers]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        called = f"{request.method} {request.url.path.removeprefix('/rooms/github.com/o/r')}"
        body = orjson.loads(request.content) if request.content else {}
        self.sent.append((called, body, request.headers))
        status, answer = self.answers.get(called, (404, {"error": f"Cannot {called}"}))
        if isinstance(answer, bytes):
            return httpx.Response(status, content=answer)
        return httpx.Response(status, json=answer)

    @asynccontextmanager
    async def calls(self) -> AsyncIterator[Calls]:
        """Yield what calls it."""
        transport = httpx.MockTransport(self)
        async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as http:
            yield Calls(http, lambda: "an owner's token")


async def test_a_board_is_read_and_a_lease_shown_back_under_its_own_name() -> None:
    moved = {"action": "release", "task": TASK, "released_lease": LEASE, "new_lease": None}
    server = Server(
        {
            "GET /tasks": (200, {"room_id": str(ROOM), "tasks": [TASK], "has_more": True}),
            "POST /tasks/task_3/lease-action": (200, moved),
        }
    )
    async with server.calls() as calls:
        board = HostedBoard(calls)
        page = await board.tasks(ROOM, Query(), FENCE)
        lease = page.tasks[0].leases[0].lease
        await board.lease_action(ROOM, "task_3", Release(lease_id=lease.lease_id), FENCE)

    called, body, _ = server.sent[-1]
    assert (page.more, page.locks) == (True, ())
    assert body["lease_id"] == LEASE["id"]
    assert (body["agent_session_id"], body["agent_session_token"]) == ("agent_session_7", "t" * 43)
    assert server.sent[0][2]["X-LetAgents-Agent-Session-Token"] == "t" * 43
    assert "agent_session_token" not in called


async def test_what_is_asked_is_what_the_interface_asks_for() -> None:
    server = Server(
        {
            "POST /tasks": (200, TASK | {"idempotent": True}),
            "PATCH /tasks/task_3": (200, TASK),
            "POST /board-managers": (201, {"manager": MANAGER}),
        }
    )
    token = ApprovalToken("a" * 43)
    claim = Patch(status=Status.ASSIGNED, assignee=Assignee("Ada", "grace/ada"))
    async with server.calls() as calls:
        board, governance = HostedBoard(calls), HostedGovernance(calls)
        made = await board.propose(ROOM, Proposal(title="mend the roof"), FENCE)
        await board.change(ROOM, "task_3", claim, FENCE, approval=Approval(None, token))
        await board.change(ROOM, "task_3", Patch(status=Status.ACCEPTED))
        await governance.assign_manager(ROOM, FENCE.session_id, RuntimeSource.EXTERNAL, fence=FENCE)

    claimed, accepted, assigned = (body for _, body, _ in server.sent[1:])
    credentials = {"agent_session_id": "agent_session_7", "agent_session_token": "t" * 43}
    assert not made.is_new
    assert claimed == {
        "status": "assigned",
        "assignee": "Ada",
        "assignee_agent_key": "grace/ada",
        "assignee_agent_instance_id": None,
        "assignee_agent_session_id": None,
        "board_intent_id": None,
        "board_approval_token": "a" * 43,
        **credentials,
    }
    assert accepted == {"status": "accepted", "desktop_human_client": True}
    assert assigned == {"agent_session_id": "agent_session_7", "runtime_source": "external"}
    assert server.sent[-1][2]["X-LetAgents-Agent-Session-Id"] == "agent_session_7"


async def test_what_a_server_lacks_is_said_to_be_lacking() -> None:
    async with Server({}).calls() as calls:
        board, paths = HostedBoard(calls), HostedPaths(calls)
        for asked in (
            board.history(ROOM, "task_3"),
            board.lock(ROOM, None),
            board.unlock(ROOM, "lock_1"),
            paths.claims(ROOM, PathQuery()),
            paths.release(ROOM, "task_3", fence=FENCE),
            HostedGovernance(calls).candidates(ROOM),
        ):
            with pytest.raises(NotAvailable):
                await asked


async def test_an_intent_is_found_in_the_list_of_a_server_that_shows_none_alone() -> None:
    server = Server({"GET /board-intents": (200, {"room_id": str(ROOM), "intents": [INTENT]})})
    async with server.calls() as calls:
        governance = HostedGovernance(calls)
        found = await governance.intent(ROOM, str(INTENT["id"]), FENCE)

        assert found.intent_id == INTENT["id"]
        with pytest.raises(IntentNotFound):
            await governance.intent(ROOM, "bi_none", FENCE)


async def test_an_intent_is_asked_for_and_decided() -> None:
    approved = INTENT | {"status": "used", "task_id": "task_3"}
    result = {"kind": "task_created", "task": TASK}
    told = {"delivered": True, "message_id": "msg_7"}
    path = f"/board-intents/{INTENT['id']}"
    server = Server(
        {
            "POST /board-intents": (
                201,
                {"intent": INTENT, "manager_notification": {"delivered": False}},
            ),
            f"POST {path}/approve": (
                200,
                {"intent": approved, "result": result, "proposer_notification": told},
            ),
            f"POST {path}/deny": (200, {"intent": INTENT | {"status": "denied"}}),
            "GET /board-settings": (
                200,
                {
                    "settings": {"manager_mode": "manager_optional"},
                    "active_manager": MANAGER,
                    "pending_intent_count": 2,
                },
            ),
        }
    )
    payload = create_payload("mend the roof")
    async with server.calls() as calls:
        governance = HostedGovernance(calls)
        asked = await governance.propose(ROOM, Action.TASK_CREATE, payload, fence=FENCE)
        decided = await governance.approve(ROOM, asked.intent.intent_id)
        denied = await governance.deny(ROOM, asked.intent.intent_id, "no")
        governed = await governance.governed(ROOM)

    assert (asked.is_needed, asked.notice.to, asked.notice.message_id) == (True, None, None)
    assert decided.task is not None
    assert (decided.task.task_id, decided.token) == ("task_3", None)
    assert str(decided.notice.message_id) == "msg_7"
    assert denied.intent.status.value == "denied"
    assert governed.manager is not None
    assert (governed.manager.manager_id, governed.pending) == (MANAGER["id"], 2)
    assert governed.settings.manager_failover is Failover.AUTO


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (409, {"error": "Ada has it.", "code": "coordination_wrong_actor"}, LeaseHeld),
        (409, {"error": "stop", "code": "coordination_active_lock"}, Locked),
        (409, {"error": "x", "code": "coordination_invalid_task_status"}, WrongStatus),
        (409, {"error": "approve first", "code": "board_intent_required"}, IntentRequired),
        (409, {"error": "Only the assigned agent can move this task to blocked"}, LetAgentsError),
        (404, {"error": "Task not found"}, UnknownTask),
        (404, {"error": "Room not found", "code": "ROOM_NOT_FOUND"}, UnknownRoom),
        (400, {"error": "Invalid transition: done → blocked. Allowed: accepted"}, Malformed),
        (503, {"error": "busy"}, RoomsUnavailable),
        (200, {"id": "task_3"}, OutcomeUnknown),
        (200, b"{", OutcomeUnknown),
        (500, {"error": "Task update failed"}, OutcomeUnknown),
        (502, b"<html>", OutcomeUnknown),
    ],
)
async def test_a_refusal_is_told_by_its_code(
    status: int, body: object, error: type[LetAgentsError]
) -> None:
    async with Server({"PATCH /tasks/task_3": (status, body)}).calls() as calls:
        with pytest.raises(error) as refused:
            await HostedBoard(calls).change(ROOM, "task_3", Patch(status=Status.BLOCKED), FENCE)
    if isinstance(body, dict) and "error" in body and status == 409:
        assert str(body["error"]) in refused.value.happened


async def test_a_refusal_of_who_is_named_in_the_headers_signs_nobody_out() -> None:
    class Remembers(Always):
        async def refused(self, token: str) -> None:
            signed_out.append(token)

        async def session_ended(self, session_id: SessionId, token: Token) -> None:
            ended.append(session_id)

    signed_out: list[str] = []
    ended: list[SessionId] = []
    told = {"error": "This agent session has ended. Register again."}
    transport = httpx.MockTransport(Server({"POST /board-managers": (401, told)}))
    async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as http:
        governance = HostedGovernance(Calls(http, Remembers(lambda: "a token")))
        with pytest.raises(SessionEnded):
            await governance.assign_manager(ROOM, SessionId("agent_session_8"), fence=FENCE)

    assert (signed_out, ended) == ([], [FENCE.session_id])


async def test_a_lost_answer_is_unknown_and_an_unsent_call_is_not() -> None:
    def lost(_request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late")

    def unsent(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    said = Verdict(kind=VerdictKind.APPROVE, head_sha="0" * 40, key="k")
    for answer, error in ((lost, OutcomeUnknown), (unsent, RoomsUnavailable)):
        transport = httpx.MockTransport(answer)
        async with httpx.AsyncClient(transport=transport, base_url="http://rooms.test") as http:
            board = HostedBoard(Calls(http, lambda: None))
            target = Target(agent_key="grace/bob")
            with pytest.raises(error):
                await board.verdict(ROOM, "task_3", said, FENCE)
            with pytest.raises(error):
                await board.lease_action(ROOM, "task_3", Handoff(target=target), FENCE)
            with pytest.raises(RoomsUnavailable):
                await board.tasks(ROOM, Query(), FENCE)
