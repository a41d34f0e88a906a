"""Rooms of both kinds behind our own server, in this process: its clients are proven there."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from tests.contract.documented import is_documented

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.activities import KeptActivities
from letagents.adapters.rooms.kept.administration import KeptAdministration
from letagents.adapters.rooms.kept.artifacts import CheckTask, KeptArtifacts
from letagents.adapters.rooms.kept.attachments import KeptAttachments
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.kept.feeds import KeptFeed
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.kept.reasoning import KeptReasonings
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.kept.threads import KeptThreads
from letagents.adapters.rooms.kept.wakes import KeptWakes
from letagents.adapters.rooms.kept.whereabouts import KeptRoster
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.memory import Stores
from letagents.application.server.hosting import Boards, Hosting
from letagents.domain.accounts import Account
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session
from letagents.entrypoints.server.app import application
from letagents.ports.processes import Processes
from letagents.testing.contracts.task_holders import TERM
from letagents.testing.determinism import CountingIds, ManualClock

TOKEN = "a" * 64
ADA = Account(account_id="account_1", login="ada", display_name="Ada")

KeptRooms = MemoryRooms | LocalRooms


def any_task(_book: Book, _task_id: str) -> None:
    """Let each room have each task."""


def stores(rooms: KeptRooms, check_task: CheckTask = any_task) -> Stores:
    """Return what keeps the memory of `rooms`."""
    return Stores(
        knowledge=KeptKnowledge(rooms),
        guidelines=KeptGuidelines(rooms),
        artifacts=KeptArtifacts(rooms, check_task),
        wakes=KeptWakes(rooms),
        reasonings=KeptReasonings(rooms),
    )


def hosting(rooms: KeptRooms, clock: ManualClock, memory: Stores | None = None) -> Hosting:
    """Return what a server serves from `rooms`, to one account."""

    async def session_of(room_id: RoomId, session_id: SessionId) -> Session | None:
        return await rooms.look(room_id, lambda book: book.session(session_id))

    accounts = MemoryAccounts.of(clock, {TOKEN: ADA})
    boards = Boards(KeptBoard(rooms, TERM), KeptGovernance(rooms), KeptPaths(rooms, TERM))
    return Hosting(
        rooms,
        session_of,
        accounts,
        clock,
        CountingIds(first=5000),
        timedelta(minutes=3),
        boards=boards,
        memory=memory or stores(rooms),
        focus=KeptFocusRooms(rooms, TERM),
        feed=KeptFeed(rooms, TERM),
        roster=KeptRoster(rooms),
        receipts=KeptReceipts(rooms),
        attachments=KeptAttachments(rooms),
        threads=KeptThreads(rooms),
        deliveries=KeptDeliveries(rooms, CountingIds(first=8000), clock),
        activities=KeptActivities(rooms),
        administration=KeptAdministration(rooms),
        watched=rooms,
    )


def client(served: Hosting) -> httpx.AsyncClient:
    """Return a client of `served`, in this process; each answer has to be a documented one."""
    app = application(served)

    async def check(response: httpx.Response) -> None:
        await response.aread()
        is_documented(app, response)

    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app),
        base_url="http://rooms.test",
        event_hooks={"response": [check]},
    )


Opening = Callable[[Path | str, ManualClock, Processes], KeptRooms]


def in_memory(_place: Path | str, clock: ManualClock, processes: Processes) -> KeptRooms:
    """Return rooms of this process."""
    return MemoryRooms(CountingIds(), clock, processes)


def in_sqlite(place: Path | str, clock: ManualClock, processes: Processes) -> KeptRooms:
    """Return rooms in a file."""
    return LocalRooms(place, CountingIds(), clock, NoNudges(), processes)


def in_postgres(place: Path | str, clock: ManualClock, processes: Processes) -> KeptRooms:
    """Return rooms on a database server."""
    return LocalRooms(place, CountingIds(), clock, NoNudges(), processes)


class Served:
    """Rooms on a server. A suite that inherits this is run over each way in which it keeps them."""

    @pytest.fixture
    def processes(self) -> Processes:
        """Return what the server knows of its clients' processes."""
        return ToldProcesses()

    @pytest.fixture(
        params=[
            in_memory,
            pytest.param(in_sqlite, marks=pytest.mark.long),
            pytest.param(in_postgres, marks=pytest.mark.long),
        ]
    )
    async def kept(
        self,
        request: pytest.FixtureRequest,
        tmp_path: Path,
        clock: ManualClock,
        processes: Processes,
    ) -> AsyncIterator[KeptRooms]:
        """Yield the rooms behind the server."""
        opening: Opening = request.param
        on_a_server = opening is in_postgres
        place = request.getfixturevalue("postgres") if on_a_server else tmp_path / "rooms.db"
        rooms = opening(place, clock, processes)
        yield rooms
        if isinstance(rooms, LocalRooms):
            await rooms.aclose()

    @pytest.fixture
    def memory(self, kept: KeptRooms) -> Stores:
        """Return what the server keeps of the rooms besides messages."""
        return stores(kept)

    @pytest.fixture
    async def calls(
        self, kept: KeptRooms, clock: ManualClock, memory: Stores
    ) -> AsyncIterator[Calls]:
        """Yield what calls the server, as one account."""
        async with client(hosting(kept, clock, memory)) as http:
            yield Calls(http, lambda: TOKEN)

    @pytest.fixture
    def rooms(self, calls: Calls) -> HostedRooms:
        """Return the rooms as a client of the server has them."""
        return HostedRooms(calls)
