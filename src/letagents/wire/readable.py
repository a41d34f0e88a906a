"""Messages in the form that agents read. (Source: mcp-tools 12.4, 12.7; state-and-rules 5.7.)

Thread fields stand at the top of real thread replies only; a quotation stays top-level. What is too
large is cut from the end that matters less, and the result says how much was left out.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import attrs

from letagents.domain.messages import Message, Quote
from letagents.wire import moments

BODY_LIMIT = 2_097_152
"""Bytes of messages, as compact JSON, that one result holds at most."""
CUT_TEXT = 16_384
"""UTF-16 units of a text that is too large by itself, of which so many are kept."""

_KEPT = ("id", "sender", "source", "timestamp", "thread_root_id", "thread_reply_to_id")
Plain = dict[str, Any]


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
        "attachments": [],
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
    return {
        "id": str(quoted.id),
        "sender": quoted.sender,
        "text": quoted.text,
        "source": quoted.source,
        "timestamp": moments.to_text(quoted.said_at),
    }


@attrs.frozen
class Bounded:
    """Messages that fit, and how many did not."""

    messages: list[Plain]
    omitted: int


def bounded(
    messages: Iterable[Plain], keep: Literal["first", "last"], limit: int = BODY_LIMIT
) -> Bounded:
    """Return as many messages from one end as fit into `limit` bytes of compact JSON."""
    given = list(messages)
    ordered = given if keep == "first" else given[::-1]
    fitting: list[Plain] = []
    room = limit - len("[]")
    for one in ordered:
        whole = one if size(one) <= limit - len("[]") else _compacted(one)
        room -= size(whole) + (1 if fitting else 0)
        if room < 0:
            break
        fitting.append(whole)
    kept = fitting if keep == "first" else fitting[::-1]
    return Bounded(kept, len(given) - len(kept))


def size(value: object) -> int:
    """Return the bytes of `value` as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _compacted(one: Plain) -> Plain:
    cut = str(one["text"]).encode("utf-16-le")[: 2 * CUT_TEXT].decode("utf-16-le", "ignore")
    kept = {name: one[name] for name in _KEPT if isinstance(one.get(name), str)}
    return kept | {"text": cut, "content_truncated": True, "original_utf8_bytes": size(one)}
