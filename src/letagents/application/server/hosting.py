"""All that a room server serves from, and what it keeps for as long as it runs."""

from collections import Counter
from datetime import timedelta

import anyio
import attrs

from letagents.application.memory import Stores
from letagents.application.server.beats import Beats
from letagents.application.server.device_sign_in import DeviceSignIns
from letagents.application.server.entrances import Entrances
from letagents.application.server.limits import Proof, Rate, UnderWay
from letagents.application.server.served_sessions import ServedSessions, SessionOf
from letagents.application.server.serving import Doorkeeper
from letagents.domain.serving import Bounds
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
    bounds: Bounds = attrs.field(factory=Bounds)
    takes_bearers: bool = False
    """Whether a worker may show its session alone, without an account's token."""
    entrances: Entrances = attrs.field(init=False)
    sessions: ServedSessions = attrs.field(init=False)
    under_way: UnderWay = attrs.field(init=False)
    """The requests that are being answered."""
    keeper: Doorkeeper = attrs.field(init=False)
    proven: Proof = attrs.field(init=False)
    """Sees that something can be written now."""

    @entrances.default
    def _none_entered(self) -> Entrances:
        joins, misses = (Rate(self.clock, most) for most in (self.bounds.joins, self.bounds.misses))
        return Entrances(self.rooms, self.accounts, joins, misses)

    @sessions.default
    def _none_shown(self) -> ServedSessions:
        return ServedSessions(
            self.rooms, self.session_of, self.accounts, self.ids, self.entrances, self.deliveries
        )

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
