"""What a room can know: facts that last, and what agents ask of human beings.

K21  What is kept has an id of 8 to 80 letters, digits, `_` and `-`, which whoever adds it chooses.
K23  A source is a message that the room shows, or an http or https address without credentials.
K27  Each field is of its form and within its bounds, and a whole record fits into one result.
K28  A category is one of those of its section: facts and requests have their own.
"""

import enum
import re
from collections.abc import Mapping

import attrs

from letagents.domain.errors import Malformed, UnknownMessage
from letagents.domain.ids import MessageId, quoted
from letagents.domain.messages import Message
from letagents.domain.names import collapse
from letagents.domain.texts import address, checked, optional

TITLE_LIMIT = 160
BODY_LIMIT = 8_000
RECOMMENDATION_LIMIT = 2_000
UNBLOCKS_LIMIT = 1_000
ENTRY_BYTES = 26_000
"""Bytes of an entry's texts together, as JSON, so that a result can hold it whole."""
ANSWER_BYTES = 9_000

_ID = re.compile(r"[A-Za-z0-9_-]{8,80}")
_ESCAPED = re.compile(r'["\\\n\r\t]')


class Section(enum.Enum):
    """What a record is: a fact that lasts, or a request that waits for a human being."""

    MEMORY = "memory"
    ATTENTION = "attention"


CATEGORIES: Mapping[Section, tuple[str, ...]] = {
    Section.MEMORY: ("goal", "decision", "constraint", "term", "reference"),
    Section.ATTENTION: ("question", "decision", "approval", "review"),
}


@attrs.frozen(kw_only=True)
class Entry:
    """What a record says."""

    category: str
    title: str
    body: str
    recommendation: str | None = None
    unblocks: str | None = None
    source_url: str | None = None
    source_message: MessageId | None = None


def entry(
    section: Section,
    *,
    category: object,
    title: object,
    body: object,
    recommendation: object = None,
    unblocks: object = None,
    source_url: object = None,
    source_message_id: object = None,
) -> Entry:
    """Return what a caller's words say, for a record of that section.

    Raises:
        Malformed: one of them is not of its form, or they are too large together.
    """
    made = Entry(
        category=_category(section, category),
        title=collapse(checked(title, "title", TITLE_LIMIT)),
        body=checked(body, "body", BODY_LIMIT),
        recommendation=optional(recommendation, "recommendation", RECOMMENDATION_LIMIT),
        unblocks=optional(unblocks, "unblocks", UNBLOCKS_LIMIT),
        source_url=address(source_url, "source_url"),
        source_message=_message(source_message_id),
    )
    texts = (made.title, made.body, made.recommendation, made.unblocks, made.source_url)
    check_bytes("body", sum(map(weight, texts)), ENTRY_BYTES)
    return made


def checked_id(value: object, field: str = "client_id") -> str:
    """Return the id of a record that `value` spells, or raise Malformed."""
    text = value.strip() if isinstance(value, str) else ""
    if not _ID.fullmatch(text):
        raise Malformed(
            f"{field}: {quoted(value)} is not the id of a record.",
            remedy=f"Pass {field} as 8 to 80 letters, digits, _ or -.",
        )
    return text


def _category(section: Section, value: object) -> str:
    known = CATEGORIES[section]
    if not isinstance(value, str) or value not in known:
        raise Malformed(
            f"category: {quoted(value)} is not a category of {section.value}.",
            remedy=f"Pass one of: {', '.join(known)}.",
        )
    return value


def _message(value: object) -> MessageId | None:
    if value is None or isinstance(value, MessageId):
        return value
    return MessageId.parse(value.strip() if isinstance(value, str) else value, "source_message_id")


def weight(text: str | None) -> int:
    """Return the bytes of a text inside JSON."""
    return len(text.encode()) + len(_ESCAPED.findall(text)) if text else 0


def check_bytes(field: str, size: int, most: int) -> None:
    """Allow so many bytes beside each other, or raise Malformed."""
    if size > most:
        raise Malformed(
            f"{field}: with the texts beside it, {size:,} bytes are too many.",
            remedy=f"Pass at most {most:,} bytes in all; put the rest in a file and name it.",
        )


def check_source(source: MessageId, message: Message | None) -> None:
    """Allow naming a message as source, if the room shows it.

    Raises:
        UnknownMessage: it does not.
    """
    is_hidden = message is not None and message.only_prompts
    if message is None or is_hidden:
        raise UnknownMessage(
            f"source_message_id: {source} is not a message of this room.",
            remedy="Call read_messages to see the ids of the room's messages.",
        )
