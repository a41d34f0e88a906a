"""Which messages of a page are for its viewer: what a room knows, brought to the rules."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

import attrs

from letagents.domain import receipts as receipt_rules
from letagents.domain import recipients
from letagents.domain.activation import AGENT, Quoted, Spoken
from letagents.domain.audience import PERSON, SMALL_ROOM, activation, addressees
from letagents.domain.follow_ups import Holder, is_follow_up
from letagents.domain.messages import Message, Quote
from letagents.domain.receipts import Move, Receipt, Recipient
from letagents.domain.roster import Listener, Roster
from letagents.domain.sessions import Session

LOOKED_BACK = 50
"""So many messages before a person's are looked at for whom that person talks with."""
OWNERS = 50
"""So many work leases are looked at for whose work a follow-up means."""
_RECENT = timedelta(minutes=30)
NO_RECEIPTS: Mapping[int, Receipt | None] = MappingProxyType({})


def listener(session: Session) -> Listener:
    """Return `session` as the rules of activation see it."""
    return Listener(
        agent_key=session.agent_key,
        session_id=session.session_id,
        actor_label=session.actor_label,
        display_name=session.display_name,
        kind=session.kind,
        instance_id=session.instance_id,
    )


def threads_of(messages: Sequence[Message]) -> frozenset[int]:
    """Return the roots of the threads that replies among `messages` stand in."""
    return frozenset(one.thread_root.number for one in messages if one.is_thread_reply)


def wants_history(messages: Sequence[Message], roster: Roster) -> bool:
    """Whether it matters for `messages` what was said before them."""
    return len(roster.agent_keys) > SMALL_ROOM and any(_is_open(one) for one in messages)


def wants_owners(messages: Sequence[Message]) -> bool:
    """Whether it matters for `messages` who works on the tasks of the room."""
    return any(is_follow_up(one.text) for one in messages)


def labelled(
    messages: Sequence[Message],
    viewer: Listener,
    roster: Roster,
    *,
    participants: Collection[int],
    before: Sequence[Message] = (),
    owners: Collection[Holder] = (),
    receipts: Mapping[int, Receipt | None] = NO_RECEIPTS,
) -> tuple[Message, ...]:
    """Return `messages` with whether each is for `viewer`.

    `participants` are the roots of the threads in which the viewer's agent took part, `before` what
    was said just before them, where `wants_history`, and `owners` hold the work leases, where
    `wants_owners`. `receipts` are of those messages that have any: each that of the viewer's agent.
    """
    told = [*before, *messages]

    def heard(at: int) -> Message:
        partner = _partner(told, at, roster, owners) if _is_open(told[at]) else None
        words, number = spoken(told[at]), told[at].id.number
        found = activation(
            words,
            viewer,
            roster,
            participants=participants,
            leases=owners,
            recent_partner=partner,
        )
        return told[at].heard(
            receipt_rules.decided(
                found, receipts.get(number), viewer, roster, woke_others=number in receipts
            )
        )

    return tuple(heard(at) for at in range(len(before), len(told)))


def news_to(messages: Sequence[Message], receipts: Mapping[int, Receipt | None]) -> tuple[int, ...]:
    """Return which of the labelled `messages` a viewer is shown whose receipt does not say so."""
    own = ((one, receipts.get(one.id.number)) for one in messages if one.activation)
    return tuple(
        one.id.number
        for one, receipt in own
        if receipt is not None
        and one.activation is not None
        and one.activation.addressed
        and (receipt.state, Move.SHOW) in receipt_rules.MOVES
    )


def woken(
    message: Message,
    words: Spoken,
    roster: Roster,
    *,
    speakers: Collection[str],
    before: Sequence[Message],
    owners: Collection[Holder],
) -> tuple[Recipient, ...]:
    """Return whom a message wakes that is being said, which is `spoken` as `words`.

    `speakers` are the agents that take part in its thread, where it is in one; the others are as in
    `labelled`.
    """
    told = [*before, message]
    partner = _partner(told, len(before), roster, owners) if _is_open(message) else None
    return recipients.recipients(
        words, roster, speakers=speakers, leases=owners, recent_partner=partner
    )


def may_wake(message: Message) -> bool:
    """Whether a message that is being said could wake anybody."""
    refers = message.reply_to is not None or message.is_thread_reply
    return recipients.may_wake(message.text, message.source, refers=refers)


def noticed(message: Message, words: Spoken, roster: Roster) -> Message:
    """Return a message that is being said with what its author is told of its mentions."""
    notices = recipients.notices(words, roster)
    return attrs.evolve(message, mention_notices=notices) if notices else message


def spoken(message: Message) -> Spoken:
    """Return a message as the rules of activation see it."""
    return Spoken(
        number=message.id.number,
        sender=message.sender,
        text=message.text,
        source=message.source,
        agent_key=message.agent_key,
        session_id=message.session_id,
        thread_root=message.thread_root.number,
        reply_to=_quoted(message.reply_to),
    )


def _quoted(quote: Quote | None) -> Quoted | None:
    if quote is None:
        return None
    return Quoted(quote.sender, quote.source, quote.agent_key, quote.session_id)


def _is_open(message: Message) -> bool:
    """Whether a person said it to nobody in particular, as far as its place tells."""
    top_level = not message.is_thread_reply and message.reply_to is None
    return message.source == PERSON and top_level


def _partner(
    told: Sequence[Message], at: int, roster: Roster, owners: Collection[Holder]
) -> str | None:
    """Return the agent with which the person behind the open message `at` was last talking.

    That is whom alone the last of their messages was for; of several, the one that has answered.
    (Source: state-and-rules 9.9.)
    """
    if len(roster.agent_keys) <= SMALL_ROOM:
        return None
    looked_at = told[max(0, at - LOOKED_BACK) : at]
    recent = [one for one in looked_at if told[at].said_at - one.said_at <= _RECENT]
    partner, meant, since = None, frozenset[str](), 0
    for now, one in enumerate(recent):
        if _is_a_persons(one):
            partner = _spoken_with(meant, recent[since:now])
            meant = addressees(spoken(one), roster, leases=owners, recent_partner=partner)
            since = now
    return _spoken_with(meant, recent[since:])


def _spoken_with(meant: frozenset[str], since: Sequence[Message]) -> str | None:
    return _only(meant) or _only(
        {one.agent_key for one in since if one.source == AGENT and one.agent_key in meant}
    )


def _is_a_persons(message: Message) -> bool:
    return message.source == PERSON and not message.is_thread_reply


def _only(keys: Collection[str | None]) -> str | None:
    return next(iter(keys)) if len(keys) == 1 else None
