"""What a wake rule can wait for: its events, and what each is asked for by.

W51  Each event takes its own arguments and no others; which of some excludes the rest is checked.
W52  A moment that a caller gives has a time zone; one without is refused.
"""

import enum
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.tasks import Status, task_id_of

BRANCH_LIMIT = 255
LARGEST = 2_147_483_647
LONGEST_MS = 7 * 24 * 60 * 60 * 1000

STATUSES = tuple(status.value for status in Status)
CONCLUSIONS = (
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "timed_out",
    "action_required",
    "stale",
    "startup_failure",
)
REVIEWS = ("approved", "changes_requested", "commented", "dismissed")

_BRANCH = re.compile(r"[^\x00-\x20\x7f\ud800-\udfff]+")


class Event(enum.Enum):
    """What can be waited for."""

    TIMER = "timer"
    TASK = "task.status_changed"
    CHECK = "github.check_completed"
    REVIEW = "github.review_submitted"
    CLOSED = "github.pr_closed"

    @property
    def happens_here(self) -> bool:
        """Whether a room of one machine ever sees it."""
        return self in (Event.TIMER, Event.TASK)


@attrs.frozen
class Wanted:
    """What exactly is waited for; which fields are set depends on the event."""

    at: datetime | None = None
    after_ms: int | None = None
    task_id: str | None = None
    to: tuple[str, ...] = ()
    branch: str | None = None
    pr: int | None = None
    mine: bool = False
    conclusions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    merged_only: bool = False

    @property
    def after(self) -> timedelta | None:
        """How long after it is asked for a timer goes off."""
        return None if self.after_ms is None else timedelta(milliseconds=self.after_ms)


Read = Callable[[object, str], object]
"""Returns an argument as it is kept, or raises Malformed naming the field."""


@attrs.frozen
class _Form:
    """What an event takes: exactly one of some arguments, and perhaps others."""

    one_of: tuple[str, ...]
    others: tuple[str, ...] = ()


_FORMS = {
    Event.TIMER: _Form(("at", "after_ms")),
    Event.TASK: _Form(("task_id",), ("to",)),
    Event.CHECK: _Form(("branch", "pr", "mine"), ("conclusions",)),
    Event.REVIEW: _Form(("pr", "mine"), ("states",)),
    Event.CLOSED: _Form(("pr", "mine"), ("merged_only",)),
}


def event(name: str) -> Event:
    """Return the event of that name, or raise Malformed."""
    try:
        return Event(name)
    except ValueError:
        known = ", ".join(one.value for one in Event)
        raise Malformed(
            f"event: {quoted(name)} is not an event.", remedy=f"Pass one of: {known}."
        ) from None


def wanted(kind: Event, arguments: Mapping[str, object]) -> Wanted:
    """Return what `arguments` ask for of an event.

    Raises:
        Malformed: it takes others, or one of them is not what it should be.
    """
    form = _FORMS[kind]
    takes = (*form.one_of, *form.others)
    given = {
        name: value for name, value in arguments.items() if value is not None and value is not False
    }
    for name in given:
        if name not in takes:
            raise Malformed(
                f"arguments: {quoted(name)} is not an argument of {kind.value}.",
                remedy=f"It takes {_listed(form.one_of)}{_also(form.others)}.",
            )
    if sum(name in given for name in form.one_of) != 1:
        raise Malformed(
            f"arguments: {kind.value} is asked for by {_listed(form.one_of)}.",
            remedy="Pass exactly one of these." if len(form.one_of) > 1 else "Pass it.",
        )
    read: dict[str, Any] = {
        name: _READERS[name](value, f"arguments.{name}") for name, value in given.items()
    }
    return Wanted(**read)


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join(names)


def _also(names: tuple[str, ...]) -> str:
    return f", and perhaps {_listed(names)}" if names else ""


def moment(value: object, field: str) -> datetime:
    """Return the moment that a text spells, in UTC, or raise Malformed."""
    try:
        spelled = datetime.fromisoformat(value if isinstance(value, str) else "")
        if spelled.tzinfo is not None:
            return spelled.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Malformed(
        f"{field}: {quoted(value)} is not a moment with its time zone.",
        remedy=f"Pass {field} as in 2030-01-31T17:00:00Z.",
    )


def shown(moment: datetime) -> str:
    """Return a moment as it stands in a sentence."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _whole(most: int) -> Read:
    def read(value: object, field: str) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise Malformed(
                f"{field}: {quoted(value)} is not a whole number from 1 to {most}.",
                remedy=f"Pass {field} as such a number.",
            )
        return value

    return read


def _yes(value: object, field: str) -> object:
    if value is not True:
        raise Malformed(
            f"{field}: {quoted(value)} is not true.", remedy="Pass true, or leave it out."
        )
    return True


def _branch(value: object, field: str) -> object:
    fits = isinstance(value, str) and len(value) <= BRANCH_LIMIT and _BRANCH.fullmatch(value)
    if not fits:
        raise Malformed(
            f"{field}: {quoted(value)} is not the name of a branch.",
            remedy=f"Pass 1 to {BRANCH_LIMIT} characters without blanks.",
        )
    return value


def _some_of(known: tuple[str, ...]) -> Read:
    def read(value: object, field: str) -> object:
        named = [value] if isinstance(value, str) else value
        if not isinstance(named, list | tuple) or not named:
            raise Malformed(f"{field}: this is no list of words.", remedy=_choose(known))
        for one in named:
            if one not in known:
                raise Malformed(f"{field}: {quoted(one)} is not known here.", remedy=_choose(known))
        return tuple(word for word in known if word in named)

    return read


def _choose(known: tuple[str, ...]) -> str:
    return f"Pass some of: {', '.join(known)}."


_READERS: Mapping[str, Read] = {
    "at": moment,
    "after_ms": _whole(LONGEST_MS),
    "task_id": task_id_of,
    "to": _some_of(STATUSES),
    "branch": _branch,
    "pr": _whole(LARGEST),
    "mine": _yes,
    "conclusions": _some_of(CONCLUSIONS),
    "states": _some_of(REVIEWS),
    "merged_only": _yes,
}
