"""What the tools of the board do. Loaded when the first of them is called."""

from typing import Any

import attrs

from letagents.domain import identity, tasks
from letagents.domain.board import (
    Handoff,
    LeaseMoved,
    Query,
    Release,
    ReviewClaim,
    Target,
    TaskView,
)
from letagents.domain.intents import Approval, ApprovalToken
from letagents.domain.leases import Lease
from letagents.domain.sessions import Connection
from letagents.domain.tasks import (
    Artifact,
    ArtifactKind,
    Assignee,
    Patch,
    Proposal,
    Provider,
    Status,
)
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import (
    claim,
    epoch_of,
    message_of,
    named,
    naming,
    text_of,
)
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import board, bounds, public

Result = dict[str, object]

DETAIL = (
    "Rows are short. get_board(task_id=...) shows one task whole; get_board(after=next_after) goes "
    "on."
)
RECORDED = (
    "Recorded in this room, which told the agent on the task. Local rooms publish nothing: say it "
    "on the pull request yourself if it is to stand there."
)


async def add_task(visit: Visit, arguments: Arguments) -> Result:
    proposal = Proposal(
        title=str(arguments["title"]),
        description=text_of(arguments, "description"),
        source_message=message_of(text_of(arguments, "source_message_id"), "source_message_id"),
        client_task_id=text_of(arguments, "client_task_id"),
    )
    by = await _worker(visit, arguments)
    made = await visit.client.board.propose(by, proposal, _approval(arguments))
    return _shown(visit, by, made.view) | ({} if made.is_new else {"idempotent": True})


async def get_board(visit: Visit, arguments: Arguments) -> Result:
    room_id, viewer = await visit.client.callers.viewing(
        claim(arguments), visit.client.places.current_id
    )
    if (task_id := text_of(arguments, "task_id")) is not None:
        with naming("room_id"):
            view = await visit.client.board.task(room_id, tasks.task_id_of(task_id), viewer)
        offset = arguments.get("description_offset")
        begins = offset if isinstance(offset, int) else 0
        return {"success": True, "tasks": [board.task(view, room_id, described_from=begins)]}
    query = _query(arguments)
    with naming("room_id"):
        page = await visit.client.board.tasks(room_id, query, viewer)
    kept = bounds.bounded([board.row(one) for one in page.tasks], board.ROWS_LIMIT)
    result: Result = {
        "success": True,
        "room_id": str(room_id),
        "tasks": kept.items,
        "artifact_detail_instruction": DETAIL,
    }
    if page.more or kept.omitted:
        result |= {"has_more": True, "next_after": kept.items[-1]["id"]}
    return result


def _query(arguments: Arguments) -> Query:
    given, after = arguments.get("status"), text_of(arguments, "after")
    return Query(
        status=Status(str(given)) if given else None,
        open_only=arguments.get("open_only") is not False,
        after=int(tasks.task_id_of(after, "after").removeprefix("task_")) if after else 0,
    )


async def claim_task(visit: Visit, arguments: Arguments) -> Result:
    return await _change(visit, arguments, Patch(status=Status.ASSIGNED))


async def update_task(visit: Visit, arguments: Arguments) -> Result:
    given = arguments.get("status")
    label = text_of(arguments, "assignee")
    patch = Patch(
        status=Status(str(given)) if given else None,
        assignee=Assignee(label) if label else None,
        pr_url=_text_as_given(arguments, "pr_url"),
        artifacts=_artifacts(arguments.get("workflow_artifacts")),
    )
    return await _change(visit, arguments, patch)


async def complete_task(visit: Visit, arguments: Arguments) -> Result:
    patch = Patch(status=Status.IN_REVIEW, pr_url=text_of(arguments, "pr_url"))
    return await _change(visit, arguments, patch)


async def _change(visit: Visit, arguments: Arguments, patch: Patch) -> Result:
    task_id = tasks.task_id_of(arguments["task_id"])
    by = await _worker(visit, arguments)
    if patch.status is Status.ASSIGNED and patch.assignee is None:
        patch = attrs.evolve(patch, assignee=Assignee.of(by.session))
    view = await visit.client.board.change(
        by, task_id, patch, approval=_approval(arguments), epoch=epoch_of(arguments)
    )
    await visit.client.presence.moved(by, view.task)
    return _shown(visit, by, view)


async def claim_task_review(visit: Visit, arguments: Arguments) -> Result:
    action = ReviewClaim(reason=tasks.reason_of(arguments.get("reason")))
    by, moved = await _review(visit, arguments, action)
    return _moved(visit, by, moved, "claim") | {"lease": _lease(moved.lease, by)}


