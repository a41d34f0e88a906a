"""What the program that runs an agent reports of it, beside what the agent says itself.

X26  A report is of now: at most 5 seconds ahead of the room's time, and not older than 10 minutes.
X27  Of a session's reports the one of the highest number counts: what comes late changes nothing.
"""

from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import SessionId
from letagents.domain.names import collapse
from letagents.domain.reasoning import STATUSES
from letagents.domain.whereabouts import IDLE

AHEAD, OLDEST = timedelta(seconds=5), timedelta(minutes=10)
METHOD = 160
"""So many characters of a method are kept."""
HIGHEST = 2**53 - 1


@attrs.frozen(kw_only=True)
class Report:
    """What a program reports. `method` is how it calls what happened."""

    observed_at: datetime
    sequence: int
    method: str
    status: str = IDLE


@attrs.frozen(kw_only=True)
class Activity:
    """The report that counts for a session."""

    session_id: SessionId
    number: int
    report: Report
    reported_at: datetime


def report(
    observed_at: datetime | None, sequence: object, method: object, status: object
) -> Report:
    """Return what is reported.

    Raises:
        Malformed: it is not in its form.
    """
    word = IDLE if status is None else status
    is_number = isinstance(sequence, int) and not isinstance(sequence, bool)
    name = collapse(method)[:METHOD] if isinstance(method, str) else ""
    if observed_at is None or not is_number or not name or word not in STATUSES:
        raise _wrong()
    number = int(str(sequence))
    if not 1 <= number <= HIGHEST:
        raise _wrong()
    return Report(observed_at=observed_at, sequence=number, method=name, status=str(word))


def check_is_of_now(found: Report, now: datetime) -> None:
    """See that a report is of now (X26).

    Raises:
        Malformed: it is not.
    """
    if not -OLDEST <= found.observed_at - now <= AHEAD:
        raise _wrong()


def counts(found: Report, before: Activity | None) -> bool:
    """Whether a report counts where `before` counts until now (X27)."""
    return before is None or found.sequence > before.report.sequence


def _wrong() -> Malformed:
    return Malformed(
        "observed_at, positive integer sequence, native method, and a valid native status are "
        "required.",
        remedy=f"Pass observed_at of now, a growing sequence, and one of: {', '.join(STATUSES)}.",
    )
