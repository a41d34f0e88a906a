"""What an agent may ask to be allowed to do to the board, word for word.

P10  A payload has exactly the fields of its kind; blanks at the ends of texts do not count.
P11  Payloads of one hash say the same, whoever spelt them in which order.
"""

import enum
import hashlib
import re
from collections.abc import Iterable, Mapping

import attrs

from letagents.domain import fencing, names, tasks, texts
from letagents.domain.errors import Malformed
from letagents.domain.ids import MessageId, Token, quoted
from letagents.domain.tasks import Status

Payload = Mapping[str, str | None]
"""What exactly is asked for."""


class Action(enum.Enum):
    """What somebody may want to do to the board."""

    TASK_CREATE = "task_create"
    TASK_CLAIM = "task_claim"
    TASK_CLOSE = "task_close"
    TASK_OVERRIDE = "task_override"
    TASK_UPDATE = "task_update"


@attrs.frozen(repr=False, str=False)
class ApprovalToken(Token):
    """The secret of one approval."""

    called = "an approval_token"
    expected = "the approval_token that approve_board_intent returned"


def digest(token: ApprovalToken) -> str:
    """Return what a room keeps instead of the token itself."""
    return fencing.digest(token)


@attrs.frozen
class Approval:
    """What a call shows of the approval that it has: the intent, its token, or both."""

    intent_id: str | None = None
    token: ApprovalToken | None = None


_CREATE = ("title", "description", "source_message_id")
_CHANGE = ("task_id", "status", "assignee", "assignee_agent_key", "pr_url")
_LEASE = ("task_id", "action", "lease_id", "target_actor_key", "target_agent_session_id")
_LIMITS = {"title": 300, "description": 16_384}
_LIMIT = 500
_LEASE_ACTIONS = ("release", "handoff")
_STATUSES: Mapping[Action, tuple[str, ...]] = {
    Action.TASK_CLAIM: ("assigned",),
    Action.TASK_CLOSE: ("merged", "done", "cancelled"),
    Action.TASK_OVERRIDE: ("accepted",),
    Action.TASK_UPDATE: tuple(status.value for status in Status),
}
"""Which statuses each action can ask for."""
_OWN = {
    status: action
    for action in (Action.TASK_CLAIM, Action.TASK_CLOSE, Action.TASK_OVERRIDE)
    for status in _STATUSES[action]
}


def action_of(status: str | None) -> Action:
    """Return the action that a change of a task to that status is."""
    return _OWN.get(status or "", Action.TASK_UPDATE)


def create_payload(
    title: str, description: str | None = None, source_message_id: str | None = None
) -> Payload:
    """Return the payload of a new task."""
    given = {"title": title, "description": description, "source_message_id": source_message_id}
    return checked_payload(Action.TASK_CREATE, given)


def change_payload(
    task_id: str,
    *,
    status: str | None = None,
    assignee: str | None = None,
    assignee_agent_key: str | None = None,
    pr_url: str | None = None,
) -> Payload:
    """Return the payload of a change of a task."""
    given = (task_id, status, assignee, assignee_agent_key, pr_url)
    return checked_payload(Action.TASK_UPDATE, dict(zip(_CHANGE, given, strict=True)))


def lease_payload(
    task_id: str,
    action: str,
    *,
    lease_id: str | None = None,
    target_actor_key: str | None = None,
    target_agent_session_id: str | None = None,
) -> Payload:
    """Return the payload of the release or the handing over of a lease."""
    given = (task_id, action, lease_id, target_actor_key, target_agent_session_id)
    return checked_payload(Action.TASK_OVERRIDE, dict(zip(_LEASE, given, strict=True)))


def checked_payload(action: Action, given: Mapping[str, object]) -> dict[str, str | None]:
    """Return what `given` says, with exactly the fields of its kind (P18).

    Raises:
        Malformed: it has others, lacks the one that is needed, or they are not texts.
    """
    fields = _fields(action, given)
    if unknown := [name for name in given if name not in fields]:
        raise Malformed(
            f"payload.{quoted(unknown[0])[1:-1]}: a {action.value} has no such field.",
            remedy=f"Pass these and no others: {', '.join(fields)}.",
        )
    payload = {name: _read(name, given.get(name)) for name in fields}
    if payload[fields[0]] is None:
        raise Malformed(
            f"payload.{fields[0]}: {action.value} payload must include a {fields[0]}.",
            remedy=f"Pass payload.{fields[0]} as a text with something in it.",
        )
    if fields is not _CREATE:
        _check_asks_for_something(action, payload)
    return payload


