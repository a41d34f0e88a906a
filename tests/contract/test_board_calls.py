"""What a client makes of a board whose answers get lost, and of rooms that have none."""

import attrs
import pytest

from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.board import Boards
from letagents.application.connections import Connections
from letagents.domain.board import Admitted, Query
from letagents.domain.errors import (
    ConnectionReplaced,
    LetAgentsError,
    NotAvailable,
    OutcomeUnknown,
    RoomsUnavailable,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.intents import Approval
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Proposal
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

LOST = OutcomeUnknown("The answer got lost.", remedy="Look.")
DOWN = RoomsUnavailable("The disk is gone.", remedy="Wait.")


@attrs.frozen
class Forgetful(KeptBoard):
    """Does what it is asked, and then fails in these ways, one after another."""

    failures: list[LetAgentsError] = attrs.field(factory=list, kw_only=True)

    async def propose(
        self,
        room_id: RoomId,
        proposal: Proposal,
        fence: Fence | None = None,
        *,
        approval: Approval | None = None,
    ) -> Admitted:
        admitted = await super().propose(room_id, proposal, fence, approval=approval)
        if self.failures:
            raise self.failures.pop(0)
        return admitted


@pytest.fixture
async def rooms() -> MemoryRooms:
    rooms = MemoryRooms(CountingIds(), ManualClock())
    await rooms.join(ROOM)
    return rooms


@pytest.fixture
async def ada(rooms: MemoryRooms) -> Connection:
    return await rooms.connect(ROOM, arrival(ADA, 1))


def boards(rooms: MemoryRooms, *failures: LetAgentsError) -> Boards:
    board = Forgetful(rooms, failures=list(failures))
    return Boards(lambda: board, Connections(), CountingIds())


@pytest.mark.rule("B3")
async def test_a_proposal_whose_answer_got_lost_is_made_once(
    rooms: MemoryRooms, ada: Connection
) -> None:
    client = boards(rooms, LOST)
    admitted = await client.propose(ada, Proposal(title="mend the roof"))

    assert not admitted.is_new
    assert (await client.tasks(ROOM, Query())).tasks == (admitted.view,)


@pytest.mark.parametrize("second", [LOST, DOWN])
async def test_what_stays_unknown_is_said_to_be_unknown(
    rooms: MemoryRooms, ada: Connection, second: LetAgentsError
) -> None:
    with pytest.raises(OutcomeUnknown):
        await boards(rooms, LOST, second).propose(ada, Proposal(title="mend the roof"))


async def test_what_was_refused_is_not_asked_again(rooms: MemoryRooms, ada: Connection) -> None:
    with pytest.raises(RoomsUnavailable):
        await boards(rooms, DOWN).propose(ada, Proposal(title="mend the roof"))


async def test_a_lost_connection_is_said_to_be_lost(rooms: MemoryRooms, ada: Connection) -> None:
    await rooms.connect(ROOM, arrival(ADA, 2, after=ada))

    for call in (
        boards(rooms).tasks(ROOM, Query(), ada),
        boards(rooms).propose(ada, Proposal(title="mend the roof")),
    ):
        with pytest.raises(ConnectionReplaced):
            await call


async def test_rooms_without_a_board_say_so(ada: Connection) -> None:
    client = Boards(lambda: None, Connections(), CountingIds())

    with pytest.raises(NotAvailable, match="no task board"):
        await client.tasks(ROOM, Query())
