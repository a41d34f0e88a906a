"""What wakes the agents of a room. (Source: mcp-tools 9.4.)"""

from starlette.responses import Response

from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import wakes as wire


async def add(call: Call) -> Response:
    """Let the caller's agent be woken."""
    fence, body = await call.acting(), await call.body()
    asked = wire.asked(body.get("rule", body))
    rule, is_new = await call.memory.wakes.add(call.room_id, asked, fence)
    shown = {"rule": wire.plain(rule, call.room_id), "created": is_new}
    return answer({"room_id": str(call.room_id)} | shown, 201 if is_new else 200)


async def rules(call: Call) -> Response:
    """Show the rules of the room, or those of one agent in it."""
    viewer = await call.looking()
    found = await call.memory.wakes.rules(
        call.room_id, agent_key=call.asked("agent_key"), viewer=viewer
    )
    return answer(wire.plain_rules(found.active, found.recent, call.room_id))


async def cancel(call: Call) -> Response:
    """Let a rule wake no more."""
    fence = await call.acting_marked()
    rule = await call.memory.wakes.cancel(call.room_id, call.named("rule_id"), fence)
    return answer({"room_id": str(call.room_id), "rule": wire.plain(rule, call.room_id)})


_RULES = "/rooms/{room_id:path}/wake-rules"

ROUTES = (
    ("GET", _RULES, rules),
    ("POST", _RULES, add),
    ("POST", f"{_RULES}/{{rule_id}}/cancel", cancel),
)
