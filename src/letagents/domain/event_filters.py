"""Of which events of its repository a room wants to hear. (Source: hosted-api 3.13.)

K140  A room wants to hear of all six kinds, until a human being who is its admin chooses.
K141  Nobody else chooses; to choose what counts already changes nothing.
K142  The kinds come each once and in one order; another word is refused.
"""

import enum
from collections.abc import Sequence
from datetime import datetime

import attrs

from letagents.domain.authors import Author, human
from letagents.domain.errors import Malformed
from letagents.domain.sessions import Session


class EventKind(enum.Enum):
    """A kind of event."""

    PULL_REQUEST = "pull_request"
    REVIEW = "review"
    COMMENT = "comment"
    ISSUE = "issue"
    CHECK_FAILED = "check_failed"
    REPOSITORY = "repository"


ALL = tuple(EventKind)


@attrs.frozen(kw_only=True)
class EventFilter:
    """What a room wants to hear of, and who chose that last."""

    kinds: tuple[EventKind, ...] = ALL
    updated_by: Author | None = None
    updated_at: datetime | None = None


def chosen(words: Sequence[object]) -> tuple[EventKind, ...]:
    """Return the kinds that are named (K142). Raises Malformed."""
    known = {one.value for one in EventKind}
    if any(not isinstance(word, str) or word not in known for word in words):
        raise Malformed(
            "kinds: one of them is no kind of event.",
            remedy=f"Pass a list of: {', '.join(one.value for one in EventKind)}.",
        )
    return tuple(one for one in EventKind if one.value in words)


def set_by(
    by: Session | None, kinds: tuple[EventKind, ...], before: EventFilter, now: datetime
) -> EventFilter:
    """Return the filter that `by` sets; that before if nothing changes.

    Raises:
        HumansOnly: no human being acts.
    """
    author = human(by, "choose of which events a room hears")
    if kinds == before.kinds:
        return before
    return EventFilter(kinds=kinds, updated_by=author, updated_at=now)
