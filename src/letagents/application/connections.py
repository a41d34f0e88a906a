"""The connections that one client holds: in memory, never from disk, and gone with the process.

A process that restarts, or was replaced, holds nothing until it registers again; so it can never
pick up its successor's secret by reading the state.
"""

from collections.abc import Awaitable
from typing import Protocol, TypeVar

import attrs

from letagents.application.epochs import Epochs
from letagents.domain import fencing, names
from letagents.domain.errors import ConnectionLost, LetAgentsError, SessionUnknown
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId, WorkerId
from letagents.domain.sessions import Connection, Session, SessionKind

T = TypeVar("T")
Key = tuple[WorkerId, RoomId]


class Watch(Protocol):
    """Hears which sessions a client holds."""

    def held(self, connection: Connection) -> None:
        """Hear that a connection is held, perhaps instead of one of the same session."""
        ...

    def lost(self, session_id: SessionId) -> None:
        """Hear that none is held of a session any more."""
        ...


@attrs.define
class Connections:
    """What this client holds, by worker and room; and why it lost what it held.

    A *plain* connection is one without a lasting handle. The one that the chat itself opened last
    in a room is its *own* there: it speaks where a call does not say who does. `epochs` is what
    their sessions know of their leases.
    """

    _held: dict[Key, Connection] = attrs.field(factory=dict)
    _lost: dict[Key, ConnectionLost] = attrs.field(factory=dict)
    _rooms: dict[WorkerId, tuple[RoomId, ...]] = attrs.field(factory=dict)
    _plain: dict[SessionId, Connection] = attrs.field(factory=dict)
    _own: dict[RoomId, Connection] = attrs.field(factory=dict)
    epochs: Epochs = attrs.field(factory=Epochs, kw_only=True)
    _watch: Watch | None = attrs.field(default=None, init=False)

    def watch(self, watch: Watch | None) -> None:
        """Let `watch` hear from now on what is held here."""
        self._watch = watch

    def confirm(self, connection: Connection) -> None:
        """Let it be heard that a connection is held, also if it was so before."""
        if self._watch is not None:
            self._watch.held(connection)

    def hold(
        self,
        worker_id: WorkerId,
        room_id: RoomId,
        connection: Connection,
        *,
        rooms: tuple[RoomId, ...],
    ) -> None:
        """Hold `connection` from now on, in place of an earlier one of that worker and room.

        `rooms` are all in which the worker has a session now, whoever holds it there.
        """
        self._held[worker_id, room_id] = connection
        self._rooms[worker_id] = rooms
        self._lost.pop((worker_id, room_id), None)
        self.epochs.arrived(connection)
        self.confirm(connection)

    def held(self, worker_id: WorkerId, room_id: RoomId) -> Connection | None:
        """Return the connection that this client holds for the worker in the room."""
        return self._held.get((worker_id, room_id))

    def only_room(self, worker_id: WorkerId) -> RoomId | None:
        """Return the worker's only room, as far as is known since it was connected here last."""
        rooms = self._rooms.get(worker_id, ())
        return rooms[0] if len(rooms) == 1 else None

    def workers_in(self, room_id: RoomId) -> tuple[WorkerId, ...]:
        """Return the workers whose connections in the room this client holds."""
        return tuple(worker for worker, room in self._held if room == room_id)

    def why_lost(self, worker_id: WorkerId, room_id: RoomId) -> ConnectionLost | None:
        """Return the refusal through which this client lost the connection, if it had one."""
        return self._lost.get((worker_id, room_id))

    def named(self, room_id: RoomId, display_name: str) -> tuple[WorkerId, ...]:
        """Return the workers held in the room under `display_name`, by the name the room gave."""
        key = names.name_key(display_name)
        return tuple(
            worker
            for (worker, room), held in self._held.items()
            if room == room_id and names.name_key(held.session.display_name) == key
        )

    def hold_plain(self, connection: Connection) -> None:
        """Hold the connection of a chat without a lasting handle."""
        self._plain[connection.session.session_id] = connection
        self.epochs.arrived(connection)

    def hold_own(self, connection: Connection) -> None:
        """Hold the plain connection with which this chat speaks in a room from now on."""
        self.hold_plain(connection)
        if connection.session.kind is SessionKind.WORKER:
            self._own[connection.session.room_id] = connection
            self.confirm(connection)

    def own(self, room_id: RoomId) -> Connection | None:
        """Return the connection with which this chat speaks in the room where it shows nothing."""
        return self._own.get(room_id)

    def of_session(self, session_id: SessionId) -> Connection | None:
        """Return the connection that this client holds under a session's id."""
        plain = self._plain.get(session_id)
        if plain is not None:
            return plain
        held = self._held.values()
        return next((one for one in held if one.session.session_id == session_id), None)

    def lost(self, connection: Connection, refused: ConnectionLost) -> LetAgentsError:
        """Forget a connection that its room refused; return what to tell whoever used it.

        It is known by its fence: the room from which somebody called makes it no other connection.
        """
        session = connection.session
        if _is_one(self.of_session(session.session_id), connection):
            self.epochs.left(connection)
            if self._watch is not None:
                self._watch.lost(session.session_id)
        if _is_one(self._plain.get(session.session_id), connection):
            del self._plain[session.session_id]
        if _is_one(self._own.get(session.room_id), connection):
            del self._own[session.room_id]
        for key in [key for key, held in self._held.items() if _is_one(held, connection)]:
            del self._held[key]
            self._lost[key] = refused.of_worker(session.instance_id)
        if not WorkerId.fits(session.instance_id):
            return _plain_lost(session)
        return refused.of_worker(session.instance_id)

    async def told(self, who: Connection | None, asked: Awaitable[T]) -> T:
        """Return what was asked for; of a lost connection, forget it and tell who lost it."""
        try:
            return await asked
        except ConnectionLost as refused:
            if who is None:
                raise refused.again() from refused
            raise self.lost(who, refused) from refused


def fence_of(viewer: Connection | None) -> Fence | None:
    """Return what is shown by who looks, where anybody does."""
    return None if viewer is None else viewer.fence


def ids_of(by: Connection) -> dict[str, str]:
    """Return of which room and session a line of the log is."""
    session = by.session
    return {"room_id": str(session.room_id), "session_id": str(session.session_id)}


def _is_one(held: Connection | None, connection: Connection) -> bool:
    return held is not None and fencing.is_one_hold(held.fence, connection.fence)


def _plain_lost(session: Session) -> SessionUnknown:
    return SessionUnknown(
        f"agent_session_id: the session {session.session_id} in {session.room_id} is over.",
        remedy=f"Call register_agent_session(room_id={str(session.room_id)!r}) for a new one; with "
        "a registration_key too, it becomes a worker that lasts.",
    )
