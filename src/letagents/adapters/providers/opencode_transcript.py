"""What the messages of an OpenCode session tell of a turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from letagents.domain import redaction, turn_prompts, turns
from letagents.domain.turns import Failed, Fate, Interrupted, Running, Unknowable

Raw = Mapping[str, Any]

_GOES_ON = ("tool-calls", "unknown")
_QUOTA = ("quota", "rate limit", "rate_limit", "insufficient", "429", "402")


def begun(messages: Sequence[Raw], item_id: str, turn_id: str | None) -> str | None:
    """Return the message that began a turn; None if there is none."""
    asked = [one for one in messages if _info(one).get("role") == "user"]
    if turn_id is not None:
        return next((turn_id for one in asked if _info(one).get("id") == turn_id), None)
    found = [one for one in asked if turn_prompts.is_about(_text(one), item_id)]
    return str(_info(found[-1]).get("id")) if found else None


def fate(messages: Sequence[Raw], turn_id: str, *, is_busy: bool) -> Fate:
    """Return what became of the turn that a message began."""
    answers = [one for one in messages if _info(one).get("parentID") == turn_id]
    last = answers[-1] if answers else {}
    error = _info(last).get("error")
    if isinstance(error, Mapping):
        return _failed(error)
    if is_busy:
        return Running()
    finish = _info(last).get("finish")
    if not finish or finish in _GOES_ON:
        return Unknowable("its process ended before the turn did")
    return turns.said(_text(last))


def _failed(error: Raw) -> Failed | Interrupted:
    if error.get("name") == "MessageAbortedError":
        return Interrupted()
    data = error.get("data")
    told = data if isinstance(data, Mapping) else {}
    text = f"{error.get('name')}: {told.get('message') or 'it says no more'}"
    is_quota = any(word in f"{text} {told.get('statusCode')}".lower() for word in _QUOTA)
    return Failed(redaction.shown(text, 400), is_quota=is_quota)


def _text(message: Raw) -> str:
    parts = message.get("parts")
    texts = (
        part.get("text")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, Mapping) and part.get("type") == "text" and not part.get("synthetic")
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def _info(message: Raw) -> Raw:
    info = message.get("info")
    return info if isinstance(info, Mapping) else {}
