"""Whether a session waits to be told of messages through a server: then it can be reached.

E50  A delivery of a session is open while one of its requests waits, and counts as open for 12
     seconds after the last of them, for the next one comes soon.
E51  What was not written down anew for 90 seconds is over: the server process that held it is gone.
E52  A delivery that is open proves that the process is there, as a process connection does.
E53  Of several server processes through which a session waits, each ends only what it holds itself.
E54  A session that has ended has no delivery, nor has one whose process is another by now.
"""

import enum
from datetime import datetime

import attrs

from letagents.domain.ids import SessionId
from letagents.domain.presence import DELIVERY_LINGERS, FRESH
from letagents.domain.ticks import Tick, elapsed


class Transport(enum.Enum):
    """By what somebody is told of messages."""

    LONG_POLL = "long_poll"
    SSE = "sse"


@attrs.frozen(kw_only=True)
class Delivery:
    """What a room knows of the requests of a session that wait. `holder` has them open.

    `seen` is when one was known to be open last, and `closed` when the last of them was over.
    """

    session_id: SessionId
    number: int
    holder: str
    transport: Transport
    seen: Tick
    connected_at: datetime
    created_at: datetime
    updated_at: datetime
    closed: Tick | None = None
    disconnected_at: datetime | None = None
    is_retired: bool = False
    offline_announced_at: datetime | None = None
    recovery_announced_at: datetime | None = None
    """When the room told last that its session is gone, and when that it is back; it is found out
    where a delivery is shown."""


def is_open(delivery: Delivery, tick: Tick) -> bool:
    """Whether the session can be told of messages now."""
    if delivery.is_retired:
        return False
    if delivery.closed is not None:
        return elapsed(delivery.closed, tick) < DELIVERY_LINGERS
    return elapsed(delivery.seen, tick) < FRESH


def opened(
    before: Delivery | None,
    session_id: SessionId,
    number: int,
    *,
    holder: str,
    transport: Transport,
    tick: Tick,
    now: datetime,
) -> Delivery:
    """Return the delivery of a session after a request began to wait; the newest `holder` has it.

    `number` is for the first one of the session.
    """
    return Delivery(
        session_id=session_id,
        number=before.number if before else number,
        holder=holder,
        transport=transport,
        seen=tick,
        connected_at=now,
        created_at=before.created_at if before else now,
        updated_at=now,
        disconnected_at=before.disconnected_at if before else None,
    )


def refreshed(delivery: Delivery, *, holder: str, tick: Tick, now: datetime) -> Delivery:
    """Return it while a request of `holder` waits still, whatever another has made of it since."""
    if delivery.is_retired:
        return delivery
    return attrs.evolve(delivery, holder=holder, seen=tick, closed=None, updated_at=now)


def closed(delivery: Delivery, *, holder: str, since: Tick, now: datetime) -> Delivery:
    """Return it after the last request of `holder` was over, at `since` (E53)."""
    if delivery.holder != holder or delivery.closed is not None:
        return delivery
    return attrs.evolve(delivery, closed=since, updated_at=now, disconnected_at=now)


def retired(delivery: Delivery, *, tick: Tick, now: datetime) -> Delivery:
    """Return it after another process has taken its session over (E54)."""
    ended = closed(delivery, holder=delivery.holder, since=tick, now=now)
    return attrs.evolve(ended, is_retired=True, updated_at=now)
