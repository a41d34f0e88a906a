"""All that one chat holds and can ask for. A process may serve many; each has its own."""

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

import anyio
import attrs

from letagents.application.attendance import Attendances
from letagents.application.background import Background
from letagents.application.callers import Callers, MayLook, Meaning, anywhere
from letagents.application.chat import Chat, Machine, Registry
from letagents.application.connections import Connections
from letagents.application.messaging import Messaging
from letagents.application.onboarding import Installation, Onboarding
from letagents.application.places import Places
from letagents.application.plain import PlainSessions
from letagents.application.registration import Registration
from letagents.application.repository import Repository
from letagents.domain.errors import NotAvailable
from letagents.domain.hints import Hints
from letagents.domain.ids import RoomId
from letagents.ports.attendance import Attendance
from letagents.ports.clock import Clock
from letagents.ports.forges import Forges
from letagents.ports.ids import Ids
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Checkouts, Surroundings

if TYPE_CHECKING:
    from letagents.application.attachments import AttachmentsOpening, Files
    from letagents.application.board import BoardOpening, Boards
    from letagents.application.directory import Directory
    from letagents.application.focus_rooms import Beside, FocusOpening
    from letagents.application.governance import GovernanceOpening, Governing
    from letagents.application.live_sessions import LiveSessions
    from letagents.application.memory import Memory, Opening
    from letagents.application.path_claims import Paths, PathsOpening
    from letagents.application.presence import Presence, PresenceOpening
    from letagents.application.receipts import Reached, ReceiptsOpening
    from letagents.application.searching import Searching
    from letagents.ports.activity import Reports
    from letagents.ports.live_codex import LiveCodex


def none() -> None:
    """Stand for what is not to be had."""


@attrs.define(eq=False)
class Live:
    """The live sessions of one client: loaded once they are asked for."""

    _made: "Callable[[], LiveSessions]"
    _known: "LiveSessions | None" = None

    @property
    def sessions(self) -> "LiveSessions":
        """The live sessions. Raises NotAvailable where no Codex is to be had."""
        if self._known is None:
            self._known = self._made()
        return self._known

    def check(self) -> None:
        """See that there can be any. Raises NotAvailable."""
        _ = self.sessions

    async def leave(self) -> None:
        """End what was launched."""
        if self._known is not None:
            await self._known.leave()


@attrs.frozen(eq=False)
class Client:
    """One chat's way into rooms. What not every chat asks for is loaded by who asks."""

    chat: Chat
    connections: Connections
    registration: Registration
    plain: PlainSessions
    callers: Callers
    places: Places
    messages: Messaging
    repository: Repository
    onboarding: Onboarding
    live: Live
    background: Background
    _opened: "LetAgents"

    @cached_property
    def searching(self) -> "Searching":
        """What is searched in rooms."""
        from letagents.application.searching import Searching

        return Searching(self._opened.rooms, self.connections)

    @cached_property
    def memory(self) -> "Memory":
        """What rooms last in knowing."""
        from letagents.application.memory import Memory

        return Memory(self._opened.memory, self.connections, self.messages)

    @cached_property
    def board(self) -> "Boards":
        """The tasks of rooms."""
        from letagents.application.board import Boards

        return Boards(self._opened.board, self.connections, self._opened.ids)

    @cached_property
    def governing(self) -> "Governing":
        """What agents may do to boards."""
        from letagents.application.governance import Governing

        return Governing(self._opened.governance, self.connections)

    @cached_property
    def paths(self) -> "Paths":
        """The files that agents claim."""
        from letagents.application.path_claims import Paths

        return Paths(self._opened.paths, self.connections, self._opened.checkouts)

    @cached_property
    def beside(self) -> "Beside":
        """The focus rooms beside rooms."""
        from letagents.application.focus_rooms import Beside

        return Beside(self._opened.focus, self.connections)

    @cached_property
    def presence(self) -> "Presence":
        """Who is in rooms, and what they do."""
        from letagents.application.presence import Presence

        return Presence(self._opened.presence)

    @cached_property
    def reached(self) -> "Reached":
        """Whom messages reached."""
        from letagents.application.receipts import Reached

        return Reached(self._opened.receipts)

    @cached_property
    def files(self) -> "Files":
        """The files of messages."""
        from letagents.application.attachments import Files

        return Files(self._opened.attachments)


