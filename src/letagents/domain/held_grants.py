"""Host grants as a supervisor holds them, in memory alone, and the bearers that it gets for them.

(Source: supervisor 3.3, 6.8, 6.9.)

J125  A grant is taken for an agent that is there, in its room and at its server, under the
      generation of this supervisor, while it lasts; all else is stale, and what is no grant at all
      is refused by the first fault in this order: its kind, a blank field, its address.
J126  Of one grant the newer is kept: a lower generation, or an earlier end, changes nothing.
J127  A session is asked for up to three times, and again only where that may help.
J128  A session that does not echo what was asked is not taken, and its bearer is kept nowhere. Its
      display name may be another: where that is somebody's, a room gives the next one.
J129  A bearer is fresh until a minute before it ends; one that names no end for two minutes.
J130  A grant is renewed once an hour of it is left. Who is refused, is answered with another
      grant, or is too late, has none any more; all else changes nothing.
J131  An agent that was let in by a grant is let in by no sign-in; without a grant it waits, until a
      person says that it is to be let in by the sign-in again.
"""

import re
from datetime import datetime, timedelta

import attrs

from letagents.domain import bindings, generations, recovery
from letagents.domain.errors import LetAgentsError, Malformed, Retry
from letagents.domain.ids import Credential
from letagents.domain.manifest import Admission, Delivery, Entry, ManifestRefused
from letagents.domain.sessions import Session, SessionKind

ATTEMPTS = 3
PATIENCE = 10.0
"""Seconds that each attempt to open a session may take."""
BETWEEN = 0.1
LASTS = timedelta(hours=24)
LEAD = timedelta(hours=1)
HEARTBEAT = 15.0
"""Seconds after which grants and bearers are looked at again."""
_FRESH_UNTIL = timedelta(seconds=60)
_FRESH_WITHOUT_END = timedelta(seconds=120)
_SAFE = re.compile(r"https://[^\s/?#@]+(?:/\S*)?|http://(?:127\.0\.0\.1|\[::1\])(?::\d+)?(?:/\S*)?")
_NEEDED = (
    "entry_id",
    "room_id",
    "agent_key",
    "grant_id",
    "supervisor_grant",
    "api_url",
    "host_id",
    "installation_id",
    "grant_expires_at",
)
_DEFINITIVE = (401, 403, 409)
_PASSING = (408, 425, 429)
NOT_THERE = 404


class AuthorityBlocked(LetAgentsError):
    """An agent's grant is not there, or of no use any more. Nothing was sent."""

    code = "auth_blocked"
    retry = Retry.LATER


class GrantCallFailed(LetAgentsError):
    """A server did not do what was asked with a grant; `status` is what it answered, if it did."""

    code = "grant_call_failed"
    retry = Retry.LATER

    def __init__(self, status: int | None, happened: str) -> None:
        super().__init__(f"{happened.rstrip('.')}.", remedy=_remedy(status))
        self.status = status

    @property
    def is_definitive(self) -> bool:
        """Whether the server will have nothing of that grant any more."""
        return self.status in _DEFINITIVE

    @property
    def may_pass(self) -> bool:
        """Whether to ask again may help (J127)."""
        return self.status is None or self.status >= 500 or self.status in _PASSING


def _remedy(status: int | None) -> str:
    if status in _DEFINITIVE:
        return "Install a grant that is good: `letagents agents grant`."
    if status == NOT_THERE:
        return (
            "A grant opens no room: make it there, such as by "
            "`letagents send ROOM TEXT --create`. It is tried again by itself."
        )
    return "It is tried again by itself; look whether the server is there."


class EchoWrong(LetAgentsError):
    """A server opened another session than was asked for. It is not used."""

    code = "echo_wrong"


@attrs.frozen(kw_only=True)
class Grant:
    """A grant for one agent."""

    entry_id: str
    room_id: str
    agent_key: str
    grant_id: str
    secret: Credential
    generation: int
    api_url: str
    host_id: str
    installation_id: str
    expires_at: datetime

    @property
    def origin(self) -> str:
        """Which server it is good at."""
        return bindings.origin(self.api_url) or ""


@attrs.frozen
class Renewed:
    """What a server answers to who renews a grant."""

    grant_id: str
    secret: Credential
    generation: int
    expires_at: datetime


def check_asked(fields: "dict[str, str]", *, credential_only: bool, recovery_only: bool) -> None:
    """Let that be installed which may be a grant.

    Raises:
        Malformed: it is none; of several faults the first is told (J125).
    """
    if credential_only and recovery_only:
        raise Malformed(
            "Host grant installation cannot be both reconnect-only and recovery-only.",
            remedy="Pass one of the two flags.",
        )
    for name in _NEEDED:
        if not fields.get(name, "").strip():
            raise Malformed(f"Host grant {name} is required.", remedy=f"Pass {name}.")
    if not _SAFE.fullmatch(fields["api_url"].strip()):
        raise Malformed(
            "Host grant api_url must be HTTPS or exact loopback HTTP.",
            remedy="Pass https://..., http://127.0.0.1:PORT or http://[::1]:PORT.",
        )


