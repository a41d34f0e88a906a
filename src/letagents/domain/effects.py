"""The journal of what a supervised agent does: each thing once, or known to be unknown.

Every tool call of a turn is an effect. It is written down before it is done and again when it is
known what became of it, and a crash may come between any two of these steps:

    prepared ── begin ──> executing ── complete ──> completed
        │                     │  └─────  fail  ───> failed
        └───────── fail ──────┼──────────────────>  failed
                              └── doubt ──> uncertain ── complete, fail ──> completed, failed

(Source: supervisor 3.4, 5.3, 5.5, 6.11.)

J1   A request id names one effect of its turn for ever: with another room, tool or arguments it is
     refused.
J2   What was completed or failed answers again as it did then, and is not done again.
J3   A change that was executing when it is asked for again, or when its supervisor died, is
     uncertain; a reading is done again.
J4   What is uncertain is never done again: only word of its outcome settles it, from who did it or
     from the person in charge.
J5   What is settled stays as it is: the same word again, or another, changes nothing.
J6   A reply to the message that the turn is about is not posted: it is the answer of the turn.
J7   A move to another room is not made during the turn: it waits for the turn's end.
J8   Whether a tool reads or changes is for the table of tools to say, never for who calls it.
J9   The effects of a turn, those of an agent that are open, and their texts are bounded; what
     would go beyond is refused before anything is done.
J10  What was only prepared when its turn ended is never done.
J11  Of a reading whose result is large only a note is kept, and of whatever is beyond all bounds.
"""

import enum
import re
from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain import surfaces
from letagents.domain.errors import LetAgentsError

PER_TURN = 128
"""So many effects one turn has at most."""
OPEN_PER_AGENT = 128
"""So many effects of one agent are unsettled at most."""
LARGEST_REQUEST = 64 * 1024
LARGEST_REQUESTS = 512 * 1024
"""Bytes of one request, and of all in a turn."""
LARGEST_RESULT = 256 * 1024
LARGEST_RESULTS = 1024 * 1024
"""Bytes of one result, and of all that are kept of a turn."""
LARGEST_ERROR = 16 * 1024
LARGEST_READ = 16 * 1024
"""Bytes of a reading's result that are kept."""

MOVE_TOOL = "join_room"
_REPLIES = ("send_message", "send_thread_message")
_ROOM = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")


class EffectRefused(LetAgentsError):
    """A supervised call was not begun, or its outcome not taken. The supervisor says why."""

    code = "effect_refused"


class State(enum.Enum):
    """How far an effect has come."""

    PREPARED = "prepared"
    EXECUTING = "executing"
    UNCERTAIN = "uncertain"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def is_settled(self) -> bool:
        """Whether nothing becomes of it any more."""
        return self in (State.COMPLETED, State.FAILED)


class Move(enum.Enum):
    """What may happen to an effect."""

    BEGIN = "begin"
    COMPLETE = "complete"
    FAIL = "fail"
    DOUBT = "doubt"
    RESET = "reset"


MOVES = {
    (State.PREPARED, Move.BEGIN): State.EXECUTING,
    (State.PREPARED, Move.COMPLETE): State.COMPLETED,  # a move, once its turn has ended
    (State.PREPARED, Move.FAIL): State.FAILED,
    (State.EXECUTING, Move.COMPLETE): State.COMPLETED,
    (State.EXECUTING, Move.FAIL): State.FAILED,
    (State.EXECUTING, Move.DOUBT): State.UNCERTAIN,
    (State.EXECUTING, Move.RESET): State.PREPARED,  # a reading
    (State.UNCERTAIN, Move.COMPLETE): State.COMPLETED,
    (State.UNCERTAIN, Move.FAIL): State.FAILED,
}
REFUSED = frozenset(
    {
        (State.PREPARED, Move.DOUBT),  # nothing was done
        (State.PREPARED, Move.RESET),
        (State.EXECUTING, Move.BEGIN),
        (State.UNCERTAIN, Move.BEGIN),  # J4
        (State.UNCERTAIN, Move.DOUBT),
        (State.UNCERTAIN, Move.RESET),
        *((state, move) for state in (State.COMPLETED, State.FAILED) for move in Move),  # J5
    }
)


