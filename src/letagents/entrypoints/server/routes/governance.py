"""Who decides about a board, and what they decide. (Source: hosted-api 3.9.)"""

from typing import Any

from starlette.responses import Response

from letagents.domain import governance
from letagents.domain.accounts import Role
from letagents.domain.approvals import OPEN_LIMIT, IntentStatus
from letagents.domain.denials import IntentNotFound
from letagents.domain.governance import Failover, ManagerMode, RuntimeSource
from letagents.domain.intents import Action, checked_payload
from letagents.domain.tasks import reason_of
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call
from letagents.ports.governance import Decided, Governance, Governed
from letagents.wire.http import governance as wire
from letagents.wire.http.board_asks import choice
from letagents.wire.http.problems import Form, Forms
from letagents.wire.http.reading import Fields

WAITING = 100
"""So many intents that wait are shown with how a board is governed."""

_DECIDING: Forms = {IntentNotFound: Form(404, text="Pending board intent not found")}


def _governance(call: Call) -> Governance:
    return call.boards.governance


async def settings(call: Call) -> Response:
    """Say how the board is governed."""
    viewer = await call.looking()
    governed = await _governance(call).governed(call.room_id, viewer)
    return answer(_plain_governed(call, governed))


def _plain_governed(call: Call, governed: Governed) -> dict[str, Any]:
    manager = governed.manager
    return {
        "room_id": str(call.room_id),
        "settings": wire.plain_settings(governed.settings, call.room_id),
        "active_manager": manager
        and wire.plain_manager(manager, call.room_id, governed.manager_seen_at),
        "pending_intent_count": governed.pending,
    }


async def governance_of(call: Call) -> Response:
    """Say how the board is governed, by whom it could be, and what waits to be decided."""
    viewer, room_id = await call.looking(), call.room_id
    port = _governance(call)
    governed = await port.governed(room_id, viewer)
    candidates = await port.candidates(room_id, viewer)
    waiting = await port.intents(room_id, IntentStatus.PENDING, limit=WAITING, viewer=viewer)
    done = await port.acts(room_id, viewer=viewer)
    return answer(
        _plain_governed(call, governed)
        | {
            "candidates": [wire.plain_candidate(one) for one in candidates],
            "pending_intents": [wire.plain_intent(one, room_id) for one in waiting.intents],
            "audit": [wire.plain_act(one, room_id) for one in done],
            "warnings": _warnings(governed),
            "capabilities": await _capabilities(call),
        }
    )


def _warnings(governed: Governed) -> list[dict[str, str]]:
    mode, is_managed = governed.settings.manager_mode, governed.manager is not None
    found = {
        "intent_required_without_manager": (
            "error",
            mode is ManagerMode.INTENT_REQUIRED and not is_managed,
        ),
        "manager_assigned_while_mode_off": ("info", mode is ManagerMode.OFF and is_managed),
        "pending_intents_without_manager": ("warning", governed.pending > 0 and not is_managed),
        "pending_intents_awaiting_decision": ("info", governed.pending > 0 and is_managed),
    }
    return [
        {"code": code, "severity": severity} for code, (severity, holds) in found.items() if holds
    ]


async def _capabilities(call: Call) -> dict[str, bool]:
    may = await call.hosting.accounts.role(call.account, call.room_id) is Role.ADMIN
    asks_an_admin = ("assign_manager", "release_manager", "set_manager_mode", "decide_intents")
    return {"can_view_governance": True} | {f"can_{one}": may for one in asks_an_admin}


async def set_mode(call: Call) -> Response:
    """Change how the board is governed."""
    fence, fields = await call.acting_or_person(), await call.fields()
    mode = _given(fields, "manager_mode", ManagerMode)
    failover = _given(fields, "manager_failover", Failover)
    if mode is failover is None:
        raise Refused(400, "manager_mode is invalid")
    changed = await _governance(call).set_mode(call.room_id, mode, failover, fence=fence)
    shown = wire.plain_settings(changed, call.room_id)
    return answer({"room_id": str(call.room_id), "settings": shown})


def _given(fields: Fields, name: str, kinds: Any) -> Any:
    """Return which of `kinds` a field names, or None where it is left out."""
    return None if fields.document.get(name) is None else choice(fields, name, kinds)


