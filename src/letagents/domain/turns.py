"""How one bounded turn of an agent ends, and what is known of it after a crash.

Y10  A turn that is over has one outcome: an answer, silence, an interruption, a failure, or an end
     whose answer cannot be read.
Y11  The word for silence alone is silence; any other text is an answer; no text at all is an end
     that cannot be read, and never silence.
Y12  What may have begun is never said not to have started.
Y13  A program that is missing is told apart from one that is there and fails, and the error names
     the command that installs it.
"""

from typing import ClassVar

import attrs

from letagents.domain.errors import LetAgentsError, OutcomeUnknown, Retry
from letagents.domain.names import is_blank

NO_REPLY = "LETAGENTS_NO_ROOM_REPLY"
"""What an agent answers when nothing is to be said in the room. (Source: supervisor 6.14.)"""


# --- how it ended -------------------------------------------------------------------------------


@attrs.frozen
class Answered:
    """It ended with this answer for the room."""

    text: str = attrs.field(repr=False)


@attrs.frozen
class Silent:
    """It ended, and nothing is to be said."""


@attrs.frozen
class Interrupted:
    """It was broken off, and nothing of it is to be said."""


@attrs.frozen
class Failed:
    """The program gave it up. `is_quota` tells that its account has nothing left for now."""

    why: str
    is_quota: bool = False


@attrs.frozen
class Unreadable:
    """It ended, and its answer cannot be read."""

    why: str


Outcome = Answered | Silent | Interrupted | Failed | Unreadable


# --- what is known of it ------------------------------------------------------------------------


@attrs.frozen
class Running:
    """It has begun and is not over."""


@attrs.frozen
class NeverStarted:
    """It is proven that it did not begin; it can be run."""


@attrs.frozen
class Unknowable:
    """It may have begun, and how it ended cannot be found out: a person has to look."""

    why: str


Fate = Outcome | Running | NeverStarted | Unknowable


def said(text: str) -> Answered | Silent | Unreadable:
    """Return how a turn ended whose last words are `text` (Y11)."""
    words = text.strip()
    if is_blank(words):
        return Unreadable("its transcript holds no answer")
    return Silent() if words == NO_REPLY else Answered(words)


# --- errors -------------------------------------------------------------------------------------


class ProviderMissing(LetAgentsError):
    """The program that runs agents of this kind is not installed."""

    code = "provider_missing"

    def __init__(self, program: str, command: str, install: str, variable: str) -> None:
        super().__init__(
            f"{program} is not installed: there is no command {command!r}.",
            remedy=f"Install it with `{install}`, or set {variable} to where it is.",
        )


class WorkspaceMissing(LetAgentsError):
    """The folder in which an agent is to work is not there. Nothing was started."""

    code = "workspace_missing"
    retry: ClassVar[Retry] = Retry.LATER

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"There is no folder {folder}, in which the agent is to work.",
            remedy="Make it again; or remove the agent, and add it with another folder.",
        )


class ProviderUnusable(LetAgentsError):
    """The program is there, and cannot be used as it is. No conversation was begun."""

    code = "provider_unusable"
    retry: ClassVar[Retry] = Retry.LATER


class ConversationMissing(LetAgentsError):
    """The program knows no such conversation any more."""

    code = "conversation_missing"

    def __init__(self, program: str, conversation_id: str) -> None:
        super().__init__(
            f"{program} has no conversation {conversation_id} any more.",
            remedy="Start the agent anew; it begins a conversation without what it knew before.",
        )


class ConversationBusy(LetAgentsError):
    """A turn is under way in the conversation, or the process is ending. Nothing was begun."""

    code = "conversation_busy"
    retry: ClassVar[Retry] = Retry.LATER

    def __init__(self) -> None:
        super().__init__(
            "A turn is under way in this conversation.",
            remedy="Wait for its end, or interrupt it.",
        )


class TurnUnsettled(OutcomeUnknown):
    """The program fell silent or ended: what became of the turn is to be asked for."""

    code = "turn_unsettled"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"What became of the turn is not known: {why}.",
            remedy="Resume the conversation and ask for the fate of this turn; do not rerun it.",
        )


class ProcessAmbiguous(OutcomeUnknown):
    """Whether a conversation's process is still there cannot be told: none takes its place.

    `url` is where something answers in the place of a process that has ended.
    """

    code = "process_ambiguous"

    def __init__(self, pid: int, url: str | None = None) -> None:
        if url is not None:
            super().__init__(
                f"The agent's process {pid} has ended, and what it started answers at {url} still.",
                remedy=f"End that, by `kill -- -{pid}` for example; then the agent goes on by "
                "itself, in a process of its own.",
            )
            return
        super().__init__(
            f"Whether process {pid} is still the agent's cannot be told.",
            remedy="Look at that process; end it if it is the agent's, then start the agent again.",
        )
