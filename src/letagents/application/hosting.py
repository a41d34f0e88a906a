"""What a room server does for those who call it: who they are, and whose sessions they may use.

The rooms themselves compare what a session shows (F1, F2). Here it is told whose the session is.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta

import anyio
import attrs

from letagents.application.beats import Beats
from letagents.application.device_sign_in import DeviceSignIns
from letagents.application.limits import Proof, Rate, UnderWay
from letagents.application.memory import Stores
from letagents.application.serving import Doorkeeper
from letagents.domain import accounts, host_grants, locators
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    Principal,
    Role,
    WorkerSessionRequired,
    person_key,
)
from letagents.domain.deliveries import Transport
from letagents.domain.errors import ConnectionLost, NotConnected, UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.messages import Latest
from letagents.domain.rooms import Room
from letagents.domain.serving import AskedTooOften, Bounds, JoinedTooOften
from letagents.domain.sessions import Arrival, Session, SessionKind
from letagents.domain.tasks import WorkerRequired
from letagents.ports.accounts import Accounts
from letagents.ports.activity import Activities
from letagents.ports.administration import Administration
from letagents.ports.attachments import Attachments
from letagents.ports.attendance import Roll
from letagents.ports.board import Board
from letagents.ports.clock import Clock
from letagents.ports.deliveries import Deliveries
from letagents.ports.feeds import Feed
from letagents.ports.focus_rooms import FocusRooms
from letagents.ports.governance import Governance
from letagents.ports.ids import Ids
from letagents.ports.path_claims import PathClaims
from letagents.ports.people import People
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.ports.threads import ThreadsOf
from letagents.ports.vitals import Watched
from letagents.ports.whereabouts import Roster

SessionOf = Callable[[RoomId, SessionId], Awaitable[Session | None]]
"""Finds a session of a room, ended or not."""

REMEMBERED = 10_000
"""Of so many sessions it is remembered whose they are, which never changes."""


SERVED = "server"
"""Of which process a person's session is whose program has none of its own."""


@attrs.frozen
class Pace:
    """How often a stream shows that it is there, and when it is over by itself."""

    heartbeat: timedelta = timedelta(seconds=15)
    drain: timedelta = timedelta(seconds=10)
    """Who has taken nothing for so long is dropped."""
    longest: timedelta = timedelta(hours=1)
    """Then a reader comes back with its cursor; so none is forgotten for ever."""


@attrs.frozen
class Boards:
    """What keeps the boards of the rooms that a server serves."""

    board: Board
    governance: Governance
    paths: PathClaims


