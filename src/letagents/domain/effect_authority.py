"""Who may ask for an effect, and say what became of it: whoever is in the agent's turn.

(Source: supervisor 6.11.)

J16  Effects are asked for under the generation of this supervisor, in the agent's own attempt and
     living process, while a turn of the agent goes on.
J17  Whoever names a turn names the one that goes on; an agent of Cursor always does.
J18  An effect is of the process that began its turn, whichever goes on with it.
"""

import attrs

from letagents.domain import generations
from letagents.domain.effects import EffectRefused, Key
from letagents.domain.inbox import Item, Stage, TurnBinding
from letagents.domain.manifest import Entry

_IN_TURN = (Stage.PENDING, Stage.AWAITING_RESULT, Stage.RESULT_RECOVERY, Stage.PUBLISHING)
"""Where an item may be whose turn goes on; after a crash it waits until its turn is looked up."""
_REMEDY = "End this turn; its supervisor begins the next one."


BY_TURN = "cursor"
"""Whose agents always name their turn: each is a process of its own."""


@attrs.frozen
class Coordinates:
    """Of which agent, attempt, process and supervisor a call is."""

    entry_id: str
    work_attempt_id: str
    execution_id: str
    generation: int
    turn_id: str | None = None


@attrs.frozen
class Context:
    """The turn in which a call is, and the key that its effect has."""

    entry: Entry
    item: Item
    key: Key


def refused(happened: str) -> EffectRefused:
    """Return what is said to who may not ask."""
    return EffectRefused(happened, remedy=_REMEDY)


def check_current(at: Coordinates, own: int, *, about: str = "effect") -> None:
    """Let who calls pass under the generation of this supervisor, which is `own`.

    Raises:
        EffectRefused: it is under another.
    """
    if not generations.is_current(at.generation, own):
        raise refused(f"The supervised {about} belongs to a stale daemon generation.")


def context(
    at: Coordinates, own: int, entry: Entry | None, item: Item | None, request_id: str
) -> Context:
    """Return in which turn a call is; `item` is the first of the agent's that is not over.

    Raises:
        EffectRefused: it is in none that goes on.
    """
    check_current(at, own)
    entry = check_work(at, entry)
    if item is None or item.turn is None or item.stage not in _IN_TURN:
        raise refused("The supervised agent has no exact active turn.")
    turn = item.turn
    if not _is_named(at.turn_id, entry, turn):
        raise other_turn()
    return Context(entry, item, Key(at.entry_id, turn.execution_id, turn.turn_id, request_id))


def check_work(at: Coordinates, entry: Entry | None, *, about: str = "effect") -> Entry:
    """Return the agent of who calls from its attempt and living process.

    Raises:
        EffectRefused: it calls from others.
    """
    if entry is None or not _is_its(at, entry):
        raise refused(f"The supervised {about} lost its exact agent work authority.")
    return entry


def check_completion(at: Coordinates, own: int, entry: Entry | None) -> None:
    """Let who says what became of an effect pass, whichever effect that is.

    Raises:
        EffectRefused: it may not.
    """
    check_current(at, own, about="effect completion")
    entry = check_work(at, entry, about="effect completion")
    if at.turn_id is None and entry.provider == BY_TURN:
        raise refused(
            "Cursor supervised effect completion requires its exact provider turn capability."
        )


def is_in_turn(entry: Entry | None, item: Item | None, turn_id: str | None) -> bool:
    """Whether who names that turn may act for an agent; `item` is the first of it not over."""
    if entry is None or entry.provider != BY_TURN:
        return True
    if item is None or item.turn is None or item.stage not in _IN_TURN:
        return False
    return _is_named(turn_id, entry, item.turn)


def _is_named(turn_id: str | None, entry: Entry, turn: TurnBinding) -> bool:
    if turn_id is None:
        return entry.provider != BY_TURN
    return turn_id == turn.turn_id


def other_turn() -> EffectRefused:
    """Return what is said to who calls from another turn than the one that goes on."""
    return refused("The supervised effect does not belong to the exact active turn.")


def _is_its(at: Coordinates, entry: Entry) -> bool:
    execution = entry.execution
    return (
        execution is not None
        and not execution.is_over
        and execution.execution_id == at.execution_id
        and execution.work_attempt_id == at.work_attempt_id
    )
