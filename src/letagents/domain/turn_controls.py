"""A person stops the turn that an agent is in, or corrects it; what is known of that afterwards.

(Source: supervisor 3.7, 6.2, 6.3, 6.4.)

J141  A turn is stopped by who names exactly it: its supervisor, agent, room, attempt, process,
      conversation, message and id, as they are now; and no turn but that one.
J142  That a turn is to be stopped is written down before its program is told.
J143  Under the same name an action is begun once: asked for again, it is told how it stands.
J144  Whether it was stopped is written down with the end of the turn, from whatever tells that.
J145  What cannot be known is uncertain until the turn's end is found out, or a person says.
J146  A turn that was stopped for a correction is followed by another one about its message, which
      tells the correction; one that had ended by itself is not.
J147  As long as a stop is under way or uncertain no other one is begun of its agent.
"""

import enum
from datetime import datetime

import attrs

from letagents.domain import inbox, turns
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.inbox import Item, Stage
from letagents.domain.manifest import Entry, TurnControl, TurnControlStatus
from letagents.domain.recovery import Desired
from letagents.domain.turns import Fate

LONGEST_CORRECTION = 4000
"""Characters of what a person says to correct a turn."""

_LOOK = "Look again: `letagents agents status AGENT`."
_OPEN = (TurnControlStatus.DISPATCHING, TurnControlStatus.UNCERTAIN)


class TurnControlRefused(LetAgentsError):
    """No turn is stopped. Nothing was changed."""

    code = "turn_control_refused"


class Resolution(enum.Enum):
    """What a person has seen of a stop that was uncertain."""

    APPLIED = "applied"
    NOT_APPLIED = "not_applied"


@attrs.frozen(kw_only=True)
class Named:
    """The turn that is to be stopped, as who asks for it saw it."""

    room_id: str
    work_attempt_id: str
    execution_id: str
    continuation_id: str
    turn_id: str
    item_id: str
    message_id: str


def check_action(action_id: str, correction: str | None) -> None:
    """Let an action pass that has a name, and a correction that can be told.

    Raises:
        Malformed: it has none.
    """
    if not action_id.strip() or len(action_id) > 200:
        raise Malformed("An action has a name of 1 to 200 characters.", remedy="Pass one.")
    if correction is not None and not 1 <= len(correction.strip()) <= LONGEST_CORRECTION:
        raise Malformed(
            f"A correction is a text of 1 to {LONGEST_CORRECTION} characters.",
            remedy="Pass one, or null to stop the turn alone.",
        )


def begun(
    entry: Entry,
    first: Item | None,
    named: Named,
    action_id: str,
    correction: str | None,
    *,
    now: datetime,
) -> TurnControl:
    """Return the stop that is about to be done; `first` is what the agent is at.

    Raises:
        TurnControlRefused: the agent is not in that turn now, or another stop is open.
    """
    _check_free(entry, first)
    if entry.desired is not Desired.RUNNING:
        raise TurnControlRefused(
            "Turn control is unavailable while a lifecycle action is in flight for this supervised "
            "entry.",
            remedy="An agent that is to stop or pause breaks its turn off by itself.",
        )
    if first is None or not _is_exactly(entry, first, named):
        raise TurnControlRefused(
            "The agent is not in exactly that turn any more; refresh before stopping one.",
            remedy=_LOOK,
        )
    return TurnControl(
        action_id=action_id,
        work_attempt_id=named.work_attempt_id,
        execution_id=named.execution_id,
        item_id=named.item_id,
        turn_id=named.turn_id,
        status=TurnControlStatus.DISPATCHING,
        correction=correction.strip() if correction is not None else None,
        recorded_at=now,
        updated_at=now,
    )


def _check_free(entry: Entry, first: Item | None) -> None:
    if is_open(entry.control, first):
        raise TurnControlRefused(
            "A turn-control action is already in flight for this exact supervised entry.",
            remedy="Wait until it is known what became of it, or say so: "
            "`letagents agents stop-turn AGENT --stopped` or `--not-stopped`.",
        )


