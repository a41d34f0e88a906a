"""Sessions and arrivals as a hosted room has them, and back. (Source: hosted-api 3.5, 4.5.)"""

import re
from typing import Any

from letagents.domain import fencing
from letagents.domain.errors import Malformed
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import Credential, RoomId, SessionId, Token, WorkerId
from letagents.domain.sessions import (
    Arrival,
    Connection,
    Host,
    Predecessor,
    Resumed,
    Session,
    SessionKind,
)
from letagents.wire import public
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

PROPOSED = "proposed_session_token"
"""Our own addition: a secret for a session without a lasting handle, so that a lost answer can be
asked for again. Servers that know nothing of it make a secret themselves."""

PROCESS_HOST = "process_host_id"
_HOSTS = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


def plain(seen: Session) -> Plain:
    """Return the form of a session, as everybody may see it."""
    return public.session(seen) | {"assigned_base_display_name": seen.base_name}


def plain_connection(made: Connection) -> Plain:
    """Return the answer to who arrived: it shows the secret, which who asked has made."""
    answer = plain(made.session) | {
        "session_token": made.fence.token.value,
        "generation": made.fence.generation,
        "worker_bearer": None,
    }
    return answer | (_adopted(made.resumed) if made.resumed else {})


def _adopted(resumed: tuple[Resumed, ...]) -> Plain:
    """Return what is held again. The epochs, our own addition, stand apart by their leases' ids."""
    leases = [{"lease_id": one.lease_id, "task_id": one.about, "kind": one.kind} for one in resumed]
    return {
        "adopted_task_leases": leases,
        "adopted_epochs": {one.lease_id: one.epoch for one in resumed if one.lease_id},
    }


def plain_arrival(arrival: Arrival, agent_key: str) -> Plain:
    """Return what an arrival asks of a room, as the agent that the room knows by `agent_key`."""
    before = arrival.predecessor
    return {
        "actor_key": agent_key,
        "agent_instance_id": arrival.instance_id,
        "display_name": arrival.display_name,
        "requested_base_display_name": arrival.base_name or arrival.display_name,
        "session_kind": arrival.kind.value,
        "runtime": arrival.runtime,
        "ide_label": arrival.ide_label,
        "repo_branch": arrival.repo_branch,
        PROCESS_HOST: arrival.process_host,
        "registration_liveness": plain_host(arrival.host),
        ("connection_token" if arrival.worker_id else PROPOSED): arrival.token.value,
        "replace_agent_session_id": before and str(before.session_id),
        "replace_agent_session_token": before and before.token.value,
    } | ({"insists": True} if arrival.insists else {})


_HOST = {
    "host_id": "host_id",
    "host_kind": "kind",
    "host_label": "label",
    "liveness_capability": "liveness_capability",
    "tool_bridge_id": "tool_bridge_id",
}


def plain_host(host: Host) -> Plain:
    """Return the form of what a program says of the machine that it runs on."""
    return {name: getattr(host, fact) for name, fact in _HOST.items()}


def host(given: object, field: str) -> Host:
    """Return what a program says of its machine in a field; nothing where that is no object.

    Raises:
        Malformed: a part of it is no text.
    """
    if not isinstance(given, dict):
        return Host(kind=None, label=None)
    facts = {name: given.get(name) for name in _HOST}
    wrong = next((name for name, one in facts.items() if not isinstance(one, str | None)), None)
    if wrong is not None:
        raise Malformed(f"{field}.{wrong} must be a string.", remedy="Pass a string or null.")
    return Host(**{_HOST[name]: one for name, one in facts.items()})


def session(document: object) -> Session:
    """Return the session that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    display_name = fields.text("display_name")
    return Session(
        session_id=fields.parsed("session_id", SessionId),
        room_id=fields.parsed("room_id", RoomId),
        kind=fields.parsed("session_kind", SessionKind),
        agent_key=fields.text("agent_key"),
        instance_id=fields.text_or_none("agent_instance_id") or "",
        display_name=display_name,
        base_name=fields.text_or_none("assigned_base_display_name") or display_name,
        owner_label=fields.text_or_none("owner_label") or "",
        ide_label=fields.text_or_none("ide_label") or "Agent",
        runtime=fields.text_or_none("runtime") or "unknown",
        actor_label=fields.text("actor_label"),
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        last_seen_at=fields.moment("last_seen_at"),
        repo_branch=fields.text_or_none("repo_branch"),
        ended_at=fields.moment_or_none("ended_at"),
        host=_host(fields),
    )


def _host(fields: Fields) -> Host:
    return Host(
        host_id=fields.text_or_none("host_id"),
        kind=fields.text_or_none("host_kind"),
        label=fields.text_or_none("host_label"),
        liveness_capability=fields.text_or_none("liveness_capability"),
        tool_bridge_id=fields.text_or_none("tool_bridge_id"),
    )


def connection(document: object, arrival: Arrival, room_id: RoomId, agent_key: str) -> Connection:
    """Return the connection that a room made of `arrival`.

    Raises:
        Unreadable: the answer is not that to this arrival.
    """
    fields = Fields(document)
    made = session(document)
    token = fields.parsed("session_token", Token)
    if arrival.worker_id is not None and not fencing.same(token, arrival.token):
        raise Unreadable("session_token is not the one that was asked for")
    # As whom a person speaks, the server says.
    key = made.agent_key if arrival.kind is SessionKind.PERSON else agent_key
    asked = (room_id, key, arrival.instance_id, None)
    if (made.room_id, made.agent_key, made.instance_id, made.ended_at) != asked:
        raise Unreadable("it is about another session")
    generation = fields.document.get("generation")
    fence = Fence(made.session_id, generation if isinstance(generation, int) else UNNUMBERED, token)
    bearer = fields.document.get("worker_bearer")
    alone = Credential(bearer) if isinstance(bearer, str) and Credential.fits(bearer) else None
    return Connection(made, fence, _resumed(fields), bearer=alone)


def _resumed(fields: Fields) -> tuple[Resumed, ...]:
    """Return what the session found again; entries that say it not in full are left out."""
    found = [one for one in fields.list("adopted_task_leases") if isinstance(one, dict)]
    told = fields.part("adopted_epochs")
    return tuple(
        Resumed(
            one["task_id"],
            one["kind"],
            lease_id=one["lease_id"],
            epoch=told.integer_or_none(one["lease_id"]) if told else None,
        )
        for one in found
        if all(isinstance(one.get(name), str) for name in ("lease_id", "task_id", "kind"))
    )


def worker_id(instance_id: str | None) -> WorkerId | None:
    """Return the lasting handle that an instance id is, if it is one."""
    return WorkerId(instance_id) if instance_id and WorkerId.fits(instance_id) else None


def process_host(given: object) -> str | None:
    """Return the machine that a process names, or None where what is given names none."""
    return given if isinstance(given, str) and _HOSTS.fullmatch(given) else None


def proposed(body: Plain) -> Token | None:
    """Return the secret that an arrival without a lasting handle made itself, if it made one."""
    given = body.get(PROPOSED)
    return Token(str(given)) if Token.fits(given) else None


def predecessor(session_id: object, token: object) -> Predecessor | None:
    """Return the connection that an arrival shows as the one before it, if it shows any."""
    if SessionId.fits(session_id) and Token.fits(token):
        return Predecessor(SessionId(str(session_id)), Token(str(token)))
    return None
