"""Facts, requests and guidelines, in memory, on this machine and in PostgreSQL."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.knowledge import Knowledge
from letagents.testing.contracts.guidelines import GuidelinesContract
from letagents.testing.contracts.knowledge import KnowledgeContract


class _KeptKnowledge(KnowledgeContract):
    @pytest.fixture
    def knowledge(self, rooms: KeptRooms) -> Knowledge:
        return KeptKnowledge(rooms)

    @pytest.fixture
    def knowledge_elsewhere(self, elsewhere: KeptRooms) -> Knowledge:
        return KeptKnowledge(elsewhere)


class TestKnowledgeInMemory(InMemory, _KeptKnowledge):
    pass


class TestKnowledgeOnThisMachine(OnThisMachine, _KeptKnowledge):
    pass


class TestKnowledgeInPostgres(InPostgres, _KeptKnowledge):
    pass


class _KeptGuidelines(GuidelinesContract):
    @pytest.fixture
    def guidelines(self, rooms: KeptRooms) -> GuidelinesOf:
        return KeptGuidelines(rooms)

    @pytest.fixture
    def guidelines_elsewhere(self, elsewhere: KeptRooms) -> GuidelinesOf:
        return KeptGuidelines(elsewhere)


class TestGuidelinesInMemory(InMemory, _KeptGuidelines):
    pass


class TestGuidelinesOnThisMachine(OnThisMachine, _KeptGuidelines):
    pass


class TestGuidelinesInPostgres(InPostgres, _KeptGuidelines):
    pass