@attrs.frozen
class Request:
    """What is to be done. `text` is its arguments as they are kept and compared."""

    room_id: str
    tool: str
    text: str
    replies_to: str | None = None
    """The message that it would answer."""
    destination: str | None = None
    """The room that it would move to; empty if it names none."""

    @property
    def is_change(self) -> bool:
        """Whether it may change something."""
        return not surfaces.reads(self.tool)

    @property
    def size(self) -> int:
        """How many bytes are kept of it."""
        return len(self.text.encode())


def request(room_id: str, tool: str, arguments: Mapping[str, object], text: str) -> Request:
    """Return the request that a call makes; `text` is `arguments` in the one way to write them."""
    replies_to = arguments.get("thread_parent_id") or arguments.get("reply_to")
    destination = arguments.get("name")
    return Request(
        room_id,
        tool,
        text,
        replies_to if tool in _REPLIES and isinstance(replies_to, str) else None,
        _text(destination) if tool == MOVE_TOOL else None,
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


@attrs.frozen
class Key:
    """Which effect it is. `execution_id` is the process that began the turn, whichever goes on."""

    entry_id: str
    execution_id: str
    turn_id: str
    request_id: str


@attrs.frozen
class Effect:
    """One tool call of a turn."""

    effect_id: str
    key: Key
    request: Request
    state: State
    created_at: datetime
    updated_at: datetime
    result: str | None = None
    error: str | None = None

    def moved(
        self, move: Move, *, now: datetime, result: str | None = None, error: str | None = None
    ) -> "Effect":
        """Return it after `move`, which the table allows."""
        state = MOVES[self.state, move]
        return attrs.evolve(self, state=state, updated_at=now, result=result, error=error)


@attrs.frozen
class Weight:
    """How much is kept of a turn."""

    effects: int = 0
    request_bytes: int = 0
    result_bytes: int = 0


@attrs.frozen
class Turn:
    """The turn that asks, and what it and its agent have asked for before."""

    room_id: str
    message_id: str
    weight: Weight = Weight()
    open_of_agent: int = 0


class Answer(enum.Enum):
    """What is said to who asks for an effect."""

    EXECUTE = "execute"
    """Do it, and say what became of it."""
    COMPLETED = "completed"
    """It was done; this was its result."""
    FAILED = "failed"
    """It was refused; this was its error."""
    UNCERTAIN = "uncertain"
    """It may have been done."""
    FINAL_ANSWER = "use_final_answer"
    """Answer with the turn itself."""
    ROOM_MOVE = "room_move_prepared"
    """End the turn; the move follows."""


@attrs.frozen
class Prepared:
    """What is said, and the effect as it is to be kept."""

    answer: Answer
    effect: Effect


def prepare(known: Effect | None, asked: Effect, turn: Turn, *, now: datetime) -> Prepared:
    """Decide what is said to who asks for `asked`, where `known` has its key already.

    Raises:
        EffectRefused: it is not begun, and never was.
    """
    if known is not None:
        return _again(known, asked, turn, now=now)
    _check_bounds(asked.request, turn)
    _check_move(asked.request, turn)
    return _begun(asked, turn, now=now)


def _begun(effect: Effect, turn: Turn, *, now: datetime) -> Prepared:
    request = effect.request
    if request.replies_to is not None and request.replies_to == turn.message_id:
        return Prepared(Answer.FINAL_ANSWER, effect)
    if request.destination is not None:
        return Prepared(Answer.ROOM_MOVE, effect)
    return Prepared(Answer.EXECUTE, effect.moved(Move.BEGIN, now=now))


_SETTLED = {
    State.COMPLETED: Answer.COMPLETED,
    State.FAILED: Answer.FAILED,
    State.UNCERTAIN: Answer.UNCERTAIN,
}


def _again(known: Effect, asked: Effect, turn: Turn, *, now: datetime) -> Prepared:
    if known.request != asked.request:
        raise reused()
    known = after_crash(known, now=now)
    if known.state in _SETTLED:
        return Prepared(_SETTLED[known.state], known)
    return _begun(known, turn, now=now)


def reused() -> EffectRefused:
    """Return what is said to who asks for something else under an id that was used."""
    return EffectRefused(
        "A supervised MCP request id was reused for a different effect; refusing ambiguous "
        "execution.",
        remedy="Call the tool again under a request id of its own.",
    )


def _check_bounds(request: Request, turn: Turn) -> None:
    too_many = turn.weight.effects >= PER_TURN or turn.open_of_agent >= OPEN_PER_AGENT
    too_large = (
        request.size > LARGEST_REQUEST
        or turn.weight.request_bytes + request.size > LARGEST_REQUESTS
    )
    if too_many:
        raise EffectRefused(
            "The supervised effect journal has no room for another effect of this turn.",
            remedy="End the turn with what was done so far.",
        )
    if too_large:
        raise EffectRefused(
            "The supervised effect request is larger than the journal keeps.",
            remedy="Pass less in one call.",
        )


def _check_move(request: Request, turn: Turn) -> None:
    destination = request.destination
    if destination is None:
        return
    if not _ROOM.fullmatch(destination) or destination == turn.room_id:
        raise EffectRefused(
            "A room move requires a different valid destination room.",
            remedy="Pass the name of another room.",
        )


def after_crash(effect: Effect, *, now: datetime) -> Effect:
    """Return what is known of the effect once nobody is left who was doing it."""
    if effect.state is not State.EXECUTING:
        return effect
    if not effect.request.is_change:
        return effect.moved(Move.RESET, now=now)
    return effect.moved(Move.DOUBT, now=now, error=UNKNOWN)


UNKNOWN = "The mutating tool outcome is uncertain."
HAPPENED = "The person in charge has seen that this was done."
NEVER_HAPPENED = "The person in charge has seen that this was not done."
NOT_DONE = "The turn ended before this was done; nothing was done."


def completed(effect: Effect, result: str, *, now: datetime) -> Effect:
    """Return the effect once it is known that it was done, with `result`."""
    return (
        effect if effect.state.is_settled else effect.moved(Move.COMPLETE, now=now, result=result)
    )


def failed(effect: Effect, error: str, *, now: datetime) -> Effect:
    """Return the effect once it is known that it was not done, for that reason."""
    if effect.state.is_settled:
        return effect
    return effect.moved(Move.FAIL, now=now, error=error[: LARGEST_ERROR // 4])


def settled_by_person(effect: Effect, result: str | None, *, now: datetime) -> Effect:
    """Return an uncertain effect once a person has seen whether it happened.

    `result` is what is answered from now on if it did; without one it did not.

    Raises:
        EffectRefused: it is not uncertain.
    """
    if effect.state is not State.UNCERTAIN:
        raise EffectRefused(
            f"The effect {effect.effect_id} is not uncertain: it is {effect.state.value}.",
            remedy="`letagents effects` lists those that are.",
        )
    if result is None:
        return failed(effect, NEVER_HAPPENED, now=now)
    return completed(effect, result, now=now)


def when_turn_ends(effect: Effect, *, now: datetime, is_next: bool = False) -> Effect:
    """Return the effect once its turn has ended; one that is done next, a move, stays for that."""
    is_open = effect.state is State.PREPARED and not is_next
    return effect.moved(Move.FAIL, now=now, error=NOT_DONE) if is_open else effect


def is_kept(request: Request, size: int, *, kept_of_turn: int = 0) -> bool:
    """Whether a result of `size` bytes is kept; else only a note of it is."""
    if not request.is_change and size > LARGEST_READ:
        return False
    return size <= LARGEST_RESULT and kept_of_turn + size <= LARGEST_RESULTS


def is_listed_right(tool: str, *, is_change: bool) -> bool:
    """Whether who calls takes the tool for what the table says it is."""
    return surfaces.reads(tool) is not is_change
