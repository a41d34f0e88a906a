"""What an agent may ask to be allowed to do to the board, word for word.

P10  A payload has exactly the fields of its kind; blanks at the ends of texts do not count.
P11  Payloads of one hash say the same, whoever spelt them in which order.
"""

import enum
import hashlib
import re
from collections.abc import Iterable, Mapping

import attrs

from letagents.domain import fencing, texts
from letagents.domain.errors import Malformed
from letagents.domain.ids import Token, quoted

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
_LIMITS = {"title": 300, "description": 16_384, "pr_url": 2_048}
_LIMIT = 500


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
    payload = {name: _text(name, given.get(name)) for name in fields}
    if payload[fields[0]] is None:
        raise Malformed(
            f"payload.{fields[0]}: {action.value} payload must include a {fields[0]}.",
            remedy=f"Pass payload.{fields[0]} as a text with something in it.",
        )
    return payload


def _fields(action: Action, given: Mapping[str, object]) -> tuple[str, ...]:
    if action is Action.TASK_CREATE:
        return _CREATE
    return _LEASE if action is Action.TASK_OVERRIDE and "action" in given else _CHANGE


def _text(name: str, value: object) -> str | None:
    return texts.optional(value, f"payload.{name}", _LIMITS.get(name, _LIMIT))


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


_LEASE_CALL = ("task_id", "action", "lease_id", "target_actor_key", "target_agent_session_id")
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
        return f"register_task_lease_action_intent({_shown(payload, _LEASE_CALL)})"
    given = {name: payload[name] for name in ("task_id", "status")}
    return f"register_board_intent(action_type={action.value!r}, payload={given})"


def _shown(payload: Payload, fields: Iterable[str]) -> str:
    given = ((name, payload.get(name)) for name in fields)
    return ", ".join(f"{_NAMED.get(name, name)}={quoted(text)}" for name, text in given if text)
