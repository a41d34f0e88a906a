"""Tools with which an agent lets itself be woken."""

from collections.abc import Mapping, Sequence

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.wake_arguments import Event
from letagents.domain.wake_rules import NOTE_LIMIT, Asked
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
from letagents.entrypoints.mcp.tools.knowledge import CURSOR
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import memory
from letagents.wire.bounds import bounded

Result = dict[str, object]

NEVER_HERE = (
    "Kept, and it will never wake you here: a room on this machine is told nothing by GitHub. "
    "Use a timer and look yourself."
)


async def add_wake_rule(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    given = arguments["arguments"]
    asked = Asked.of(
        str(arguments["event"]),
        given if isinstance(given, Mapping) else {},
        note=arguments.get("note"),
        repeat=arguments.get("repeat") is True,
        expires_at=text_of(arguments, "expires_at"),
    )
    speaker = await acting(visit, arguments)
    rule, was_made = await visit.client.memory.wake(speaker, asked)
    result: Result = {
        "rule": memory.wake_rule(rule, speaker.session.room_id),
        "created": was_made,
    }
    return result | ({} if asked.event.happens_here else {"note": NEVER_HERE})


async def list_wake_rules(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    key = text_of(arguments, "agent_key")
    with naming("room_id"):
        found = await visit.client.memory.rules(room_id, agent_key=key, viewer=viewer)
    whole = [memory.wake_rule(one, room_id) for one in (*found.active, *found.recent)]
    rest = _behind(whole, text_of(arguments, "cursor"))
    shown = bounded(rest)
    result: Result = {
        "room_id": str(room_id),
        "active": [one for one in shown.items if one["status"] == "active"],
        "recent": [one for one in shown.items if one["status"] != "active"],
    }
    return result | ({"next_cursor": shown.items[-1]["id"]} if shown.omitted else {})


def _behind(rules: Sequence[memory.Plain], cursor: str | None) -> Sequence[memory.Plain]:
    if cursor is None:
        return rules
    for at, rule in enumerate(rules):
        if rule["id"] == cursor:
            return rules[at + 1 :]
    raise Malformed(
        f"cursor: {quoted(cursor)} is not among the rules any more.",
        remedy="Call list_wake_rules without cursor.",
    )


async def cancel_wake_rule(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    speaker = await acting(visit, arguments)
    rule = await visit.client.memory.cancel_wake(speaker, str(arguments["rule_id"]).strip())
    return {"rule": memory.wake_rule(rule, speaker.session.room_id)}


_RULE = schemas.result(
    {
        "id": schemas.STRING,
        "event": schemas.STRING,
        "arguments": schemas.OBJECT,
        "status": schemas.STRING,
        "agent_key": schemas.STRING,
        "expires_at": schemas.STRING,
        "due_at": schemas.TEXT_OR_NULL,
    }
)
_RULES = {"type": "array", "items": _RULE}

WAKES = (
    Tool(
        name="add_wake_rule",
        purpose="Be woken by a message instead of asking again and again; waits a day if not told.",
        parameters=(
            Parameter("event", "string", required=True, enum=tuple(one.value for one in Event)),
            Parameter(
                "arguments",
                "object",
                "timer {at|after_ms}; task {task_id,to?}; check {branch|pr|mine,conclusions?}; "
                "review {pr|mine,states?}; closed {pr|mine,merged_only?}",
                required=True,
                max_bytes=2_000,
            ),
            Parameter("note", "string", "For yourself.", max_length=NOTE_LIMIT, free_text=True),
            Parameter("repeat", "boolean", "At most once a minute."),
            Parameter("expires_at", "string", "ISO time, within 7 days.", ceiling=40),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"rule": _RULE, "created": schemas.BOOLEAN}, {"note": schemas.STRING}
        ),
        read_only=False,
        idempotent=False,
        open_world=False,
        run=add_wake_rule,
    ),
    Tool(
        name="list_wake_rules",
        purpose="The wake rules of the room that wait, and the latest that ended.",
        parameters=(
            Parameter("agent_key", "string", "Of this agent only.", ceiling=300),
            ROOM_ID,
            WORKER_ID,
            CURSOR,
            SESSION_ID,
        ),
        result=schemas.result(
            {"room_id": schemas.STRING, "active": _RULES, "recent": _RULES},
            {"next_cursor": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=list_wake_rules,
    ),
    Tool(
        name="cancel_wake_rule",
        purpose="Let one of your wake rules wake no more.",
        parameters=(
            Parameter(
                "rule_id",
                "string",
                required=True,
                pattern="^wake_[a-z0-9]{1,40}$",
                form="a rule's id as list_wake_rules shows it",
                ceiling=60,
            ),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result({"rule": _RULE}),
        read_only=False,
        idempotent=True,
        open_world=False,
        destructive=True,
        run=cancel_wake_rule,
    ),
)
