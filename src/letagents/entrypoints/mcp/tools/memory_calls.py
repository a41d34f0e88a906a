"""What the tools of a room's memory do. Loaded when the first of them is called."""

from collections.abc import Mapping, Sequence

from letagents.domain import artifacts, identity, knowledge, reasoning, records, room_events
from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.knowledge import Entry, Section
from letagents.domain.tasks import task_id_of
from letagents.domain.wake_rules import Asked
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import naming, text_of
from letagents.entrypoints.mcp.tools.callers import acting, viewing
from letagents.entrypoints.mcp.visit import Visit
from letagents.ports.artifacts import LIMIT
from letagents.wire import memory, public
from letagents.wire.bounds import bounded

Result = dict[str, object]

NEVER_HERE = (
    "Kept, and it will never wake you here: a room on this machine is told nothing by GitHub. "
    "Use a timer and look yourself."
)


# --- what is known ------------------------------------------------------------------------------


async def get_room_memory(visit: Visit, arguments: Arguments) -> Result:
    return await _page(visit, arguments, Section.MEMORY)


async def get_human_requests(visit: Visit, arguments: Arguments) -> Result:
    return await _page(visit, arguments, Section.ATTENTION)


async def _page(visit: Visit, arguments: Arguments, section: Section) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    after = text_of(arguments, "cursor")
    with naming("room_id"):
        found = await visit.client.memory.records(room_id, section, after=after, viewer=viewer)
    shown = bounded([memory.record(one, room_id) for one in found.records])
    more = found.more or shown.omitted > 0
    result: Result = {"room_id": str(room_id), "records": shown.items, "truncated": more}
    last = found.records[len(shown.items) - 1] if shown.items else None
    return result | ({"next_cursor": records.cursor(last)} if more and last else {})


async def remember_room_fact(visit: Visit, arguments: Arguments) -> Result:
    return await _add(visit, arguments, Section.MEMORY)


async def request_human_input(visit: Visit, arguments: Arguments) -> Result:
    return await _add(visit, arguments, Section.ATTENTION)


async def _add(visit: Visit, arguments: Arguments, section: Section) -> Result:
    record_id = knowledge.checked_id(arguments["client_id"])
    said = _entry(section, arguments)
    speaker = await acting(visit, arguments)
    record = await visit.client.memory.add(speaker, section, record_id, said)
    return {"record": memory.record(record, speaker.session.room_id)}


def _entry(section: Section, arguments: Arguments) -> Entry:
    return knowledge.entry(
        section,
        category=arguments["category"],
        title=arguments["title"],
        body=arguments["body"],
        recommendation=arguments.get("recommendation"),
        unblocks=arguments.get("unblocks"),
        source_url=arguments.get("source_url"),
        source_message_id=arguments.get("source_message_id"),
    )


async def get_room_guidelines(visit: Visit, arguments: Arguments) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    with naming("room_id"):
        found = await visit.client.memory.guidelines(room_id, viewer)
    return memory.guidelines(found, room_id, can_manage=False)


# --- what wakes ---------------------------------------------------------------------------------


async def add_wake_rule(visit: Visit, arguments: Arguments) -> Result:
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


async def list_wake_rules(visit: Visit, arguments: Arguments) -> Result:
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
    return result | ({"next_cursor": _place(shown.items[-1])} if shown.omitted else {})


def _place(rule: memory.Plain) -> str:
    """Return where a rule stands: once it is over, it stands elsewhere."""
    return f"{'active' if rule['status'] == 'active' else 'recent'}.{rule['id']}"


def _behind(rules: Sequence[memory.Plain], cursor: str | None) -> Sequence[memory.Plain]:
    if cursor is None:
        return rules
    for at, rule in enumerate(rules):
        if _place(rule) == cursor:
            return rules[at + 1 :]
    raise Malformed(
        f"cursor: {quoted(cursor)} is not a place among the rules any more.",
        remedy="Call list_wake_rules without cursor.",
    )


async def cancel_wake_rule(visit: Visit, arguments: Arguments) -> Result:
    speaker = await acting(visit, arguments)
    rule = await visit.client.memory.cancel_wake(speaker, str(arguments["rule_id"]).strip())
    return {"rule": memory.wake_rule(rule, speaker.session.room_id)}


# --- what is shown ------------------------------------------------------------------------------


async def get_room_events(visit: Visit, arguments: Arguments) -> Result:
    wanted = room_events.wanted(arguments)
    room_id, viewer = await viewing(visit, arguments)
    with naming("room_id"):
        found = await visit.client.memory.events(room_id, wanted, viewer)
    shown = bounded([memory.event(one) for one in found.events])
    return {
        "success": True,
        "room_id": str(room_id),
        "events": shown.items,
        "has_more": found.more or shown.omitted > 0,
    } | ({"note": found.note} if found.note else {})


async def get_room_artifacts(visit: Visit, arguments: Arguments) -> Result:
    task = arguments.get("task_id")
    limit = arguments.get("limit")
    room_id, viewer = await viewing(visit, arguments)
    with naming("room_id"):
        found = await visit.client.memory.artifacts(
            room_id,
            task_id=None if task is None else task_id_of(task),
            after=text_of(arguments, "cursor"),
            limit=limit if isinstance(limit, int) else LIMIT,
            viewer=viewer,
        )
    shown = bounded([memory.artifact(one, room_id) for one in found.artifacts])
    result: Result = {"success": True, "room_id": str(room_id), "artifacts": shown.items}
    more = found.more or shown.omitted > 0
    last = found.artifacts[len(shown.items) - 1] if shown.items else None
    return result | ({"next_cursor": artifacts.cursor(last)} if more and last else {})


async def publish_room_artifact(visit: Visit, arguments: Arguments) -> Result:
    given, linked = arguments["artifact"], arguments.get("linked_task_ids")
    made = artifacts.artifact(given if isinstance(given, Mapping) else {})
    tasks = artifacts.linked(
        arguments.get("task_id"), linked if isinstance(linked, Sequence) else ()
    )
    speaker = await acting(visit, arguments)
    shared = await visit.client.memory.publish(speaker, made, tasks)
    room_id = speaker.session.room_id
    return {
        "success": True,
        "room_id": str(room_id),
        "artifact": memory.artifact(shared, room_id),
    }


async def post_reasoning(visit: Visit, arguments: Arguments) -> Result:
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
