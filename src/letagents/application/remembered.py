"""Sessions in the form in which this machine remembers them, and back."""

from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.local_state import StoredSession
from letagents.domain.sessions import Connection, Host, Session, SessionKind


def stored(connection: Connection) -> StoredSession:
    """Return what is to be remembered of a connection: its session and its secret."""
    session, host = connection.session, connection.session.host
    return StoredSession(
        session_id=str(session.session_id),
        session_token=connection.fence.token,
        room_id=str(session.room_id),
        session_kind=session.kind.value,
        runtime=session.runtime,
        host_id=host.host_id,
        host_kind=host.kind,
        host_label=host.label,
        liveness_capability=host.liveness_capability,
        tool_bridge_id=host.tool_bridge_id,
        actor_label=session.actor_label,
        agent_key=session.agent_key,
        agent_instance_id=session.instance_id,
        display_name=session.display_name,
        requested_base_display_name=session.base_name,
        owner_label=session.owner_label,
        ide_label=session.ide_label,
        repo_branch=session.repo_branch,
        created_at=session.created_at,
        updated_at=session.updated_at,
        last_seen_at=session.last_seen_at,
        ended_at=session.ended_at,
    )


def plain_connection(known: StoredSession) -> Connection:
    """Return the connection of a session without a lasting handle: its secret changes no hands."""
    session = session_of(known)
    return Connection(session, Fence(session.session_id, 1, known.session_token))


def kept_connection(known: StoredSession) -> Connection:
    """Return a remembered connection, which its secret alone proves to be the newest (F4)."""
    session = session_of(known)
    return Connection(session, Fence(session.session_id, UNNUMBERED, known.session_token))


def session_of(known: StoredSession) -> Session:
    """Return what everybody may see of a remembered session."""
    return Session(
        session_id=SessionId(known.session_id),
        room_id=RoomId(known.room_id),
        kind=SessionKind(known.session_kind),
        agent_key=known.agent_key,
        instance_id=known.agent_instance_id or "",
        display_name=known.display_name,
        base_name=known.requested_base_display_name or known.display_name,
        owner_label=known.owner_label,
        ide_label=known.ide_label,
        runtime=known.runtime,
        actor_label=known.actor_label,
        created_at=known.created_at,
        updated_at=known.updated_at,
        last_seen_at=known.last_seen_at,
        repo_branch=known.repo_branch,
        ended_at=known.ended_at,
        host=Host(
            known.host_id,
            known.host_kind,
            known.host_label,
            known.liveness_capability,
            known.tool_bridge_id,
        ),
    )
