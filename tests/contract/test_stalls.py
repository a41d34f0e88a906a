"""Every adapter of rooms tells of a board that stands still."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.contract.kept_rooms import opened
from tests.contract.served import KeptRooms

from letagents.adapters.rooms.evidence import ToldProcesses
from letagents.adapters.rooms.kept import doing
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.whereabouts import KeptRoster
from letagents.domain.activation import Decision
from letagents.domain.messages import Latest, Message
from letagents.domain.sessions import Connection
from letagents.domain.stalls import EMPTY, WAITING
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.domain.whereabouts import Said
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio

TERM = timedelta(minutes=15)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "local", pytest.param("postgres", marks=pytest.mark.long)])
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[KeptRooms]:
    processes = ToldProcesses("one")
    async with opened(request.param, tmp_path, clock, processes, term=TERM) as rooms:
        yield rooms


@pytest.fixture
async def ada(rooms: KeptRooms) -> Connection:
    return await rooms.connect(ROOM, arrival(ADA, 1))


async def close(rooms: KeptRooms, title: str) -> None:
    """Put a task on the board, and take it off again."""
    made = await KeptBoard(rooms, TERM).propose(ROOM, Proposal(title=title))
    task_id = made.view.task.task_id
    await KeptBoard(rooms, TERM).change(ROOM, task_id, Patch(status=Status.CANCELLED))


async def told(rooms: KeptRooms, words: str) -> list[Message]:
    """Let the room do what is due, and return what it says in which `words` stand."""
    await doing.done(rooms, ROOM)
    said = (await rooms.read(ROOM, Latest(200))).messages
    return [one for one in said if one.sender == "letagents" and words in one.text]


@pytest.mark.rule("D34")
async def test_an_empty_board_is_told_of_once_each_time_that_it_ran_empty(
    rooms: KeptRooms, ada: Connection, clock: ManualClock
) -> None:
    counts, nudged = [], []
    for title in ("roof", "door"):
        await close(rooms, title)
        clock.pass_by(EMPTY - timedelta(seconds=1))
        counts.append(len(await told(rooms, "Nothing has been open")))
        for at in range(3):
            clock.pass_by(EMPTY)
            nudged += [clock.now()] if at == 0 else []
            counts.append(len(await told(rooms, "Nothing has been open")))
    [first, _] = await told(rooms, "Nothing has been open")
    settings = (await KeptGovernance(rooms).governed(ROOM)).settings

    assert counts == [0, 1, 1, 1, 1, 2, 2, 2]
    assert settings.stall_nudged_at == nudged[-1]
    assert (first.source, first.prompt_kind) == ("agent_liveness", "auto")


@pytest.mark.rule("D34")
async def test_nothing_is_told_while_something_is_open_or_a_manager_or_nobody_is_there(
    rooms: KeptRooms, ada: Connection, clock: ManualClock
) -> None:
    governance = KeptGovernance(rooms)
    await governance.assign_manager(ROOM, ada.session.session_id)
    await close(rooms, "roof")
    clock.pass_by(EMPTY)
    with_manager = await told(rooms, "Nothing has been open")
    await governance.release_manager(ROOM)
    await rooms.disconnect(ROOM, ada.fence)
    clock.pass_by(EMPTY)
    with_nobody = await told(rooms, "Nothing has been open")
    again = await rooms.connect(ROOM, arrival(ADA, 2, after=ada))
    made = await KeptBoard(rooms, TERM).propose(ROOM, Proposal(title="door"), fence=again.fence)
    clock.pass_by(EMPTY)
    with_work = await told(rooms, "Nothing has been open")

    assert with_manager == with_nobody == with_work == []
    await KeptBoard(rooms, TERM).change(
        ROOM, made.view.task.task_id, Patch(status=Status.CANCELLED)
    )
    clock.pass_by(EMPTY)
    assert len(await told(rooms, "Nothing has been open")) == 1


@pytest.mark.rule("D35", "D37")
async def test_who_is_idle_is_told_once_of_what_waits_for_somebody(
    rooms: KeptRooms, ada: Connection, clock: ManualClock
) -> None:
    board, roster = KeptBoard(rooms, TERM), KeptRoster(rooms)
    await board.propose(ROOM, Proposal(title="roof"))
    await roster.note(ROOM, Said(), ada.fence)
    early = await told(rooms, "nobody has taken it up")
    clock.pass_by(WAITING[Status.ACCEPTED])
    await roster.note(ROOM, Said(status="working"), ada.fence)
    busy = await told(rooms, "nobody has taken it up")
    for _ in range(2):
        await roster.note(ROOM, Said(), ada.fence)
        clock.pass_by(timedelta(hours=1))
    page = await rooms.read(ROOM, Latest(1), ada.fence)

    await board.propose(ROOM, Proposal(title="door"))
    await board.mute(ROOM, "task_2")
    clock.pass_by(WAITING[Status.ACCEPTED])
    await roster.note(ROOM, Said(), ada.fence)

    assert early == busy == []
    assert len(await told(rooms, "nobody has taken it up")) == 1
    assert page.messages[0].activation is not None
    assert page.messages[0].activation.decision is Decision.UNCLEAR, "each agent is shown it"
