"""Wake rules of a hosted room, and back. (Source: mcp-tools 9.4.)

Of our own are a rule's `number` and session, until when it was asked for, and what it will tell.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.wake_rules import Asked, Change, State, WakeRule
from letagents.wire import memory, moments
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]


def plain(rule: WakeRule, room_id: RoomId) -> Plain:
    """Return the form of a rule."""
    until = rule.asked.expires_at
    return memory.wake_rule(rule, room_id) | {
        "number": rule.number,
        "agent_session_id": str(rule.session_id),
        "asked_expires_at": until and moments.to_text(until),
        "pending": rule.pending and _plain_change(rule.pending),
    }


def _plain_change(change: Change) -> Plain:
    return {"task_id": change.task_id, "before": change.before, "after": change.after}


def rule(document: object) -> WakeRule:
    """Return the rule that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    pending = fields.part("pending")
    return WakeRule(
        number=fields.integer_or_none("number") or 0,
        rule_id=fields.text("id"),
        asked=_told(fields),
        agent_key=fields.text("agent_key"),
        actor_label=fields.text("actor_label"),
        session_id=fields.parsed_or_none("agent_session_id", SessionId) or UNTOLD,
        created_at=fields.moment("created_at"),
        expires_at=fields.moment("expires_at"),
        state=fields.parsed("status", State),
        due_at=fields.moment_or_none("due_at"),
        pending=_change(pending) if pending else None,
        told=fields.integer_or_none("fired_count") or 0,
        told_at=fields.moment_or_none("fired_at"),
        ended_at=fields.moment_or_none("ended_at"),
    )


UNTOLD = SessionId("agent_session_0")
"""Whose session it is, where a server does not tell."""


def _told(fields: Fields) -> Asked:
    try:
        return _asked(fields, "asked_expires_at")
    except Malformed as error:
        raise Unreadable("it is no rule") from error


def _change(fields: Fields) -> Change:
    return Change(fields.text("task_id"), fields.text("before"), fields.text("after"))


def plain_rules(active: Iterable[WakeRule], recent: Iterable[WakeRule], room_id: RoomId) -> Plain:
    """Return the form of the rules of a room."""
    return {
        "room_id": str(room_id),
        "active": [plain(one, room_id) for one in active],
        "recent": [plain(one, room_id) for one in recent],
    }


def rules(document: object) -> tuple[tuple[WakeRule, ...], tuple[WakeRule, ...]]:
    """Return the rules that wait, and the latest that do so no more.

    Raises:
        Unreadable: `document` spells none.
    """
    fields = Fields(document)
    return tuple(map(rule, fields.list("active"))), tuple(map(rule, fields.list("recent")))


def plain_asked(asked: Asked) -> Plain:
    """Return the form of what an agent asks to be woken by."""
    return {
        "event": asked.event.value,
        "arguments": memory.arguments(asked.wanted),
        "note": asked.note,
        "repeat": asked.repeat,
        "expires_at": asked.expires_at and asked.expires_at.isoformat(),
    }


def asked(document: object) -> Asked:
    """Return what an agent asks to be woken by.

    Raises:
        Unreadable, Malformed: it is not told.
    """
    return _asked(Fields(document), "expires_at")


def _asked(fields: Fields, until: str) -> Asked:
    return Asked.of(
        fields.text("event"),
        _arguments(fields.document.get("arguments")),
        note=fields.document.get("note"),
        repeat=fields.document.get("repeat") is not None and fields.flag("repeat"),
        expires_at=fields.text_or_none(until),
    )


def _arguments(given: object) -> Mapping[str, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise Malformed("arguments must be an object.", remedy="Pass arguments as an object.")
    return given
