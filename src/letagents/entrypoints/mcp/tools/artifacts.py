"""Tools for what a room's agents show each other, and for what happened in its repository."""

from collections.abc import Mapping, Sequence

from letagents.domain import artifacts, room_events
from letagents.domain.tasks import ArtifactKind, Provider, task_id_of
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
from letagents.ports.artifacts import LIMIT, MOST
from letagents.wire import memory
from letagents.wire.bounds import bounded

Result = dict[str, object]


async def get_room_events(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


async def get_room_artifacts(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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
    return result | ({"next_cursor": shown.items[-1]["identity_key"]} if more else {})


async def publish_room_artifact(visit: Visit, arguments: Arguments, _progress: Progress) -> Result:
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


_TASK = Parameter("task_id", "string", "e.g. task_3.", ceiling=40)
_SHOWN = schemas.result(
    {
        "identity_key": schemas.STRING,
        "provider": schemas.STRING,
        "kind": schemas.STRING,
        "title": schemas.TEXT_OR_NULL,
        "url": schemas.TEXT_OR_NULL,
        "state": schemas.TEXT_OR_NULL,
        "linked_task_ids": schemas.STRINGS,
    }
)
ARTIFACT_FIELDS = (
    Parameter("provider", "string", required=True, enum=tuple(one.value for one in Provider)),
    Parameter("kind", "string", required=True, enum=tuple(one.value for one in ArtifactKind)),
    Parameter("id", "string", ceiling=artifacts.ID_LIMIT),
    Parameter("number", "integer", minimum=1),
    Parameter("title", "string", ceiling=artifacts.TITLE_LIMIT),
    Parameter("url", "string", ceiling=artifacts.URL_LIMIT),
    Parameter("ref", "string", ceiling=artifacts.REF_LIMIT),
    Parameter("state", "string", ceiling=artifacts.STATE_LIMIT),
)

EVENTS_AND_ARTIFACTS = (
    Tool(
        name="get_room_events",
        purpose="Events of the room's repository. A room on this machine has none.",
        parameters=(
            Parameter("event_type", "string", ceiling=200),
            Parameter("object_id", "string", ceiling=200),
            Parameter("actor", "string", ceiling=200),
            Parameter("since", "string", "ISO time.", ceiling=40),
            Parameter("until", "string", "ISO time.", ceiling=40),
            Parameter("after", "string", "Cursor: an event's id.", ceiling=200),
            Parameter("limit", "integer", minimum=1, maximum=room_events.MOST),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {
                "success": schemas.BOOLEAN,
                "events": {"type": "array", "items": schemas.OBJECT},
                "has_more": schemas.BOOLEAN,
            },
            {"note": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_room_events,
    ),
    Tool(
        name="get_room_artifacts",
        purpose="Branches, pull requests, checks that the room's agents share, newest first.",
        parameters=(
            _TASK,
            Parameter("limit", "integer", f"Default {LIMIT}.", minimum=1, maximum=MOST),
            ROOM_ID,
            WORKER_ID,
            CURSOR,
            SESSION_ID,
        ),
        result=schemas.result(
            {
                "success": schemas.BOOLEAN,
                "room_id": schemas.STRING,
                "artifacts": {"type": "array", "items": _SHOWN},
            },
            {"next_cursor": schemas.STRING},
        ),
        read_only=True,
        idempotent=True,
        open_world=True,
        run=get_room_artifacts,
    ),
    Tool(
        name="publish_room_artifact",
        purpose="Share a branch, pull request, check and the like. Known by its url, id, number or "
        "ref: the same again updates it.",
        parameters=(
            Parameter("artifact", "object", required=True, fields=ARTIFACT_FIELDS),
            _TASK,
            Parameter(
                "linked_task_ids",
                "array",
                item=Parameter("task_id", "string", ceiling=40),
                max_items=artifacts.MOST_LINKED,
            ),
            ROOM_ID,
            WORKER_ID,
            SESSION_ID,
        ),
        result=schemas.result(
            {"success": schemas.BOOLEAN, "room_id": schemas.STRING, "artifact": _SHOWN}
        ),
        read_only=False,
        idempotent=True,
        open_world=False,
        run=publish_room_artifact,
    ),
)
