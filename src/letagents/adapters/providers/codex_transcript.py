"""What the transcript of a Codex thread tells of a turn. (Source: supervisor 6.14, 8.5.)"""

from collections.abc import Mapping, Sequence
from typing import Any

from letagents.domain import redaction, turn_prompts, turns
from letagents.domain.turns import Failed, Fate, Interrupted, Running, Unknowable

Raw = Mapping[str, Any]

FINAL = ("final", "final_answer")
_QUOTA = ("usageLimitExceeded", "usage_limit_exceeded", "quota", "usage limit", "rate limit")


def turns_of(read: Raw) -> list[Raw]:
    """Return the turns that an answer of `thread/read` holds."""
    thread = read.get("thread")
    found = thread.get("turns") if isinstance(thread, Mapping) else None
    return [turn for turn in _list(found) if isinstance(turn, Mapping)]


def is_active(read: Raw) -> bool:
    """Whether the thread is at work."""
    thread = read.get("thread")
    return isinstance(thread, Mapping) and status_of(thread.get("status")) == "active"


def turn_of(read: Raw, turn_id: str) -> Raw | None:
    """Return the turn of that id."""
    return next((turn for turn in turns_of(read) if turn.get("id") == turn_id), None)


def turn_about(read: Raw, item_id: str) -> Raw | None:
    """Return the last turn that began with the prompt of that item."""
    found = [
        turn
        for turn in turns_of(read)
        if any(turn_prompts.is_about(text, item_id) for text in _asked(turn))
    ]
    return found[-1] if found else None


def status_of(value: object) -> str:
    """Return the word for a status, which is a text or an object that holds one."""
    if isinstance(value, Mapping):
        value = value.get("status") or value.get("type")
    return value if isinstance(value, str) else ""


def fate_of(turn: Raw) -> Fate:
    """Return what became of a turn that the transcript holds."""
    match status_of(turn.get("status")):
        case "completed":
            return turns.said(_answer(turn))
        case "interrupted" | "cancelled" | "stopped":
            return Interrupted()
        case "failed":
            return _failed(turn.get("error"))
        case "inProgress":
            return Running()
        case other:
            return Unknowable(f"its status is {redaction.shown(other, 40)!r}")


def _answer(turn: Raw) -> str:
    said = [item for item in items_of(turn) if item.get("type") == "agentMessage" and _text(item)]
    final = [item for item in said if item.get("phase") in FINAL]
    unmarked = [item for item in said if item.get("phase") is None]
    chosen = final or unmarked
    return _text(chosen[-1]) if chosen else ""


def items_of(turn: Raw) -> Sequence[Raw]:
    """Return the items of a turn."""
    found = _list(turn.get("items")) or _list(turn.get("output"))
    return [item for item in found if isinstance(item, Mapping)]


def text_of_user(item: Raw) -> str:
    """Return what the user said in an item."""
    parts = (part.get("text") for part in _list(item.get("content")) if isinstance(part, Mapping))
    return "\n".join(part for part in parts if isinstance(part, str)) or _text(item)


def _asked(turn: Raw) -> list[str]:
    return [text_of_user(item) for item in items_of(turn) if item.get("type") == "userMessage"]


def _failed(error: object) -> Failed:
    told = error if isinstance(error, Mapping) else {}
    text = str(told.get("message") or "it says no more")
    kinds = f"{told.get('codexErrorInfo')} {text}".lower()
    is_quota = any(word.lower() in kinds for word in _QUOTA)
    return Failed(redaction.shown(text, 400), is_quota=is_quota)


def _text(item: Raw) -> str:
    text = item.get("text")
    return text if isinstance(text, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
