"""What is said in a room: drafts, messages, threads, and the bounds on both.

M1  A text holds 1 to 65,536 characters; a longer one is refused with both numbers, never cut.
M2  A text is not blank: something of it can be seen. It holds no control character but tab and line
    ends, and no surrogate.
M3  A reply names a message of the same room; a reply alone is a quotation and stays top-level.
M4  A thread named by one of its replies is that of its root; a reply given too belongs to it.
M5  Numbers count up by one from 1, within each room, to 2,147,483,647; then the room is full.
M6  A key that was used before answers with its message if the content is the same, else is refused.
M7  A draft may ask for agents to be told how to behave here: `inline` with what it says, `auto` by
    the way. One of kind `auto` may say nothing; then it only prompts, and no draft refers to it.
"""

import re
from datetime import datetime
from typing import TYPE_CHECKING

import attrs

from letagents.domain.errors import KeyReused, LetAgentsError, Malformed, UnknownMessage
from letagents.domain.ids import ClientKey, MessageId, RoomId, SessionId
from letagents.domain.names import is_blank

if TYPE_CHECKING:  # few who know a message decide whom it wakes
    from letagents.domain.activation import Activation
    from letagents.domain.recipients import MentionNotice

TEXT_LIMIT = 65_536
AUTO = "auto"
PROMPT_KINDS = ("inline", AUTO)
MOST_FILES = 10
_REFUSED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class OnlyPrompts(UnknownMessage):
    """A draft refers to a message that is not shown to everybody."""

    code = "message_only_prompts"


class RoomFull(LetAgentsError):
    """The room has used its last message number."""

    code = "room_full"


def checked_text(text: object, field: str = "text") -> str:
    """Return `text` if a room may keep it.

    Raises:
        Malformed: it is no text, blank, too long, or holds what no room keeps (M1, M2).
    """
    if not isinstance(text, str):
        raise Malformed(f"{field}: this is not a text.", remedy=f"Pass {field} as a string.")
    if len(text) > TEXT_LIMIT:
        raise Malformed(
            f"{field}: {len(text):,} characters are too long.",
            remedy=f"Send at most {TEXT_LIMIT:,} characters; put the rest in a file and name it.",
        )
    if (found := _REFUSED.search(text)) is not None:
        raise Malformed(
            f"{field}: the character U+{ord(found[0]):04X} at {found.start()} cannot be sent.",
            remedy="Send printable text; of control characters only tab and line ends are kept.",
        )
    if is_blank(text):
        raise Malformed(f"{field}: it is blank.", remedy=f"Pass {field} with something in it.")
    return text


def keepable(text: str) -> str:
    """Return `text` with a mark for each character that no room keeps (M1)."""
    return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", text)


@attrs.frozen
class Draft:
    """Something to say. `thread` names any message of the thread it belongs to."""

    text: str = attrs.field()
    key: ClientKey
    reply_to: MessageId | None = None
    thread: MessageId | None = None
    prompt_kind: str | None = None
    attachments: tuple[str, ...] = ()
    """What uploads of files returned that are to go with it."""

    @text.validator
    def _check(self, _field: object, value: object) -> None:
        if self.prompt_kind is not None:
            _check_kind(self.prompt_kind)
        if self.attachments:
            _check_files(self.attachments, self.prompt_kind)
        if value != "" or (self.prompt_kind != AUTO and not self.attachments):
            checked_text(value)


def _check_kind(kind: object) -> None:
    if kind not in PROMPT_KINDS:
        known = ", ".join(PROMPT_KINDS)
        raise Malformed(
            f"agent_prompt_kind must be one of: {known}.", remedy="Pass one of them, or none."
        )


def _check_files(named: tuple[str, ...], prompt_kind: str | None) -> None:
    if prompt_kind == AUTO:
        raise Malformed(
            "attachments: auto prompt messages cannot include attachments.",
            remedy="Leave them or agent_prompt_kind out.",
        )
    if len(named) > MOST_FILES:
        raise Malformed(
            f"attachments: {len(named)} are too many.",
            remedy=f"Attach at most {MOST_FILES} files to a message.",
        )


@attrs.frozen
class Quote:
    """The message that another one replies to, as far as a reader is shown it."""

    id: MessageId
    sender: str
    text: str
    source: str | None
    said_at: datetime
    agent_key: str | None = None
    session_id: SessionId | None = None


@attrs.frozen
class Attachment:
    """A file that goes with a message, as the message tells of it."""

    upload_id: str
    name: str
    content_type: str
    size: int


