"""Why the program that runs an agent cannot go on, as it tells the room.

X41  A program says it of its own agent, in one of five words; the room says so in a message that is
     for nobody (A2).
X42  What one event caused is said once for each word, however often it is reported.
"""

import enum

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import SessionId
from letagents.domain.names import collapse
from letagents.domain.sessions import Session
from letagents.domain.texts import optional

SOURCE = "managed_agent_failure"
"""The source of such a message. (Source: hosted-api 3.5.)"""
ORIGIN_LIMIT = 128
_OF_A_TURN = "turn"


class Cause(enum.Enum):
    """Why it cannot go on."""

    QUOTA = "quota_exhausted"
    SIGNED_OUT = "authentication_required"
    NO_MODEL = "model_unavailable"
    SETTINGS = "configuration_error"
    PROVIDER = "provider_error"


_WORDS = {
    Cause.QUOTA: "what it may use is used up",
    Cause.SIGNED_OUT: "its program has to be signed in again",
    Cause.NO_MODEL: "its model is not to be had",
    Cause.SETTINGS: "its program is set up wrongly",
    Cause.PROVIDER: "its provider fails",
}


@attrs.frozen(kw_only=True)
class Failure:
    """What a program tells; `origin` names the event that it was about."""

    cause: Cause
    origin: str | None = None


def failure(code: object, origin: object = None) -> Failure:
    """Return what a program tells.

    Raises:
        Malformed: it is not told in one of the five words, or the event has no fitting name.
    """
    known = {one.value: one for one in Cause}
    if not isinstance(code, str) or code not in known:
        raise Malformed(
            "code: this is no cause of a failure.", remedy=f"Pass one of: {', '.join(known)}."
        )
    named = optional(origin, "origin_event_id", ORIGIN_LIMIT)
    return Failure(cause=known[code], origin=named and collapse(named))


def key(session_id: SessionId, told: Failure) -> str:
    """Return what is the same for what is said once (X42)."""
    return f"{SOURCE}:{session_id}:{told.origin or _OF_A_TURN}:{told.cause.value}"


def words(session: Session, told: Failure) -> str:
    """Return what the room says."""
    return f"[status] {session.display_name} cannot go on: {_WORDS[told.cause]}."