@attrs.frozen
class Hosting:
    """All that a room server serves from."""

    rooms: RoomTransport
    session_of: SessionOf
    accounts: Accounts
    clock: Clock
    ids: Ids
    longest_wait: timedelta
    base_url: str = "http://localhost:3001"
    addresses: tuple[str, ...] = ()
    """Where it listens, beside the address by which it is known."""
    boards: Boards | None = None
    memory: Stores | None = None
    focus: FocusRooms | None = None
    stopping: anyio.Event = attrs.field(factory=anyio.Event)
    """Set once the server is to end: whoever waits gets an answer then."""
    feed: Feed | None = None
    roster: Roster | None = None
    receipts: Receipts | None = None
    attachments: Attachments | None = None
    threads: ThreadsOf | None = None
    deliveries: Deliveries | None = None
    activities: Activities | None = None
    administration: Administration | None = None
    watched: Watched | None = None
    answered: Counter[tuple[str, int]] = attrs.field(factory=Counter)
    """How many requests of each route were answered with each status."""
    pace: Pace = Pace()
    roll: Roll | None = None
    """The process connections that are open here; None where none are kept."""
    beats: Beats = attrs.field(factory=Beats)
    """When those connections say that they are open."""
    people: People | None = None
    """Where people may sign in with a device."""
    logins: frozenset[str] | None = frozenset()
    """Whose logins there admit them here; everybody's where it is None."""
    _owners: dict[tuple[str, str], tuple[str, SessionKind]] = attrs.field(factory=dict)
    _persons: dict[tuple[str, str], Token] = attrs.field(factory=dict)
    _entered: set[tuple[str, str]] = attrs.field(factory=set)
    _beside: dict[RoomId, tuple[RoomId, RoomId]] = attrs.field(factory=dict)
    """Of what focus rooms are called their ids, and the rooms beside which they are."""
    bounds: Bounds = attrs.field(factory=Bounds)
    takes_bearers: bool = False
    """Whether a worker may show its session alone, without an account's token."""
    _joins: Rate = attrs.field(init=False)
    _misses: Rate = attrs.field(init=False)
    under_way: UnderWay = attrs.field(init=False)
    """The requests that are being answered."""
    keeper: Doorkeeper = attrs.field(init=False)
    proven: Proof = attrs.field(init=False)
    """Sees that something can be written now."""

    @_joins.default
    def _no_joins(self) -> Rate:
        return Rate(self.clock, self.bounds.joins)

    @_misses.default
    def _no_misses(self) -> Rate:
        return Rate(self.clock, self.bounds.misses)

    @under_way.default
    def _none_under_way(self) -> UnderWay:
        return UnderWay(self.bounds.at_once)

    devices: DeviceSignIns = attrs.field(init=False)

    @devices.default
    def _none_begun(self) -> DeviceSignIns:
        begun = Rate(self.clock, self.bounds.sign_ins)
        return DeviceSignIns(self.keeper, self.clock, self.ids, self.people, self.logins, begun)

    @proven.default
    def _by_writing(self) -> Proof:
        return Proof(self.clock, self.accounts.prove)

    @keeper.default
    def _at_the_door(self) -> Doorkeeper:
        return Doorkeeper(self.accounts, self.ids)

    async def principal(self, token: str | None, cookie: str | None = None) -> Principal:
        """Return who shows `token`, or a `cookie`; nobody, if what is shown is unknown."""
        if cookie is None:
            return await self._of(token)
        kept = await self._of(cookie)
        if token is None:
            return kept
        return accounts.one_of(await self._of(token), kept, is_same=token == cookie)

    async def _of(self, token: str | None) -> Principal:
        return NOBODY if token is None else await self.accounts.of_token(accounts.digest(token))

    async def worker(self, room_id: RoomId, fence: Fence) -> Principal | None:
        """Return who shows the session of a worker; None where it is none that lives there.

        Its secret is compared by the room, as with everything that is looked at.
        """
        session = await self.session_of(room_id, fence.session_id)
        if session is None or session.kind is not SessionKind.WORKER:
            return None
        try:
            await self.rooms.read(room_id, Latest(1), fence)
        except (ConnectionLost, UnknownRoom):
            return None
        if not await self._is_granted(session):
            return None
        agent = await self.accounts.agent(session.agent_key)
        if agent is None:
            return None
        owner = Account(
            account_id=agent.owner_id, login=agent.owner_login, display_name=agent.owner_label
        )
        return Principal(owner, worker=fence)

    async def _is_granted(self, session: Session) -> bool:
        """Whether the grant by which a session was opened, if one was, is still good (J121)."""
        grant_id = host_grants.grant_of(session)
        if grant_id is None:
            return True
        return await self.accounts.grant(host_grants.digest_of(grant_id) or "") is not None

    async def create(self, account: Account) -> Room:
        """Make a room with an invite code, of which the account is admin."""
        room = await self.rooms.create()
        await self.accounts.enter(account, room.room_id)
        return room

    async def enter(
        self, account: Account, room_id: RoomId, *, address: str, create: bool
    ) -> tuple[Room, Role]:
        """Return the room, and what the account is in it; made if it is not there and may be.

        Who was there before enters as often as they like.

        Raises:
            JoinedTooOften: too many others were entered lately, from that address.
            UnknownRoom: as RoomTransport.join.
        """
        if locators.is_named(room_id):
            return await self._enter_beside(account, room_id, address)
        role = await self.accounts.role(account, room_id)
        if role is None:
            self._count_join(account, address)
        room = await self.rooms.join(room_id, create=create)
        return room, role or await self.accounts.enter(account, room.access_id)

    async def _enter_beside(
        self, account: Account, room_id: RoomId, address: str
    ) -> tuple[Room, Role]:
        """Let an account into a focus room, by way of the room beside it."""
        room = await self.rooms.join(room_id, create=False)
        role = await self.accounts.role(account, room.access_id)
        if role is not None:
            return room, role
        self._count_join(account, address)
        accounts.check_may_enter(room, room_id)
        return room, await self.accounts.enter(account, room.access_id)

    async def meant(self, room_id: RoomId) -> RoomId:
        """Return the id of the room that `room_id` means, which may be a focus room's locator.

        Raises:
            UnknownRoom: there is no such focus room.
        """
        return (await self._place_of(room_id))[0] if locators.is_named(room_id) else room_id

    async def _place_of(self, room_id: RoomId) -> tuple[RoomId, RoomId]:
        """Return the id of a room, and that of the room in which it is known who has entered."""
        if not locators.is_named(room_id):
            return room_id, room_id
        if (known := self._beside.get(room_id)) is None:
            room = await self.rooms.join(room_id, create=False)
            if len(self._beside) >= REMEMBERED:
                self._beside.clear()
            known = self._beside[room_id] = room.room_id, room.access_id
        return known

    def _count_join(self, account: Account, address: str) -> None:
        try:
            self._joins.count(account.account_id, address)
        except AskedTooOften as error:
            raise JoinedTooOften(
                "Too many join attempts. Please slow down.", remedy=error.remedy
            ) from None

    def missed(self, account: Account) -> None:
        """Count that an account asked for a room that is not there.

        Raises:
            AskedTooOften: it did so too often lately.
        """
        self._misses.count(account.account_id)

    async def known(self, account: Account) -> list[Room]:
        """Return the rooms that the account has entered, the latest active first."""
        own = await self.accounts.entered(account)
        return [room for room in await self.rooms.known() if room.access_id in own]

    async def agent(self, account: Account, key: str) -> Agent:
        """Return the agent of that key, which has to be the account's.

        Raises:
            NotYourAgent: it is not.
        """
        return accounts.check_owns(account, await self.accounts.agent(key))

    async def admit(self, account: Account, room_id: RoomId, address: str) -> None:
        """Let an account enter a room that is there, if it has not: who comes in does so.

        Raises:
            JoinedTooOften, UnknownRoom: as `enter`.
        """
        if not await self._has_entered(account, room_id):
            await self.enter(account, room_id, address=address, create=False)

    async def check_entered(self, principal: Principal, room_id: RoomId) -> None:
        """See that who calls has entered a room.

        Raises:
            NotSignedIn: there is no account.
            UnknownRoom: it has not, or the room is not there.
        """
        account = accounts.signed_in(principal)
        accounts.check_entered(room_id, has_entered=await self._has_entered(account, room_id))

    async def _has_entered(self, account: Account, room_id: RoomId) -> bool:
        """Whether the account has entered; it never leaves again."""
        at = (account.account_id, room_id.value)
        if at in self._entered:
            return True
        _, access_id = await self._place_of(room_id)
        if await self.accounts.role(account, access_id) is None:
            return False
        if len(self._entered) >= REMEMBERED:
            self._entered.clear()
        self._entered.add(at)
        return True

    async def acting(self, principal: Principal, room_id: RoomId, fence: Fence | None) -> Fence:
        """Return the fence of who acts in a room, once it is known to be the caller's own.

        Raises:
            NotSignedIn, UnknownRoom, NotConnected: it is not.
            WorkerSessionRequired: none was shown.
        """
        if fence is None:
            await self.check_entered(principal, room_id)
            raise WorkerSessionRequired(
                "Registered worker session is required for agent write actions.",
                remedy="Call register_agent_session first.",
            )
        await self._check_own(principal, room_id, fence)
        return fence

    async def check_speaks(self, room_id: RoomId, fence: Fence) -> None:
        """See that whoever acts may speak. (Source: hosted-api 2.3.)

        Raises:
            WorkerRequired: it only watches.
        """
        _, kind = await self._whose(room_id, fence.session_id)
        if kind is SessionKind.CONTROLLER:
            raise WorkerRequired(
                "A session that only watches says nothing.",
                remedy="Call register_agent_session without session_kind.",
            )

    async def person(self, principal: Principal, room_id: RoomId) -> Fence:
        """Return the fence of an account's person in a room, who comes in for what it does there.

        Raises:
            NotSignedIn: there is no account.
            UnknownRoom: it has not entered the room.
        """
        account = accounts.signed_in(principal)
        await self.check_entered(principal, room_id)
        at = (account.account_id, room_id.value)
        if at not in self._persons and len(self._persons) >= REMEMBERED:
            self._persons.clear()
        token = self._persons.setdefault(at, self.ids.token())
        arrival = arriving(account, token, instance_id=SERVED)
        return (await self.rooms.connect(room_id, arrival)).fence

    async def looking(
        self, principal: Principal, room_id: RoomId, fence: Fence | None
    ) -> Fence | None:
        """Return the fence of who looks into a room, or None for an account without a session.

        Raises:
            NotSignedIn, UnknownRoom, NotConnected: who calls may not look, or not through that
                session.
        """
        if fence is None:
            await self.check_entered(principal, room_id)
        else:
            await self._check_own(principal, room_id, fence)
        return fence

    def delivering(
        self, room_id: RoomId, viewer: Fence | None, transport: Transport = Transport.LONG_POLL
    ) -> AbstractAsyncContextManager[None]:
        """Let a room know that a viewer waits to be told of messages. Raises as Deliveries.open."""
        if viewer is None or self.deliveries is None:
            return nullcontext()
        return self.deliveries.open(room_id, viewer, transport)

    async def _check_own(self, principal: Principal, room_id: RoomId, fence: Fence) -> None:
        account = accounts.signed_in(principal)
        key, kind = await self._whose(room_id, fence.session_id)
        own = (
            key == person_key(account)
            if kind is SessionKind.PERSON
            else await self._has(account, key)
        )
        if not own:
            raise unknown(room_id, fence.session_id)

    async def _has(self, account: Account, key: str) -> bool:
        agent = await self.accounts.agent(key)
        return agent is not None and agent.owner_id == account.account_id

    async def _whose(self, room_id: RoomId, session_id: SessionId) -> tuple[str, SessionKind]:
        at = (room_id.value, session_id.value)
        if (known := self._owners.get(at)) is not None:
            return known
        session = await self.session_of(room_id, session_id)
        if session is None:
            raise unknown(room_id, session_id)
        if len(self._owners) >= REMEMBERED:
            self._owners.clear()
        self._owners[at] = (session.agent_key, session.kind)
        return self._owners[at]


def unknown(room_id: RoomId, session_id: SessionId) -> NotConnected:
    """Return the error for a session that is not there, or not the caller's: both sound alike."""
    return NotConnected(None, room_id, "the room has no such session", session_id)


def arriving(account: Account, token: Token, *, instance_id: str) -> Arrival:
    """Return how the human being of an account comes into a room."""
    return Arrival(
        token=token,
        agent_key=person_key(account),
        instance_id=instance_id,
        display_name=account.label,
        owner_label=account.label,
        ide_label="Person",
        runtime="person",
        kind=SessionKind.PERSON,
    )