def _fields(action: Action, given: Mapping[str, object]) -> tuple[str, ...]:
    if action is Action.TASK_CREATE:
        return _CREATE
    return _LEASE if action is Action.TASK_OVERRIDE and "action" in given else _CHANGE


def _read(name: str, value: object) -> str | None:
    if name == "pr_url":
        return texts.address(value, "payload.pr_url")
    text = texts.optional(value, f"payload.{name}", _LIMITS.get(name, _LIMIT))
    if text is not None and name == "task_id":
        return tasks.task_id_of(text, "payload.task_id")
    if text is not None and name == "source_message_id":
        return str(MessageId.parse(text, "payload.source_message_id"))
    return text


def _check_asks_for_something(action: Action, payload: Payload) -> None:
    """Refuse what could never be approved for a call that there is."""
    field = "action" if "action" in payload else "status"
    able = _LEASE_ACTIONS if field == "action" else _STATUSES[action]
    asked = payload[field]
    if asked not in able and not (action is Action.TASK_UPDATE and asked is None):
        raise Malformed(
            f"payload.{field}: a {action.value} cannot ask for {quoted(asked)}.",
            remedy=f"Pass one of: {', '.join(able)}.",
        )
    if asked == "handoff" and payload["target_actor_key"] is None:
        raise Malformed(
            "payload.target_actor_key: target_actor_key is required for handoff.",
            remedy="Pass the agent_key of the worker that is to have the task.",
        )


_ESCAPED = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')
_SHORT = {"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "\\": r"\\"}


def payload_hash(payload: Payload) -> str:
    """Return the SHA-256 of the payload as compact JSON with its keys in order, in hexadecimal."""
    fields = ",".join(f"{_json(name)}:{_json(payload[name])}" for name in sorted(payload))
    return hashlib.sha256(f"{{{fields}}}".encode()).hexdigest()


def _json(text: str | None) -> str:
    """Return `text` as JSON, spelt as every JavaScript program spells it."""
    if text is None:
        return "null"
    return f'"{_ESCAPED.sub(lambda found: _escape(found[0]), text)}"'


def _escape(character: str) -> str:
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


TITLE_SHOWN = 80


def words(action: Action, payload: Payload) -> str:
    """Return in words what is asked for: `claim task_3`."""
    task_id, status = payload.get("task_id"), payload.get("status")
    if action is Action.TASK_CREATE:
        return f"create the task “{cut(payload['title'] or '')}”"
    if payload.get("action") == "handoff":
        return f"hand {task_id} over to {payload['target_actor_key']}"
    if payload.get("action") == "release":
        return f"release the lease of {task_id}"
    if action is Action.TASK_CLAIM:
        return f"claim {task_id}"
    return f"set {task_id} to {status}" if status else f"change {task_id}"


def cut(text: str, limit: int = TITLE_SHOWN) -> str:
    """Return a text as one line that is short enough for a message, and mentions nobody."""
    line = names.collapse(text.replace("@", "@ "))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def using(action: Action, payload: Payload, intent_id: str) -> str:
    """Return the call that uses the approval of this."""
    approved = {**payload, "board_intent_id": intent_id}
    if action is Action.TASK_CREATE:
        return f"add_task({_shown(approved, (*_CREATE, 'board_intent_id'))})"
    if action is Action.TASK_CLAIM:
        return f"claim_task({_shown(approved, ('task_id', 'board_intent_id'))})"
    if "action" not in payload:
        return (
            f"update_task({_shown(approved, ('task_id', 'status', 'pr_url', 'board_intent_id'))})"
        )
    tool = "handoff_task_lease" if payload["action"] == "handoff" else "release_task_lease"
    return f"{tool}({_shown(approved, ('task_id', *_LEASE[2:], 'board_intent_id'))})"


_NAMED = {"target_actor_key": "target_agent_key"}


def asking(action: Action, payload: Payload) -> str:
    """Return the call that asks for an approval of this."""
    if action is Action.TASK_CREATE:
        return f"register_task_create_intent({_shown(payload, _CREATE)})"
    if action is Action.TASK_CLAIM:
        return f"register_task_claim_intent({_shown(payload, ('task_id',))})"
    if action is Action.TASK_CLOSE:
        return f"register_task_close_intent({_shown(payload, ('task_id', 'status', 'pr_url'))})"
    if "action" in payload:
        return f"register_task_lease_action_intent({_shown(payload, _LEASE)})"
    given = {name: payload[name] for name in ("task_id", "status")}
    return f"register_board_intent(action_type={action.value!r}, payload={given})"


def _shown(payload: Payload, fields: Iterable[str]) -> str:
    given = ((name, payload.get(name)) for name in fields)
    return ", ".join(f"{_NAMED.get(name, name)}={quoted(text)}" for name, text in given if text)
