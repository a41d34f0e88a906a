"""What a supervised agent is still to be told: each message is one turn, first in, first out.

Every step of an item is written down before the next begins, so that a crash comes between two:
claimed, about to start a turn, the turn's id, how it ended, published, acknowledged.

(Source: supervisor 2.7, 6.10, 10.2.)

J20  Only the first item of an agent that is not over is worked on; one that is blocked stops all
     behind it.
J21  What is to be done is written down before a turn is started: of what was about to start when
     the supervisor died it is looked up whether it did.
J22  An item whose turn may have begun is given no other until that is known, or a person says so.
J23  How a turn ended is kept before anything is published; it is then published under the same
     key until a message of the room is its answer.
J24  An item is over together with the message that answers it, or with the word that none does.
J25  What fails is tried again twice, and then blocked with the reason.
J26  What is blocked goes on when a person says so, with a new turn unless its answer is there; it
     is skipped only if no turn can have begun.
J27  The keys of an item follow from agent, room and message, so that the same message is one item.
J28  A turn that can be proven never to have begun is started again.
"""

import enum
import hashlib
from collections.abc import Iterable
from typing import Any

import attrs

from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId
from letagents.domain.item_events import ItemEvent

INITIAL = "desktop-initial-message:"
"""How the name begins of what an agent is told at its beginning, and is no message of its room."""
_LONGEST_KEY = 200
_CORRECTED = ":correction:"
ATTEMPTS = 3
RETRIES = 2


class Stage(enum.Enum):
    """How far an item has come."""

    PENDING = "pending"
    DISPATCHING = "dispatching"
    AWAITING_RESULT = "awaiting_result"
    RESULT_RECOVERY = "result_recovery"
    PUBLISHING = "publishing"
    RETRYABLE = "retryable"
    BLOCKED = "blocked"
    ACKNOWLEDGED = "acknowledged"
    ACKNOWLEDGED_NO_REPLY = "acknowledged_no_reply"
    CANCELLED_BY_ROOM_MOVE = "cancelled_by_room_move"
    CANCELLED_BY_USER = "cancelled_by_user"

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be done any more."""
        return not FOLLOWING[self]


_S = Stage
FOLLOWING: dict[Stage, frozenset[Stage]] = {
    _S.PENDING: frozenset(
        {
            _S.DISPATCHING,
            _S.AWAITING_RESULT,  # it has a turn already
            _S.PUBLISHING,  # it has its answer already
            _S.BLOCKED,
            _S.CANCELLED_BY_ROOM_MOVE,
            _S.CANCELLED_BY_USER,
        }
    ),
    _S.DISPATCHING: frozenset({_S.AWAITING_RESULT, _S.RETRYABLE, _S.BLOCKED}),
    _S.AWAITING_RESULT: frozenset(
        {
            _S.RESULT_RECOVERY,
            _S.PUBLISHING,
            _S.ACKNOWLEDGED_NO_REPLY,
            _S.RETRYABLE,
            _S.BLOCKED,
            _S.CANCELLED_BY_USER,
        }
    ),
    _S.RESULT_RECOVERY: frozenset(
        {_S.PUBLISHING, _S.ACKNOWLEDGED_NO_REPLY, _S.RETRYABLE, _S.BLOCKED, _S.CANCELLED_BY_USER}
    ),
    _S.PUBLISHING: frozenset({_S.ACKNOWLEDGED, _S.RETRYABLE, _S.BLOCKED}),
    _S.RETRYABLE: frozenset({_S.PENDING, _S.BLOCKED}),
    _S.BLOCKED: frozenset({_S.PENDING, _S.CANCELLED_BY_ROOM_MOVE, _S.CANCELLED_BY_USER}),
    _S.ACKNOWLEDGED: frozenset(),
    _S.ACKNOWLEDGED_NO_REPLY: frozenset(),
    _S.CANCELLED_BY_ROOM_MOVE: frozenset(),
    _S.CANCELLED_BY_USER: frozenset(),
}
"""Which stage may follow which."""


class InboxRefused(LetAgentsError):
    """A step of an item that may not follow. Nothing was changed."""

    code = "inbox_refused"


class How(enum.Enum):
    """How a turn ended."""

    REPLY = "reply"
    NO_REPLY = "no_reply"
    UNREADABLE = "unreadable"
    """It ended, and its words could not be read."""
    NEVER_BEGAN = "never_began"
    """It is proven that it never began."""


@attrs.frozen
class Outcome:
    """How a turn ended, and with which words for the room."""

    how: How
    text: str | None = None


def reply(text: str) -> Outcome:
    """Return the outcome of a turn that has an answer for the room."""
    return Outcome(How.REPLY, text)


NO_REPLY = Outcome(How.NO_REPLY)
UNREADABLE = Outcome(How.UNREADABLE)
NEVER_BEGAN = Outcome(How.NEVER_BEGAN)


@attrs.frozen
class TurnBinding:
    """Which turn an item has, and of which process and conversation."""

    turn_id: str
    work_attempt_id: str
    execution_id: str
    """The process that began it, whichever goes on."""
    continuation_id: str


@attrs.frozen
class Move:
    """To which room an agent asked to be moved, and by which effect."""

    destination: str
    effect_id: str


@attrs.frozen
class Item:
    """One message that an agent is to answer, or to pass over."""

    item_id: str
    entry_id: str
    room_id: str
    message_id: str
    sequence: int
    stage: Stage = Stage.PENDING
    attempts: int = 0
    retries: int = 0
    may_have_begun: bool = False
    """Whether a turn of it may ever have begun."""
    is_unsure: bool = False
    """Whether that turn is to be looked up before anything else is done."""
    message: str = "{}"
    """What was said, as JSON."""
    activation: str = "{}"
    """Why it is for the agent, as JSON."""
    turn: TurnBinding | None = None
    outcome: Outcome | None = None
    published_as: str | None = None
    trouble: str | None = None
    is_in_thread: bool = False
    """Whether its message is a reply in a thread."""
    opens_thread: bool = False
    """Whether its turn asked for its answer to open one."""
    proposal: Outcome | None = None
    """What its turn has said by a tool that its answer is."""
    move: Move | None = None
    """The move that its turn has asked for."""
    events: tuple[ItemEvent, ...] = ()
    """What has happened to it, the newest last."""
    mark: str = ""
    """What tells it apart from one that an earlier agent of the same name had."""
    corrections: tuple[str, ...] = ()
    """With which words a person had its turns begun anew."""

    @property
    def said(self) -> MessageId | None:
        """The message of the room that it is about; None where nobody has said it there."""
        return None if self.message_id.startswith(INITIAL) else MessageId.parse(self.message_id)

    @property
    def turn_key(self) -> str:
        """The name under which its turn is found in a transcript; after a correction another."""
        count = len(self.corrections)
        return f"{self.item_id}{_CORRECTED}{count}" if count else self.item_id

    @property
    def action_key(self) -> str:
        """The key under which its turn is done."""
        return f"{_place(self)}:action:v1"

    @property
    def reply_key(self) -> str:
        """The key under which its answer is published."""
        key = f"{_place(self)}:reply:v1"
        if len(key) <= _LONGEST_KEY:
            return key
        return f"supervised-room:{hashlib.sha256(key.encode()).hexdigest()}:reply:v1"

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be done about it any more."""
        return self.stage.is_over

    @property
    def has_answer(self) -> bool:
        """Whether words for the room are kept."""
        return self.outcome is not None and self.outcome.how is How.REPLY


