"""What the tools of claimed paths do. Loaded when the first of them is called."""

from letagents.domain import path_claims, tasks
from letagents.domain.errors import Malformed
from letagents.domain.path_claims import LARGEST_PAGE, Mode, Query
from letagents.domain.sessions import Connection
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import claim, epoch_of, naming, text_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import bounds
from letagents.wire import path_claims as wire

Result = dict[str, object]


async def claim_paths(visit: Visit, arguments: Arguments) -> Result:
    task_id, given = tasks.task_id_of(arguments["task_id"]), arguments["patterns"]
    texts = [str(one) for one in given] if isinstance(given, list | tuple) else []
    cwd, repository = text_of(arguments, "cwd"), text_of(arguments, "repository")
    if cwd is not None and repository is not None:
        raise Malformed(
            "repository: cwd was passed too.", remedy="Pass the one or the other, not both."
        )
    by = await _worker(visit, arguments)
    granted = await visit.client.paths.claim(
        by,
        task_id,
        texts,
        mode=Mode(str(arguments.get("mode") or Mode.EXCLUSIVE.value)),
        cwd=cwd,
        repository=repository,
        epoch=epoch_of(arguments),
    )
    return {
        "success": True,
        "claim": wire.claim(granted.claim),
        "instruction": "Where `letagents guard` is installed, git refuses others' commits to these "
        "files. If agents share this checkout, commit with LETAGENTS_WORKER_ID set to your "
        "worker_id, so that git knows whose commit it is.",
    }


async def release_paths(visit: Visit, arguments: Arguments) -> Result:
    task_id, claim_id = tasks.task_id_of(arguments["task_id"]), text_of(arguments, "claim_id")
    if claim_id is not None:
        path_claims.claim_number(claim_id)
    by = await _worker(visit, arguments)
    epoch = epoch_of(arguments)
    released = await visit.client.paths.release(by, task_id, claim_id, epoch=epoch)
    return {"success": True, "released": [one.claim_id for one in released]}


async def list_path_claims(visit: Visit, arguments: Arguments) -> Result:
    query = _query(arguments)
    room_id, viewer = await visit.client.callers.viewing(
        claim(arguments), visit.client.places.current_id
    )
    with naming("room_id"):
        page = await visit.client.paths.claims(room_id, query, viewer)
    shown = [wire.claim(view.claim) | {"is_held": view.is_held} for view in page.claims]
    kept = bounds.bounded(shown)
    result: Result = {"success": True, "room_id": str(room_id), "claims": kept.items}
    if page.more or kept.omitted:
        result |= {"has_more": True, "next_after": kept.items[-1]["claim_id"]}
    return result


def _query(arguments: Arguments) -> Query:
    task_id, after = text_of(arguments, "task_id"), text_of(arguments, "after")
    path = text_of(arguments, "path")
    if path is not None and path.startswith(("/", "..")):
        raise Malformed(
            "path: it does not begin at the repository's root.",
            remedy="Pass a path as git shows it, such as src/app.py.",
        )
    return Query(
        task_id=tasks.task_id_of(task_id) if task_id else None,
        path=path,
        after=path_claims.claim_number(after, "after") if after else 0,
        limit=LARGEST_PAGE,
    )


async def _worker(visit: Visit, arguments: Arguments) -> Connection:
    with naming("room_id"):
        return await visit.client.callers.acting(claim(arguments), visit.client.places.current_id)
