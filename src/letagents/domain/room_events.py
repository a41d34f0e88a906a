"""What happened in a room's repository, as far as its forge told the room.

K50  Events are asked for by type, object, actor and time; what is asked is checked by its fields.
"""

from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.texts import optional
from letagents.domain.wake_arguments import moment

LIMIT = 50
MOST = 100
WORD_LIMIT = 200


@attrs.frozen
class Wanted:
    """Which events are asked for; what is None is not asked about. `after` is a cursor."""

    event_type: str | None = None
    object_id: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: str | None = None
    limit: int = LIMIT


@attrs.frozen(kw_only=True)
class RepositoryEvent:
    """One thing that happened in a repository."""

    id: str
    event_type: str
    action: str | None
    object_id: str | None
    object_url: str | None
    title: str | None
    state: str | None
    actor: str | None
    created_at: datetime
    linked_task_id: str | None = None


def wanted(fields: Mapping[str, object]) -> Wanted:
    """Return what a caller's fields ask for.

    Raises:
        Malformed: one of them is not what it should be, or the times are in the wrong order.
    """
    words = {
        name: optional(fields.get(name), name, WORD_LIMIT)
        for name in ("event_type", "object_id", "actor", "after")
    }
    since, until = _moment(fields, "since"), _moment(fields, "until")
    if since is not None and until is not None and until < since:
        raise Malformed("until: it is before since.", remedy="Pass the later moment as until.")
    return Wanted(**words, since=since, until=until, limit=_limit(fields.get("limit")))


def _moment(fields: Mapping[str, object], name: str) -> datetime | None:
    value = fields.get(name)
    return None if value is None else moment(value, name)


def _limit(value: object) -> int:
    if value is None:
        return LIMIT
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= MOST:
        raise Malformed(
            f"limit: it is not a number from 1 to {MOST}.", remedy="Pass such a number."
        )
    return int(value)
