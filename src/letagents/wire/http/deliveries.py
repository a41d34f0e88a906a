"""The delivery of a session as a hosted room gives it out. (Source: hosted-api 4.6.)"""

from datetime import datetime, timedelta
from typing import Any

from letagents.domain.deliveries import Delivery
from letagents.domain.sessions import Session
from letagents.wire import moments, public
from letagents.wire.http.whereabouts import OF_SESSION

Plain = dict[str, Any]

GRACE = timedelta(seconds=10)


def plain(one: Delivery, session: Session) -> Plain:
    """Return the form of a session's delivery."""
    shown, over = public.session(session), one.disconnected_at if one.closed else None
    return {name: shown[name] for name in OF_SESSION} | {
        "delivery_key": f"agent_session:{one.session_id}",
        "agent_session_id": str(one.session_id),
        "transport": one.transport.value,
        "active_connection_count": 0 if one.closed else 1,
        "last_connected_at": moments.to_text(one.connected_at),
        "last_disconnected_at": one.disconnected_at and moments.to_text(one.disconnected_at),
        "reconnect_grace_expires_at": over and moments.to_text(over + GRACE),
        "offline_announced_at": _moment(one.offline_announced_at),
        "recovery_announced_at": _moment(one.recovery_announced_at),
        "created_at": moments.to_text(one.created_at),
        "updated_at": moments.to_text(one.updated_at),
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else moments.to_text(at)
