"""What a state store says of its health: by reading, and by a transaction that changes nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

from letagents.adapters import folders
from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.lockfile import try_acquire
from letagents.adapters.state.sqlite import SqliteState
from letagents.domain.errors import LetAgentsError, StateDamaged
from letagents.domain.local_state import LocalState
from letagents.ports.health import Finding

ABOUT = "state"

_OWNER = re.compile(rb"letagents (\d{1,10})\n")


async def examine(store: JsonFileState | SqliteState) -> list[Finding]:
    """Say of the place of `store` whether it can be read and changed."""
    path, has_lock = store.path, isinstance(store, JsonFileState)
    if not path.parent.is_dir() or not (has_lock or path.exists()):
        return [folders.not_used_yet(ABOUT, path)]
    lock = path.with_name(f"{path.name}.lock") if has_lock else None
    found = [] if lock is None else list(_left_lock(lock))
    try:
        state = await store.read()
        await store.transact(lambda state: (state, None))
    except LetAgentsError as error:
        return [*found, Finding(ABOUT, error.happened, remedy=_remedy(error, lock))]
    said = _in_words(state) if path.exists() else "is not used yet, and can be"
    return [*found, Finding(ABOUT, f"{path} {said}"), *folders.openness(ABOUT, path)]


def _in_words(state: LocalState) -> str:
    workers, rooms = len(state.workers), len(state.rooms)
    return f"can be read and changed (workers: {workers}, rooms: {rooms})"


def _remedy(error: LetAgentsError, lock: Path | None) -> str:
    if isinstance(error, StateDamaged):
        return (
            "Repair the file or bring back a copy of it. Moving it away also works, but then every "
            "handle in it is lost, and each agent registers anew."
        )
    if lock is not None and lock.exists():
        return f"Let this user write there, or end the process that holds {lock}."
    return "Let this user read and write it, or set LETAGENTS_STATE_PATH to a file that they may."


def _left_lock(path: Path) -> Iterator[Finding]:
    """Tell of a lock that lies there; one whose owner is gone is cleared, as at the next write."""
    try:
        owner = _OWNER.match(path.read_bytes())
        process = f"process {int(owner[1])}" if owner else "another program"
        held = try_acquire(path)
    except OSError:  # nothing lies there, or the transaction will tell what is wrong
        return
    if held is None:
        yield Finding(ABOUT, f"{path} is held by {process} at this moment")
        return
    held.release()
    if held.took_over:
        yield Finding(ABOUT, f"{path} was left by {process}, which is gone; it is cleared now")
