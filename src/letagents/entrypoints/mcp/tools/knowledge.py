"""Tools for what a room knows: facts, requests to human beings, guidelines."""

from letagents.domain import knowledge
from letagents.domain.knowledge import CATEGORIES, Entry, Section
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
from letagents.wire import memory
from letagents.wire.bounds import bounded

Result = dict[str, object]


async def get_room_memory(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    return await _page(visit, arguments, Section.MEMORY)


async def get_human_requests(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    return await _page(visit, arguments, Section.ATTENTION)


async def _page(visit: Visit, arguments: Arguments, section: Section) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    after = text_of(arguments, "cursor")
    with naming("room_id"):
        found = await visit.client.memory.records(room_id, section, after=after, viewer=viewer)
    shown = bounded([memory.record(one, room_id) for one in found.records])
    more = found.more or shown.omitted > 0
    result: Result = {"room_id": str(room_id), "records": shown.items, "truncated": more}
    return result | ({"next_cursor": shown.items[-1]["id"]} if more else {})


async def remember_room_fact(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    return await _add(visit, arguments, Section.MEMORY)


async def request_human_input(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


async def get_room_guidelines(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
    room_id, viewer = await viewing(visit, arguments)
    with naming("room_id"):
        found = await visit.client.memory.guidelines(room_id, viewer)
    return memory.guidelines(found, room_id, can_manage=False)


CURSOR = Parameter("cursor", "string", "next_cursor.", ceiling=2_200)

_ID = Parameter(
    "client_id",
    "string",
    "New id, 8-80 of A-Z a-z 0-9 _ -; again with the same content it changes nothing.",
    required=True,
    ceiling=200,
)
_TITLE = Parameter("title", "string", required=True, max_length=knowledge.TITLE_LIMIT)
_BODY = Parameter("body", "string", required=True, max_length=knowledge.BODY_LIMIT, free_text=True)
_SOURCES = (
    Parameter("source_message_id", "string", "Where it was said, e.g. msg_3.", ceiling=40),
    Parameter("source_url", "string", ceiling=knowledge.URL_LIMIT),
)


def _category(section: Section) -> Parameter:
    return Parameter("category", "string", required=True, enum=CATEGORIES[section])


_RECORD = schemas.result(
    {
        "id": schemas.STRING,
        "type": schemas.STRING,
        "category": schemas.STRING,
        "title": schemas.STRING,
        "body": schemas.STRING,
        "version": schemas.NUMBER,
        "author": schemas.OBJECT,
        "archived": schemas.BOOLEAN,
        "response": schemas.nullable(schemas.OBJECT),
    }
)
_RECORDS = schemas.result(
    {
        "room_id": schemas.STRING,
        "records": {"type": "array", "items": _RECORD},
        "truncated": schemas.BOOLEAN,
    },
    {"next_cursor": schemas.STRING},
)
_ADDED = schemas.result({"record": _RECORD})

KNOWLEDGE = (
    Tool(
        name="get_room_memory",
        purpose="The room's lasting facts: goals, decisions, constraints, terms, references.",
        parameters=(ROOM_ID, WORKER_ID, CURSOR, SESSION_ID),
        result=_RECORDS,
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_room_memory,
    ),
    Tool(
        name="remember_room_fact",
        purpose="Keep a fact for all who come later. Only a human being can change it.",
        parameters=(
            _ID,
            _category(Section.MEMORY),
            _TITLE,
            _BODY,
            *_SOURCES,
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=_ADDED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=remember_room_fact,
    ),
    Tool(
        name="request_human_input",
        purpose="Ask the room's people. The answer comes as a message to you: go on meanwhile, or "
        "wait_for_messages.",
        parameters=(
            _ID,
            _category(Section.ATTENTION),
            _TITLE,
            _BODY,
            Parameter(
                "recommendation",
                "string",
                "What you would do.",
                max_length=knowledge.RECOMMENDATION_LIMIT,
                free_text=True,
            ),
            Parameter(
                "unblocks",
                "string",
                "What waits for it.",
                max_length=knowledge.UNBLOCKS_LIMIT,
                free_text=True,
            ),
            *_SOURCES,
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=_ADDED,
        read_only=False,
        idempotent=True,
        open_world=False,
        run=request_human_input,
    ),
    Tool(
        name="get_human_requests",
        purpose="What was asked of the room's people, the unanswered first, with their answers.",
        parameters=(ROOM_ID, WORKER_ID, CURSOR, SESSION_ID),
        result=_RECORDS,
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_human_requests,
    ),
    Tool(
        name="get_room_guidelines",
        purpose="What the room's people wish from agents in it.",
        parameters=(ROOM_ID, WORKER_ID, SESSION_ID),
        result=schemas.result(
            {
                "room_id": schemas.STRING,
                "guidelines": schemas.TEXT_OR_NULL,
                "updated_by": schemas.TEXT_OR_NULL,
                "updated_at": schemas.TEXT_OR_NULL,
                "inherited_from_room_id": schemas.TEXT_OR_NULL,
                "max_bytes": schemas.NUMBER,
                "note": schemas.STRING,
                "can_manage": schemas.BOOLEAN,
            }
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_room_guidelines,
    ),
)
