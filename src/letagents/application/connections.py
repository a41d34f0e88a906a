"""The connections that one client holds: in memory, never from disk, and gone with the process.

A process that restarts, or was replaced, holds nothing until it registers again; so it can never
pick up its successor's secret by reading the state.
"""

import attrs

from letagents.domain import names
from letagents.domain.errors import ConnectionLost
from letagents.domain.ids import RoomId, SessionId, WorkerId
from letagents.domain.sessions import Connection

Key = tuple[WorkerId, RoomId]


@attrs.define
class Connections:
    """What this client holds, by worker and room; and why it lost what it held."""

    _held: dict[Key, Connection] = attrs.field(factory=dict)
    _lost: dict[Key, ConnectionLost] = attrs.field(factory=dict)
    _plain: dict[SessionId, Connection] = attrs.field(factory=dict)

    def hold(self, worker_id: WorkerId, room_id: RoomId, connection: Connection) -> None:
        """Hold `connection` from now on, in place of an earlier one of that worker and room."""
        self._held[worker_id, room_id] = connection
        self._lost.pop((worker_id, room_id), None)

    def held(self, worker_id: WorkerId, room_id: RoomId) -> Connection | None:
        """Return the connection that this client holds for the worker in the room."""
        return self._held.get((worker_id, room_id))

    def why_lost(self, worker_id: WorkerId, room_id: RoomId) -> ConnectionLost | None:
        """Return the refusal through which this client lost the connection, if it had one."""
        return self._lost.get((worker_id, room_id))

    def rooms_of(self, worker_id: WorkerId) -> tuple[RoomId, ...]:
        """Return the rooms in which this client holds the worker's connection."""
        return tuple(room_id for worker, room_id in self._held if worker == worker_id)

    def named(self, room_id: RoomId, display_name: str) -> tuple[WorkerId, ...]:
        """Return the workers held in the room under `display_name`, by the name the room gave."""
        key = names.name_key(display_name)
        return tuple(
            worker
            for (worker, room), held in self._held.items()
            if room == room_id and names.name_key(held.session.display_name) == key
        )

    def lose(self, connection: Connection, refused: ConnectionLost) -> None:
        """Forget a connection that its room refused."""
        self._plain.pop(connection.session.session_id, None)
        for key, held in list(self._held.items()):
            if held.fence == connection.fence:
                del self._held[key]
                self._lost[key] = refused

    def hold_plain(self, connection: Connection) -> None:
        """Hold the connection of a chat without a lasting handle."""
        self._plain[connection.session.session_id] = connection

    def of_session(self, session_id: SessionId) -> Connection | None:
        """Return the connection that this client holds under a session's id."""
        plain = self._plain.get(session_id)
        if plain is not None:
            return plain
        held = self._held.values()
        return next((one for one in held if one.session.session_id == session_id), None)

    def plain_in(self, room_id: RoomId) -> Connection | None:
        """Return the connection without a lasting handle that this client uses in the room."""
        plain = self._plain.values()
        return next((one for one in plain if one.session.room_id == room_id), None)
