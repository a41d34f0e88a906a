"""What a commit has to know of this machine's rooms, read straight from their file.

Every commit loads this where the guard is installed. So it asks SQLite itself, in few statements
over the indexes that rooms have. Only to tell whether somebody is still there are rules loaded.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from letagents.domain.path_guard import Author, Held

PATIENCE = 2.0
"""Seconds that a commit waits for the rooms' file."""
_AUTHORS = 64
"""So many of the newest claims of a checkout tell whose it may be."""

# Rooms are few, and each has its index: so they come first, and the indexes are used.
_OPEN = """
SELECT t.room_id, t.value FROM rooms r CROSS JOIN things t
WHERE t.room_id = r.room_id AND t.kind = 'path_claim' AND t.state IN (?, ?) AND t.is_open
"""
_FROM_HERE = """
SELECT t.room_id, t.by, t.value FROM rooms r CROSS JOIN things t
WHERE t.room_id = r.room_id AND t.kind = 'path_claim' AND t.also = ?
ORDER BY t.number DESC LIMIT ?
"""
_SESSIONS = "SELECT room_id, session_id, agent_key FROM sessions WHERE instance_id = ?"
_NEWEST_LEASE = """
SELECT value, is_open FROM things
WHERE room_id = ? AND kind = 'work_lease' AND by = ? ORDER BY number DESC LIMIT 1
"""
_LEASE_NOW = """
SELECT value FROM things WHERE room_id = ? AND kind = 'work_lease' AND about = ? AND is_open
"""
_HOLDER = """
SELECT process, seen_boot, seen_seconds, ended_at FROM sessions
WHERE room_id = ? AND session_id = ?
"""

HasSigns = Callable[[str, "Holder | None"], bool]
"""Whether a work lease, as rooms keep it, is held, given what is known of its holder."""


class Holder(NamedTuple):
    """What a room knows of the session that has a lease."""

    process: str | None
    seen_boot: str | None
    seen_seconds: float | None
    ended_at: int | None


class _Seat(NamedTuple):
    room_id: str
    session_id: str
    agent_key: str


class GuardedRooms:
    """The rooms in a SQLite file, for one look at what is claimed in them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def claims(self, *repositories: str) -> list[Held]:
        """Return the claims on a repository, known under one or two names, that have not ended."""
        names = (*repositories, repositories[0])[:2]
        return [_held(room_id, value) for room_id, value in self._rows(_OPEN, *names)]

    def authors(self, root: str, worker_id: str | None) -> list[Author]:
        """Return whose a change may be that is made in the checkout `root`."""
        seats: dict[str, list[_Seat]] = {}
        for seat in self._named(worker_id) if worker_id else self._from(root):
            seats.setdefault(seat.agent_key, []).append(seat)
        return [Author(key, self._lost(key, several)) for key, several in seats.items()]

    def is_held(self, held: Held, has_signs: HasSigns) -> bool:
        """Whether somebody has that task now."""
        for (value,) in self._rows(_LEASE_NOW, held.room_id, held.task_id):
            session_id = json.loads(value)["session_id"]
            found = [Holder(*row) for row in self._rows(_HOLDER, held.room_id, session_id)]
            return has_signs(value, found[0] if found else None)
        return False

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _named(self, worker_id: str) -> list[_Seat]:
        return [_Seat(*row) for row in self._rows(_SESSIONS, worker_id)]

    def _from(self, root: str) -> Iterator[_Seat]:
        """Yield those who claimed paths from that checkout, the newest first."""
        found = []
        for room_id, session_id, value in self._rows(_FROM_HERE, root, _AUTHORS):
            lease = json.loads(value)["lease"]
            found.append((lease["created_at"], _Seat(room_id, session_id, lease["agent_key"])))
        for _, seat in sorted(found, reverse=True):
            yield seat

    def _lost(self, agent_key: str, seats: list[_Seat]) -> Held | None:
        """Return the last task of an agent, if another has it now."""
        found = []
        for seat in dict.fromkeys(seats):
            for value, is_open in self._rows(_NEWEST_LEASE, seat.room_id, seat.session_id):
                lease = json.loads(value)
                found.append((lease["created_at"], not is_open, seat.room_id, lease["about"]))
        if not found:
            return None
        _, has_ended, room_id, task_id = max(found)
        if not has_ended:
            return None
        for (value,) in self._rows(_LEASE_NOW, room_id, task_id):
            now = _held_task(room_id, json.loads(value))
            return None if now.agent_key == agent_key else now
        return None

    def _rows(self, statement: str, *values: object) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()


def open_rooms(file: str) -> GuardedRooms | None:
    """Return the rooms in `file`, or None if there are none yet.

    Raises:
        sqlite3.Error: they cannot be read.
    """
    if not os.path.exists(file):  # noqa: PTH110  loading pathlib takes longer than all of this
        return None
    place = file.replace(os.sep, "/").replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return GuardedRooms(sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=PATIENCE))


def _held(room_id: str, value: str) -> Held:
    claim = json.loads(value)
    return _held_task(room_id, claim["lease"])._replace(patterns=tuple(claim["patterns"]))


def _held_task(room_id: str, lease: dict[str, Any]) -> Held:
    name = f"{lease['kind']}_lease_{lease['number']}"
    return Held(
        room_id,
        lease["about"],
        name,
        lease["agent_key"],
        lease["actor_label"],
        lease["created_at"],
    )
