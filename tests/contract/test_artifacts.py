"""Artifacts and traces, in memory, on this machine and in PostgreSQL."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.kept.artifacts import KeptArtifacts
from letagents.adapters.rooms.kept.reasoning import KeptReasonings
from letagents.domain.tasks import UnknownTask
from letagents.ports.artifacts import Artifacts
from letagents.ports.reasoning import Reasonings
from letagents.testing.contracts.artifacts import NO_TASK, ArtifactsContract, NoForgeContract
from letagents.testing.contracts.reasoning import ReasoningsContract


def check_task(_book: Book, task_id: str) -> None:
    if task_id == NO_TASK:
        raise UnknownTask(task_id)


class _KeptArtifacts(ArtifactsContract, NoForgeContract):
    @pytest.fixture
    def artifacts(self, rooms: KeptRooms) -> Artifacts:
        return KeptArtifacts(rooms, check_task)

    @pytest.fixture
    def artifacts_elsewhere(self, elsewhere: KeptRooms) -> Artifacts:
        return KeptArtifacts(elsewhere, check_task)


class TestArtifactsInMemory(InMemory, _KeptArtifacts):
    pass


class TestArtifactsOnThisMachine(OnThisMachine, _KeptArtifacts):
    pass


class TestArtifactsInPostgres(InPostgres, _KeptArtifacts):
    pass


class _KeptReasonings(ReasoningsContract):
    @pytest.fixture
    def reasonings(self, rooms: KeptRooms) -> Reasonings:
        return KeptReasonings(rooms)

    @pytest.fixture
    def reasonings_elsewhere(self, elsewhere: KeptRooms) -> Reasonings:
        return KeptReasonings(elsewhere)


class TestReasoningInMemory(InMemory, _KeptReasonings):
    pass


class TestReasoningOnThisMachine(OnThisMachine, _KeptReasonings):
    pass


class TestReasoningInPostgres(InPostgres, _KeptReasonings):
    pass
