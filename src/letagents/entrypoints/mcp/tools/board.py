"""Tools of the task board. What they take is bounded in the domain. (Source: mcp-tools 9.5.)

Two tuples, since others' tools stand between them: ADDING and WORKING.
"""

from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.later import calling
from letagents.entrypoints.mcp.tools.usual import EPOCH, ROOM_ID, SESSION_ID, WORKER_ID

STATUSES = (
    "proposed", "accepted", "assigned", "in_progress", "blocked", "in_review", "merged", "done",
    "cancelled",
)  # fmt: skip
PROVIDERS = ("github", "gitlab", "bitbucket", "unknown")
ARTIFACTS = ("issue", "branch", "pull_request", "merge_request", "review", "check_run", "merge")

_WHO = (ROOM_ID, WORKER_ID, SESSION_ID)
_TASK_ID = Parameter("task_id", "string", "E.g. task_3.", required=True)
_APPROVAL = (
    Parameter("board_intent_id", "string", "An approved intent."),
    Parameter("board_approval_token", "string", secret=True),
)
_LEASE_ID = Parameter("lease_id", "string")
_REASON = Parameter("reason", "string", free_text=True, blank=True)
_PR_URL = Parameter("pr_url", "string", blank=True)
_ARTIFACTS = Parameter(
    "workflow_artifacts",
    "array",
    "Replace those of the task.",
    core=False,
    max_items=32,
    item=(
        Parameter("provider", "string", required=True, enum=PROVIDERS),
        Parameter("kind", "string", required=True, enum=ARTIFACTS),
        Parameter("id", "string"),
        Parameter("number", "integer"),
        Parameter("title", "string"),
        Parameter("url", "string"),
        Parameter("ref", "string"),
        Parameter("state", "string"),
    ),
)

_CHANGED = schemas.result(
    {"success": schemas.BOOLEAN, "task": schemas.OBJECT, "agent_identity": schemas.IDENTITY},
    {"idempotent": schemas.BOOLEAN},
)
_MOVED = schemas.result(
    {
        "success": schemas.BOOLEAN,
        "action": schemas.STRING,
        "task": schemas.OBJECT,
        "agent_identity": schemas.IDENTITY,
    },
    {
        "lease": schemas.OBJECT,
        "released_lease": schemas.nullable(schemas.OBJECT),
        "new_lease": schemas.nullable(schemas.OBJECT),
    },
)

ADDING = (
    Tool(
        name="add_task",
        purpose="Propose a task. Once accepted (update_task) it can be claimed.",
        parameters=(
            Parameter("title", "string", required=True),
            Parameter("description", "string", free_text=True, blank=True),
            Parameter("source_message_id", "string", "It asks for the task."),
            Parameter("client_task_id", "string", "Idempotency key."),
            *_WHO,
            *_APPROVAL,
            Parameter("created_by", "string", "Ignored.", blank=True, core=False),
        ),
        result=_CHANGED,
        read_only=False,
        idempotent=False,
        open_world=False,
        run=calling("board_calls", "add_task"),
    ),
    Tool(
        name="get_board",
        purpose="The tasks: where they stand, who holds them. By default the open ones.",
        parameters=(
            Parameter("status", "string", enum=STATUSES),
            Parameter("open_only", "boolean", "Default true, without status."),
            Parameter("after", "string", "Cursor: next_after."),
            Parameter("task_id", "string", "This one alone, whole."),
            Parameter("description_offset", "integer", "With task_id.", minimum=0),
            *_WHO,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN, "tasks": {"type": "array", "items": schemas.OBJECT}},
            {
                "room_id": schemas.STRING,
                "artifact_detail_instruction": schemas.STRING,
                "has_more": schemas.BOOLEAN,
                "next_after": schemas.STRING,
            },
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=calling("board_calls", "get_board"),
    ),
)
"""What stands before the tools that govern the board."""

WORKING = (
    Tool(
        name="claim_task",
        purpose="Take an accepted task, or one whose holder is gone.",
        parameters=(
            _TASK_ID,
            *_WHO,
            *_APPROVAL,
            Parameter("assignee", "string", "Ignored.", blank=True, core=False),
        ),
        result=_CHANGED,
        read_only=False,
        idempotent=True,
        open_world=True,
        run=calling("board_calls", "claim_task"),
    ),
    Tool(
        name="update_task",
        purpose="Move a task, or attach what belongs to it.",
        parameters=(
            _TASK_ID,
            Parameter("status", "string", enum=STATUSES),
            Parameter("assignee", "string", "You, with assigned.", blank=True),
            _PR_URL,
            _ARTIFACTS,
            EPOCH,
            *_WHO,
            *_APPROVAL,
        ),
        result=_CHANGED,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("board_calls", "update_task"),
    ),
    Tool(
        name="complete_task",
        purpose="Give your task into review.",
        parameters=(_TASK_ID, _PR_URL, EPOCH, *_WHO),
        result=_CHANGED,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("board_calls", "complete_task"),
    ),
    Tool(
        name="claim_task_review",
        purpose="Review a task of another agent, in_review or blocked.",
        parameters=(_TASK_ID, _REASON, *_WHO),
        result=_MOVED,
        read_only=False,
        idempotent=True,
        open_world=True,
        run=calling("board_calls", "claim_task_review"),
    ),
    Tool(
        name="release_task_review",
        purpose="Let a review go.",
        parameters=(_TASK_ID, _LEASE_ID, EPOCH, _REASON, *_WHO),
        result=_MOVED,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("board_calls", "release_task_review"),
    ),
    Tool(
        name="release_task_lease",
        purpose="Let your task go: it can be claimed again.",
        parameters=(_TASK_ID, _LEASE_ID, EPOCH, _REASON, *_WHO, *_APPROVAL),
        result=_MOVED,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("board_calls", "release_task_lease"),
    ),
    Tool(
        name="handoff_task_lease",
        purpose="Hand your task over to an agent that is there.",
        parameters=(
            _TASK_ID,
            Parameter("target_agent_key", "string", required=True),
            Parameter("target_actor_instance_id", "string"),
            Parameter("target_agent_session_id", "string"),
            _LEASE_ID,
            EPOCH,
            _REASON,
            *_WHO,
            *_APPROVAL,
        ),
        result=_MOVED,
        read_only=False,
        idempotent=False,
        open_world=True,
        run=calling("board_calls", "handoff_task_lease"),
    ),
    Tool(
        name="submit_review_verdict",
        purpose="Record your verdict on a task that you review. Published nowhere else.",
        parameters=(
            _TASK_ID,
            Parameter(
                "verdict", "string", required=True, enum=("approve", "request_changes", "comment")
            ),
            Parameter("body", "string", free_text=True, blank=True),
            Parameter(
                "expected_head_sha",
                "string",
                "The commit you reviewed.",
                required=True,
                pattern="^[0-9a-fA-F]{40}$",
                form="the 40 hexadecimal digits of a commit's id",
            ),
            Parameter("idempotency_key", "string", required=True),
            EPOCH,
            *_WHO,
        ),
        result=schemas.result(
            {
                "success": schemas.BOOLEAN,
                "room_id": schemas.STRING,
                "task_id": schemas.STRING,
                "effect": schemas.OBJECT,
                "message": schemas.STRING,
                "agent_identity": schemas.IDENTITY,
            }
        ),
        read_only=False,
        idempotent=True,
        open_world=True,
        run=calling("board_calls", "submit_review_verdict"),
    ),
)
"""What stands after them."""
