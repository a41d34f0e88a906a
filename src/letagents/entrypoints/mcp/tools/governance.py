"""Tools for approvals: asked for, decided, and who decides."""

from collections.abc import Mapping

from letagents.domain.approvals import IntentStatus
from letagents.domain.governance import (
    Failover,
    ManagerMode,
    RuntimeSource,
    checked_session,
)
from letagents.domain.intents import Action, Payload, change_payload, create_payload, lease_payload
from letagents.domain.sessions import Connection
from letagents.domain.tasks import DESCRIPTION_LIMIT, REASON_LIMIT, TITLE_LIMIT, task_id_of
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.arguments import (
    ROOM_ID,
    SESSION_ID,
    WORKER_ID,
    Arguments,
    naming,
    text_of,
)
from letagents.entrypoints.mcp.tools.callers import acting, viewing
from letagents.entrypoints.mcp.visit import Visit
from letagents.ports.governance import Decided
from letagents.wire import board, governance
from letagents.wire.bounds import bounded

Result = dict[str, object]


async def get_board_settings(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


async def set_board_manager_mode(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    by = await acting(visit, arguments)
    failover = arguments.get("manager_failover")
    settings = await visit.client.governing.set_mode(
        by, ManagerMode(arguments["manager_mode"]), Failover(failover) if failover else None
    )
    return _done(by) | {"settings": governance.settings(settings, by.session.room_id)}


async def assign_board_manager(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    target = checked_session(text_of(arguments, "agent_session_id"))
    # That session is the one to manage, not the one that acts.
    own = {name: value for name, value in arguments.items() if name != "agent_session_id"}
    by = await acting(visit, own)
    source = RuntimeSource(arguments.get("runtime_source", RuntimeSource.UNKNOWN.value))
    manager = await visit.client.governing.assign_manager(by, target, source)
    return _done(by) | {"manager": governance.manager(manager, by.session.room_id)}


async def release_board_manager(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    by = await acting(visit, arguments)
    manager = await visit.client.governing.release_manager(by, text_of(arguments, "reason"))
    shown = governance.manager(manager, by.session.room_id) if manager else None
    return _done(by) | {"manager": shown}


async def register_board_intent(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    action, given = Action(arguments["action_type"]), arguments["payload"]
    payload = dict(given) if isinstance(given, Mapping) else {}
    task_id = text_of(arguments, "task_id")
    if task_id is not None and action is not Action.TASK_CREATE:
        payload.setdefault("task_id", task_id)
    return await _proposed(visit, await acting(visit, arguments), action, payload)


async def register_task_create_intent(
    visit: Visit, arguments: Arguments, _progress: Progress
) -> Result:
    payload = create_payload(
        str(arguments["title"]),
        text_of(arguments, "description"),
        text_of(arguments, "source_message_id"),
    )
    by = await acting(visit, arguments)
    return await _proposed(visit, by, Action.TASK_CREATE, payload)


async def register_task_claim_intent(
    visit: Visit, arguments: Arguments, _progress: Progress
) -> Result:
    task_id = task_id_of(arguments["task_id"])
    by = await acting(visit, arguments)
    payload = change_payload(
        task_id,
        status="assigned",
        assignee=by.session.actor_label,
        assignee_agent_key=by.session.agent_key,
    )
    return await _proposed(visit, by, Action.TASK_CLAIM, payload)


async def register_task_close_intent(
    visit: Visit, arguments: Arguments, _progress: Progress
) -> Result:
    payload = change_payload(
        task_id_of(arguments["task_id"]),
        status=str(arguments["status"]),
        pr_url=text_of(arguments, "pr_url"),
    )
    by = await acting(visit, arguments)
    return await _proposed(visit, by, Action.TASK_CLOSE, payload)


async def register_task_lease_action_intent(
    visit: Visit, arguments: Arguments, _progress: Progress
) -> Result:
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


async def list_board_intents(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


async def approve_board_intent(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


async def deny_board_intent(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


_WHO = (ROOM_ID, WORKER_ID, SESSION_ID)
_TASK = Parameter("task_id", "string", required=True, ceiling=40)
_REASON = Parameter("reason", "string", max_length=REASON_LIMIT, free_text=True)
_INTENT = Parameter("intent_id", "string", required=True, ceiling=60)

_DONE = {"success": schemas.BOOLEAN, "room_id": schemas.STRING}
_ONE = schemas.result(
    {
        "id": schemas.STRING,
        "action_type": schemas.STRING,
        "payload": schemas.OBJECT,
        "status": schemas.STRING,
        "expires_at": schemas.STRING,
    },
    {"task_id": schemas.TEXT_OR_NULL, "proposer_actor_key": schemas.TEXT_OR_NULL},
)
_MANAGER = schemas.nullable(schemas.OBJECT)
_PROPOSED = schemas.result(
    {
        **_DONE,
        "intent": _ONE,
        "approval_needed": schemas.BOOLEAN,
        "manager_notification": schemas.OBJECT,
    }
)
_DECIDED = {**_DONE, "intent": _ONE, "proposer_notification": schemas.OBJECT}

GOVERNING = (
    Tool(
        name="get_board_settings",
        purpose="What has to be approved on the board, by whom, and how much waits.",
        parameters=_WHO,
        result=schemas.result(
            {
                **_DONE,
                "settings": schemas.OBJECT,
                "active_manager": _MANAGER,
                "pending_intent_count": schemas.NUMBER,
            }
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_board_settings,
    ),
    Tool(
        name="set_board_manager_mode",
        purpose="For admins: how much agents have to get approved. Voids open intents.",
        parameters=(
            Parameter(
                "manager_mode",
                "string",
                required=True,
                enum=tuple(one.value for one in ManagerMode),
            ),
            Parameter(
                "manager_failover",
                "string",
                "When the manager is gone; auto lets another follow.",
                enum=tuple(one.value for one in Failover),
            ),
            *_WHO,
        ),
        result=schemas.result({**_DONE, "settings": schemas.OBJECT}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=set_board_manager_mode,
    ),
    Tool(
        name="assign_board_manager",
        purpose="For admins: let a worker decide intents.",
        parameters=(
            Parameter("agent_session_id", "string", "The worker's.", required=True, ceiling=240),
            Parameter("runtime_source", "string", enum=tuple(one.value for one in RuntimeSource)),
            ROOM_ID,
            WORKER_ID,
        ),
        result=schemas.result({**_DONE, "manager": schemas.OBJECT}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=assign_board_manager,
    ),
    Tool(
        name="release_board_manager",
        purpose="For admins: let nobody manage the board.",
        parameters=(_REASON, *_WHO),
        result=schemas.result({**_DONE, "manager": _MANAGER}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=release_board_manager,
    ),
    Tool(
        name="register_board_intent",
        purpose="Ask approval for a board action, with its exact payload; the next four tools "
        "make the payload for you.",
        parameters=(
            Parameter(
                "action_type", "string", required=True, enum=tuple(one.value for one in Action)
            ),
            Parameter("payload", "object", required=True, max_bytes=80_000),
            Parameter("task_id", "string", ceiling=40),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=register_board_intent,
    ),
    Tool(
        name="register_task_create_intent",
        purpose="Ask approval for a new task; approved, it is created. The room tells you.",
        parameters=(
            Parameter("title", "string", required=True, max_length=TITLE_LIMIT),
            Parameter("description", "string", max_length=DESCRIPTION_LIMIT, free_text=True),
            Parameter("source_message_id", "string", ceiling=40),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=register_task_create_intent,
    ),
    Tool(
        name="register_task_claim_intent",
        purpose="Ask approval to claim a task; then claim_task with its board_intent_id.",
        parameters=(_TASK, *_WHO),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=register_task_claim_intent,
    ),
    Tool(
        name="register_task_close_intent",
        purpose="Ask approval to close a task; then update_task with its board_intent_id.",
        parameters=(
            _TASK,
            Parameter("status", "string", required=True, enum=("merged", "done", "cancelled")),
            Parameter("pr_url", "string", "As you will pass it.", ceiling=2_048),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=register_task_close_intent,
    ),
    Tool(
        name="register_task_lease_action_intent",
        purpose="Ask approval to release or hand over a task's lease; then make that call with "
        "the same values and board_intent_id.",
        parameters=(
            _TASK,
            Parameter("action", "string", required=True, enum=("release", "handoff")),
            Parameter("lease_id", "string", ceiling=100),
            Parameter("target_agent_key", "string", "For handoff.", ceiling=300),
            Parameter("target_agent_session_id", "string", ceiling=240),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=register_task_lease_action_intent,
    ),
    Tool(
        name="list_board_intents",
        purpose="What agents asked to be approved, oldest first.",
        parameters=(
            Parameter("status", "string", enum=tuple(one.value for one in IntentStatus)),
            Parameter("intent_id", "string", "This one, whole.", ceiling=60),
            Parameter("description_offset", "integer", "Of that one.", minimum=0),
            Parameter("cursor", "string", ceiling=60),
            *_WHO,
        ),
        result=schemas.result(
            {**_DONE, "intents": {"type": "array", "items": _ONE}}, {"next_cursor": schemas.STRING}
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=list_board_intents,
    ),
    Tool(
        name="approve_board_intent",
        purpose="As the board's manager: let it be done. The room tells who asked.",
        parameters=(_INTENT, _REASON, *_WHO),
        result=schemas.result(
            {**_DECIDED, "result": schemas.OBJECT}, {"approval_token": schemas.STRING}
        ),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=approve_board_intent,
    ),
    Tool(
        name="deny_board_intent",
        purpose="As the board's manager: let it not be done. The room tells who asked.",
        parameters=(_INTENT, _REASON, *_WHO),
        result=schemas.result(_DECIDED),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=deny_board_intent,
    ),
)
