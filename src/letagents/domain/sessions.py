"""A worker's place in a room: opened, taken over by its next process, ended, taken up again.

E1  A worker that returns to a room finds the session, the display name and the beginning it had.
E2  A new secret raises the generation by one; the same secret again changes nothing.
E3  An arrival shows the secret of the connection before it, or is the arrival that took place; or
    it insists, where its machine knows of no newer one: there a state or a room was put back.
E4  A name that another of the room's workers ever had is not given again, but a codename instead.
E5  An ended session is taken up again by its worker, under the same id.
E6  A chat without a lasting handle gets a new session each time, and its earlier one ends.
E7  Each call of a session is a sign of its life, from the process that made it; beginning to wait
    is one, and waiting is none.
E8  Who arrives again has the tasks that it had, and is told of them.
"""

import enum
import hashlib
from collections.abc import Collection
from datetime import datetime

import attrs

from letagents.domain import codenames, fencing, names
from letagents.domain.errors import NameTaken, RegistrationConflict
from letagents.domain.fencing import Fence, Standing
from letagents.domain.ids import Credential, RoomId, SessionId, Token, WorkerId
from letagents.domain.ticks import Tick


class SessionKind(enum.Enum):
    """What a session may do: a worker acts, a controller watches, a person is a human being."""

    WORKER = "worker"
    CONTROLLER = "controller"
    PERSON = "person"

    @property
    def source(self) -> str:
        """What the room notes as the source of this kind's messages."""
        return "browser" if self is SessionKind.PERSON else "agent"


@attrs.frozen
class Host:
    """Where a session's process runs, as far as the room is told."""

    host_id: str | None = None
    kind: str | None = "local"
    label: str | None = "Local device"
    liveness_capability: str | None = None
    tool_bridge_id: str | None = None


@attrs.frozen
class Session:
    """A worker's place in one room, as everybody may see it.

    `process` names the process that connected it last, and `seen` is its last sign of life.
    """

    session_id: SessionId
    room_id: RoomId
    kind: SessionKind
    agent_key: str
    instance_id: str
    display_name: str
    base_name: str
    owner_label: str
    ide_label: str
    runtime: str
    actor_label: str
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    repo_branch: str | None = None
    ended_at: datetime | None = None
    host: Host = Host()
    process: str | None = None
    seen: Tick | None = None

    @property
    def worker_id(self) -> WorkerId | None:
        """The lasting handle of whose session this is, if it is one's."""
        return WorkerId(self.instance_id) if WorkerId.fits(self.instance_id) else None


@attrs.frozen
class Predecessor:
    """The connection that an arrival takes over, with its proof."""

    session_id: SessionId
    token: Token


@attrs.frozen
class Arrival:
    """What a process asks of a room: a place, under a secret that it made itself.

    `instance_id` is the worker id of a worker with a lasting handle, else the process's own id.
    Where it comes through a server, `account` says whose it is, `base_name` for which name its
    client stands, and `process_host` on which machine its process is, as far as that is known.
    """

    token: Token
    agent_key: str
    instance_id: str
    display_name: str
    owner_label: str
    ide_label: str
    runtime: str
    kind: SessionKind = SessionKind.WORKER
    worker_id: WorkerId | None = None
    repo_branch: str | None = None
    predecessor: Predecessor | None = None
    insists: bool = False
    host: Host = Host()
    account: str | None = None
    base_name: str | None = None
    process_host: str | None = None
    makes_its_secret: bool = True
    """Whether who asks knows the secret before the room does; some let a server make one."""

    @property
    def ends_earlier_sessions(self) -> bool:
        """Whether its agent's other sessions in the room end when it arrives (E6)."""
        return self.worker_id is None and self.kind is SessionKind.WORKER


@attrs.frozen
class Resumed:
    """Something that an arriving worker holds already. `kind` says what for.

    `epoch` is that of the lease, where the room tells it.
    """

    about: str
    kind: str
    epoch: int | None = None
    lease_id: str = ""

    def __str__(self) -> str:
        return f"{self.about} ({self.kind})"


@attrs.frozen
class Connection:
    """One process's hold on a session: what everybody may see of it, and what it shows to act.

    `resumed` is what the session held when it was connected, `displaced` whose sessions ended by
    that.
    """

    session: Session
    fence: Fence
    resumed: tuple[Resumed, ...] = ()
    displaced: tuple[SessionId, ...] = ()
    bearer: Credential | None = attrs.field(default=None, eq=False)
    """What alone shows the session to its server, where that gives such."""


@attrs.frozen
class Seat:
    """A session with what the room remembers of its newest connection."""

    session: Session
    standing: Standing

    @property
    def is_live(self) -> bool:
        """Whether the session has not ended."""
        return self.standing.ended_at is None

    def connection(self, token: Token, resumed: tuple[Resumed, ...] = ()) -> Connection:
        """Return the hold of the process that arrived with `token`."""
        standing = self.standing
        fence = Fence(standing.session_id, standing.generation, token)
        return Connection(self.session, fence, resumed)


def lasting_session_id(worker_id: WorkerId, room_id: RoomId) -> SessionId:
    """Return the id that a worker's session has in a local room. (Source: mcp-tools 11.1.)"""
    named = f"{worker_id}\n{room_id}".encode()
    return SessionId(f"local_{hashlib.sha256(named).hexdigest()}")


