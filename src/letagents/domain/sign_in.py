"""Signing in at a server with a code that a person types elsewhere. (Source: hosted-api 3.1.)

Q28  A sign-in of this machine is shown to the server where it was made, and to no other.
Q30  Who is told to slow down asks five seconds less often, or as the service says if that is more.
Q31  Of people who sign in elsewhere a server admits those alone whom it names, if it names any.
"""

from collections.abc import Mapping
from datetime import timedelta

import attrs

from letagents.domain.errors import LetAgentsError, Retry
from letagents.domain.local_state import Account
from letagents.domain.serving import place_of


class UnknownSignIn(LetAgentsError):
    """There is no sign-in of that id: it is over, or was never begun."""

    code = "unknown_sign_in"


class SignInUnavailable(LetAgentsError):
    """Nobody can be signed in here now. Nothing happened."""

    code = "sign_in_unavailable"
    retry = Retry.LATER


@attrs.frozen(repr=False)
class Begun:
    """A sign-in that was begun. Whoever has `request_id` can fetch the token."""

    request_id: str
    user_code: str
    verification_uri: str
    expires_in: timedelta
    interval: timedelta


@attrs.frozen
class Waiting:
    """The person has not typed the code yet; ask again after `interval`."""

    status: str
    interval: timedelta
    expires_in: timedelta | None = None


@attrs.frozen
class Over:
    """Nothing will come of it: the person refused, or did nothing for too long."""

    status: str


@attrs.frozen(repr=False)
class Authorized:
    """The person is signed in."""

    token: str
    account: Account
    avatar_url: str | None = None
    expires_at: str | None = None


Polled = Waiting | Over | Authorized


SLOWER = timedelta(seconds=5)


def next_interval(interval: timedelta, stands: Waiting) -> timedelta:
    """Return how long to wait before asking again (Q30)."""
    slower = interval + SLOWER if stands.status == "slow_down" else interval
    return max(slower, stands.interval)


def admits(logins: frozenset[str] | None, login: str) -> bool:
    """Whether a server admits who has `login` elsewhere (Q31)."""
    return logins is None or login.lower() in logins


def is_for(auth: Mapping[str, object], url: str) -> bool:
    """Whether a stored sign-in is for the server at `url` (Q28).

    Those that other programs stored do not say for which they are; they know one server alone.
    """
    made_at = auth.get("api_url")
    return not isinstance(made_at, str) or place_of(made_at) == place_of(url)
