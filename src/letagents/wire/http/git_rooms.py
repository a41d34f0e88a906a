"""Which repository, and which branch of it, a room on a server is of. (Source: hosted-api 4.2.)

All of it is read from the room's id: no forge is asked, so what only one knows is null or unknown.
"""

from typing import Any

from letagents.domain import git_rooms
from letagents.domain.git_rooms import Ref
from letagents.domain.rooms import Room
from letagents.wire import moments

Plain = dict[str, Any]

_PROVIDERS = {"github.com": "github", "gitlab.com": "gitlab", "bitbucket.org": "bitbucket"}
UNKNOWN = "unknown"


def plain(room: Room) -> Plain | None:
    """Return the form of what a room is of; None where it is no repository's."""
    ref = git_rooms.ref_of(str(room.room_id))
    repository = ref.repository if ref else str(room.room_id)
    if git_rooms.repository_room(repository) != repository:
        return None
    host, _, path = repository.partition("/")
    owner, _, name = path.rpartition("/")
    if host not in _PROVIDERS or not owner:
        return None
    return {
        "room_id": str(room.room_id),
        "provider": _PROVIDERS[host],
        "host": host,
        "repository": {"id": None, "owner": owner, "name": name, "full_name": path},
        "ref": _plain_ref(ref),
        "visibility": UNKNOWN,
        "access_mode": UNKNOWN,
        "source": "room_id",
        "updated_at": moments.to_text(room.created_at),
    }


def _plain_ref(ref: Ref | None) -> Plain:
    return {
        "type": ref.kind if ref else "branch",
        "name": ref.name if ref else None,
        "default_branch": None,
        "base_ref": None,
        "head_ref": None,
        "head_repository": None,
        "is_default": ref is None,
    }