async def release_task_review(visit: Visit, arguments: Arguments) -> Result:
    by, moved = await _review(visit, arguments, _release(arguments))
    return _moved(visit, by, moved, "release") | {"released_lease": _lease(moved.ended, by)}


async def _review(
    visit: Visit, arguments: Arguments, action: ReviewClaim | Release
) -> tuple[Connection, LeaseMoved]:
    task_id = tasks.task_id_of(arguments["task_id"])
    by = await _worker(visit, arguments)
    return by, await visit.client.board.review_action(by, task_id, action)


async def release_task_lease(visit: Visit, arguments: Arguments) -> Result:
    by, moved = await _lease_action(visit, arguments, _release(arguments))
    return _moved(visit, by, moved, "release") | {"released_lease": _lease(moved.ended, by)}


async def handoff_task_lease(visit: Visit, arguments: Arguments) -> Result:
    target = Target(
        agent_key=str(arguments["target_agent_key"]).strip(),
        instance_id=text_of(arguments, "target_actor_instance_id"),
        session_id=text_of(arguments, "target_agent_session_id"),
    )
    action = Handoff(
        target=target,
        lease_id=text_of(arguments, "lease_id"),
        epoch=epoch_of(arguments),
        reason=tasks.reason_of(arguments.get("reason")),
    )
    by, moved = await _lease_action(visit, arguments, action)
    leases = {"released_lease": _lease(moved.ended, by), "new_lease": _lease(moved.lease, by)}
    return _moved(visit, by, moved, "handoff") | leases


async def _lease_action(
    visit: Visit, arguments: Arguments, action: Release | Handoff
) -> tuple[Connection, LeaseMoved]:
    task_id = tasks.task_id_of(arguments["task_id"])
    approval = _approval(arguments)
    by = await _worker(visit, arguments)
    return by, await visit.client.board.lease_action(by, task_id, action, approval)


async def submit_review_verdict(visit: Visit, arguments: Arguments) -> Result:
    verdict = Verdict(
        kind=VerdictKind(str(arguments["verdict"])),
        body=text_of(arguments, "body") or "",
        head_sha=str(arguments["expected_head_sha"]),
        key=str(arguments["idempotency_key"]),
    )
    task_id = tasks.task_id_of(arguments["task_id"])
    by = await _worker(visit, arguments)
    record = await visit.client.board.verdict(by, task_id, verdict, epoch=epoch_of(arguments))
    return {
        "success": True,
        "room_id": str(by.session.room_id),
        "task_id": record.task_id,
        "effect": board.effect(record),
        "message": RECORDED,
        "agent_identity": _identity(visit, by),
    }


def _release(arguments: Arguments) -> Release:
    return Release(
        lease_id=text_of(arguments, "lease_id"),
        epoch=epoch_of(arguments),
        reason=tasks.reason_of(arguments.get("reason")),
    )


def _approval(arguments: Arguments) -> Approval | None:
    intent_id = text_of(arguments, "board_intent_id")
    token = text_of(arguments, "board_approval_token")
    if intent_id is None and token is None:
        return None
    shown = named("board_approval_token", ApprovalToken, token) if token else None
    return Approval(intent_id, shown)


def _artifacts(given: object) -> tuple[Artifact, ...] | None:
    if not isinstance(given, list | tuple):
        return None
    return tuple(_artifact(one) for one in given)


def _artifact(given: dict[str, Any]) -> Artifact:
    rest = {name: value for name, value in given.items() if name not in ("provider", "kind")}
    return Artifact(provider=Provider(given["provider"]), kind=ArtifactKind(given["kind"]), **rest)


def _text_as_given(arguments: Arguments, name: str) -> str | None:
    value = arguments.get(name)
    return None if value is None else str(value).strip()


async def _worker(visit: Visit, arguments: Arguments) -> Connection:
    with naming("room_id"):
        return await visit.client.callers.acting(claim(arguments), visit.client.places.current_id)


def _shown(visit: Visit, by: Connection, view: TaskView) -> Result:
    return {
        "success": True,
        "task": board.task(view, by.session.room_id),
        "agent_identity": _identity(visit, by),
    }


def _moved(visit: Visit, by: Connection, moved: LeaseMoved, action: str) -> Result:
    return {"action": action} | _shown(visit, by, moved.view)


def _lease(lease: Lease | None, by: Connection) -> Result | None:
    return board.lease(lease, by.session.room_id) if lease else None


def _identity(visit: Visit, by: Connection) -> Result:
    return public.identity(identity.of_session(by.session), visit.client.chat.instance)