@attrs.frozen
class Message:
    """Something said. Who said it is what the room knows, never what a caller claimed."""

    room_id: RoomId
    id: MessageId
    sender: str
    agent_key: str | None
    session_id: SessionId | None
    text: str
    source: str | None
    said_at: datetime
    thread_root: MessageId
    reply_to: Quote | None = None
    prompt_kind: str | None = None
    activation: "Activation | None" = None
    mention_notices: "tuple[MentionNotice, ...]" = ()
    """What who said it is told of its mentions; others are not."""
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_thread_reply(self) -> bool:
        """Whether it stands inside a thread that another message began."""
        return self.thread_root != self.id

    @property
    def only_prompts(self) -> bool:
        """Whether it says nothing, and is there for agents to be prompted (M7)."""
        return self.prompt_kind == AUTO and not self.text.strip()

    def heard(self, activation: "Activation") -> "Message":
        """Return this message with whether it is for whoever reads it."""
        return Message(
            room_id=self.room_id,
            id=self.id,
            sender=self.sender,
            agent_key=self.agent_key,
            session_id=self.session_id,
            text=self.text,
            source=self.source,
            said_at=self.said_at,
            thread_root=self.thread_root,
            reply_to=self.reply_to,
            prompt_kind=self.prompt_kind,
            activation=activation,
            attachments=self.attachments,
        )


@attrs.frozen
class Page:
    """Some messages of a room, oldest first; `more` says that the same direction holds others."""

    messages: tuple[Message, ...]
    more: bool = False


@attrs.frozen
class Latest:
    """The newest messages of a room; without `prompts` none of those that only prompt."""

    limit: int = 100
    prompts: bool = True


@attrs.frozen
class Before:
    """The messages just before one."""

    id: MessageId
    limit: int = 100
    prompts: bool = True


@attrs.frozen
class After:
    """The messages just after one; after nothing, from the first."""

    id: MessageId | None = None
    limit: int = 100
    prompts: bool = True


Window = Latest | Before | After

PAGE_LIMIT = 500


def bounded(limit: int) -> int:
    """Return how many messages a page of `limit` holds at most."""
    return max(1, min(limit, PAGE_LIMIT))


@attrs.frozen
class Position:
    """Where a message stands: its number, and its thread's root if it is a thread reply."""

    number: int
    root: int | None = None
    only_prompts: bool = False

    @property
    def thread(self) -> int:
        """The number of the root of the thread that it belongs to or began."""
        return self.root or self.number


@attrs.frozen
class Place:
    """Where a draft goes: the message it quotes, and the root if it goes into a thread."""

    reply_to: int | None = None
    root: int | None = None


def place(draft: Draft, quoted: Position | None, thread: Position | None) -> Place:
    """Decide where `draft` goes, given what its room holds under the ids that it names.

    Raises:
        UnknownMessage: it names a message that is not there, or that only prompts.
        Malformed: it replies to a message outside the thread that it names.
    """
    _check_there("thread_parent_id", draft.thread, thread)
    _check_there("reply_to", draft.reply_to, quoted)
    if quoted is not None and thread is not None and quoted.thread != thread.thread:
        raise Malformed(
            f"reply_to: msg_{quoted.number} does not belong to the thread of msg_{thread.thread}.",
            remedy="reply_to and thread_parent_id must match: name one message, or one thread.",
        )
    return Place(
        reply_to=quoted.number if quoted else None,
        root=thread.thread if thread else None,
    )


def _check_there(field: str, message_id: MessageId | None, found: Position | None) -> None:
    if message_id is not None and found is None:
        raise UnknownMessage(
            f"{field}: {message_id} does not exist in this room.",
            remedy="Call read_messages to see the ids of the room's messages.",
        )
    if found is not None and found.only_prompts:
        raise OnlyPrompts(
            f"{field}: {message_id} says nothing that could be referred to.",
            remedy="Name a message that says something, or none.",
        )


def next_number(last: int) -> int:
    """Return the number of the message after `last`.

    Raises:
        RoomFull: there is none.
    """
    if last >= MessageId.LARGEST:
        raise RoomFull("The room has used its last message number.", remedy="Call create_room().")
    return last + 1


@attrs.frozen
class Made:
    """What an idempotency key made before."""

    number: int
    text: str
    place: Place


def repeated(draft: Draft, where: Place, made: Made | None) -> int | None:
    """Return the number of the message that `draft` made before, or None if it is new.

    Raises:
        KeyReused: its key made a message of other content.
    """
    if made is None:
        return None
    if (made.text, made.place) != (draft.text, where):
        raise KeyReused(
            f"client_message_id: this key was used for msg_{made.number} with other content.",
            remedy="Use a new client_message_id for a new message, or leave it out.",
        )
    return made.number


def check_reached(cursor: MessageId, last: int) -> None:
    """Allow reading after `cursor` in a room whose last number is `last`.

    Raises:
        UnknownMessage: no message has that number yet.
    """
    if cursor.number <= last:
        return
    newest = f"its newest is msg_{last}" if last else "it has no message yet"
    raise UnknownMessage(
        f"after_message_id: {cursor} does not exist in this room; {newest}.",
        remedy="Pass the last_observed_message_id of an earlier result of this room, "
        "or leave it out.",
    )