async def assign_manager(call: Call) -> Response:
    """Let a worker manage the board: the one that the body names, as the caller of the headers."""
    fields, fence = await call.fields(), await call.acting_by_headers()
    made = await _governance(call).assign_manager(
        call.room_id,
        governance.checked_session(fields.document.get("agent_session_id")),
        _given(fields, "runtime_source", RuntimeSource) or RuntimeSource.UNKNOWN,
        fence=fence,
    )
    shown = wire.plain_manager(made, call.room_id)
    return answer({"room_id": str(call.room_id), "manager": shown}, 201)


async def release_manager(call: Call) -> Response:
    """End the assignment."""
    fence, fields = await call.acting_or_person(), await call.fields()
    reason = reason_of(fields.text_or_none("reason"))
    released = await _governance(call).release_manager(call.room_id, reason, fence=fence)
    shown = released and wire.plain_manager(released, call.room_id)
    return answer({"room_id": str(call.room_id), "manager": shown})


async def intents(call: Call) -> Response:
    """List intents, oldest first."""
    viewer = await call.looking()
    status = _given(Fields({"status": call.asked("status")}), "status", IntentStatus)
    found = await _governance(call).intents(
        call.room_id,
        status,
        after=call.asked("after"),
        limit=min(call.limit, OPEN_LIMIT),
        viewer=viewer,
    )
    shown = [wire.plain_intent(one, call.room_id) for one in found.intents]
    return answer({"room_id": str(call.room_id), "intents": shown, "has_more": found.more})


async def intent(call: Call) -> Response:
    """Show one intent."""
    viewer = await call.looking()
    with told(_DECIDING):
        found = await _governance(call).intent(call.room_id, call.named("intent_id"), viewer)
    shown = wire.plain_intent(found, call.room_id)
    return answer({"room_id": str(call.room_id), "intent": shown})


async def propose(call: Call) -> Response:
    """Ask for an approval."""
    fence, fields = await call.acting_or_person(), await call.fields()
    action = choice(fields, "action_type", Action)
    payload = checked_payload(action, wire.asked_payload(fields))
    made = await _governance(call).propose(call.room_id, action, payload, fence=fence)
    notice = wire.plain_told(
        made.notice.to, made.notice.message_id, reaches="target_manager_agent_session_id"
    )
    return answer(
        {
            "room_id": str(call.room_id),
            "intent": wire.plain_intent(made.intent, call.room_id),
            "manager_notification": notice,
            "is_needed": made.is_needed,
        },
        201,
    )


async def approve(call: Call) -> Response:
    """Approve an intent."""
    fence, reason = await call.acting_or_person(), await _reason(call)
    with told(_DECIDING):
        made = await _governance(call).approve(
            call.room_id, call.named("intent_id"), reason, fence=fence
        )
    result = wire.plain_result(
        made.intent, call.room_id, made.task, has_token=made.token is not None
    )
    token = {} if made.token is None else {"approval_token": made.token.value}
    return answer(_plain_decided(call, made) | token | {"result": result})


async def deny(call: Call) -> Response:
    """Deny an intent."""
    fence, reason = await call.acting_or_person(), await _reason(call)
    with told(_DECIDING):
        made = await _governance(call).deny(
            call.room_id, call.named("intent_id"), reason, fence=fence
        )
    return answer(_plain_decided(call, made))


async def _reason(call: Call) -> str | None:
    return reason_of((await call.fields()).text_or_none("reason"))


def _plain_decided(call: Call, made: Decided) -> dict[str, Any]:
    return {
        "room_id": str(call.room_id),
        "intent": wire.plain_intent(made.intent, call.room_id),
        "proposer_notification": wire.plain_told(
            made.notice.to, made.notice.message_id, reaches="target_agent_session_id"
        ),
    }


_ROOM = "/rooms/{room_id:path}"

ROUTES = (
    ("GET", f"{_ROOM}/board-settings", settings),
    ("PATCH", f"{_ROOM}/board-settings", set_mode),
    ("GET", f"{_ROOM}/board-governance", governance_of),
    ("POST", f"{_ROOM}/board-managers", assign_manager),
    ("DELETE", f"{_ROOM}/board-managers/active", release_manager),
    ("GET", f"{_ROOM}/board-intents", intents),
    ("POST", f"{_ROOM}/board-intents", propose),
    ("GET", f"{_ROOM}/board-intents/{{intent_id}}", intent),
    ("POST", f"{_ROOM}/board-intents/{{intent_id}}/approve", approve),
    ("POST", f"{_ROOM}/board-intents/{{intent_id}}/deny", deny),
)
