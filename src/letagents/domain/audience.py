"""Which sessions a message wakes in a room that knows who speaks. (Source: state-and-rules 9.8.)

A40  The words of one session wake no other session of its agent.
A41  A message wakes at most one session of an agent: the quoted one, the holder, else the oldest.
A42  Nothing that an agent says is unclear to a worker: who is not woken stays silent.
A43  The silent are told why if the words are their own, a system's, or for another.
A44  A quotation means the session that said it, if it is there, else its agent; no label counts.
A45  A person who addresses nobody is heard by one or two agents; of more, by the recent partner;
     without one, each agent is shown the words, which are unclear.
A46  The words of a person are never taken for those of an agent that is called alike.
A47  Only workers are told; to any other session every message is unclear.
A48  What the room itself says is for those that it mentions by key, whatever else stands in it.
A49  What the board offers is unclear to each agent but the one whose act it tells of.
A60  What a wake rule or a human's answer says is for the session that asked for it; if that is not
     there, for the agent that it mentions first; and for nobody else, whatever stands in it.
A61  A change of the room's settings is unclear to every agent: each is shown it, none is called.
"""

from collections.abc import Collection

import attrs

from letagents.domain.activation import (
    AGENT,
    UNADDRESSED,
    Activation,
    Decision,
    Known,
    Reason,
    Spoken,
    decide,
    owner_asked,
)
from letagents.domain.follow_ups import Holder
from letagents.domain.ids import SessionId
from letagents.domain.mentions import Wording
from letagents.domain.roster import Listener, Roster

PERSON = "browser"
"""The source of what people say."""
SYSTEM = "system"
"""The source of what the room itself says."""
OFFER = "board"
"""The source of what the room says when there is work for whoever wants it."""
WAKE = "wake_rule"
"""The source of what the room says because an agent asked to be woken."""
ANSWER = "human_response"
"""The source of what a human being answered to an agent."""
SETTINGS = "room_settings"
"""The source of what the room says of a change of its settings."""
SMALL_ROOM = 2
"""So many agents all hear a person who addresses nobody."""

IGNORED = Activation(Decision.SILENT, Reason.UNADDRESSED)

_TOLD_WHY_SILENT = frozenset(
    {
        Reason.SELF_MESSAGE,
        Reason.SYSTEM_EVENT,
        Reason.EXPLICIT_OTHER_MENTION,
        Reason.OTHER_REPLY_TARGET,
    }
)


def activation(
    message: Spoken,
    listener: Listener,
    roster: Roster,
    *,
    participants: Collection[int] = (),
    leases: Collection[Holder] = (),
    recent_partner: str | None = None,
) -> Activation:
    """Decide whether `message`, said in a local room, is for `listener`.

    `participants` are the roots of the threads that the listener's agent takes part in, `leases`
    those of active work, and `recent_partner` the agent that a person last talked with.
    """
    if not listener.is_worker:
        return UNADDRESSED
    roster = roster.including(listener)
    if message.source in (SYSTEM, OFFER):
        return _told_by_the_room(message, listener, roster)
    if message.source in (WAKE, ANSWER):
        return _told_to_one(message, listener, roster)
    if message.source == SETTINGS:
        return UNADDRESSED if roster.stands_for_its_agent(listener) else IGNORED
    target = _target(message, roster)
    known = _known(message, listener, roster, target, participants)
    found = decide(message, listener, known, leases=leases)
    if found == UNADDRESSED and _addresses_nobody(message, roster, leases):
        found = _heard_by(listener, roster, recent_partner)
        if found == UNADDRESSED and roster.stands_for_its_agent(listener):
            return found
    if found.addressed and _acts_for_its_agent(found, listener, roster, target, leases):
        return found
    return found if found.reason in _TOLD_WHY_SILENT else IGNORED


def _told_by_the_room(message: Spoken, listener: Listener, roster: Roster) -> Activation:
    if roster.has(message.session_id, listener.agent_key):
        return Activation(Decision.SILENT, Reason.SELF_MESSAGE)
    meant = roster.mentioned_by_key(message.wording)
    if not roster.stands_for_its_agent(listener):
        return IGNORED
    if listener.agent_key in meant:
        return Activation(Decision.ACTIVATE, Reason.EXPLICIT_MENTION)
    return UNADDRESSED if message.source == OFFER and not meant else IGNORED


