"""What every store of guidelines does: give the suite `rooms` and `guidelines`."""

import pytest

from letagents.domain.activation import Decision
from letagents.domain.authors import HumansOnly
from letagents.domain.git_rooms import Ref
from letagents.domain.guidelines import GuidelinesTooLong, InForce, ReplyOrder
from letagents.domain.ids import RoomId
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, person

REPOSITORY = RoomId("github.com/ada/engine")
BRANCH = RoomId(Ref(str(REPOSITORY), "branch", "fix/gears").older_id)


def text_of(found: InForce) -> str | None:
    """Return what counts."""
    return found.guidelines.text if found.guidelines else None


@pytest.mark.anyio
class GuidelinesContract(RoomCallers):
    """Needs fixtures `rooms` and `guidelines`; may have `guidelines_elsewhere`."""

    @pytest.fixture
    def guidelines_elsewhere(self, guidelines: GuidelinesOf) -> GuidelinesOf:
        """Return the guidelines as another process has them, where there can be one."""
        return guidelines

    @pytest.mark.rule("K38", "K32")
    async def test_what_a_human_being_sets_counts_for_everybody(
        self,
        rooms: RoomTransport,
        guidelines: GuidelinesOf,
        guidelines_elsewhere: GuidelinesOf,
        ada: Connection,
    ) -> None:
        human = await rooms.connect(ROOM, person())
        assert await guidelines.in_force(ROOM) == InForce()

        await guidelines.set(ROOM, "Write tests.\r\n\r\n", human.fence)
        found = await guidelines_elsewhere.in_force(ROOM, ada.fence)

        assert text_of(found) == "Write tests."
        assert found.guidelines is not None
        assert found.guidelines.updated_by.kind == "human"
        assert found.inherited_from is None

    @pytest.mark.rule("K32", "K30")
    async def test_what_is_refused_leaves_what_was(
        self, guidelines: GuidelinesOf, ada: Connection
    ) -> None:
        await guidelines.set(ROOM, "Write tests.")

        with pytest.raises(HumansOnly):
            await guidelines.set(ROOM, "Obey me.", ada.fence)
        with pytest.raises(GuidelinesTooLong):
            await guidelines.set(ROOM, "ü" * 4001)
        assert text_of(await guidelines.in_force(ROOM)) == "Write tests."

    @pytest.mark.rule("K31", "K38")
    async def test_a_branchs_room_has_those_of_its_repository_until_it_has_its_own(
        self, rooms: RoomTransport, guidelines: GuidelinesOf
    ) -> None:
        await rooms.join(BRANCH)
        assert await guidelines.in_force(BRANCH) == InForce()
        await rooms.join(REPOSITORY)
        await guidelines.set(REPOSITORY, "For all.")

        inherited = await guidelines.in_force(BRANCH)
        assert (text_of(inherited), inherited.inherited_from) == ("For all.", REPOSITORY)
        await guidelines.set(BRANCH, "For us.")
        own = await guidelines.in_force(BRANCH)
        assert (text_of(own), own.inherited_from) == ("For us.", None)
        await guidelines.set(BRANCH, " \n")
        assert await guidelines.in_force(BRANCH) == inherited

    @pytest.mark.rule("K46", "K39")
    async def test_a_human_being_sets_how_agents_answer_that_are_called_together(
        self,
        rooms: RoomTransport,
        guidelines: GuidelinesOf,
        guidelines_elsewhere: GuidelinesOf,
        ada: Connection,
    ) -> None:
        human = await rooms.connect(ROOM, person())
        with pytest.raises(HumansOnly):
            await guidelines.set_reply_order(ROOM, ReplyOrder.SEQUENTIAL, ada.fence)
        before = await guidelines.in_force(ROOM)
        for order in (ReplyOrder.PARALLEL, ReplyOrder.SEQUENTIAL, ReplyOrder.SEQUENTIAL):
            found = await guidelines.set_reply_order(ROOM, order, human.fence)
        said = (await rooms.read(ROOM, Latest(), ada.fence)).messages

        assert before.reply_order is ReplyOrder.PARALLEL
        assert found == await guidelines_elsewhere.in_force(ROOM)
        assert found.reply_order is ReplyOrder.SEQUENTIAL
        assert ["one after another" in one.text for one in said] == [True]

    @pytest.mark.rule("K39", "A61")
    async def test_a_change_is_said_once_and_shown_to_every_agent(
        self, rooms: RoomTransport, guidelines: GuidelinesOf, ada: Connection, bob: Connection
    ) -> None:
        await guidelines.set(ROOM, "Write tests.")
        await guidelines.set(ROOM, "Write tests.")

        for who in (ada, bob):
            (said,) = (await rooms.read(ROOM, Latest(), who.fence)).messages
            assert said.source == "room_settings"
            assert said.activation is not None
            assert said.activation.decision is Decision.UNCLEAR
            assert "Write tests" not in said.text

    async def test_nothing_is_said_where_there_was_nothing_to_give_up(
        self, rooms: RoomTransport, guidelines: GuidelinesOf
    ) -> None:
        await rooms.join(ROOM)
        await guidelines.set(ROOM, "")

        assert (await rooms.read(ROOM, Latest())).messages == ()
        assert await guidelines.in_force(ROOM) == InForce()
