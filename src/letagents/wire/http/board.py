"""Tasks as a hosted board has them, with who holds them, and back. (Source: hosted-api 4.8.)

Beside the fields of that page, a task says which session is on it, who proposed it by key, under
which key of its own, and how often it was changed.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from letagents.domain.board import History, LeaseMoved, Stale, TaskPage, TaskView
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.tasks import (
    Artifact,
    ArtifactKind,
    Assignee,
    Provider,
    Status,
    Task,
    task_id_of,
)
from letagents.domain.verdicts import Record, Verdict
from letagents.wire import moments
from letagents.wire.http import leases
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

_UNTOLD = datetime(1970, 1, 1, tzinfo=UTC)
_ARTIFACT_TEXTS = ("id", "title", "url", "ref", "state")


# --- tasks ----------------------------------------


def plain_task(one: Task, room_id: RoomId) -> Plain:
    """Return the form of a task without who holds it."""
    who = one.assignee
    return {
        "id": one.task_id,
        "room_id": str(room_id),
        "title": one.title,
        "description": one.description,
        "status": one.status.value,
        "assignee": who.label if who else None,
        "assignee_agent_key": who.agent_key if who else None,
        "assignee_agent_instance_id": who.instance_id if who else None,
        "assignee_agent_session_id": str(who.session_id) if who and who.session_id else None,
        "created_by": one.created_by,
        "created_by_agent_key": one.created_by_key,
        "source_message_id": str(one.source_message) if one.source_message else None,
        "client_task_id": one.client_task_id,
        "pr_url": one.pr_url,
        "workflow_artifacts": [plain_artifact(each) for each in one.artifacts],
        "workflow_refs": [],
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
        "revision": one.revision,
    }


def task(document: object) -> Task:
    """Return the task that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Task(
        number=int(fields.parsed("id", task_id_of).removeprefix("task_")),
        title=fields.text("title"),
        description=fields.text_or_none("description"),
        status=fields.parsed("status", Status),
        assignee=assignee(fields),
        created_by=fields.text_or_none("created_by") or "",
        created_by_key=fields.text_or_none("created_by_agent_key"),
        source_message=fields.parsed_or_none("source_message_id", MessageId.parse),
        client_task_id=fields.text_or_none("client_task_id"),
        pr_url=fields.text_or_none("pr_url"),
        artifacts=_artifacts(fields),
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        revision=fields.integer_or_none("revision") or 1,
    )


def assignee(fields: Fields) -> Assignee | None:
    """Return who is on a task, or is to be, or None if nobody is named.

    Raises:
        Unreadable: that is not told in this form.
    """
    label = fields.text_or_none("assignee")
    if label is None:
        return None
    return Assignee(
        label,
        fields.text_or_none("assignee_agent_key"),
        fields.text_or_none("assignee_agent_instance_id"),
        fields.parsed_or_none("assignee_agent_session_id", SessionId),
    )


def plain_artifact(one: Artifact) -> Plain:
    """Return the form of an artifact; what is not known of it is left out."""
    facts = {name: getattr(one, name) for name in (*_ARTIFACT_TEXTS, "number")}
    known = {name: value for name, value in facts.items() if value is not None}
    return {"provider": one.provider.value, "kind": one.kind.value, **known}


def artifact(document: object) -> Artifact:
    """Return the artifact that `document` spells.

    Raises:
        Unreadable, Malformed: it spells none.
    """
    fields = Fields(document)
    return Artifact(
        provider=fields.parsed("provider", Provider),
        kind=fields.parsed("kind", ArtifactKind),
        number=fields.integer_or_none("number"),
        **{name: fields.text_or_none(name) for name in _ARTIFACT_TEXTS},
    )


def _artifacts(fields: Fields) -> tuple[Artifact, ...]:
    """Return the artifacts of a task; those of kinds that are not known here are left out."""
    found = []
    for one in fields.list("workflow_artifacts"):
        try:
            found.append(artifact(one))
        except (Unreadable, Malformed):
            continue
    return tuple(found)


# --- tasks with who holds them ----------------------------------------


def plain(view: TaskView, room_id: RoomId) -> Plain:
    """Return the form of a task with who holds it and what stops it."""
    return plain_task(view.task, room_id) | {
        "active_leases": [leases.plain_view(one, room_id) for one in view.leases],
        "active_locks": [leases.plain_lock(one, room_id) for one in view.locks],
        "stale_prompt_state": _plain_stale(view.stale or Stale()),
    }


def _plain_stale(stale: Stale) -> Plain:
    lasts = stale.lasts
    return {
        "is_stale": stale.reason is not None,
        "reason": stale.reason,
        "stale_for_ms": None if lasts is None else lasts // timedelta(milliseconds=1),
        "muted": stale.muted_by is not None,
        "muted_by": stale.muted_by,
        "muted_at": None if stale.muted_at is None else moments.to_text(stale.muted_at),
    }


