"""What is asked of a hosted board: by a client as plain data, by a server read back.

(Source: hosted-api 3.8.) Of our own are `epoch`, the lease's epoch under which a call is made,
`under`, the kind of that lease where it is known, and `where`, the places where a task has to stand
to be changed. An `assignee` of null takes whoever is on a task off it, an empty `pr_url` takes it
away; what is left out stays.
"""

import enum
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from letagents.domain import texts
from letagents.domain.board import (
    Handoff,
    Query,
    Release,
    ReviewAssign,
    ReviewClaim,
    Target,
)
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.intents import Approval, ApprovalToken
from letagents.domain.leases import LeaseKind
from letagents.domain.locks import LockReason
from letagents.domain.tasks import Assignee, Patch, Proposal, Status, reason_of, task_id_of
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.wire.http import board
from letagents.wire.http.reading import Fields

NAME_LIMIT = 512
"""Characters of who is to be on a task."""

Plain = dict[str, Any]
Given = Mapping[str, str | int | None]
E = TypeVar("E", bound=enum.Enum)


def choice(fields: Fields, name: str, kinds: type[E]) -> E:
    """Return which of `kinds` a field names.

    Raises:
        Malformed: none.
    """
    value = fields.document.get(name)
    for kind in kinds:
        if kind.value == value:
            return kind
    able = ", ".join(kind.value for kind in kinds)
    raise Malformed(f"{name} must be one of: {able}.", remedy=f"Pass one of these as {name}.")


# --- pages ----------------------------------------


def plain_query(query: Query) -> Given:
    """Return which tasks are asked for, as parameters of a path."""
    return {
        "status": query.status.value if query.status else None,
        "open": "true" if query.open_only and query.status is None else None,
        "after": f"task_{query.after}" if query.after else None,
        "limit": query.bounded,
    }


def query(given: Mapping[str, str | None], limit: int) -> Query:
    """Return which tasks are asked for. (Open ones overrule a status.)

    Raises:
        Malformed: there are no such.
    """
    is_open, after = given.get("open") == "true", given.get("after")
    by_status = given.get("status") and not is_open
    return Query(
        status=choice(Fields(given), "status", Status) if by_status else None,
        open_only=is_open,
        after=int(task_id_of(after, "after").removeprefix("task_")) if after else 0,
        limit=limit,
    )


# --- approvals ----------------------------------------


def plain_approval(approval: Approval | None) -> Plain:
    """Return what a call shows of the approval that it has."""
    if approval is None:
        return {}
    token = approval.token.value if approval.token else None
    return {"board_intent_id": approval.intent_id, "board_approval_token": token}


def approval(fields: Fields) -> Approval | None:
    """Return the approval that a call shows, or None where it shows none.

    Raises:
        Unreadable, Malformed: it shows something else.
    """
    intent_id = (fields.text_or_none("board_intent_id") or "").strip()
    token = (fields.text_or_none("board_approval_token") or "").strip()
    if not intent_id and not token:
        return None
    return Approval(intent_id or None, ApprovalToken(token) if token else None)


# --- tasks ----------------------------------------


def plain_proposal(proposal: Proposal) -> Plain:
    """Return the form of a task that somebody wants done."""
    source = proposal.source_message
    return {
        "title": proposal.title,
        "description": proposal.description,
        "source_message_id": str(source) if source else None,
        "client_task_id": proposal.client_task_id,
    }


def proposal(fields: Fields) -> Proposal:
    """Return the task that somebody wants done.

    Raises:
        Unreadable, Malformed: none is told.
    """
    if not (fields.text_or_none("title") or "").strip():
        raise Malformed("title and created_by are required.", remedy="Pass a title.")
    source = (fields.text_or_none("source_message_id") or "").strip()
    return Proposal(
        title=fields.text("title"),
        description=fields.text_or_none("description"),
        source_message=MessageId.parse(source, "source_message_id") if source else None,
        client_task_id=fields.text_or_none("client_task_id"),
    )


def plain_patch(patch: Patch) -> Plain:
    """Return the form of a change."""
    asked: Plain = {}
    if patch.status is not None:
        asked["status"] = patch.status.value
    if patch.assignee is not None:
        asked |= _plain_assignee(patch.assignee)
    if patch.pr_url is not None:
        asked["pr_url"] = patch.pr_url
    if patch.artifacts is not None:
        asked["workflow_artifacts"] = [board.plain_artifact(one) for one in patch.artifacts]
    return asked


def _plain_assignee(who: Assignee) -> Plain:
    if not who.label:
        return {"assignee": None}
    return {
        "assignee": who.label,
        "assignee_agent_key": who.agent_key,
        "assignee_agent_instance_id": who.instance_id,
        "assignee_agent_session_id": str(who.session_id) if who.session_id else None,
    }


def patch(fields: Fields) -> Patch:
    """Return the change that is asked for.

    Raises:
        Unreadable, Malformed: it is none.
    """
    asked = fields.document
    given = asked.get("workflow_artifacts")
    return Patch(
        status=choice(fields, "status", Status) if asked.get("status") is not None else None,
        assignee=_assignee(fields) if "assignee" in asked else None,
        pr_url=fields.text_or_none("pr_url"),
        artifacts=tuple(map(board.artifact, fields.list("workflow_artifacts")))
        if given is not None
        else None,
    )