def _told_to_one(message: Spoken, listener: Listener, roster: Roster) -> Activation:
    first = Wording(message.wording.mentions[:1], calls_everybody=False)
    meant = roster.mentioned_by_key(first)
    if listener.agent_key not in meant:
        return IGNORED
    if any(roster.has(message.session_id, key) for key in meant):
        is_asker = listener.session_id == message.session_id
    else:
        is_asker = roster.stands_for_its_agent(listener)
    return Activation(Decision.ACTIVATE, Reason.EXPLICIT_MENTION) if is_asker else IGNORED


def addressees(
    message: Spoken,
    roster: Roster,
    *,
    leases: Collection[Holder] = (),
    recent_partner: str | None = None,
) -> frozenset[str]:
    """Return the agents that a person's top-level `message` is for, as `activation` has it."""
    everybody = frozenset(roster.agent_keys)
    found = message.wording.mentions
    if message.wording.calls_everybody or any(one.is_broadcast for one in found):
        return everybody
    if mentioned := roster.mentioned(message.wording):
        return mentioned
    if any(one.looks_like_agent for one in found):
        return frozenset()
    if (target := _target(message, roster)) is not None:
        return everybody & {target.agent_key}
    if (owner := owner_asked(message, leases)) is not None:
        return frozenset([owner.agent_key] if owner.agent_key else [])
    if len(everybody) <= SMALL_ROOM:
        return everybody
    return everybody & {recent_partner} or everybody  # all are shown what is for nobody known


@attrs.frozen
class _Target:
    """The agent that is quoted, and its session if that is still there."""

    agent_key: str
    session_id: SessionId | None = None


def _target(message: Spoken, roster: Roster) -> _Target | None:
    quoted = message.reply_to
    if quoted is None or message.is_thread_reply:
        return None
    if quoted.agent_key is None:
        key = roster.speaker(quoted.sender) if quoted.source == AGENT else None
        return _Target(key) if key else None
    is_there = roster.has(quoted.session_id, quoted.agent_key)
    return _Target(quoted.agent_key, quoted.session_id if is_there else None)


def quoted_agent(message: Spoken, roster: Roster) -> str | None:
    """Return the agent that a top-level message quotes, if it quotes one."""
    target = _target(message, roster)
    return target.agent_key if target else None


def _known(
    message: Spoken,
    listener: Listener,
    roster: Roster,
    target: _Target | None,
    participants: Collection[int],
) -> Known:
    key = listener.agent_key
    speaker = message.agent_key
    if speaker is None and message.source == AGENT:
        speaker = roster.speaker(message.sender)
    sessions = (None, listener.session_id)
    return Known(
        own=speaker == key,
        mentioned=key in roster.mentioned(message.wording),
        quoted=target is not None and target.agent_key == key and target.session_id in sessions,
        takes_part=message.thread_root in participants,
    )


def _acts_for_its_agent(
    found: Activation,
    listener: Listener,
    roster: Roster,
    target: _Target | None,
    leases: Collection[Holder],
) -> bool:
    if target is not None and target.agent_key == listener.agent_key and target.session_id:
        return target.session_id == listener.session_id
    if found.reason is Reason.TASK_OWNER and any(
        lease.session_id == listener.session_id for lease in leases
    ):
        return True
    return roster.stands_for_its_agent(listener)


def _addresses_nobody(message: Spoken, roster: Roster, leases: Collection[Holder]) -> bool:
    """Whether a person spoke and meant nobody that the room could know of."""
    if message.source != PERSON or message.agent_key is not None:
        return False
    if message.is_thread_reply or message.reply_to is not None:
        return False
    return not roster.mentioned(message.wording) and owner_asked(message, leases) is None


def _heard_by(listener: Listener, roster: Roster, recent_partner: str | None) -> Activation:
    if len(roster.agent_keys) <= SMALL_ROOM:
        return Activation(Decision.ACTIVATE, Reason.SMALL_ROOM)
    if recent_partner not in roster.agent_keys:
        return UNADDRESSED
    if recent_partner == listener.agent_key:
        return Activation(Decision.ACTIVATE, Reason.RECENT_CONVERSATION)
    return IGNORED
