"""Who may use a server: accounts, the agents that act for them, and who is calling.

Q10  An agent's key is its account's login and its own name; a key belongs to one account for good.
Q11  A session is the account's whose agent it is, and no other account may use it.
Q12  Of a token only its digest is kept; who shows none, or an unknown one, is nobody.
"""

import hashlib
from datetime import datetime

import attrs

from letagents.domain.errors import LetAgentsError, Malformed, Retry

NAME_LIMIT = 64


class NotSignedIn(LetAgentsError):
    """The call needs an account, and who calls has shown none. Nothing happened."""

    code = "not_signed_in"
    retry = Retry.AFTER_REGISTERING


class NotYourAgent(LetAgentsError):
    """The agent, or the session, is another account's."""

    code = "not_your_agent"


class WorkerSessionRequired(LetAgentsError):
    """An agent acts here only through a session of its own."""

    code = "worker_session_required"
    retry = Retry.AFTER_REGISTERING


@attrs.frozen(kw_only=True)
class Account:
    """A person, or whoever is given an account, on one server. `login` is unique there."""

    account_id: str
    login: str
    display_name: str | None = None
    provider: str = "local"
    provider_user_id: str | None = None
    avatar_url: str | None = None

    @property
    def label(self) -> str:
        """What the account is called where people read it."""
        return self.display_name or self.login


@attrs.frozen(kw_only=True)
class Agent:
    """An agent that acts for an account. Its key is what rooms know it by (Q10)."""

    agent_id: str
    name: str
    display_name: str
    owner_id: str
    owner_login: str
    owner_label: str
    created_at: datetime
    updated_at: datetime

    @property
    def key(self) -> str:
        """Its canonical key."""
        return f"{self.owner_login}/{self.name}"


@attrs.frozen
class Principal:
    """Who is calling: an account, or nobody."""

    account: Account | None = None


NOBODY = Principal()


def digest(token: str) -> str:
    """Return what is kept of a token (Q12)."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def checked_name(name: str) -> str:
    """Return an agent's name, trimmed.

    Raises:
        Malformed: it is blank, too long, or holds what no key can.
    """
    trimmed = name.strip()
    if not trimmed or len(trimmed) > NAME_LIMIT or not trimmed.isprintable() or "/" in trimmed:
        raise Malformed(
            "name: this is not an agent's name.",
            remedy=f"Pass 1 to {NAME_LIMIT} printable characters without a slash.",
        )
    return trimmed


def signed_in(principal: Principal) -> Account:
    """Return the account of who is calling.

    Raises:
        NotSignedIn: it has none.
    """
    if principal.account is None:
        raise NotSignedIn(
            "This call needs an account, and the token that was shown is of none.",
            remedy="Sign in: call start_device_auth, or set LETAGENTS_TOKEN.",
        )
    return principal.account


def check_owns(account: Account, agent: Agent | None) -> Agent:
    """Return `agent` if it acts for `account`.

    Raises:
        NotYourAgent: it does not, or there is no such agent (Q11).
    """
    if agent is None or agent.owner_id != account.account_id:
        raise NotYourAgent(
            "actor_key is not owned by this account.",
            remedy="Register the agent's name first: POST /agents.",
        )
    return agent
