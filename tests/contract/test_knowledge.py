"""Facts, requests and guidelines, in memory, on this machine and in PostgreSQL."""

import pytest
from tests.contract.kept_rooms import InMemory, InPostgres, KeptRooms, OnThisMachine

from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.guidelines import InForce
from letagents.domain.tasks import AdminRequired
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.knowledge import Knowledge
from letagents.testing.contracts.guidelines import GuidelinesContract, text_of
from letagents.testing.contracts.knowledge import KnowledgeContract
from letagents.testing.contracts.room_callers import ROOM, person
from letagents.testing.determinism import CountingIds, ManualClock


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


@pytest.mark.anyio
@pytest.mark.rule("K32")
async def test_only_an_admin_of_the_room_sets_its_guidelines() -> None:
    rooms = MemoryRooms(CountingIds(), ManualClock(), admins=lambda caller: caller is None)
    await rooms.join(ROOM)
    guest = await rooms.connect(ROOM, person())
    guidelines = KeptGuidelines(rooms)

    with pytest.raises(AdminRequired):
        await guidelines.set(ROOM, "Obey me.", guest.fence)
    assert await guidelines.in_force(ROOM) == InForce()
    await guidelines.set(ROOM, "Write tests.")
    assert text_of(await guidelines.in_force(ROOM)) == "Write tests."
