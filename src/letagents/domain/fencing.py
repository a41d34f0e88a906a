"""Whether a connection may still act. Nothing else compares a credential or a generation.

A session is a worker's place in one room, and many processes may have held it, one after another.
Each hold is a connection: it has a generation, which only grows, and a secret of its process.
The room keeps the newest generation and a digest of its secret, and asks `refusal` inside the
transaction of each effect; so a process that slept through its replacement changes nothing.

F1  A fence admits only the generation that the room holds: an older and a newer one are refused.
F2  A fence admits only with the secret of that generation, compared in constant time.
F3  An ended session admits nobody; an unknown one neither.
F4  A fence that names no generation is judged by its secret alone: some wires know of none, and
    each hold has a secret of its own.
"""

import enum
import hashlib
import hmac
from datetime import datetime

import attrs

from letagents.domain.errors import (
    ConnectionLost,
    ConnectionReplaced,
    NotConnected,
    SessionEnded,
)
from letagents.domain.ids import RoomId, SessionId, Token, WorkerId

UNNUMBERED = 0
"""Instead of a generation, where none is known; those that there are count from 1."""


@attrs.frozen
class Fence:
    """What a process shows when it acts: which session, which hold on it, and the proof."""

    session_id: SessionId
    generation: int
    token: Token
    origin: RoomId | None = attrs.field(default=None, eq=False, kw_only=True)
    """The room from which it says that it acts; it proves nothing, and may forbid something."""


@attrs.frozen
class Standing:
    """What a room remembers of a session's newest connection."""

    session_id: SessionId
    generation: int
    token_digest: str
    ended_at: datetime | None = None


class Refusal(enum.Enum):
    """Why a fence does not admit."""

    UNKNOWN = "the room has no such session"
    ENDED = "its session in the room has ended"
    REPLACED = "a newer process holds its connection now"
    UNPROVEN = "what it showed is not the connection's secret"


def digest(token: Token) -> str:
    """Return what a room keeps instead of the secret itself."""
    return hashlib.sha256(token.value.encode()).hexdigest()


def proves(token: Token, standing: Standing) -> bool:
    """Whether `token` is the secret of the newest connection."""
    return matches(token, standing.token_digest)


def matches(token: Token, kept: str) -> bool:
    """Whether `kept` is the digest of `token`, compared in constant time."""
    return hmac.compare_digest(digest(token), kept)


def same(one: Token, other: Token) -> bool:
    """Whether two secrets are one, compared in constant time."""
    return hmac.compare_digest(digest(one), digest(other))


def is_one_hold(one: Fence, other: Fence) -> bool:
    """Whether both show the same hold on the same session, wherever they say that they act from."""
    held = (one.session_id, one.generation) == (other.session_id, other.generation)
    return held and same(one.token, other.token)


def is_numbered(fence: Fence) -> bool:
    """Whether the room that gave `fence` out counts the holds on its sessions, as ours do."""
    return fence.generation != UNNUMBERED


def refusal(fence: Fence, standing: Standing | None) -> Refusal | None:
    """Return why `fence` does not admit, or None if it does."""
    if standing is None or standing.session_id != fence.session_id:
        return Refusal.UNKNOWN
    if fence.generation not in (UNNUMBERED, standing.generation):
        return Refusal.REPLACED
    if not proves(fence.token, standing):
        return Refusal.UNPROVEN
    if standing.ended_at is not None:
        return Refusal.ENDED
    return None


_ERRORS: dict[Refusal, type[ConnectionLost]] = {
    Refusal.UNKNOWN: NotConnected,
    Refusal.ENDED: SessionEnded,
    Refusal.REPLACED: ConnectionReplaced,
    Refusal.UNPROVEN: ConnectionReplaced,
}


def admit(fence: Fence, standing: Standing | None, *, worker: str | None, room_id: RoomId) -> None:
    """Let `fence` act in the room, in the place of `worker`: its handle, if it has a lasting one.

    Raises:
        ConnectionLost: it does not admit.
    """
    refused = refusal(fence, standing)
    if refused is not None:
        known = worker if worker is not None and WorkerId.fits(worker) else None
        raise _ERRORS[refused](known, room_id, refused.value, fence.session_id)