def is_open(control: TurnControl | None, first: Item | None) -> bool:
    """Whether a stop is under way or uncertain, of the turn in which its agent still is."""
    if control is None or first is None or control.status not in _OPEN:
        return False
    return is_about(control, first)


def _is_exactly(entry: Entry, first: Item, named: Named) -> bool:
    execution, turn = entry.execution, first.turn
    if execution is None or execution.is_over or turn is None:
        return False
    if first.stage not in (Stage.AWAITING_RESULT, Stage.RESULT_RECOVERY):
        return False
    is_now = Named(
        room_id=entry.room_id,
        work_attempt_id=execution.work_attempt_id,
        execution_id=execution.execution_id,
        continuation_id=entry.continuation_id or "",
        turn_id=turn.turn_id,
        item_id=first.item_id,
        message_id=first.message_id,
    )
    return is_now == named and first.room_id == named.room_id


def is_about(control: TurnControl, item: Item) -> bool:
    """Whether a stop is of the turn that an item has now."""
    return item.turn is not None and item.turn.turn_id == control.turn_id


def doubtful(control: TurnControl, why: str, *, now: datetime) -> TurnControl:
    """Return a stop that was tried, and of which it is not known yet whether it took effect."""
    if control.status is not TurnControlStatus.DISPATCHING:
        return control
    return attrs.evolve(control, status=TurnControlStatus.UNCERTAIN, error=why, updated_at=now)


def after_crash(control: TurnControl, *, now: datetime) -> TurnControl:
    """Return how a stop stands whose supervisor has died."""
    return doubtful(control, "Its supervisor ended before it was known.", now=now)


def ended(control: TurnControl, fate: Fate, *, now: datetime) -> TurnControl:
    """Return a stop once its turn has ended so."""
    if control.status not in _OPEN:
        return control
    if isinstance(fate, turns.Unknowable | turns.Running):
        return doubtful(control, "How the turn ended cannot be known.", now=now)
    was = isinstance(fate, turns.Interrupted)
    why = None if was else "The turn had ended by itself."
    return _settled(control, interrupted=was, why=why, now=now)


def stopped(item: Item, control: TurnControl | None) -> Item:
    """Return an item whose turn was broken off: passed over, or to be begun with a correction."""
    if control is None or not is_about(control, item) or control.correction is None:
        return inbox.cancelled(item)
    return inbox.corrected(item, control.correction)


def resolved(
    control: TurnControl | None,
    item: Item | None,
    action_id: str,
    resolution: Resolution,
    *,
    now: datetime,
) -> tuple[TurnControl, Item | None]:
    """Return a stop once a person has said what became of it, and the item if that changes.

    Raises:
        TurnControlRefused: it is not uncertain, or is another one; or its turn goes on.
    """
    if control is None or control.action_id != action_id:
        raise TurnControlRefused("The agent has no turn-control action of that name.", remedy=_LOOK)
    if control.status is not TurnControlStatus.UNCERTAIN:
        raise TurnControlRefused(
            f"That turn-control action is not uncertain: it is {control.status.value}.",
            remedy=_LOOK,
        )
    if resolution is Resolution.NOT_APPLIED:
        told = _settled(control, interrupted=False, why=control.error, now=now)
        return attrs.evolve(told, status=TurnControlStatus.RETRYABLE), None
    if item is None or not is_about(control, item) or item.is_over:
        return _settled(control, interrupted=True, why=None, now=now), None
    if item.stage is not Stage.BLOCKED:
        raise TurnControlRefused(
            "What became of that turn is still being looked up.", remedy="Wait a moment."
        )
    return _settled(control, interrupted=True, why=None, now=now), stopped(item, control)


def _settled(
    control: TurnControl, *, interrupted: bool, why: str | None, now: datetime
) -> TurnControl:
    return attrs.evolve(
        control,
        status=TurnControlStatus.COMPLETED,
        interrupted=interrupted,
        error=why,
        updated_at=now,
    )