def _stale(told: Fields | None) -> Stale | None:
    """Return how a task waits; None where a server does not tell, or only that it does not."""
    if told is None or "muted" not in told.document:
        return None
    lasts = told.number_or_none("stale_for_ms")
    return Stale(
        reason=told.text_or_none("reason"),
        lasts=None if lasts is None else timedelta(milliseconds=lasts),
        muted_by=told.text_or_none("muted_by"),
        muted_at=told.moment_or_none("muted_at"),
    )


def view(document: object) -> TaskView:
    """Return the task, with who holds it, that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return TaskView(
        task=task(document),
        leases=tuple(map(leases.view, fields.list("active_leases"))),
        locks=tuple(map(leases.lock, fields.list("active_locks"))),
        stale=_stale(fields.part("stale_prompt_state")),
    )


def plain_page(page: TaskPage, room_id: RoomId) -> Plain:
    """Return the form of a page of the board."""
    return {
        "room_id": str(room_id),
        "tasks": [plain(one, room_id) for one in page.tasks],
        "has_more": page.more,
        "active_locks": [leases.plain_lock(one, room_id) for one in page.locks],
    }


def page(document: object) -> TaskPage:
    """Return the page of the board that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return TaskPage(
        tasks=tuple(map(view, fields.list("tasks"))),
        more=fields.flag("has_more"),
        locks=tuple(map(leases.lock, fields.list("active_locks"))),
    )


def plain_history(history: History, room_id: RoomId) -> Plain:
    """Return the form of what happened to a task."""
    return {
        "room_id": str(room_id),
        "task": plain(history.view, room_id),
        "events": [leases.plain_event(one) for one in history.events],
        "has_more": history.more,
    }


def history(document: object) -> History:
    """Return what happened to a task, as `document` spells it.

    Raises:
        Unreadable: it spells nothing of the kind.
    """
    fields = Fields(document)
    return History(
        view=view(fields.document.get("task")),
        events=tuple(map(leases.event, fields.list("events"))),
        more=fields.flag("has_more"),
    )


# --- what became of a lease, and what a review says ----------------------------------------


def plain_moved(moved: LeaseMoved, room_id: RoomId, *, new: str) -> Plain:
    """Return the form of what became of a lease; `new` is the field of the one that holds now."""
    return {
        "room_id": str(room_id),
        "task": plain(moved.view, room_id),
        "released_lease": moved.ended and leases.plain(moved.ended, room_id),
        new: moved.lease and leases.plain(moved.lease, room_id),
    }


def moved(document: object) -> LeaseMoved:
    """Return what became of a lease, as `document` spells it.

    Raises:
        Unreadable: it spells nothing of the kind.
    """
    fields = Fields(document)
    over, now = fields.part("released_lease"), fields.part("new_lease") or fields.part("lease")
    return LeaseMoved(
        view=view(fields.document.get("task")),
        ended=leases.lease(over.document) if over else None,
        lease=leases.lease(now.document) if now else None,
    )


def plain_record(record: Record, room_id: RoomId) -> Plain:
    """Return the form of a verdict that was kept: it stands in the room, and nowhere else."""
    effect = {
        "id": record.record_id,
        "state": "succeeded",
        "correlation_key": record.verdict.key,
        "attempt_count": 1,
        "external_id": None,
        "external_url": None,
        "last_error": None,
        "quarantined_at": None,
        "quarantine_reason": None,
    }
    kept = {
        "number": record.number,
        "actor_label": record.by,
        "agent_key": record.by_key,
        "lease_id": record.lease_id,
        "epoch": record.epoch,
        "created_at": moments.to_text(record.at),
    }
    return {
        "room_id": str(room_id),
        "task_id": record.task_id,
        "effect": effect,
        "verdict": {
            "verdict": record.verdict.kind.value,
            "expected_head_sha": record.verdict.head_sha,
            "body": record.verdict.body,
            "idempotency_key": record.verdict.key,
            **kept,
        },
    }


def record(document: object, said: Verdict) -> Record:
    """Return the verdict that was kept of `said`, as `document` tells of it.

    Raises:
        Unreadable: it tells of none.
    """
    fields = Fields(document)
    effect, kept = fields.part("effect"), fields.part("verdict")
    if effect is None:
        raise Unreadable("effect is left out")
    if kept is None:  # another server tells that it was taken, and no more
        told: Plain = {"by": "", "by_key": "", "lease_id": "", "epoch": 0, "at": _UNTOLD}
        return Record(number=0, task_id=fields.text("task_id"), verdict=said, **told)
    return Record(
        number=kept.integer("number"),
        task_id=fields.text("task_id"),
        verdict=said,
        by=kept.text("actor_label"),
        by_key=kept.text("agent_key"),
        lease_id=kept.text("lease_id"),
        epoch=kept.integer("epoch"),
        at=kept.moment("created_at"),
    )
