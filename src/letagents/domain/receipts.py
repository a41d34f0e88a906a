"""What becomes of a message with those whom it is for: each of them has a receipt for it.

A70  Whom a message wakes is decided once, in the transaction that says it. Each agent that it wakes
     has a receipt then, which is of one of its sessions.
A71  A receipt is queued until its session is shown the message; then the session is responding. It
     may say that it is blocked, and that it goes on.
A72  Whatever a session says acknowledges what it was shown before; a quotation, and what is said in
     a thread, acknowledges also what it refers to, shown or not.
A73  What is acknowledged stays so.
A74  Where a session ends, what it has not acknowledged passes to the oldest other session of its
     agent, as it stands. If there is none it is unavailable, until one is shown it.
A75  Who has a receipt is woken for its reason, and no other session of its agent is: the session
     that it is of or, if that is not there, the one that stands for the agent.
A76  What woke others when it was said wakes nobody who was not woken then, but whom it names,
     quotes, or answers in a thread: they may have been away.
A79  A session says of a message that it has how far it is with that: that it responds, cannot go
     on, or is done. Nobody says so for another.
"""

import enum
from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain.activation import Activation, Decision, Reason
from letagents.domain.errors import LetAgentsError
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.roster import Listener, Roster


class State(enum.Enum):
    """How far a message has come with one of those whom it is for."""

    QUEUED = "queued"
    RESPONDING = "responding"
    BLOCKED = "blocked"
    ACKNOWLEDGED = "acknowledged"
    UNAVAILABLE = "unavailable"

    @property
    def is_open(self) -> bool:
        """Whether its session has it, and something is to come of it."""
        return self in OPEN


OPEN = frozenset({State.QUEUED, State.RESPONDING, State.BLOCKED})


class NoReceipt(LetAgentsError):
    """A message is not for whoever says how far they are with it."""

    code = "no_receipt"

    @classmethod
    def of(cls, message_id: MessageId) -> "NoReceipt":
        """Return the error for a message."""
        return cls(
            f"{message_id} woke you not, or another of your sessions has it.",
            remedy="Say it in the room: send_message.",
        )


class Move(enum.Enum):
    """What happens to a receipt."""

    SHOW = "show"
    """Its session is shown the message."""
    ACKNOWLEDGE = "acknowledge"
    """Its session says something."""
    BLOCK = "block"
    """Its session says that it cannot go on."""
    RESUME = "resume"
    """Its session says that it goes on."""
    LOSE = "lose"
    """Its session has ended, and nobody is there in its place."""


MOVES: Mapping[tuple[State, Move], State] = {
    (State.QUEUED, Move.SHOW): State.RESPONDING,
    (State.QUEUED, Move.ACKNOWLEDGE): State.ACKNOWLEDGED,
    (State.QUEUED, Move.LOSE): State.UNAVAILABLE,
    (State.RESPONDING, Move.ACKNOWLEDGE): State.ACKNOWLEDGED,
    (State.RESPONDING, Move.BLOCK): State.BLOCKED,
    (State.RESPONDING, Move.LOSE): State.UNAVAILABLE,
    (State.BLOCKED, Move.ACKNOWLEDGE): State.ACKNOWLEDGED,
    (State.BLOCKED, Move.RESUME): State.RESPONDING,
    (State.BLOCKED, Move.LOSE): State.UNAVAILABLE,
    (State.UNAVAILABLE, Move.SHOW): State.RESPONDING,
    (State.UNAVAILABLE, Move.ACKNOWLEDGE): State.ACKNOWLEDGED,
}
IDLE = frozenset(
    {
        (State.QUEUED, Move.BLOCK),  # it knows nothing of the message yet
        (State.QUEUED, Move.RESUME),
        (State.RESPONDING, Move.SHOW),
        (State.RESPONDING, Move.RESUME),
        (State.BLOCKED, Move.SHOW),
        (State.BLOCKED, Move.BLOCK),
        (State.UNAVAILABLE, Move.BLOCK),
        (State.UNAVAILABLE, Move.RESUME),
        (State.UNAVAILABLE, Move.LOSE),
        *((State.ACKNOWLEDGED, move) for move in Move),  # A73
    }
)
"""What changes nothing."""