def is_stale(
    grant: Grant, entry: Entry | None, *, generation: int, own: int, now: datetime
) -> bool:
    """Whether a grant is not to be installed for the agent that it names (J125)."""
    if not generations.is_current(generation, own) or entry is None:
        return True
    if grant.generation < 1 or grant.expires_at <= now:
        return True
    return entry.room_id != grant.room_id or bindings.origin(entry.api_url) != grant.origin


def is_older(grant: Grant, held: Grant | None) -> bool:
    """Whether what is held already is as new as what is to be installed (J126)."""
    if held is None or held.grant_id != grant.grant_id:
        return False
    return (held.generation, held.expires_at) >= (grant.generation, grant.expires_at)


def check_echo(session: Session, asked: "dict[str, str]") -> None:
    """Let a session be used that is the one that was asked for.

    Raises:
        EchoWrong: it is another (J128).
    """
    told = {
        "room_id": str(session.room_id),
        "agent_key": session.agent_key,
        "agent_instance_id": session.instance_id,
        "runtime": session.runtime,
        "ide_label": session.ide_label,
    }
    wrong = [name for name, value in told.items() if value != asked[name]]
    if session.kind is not SessionKind.WORKER:
        wrong.append("session_kind")
    if session.ended_at is not None:
        wrong.append("ended_at")
    if wrong:
        raise EchoWrong(
            f"The server opened a session with another {' and '.join(wrong)}.",
            remedy="Give the agent a name that no other has in that room, and install again.",
        )


def is_fresh(expires_at: datetime | None, made_at: datetime, *, now: datetime) -> bool:
    """Whether a bearer may be used on (J129)."""
    if expires_at is None:
        return now - made_at < _FRESH_WITHOUT_END
    return expires_at > now + _FRESH_UNTIL


def is_to_be_rotated(expires_at: datetime | None, *, now: datetime) -> bool:
    """Whether a bearer that is in use has to be followed by another now."""
    return expires_at is not None and expires_at <= now + _FRESH_UNTIL


def is_due(grant: Grant, *, now: datetime) -> bool:
    """Whether a grant is to be renewed now (J130)."""
    return grant.expires_at - now <= LEAD


def renewed(grant: Grant, answer: Renewed, *, now: datetime) -> Grant | None:
    """Return the grant as it is once it was renewed; None if the answer is not about it (J130)."""
    is_its = answer.grant_id == grant.grant_id and answer.generation >= grant.generation
    if not is_its or answer.expires_at <= now:
        return None
    return attrs.evolve(
        grant,
        secret=answer.secret,
        generation=answer.generation,
        expires_at=answer.expires_at,
    )


def mint_failed(attempts: int, why: LetAgentsError) -> GrantCallFailed:
    """Return what is said where no session could be had."""
    status = why.status if isinstance(why, GrantCallFailed) else None
    tries = "attempt" if attempts == 1 else "attempts"
    text = f"Worker credential mint failed after {attempts} {tries}: {why.happened}"
    return GrantCallFailed(status, text)


def check_given_up(entry: Entry) -> None:
    """Let an agent be let in by a sign-in again that was let in by a grant (J131).

    Raises:
        ManifestRefused: it was not, or its process polls under the grant's session.
    """
    if entry.admission is Admission.SIGN_IN:
        raise ManifestRefused(
            f"{entry.entry_id} is let in by no host grant.", remedy="Leave it as it is."
        )
    has_process = entry.execution is not None and not entry.execution.is_over
    if entry.delivery is Delivery.POLLING and has_process:
        raise ManifestRefused(
            f"{entry.entry_id} polls by the session that its grant has opened.",
            remedy=f"Stop it first: `letagents agents stop {entry.entry_id}`.",
        )


def given_up(entry: Entry) -> Entry:
    """Return an agent that is let in by a sign-in again, and tried at once."""
    history = recovery.without_pause(entry.history)
    return attrs.evolve(entry, admission=Admission.SIGN_IN, history=history, last_error=None)


def no_grant(entry_id: str) -> AuthorityBlocked:
    """Return what is said where a grant would be needed (J131)."""
    return AuthorityBlocked(
        f"{entry_id} has no host grant now: grants are in memory alone.",
        remedy=f"Install one: `letagents agents grant {entry_id} --file grant.json`.",
    )
