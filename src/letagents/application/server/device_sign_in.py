"""Signing people in who type a code at a service elsewhere. (Source: hosted-api 3.1.)

A sign-in that was begun is known to the process where it was, and to nobody after that has ended.
"""

from datetime import timedelta

import attrs
import structlog

from letagents.application.server.limits import Rate
from letagents.application.server.serving import Doorkeeper
from letagents.domain.accounts import Account
from letagents.domain.sign_in import (
    Begun,
    Over,
    SignInUnavailable,
    UnknownSignIn,
    Waiting,
    admits,
    next_interval,
)
from letagents.domain.ticks import Tick, elapsed
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids
from letagents.ports.people import Comer, People

log = structlog.get_logger()

MOST = 1000
"""So many sign-ins are under way at most; those that were begun the longest ago give way."""


@attrs.define
class _Pending:
    there: str = attrs.field(repr=False)
    interval: timedelta
    begun_at: Tick
    lasts: timedelta
    asked_at: Tick | None = None


@attrs.frozen(repr=False)
class Admitted:
    """Somebody is signed in: their account here, and its token, which is shown nowhere again."""

    account: Account
    token: str


@attrs.frozen
class TooSoon:
    """It was asked about before `interval` had gone by."""

    interval: timedelta


@attrs.define
class DeviceSignIns:
    """The sign-ins that are under way. Without `people` there can be none."""

    keeper: Doorkeeper
    clock: Clock
    ids: Ids
    people: People | None = None
    logins: frozenset[str] | None = frozenset()
    """Whose logins there admit them here; everybody's where it is None."""
    _begun: Rate | None = None
    _pending: dict[str, _Pending] = attrs.field(factory=dict, repr=False)

    async def begin(self, address: str) -> Begun:
        """Begin a sign-in, for who calls from an address.

        Raises:
            AskedTooOften: too many were begun from there lately.
            SignInUnavailable: nobody can be signed in so here, or now.
        """
        if self.people is None:
            raise SignInUnavailable(
                "Device authorization is currently unavailable.",
                remedy="Ask who runs the server for a token, and set LETAGENTS_TOKEN to it.",
            )
        if self._begun is not None:
            self._begun.count(address)
        made = await self.people.begin()
        request_id = self.ids.uuid().replace("-", "")
        self._pending[request_id] = _Pending(
            made.request_id, made.interval, self.clock.tick(), made.expires_in
        )
        while len(self._pending) > MOST:
            del self._pending[next(iter(self._pending))]
        return attrs.evolve(made, request_id=request_id)

    async def poll(self, request_id: str) -> Waiting | Over | TooSoon | Admitted:
        """Return how a sign-in stands; once it has come to something, it is forgotten.

        Raises:
            UnknownSignIn: it is over, or was never begun here.
            SignInUnavailable: the service does not say.
        """
        pending, now = self._pending.get(request_id), self.clock.tick()
        if pending is None or self.people is None or elapsed(pending.begun_at, now) > pending.lasts:
            self._pending.pop(request_id, None)
            raise UnknownSignIn(
                "Unknown or expired device authorization request", remedy="Begin another one."
            )
        if pending.asked_at is not None and elapsed(pending.asked_at, now) < pending.interval:
            return TooSoon(pending.interval)
        pending.asked_at = now
        stands = await self.people.poll(pending.there)
        if isinstance(stands, Waiting):
            pending.interval = next_interval(pending.interval, stands)
            left = pending.lasts - elapsed(pending.begun_at, now)
            return Waiting(stands.status, pending.interval, left)
        self._pending.pop(request_id, None)
        return await self._admitted(stands) if isinstance(stands, Comer) else stands

    async def _admitted(self, comer: Comer) -> Admitted | Over:
        if not admits(self.logins, comer.account.login):
            log.warning("account.refused", provider=comer.account.provider)
            return Over("denied")
        account = await self.keeper.accounts.admit(comer.account)
        log.info("account.admitted", account_id=account.account_id)
        return Admitted(account, await self.keeper.token(account))