SAID: Mapping[State, tuple[Move, ...]] = {
    State.RESPONDING: (Move.SHOW, Move.RESUME),
    State.BLOCKED: (Move.SHOW, Move.BLOCK),
    State.ACKNOWLEDGED: (Move.ACKNOWLEDGE,),
}
"""What happens to the receipt of a session that says how far it is; who says so was shown it."""

_NAMED = frozenset({Reason.EXPLICIT_MENTION, Reason.REPLY_TARGET, Reason.THREAD_PARTICIPANT})
_PASSED_OVER = Activation(Decision.SILENT, Reason.UNADDRESSED)


@attrs.frozen
class Recipient:
    """One whom a message wakes as it is said, and why."""

    listener: Listener
    reason: Reason


@attrs.frozen(kw_only=True)
class Receipt:
    """How a message stands with one agent. `changed` counts the changes of a room's receipts."""

    message_id: MessageId
    agent_key: str
    session_id: SessionId
    actor_label: str
    reason: Reason
    created_at: datetime
    updated_at: datetime
    state: State = State.QUEUED
    changed: int = 0

    def moved(
        self, move: Move, *, changed: int, now: datetime, to: SessionId | None = None
    ) -> "Receipt":
        """Return the receipt after `move`, of the session `to` if one is given.

        It is this one if nothing has changed.
        """
        state = MOVES.get((self.state, move), self.state)
        session_id = to if to is not None and state is not self.state else self.session_id
        return self.with_state(state, session_id, changed=changed, now=now)

    def with_state(
        self, state: State, session_id: SessionId, *, changed: int, now: datetime
    ) -> "Receipt":
        """Return the receipt in that state, of that session; this one if that is nothing new."""
        if (state, session_id) == (self.state, self.session_id):
            return self
        return attrs.evolve(
            self, state=state, session_id=session_id, changed=changed, updated_at=now
        )


def said(receipt: Receipt, state: State, *, changed: int, now: datetime, by: SessionId) -> Receipt:
    """Return the receipt after its session `by` said how far it is (A79)."""
    for move in SAID[state]:
        receipt = receipt.moved(move, changed=changed, now=now, to=by)
    return receipt


def of(message_id: MessageId, recipient: Recipient, now: datetime) -> Receipt:
    """Return the receipt of one whom a message wakes that is said now."""
    listener = recipient.listener
    return Receipt(
        message_id=message_id,
        agent_key=listener.agent_key,
        session_id=listener.session_id,
        actor_label=listener.actor_label,
        reason=recipient.reason,
        created_at=now,
        updated_at=now,
    )


def has(receipt: Receipt, listener: Listener, roster: Roster) -> bool:
    """Whether a receipt of the listener's agent is the listener's (A75)."""
    if receipt.session_id == listener.session_id:
        return True
    is_there = roster.has(receipt.session_id, listener.agent_key)
    return not is_there and roster.stands_for_its_agent(listener)


def left(receipt: Receipt, heir: SessionId | None, *, changed: int, now: datetime) -> Receipt:
    """Return an open receipt after its session ended; `heir` stands for its agent now (A74)."""
    if heir is not None:
        return receipt.with_state(receipt.state, heir, changed=changed, now=now)
    return receipt.moved(Move.LOSE, changed=changed, now=now)


def decided(
    found: Activation,
    receipt: Receipt | None,
    listener: Listener,
    roster: Roster,
    *,
    woke_others: bool,
) -> Activation:
    """Return for whom a message is, where the rules have `found` it to be so at its reading.

    `receipt` is that of the listener's agent; `woke_others` says that others have one (A75, A76).
    """
    if receipt is not None:
        if has(receipt, listener, roster):
            return Activation(Decision.ACTIVATE, receipt.reason)
        return _PASSED_OVER if found.addressed else found
    if woke_others and not found.is_silent and found.reason not in _NAMED:
        return _PASSED_OVER
    return found
