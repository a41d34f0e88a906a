"""Claimed paths as a hosted room has them, and back. No other server's interface has them."""

from typing import Any

from letagents.domain import path_claims, texts
from letagents.domain.ids import RoomId
from letagents.domain.path_claims import ClaimView, Mode, PathClaim, Query, Wanted
from letagents.domain.tasks import task_id_of
from letagents.wire.http import leases
from letagents.wire.http.board_asks import Given, choice
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]

REPOSITORY_LIMIT, FOLDER_LIMIT = 1_024, 4_096
"""Characters of the name of a repository, and of a folder's."""


def plain(one: PathClaim, room_id: RoomId) -> Plain:
    """Return the form of a claim: its lease, and what it is of."""
    return leases.plain(one.lease, room_id) | {
        "repository": one.repository,
        "patterns": list(one.patterns),
        "mode": one.mode.value,
        "root": one.root,
    }


def claim(document: object) -> PathClaim:
    """Return the claim that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return PathClaim(
        lease=leases.lease(document),
        repository=fields.text("repository"),
        patterns=fields.texts("patterns"),
        mode=fields.parsed("mode", Mode),
        root=fields.text_or_none("root"),
    )


def plain_view(view: ClaimView, room_id: RoomId) -> Plain:
    """Return the form of a claim as it stands."""
    return plain(view.claim, room_id) | {"is_held": view.is_held}


def view(document: object) -> ClaimView:
    """Return the claim, as it stands, that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    return ClaimView(claim=claim(document), is_held=Fields(document).flag("is_held"))


def plain_wanted(wanted: Wanted) -> Plain:
    """Return the form of what somebody wants to claim."""
    return {
        "task_id": wanted.task_id,
        "patterns": [one.text for one in wanted.patterns],
        "repository": wanted.repository,
        "mode": wanted.mode.value,
        "root": wanted.root,
        "epoch": wanted.epoch,
    }


def wanted(fields: Fields) -> Wanted:
    """Return what somebody wants to claim.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    is_told = fields.document.get("mode") is not None
    return Wanted(
        task_id=task_id_of(fields.text("task_id")),
        patterns=path_claims.patterns_of(fields.texts("patterns")),
        repository=texts.checked(fields.text("repository"), "repository", REPOSITORY_LIMIT),
        mode=choice(fields, "mode", Mode) if is_told else Mode.EXCLUSIVE,
        root=texts.optional(fields.text_or_none("root"), "root", FOLDER_LIMIT),
        epoch=fields.integer_or_none("epoch"),
    )


def plain_release(task_id: str, claim_id: str | None, epoch: int | None) -> Plain:
    """Return the form of what is to be let go."""
    return {"task_id": task_id, "claim_id": claim_id, "epoch": epoch}


def plain_query(query: Query) -> Given:
    """Return which claims are asked for, as parameters of a path."""
    return {
        "task_id": query.task_id,
        "path": query.path,
        "after": query.after or None,
        "limit": query.bounded,
    }
