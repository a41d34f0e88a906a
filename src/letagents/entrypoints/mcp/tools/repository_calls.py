"""What the tools do that tell which room goes with a folder."""

from letagents.application.repository import Chosen, Here, NotChosen
from letagents.domain.forges import Visibility
from letagents.domain.ids import RoomId
from letagents.domain.room_config import FILE
from letagents.entrypoints.mcp.tool import Arguments
from letagents.entrypoints.mcp.tools.arguments import room_of, text_of
from letagents.entrypoints.mcp.visit import Visit
from letagents.wire import public

Result = dict[str, object]

SILENT = (
    "There is a .git here or above, and git tells of no checkout: it is not installed, takes too "
    "long, does not trust the folder's owner, or this is the inside of .git."
)


async def check_repo(visit: Visit, arguments: Arguments) -> Result:
    here = await visit.client.repository.look(text_of(arguments, "cwd"))
    current = visit.client.places.current
    current_id = current.room.room_id if current is not None else None
    return {
        "cwd": here.place.folder,
        "repo_context_status": (
            "git_repo_detected" if here.place.checkout is not None else "not_inside_git_repo"
        ),
        "git_repo_root": here.place.checkout and here.place.checkout.root,
        "config_file": here.place.config and here.place.config.path,
        "config_contents": here.place.config and here.place.config.contents,
        **rooms_of(here),
        "current_room": public.room(current.room) if current is not None else None,
        **_compared(here, current_id, is_supervised=current is not None and current.is_supervised),
    }


def _compared(here: Here, current: RoomId | None, *, is_supervised: bool) -> Result:
    """Return how a folder's room goes with the chat's, which under a supervisor is a given."""
    if is_supervised:
        scope = "daemon_supervised_exact_room"
        return {"current_room_scope": scope, "warning": None, "join_hint": None}
    return {
        "current_room_scope": _scope(here, current),
        "warning": _warning(here, current),
        "join_hint": _join_hint(here, current),
    }


def rooms_of(here: Here) -> Result:
    """Return what is known of a folder's rooms."""
    checkout, config = here.place.checkout, here.place.config
    return {
        "configured_room_from_file": _text(config.room if config is not None else None),
        "configured_active_room_from_context": _text(here.configured.active),
        "derived_room_from_git": _text(here.derived.active),
        "derived_repo_room_from_git": _text(here.derived.repository),
        "derived_branch_room_from_git": _text(here.derived.branch),
        "git_current_branch": checkout and checkout.branch,
        "git_default_branch": checkout and checkout.default_branch,
        "detected_room_from_context": _text(here.detected.active),
    }


def _text(room_id: RoomId | None) -> str | None:
    return str(room_id) if room_id is not None else None


def _scope(here: Here, current: RoomId | None) -> str:
    if current is None:
        return "none"
    if here.is_home(current):
        return "matches_detected_repo_context"
    return "existing_joined_session_not_derived_from_inspected_cwd"


def _warning(here: Here, current: RoomId | None) -> str | None:
    if not here.place.is_there:
        return f"{here.place.folder} is no folder that can be looked into."
    config = here.place.config
    if config is not None and config.wrong is not None:
        return f"{config.path} is ignored: {config.wrong}."
    if here.place.is_silent:
        return SILENT
    if current is not None and not here.is_home(current) and here.detected.active is not None:
        return f"This chat is in {current}, which is not the room of this folder."
    return None


def _join_hint(here: Here, current: RoomId | None) -> str | None:
    room = here.detected.repository
    if room is None or (current is not None and here.is_home(current)):
        return None
    hint = f"Call join_room(name={str(room)!r}) to enter this folder's room."
    if here.detected.branch is not None:
        hint += " Its branch may have a room of its own, derived_branch_room_from_git."
    return hint


async def initialize_repo(visit: Visit, arguments: Arguments) -> Result:
    room_id = room_of(text_of(arguments, "room"), "room")
    done = await visit.client.repository.initialize(room_id, text_of(arguments, "cwd"))
    if isinstance(done, NotChosen):
        told = {"error": done.error, "path": done.path, "hint": done.hint}
        return {"success": False} | {name: said for name, said in told.items() if said is not None}
    return {"success": True, "created": done.path, **_entered(done)}


def _entered(done: Chosen) -> Result:
    if done.entered is None:
        failed = done.failed
        return {
            "room_id": str(done.room_id),
            "joined": False,
            "error": failed.happened if failed is not None else "",
            "hint": failed.remedy if failed is not None else "",
        }
    room = done.entered.room
    return {
        "room_id": str(room.room_id),
        "code": room.code,
        "joined": True,
        "hint": f"Commit {FILE}: chats that begin in this checkout then enter this room.",
    }


async def check_repo_visibility(visit: Visit, arguments: Arguments) -> Result:
    asked = await visit.client.repository.visibility(text_of(arguments, "cwd"))
    if asked is None:
        return {
            "error": "There is no git checkout whose remote `origin` names a host.",
            "suggestion": "Pass cwd inside one, or call create_room() and invite by its code.",
        }
    verdict = asked.verdict
    seen = verdict.visibility
    return {
        "canonicalKey": asked.repository,
        "provider": verdict.provider,
        "visibility": seen.value,
        "accessMode": seen.value,
        "roomType": "discoverable" if seen is Visibility.PUBLIC else "invite",
        **({"error": verdict.wrong} if verdict.wrong is not None else {}),
    }