def _assignee(fields: Fields) -> Assignee:
    """Return who is to be on a task: nobody, if the label is null or blank."""
    named = {
        name: texts.optional(fields.text_or_none(name), name, NAME_LIMIT)
        for name in ("assignee", "assignee_agent_key", "assignee_agent_instance_id")
    }
    label, key, instance_id = named.values()
    if label is None:
        return Assignee("")
    session_id = fields.parsed_or_none("assignee_agent_session_id", SessionId)
    return Assignee(label, key, instance_id, session_id)


def plain_where(where: Collection[Status] | None) -> Plain:
    """Return the places where a task has to stand."""
    return {} if where is None else {"where": sorted(one.value for one in where)}


def where(fields: Fields) -> frozenset[Status] | None:
    """Return the places where a task has to stand, or None if that is not asked.

    Raises:
        Unreadable, Malformed: they are none.
    """
    if fields.document.get("where") is None:
        return None
    return frozenset(
        choice(Fields({"where": one}), "where", Status) for one in fields.texts("where")
    )


# --- leases, reviews and locks ----------------------------------------


def plain_action(action: Release | Handoff | ReviewClaim | ReviewAssign) -> Plain:
    """Return the form of what is to become of a lease."""
    match action:
        case ReviewClaim(reason=reason):
            return {"action": "claim", "reason": reason}
        case ReviewAssign(target=target, reason=reason):
            return {"action": "assign", "reason": reason, **_plain_target(target)}
        case Handoff(target=target):
            return {"action": "handoff", **_plain_reference(action), **_plain_target(target)}
        case _:
            return {"action": "release", **_plain_reference(action)}


def _plain_reference(action: Release | Handoff) -> Plain:
    return {"lease_id": action.lease_id, "epoch": action.epoch, "reason": action.reason}


def _plain_target(target: Target) -> Plain:
    return {
        "target_actor_key": target.agent_key,
        "target_actor_instance_id": target.instance_id,
        "target_agent_session_id": target.session_id,
    }


def lease_action(fields: Fields) -> Release | Handoff:
    """Return what is to become of a work lease.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    if choice(fields, "action", _OfLease) is _OfLease.RELEASE:
        return _release(fields)
    return Handoff(target=_target(fields, "handoff"), **_reference(fields))


def review_action(fields: Fields) -> ReviewClaim | ReviewAssign | Release:
    """Return what is to become of a review.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    asked = choice(fields, "action", _OfReview)
    if asked is _OfReview.RELEASE:
        return _release(fields)
    reason = reason_of(fields.text_or_none("reason"))
    if asked is _OfReview.CLAIM:
        return ReviewClaim(reason=reason)
    return ReviewAssign(target=_target(fields, "assign"), reason=reason)


class _OfLease(enum.Enum):
    RELEASE = "release"
    HANDOFF = "handoff"


class _OfReview(enum.Enum):
    ASSIGN = "assign"
    CLAIM = "claim"
    RELEASE = "release"


def _release(fields: Fields) -> Release:
    return Release(**_reference(fields))


def _reference(fields: Fields) -> Plain:
    return {
        "lease_id": (fields.text_or_none("lease_id") or "").strip() or None,
        "epoch": fields.integer_or_none("epoch"),
        "reason": reason_of(fields.text_or_none("reason")),
    }


def _target(fields: Fields, action: str) -> Target:
    key = (fields.text_or_none("target_actor_key") or "").strip()
    if not key:
        raise Malformed(
            f"target_actor_key is required for {action}.", remedy="Pass the agent_key of a worker."
        )
    return Target(
        agent_key=key,
        instance_id=(fields.text_or_none("target_actor_instance_id") or "").strip() or None,
        session_id=(fields.text_or_none("target_agent_session_id") or "").strip() or None,
    )


def plain_epoch(epoch: int | None, under: LeaseKind | None = None) -> Plain:
    """Return the form of the lease under which something is done."""
    shown = {"epoch": epoch, "under": under.value if under else None}
    return {name: value for name, value in shown.items() if value is not None}


def under(fields: Fields) -> LeaseKind | None:
    """Return the kind of the lease under which something is done. Raises Malformed."""
    if fields.document.get("under") is None:
        return None
    return choice(fields, "under", LeaseKind)


def plain_verdict(verdict: Verdict) -> Plain:
    """Return the form of what a reviewer says."""
    return {
        "verdict": verdict.kind.value,
        "body": verdict.body,
        "idempotency_key": verdict.key,
        "expected_head_sha": verdict.head_sha,
    }


def verdict(fields: Fields) -> Verdict:
    """Return what a reviewer says.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    return Verdict(
        kind=choice(fields, "verdict", VerdictKind),
        body=fields.text_or_none("body") or "",
        key=fields.text("idempotency_key"),
        head_sha=fields.text_or_none("expected_head_sha") or "",
    )


def plain_lock(task_id: str | None, reason: LockReason, message: str | None) -> Plain:
    """Return the form of a stop that is asked for."""
    return {"task_id": task_id, "reason": reason.value, "message": message}


def lock_reason(fields: Fields) -> LockReason:
    """Return why something is to be stopped. Raises Malformed."""
    if fields.document.get("reason") is None:
        return LockReason.HUMAN_STOP
    return choice(fields, "reason", LockReason)
