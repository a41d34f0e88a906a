"""Why an approval does not let something through; each reason is an error of its own.

P19  Each refusal has the code of its reason, and names a call that helps.
"""

from letagents.domain.errors import LetAgentsError, Retry


class IntentRequired(LetAgentsError):
    """The room wants this approved first, and no approval was shown."""

    code = "board_intent_required"


class IntentNotFound(LetAgentsError):
    """There is no such intent in this room."""

    code = "board_intent_not_found"


class IntentExpired(LetAgentsError):
    """The intent was not decided, or its approval not used, in time."""

    code = "board_intent_expired"


class IntentNotApproved(LetAgentsError):
    """The intent was denied, or its approval was used before."""

    code = "board_intent_not_approved"


class IntentPending(IntentNotApproved):
    """Nobody has decided about the intent yet."""

    retry = Retry.LATER


class IntentActionMismatch(LetAgentsError):
    """The intent is for another kind of action."""

    code = "board_intent_action_mismatch"


class IntentPayloadMismatch(LetAgentsError):
    """What is done is not what was approved."""

    code = "board_intent_payload_mismatch"


class IntentTokenInvalid(LetAgentsError):
    """The token that was shown is not this approval's."""

    code = "board_intent_token_invalid"


class IntentWorkerMismatch(LetAgentsError):
    """The approval is another worker's."""

    code = "board_intent_worker_mismatch"


class IntentWorkerUnverified(LetAgentsError):
    """The intent has no worker that proposed it, so only the token can show whose it is."""

    code = "board_intent_worker_unverified"


class IntentTaskChanged(LetAgentsError):
    """The task is not any more what it was when it was asked for, or approved."""

    code = "board_intent_task_changed"


class IntentNotPossible(LetAgentsError):
    """What is asked for cannot be done as its task stands, so an approval would be of no use."""

    code = "board_intent_not_possible"
    retry = Retry.LATER

    def __init__(self, intent_id: str, why: str) -> None:
        super().__init__(
            f"{intent_id} could not be used as its task stands: {why}",
            remedy=f"Approve it once it can follow, or deny_board_intent(intent_id={intent_id!r}).",
        )


class IntentManagerChanged(LetAgentsError):
    """How the board is managed was changed since."""

    code = "board_intent_manager_changed"


class ManagerModeOff(LetAgentsError):
    """The room asks for no approvals, so there is none to use."""

    code = "board_manager_mode_off"

    def __init__(self) -> None:
        super().__init__(
            "The board asks for no approvals now: its manager mode is off.",
            remedy="Make the same call without board_intent_id and board_approval_token.",
        )


class NotTheManager(LetAgentsError):
    """A worker decides only while it is the board's manager."""

    code = "board_manager_required"

    def __init__(self, manager: str | None) -> None:
        whose = f"that is {manager}" if manager else "there is none now"
        super().__init__(
            "Only the active Board Manager can decide board intents with worker credentials; "
            f"{whose}.",
            remedy="Wait for the manager, or for the person in charge of the room.",
        )


class TooManyIntents(LetAgentsError):
    """So many intents wait that no more are taken."""

    code = "board_intents_full"
    retry = Retry.LATER
