"""How the receipts of a room move, in whatever it keeps them: within the transaction of the cause.

A *slip box* holds the receipts of one room. What is asked of it is little, since a message that
somebody says asks for it too.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from letagents.domain import receipts
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.receipts import Move, NoReceipt, Receipt, State
from letagents.domain.roster import Listener, Roster

_SHOWN = frozenset({State.RESPONDING, State.BLOCKED})


class SlipBox(Protocol):
    """The receipts of one room."""

    def of_agent(self, numbers: Collection[int], agent_key: str) -> Sequence[Receipt]:
        """Return an agent's receipts for the messages of those numbers."""
        ...

    def in_sight(self, first: int, last: int, agent_key: str) -> Mapping[int, Receipt | None]:
        """Return which messages have receipts; each comes with the one of the agent, if any."""
        ...

    def open_of(self, session_id: SessionId) -> Sequence[Receipt]:
        """Return the receipts of a session that are open."""
        ...

    def last_change(self) -> int:
        """Return the highest number of a change; 0 if there was none."""
        ...

    def put(self, receipt: Receipt) -> None:
        """Keep a receipt in the place of the one before."""
        ...


def shown(
    box: SlipBox, listener: Listener, roster: Roster, numbers: Collection[int], now: datetime
) -> bool:
    """Take note that the messages of those numbers were shown; return whether that was news."""
    own = [
        one
        for one in box.of_agent(numbers, listener.agent_key)
        if receipts.has(one, listener, roster)
    ]
    return _move(box, own, Move.SHOW, now, to=listener.session_id)


def shown_among(
    box: SlipBox, listener: Listener, roster: Roster, first: int, last: int, now: datetime
) -> bool:
    """Take note that all messages from one number to another were shown."""
    found = box.in_sight(first, last, listener.agent_key)
    own = [number for number, one in found.items() if one is not None]
    return shown(box, listener, roster, own, now)


def said(
    box: SlipBox, session_id: SessionId, agent_key: str, refers_to: Collection[int], now: datetime
) -> bool:
    """Take note that a session said something, which refers to the messages of those numbers."""
    before = [one for one in box.open_of(session_id) if one.state in _SHOWN]
    known = {one.message_id for one in before}
    named = box.of_agent(refers_to, agent_key) if refers_to else ()
    named = [one for one in named if one.message_id not in known]
    return _move(box, [*before, *named], Move.ACKNOWLEDGE, now)


def declared(
    box: SlipBox,
    listener: Listener,
    roster: Roster,
    message_id: MessageId,
    state: State,
    now: datetime,
) -> Receipt:
    """Take note of how far a session says that it is with a message. Raises NoReceipt."""
    found = box.of_agent([message_id.number], listener.agent_key)
    own = [one for one in found if receipts.has(one, listener, roster)]
    if not own:
        raise NoReceipt.of(message_id)
    [before], by = own, listener.session_id
    after = receipts.said(before, state, changed=box.last_change() + 1, now=now, by=by)
    if after is not before:
        box.put(after)
    return after


def told(box: SlipBox, session_id: SessionId, *, is_blocked: bool, now: datetime) -> bool:
    """Take note that a session said whether it can go on."""
    move = Move.BLOCK if is_blocked else Move.RESUME
    return _move(box, box.open_of(session_id), move, now)


def left(box: SlipBox, session_id: SessionId, heir: SessionId | None, now: datetime) -> bool:
    """Take note that a session has ended; `heir` stands for its agent now, if anybody does."""
    found = box.open_of(session_id)
    changed = box.last_change() + 1 if found else 0
    for one in found:
        box.put(receipts.left(one, heir, changed=changed, now=now))
    return bool(found)


def _move(
    box: SlipBox,
    found: Sequence[Receipt],
    move: Move,
    now: datetime,
    to: SessionId | None = None,
) -> bool:
    changed = box.last_change() + 1 if found else 0
    moved = [(one, one.moved(move, changed=changed, now=now, to=to)) for one in found]
    news = [after for before, after in moved if after is not before]
    for one in news:
        box.put(one)
    return bool(news)
