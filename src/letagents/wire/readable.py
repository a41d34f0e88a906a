"""Messages in the form that agents read. (Source: mcp-tools 12.4, 12.7; state-and-rules 5.7.)

Thread fields stand at the top of real thread replies only; a quotation stays top-level. A text
that is too large is cut, and the message says where to go on; a quoted text shows its beginning.
"""

from collections.abc import Callable, Mapping, Sequence

from letagents.domain.bounds import ITEMS_LIMIT
from letagents.domain.messages import Attachment, Message, Quote
from letagents.wire import bounds, moments
from letagents.wire.bounds import Bounded, End, Plain, size

CUT = 16_000
"""Bytes of a message that is too large for any page: so much of it is given in one."""
QUOTED = 1_000
"""Characters of a quoted message that are shown with the one that quotes it."""


def message(said: Message) -> Plain:
    """Return a message as a room gives it out, without what depends on its page."""
    plain: Plain = {
        "id": str(said.id),
        "sender": said.sender,
        "agent_identity": _author(said),
        "text": said.text,
        "agent_prompt_kind": said.prompt_kind,
        "source": said.source,
        "timestamp": moments.to_text(said.said_at),
        "attachments": [_file(one, place) for place, one in enumerate(said.attachments, start=1)],
        "thread_root_id": str(said.thread_root),
        "thread_reply_to_id": said.reply_to and str(said.reply_to.id),
        "reply_to": said.reply_to and _quote(said.reply_to),
    }
    if (activation := said.activation) is not None:
        plain["activation"] = {
            "for_current_agent": {
                "decision": activation.decision.value,
                "reason": activation.reason.value,
                "addressed": activation.addressed,
            }
        }
    return plain


def _file(one: Attachment, place: int) -> Plain:
    return {
        "id": f"att_{place}",
        "file_name": one.name,
        "mime_type": one.content_type,
        "size_bytes": one.size,
    }


def page(messages: Sequence[Message]) -> list[Plain]:
    """Return messages with the thread facts that this page shows of each."""
    replies: dict[str, list[str]] = {}
    for said in messages:
        if said.is_thread_reply:
            replies.setdefault(str(said.thread_root), []).append(str(said.id))
    return [_in_page(said, replies) for said in messages]


def _in_page(said: Message, replies: Mapping[str, list[str]]) -> Plain:
    plain = message(said)
    root = plain.pop("thread_root_id")
    reply = plain.pop("thread_reply_to_id")
    below = replies.get(root, ())
    plain["thread"] = {
        "parent_id": root if said.is_thread_reply else None,
        "root_message_id": root,
        "reply_to_id": reply,
        "is_thread_reply": said.is_thread_reply,
        "reply_count_in_result": len(below),
        "latest_reply_id_in_result": below[-1] if below else None,
    }
    if said.is_thread_reply:
        plain |= {"thread_parent_id": root, "thread_root_id": root, "thread_reply_to_id": reply}
    return plain


def _author(said: Message) -> Plain | None:
    if said.agent_key is None:
        return None
    return {
        "actor_label": said.sender,
        "agent_key": said.agent_key,
        "agent_session_id": said.session_id and str(said.session_id),
    }


def _quote(quoted: Quote) -> Plain:
    plain: Plain = {
        "id": str(quoted.id),
        "sender": quoted.sender,
        "text": quoted.text[:QUOTED],
        "source": quoted.source,
        "timestamp": moments.to_text(quoted.said_at),
    }
    return plain | {"content_truncated": True} if len(quoted.text) > QUOTED else plain


def bounded(
    messages: Sequence[Plain],
    keep: End,
    limit: int = ITEMS_LIMIT,
    size_of: Callable[[Plain], int] = size,
) -> Bounded[Plain]:
    """Return as many messages from one end as fit; one that is too large alone is cut."""
    whole = [one if size_of(one) + len("[]") <= limit else piece(one, 0, CUT) for one in messages]
    return bounds.bounded(whole, limit, keep, size_of)


def piece(message: Plain, offset: int, limit: int = ITEMS_LIMIT) -> Plain:
    """Return a message with its text from `offset` on, in at most `limit` bytes.

    If that is not the end of the text, it says with which offset to go on.
    """
    text = str(message["text"])
    facts = {"content_truncated": True, "original_utf8_bytes": size(message)}
    rest = message | {"text": text[offset:]} | ({"text_offset": offset, **facts} if offset else {})
    if size(rest) + len("[]") <= limit:
        return rest
    start = rest | facts | {"next_text_offset": len(text)}
    cut = bounds.cut(start, "text", limit - len("[]"))
    return cut | {"next_text_offset": offset + len(cut["text"])}
