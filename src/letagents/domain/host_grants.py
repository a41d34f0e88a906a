"""Host grants: what an account gives a supervisor, to open sessions of the account's agents.

A grant is a secret of its own. A supervisor that has one needs no token of the account.

(Source: supervisor 3.3, 6.8, 6.9; hosted-api 2.1, 2.2.)

J120  A grant opens sessions of its account's agents, in rooms that the account may enter, and is of
      no other use.
J121  A bearer that was given for a grant is of no use once the grant is over or revoked.
J122  A grant is used only under its own id and generation.
J123  A grant lasts for as long as it was given, and each renewal gives it that anew.
"""

import re
from datetime import datetime, timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.sessions import Host, Session

GENERATION = 1
"""That of each grant here: one that is renewed keeps its secret, one that is given anew is another.
"""
LASTS = timedelta(hours=24)
LONGEST = timedelta(days=30)
SHORTEST = timedelta(minutes=1)
KIND = "supervisor_grant"
"""What a session's host is called that was opened by a grant."""

_ID = re.compile(r"grant_([0-9a-f]{64})")


class GrantRefused(LetAgentsError):
    """A grant, or what was asked with one, is not good. Nothing was changed."""

    code = "grant_refused"


@attrs.frozen
class Given:
    """A grant as its server knows it."""

    grant_id: str
    account_id: str
    login: str
    expires_at: datetime


def no_grant() -> GrantRefused:
    """Return what is said where there is no such grant."""
    return GrantRefused(
        "There is no such grant, or none any more.",
        remedy="`letagents accounts grant LOGIN` gives a new one.",
    )


def id_of(digest: str) -> str:
    """Return the id of the grant whose secret has that digest: it tells nothing of the secret."""
    return f"grant_{digest}"


def digest_of(grant_id: str) -> str | None:
    """Return the digest of the secret of a grant; None for what is no grant's id."""
    found = _ID.fullmatch(grant_id)
    return found[1] if found else None


def host_of(grant_id: str) -> Host:
    """Return how a session says by which grant it was opened."""
    return Host(host_id=grant_id, kind=KIND)


def grant_of(session: Session) -> str | None:
    """Return by which grant a session was opened; None for one that was not (J121)."""
    return session.host.host_id if session.host.kind == KIND else None


def lasting(milliseconds: int | None) -> timedelta:
    """Return for how long a grant is to last from now on (J123)."""
    if milliseconds is None:
        return LASTS
    if milliseconds <= 0:
        raise Malformed("ttl_ms is a number above nothing.", remedy="Pass 86400000 for a day.")
    return min(max(timedelta(milliseconds=min(milliseconds, 10**12)), SHORTEST), LONGEST)


def check_used(given: Given, *, grant_id: str, generation: object) -> None:
    """Let a grant be used under its own id and generation.

    Raises:
        GrantRefused: it is another's (J122).
    """
    if given.grant_id != grant_id:
        raise GrantRefused(
            "Supervisor grant does not match the route.", remedy="Show the secret of that grant."
        )
    if generation != GENERATION:
        raise GrantRefused(
            "Supervisor grant generation is stale.", remedy="Install the grant again."
        )


def check_agent(given: Given, agent_key: str) -> str:
    """Return the name of the agent that is to be in a room.

    Raises:
        GrantRefused: it is another account's (J120).
    """
    login, _, name = agent_key.partition("/")
    if login != given.login or not name:
        raise GrantRefused(
            "agent_key is not owned by the grant's account.",
            remedy=f"Name an agent as {given.login}/NAME.",
        )
    return name
