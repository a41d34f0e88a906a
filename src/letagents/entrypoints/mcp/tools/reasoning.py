"""The tool with which an agent lets its reasoning be seen."""

from letagents.domain import identity, reasoning
from letagents.domain.reasoning import STATUSES
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.arguments import (
    ROOM_ID,
    SESSION_ID,
    WORKER_ID,
    Arguments,
    text_of,
)
from letagents.entrypoints.mcp.tools.callers import acting
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import memory, public

Result = dict[str, object]


async def post_reasoning(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    if text_of(arguments, "summary") is None:
        return {"success": False, "error": "summary is required"}
    said = reasoning.trace(arguments)
    speaker = await acting(visit, arguments)
    room_id = speaker.session.room_id
    trace, update, milestone = await visit.client.memory.reason(speaker, said)
    if milestone is not None:
        await visit.client.places.saw(room_id, milestone.id)
    who = identity.of_session(speaker.session)
    return {
        "success": True,
        "local": True,
        "room_id": str(room_id),
        "session": memory.reasoning(trace, room_id),
        "update": memory.update(update, room_id),
        "milestone_message_id": milestone and str(milestone.id),
        "agent_identity": public.identity(who, visit.client.chat.instance),
    }


def _line(name: str, doc: str = "", *, required: bool = False) -> Parameter:
    ceiling = 4_000
    return Parameter(name, "string", doc, required=required, ceiling=ceiling, blank=True)


REASONING = (
    Tool(
        name="post_reasoning",
        purpose="Show where your thinking is, replacing what you showed before; 280 characters a "
        "line.",
        parameters=(
            _line("summary", required=True),
            _line("goal"),
            _line("checking"),
            _line("hypothesis"),
            _line("blocker"),
            _line("next_action"),
            _line("milestone", "Also said in the room."),
            Parameter("confidence", "number", minimum=0, maximum=1),
            Parameter("status", "string", enum=STATUSES),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN},
            {
                "error": schemas.STRING,
                "room_id": schemas.STRING,
                "session": schemas.OBJECT,
                "update": schemas.OBJECT,
                "milestone_message_id": schemas.TEXT_OR_NULL,
                "agent_identity": schemas.IDENTITY,
            },
        ),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=post_reasoning,
    ),
)
