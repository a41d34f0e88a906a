"""Whether a message is for me: speak, stay silent, or unclear.

A1  A message is addressed to somebody exactly when the decision is to activate them.
A2  What a system reports (`github`, `managed_agent_failure`) is for nobody, whatever it says.
A3  Nobody is woken by their own words.
A4  Of all called, me mentioned, another mentioned, me quoted, another quoted, the first decides.
A5  After those, a thread that I take part in is for me, and then a follow-up to my work.
A6  What a room knows for certain is never overruled by what labels suggest.
"""

import enum
from collections.abc import Collection

import attrs

from letagents.domain import mentions
from letagents.domain.follow_ups import Holder, is_follow_up, sole_owner
from letagents.domain.ids import SessionId
from letagents.domain.names import sender_form
from letagents.domain.roster import Listener

AGENT = "agent"
"""The source of what agents say."""
_SYSTEMS = frozenset({"github", "managed_agent_failure"})


class Decision(enum.Enum):
    """What a listener does about a message."""

    ACTIVATE = "activate"
    SILENT = "silent"
    UNCLEAR = "unclear"


class Reason(enum.Enum):
    """Why it was decided so."""

    SELF_MESSAGE = "self_message"
    EXPLICIT_MENTION = "explicit_mention"
    EXPLICIT_OTHER_MENTION = "explicit_other_mention"
    BROADCAST = "broadcast"
    REPLY_TARGET = "reply_target"
    OTHER_REPLY_TARGET = "other_reply_target"
    THREAD_PARTICIPANT = "thread_participant"
    TASK_OWNER = "task_owner"
    SYSTEM_EVENT = "system_event"
    SMALL_ROOM = "small_room"
    RECENT_CONVERSATION = "recent_conversation"
    UNADDRESSED = "unaddressed"


@attrs.frozen
class Activation:
    """Whether a message is for a listener, and why."""

    decision: Decision
    reason: Reason

    @property
    def addressed(self) -> bool:
        """Whether the message is for them."""
        return self.decision is Decision.ACTIVATE

    @property
    def is_silent(self) -> bool:
        """Whether they need not even be shown it."""
        return self.decision is Decision.SILENT


UNADDRESSED = Activation(Decision.UNCLEAR, Reason.UNADDRESSED)


@attrs.frozen
class Quoted:
    """Who said the message that another one replies to. The room knows the key; labels claim."""

    sender: str
    source: str | None = None
    agent_key: str | None = None
    session_id: SessionId | None = None


@attrs.frozen
class Spoken:
    """One message, as far as it matters for whom it is. `agent_key` is None if a person spoke."""

    number: int
    sender: str
    text: str
    source: str | None = None
    agent_key: str | None = None
    session_id: SessionId | None = None
    thread_root: int | None = None
    reply_to: Quoted | None = None
    thread_senders: tuple[str, ...] = ()
    """Labels of some who spoke in the thread; only looked at when the room does not know."""
    wording: mentions.Wording = attrs.field(init=False, repr=False, eq=False)

    @wording.default
    def _read(self) -> mentions.Wording:
        return mentions.read(self.text)

    @property
    def is_thread_reply(self) -> bool:
        """Whether it stands inside a thread that another message began."""
        return self.thread_root is not None and self.thread_root != self.number


@attrs.frozen
class Known:
    """What a room knows for certain of one message and one listener; None is not known."""

    decided: Activation | None = None
    own: bool | None = None
    mentioned: bool | None = None
    quoted: bool | None = None
    takes_part: bool | None = None


def decide(
    message: Spoken,
    listener: Listener,
    known: Known | None = None,
    *,
    leases: Collection[Holder] = (),
) -> Activation:
    """Decide from labels, and from what is `known`, whether `message` is for `listener`.

    `leases` are those of active work.
    """
    question = _Question(message, listener, known or Known(), leases)
    return (
        question.by_source()
        or question.known.decided
        or question.by_speaker()
        or question.by_words()
        or question.by_quotation()
        or question.by_thread()
        or question.by_work()
        or UNADDRESSED
    )


def owner_asked(message: Spoken, leases: Collection[Holder]) -> Holder | None:
    """Return whose work `message` asks to go on with, or None if it asks nobody."""
    return sole_owner(leases) if leases and is_follow_up(message.text) else None


@attrs.frozen
class _Question:
    """Each method answers if its part of the message decides, else returns None."""

    message: Spoken
    listener: Listener
    known: Known
    leases: Collection[Holder]

    def by_source(self) -> Activation | None:
        if sender_form(self.message.source or "") in _SYSTEMS:
            return Activation(Decision.SILENT, Reason.SYSTEM_EVENT)
        return None

    def by_speaker(self) -> Activation | None:
        own = self.known.own
        if own or (own is None and self.listener.is_called(self.message.sender)):
            return Activation(Decision.SILENT, Reason.SELF_MESSAGE)
        return None

    def by_words(self) -> Activation | None:
        found = self.message.wording.mentions
        if any(mention.is_broadcast for mention in found):
            return Activation(Decision.ACTIVATE, Reason.BROADCAST)
        if self._am_mentioned():
            return Activation(Decision.ACTIVATE, Reason.EXPLICIT_MENTION)
        if self.message.wording.calls_everybody:
            return Activation(Decision.ACTIVATE, Reason.BROADCAST)
        if any(mention.looks_like_agent for mention in found):
            return Activation(Decision.SILENT, Reason.EXPLICIT_OTHER_MENTION)
        return None

    def by_quotation(self) -> Activation | None:
        if self._am_quoted():
            return Activation(Decision.ACTIVATE, Reason.REPLY_TARGET)
        quoted = self.message.reply_to
        if quoted is not None and quoted.source == AGENT and not self.message.is_thread_reply:
            return Activation(Decision.SILENT, Reason.OTHER_REPLY_TARGET)
        return None

    def by_thread(self) -> Activation | None:
        if self.message.is_thread_reply and self._take_part():
            return Activation(Decision.ACTIVATE, Reason.THREAD_PARTICIPANT)
        return None

    def by_work(self) -> Activation | None:
        owner = owner_asked(self.message, self.leases)
        if owner is None or owner.wrote(self.message.sender, self.message.agent_key):
            return None
        if owner.means(self.listener):
            return Activation(Decision.ACTIVATE, Reason.TASK_OWNER)
        if owner.resembles(self.listener):
            return None
        return Activation(Decision.SILENT, Reason.TASK_OWNER)

    def _am_mentioned(self) -> bool:
        if self.known.mentioned is not None:
            return self.known.mentioned
        called = self.listener.aliases
        return any(not called.isdisjoint(one.handles) for one in self.message.wording.mentions)

    def _am_quoted(self) -> bool:
        if self.known.quoted is not None:
            return self.known.quoted
        if self.message.is_thread_reply and self.known.takes_part is not None:
            return False
        quoted = self.message.reply_to
        return quoted is not None and self.listener.is_called(quoted.sender)

    def _take_part(self) -> bool:
        if self.known.takes_part is not None:
            return self.known.takes_part
        quoted = (self.message.reply_to.sender,) if self.message.reply_to else ()
        return any(map(self.listener.is_called, (*self.message.thread_senders, *quoted)))
