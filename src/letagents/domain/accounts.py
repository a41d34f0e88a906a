"""Who may use a server: accounts, the agents that act for them, and who is calling.

Q10  An agent's key is its account's login and its own name; a key belongs to one account for good.
Q11  A session is the account's whose agent it is, and no other account may use it.
Q12  Of a token only its digest is kept; who shows none, or an unknown one, is nobody.
Q13  A login is letters, digits, dots, underscores and dashes, and none that people's keys begin
     with: so a key never names two owners.
Q14  Who shows two sign-ins at once that are not the same is nobody: there is no choosing.
Q15  Who enters a room that has no admin becomes its admin.
Q32  To an account that has not entered a room it is as if it were not there.
Q33  Who has entered a room has entered the focus rooms beside it, and is there what they are in it.
     Who has not may enter one as they may enter that room: where it has a code, by saying that.
"""

import enum
import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import attrs

from letagents.domain import rooms
from letagents.domain.errors import LetAgentsError, Malformed, NotSignedIn, Retry
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.rooms import Room

NAME_LIMIT = 64
PEOPLE = "human"
"""What the keys begin with under which people speak."""
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")

SESSION_LASTS = timedelta(days=30)
"""(Source: hosted-api 2.1.)"""
CODE_LASTS = timedelta(hours=1)


class NotYourAgent(LetAgentsError):
    """The agent, or the session, is another account's."""

    code = "not_your_agent"


class WorkerSessionRequired(LetAgentsError):
    """An agent acts here only through a session of its own."""

    code = "worker_session_required"
    retry = Retry.AFTER_REGISTERING


class LoginTaken(LetAgentsError):
    """An account has that login already. Nothing happened."""

    code = "login_taken"


class UnknownLogin(LetAgentsError):
    """No account has that login. Nothing happened."""

    code = "unknown_login"


class TokenKind(enum.Enum):
    """What a token is for."""

    OWNER = "owner_token"
    """A program acts for the account, as long as nobody revokes it."""
    SESSION = "session"
    """A browser; it ends by itself."""
    CODE = "code"
    """One sign-in of a browser, and then no more."""
    GRANT = "supervisor_grant"
    """A supervisor opens sessions of the account's agents with it, and does nothing else."""


class Role(enum.Enum):
    """What an account is in a room."""

    ADMIN = "admin"
    PARTICIPANT = "participant"


SHOW_NOBODY = (TokenKind.CODE, TokenKind.GRANT)
"""What says of nobody who calls."""


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
    """Who is calling: an account, and by which kind of token; or nobody."""

    account: Account | None = None
    kind: TokenKind | None = None
    worker: Fence | None = None
    """As which session, where a worker's bearer was shown: it is nothing else then."""


NOBODY = Principal()


@attrs.frozen
class Known:
    """An account as who looks after a server sees it."""

    account: Account
    created_at: datetime
    tokens: int
    """How many of its tokens can be used."""
    last_used_at: datetime | None = None


def digest(token: str) -> str:
    """Return what is kept of a token (Q12)."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def checked_login(login: str) -> str:
    """Return a login, trimmed.

    Raises:
        Malformed: it is none (Q13).
    """
    trimmed = login.strip()
    if not _LOGIN.fullmatch(trimmed) or trimmed.lower() == PEOPLE:
        raise Malformed(
            "This is not a login.",
            remedy="Use 1 to 64 letters, digits, dots, underscores and dashes, with a letter or "
            f"digit at both ends; {PEOPLE} is not to be had.",
        )
    return trimmed


def login_key(login: str) -> str:
    """Return what two logins have in common that differ in the case of their letters alone."""
    return login.lower()


def logins_for(comer: Account) -> Iterator[str]:
    """Yield the logins that who comes from another service may have here, the best first (Q13)."""
    own = re.sub(r"[^A-Za-z0-9._-]", "-", comer.login)[:40].strip("._-") or comer.provider
    if login_key(own) != PEOPLE:
        yield own
    number = 1
    while True:
        yield f"{own}-{comer.provider}" + (f"-{number}" if number > 1 else "")
        number += 1


def person_key(account: Account) -> str:
    """Return the key under which a human being of that account speaks."""
    return f"{PEOPLE}/{account.login}"


def login_of_person(key: str) -> str | None:
    """Return the login of the human being who speaks under `key`; None for an agent's key."""
    kind, _, login = key.partition("/")
    return login or None if kind == PEOPLE else None


def one_of(shown: Principal, cookie: Principal, *, is_same: bool) -> Principal:
    """Return who calls that shows a token and a cookie (Q14)."""
    if shown.kind is TokenKind.SESSION and cookie.account is not None and not is_same:
        return NOBODY
    return shown


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
            "This call needs an account, and nothing that it shows is of one.",
            remedy="Sign in: call start_device_auth, or set LETAGENTS_TOKEN.",
        )
    return principal.account


def role_on_entering(*, is_admin: bool, has_admins: bool) -> Role:
    """Return what an account is in a room that it enters (Q15)."""
    return Role.ADMIN if is_admin or not has_admins else Role.PARTICIPANT


def check_entered(room_id: RoomId, *, has_entered: bool) -> None:
    """See that an account has entered a room.

    Raises:
        UnknownRoom: it has not (Q32).
    """
    if not has_entered:
        raise rooms.missing(room_id)


def check_may_enter(room: Room, asked: RoomId) -> None:
    """Let an account enter a focus room that it calls `asked`, and has not entered the one beside.

    Raises:
        UnknownRoom: it has to say the code of that room, and does not (Q33).
    """
    if rooms.looks_like_code(str(room.access_id)) and asked == room.room_id:
        raise rooms.missing(asked)


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
