"""What an agent is doing, as it can be shown: one short summary at a time.

Y31  Raw reasoning is never shown: that it is written, and not a word of it.
Y32  A summary of reasoning grows by its parts, in their order, and is let go once it is complete.
Y49  What a thing is called, and what is summed up, is shown without what looks like a secret; of an
     error it is shown what it says.
Y33  Whether somebody works, is blocked or is idle follows from the name of what happened.
"""

import re
from collections.abc import Mapping
from typing import Any

import attrs

from letagents.domain import redaction

Raw = Mapping[str, Any]

MOST_STREAMS = 200
_BLOCKED = re.compile(r"blocked|error|failed", re.IGNORECASE)
_IDLE = re.compile(r"completed|finished|done|stopped|interrupted", re.IGNORECASE)
_REASONING = "item/reasoning/"
_OURS = ("thread/", "turn/", "item/")
SOURCE = "codex_app_server"
_NAMING = ("name", "tool", "command", "message")
DETAIL = 120
"""Characters of what names a thing that are shown."""


@attrs.frozen
class Activity:
    """Something that an agent does, as it can be shown. (Source: supervisor 8.9.)"""

    method: str
    summary: str
    status: str = "working"
    checking: str | None = None
    next_action: str | None = None


@attrs.define
class Streams:
    """The summaries of reasoning that are being written, by thread, turn and item."""

    _parts: dict[tuple[str, str, str], dict[int, str]] = attrs.field(factory=dict)

    def activity(self, method: str, params: Raw) -> Activity:
        """Return what a notification of Codex tells."""
        item = _mapping(params.get("item"))
        if method.startswith(_REASONING):
            return self._of_stream(method, params) or _other(method, params)
        if method in ("item/started", "item/completed") and item.get("type") == "reasoning":
            return self._of_item(method, params, item) or _other(method, params)
        return _other(method, params)

    def _of_stream(self, method: str, params: Raw) -> Activity | None:
        key = _key(params, params.get("itemId"))
        if key is None:
            return None
        kind = method.removeprefix(_REASONING)
        if kind == "textDelta":
            return _said(method, "Codex raw reasoning text is streaming.")
        if kind not in ("summaryTextDelta", "summaryPartAdded"):
            return None
        index = _index(params.get("summaryIndex"))
        parts = self._of(key)
        if kind == "summaryPartAdded":
            parts.setdefault(index, "")
            summary = _joined(parts) or "Codex started a new reasoning summary section."
            return _said(method, summary, f"Reasoning summary section {index + 1}.")
        parts[index] = parts.get(index, "") + _text(params.get("delta"))
        return _said(method, _joined(parts) or "Codex reasoning summary is streaming.")

    def _of_item(self, method: str, params: Raw, item: Raw) -> Activity | None:
        key = _key(params, item.get("id"))
        if key is None:
            return None
        parts = self._of(key)
        parts.update(enumerate(map(_part, _list(item.get("summary")))))
        summary = _joined(parts)
        if method == "item/completed":
            self._parts.pop(key, None)
            return _said(method, summary or "Codex reasoning completed.", status="idle")
        return _said(method, summary or "Codex reasoning started.")

    def _of(self, key: tuple[str, str, str]) -> dict[int, str]:
        if key not in self._parts and len(self._parts) >= MOST_STREAMS:
            del self._parts[next(iter(self._parts))]  # the oldest: its end was never told
        return self._parts.setdefault(key, {})


def status(method: str) -> str:
    """Return what a thing of that name makes of who does it (Y33)."""
    if _BLOCKED.search(method):
        return "blocked"
    return "idle" if _IDLE.search(method) else "working"


def _other(method: str, params: Raw) -> Activity:
    detail = _detail(_mapping(params.get("item")) or params)
    readable = method.replace("/", " ")
    if method.startswith(_OURS):
        summary = f"Codex {readable}{f' ({detail})' if detail else ''}"
    else:
        summary = f"Codex runtime event: {readable}{f' ({detail})' if detail else ''}"
    checking = f"Handling {detail}." if detail and method.startswith("item/") else None
    return Activity(method, summary, status(method), checking or f"{SOURCE}: {method}")


def _detail(item: Raw) -> str:
    named = next((text for name in _NAMING if (text := _text(item.get(name)))), "")
    named = named or _text(_mapping(item.get("error")).get("message"))
    named = redaction.shown(named[: redaction.LONGEST])[:DETAIL]
    return ": ".join(part for part in (_text(item.get("type"))[:DETAIL], named) if part)


def _said(
    method: str, summary: str, checking: str | None = None, status: str = "working"
) -> Activity:
    shown = redaction.shown(summary[: redaction.LONGEST])
    return Activity(method, shown, status, checking or f"{SOURCE}: {method}")


def _joined(parts: Mapping[int, str]) -> str:
    return "\n\n".join(text for _, part in sorted(parts.items()) if (text := part.strip()))


def _key(params: Raw, item_id: object) -> tuple[str, str, str] | None:
    found = (_text(params.get("threadId")), _text(params.get("turnId")), _text(item_id))
    return found if all(found) else None


def _part(part: object) -> str:
    return _text(part) or _text(_mapping(part).get("text"))


def _index(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1_000 else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Raw:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
