"""A chat's lasting handle: made once for a registration key, found again by the key or by its id.

W1  The same key in the same scope is the same worker; in another scope it is another one.
W2  The key itself is never kept: only a hash that binds it to its scope.
W3  A handle is good only in its own scope; an unknown one and another scope's are told apart.
W4  A call that names no room means the worker's only room; with several, or none, it has to say.
W5  A worker's display name is decided when it is made; a later registration changes nothing.
W6  Without an account, every scope of a server is this machine's own, however its owner is called.
W7  A worker has one agent key for life: its owner's slug when it was made, and its handle.
"""

import hashlib

import attrs

from letagents.domain import names
from letagents.domain.errors import (
    AmbiguousRoom,
    ForeignWorker,
    RegistrationConflict,
    UnknownWorker,
)
from letagents.domain.ids import RegistrationKey, RoomId, WorkerId
from letagents.domain.local_state import LocalState, StoredSession, Worker

ROOMS_SHOWN = 10
LOCAL = "local:"
"""So begins the owner's part of a scope where there is no account."""


def same_scope(one: str, other: str) -> bool:
    """Whether what was made under one scope is good under the other (W6).

    What stands for the owner without an account is git's user.name, which differs between the
    checkouts of one machine; a handle is for life.
    """
    (server, _, owner), (other_server, _, other_owner) = one.partition("\n"), other.partition("\n")
    are_local = owner.startswith(LOCAL) and other_owner.startswith(LOCAL)
    return one == other or (server == other_server and are_local)


def key_hash(scope: str, key: RegistrationKey) -> str:
    """Return what is kept of a registration key (W2)."""
    return hashlib.sha256(f"{scope}\n{key.value}".encode()).hexdigest()


def of_key(state: LocalState, *, scope: str, key: RegistrationKey) -> Worker | None:
    """Return the worker that was made for `key` in `scope` (W1, W6)."""
    made_for_it = (
        worker
        for worker in state.workers.values()
        if same_scope(worker.scope, scope)
        and worker.registration_key_hash == key_hash(worker.scope, key)
    )
    return next(made_for_it, None)


def ensure(
    state: LocalState, *, scope: str, key: RegistrationKey, fresh: WorkerId, display_name: str
) -> tuple[LocalState, Worker]:
    """Return the worker of `key`; if there is none, it is made as `fresh` under `display_name`.

    Raises:
        RegistrationConflict: `fresh` is another worker's handle.
    """
    known = of_key(state, scope=scope, key=key)
    if known is not None:
        return state, known
    if fresh in state.workers:
        raise RegistrationConflict(
            f"The handle {fresh} is in use by another worker.",
            remedy="Call register_agent_session again with the same registration_key.",
        )
    made = Worker(fresh, scope, key_hash(scope, key), display_name)
    return attrs.evolve(state, workers={**state.workers, fresh: made}), made


def find(state: LocalState, worker_id: WorkerId, *, scope: str) -> Worker:
    """Return the worker with that handle (W3).

    Raises:
        UnknownWorker: this machine has no such worker.
        ForeignWorker: the worker was made under another account or server.
    """
    worker = state.workers.get(worker_id)
    if worker is None:
        raise UnknownWorker(worker_id)
    if not same_scope(worker.scope, scope):
        raise ForeignWorker(worker_id)
    return worker


def agent_key(worker: Worker) -> str:
    """Return the key under which rooms know the worker (W7). (Source: mcp-tools 11.1.)"""
    owner = worker.scope.partition("\n")[2].removeprefix(LOCAL)
    return f"{names.slug(owner, 'owner')}/{str(worker.worker_id).replace('_', '-', 1)}"


def rooms_of(worker: Worker) -> tuple[RoomId, ...]:
    """Return the rooms in which the worker has a session."""
    return tuple(
        RoomId(room_id)
        for room_id, place in worker.rooms.items()
        if place.session_id and RoomId.fits(room_id)
    )


def room_meant(worker: Worker, room_id: RoomId | None) -> RoomId:
    """Return the room that a call means: the one it names, or the worker's only one (W4).

    Raises:
        AmbiguousRoom: none is named and the worker is in several, or in none.
    """
    rooms = (room_id,) if room_id is not None else rooms_of(worker)
    if len(rooms) == 1:
        return rooms[0]
    if not rooms:
        raise AmbiguousRoom(
            f"{worker.worker_id} is in no room yet.",
            remedy=f"Call register_agent_session(worker_id={str(worker.worker_id)!r}, "
            "room_id=...) with the room to join.",
        )
    raise AmbiguousRoom(
        f"{worker.worker_id} is in {len(rooms)} rooms and the call does not say which is meant.",
        remedy=f"Pass room_id, one of: {_listed(rooms)}.",
    )


def _listed(rooms: tuple[RoomId, ...]) -> str:
    shown = ", ".join(str(room_id) for room_id in rooms[:ROOMS_SHOWN])
    left = len(rooms) - ROOMS_SHOWN
    return f"{shown} and {left} more" if left > 0 else shown


def sessions_of(state: LocalState, worker_id: WorkerId) -> tuple[StoredSession, ...]:
    """Return every stored session of the worker, ended ones included."""
    return tuple(one for one in state.sessions.values() if one.agent_instance_id == str(worker_id))