def arrive(
    arrival: Arrival,
    seat: Seat | None,
    *,
    room_id: RoomId,
    session_id: SessionId,
    taken: Collection[str],
    now: datetime,
    process: str | None = None,
    tick: Tick | None = None,
) -> Seat:
    """Decide which seat `arrival` gets; `seat` is the one the room holds under `session_id`.

    `taken` are the name keys of the room's other workers, ended ones included; `process` is that
    which arrives, and `tick` when.

    Raises:
        RegistrationConflict: the seat is held under a secret that `arrival` cannot show.
        NameTaken: no name is left.
    """
    if seat is None:
        name = _free_name(arrival, taken)
        return _present(_opened(arrival, room_id, session_id, name, now), process, tick)
    if fencing.proves(arrival.token, seat.standing) and seat.is_live:
        return seat
    if not _may_follow(arrival, seat.standing):
        raise RegistrationConflict(
            f"Another registration of {arrival.instance_id} in {room_id} went first.",
            remedy="Call register_agent_session again with the same worker_id and room_id "
            "if this chat is still the one that works.",
        )
    return _present(_taken_over(arrival, seat, seat.session.display_name, now), process, tick)


def seated(
    arrival: Arrival,
    seat: Seat | None,
    *,
    room_id: RoomId,
    session_id: SessionId,
    name: str,
    base_name: str,
    now: datetime,
    tick: Tick,
) -> Seat:
    """Return the seat of who comes through a server and may have `seat`, under `name`.

    `base_name` is the name that it asked for.
    """
    after = (
        _opened(arrival, room_id, session_id, name, now)
        if seat is None
        else _taken_over(arrival, seat, name, now)
    )
    session = attrs.evolve(after.session, base_name=base_name)
    return _present(attrs.evolve(after, session=session), None, tick)


def may_resume(arrival: Arrival, seat: Seat | None) -> bool:
    """Whether who arrives so may find tasks; `seat` is the one that it had.

    A worker with a lasting handle that comes for the first time finds none.
    """
    is_new = seat is None and arrival.worker_id is not None
    return arrival.kind is SessionKind.WORKER and not is_new


def _present(seat: Seat, process: str | None, tick: Tick | None) -> Seat:
    return attrs.evolve(seat, session=attrs.evolve(seat.session, process=process, seen=tick))


def heard(seat: Seat, *, now: datetime, tick: Tick, process: str | None) -> Seat:
    """Return `seat` after its session called from `process` (E7).

    Who was connected through a server has no process here, whoever hands its calls on.
    """
    process = None if seat.session.process is None else process
    return _present(
        attrs.evolve(seat, session=attrs.evolve(seat.session, last_seen_at=now)), process, tick
    )


def _may_follow(arrival: Arrival, standing: Standing) -> bool:
    before = arrival.predecessor
    return (
        arrival.insists
        or fencing.proves(arrival.token, standing)
        or (before is not None and fencing.proves(before.token, standing))
    )


def _opened(
    arrival: Arrival,
    room_id: RoomId,
    session_id: SessionId,
    display_name: str,
    now: datetime,
) -> Seat:
    return Seat(
        Session(
            session_id=session_id,
            room_id=room_id,
            kind=arrival.kind,
            agent_key=arrival.agent_key,
            instance_id=arrival.instance_id,
            display_name=display_name,
            base_name=arrival.display_name,
            owner_label=arrival.owner_label,
            ide_label=arrival.ide_label,
            runtime=arrival.runtime,
            actor_label=_label(arrival, display_name),
            created_at=now,
            updated_at=now,
            last_seen_at=now,
            repo_branch=arrival.repo_branch,
            host=arrival.host,
        ),
        Standing(session_id, 1, fencing.digest(arrival.token)),
    )


def _taken_over(arrival: Arrival, seat: Seat, display_name: str, now: datetime) -> Seat:
    session = attrs.evolve(
        seat.session,
        display_name=display_name,
        owner_label=arrival.owner_label,
        ide_label=arrival.ide_label,
        runtime=arrival.runtime,
        actor_label=_label(arrival, display_name),
        updated_at=now,
        last_seen_at=now,
        repo_branch=arrival.repo_branch,
        host=arrival.host,
        ended_at=None,
    )
    generation = seat.standing.generation + 1
    return Seat(session, Standing(session.session_id, generation, fencing.digest(arrival.token)))


def _free_name(arrival: Arrival, taken: Collection[str]) -> str:
    if arrival.kind is SessionKind.PERSON or names.name_key(arrival.display_name) not in taken:
        return arrival.display_name
    other = codenames.replacement_name(arrival.agent_key, taken)
    if other is None:
        raise NameTaken(
            f"The name {arrival.display_name} is taken and no codename is left in this room.",
            remedy="Call create_room() and work there.",
        )
    return other


def _label(arrival: Arrival, display_name: str) -> str:
    if arrival.kind is SessionKind.PERSON:
        return display_name
    return names.actor_label(display_name, arrival.owner_label, arrival.ide_label)


def ended(seat: Seat, *, now: datetime, tick: Tick | None = None) -> Seat:
    """Return `seat` after its session ended at `now`; one that had ended stays as it was.

    It was its own call at `tick`, if that is given. That is a sign of whose process nothing but
    calls tell; of a process of this machine it is none: to leave is no sign that one stays.
    """
    if not seat.is_live:
        return seat
    seen = tick if tick and seat.session.process is None else seat.session.seen
    return Seat(
        attrs.evolve(seat.session, ended_at=now, updated_at=now, last_seen_at=now, seen=seen),
        attrs.evolve(seat.standing, ended_at=now),
    )


def displaced(seat: Seat, *, now: datetime) -> Seat:
    """Return `seat` after somebody else ended its session: that is no sign of its own."""
    if not seat.is_live:
        return seat
    session = attrs.evolve(seat.session, ended_at=now, updated_at=now)
    return Seat(session, attrs.evolve(seat.standing, ended_at=now))