def _place(item: Item) -> str:
    mark = f":{item.mark}" if item.mark else ""
    return f"supervised-room:{item.entry_id}:{item.room_id}:{item.message_id}{mark}"


def item_id(entry_id: str, room_id: str, message_id: str) -> str:
    """Return the name of the item of a message, which has no other."""
    return f"supervised-room:{entry_id}:{room_id}:{message_id}"


def item_of(turn_key: str) -> str:
    """Return the name of the item whose turn has that name."""
    return turn_key.partition(_CORRECTED)[0]


def head(items: Iterable[Item]) -> Item | None:
    """Return the first item of one agent that is not over, if it may be worked on."""
    unfinished = (item for item in items if not item.is_over)
    first = min(unfinished, key=lambda item: item.sequence, default=None)
    return None if first is None or first.stage is Stage.BLOCKED else first


def _to(item: Item, stage: Stage, **changes: Any) -> Item:
    if stage not in FOLLOWING[item.stage]:
        raise InboxRefused(
            f"Invalid supervised inbox transition: {item.stage.value} -> {stage.value}.",
            remedy="Look at the item again: somebody went on with it meanwhile.",
        )
    return attrs.evolve(item, stage=stage, **changes)


def dispatched(item: Item) -> Item:
    """Return the item when its turn is about to be started.

    Raises:
        InboxRefused: it may have a turn, or is not waiting for one.
    """
    if item.is_unsure or item.has_answer:
        raise InboxRefused(
            f"The item {item.item_id} may have its turn already.",
            remedy="Look up how that one ended.",
        )
    attempts = item.attempts + 1
    return _to(item, Stage.DISPATCHING, attempts=attempts, may_have_begun=True, is_unsure=True)


def started(item: Item, turn: TurnBinding) -> Item:
    """Return the item once its turn has its id."""
    return _to(item, Stage.AWAITING_RESULT, turn=turn)


