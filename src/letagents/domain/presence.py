"""Whether the process behind a session is gone, where all that is known of it came over a network.

A process that is connected through a server holds a connection open, and says so when it exits. A
connection that breaks proves little: a network may be down, and a machine asleep. So who asks from
the process's own machine believes a closed connection sooner than who asks from elsewhere.

E20  A process has exited if it said so; or if its connection was closed from its side for 15
     seconds, and who asks is on its machine.
E21  It has not if its agent was heard of since the connection closed, or has a delivery open, or if
     the connection closed after the session ended; and never by silence alone.
E22  A process is gone if it has exited, or if nothing came from it for 10 minutes: neither a call,
     nor a refresh of its connection. So one that is connected is there, however silent its agent.
E23  One that never held such a connection is gone after an hour, or 10 minutes after its session
     ended. But one that may know of no such connection is never gone while its session is live: a
     worker with a lasting handle that has told no machine.
E24  It will soon be gone if its connection closed and nothing was heard since: 15 seconds after
     that, where it is on the machine of who asks, or at once if it has exited; and not before a
     delivery, which is kept as open for 12 seconds, is over.
E25  A name comes free when the last of its holders will be gone, if each of them soon will be, and
     all are of who asks and nobody's to supervise.
E26  A process is known to be there while its connection is open and was refreshed lately, and
     while it has a delivery open.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import timedelta

import attrs

EXITED = "exited"
"""Stands for the connection of a process that said that it exits. (Source: hosted-api 5.4.)"""
ON_ITS_MACHINE = timedelta(seconds=15)
DELIVERY_LINGERS = timedelta(seconds=12)
SILENT = timedelta(minutes=10)
NEVER_CONNECTED = timedelta(minutes=60)
REFRESHED = timedelta(seconds=30)
"""A connection that is open is written down anew so often."""
FRESH = 3 * REFRESHED


@attrs.frozen(kw_only=True)
class Facts:
    """What is known of a session's process: each thing by how long it is ago.

    `seen` and `closed` are of its connection, and `heard` is of its agent's last call; `last_seen`
    also moves by what the server does itself.
    """

    is_durable: bool = False
    host: str | None = None
    connection: str | None = None
    seen: timedelta | None = None
    closed: timedelta | None = None
    heard: timedelta | None = None
    last_seen: timedelta = timedelta(0)
    ended: timedelta | None = None
    has_delivery: bool = False


def host_name(parts: Sequence[str]) -> str:
    """Return a name for a machine and who works on it, from which neither can be read.

    (Source: mcp-tools 7.2.)
    """
    return f"phost_{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:32]}"


def is_there(facts: Facts) -> bool:
    """Whether the process is known to run (E26)."""
    if facts.has_delivery:
        return True
    if facts.seen is None or facts.closed is not None or facts.connection == EXITED:
        return False
    return facts.seen < FRESH


def exited(facts: Facts, host: str | None) -> bool:
    """Whether the process is known to have exited, in the eyes of one on `host` (E20, E21)."""
    closed = _closed_for_good(facts)
    if closed is None or facts.has_delivery:
        return False
    if facts.connection == EXITED:
        return True
    return _is_same(facts.host, host) and closed >= ON_ITS_MACHINE


def gone(facts: Facts, host: str | None) -> bool:
    """Whether nothing more is to be expected of the process (E22, E23)."""
    if facts.has_delivery:
        return False
    if exited(facts, host):
        return True
    silent = _silence(facts)
    if facts.seen is not None or facts.ended is not None:
        return silent >= SILENT
    can_come_back = facts.host is not None or not facts.is_durable
    return can_come_back and silent >= NEVER_CONNECTED


def gone_in(facts: Facts, host: str | None) -> timedelta | None:
    """Return in how long it will be gone, if that is soon; nothing if it is by now (E24)."""
    closed = _closed_for_good(facts)
    has_exited = facts.connection == EXITED
    if closed is None or not (has_exited or _is_same(facts.host, host)):
        return None
    wait = timedelta(0) if has_exited else ON_ITS_MACHINE
    if facts.has_delivery:
        wait = max(wait, DELIVERY_LINGERS)
    return max(wait - closed, timedelta(0))


@attrs.frozen
class Holder:
    """Who else bears a name: whether it is of the owner who asks and supervised, and its facts."""

    facts: Facts
    is_own: bool
    is_supervised: bool = False


def may_lose_its_name(holder: Holder, host: str | None) -> bool:
    """Whether the name of `holder` may be given to who asks from `host`."""
    return holder.is_own and not holder.is_supervised and gone(holder.facts, host)


def comes_free_in(holders: Iterable[Holder], host: str | None) -> timedelta | None:
    """Return in how long a name comes free, if that is soon (E25)."""
    spans = [_free_in(one, host) for one in holders]
    known = [span for span in spans if span is not None]
    return max(known) if known and len(known) == len(spans) else None


def _free_in(holder: Holder, host: str | None) -> timedelta | None:
    if not holder.is_own or holder.is_supervised or gone(holder.facts, host):
        return None
    return gone_in(holder.facts, host)


def _closed_for_good(facts: Facts) -> timedelta | None:
    """Return how long ago the connection closed, if nothing refutes that this was the end of it."""
    closed = facts.closed
    if facts.seen is None or closed is None:
        return None
    heard = facts.last_seen if facts.heard is None else facts.heard
    came_back = heard < closed
    closed_afterwards = facts.ended is not None and closed < facts.ended
    return None if came_back or closed_afterwards else closed


def _silence(facts: Facts) -> timedelta:
    signs = (facts.seen, facts.last_seen, facts.heard)
    return min(sign for sign in signs if sign is not None)


def _is_same(one: str | None, other: str | None) -> bool:
    return one is not None and one == other
