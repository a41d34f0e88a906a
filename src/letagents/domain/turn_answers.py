"""How a turn says by a tool what its answer is, and where it goes.

A program whose last words cannot be told from what it thinks aloud says its answer by a tool.

(Source: supervisor 5.7, 6.11.)

J80  A turn says by the tool once how it is answered, and only where its provider needs that; the
     same said again is the same, and nothing else is begun in the turn afterwards.
J81  It is not said while a change of that turn is under way.
J82  What was said by the tool is the turn's answer, however its program ends.
J83  An answer opens a thread if its turn asked for that; one to a message of a thread stays there.
J157  A turn that was broken off is passed over where a person has stopped it, and nowhere else: who
      pauses an agent, or ends its program, leaves a message that waits for a person's word.
J153  An answer is posted as a room keeps it: what no room keeps of it is marked, and one that is
     too long is cut and says so. Nobody is there who could be asked to say it otherwise.
"""

from collections.abc import Iterable, Mapping

import attrs

from letagents.domain import inbox, messages, turns
from letagents.domain.effects import Effect, EffectRefused, State
from letagents.domain.inbox import NO_REPLY, How, Item, Outcome, reply
from letagents.domain.names import is_blank
from letagents.domain.turns import Answered, Fate, Silent

COMPLETE, THREAD = "complete_room_turn", "set_reply_thread"
TOOLS = (COMPLETE, THREAD)
"""What a supervisor writes down and does not run."""
BROKEN_OFF = "Its turn was broken off before it had an answer."
LARGEST = 32 * 1024
"""Bytes of an answer that is said by the tool."""
_SAY_IT = "Call complete_room_turn with outcome reply and its text, or with outcome no_reply alone."


_BY_TOOL = frozenset({"cursor"})
_CUT = "\n\n[letagents left out the rest of this answer: {:,} characters]"


def is_said_by_tool(provider: str | None) -> bool:
    """Whether turns of that provider say their answer by the tool, and not at their end."""
    return provider in _BY_TOOL


def said(item: Item | None) -> Answered | Silent | None:
    """Return the answer that the turn of an item has said by the tool; None if it has said none."""
    proposal = item.proposal if item is not None else None
    if proposal is None:
        return None
    return Answered(proposal.text) if proposal.text is not None else Silent()


def postable(text: str) -> str:
    """Return an answer as it is posted (J153)."""
    kept = messages.keepable(text)
    if len(kept) <= messages.TEXT_LIMIT:
        return kept
    most = messages.TEXT_LIMIT - len(_CUT.format(len(kept)))
    return kept[:most] + _CUT.format(len(kept) - most)


def _refused(happened: str, remedy: str = _SAY_IT) -> EffectRefused:
    return EffectRefused(happened, remedy=remedy)


def proposed(arguments: Mapping[str, object]) -> Outcome:
    """Return the answer that a call of the tool says.

    Raises:
        EffectRefused: it says none.
    """
    outcome, text = arguments.get("outcome"), arguments.get("text")
    if outcome == How.NO_REPLY.value:
        if text is not None:
            raise _refused("complete_room_turn must omit text when outcome is no_reply.")
        return NO_REPLY
    if outcome != How.REPLY.value or not isinstance(text, str | None):
        raise _refused("The supervised room-turn completion proposal is malformed.")
    words = (text or "").strip()
    if is_blank(words):
        raise _refused("complete_room_turn requires non-empty text when outcome is reply.")
    if len(words.encode()) > LARGEST:
        raise _refused("complete_room_turn reply exceeds the 32 KiB public-message limit.")
    return reply(words)


def check_open(item: Item, tool: str) -> None:
    """Let a call begin in a turn that has not said its answer, or says it again.

    Raises:
        EffectRefused: it has said it.
    """
    if item.proposal is not None and tool != COMPLETE:
        raise _refused(
            "The supervised room turn is already complete; no new effects may be admitted.",
            "End the turn.",
        )


def completed(
    item: Item, provider: str, arguments: Mapping[str, object], under_way: Iterable[Effect]
) -> Item:
    """Return the item once its turn has said its answer; `under_way` is what the turn has begun.

    Raises:
        EffectRefused: it may not, or has said another.
    """
    if not is_said_by_tool(provider):
        raise _refused(
            "The structured room-turn completion channel is reserved for supervised Cursor turns.",
            "Give the answer as the final one of the turn.",
        )
    said = proposed(arguments)
    if item.proposal not in (None, said):
        raise _refused(
            "The supervised room turn already recorded a different completion proposal.",
            "End the turn: what was said first is its answer.",
        )
    if any(one.state is State.EXECUTING and one.request.is_change for one in under_way):
        raise _refused(
            "The supervised room turn cannot complete while an earlier effect is still executing.",
            "Wait for the result of that call, then call complete_room_turn again.",
        )
    return attrs.evolve(item, proposal=said)


def threaded(item: Item, arguments: Mapping[str, object]) -> Item:
    """Return the item once its turn has asked for its answer to open a thread.

    Raises:
        EffectRefused: it asks for something else.
    """
    if arguments:
        raise _refused("set_reply_thread takes an empty object.", "Call it without arguments.")
    return attrs.evolve(item, opens_thread=True)


def goes_into_thread(item: Item) -> bool:
    """Whether the answer of an item belongs to the thread of its message."""
    return item.opens_thread or item.is_in_thread


def ended(item: Item, fate: Fate) -> Item:
    """Return an item once its turn is over, or cannot be known to be."""
    if item.proposal is not None:
        return inbox.ended(item, item.proposal)
    match fate:
        case turns.Answered():
            return inbox.ended(item, inbox.reply(fate.text))
        case turns.Silent():
            return inbox.ended(item, inbox.NO_REPLY)
        case turns.Unreadable():
            return inbox.ended(item, inbox.UNREADABLE)
        case turns.NeverStarted():
            return inbox.ended(item, inbox.NEVER_BEGAN)
        case turns.Interrupted():
            return inbox.blocked(item, BROKEN_OFF)
        case turns.Failed() | turns.Unknowable():
            return inbox.blocked(item, fate.why)
    return item
