"""What programs report of their agents, and who ever was there. (Source: hosted-api 3.3, 3.5.)"""

from collections.abc import Mapping
from typing import Any

from letagents.domain import activity
from letagents.domain.activity import Activity, Report
from letagents.domain.ids import RoomId
from letagents.domain.whereabouts import Whereabouts
from letagents.wire import moments
from letagents.wire.http import whereabouts

Plain = dict[str, Any]


def report(body: Mapping[str, Any]) -> Report:
    """Return what a body reports. Raises Malformed."""
    given = body.get("observed_at")
    observed_at = moments.from_text(given) if isinstance(given, str) else None
    return activity.report(
        observed_at, body.get("sequence"), body.get("method"), body.get("status")
    )


def plain_report(found: Report) -> Plain:
    """Return the body of a report."""
    return {
        "observed_at": moments.to_text(found.observed_at),
        "sequence": found.sequence,
        "method": found.method,
        "status": found.status,
    }


def plain(room_id: RoomId, one: Activity, *, recorded: bool) -> Plain:
    """Return what is answered to a report; beside `axis` the fields are our own."""
    return {
        "room_id": str(room_id),
        "axis": "execution_activity",
        "agent_session_id": str(one.session_id),
        "recorded": recorded,
        "sequence": one.report.sequence,
        "status": one.report.status,
        "method": one.report.method,
        "observed_at": moments.to_text(one.report.observed_at),
    }


def plain_past(one: Whereabouts) -> Plain:
    """Return the form of one who was there, or still is."""
    ended = one.session.ended_at
    return whereabouts.plain(one) | {"ended_at": ended and moments.to_text(ended)}
