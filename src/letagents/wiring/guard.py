"""What the guard of commits asks with: nothing is loaded that a hook of git does not need."""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from letagents.adapters.guard.claims import GuardedRooms
    from letagents.adapters.guard.hooks import GitHooks
    from letagents.domain.path_guard import IsHeld
    from letagents.settings import Settings


def guard_changes() -> "ModuleType":
    """Return what tells the guard which paths a commit or a push changes."""
    from letagents.adapters.guard import changes

    return changes


def guarded_rooms(file: str) -> "GuardedRooms | None":
    """Return the rooms in `file` as the guard sees them; None if there are none yet."""
    from letagents.adapters.guard.claims import open_rooms

    return open_rooms(file)


def guarded_holders(rooms: "GuardedRooms", settings: "Settings") -> "IsHeld":
    """Return what tells the guard whether who has a task is still there."""
    from letagents.adapters.guard.holders import Holders
    from letagents.adapters.processes.locks import ProcessLocks
    from letagents.adapters.system import SystemClock, SystemIds

    processes = ProcessLocks(settings.run_dir, SystemIds())
    holders = Holders(processes, SystemClock(), settings.lease_term)
    return functools.partial(rooms.is_held, has_signs=holders.has_signs)


def git_hooks(folder: "Path", home: "Path | None" = None) -> "GitHooks":
    """Return the hooks of the repository that `folder` is in, for the rooms in a chosen home."""
    from letagents.adapters.guard.hooks import GitHooks

    return GitHooks(folder, home=str(home) if home else None)
