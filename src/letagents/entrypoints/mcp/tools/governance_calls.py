"""What the tools for approvals do. Loaded when the first of them is called."""

from collections.abc import Mapping

from letagents.domain.approvals import IntentStatus
from letagents.domain.errors import Malformed
from letagents.domain.governance import Failover, ManagerMode, RuntimeSource, checked_session
from letagents.domain.ids import quoted
from letagents.domain.intents import Action, Payload, change_payload, create_payload, lease_payload
from letagents.domain.sessions import Connection
from letagents.domain.tasks import task_id_of
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import naming, text_of
from letagents.entrypoints.mcp.tools.callers import acting, viewing
from letagents.entrypoints.mcp.visit import Visit
from letagents.ports.governance import Decided
from letagents.wire import board, governance
from letagents.wire.bounds import bounded

Result = dict[str, object]


async def get_board_settings(visit: Visit, arguments: Arguments) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    with naming("room_id"):
        governed = await visit.client.governing.governed(room_id, viewer)
    manager = governed.manager
    return {
        "success": True,
        "room_id": str(room_id),
        "settings": governance.settings(governed.settings, room_id),
        "active_manager": governance.manager(manager, room_id) if manager else None,
        "pending_intent_count": governed.pending,
    }


async def set_board_manager_mode(visit: Visit, arguments: Arguments) -> Result:
    by = await acting(visit, arguments)
    failover = arguments.get("manager_failover")
    settings = await visit.client.governing.set_mode(
        by, ManagerMode(arguments["manager_mode"]), Failover(failover) if failover else None
    )
    return _done(by) | {"settings": governance.settings(settings, by.session.room_id)}


async def assign_board_manager(visit: Visit, arguments: Arguments) -> Result:
    target = checked_session(text_of(arguments, "agent_session_id"))
    # That session is the one to manage, not the one that acts.
    own = {name: value for name, value in arguments.items() if name != "agent_session_id"}
    by = await acting(visit, own)
    source = RuntimeSource(arguments.get("runtime_source", RuntimeSource.UNKNOWN.value))
    manager = await visit.client.governing.assign_manager(by, target, source)
    return _done(by) | {"manager": governance.manager(manager, by.session.room_id)}


async def release_board_manager(visit: Visit, arguments: Arguments) -> Result:
    by = await acting(visit, arguments)
    manager = await visit.client.governing.release_manager(by, text_of(arguments, "reason"))
    shown = governance.manager(manager, by.session.room_id) if manager else None
    return _done(by) | {"manager": shown}


async def register_board_intent(visit: Visit, arguments: Arguments) -> Result:
    action, given = Action(arguments["action_type"]), arguments["payload"]
    payload = dict(given) if isinstance(given, Mapping) else {}
    task_id = text_of(arguments, "task_id")
    if task_id is not None and payload.setdefault("task_id", task_id) != task_id:
        raise Malformed(
            f"task_id: payload.task_id is another one, {quoted(payload['task_id'])}.",
            remedy="Pass one of them.",
        )
    return await _proposed(visit, await acting(visit, arguments), action, payload)


async def register_task_create_intent(visit: Visit, arguments: Arguments) -> Result:
    payload = create_payload(
        str(arguments["title"]),
        text_of(arguments, "description"),
        text_of(arguments, "source_message_id"),
    )
    by = await acting(visit, arguments)
    return await _proposed(visit, by, Action.TASK_CREATE, payload)


async def register_task_claim_intent(visit: Visit, arguments: Arguments) -> Result:
    task_id = task_id_of(arguments["task_id"])
    by = await acting(visit, arguments)
    payload = change_payload(
        task_id,
        status="assigned",
        assignee=by.session.actor_label,
        assignee_agent_key=by.session.agent_key,
    )
    return await _proposed(visit, by, Action.TASK_CLAIM, payload)


async def register_task_close_intent(visit: Visit, arguments: Arguments) -> Result:
    payload = change_payload(
        task_id_of(arguments["task_id"]),
        status=str(arguments["status"]),
        pr_url=text_of(arguments, "pr_url"),
    )
    by = await acting(visit, arguments)
    return await _proposed(visit, by, Action.TASK_CLOSE, payload)


async def register_task_lease_action_intent(visit: Visit, arguments: Arguments) -> Result:
    payload = lease_payload(
        task_id_of(arguments["task_id"]),
        str(arguments["action"]),
        lease_id=text_of(arguments, "lease_id"),
        target_actor_key=text_of(arguments, "target_agent_key"),
        target_agent_session_id=text_of(arguments, "target_agent_session_id"),
    )
    by = await acting(visit, arguments)
    return await _proposed(visit, by, Action.TASK_OVERRIDE, payload)


async def _proposed(visit: Visit, by: Connection, action: Action, payload: Payload) -> Result:
    proposed = await visit.client.governing.propose(by, action, payload)
    notice = proposed.notice
    return _done(by) | {
        "intent": governance.intent(proposed.intent, by.session.room_id),
        "approval_needed": proposed.is_needed,
        "manager_notification": governance.manager_notification(notice.to, notice.message_id),
    }


async def list_board_intents(visit: Visit, arguments: Arguments) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    result: Result = {"success": True, "room_id": str(room_id)}
    governing, intent_id = visit.client.governing, text_of(arguments, "intent_id")
    with naming("room_id"):
        if intent_id is not None:
            one = await governing.intent(room_id, intent_id, viewer)
            begins = arguments.get("description_offset")
            described_from = begins if isinstance(begins, int) else 0
            return result | {"intents": [governance.whole_intent(one, room_id, described_from)]}
        status = arguments.get("status")
        found = await governing.intents(
            room_id,
            IntentStatus(status) if status else None,
            after=text_of(arguments, "cursor"),
            viewer=viewer,
        )
    shown = bounded([governance.intent(one, room_id) for one in found.intents])
    result["intents"] = shown.items
    if found.more or shown.omitted:
        result["next_cursor"] = shown.items[-1]["id"]
    return result


async def approve_board_intent(visit: Visit, arguments: Arguments) -> Result:
    by = await acting(visit, arguments)
    intent_id = str(arguments["intent_id"]).strip()
    decided = await visit.client.governing.approve(by, intent_id, text_of(arguments, "reason"))
    token, room_id = decided.token, by.session.room_id
    task = None
    if decided.task is not None:
        view = await visit.client.board.task(room_id, decided.task.task_id, by)
        task = board.row(view)
    came = governance.came_of(decided.intent, task, has_token=token is not None)
    return (
        _decided(by, decided)
        | ({"approval_token": token.value} if token else {})
        | {"result": came}
    )


async def deny_board_intent(visit: Visit, arguments: Arguments) -> Result:
    by = await acting(visit, arguments)
    intent_id = str(arguments["intent_id"]).strip()
    decided = await visit.client.governing.deny(by, intent_id, text_of(arguments, "reason"))
    return _decided(by, decided)


def _decided(by: Connection, decided: Decided) -> Result:
    notice = decided.notice
    return _done(by) | {
        "intent": governance.intent(decided.intent, by.session.room_id),
        "proposer_notification": governance.proposer_notification(notice.to, notice.message_id),
    }


def _done(by: Connection) -> Result:
    return {"success": True, "room_id": str(by.session.room_id)}
