"""Every adapter of rooms tells once of those who hold work and are gone, and when they are back."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.contract.kept_rooms import KINDS, KeptRooms, opened

from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept import absences as kept_absences
from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.kept.delivery_records import DELIVERIES
from letagents.domain import deliveries as rules_of_deliveries
from letagents.domain.absences import GRACE, LOOK_AGAIN
from letagents.domain.board import Handoff, Release, Target
from letagents.domain.messages import After, Latest, Message
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

TERM = timedelta(minutes=15)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def processes() -> ToldProcesses:
    return ToldProcesses("one")


@pytest.fixture(params=KINDS)
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock, processes: ToldProcesses
) -> AsyncIterator[KeptRooms]:
    async with opened(request.param, tmp_path, clock, processes, term=TERM) as rooms:
        yield rooms


@pytest.fixture
def board(rooms: KeptRooms) -> KeptBoard:
    return KeptBoard(rooms, TERM)


@pytest.fixture
async def ada(rooms: KeptRooms, board: KeptBoard) -> Connection:
    """A worker of process one, at work."""
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    await board.propose(ROOM, Proposal(title="Mend the roof"))
    await board.change(ROOM, "task_1", Patch(status=Status.ASSIGNED), ada.fence)
    return ada


def wait_for_messages(book: Book, by: Connection) -> None:
    """Let a session have a delivery."""
    delivery = rules_of_deliveries.opened(
        None,
        by.session.session_id,
        1,
        holder="server",
        transport=rules_of_deliveries.Transport.LONG_POLL,
        tick=book.tick,
        now=book.now,
    )
    book.put(DELIVERIES, delivery)


async def told(rooms: KeptRooms) -> list[Message]:
    """Let the room do what is due, and return what it told of those who are gone or back."""
    await doing.done(rooms, ROOM)
    said = (await rooms.read(ROOM, Latest(100))).messages
    return [one for one in said if one.source == "agent_liveness"]


@pytest.mark.rule("D31")
async def test_who_holds_work_and_is_gone_is_told_of_once(
    rooms: KeptRooms, ada: Connection, clock: ManualClock, processes: ToldProcesses
) -> None:
    processes.gone.add("one")
    clock.pass_by(LOOK_AGAIN)
    early = await told(rooms)
    clock.pass_by(GRACE)
    late = await told(rooms)
    await rooms.change(ROOM, lambda book: kept_absences.watch(book, ada.session.session_id))
    clock.pass_by(GRACE)

    assert early == []
    assert [(one.sender, one.prompt_kind) for one in late] == [("letagents", "auto")]
    assert late[0].text.startswith("[status] Worker1 has been offline for 33m while holding task_1")
    assert await told(rooms) == late


@pytest.mark.rule("D30", "D31")
async def test_who_is_there_is_seen_whenever_somebody_looks(
    rooms: KeptRooms, ada: Connection, clock: ManualClock, processes: ToldProcesses
) -> None:
    for _ in range(50):
        clock.pass_by(LOOK_AGAIN)
        assert await told(rooms) == []
    session = await rooms.look(ROOM, lambda book: book.session(ada.session.session_id))
    assert session is not None
    assert session.seen == clock.tick()
    processes.gone.add("one")
    clock.pass_by(GRACE - timedelta(minutes=1))
    assert await told(rooms) == [], "it was there half an hour ago"
    clock.pass_by(timedelta(minutes=1))

    assert "has been offline for 30m" in (await told(rooms))[0].text


@pytest.mark.rule("D33")
async def test_who_was_told_to_be_gone_is_told_to_be_back_and_may_be_gone_again(
    rooms: KeptRooms, ada: Connection, clock: ManualClock, processes: ToldProcesses
) -> None:
    connection, announced = ada, []
    await rooms.change(ROOM, lambda book: wait_for_messages(book, ada))
    deliveries = KeptDeliveries(rooms, CountingIds(), clock)
    for process, secret in (("two", 2), ("three", 3)):
        processes.gone.add(processes.own or "")
        clock.pass_by(GRACE)
        assert len(await told(rooms)) == 2 * secret - 3
        announced.append(await deliveries.of(ROOM, ada.session.session_id))
        clock.pass_by(timedelta(seconds=1))
        processes.own = process
        connection = await rooms.connect(ROOM, arrival(ADA, secret, after=connection))
        announced.append(await deliveries.of(ROOM, ada.session.session_id))
    texts = [one.text.split(" for ")[0] for one in await told(rooms)]

    now, shown = clock.now(), [one for one in announced if one is not None]
    assert shown[2].offline_announced_at == now - timedelta(seconds=1)
    assert [one.recovery_announced_at for one in shown] == [
        None,
        now - GRACE - timedelta(seconds=1),
        None,
        now,
    ]
    gone, back = "[status] Worker1 has been offline", "[status] Worker1 is connected to the room"
    assert [text[: len(gone)] for text in texts] == [gone, back[: len(gone)]] * 2


@pytest.mark.rule("D32", "D33")
async def test_nothing_is_told_of_who_comes_back_in_time_or_has_let_go(
    rooms: KeptRooms,
    board: KeptBoard,
    ada: Connection,
    clock: ManualClock,
    processes: ToldProcesses,
) -> None:
    processes.gone.add("one")
    clock.pass_by(LOOK_AGAIN)
    assert await told(rooms) == []
    processes.own = "two"
    back = await rooms.connect(ROOM, arrival(ADA, 2, after=ada))
    await board.lease_action(ROOM, "task_1", Release(), back.fence)
    processes.gone.add("two")
    clock.pass_by(GRACE)

    assert await told(rooms) == []


@pytest.mark.rule("D32")
async def test_nothing_is_told_of_who_has_left(
    rooms: KeptRooms, ada: Connection, clock: ManualClock, processes: ToldProcesses
) -> None:
    await rooms.disconnect(ROOM, ada.fence)
    processes.gone.add("one")
    clock.pass_by(GRACE)

    assert await told(rooms) == []


@pytest.mark.rule("D31")
async def test_who_was_handed_work_is_looked_after_too(
    rooms: KeptRooms,
    board: KeptBoard,
    ada: Connection,
    clock: ManualClock,
    processes: ToldProcesses,
) -> None:
    processes.own = "two"
    bob = await rooms.connect(ROOM, arrival(BOB, 2))
    to = Target(agent_key=bob.session.agent_key, session_id=str(bob.session.session_id))
    await board.lease_action(ROOM, "task_1", Handoff(target=to), None)
    processes.gone.add("two")
    clock.pass_by(GRACE)

    assert ["Worker2" in one.text for one in await told(rooms)] == [True]


@pytest.mark.rule("D31")
async def test_who_waits_is_told(
    rooms: KeptRooms, ada: Connection, clock: ManualClock, processes: ToldProcesses
) -> None:
    last = (await rooms.read(ROOM, Latest(1))).messages[0].id
    processes.gone.add("one")
    clock.pass_by(GRACE)
    with anyio.fail_after(5):
        page = await rooms.wait(ROOM, After(last), timeout=timedelta(minutes=1))

    assert [one.source for one in page.messages] == ["agent_liveness"]