@asynccontextmanager
async def _leaving(*goodbyes: Callable[[], Coroutine[None, None, None]]) -> AsyncIterator[None]:
    """Do all of `goodbyes` at the end, none after another: there is little time for them."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for goodbye in goodbyes:
                    tasks.start_soon(goodbye)


@attrs.frozen
class LetAgents:
    """The whole, over whatever plays its ports. Open one with `letagents.open_letagents`."""

    state: StateStore
    rooms: RoomTransport
    surroundings: Surroundings
    clock: Clock
    ids: Ids
    longest_wait: timedelta
    api_url: str | None = None
    attendance: Attendance | None = attrs.field(default=None, kw_only=True)
    """Tells the rooms that this process is there; None where the kernel does."""
    machine: Machine | None = attrs.field(default=None, kw_only=True)
    directory: "Directory | None" = attrs.field(default=None, kw_only=True)
    """Who this machine is at the server of its rooms; None where they are here."""
    registry: Registry | None = attrs.field(default=None, kw_only=True)
    """Whose account its clients act for, where that is known without asking."""
    checkouts: Checkouts = attrs.field(kw_only=True)
    forges: Forges = attrs.field(kw_only=True)
    installation: Installation = attrs.field(factory=Installation, kw_only=True)
    memory: "Opening" = attrs.field(default=none, kw_only=True)
    board: "BoardOpening" = attrs.field(default=none, kw_only=True)
    governance: "GovernanceOpening" = attrs.field(default=none, kw_only=True)
    paths: "PathsOpening" = attrs.field(default=none, kw_only=True)
    focus: "FocusOpening" = attrs.field(default=none, kw_only=True)
    codex: "Callable[[], LiveCodex | None]" = attrs.field(default=none, kw_only=True)
    reports: "Callable[[], Reports | None]" = attrs.field(default=none, kw_only=True)
    codex_observed: timedelta = attrs.field(default=timedelta(seconds=8), kw_only=True)
    presence: "PresenceOpening" = attrs.field(default=none, kw_only=True)
    receipts: "ReceiptsOpening" = attrs.field(default=none, kw_only=True)
    attachments: "AttachmentsOpening" = attrs.field(default=none, kw_only=True)
    keeps_connections: bool = attrs.field(default=False, kw_only=True)
    """Whether the state keeps connections for all its clients, and not each process its own."""
    may_look: MayLook = attrs.field(default=anywhere, kw_only=True)
    meaning: Meaning | None = attrs.field(default=None, kw_only=True)
    """Finds the room of a locator; None where it is found by joining it."""

    @asynccontextmanager
    async def client(self, hints: Hints | None = None) -> AsyncIterator[Client]:
        """Serve one chat; when it leaves, how far it read is remembered."""
        client = self.chat(hints)
        attendances = Attendances(self.attendance, self.state, client.connections, self.clock)
        goodbyes = (client.places.remember, attendances.leave, client.live.leave)
        async with attendances.kept(), _leaving(*goodbyes), client.background.kept():
            yield client

    def chat(self, hints: Hints | None = None, *, lasts: bool = True) -> Client:
        """Return what one chat holds; one that does not last is gone after a call."""
        return self._client(hints or Hints(), lasts=lasts)

    async def _joined(self, room_id: RoomId) -> RoomId:
        return (await self.rooms.join(room_id, create=False)).room_id

    def _client(self, hints: Hints, *, lasts: bool) -> Client:
        chat = Chat(self.state, self.surroundings, self.clock, hints, self.ids.uuid(), self.api_url)
        chat.directory, chat.machine = self.registry or self.directory, self.machine
        held = Connections()
        registration = Registration(
            self.state, self.rooms, held, chat, self.surroundings, self.clock, self.ids
        )
        plain = PlainSessions(
            self.state, self.rooms, held, registration, chat, self.surroundings, self.ids
        )
        places = Places(self.state, self.rooms, self.clock)
        background = Background()
        messages = Messaging(self.rooms, held, self.ids, self.longest_wait)
        return Client(
            chat,
            held,
            registration,
            plain,
            Callers(
                self.state,
                held,
                plain,
                chat,
                keeps_connections=self.keeps_connections,
                may_be_chat=lasts,
                may_look=self.may_look,
                meaning=self.meaning or self._joined,
                entering=self._joined,
            ),
            places,
            messages,
            Repository(self.checkouts, self.forges, places),
            Onboarding(self.state, self.clock, chat, self.installation, self.directory),
            Live(partial(self._live, background)),
            background,
            self,
        )

    def _live(self, background: Background) -> "LiveSessions":
        from letagents.application.live_bridge import Bridge
        from letagents.application.live_sessions import LiveSessions

        codex = self.codex()
        if codex is None:
            raise NotAvailable(
                "Codex sessions are started on the machine that they work on, and this is another.",
                remedy="Ask your user to start Codex there, with letagents among its MCP servers.",
            )
        bridge = Bridge(self.state, self.clock, codex, self.memory, self.reports)
        return LiveSessions(
            self.state,
            self.surroundings,
            self.clock,
            self.ids,
            codex,
            bridge,
            background,
            observed=self.codex_observed,
        )
