"""Whom a message wakes as it is said, of those who are in the room; and whom it might have meant.

A77  A mention that fits several agents alike wakes none of them. Who made it is told so, and how
     each of them is mentioned exactly; nobody else is.
"""

from collections.abc import Collection, Iterator

import attrs

from letagents.domain.activation import Spoken, owner_asked
from letagents.domain.audience import PERSON, SMALL_ROOM, activation, quoted_agent
from letagents.domain.follow_ups import Holder, is_follow_up
from letagents.domain.mentions import Wording, may_address
from letagents.domain.receipts import Recipient
from letagents.domain.roster import Listener, Roster

AMBIGUOUS = "ambiguous"
NOTICES, CANDIDATES = 10, 20
"""So many notices are given of one text, each with so many candidates."""


@attrs.frozen
class Candidate:
    """One whom a mention might have meant. `mention` means it and nobody else."""

    mention: str
    agent_key: str
    display_name: str
    actor_label: str


@attrs.frozen
class MentionNotice:
    """That a mention of a text woke nobody."""

    handle: str
    candidates: tuple[Candidate, ...]
    reason: str = AMBIGUOUS


def may_wake(text: str, source: str | None, *, refers: bool) -> bool:
    """Whether a message could wake anybody, whoever is there. Most of what agents say cannot.

    `refers` says whether it quotes another, or stands in a thread.
    """
    return source == PERSON or refers or may_address(text) or is_follow_up(text)


def recipients(
    message: Spoken,
    roster: Roster,
    *,
    speakers: Collection[str] = (),
    leases: Collection[Holder] = (),
    recent_partner: str | None = None,
) -> tuple[Recipient, ...]:
    """Return whom `message` wakes, each with the reason.

    `speakers` are the agents that take part in its thread, the others as in `activation`.
    """
    meant = _candidates(message, roster, speakers, leases, recent_partner)
    root = [] if message.thread_root is None else [message.thread_root]
    found = (
        (
            one,
            activation(
                message,
                one,
                roster,
                participants=root if one.agent_key in speakers else (),
                leases=leases,
                recent_partner=recent_partner,
            ),
        )
        for one in meant
    )
    return tuple(Recipient(one, heard.reason) for one, heard in found if heard.addressed)


def _candidates(
    message: Spoken,
    roster: Roster,
    speakers: Collection[str],
    leases: Collection[Holder],
    recent_partner: str | None,
) -> Collection[Listener]:
    """Return those who have to be asked for: of many agents, most are neither meant nor there."""
    wording, owner = message.wording, owner_asked(message, leases)
    calls_all = wording.calls_everybody or any(one.is_broadcast for one in wording.mentions)
    is_heard = message.source == PERSON and len(roster.agent_keys) <= SMALL_ROOM
    if calls_all or is_heard or (owner is not None and owner.agent_key is None):
        return roster.listeners
    meant = roster.mentioned(wording) | roster.mentioned_by_key(wording) | frozenset(speakers)
    others = (quoted_agent(message, roster), recent_partner, owner.agent_key if owner else None)
    return [one for one in roster.listeners if one.agent_key in meant or one.agent_key in others]


def notices(message: Spoken, roster: Roster) -> tuple[MentionNotice, ...]:
    """Return what who says `message` is told of its mentions (A77)."""
    by_handle = {one.handle: one for one in _notices(message.wording, roster)}
    return tuple(by_handle.values())[:NOTICES]


def _notices(wording: Wording, roster: Roster) -> Iterator[MentionNotice]:
    for mention in wording.mentions:
        if not mention.is_broadcast and (tied := roster.tied(mention)):
            meant = tuple(_candidate(key, roster) for key in sorted(tied)[:CANDIDATES])
            yield MentionNotice(mention.handles[-1], meant)


def _candidate(key: str, roster: Roster) -> Candidate:
    one = roster.standing_for(key)
    return Candidate(f"@agent:{key}", key, one.display_name, one.actor_label)