def looked_up(item: Item) -> Item:
    """Return a waiting item when how its turn ended is about to be looked up."""
    if not item.is_unsure:
        raise InboxRefused(
            f"The item {item.item_id} has no turn to look up.", remedy="Start its turn."
        )
    return _to(item, Stage.AWAITING_RESULT)


def ended(item: Item, outcome: Outcome) -> Item:
    """Return the item once it is known how its turn ended."""
    if outcome.how is How.REPLY:
        return _to(item, Stage.PUBLISHING, outcome=outcome)
    if outcome.how is How.NO_REPLY:
        return _to(item, Stage.ACKNOWLEDGED_NO_REPLY, outcome=outcome)
    if outcome.how is How.NEVER_BEGAN:
        fresh = attrs.evolve(_without_turn(item), may_have_begun=False, is_unsure=False)
        return unsuccessful(fresh, "Its turn never began.")
    if item.stage is Stage.RESULT_RECOVERY:
        return blocked(item, "How its turn ended cannot be read.")
    return _to(item, Stage.RESULT_RECOVERY, outcome=outcome)


def publishing(item: Item) -> Item:
    """Return a waiting item whose turn is over, when its answer is about to be published again."""
    if not item.has_answer:
        raise InboxRefused(
            f"The item {item.item_id} has nothing to publish.", remedy="Look at the item again."
        )
    return _to(item, Stage.PUBLISHING)


def published(item: Item, message_id: str, room_id: str) -> Item:
    """Return the item once its answer is a message of its room.

    Raises:
        InboxRefused: what answered names no message, or one of another room.
    """
    if not message_id or room_id != item.room_id:
        raise InboxRefused(
            "Room publication did not return a nonempty canonical message id in the matching room.",
            remedy="Publish again: its key makes it the same message.",
        )
    return _to(item, Stage.ACKNOWLEDGED, published_as=message_id)


def unsuccessful(item: Item, why: str) -> Item:
    """Return the item after something failed that may succeed another time."""
    if item.attempts >= ATTEMPTS or item.retries >= RETRIES:
        return blocked(item, why)
    waiting = _to(item, Stage.RETRYABLE, retries=item.retries + 1, trouble=why)
    return _to(waiting, Stage.PENDING)


def blocked(item: Item, why: str) -> Item:
    """Return the item once only a person can let it go on."""
    return _to(item, Stage.BLOCKED, trouble=why)


def released(item: Item) -> Item:
    """Return a blocked item once a person wants it tried again."""
    if item.stage is not Stage.BLOCKED:
        raise InboxRefused(
            f"The item {item.item_id} is not blocked.", remedy="Look at the item again."
        )
    item = _to(item, Stage.PENDING, attempts=0, retries=0, trouble=None, is_unsure=False)
    return item if item.has_answer else _without_turn(item)


def _without_turn(item: Item) -> Item:
    """Return an item that forgets its turn, and all that was said and asked for in it."""
    return attrs.evolve(item, turn=None, outcome=None, proposal=None, opens_thread=False, move=None)


def skipped(item: Item) -> Item:
    """Return an item once a person wants it passed over.

    Raises:
        InboxRefused: a turn of it may have begun, or nothing is left to be done about it.
    """
    if item.is_over:
        raise InboxRefused(
            f"{item.message_id} is over already: {item.stage.value}.",
            remedy="`letagents agents status` shows what each agent is at.",
        )
    if item.may_have_begun:
        raise InboxRefused(
            "This message cannot be skipped because provider work may already have started.",
            remedy="Let it be tried again, or stop the turn.",
        )
    return _to(item, Stage.CANCELLED_BY_USER)


def after_crash(item: Item) -> Item:
    """Return where an item stands once the supervisor that was at it has died."""
    if item.is_over or item.stage in (Stage.PENDING, Stage.BLOCKED, Stage.RESULT_RECOVERY):
        return item
    return attrs.evolve(item, stage=Stage.PENDING)


def cancelled(item: Item) -> Item:
    """Return the item once a person has broken its turn off."""
    return _to(item, Stage.CANCELLED_BY_USER)


def corrected(item: Item, correction: str) -> Item:
    """Return the item once a person has broken its turn off, to be begun anew with these words."""
    if item.stage is not Stage.BLOCKED:
        item = _to(item, Stage.RETRYABLE)
    fresh = _to(item, Stage.PENDING, attempts=0, retries=0, trouble=None, is_unsure=False)
    return attrs.evolve(_without_turn(fresh), corrections=(*item.corrections, correction))


def cancelled_by_move(item: Item) -> Item:
    """Return a waiting item once its agent has left the room."""
    return _to(item, Stage.CANCELLED_BY_ROOM_MOVE)
