"""Artifacts of a hosted room, and what happened in its repository. (Source: hosted-api 3.12, 4.11.)

Of our own are an artifact's `number` and the `author` of whom that page tells the name alone, and
whether there are more. An artifact or an event of a form that is not known here is left out.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from letagents.domain import artifacts
from letagents.domain.artifacts import Shared
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId
from letagents.domain.room_events import RepositoryEvent, Wanted
from letagents.domain.tasks import Artifact, ArtifactKind, Provider
from letagents.wire import memory
from letagents.wire.http import board
from letagents.wire.http.authors import author
from letagents.wire.http.reading import Fields, Unreadable

T = TypeVar("T")
Plain = dict[str, Any]
Given = Mapping[str, str | int | None]


def plain(kept: Shared, room_id: RoomId) -> Plain:
    """Return the form of an artifact."""
    return memory.artifact(kept, room_id) | {
        "number": kept.number,
        "author": memory.author(kept.published_by),
    }


def shared(document: object) -> Shared:
    """Return the artifact that `document` spells.

    Raises:
        Unreadable, Malformed: it spells none.
    """
    fields = Fields(document)
    told = [name for name in ("author", "published_by") if fields.document.get(name)]
    return Shared(
        number=fields.integer_or_none("number") or 0,
        identity=fields.text("identity_key"),
        artifact=_artifact(fields),
        published_by=author(fields, told[0] if told else "source"),
        source=fields.text("source"),
        first_seen_at=fields.moment("first_seen_at"),
        updated_at=fields.moment("updated_at"),
        task_ids=fields.texts("linked_task_ids"),
    )


def _artifact(fields: Fields) -> Artifact:
    return Artifact(
        provider=fields.parsed("provider", Provider),
        kind=fields.parsed("kind", ArtifactKind),
        id=fields.text_or_none("artifact_id"),
        number=fields.integer_or_none("artifact_number"),
        title=fields.text_or_none("title"),
        url=fields.text_or_none("url"),
        ref=fields.text_or_none("ref"),
        state=fields.text_or_none("state"),
    )


def plain_page(found: Iterable[Shared], room_id: RoomId, *, more: bool) -> Plain:
    """Return the form of a page."""
    shown = [plain(one, room_id) for one in found]
    return {"room_id": str(room_id), "artifacts": shown, "has_more": more}


def page(document: object) -> tuple[tuple[Shared, ...], bool]:
    """Return the artifacts of the page that `document` spells, and whether there are more.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return _known(shared, fields.list("artifacts")), fields.flag("has_more")


def _known(read: Callable[[object], T], given: Iterable[object]) -> tuple[T, ...]:
    found = []
    for one in given:
        try:
            found.append(read(one))
        except (Unreadable, Malformed):
            continue
    return tuple(found)


def plain_publication(artifact: Artifact, task_ids: Collection[str]) -> Plain:
    """Return the form of an artifact that is to be shown to a room."""
    return {"artifact": board.plain_artifact(artifact), "linked_task_ids": list(task_ids)}


def publication(fields: Fields) -> tuple[Artifact, tuple[str, ...]]:
    """Return what is to be shown to a room: an artifact, by itself or among the fields, and tasks.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    within = fields.part("artifact")
    asked = fields.document
    given = within.document if within else {name: asked.get(name) for name in artifacts.FIELDS}
    linked = asked.get("linked_task_ids")
    task_ids = artifacts.linked(
        asked.get("task_id"), () if linked is None else fields.list("linked_task_ids")
    )
    return artifacts.artifact(given), task_ids


# --- what happened ----------------------------------------


def plain_wanted(wanted: Wanted) -> Given:
    """Return which events are asked for, as parameters of a path."""
    return {
        "event_type": wanted.event_type,
        "object_id": wanted.object_id,
        "actor": wanted.actor,
        "since": wanted.since.isoformat() if wanted.since else None,
        "until": wanted.until.isoformat() if wanted.until else None,
        "after": wanted.after,
        "limit": wanted.limit,
    }


def plain_events(
    found: Iterable[RepositoryEvent], room_id: RoomId, *, more: bool, note: str | None
) -> Plain:
    """Return the form of some events."""
    return {
        "room_id": str(room_id),
        "github_room_id": str(room_id),
        "events": [memory.event(one) for one in found],
        "has_more": more,
        "note": note,
    }


def events(document: object) -> tuple[tuple[RepositoryEvent, ...], bool, str | None]:
    """Return the events that `document` spells, whether there are more, and why there are none.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    found = _known(event, fields.list("events"))
    return found, fields.flag("has_more"), fields.text_or_none("note")


def event(document: object) -> RepositoryEvent:
    """Return the event that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return RepositoryEvent(
        id=fields.text("id"),
        event_type=fields.text("event_type"),
        action=fields.text_or_none("action"),
        object_id=fields.text_or_none("github_object_id"),
        object_url=fields.text_or_none("github_object_url"),
        title=fields.text_or_none("title"),
        state=fields.text_or_none("state"),
        actor=fields.text_or_none("actor_login"),
        created_at=fields.moment("created_at"),
        linked_task_id=fields.text_or_none("linked_task_id"),
    )
