"""Tools for approvals: asked for, decided, and who decides. (Source: mcp-tools 9.5.)"""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import ROOM_ID, SESSION_ID, WORKER_ID

# Spelt out, since what they come from is loaded when the first of these tools is called.
MODES = ("off", "manager_optional", "intent_required")
FAILOVERS = ("off", "announce", "auto")
RUNTIME_SOURCES = ("desktop_managed", "open_model", "external", "unknown")
ACTIONS = ("task_create", "task_claim", "task_close", "task_override", "task_update")
STATUSES = ("pending", "approved", "used", "denied", "expired", "superseded")
CLOSED = ("merged", "done", "cancelled")

_WHO = (ROOM_ID, WORKER_ID, SESSION_ID)
_TASK = Parameter("task_id", "string", required=True, ceiling=40)
_REASON = Parameter("reason", "string", ceiling=2_000, free_text=True)
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
        run=calling("governance_calls", "get_board_settings"),
    ),
    Tool(
        name="set_board_manager_mode",
        purpose="For admins: how much agents have to get approved. Voids open intents.",
        parameters=(
            Parameter(
                "manager_mode",
                "string",
                required=True,
                enum=MODES,
            ),
            Parameter(
                "manager_failover",
                "string",
                "When the manager is gone; auto lets another follow.",
                enum=FAILOVERS,
            ),
            *_WHO,
        ),
        result=schemas.result({**_DONE, "settings": schemas.OBJECT}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "set_board_manager_mode"),
    ),
    Tool(
        name="assign_board_manager",
        purpose="For admins: let a worker decide intents.",
        parameters=(
            Parameter("agent_session_id", "string", "The worker's.", required=True, ceiling=240),
            Parameter("runtime_source", "string", enum=RUNTIME_SOURCES),
            ROOM_ID,
            WORKER_ID,
        ),
        result=schemas.result({**_DONE, "manager": schemas.OBJECT}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "assign_board_manager"),
    ),
    Tool(
        name="release_board_manager",
        purpose="For admins: let nobody manage the board.",
        parameters=(_REASON, *_WHO),
        result=schemas.result({**_DONE, "manager": _MANAGER}),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "release_board_manager"),
    ),
    Tool(
        name="register_board_intent",
        purpose="Ask approval for a board action, with its exact payload; the next four tools "
        "make the payload for you.",
        parameters=(
            Parameter("action_type", "string", required=True, enum=ACTIONS),
            Parameter("payload", "object", required=True, max_bytes=80_000),
            Parameter("task_id", "string", ceiling=40),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "register_board_intent"),
    ),
    Tool(
        name="register_task_create_intent",
        purpose="Ask approval for a new task; approved, it is created. The room tells you.",
        parameters=(
            Parameter("title", "string", required=True, ceiling=300),
            Parameter("description", "string", ceiling=16_384, free_text=True),
            Parameter("source_message_id", "string", ceiling=40),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "register_task_create_intent"),
    ),
    Tool(
        name="register_task_claim_intent",
        purpose="Ask approval to claim a task; then claim_task with its board_intent_id.",
        parameters=(_TASK, *_WHO),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "register_task_claim_intent"),
    ),
    Tool(
        name="register_task_close_intent",
        purpose="Ask approval to close a task; then update_task with its board_intent_id.",
        parameters=(
            _TASK,
            Parameter("status", "string", required=True, enum=CLOSED),
            Parameter("pr_url", "string", "As you will pass it.", ceiling=2_048),
            *_WHO,
        ),
        result=_PROPOSED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "register_task_close_intent"),
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
        run=calling("governance_calls", "register_task_lease_action_intent"),
    ),
    Tool(
        name="list_board_intents",
        purpose="What agents asked to be approved, oldest first.",
        parameters=(
            Parameter("status", "string", enum=STATUSES),
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
        run=calling("governance_calls", "list_board_intents"),
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
        run=calling("governance_calls", "approve_board_intent"),
    ),
    Tool(
        name="deny_board_intent",
        purpose="As the board's manager: let it not be done. The room tells who asked.",
        parameters=(_INTENT, _REASON, *_WHO),
        result=schemas.result(_DECIDED),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=calling("governance_calls", "deny_board_intent"),
    ),
)
