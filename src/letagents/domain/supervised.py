"""What a supervised process shows its supervisor, and what it is told in return.

(Source: supervisor 3, 4.)
"""

from collections.abc import Mapping
from datetime import timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.ids import Credential, Token

QUICK = timedelta(milliseconds=250)
"""How long it may take to hear that a binding is as it was."""
PATIENCE = timedelta(seconds=5)
"""How long a supervisor may take to answer anything but a tool."""


class SupervisorUnavailable(LetAgentsError):
    """The supervisor could not be asked. Nothing happened."""

    code = "supervisor_unavailable"
    retry = Retry.LATER


class SupervisorSilent(LetAgentsError):
    """The supervisor was asked and did not answer: whether it did anything is not known."""

    code = "supervisor_silent"
    retry = Retry.AFTER_READING


class SupervisorGarbled(SupervisorSilent):
    """What it answered is no answer: whether it did anything is not known, nor would it be again.

    So the same request is not repeated.
    """

    code = "supervisor_garbled"


class SupervisorRefused(LetAgentsError):
    """The supervisor refused, or answered what cannot be believed. Its words are told."""

    code = "supervisor_refused"


class CoordinatesWrong(LetAgentsError):
    """Where this process finds its supervisor is told badly. Nobody was asked."""

    code = "coordinates_wrong"


class CredentialStale(LetAgentsError):
    """No credential is lent: who asks does not act for the agent any more. Nothing was sent."""

    code = "SUPERVISED_CREDENTIAL_STALE"

    def __init__(self) -> None:
        super().__init__(
            "The supervisor lends this process no credential.",
            remedy="Call once more in a moment: it may be starting anew. If it stays so, end this "
            "turn: another process acts for this agent now.",
        )


class CredentialUnavailable(LetAgentsError):
    """No credential is lent yet: the supervisor has none. Nothing was sent."""

    code = "SUPERVISED_CREDENTIAL_UNAVAILABLE"
    retry = Retry.LATER

    def __init__(self) -> None:
        super().__init__(
            "The supervisor has no credential for this agent yet.",
            remedy="Call again in a moment: it may just have started.",
        )


@attrs.frozen
class OwnSession:
    """The session with which a supervised process speaks."""

    session_id: str
    room_id: str
    token: Token
    runtime: str = "codex"
    is_worker: bool = True
    context_folder: str | None = None
    """Where its coordinates were found before, if they were in files."""


@attrs.frozen
class Bound:
    """Whether somebody supervises, and where the coordinates were, if they were in files."""

    is_supervised: bool
    context_folder: str | None = None


@attrs.frozen
class Borrowed:
    """What comes of asking for a credential; without one, `code` says why."""

    credential: Credential | None = None
    code: str | None = None

    @property
    def is_supervised(self) -> bool:
        """Whether there is anybody to borrow from."""
        return self.credential is not None or self.code is not None


NOT_SUPERVISED = Borrowed()
DEFERRED = Borrowed(code=CredentialUnavailable.code)
STALE = Borrowed(code=CredentialStale.code)


def not_lent(borrowed: Borrowed) -> CredentialStale | CredentialUnavailable:
    """Return the error for who was lent nothing."""
    return CredentialUnavailable() if borrowed == DEFERRED else CredentialStale()


@attrs.frozen
class Call:
    """One call of a tool, under the id by which it is known again."""

    request_id: str
    tool: str
    arguments: Mapping[str, object]
    is_change: bool


@attrs.frozen
class Answered:
    """It was done, now or before; this is the whole result of the tool."""

    room_id: str
    result: object


@attrs.frozen
class MayBeDone:
    """It may have been done before, and is not done again."""

    room_id: str
    effect_id: str
    error: str


@attrs.frozen
class DoIt:
    """This process is to do it in that room, and to say what became of it."""

    room_id: str
    effect_id: str


@attrs.frozen
class AnswerWithTurn:
    """It would answer the message that the turn is about: the turn's own answer does."""

    room_id: str
    effect_id: str
    message_id: str


@attrs.frozen
class MoveAfterTurn:
    """The move to that room is made when the turn has ended."""

    room_id: str
    effect_id: str
    destination: str


Told = Answered | MayBeDone | DoIt | AnswerWithTurn | MoveAfterTurn
