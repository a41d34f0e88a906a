"""What rooms on a server remember keeps the promises of its ports, whatever it is kept in."""

import pytest
from tests.contract.served import KeptRooms, Served, stores

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
from letagents.adapters.rooms.hosted.wakes import HostedWakes
from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept import wakes as kept_wakes
from letagents.application.memory import Stores
from letagents.domain.tasks import UnknownTask
from letagents.ports.artifacts import Artifacts
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.knowledge import Knowledge
from letagents.ports.reasoning import Reasonings
from letagents.ports.rooms import RoomTransport
from letagents.ports.wakes import Wakes
from letagents.testing.contracts.artifacts import NO_TASK, ArtifactsContract, NoForgeContract
from letagents.testing.contracts.guidelines import GuidelinesContract
from letagents.testing.contracts.knowledge import KnowledgeContract
from letagents.testing.contracts.reasoning import ReasoningsContract
from letagents.testing.contracts.room_callers import ROOM
from letagents.testing.contracts.room_search import RoomSearchContract
from letagents.testing.contracts.wakes import WakesContract
from letagents.testing.determinism import ManualClock


class TestHostedKnowledge(Served, KnowledgeContract):
    @pytest.fixture
    def knowledge(self, calls: Calls) -> Knowledge:
        return HostedKnowledge(calls)


class TestHostedGuidelines(Served, GuidelinesContract):
    @pytest.fixture
    def guidelines(self, calls: Calls) -> GuidelinesOf:
        return HostedGuidelines(calls)


class TestHostedArtifacts(Served, ArtifactsContract, NoForgeContract):
    @pytest.fixture
    def memory(self, kept: KeptRooms) -> Stores:
        return stores(kept, check_task)

    @pytest.fixture
    def artifacts(self, calls: Calls) -> Artifacts:
        return HostedArtifacts(calls)


def check_task(_book: Book, task_id: str) -> None:
    if task_id == NO_TASK:
        raise UnknownTask(task_id)


class TestHostedReasoning(Served, ReasoningsContract):
    @pytest.fixture
    def reasonings(self, calls: Calls, clock: ManualClock) -> Reasonings:
        return HostedReasonings(calls, clock)


class TestHostedWakes(Served, WakesContract):
    @pytest.fixture
    def wakes(self, calls: Calls, kept: KeptRooms) -> Wakes:
        self.kept_rooms = kept
        return HostedWakes(calls)

    async def move(self, before: str, after: str, task_id: str = "task_1") -> None:
        await self.kept_rooms.change(
            ROOM, lambda book: kept_wakes.task_moved(book, task_id, before, after)
        )

    async def let_time_be(self, rooms: RoomTransport) -> None:
        await doing.done(self.kept_rooms, ROOM)


class TestHostedSearch(Served, RoomSearchContract):
    pass
