"""Two processes after one approval: a rival is let in at each boundary of our transactions."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.integration import approving_processes
from tests.integration.rooms_processes import Boundaries, rooms_at

from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.sql.database import Database
from letagents.adapters.sql.engine import open_engine
from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.board import Query
from letagents.domain.denials import (
    IntentManagerChanged,
    IntentNotApproved,
    IntentNotFound,
    IntentTaskChanged,
)
from letagents.domain.errors import ConnectionReplaced, LetAgentsError
from letagents.domain.governance import ManagerMode
from letagents.domain.intents import Action, Approval, change_payload, create_payload
from letagents.domain.sessions import Connection
from letagents.domain.tasks import InvalidTransition, Patch, Proposal, Status
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival

pytestmark = pytest.mark.anyio

CANCEL = change_payload("task_1", status="cancelled")
PROCESSES = 4
BOUNDARIES = pytest.mark.parametrize("boundary", [1, 2, 3])


@attrs.frozen
class House:
    """One process's rooms, with the board and what governs it."""

    rooms: LocalRooms

    @property
    def board(self) -> KeptBoard:
        return KeptBoard(self.rooms)

    @property
    def governance(self) -> KeptGovernance:
        return KeptGovernance(self.rooms)


Act = Callable[[House, Connection, Intent], Coroutine[Any, Any, object]]


async def use(house: House, ada: Connection, intent: Intent) -> object:
    patch, shown = Patch(status=Status.CANCELLED), Approval(intent.intent_id)
    return await house.board.change(ROOM, "task_1", patch, ada.fence, approval=shown)


async def move_the_task(house: House, _ada: Connection, _intent: Intent) -> object:
    return await house.board.change(ROOM, "task_1", Patch(pr_url="https://example.com/1"))


async def change_the_mode(house: House, _ada: Connection, _intent: Intent) -> object:
    return await house.governance.set_mode(ROOM, ManagerMode.MANAGER_OPTIONAL)


async def take_over(house: House, ada: Connection, _intent: Intent) -> object:
    return await house.rooms.connect(ROOM, arrival(ADA, 11, ada))


async def approve(house: House, _ada: Connection, intent: Intent) -> object:
    return await house.governance.approve(ROOM, intent.intent_id)


async def deny(house: House, _ada: Connection, intent: Intent) -> object:
    return await house.governance.deny(ROOM, intent.intent_id)


@attrs.define
class Rival:
    """Acts just before the transaction with that number begins."""

    act: Callable[[], Coroutine[Any, Any, object]]
    boundary: int
    begun: int = 0
    has_acted: bool = False

    def let_in(self) -> None:
        self.begun += 1
        if self.begun == self.boundary:
            asyncio.run(self.act())
            self.has_acted = True


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database.at(tmp_path / "rooms.db")
    yield database
    database.close()


@pytest.fixture
def boundaries(database: Database) -> Boundaries:
    return Boundaries.of(database)


@pytest.fixture
async def ours(database: Database, boundaries: Boundaries) -> AsyncIterator[House]:
    rooms = rooms_at(database)
    yield House(rooms)
    await rooms.aclose()


@pytest.fixture
async def theirs(tmp_path: Path, ours: House) -> AsyncIterator[House]:
    """Another process's, which does not wait for a turn: ours has it when it is let in."""
    database = Database(open_engine(tmp_path / "rooms.db"))
    rooms = rooms_at(database, process=2)
    yield House(rooms)
    await rooms.aclose()
    database.close()


@pytest.fixture
async def ada(ours: House) -> Connection:
    await ours.rooms.join(ROOM)
    ada = await ours.rooms.connect(ROOM, arrival(ADA, 1))
    await ours.governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
    await ours.board.propose(ROOM, Proposal(title="Mend the clock"))
    return ada


@pytest.fixture
async def asked(ours: House, ada: Connection) -> Intent:
    payload, fence = CANCEL, ada.fence
    return (await ours.governance.propose(ROOM, Action.TASK_CLOSE, payload, fence=fence)).intent


@BOUNDARIES
@pytest.mark.rule("P31")
@pytest.mark.parametrize(
    ("rivals_act", "refusals"),
    [
        (use, (IntentNotApproved, InvalidTransition)),
        (move_the_task, (IntentTaskChanged,)),
        (change_the_mode, (IntentManagerChanged,)),
        (take_over, (ConnectionReplaced,)),
    ],
)
async def test_whoever_comes_in_between_an_approval_is_used_once_and_as_it_was_given(
    rivals_act: Act,
    refusals: tuple[type[LetAgentsError], ...],
    boundary: int,
    boundaries: Boundaries,
    ours: House,
    theirs: House,
    ada: Connection,
    asked: Intent,
) -> None:
    await ours.governance.approve(ROOM, asked.intent_id)
    rival = Rival(lambda: rivals_act(theirs, ada, asked), boundary)
    boundaries.at = rival.let_in

    try:
        await use(ours, ada, asked)
    except refusals:
        assert rival.has_acted
    else:
        assert not rival.has_acted
    finally:
        boundaries.at = None

    task = (await theirs.board.task(ROOM, "task_1")).task
    is_used = (await theirs.governance.intent(ROOM, asked.intent_id)).status is IntentStatus.USED
    assert is_used is (task.status is Status.CANCELLED)


@BOUNDARIES
@pytest.mark.rule("P31", "P18")
@pytest.mark.parametrize(("act", "rivals_act"), [(approve, deny), (deny, approve)])
async def test_of_two_decisions_at_once_one_stands(
    act: Act,
    rivals_act: Act,
    boundary: int,
    boundaries: Boundaries,
    ours: House,
    theirs: House,
    ada: Connection,
    asked: Intent,
) -> None:
    rival = Rival(lambda: rivals_act(theirs, ada, asked), boundary)
    boundaries.at = rival.let_in

    try:
        await act(ours, ada, asked)
    except IntentNotFound:
        assert rival.has_acted
    else:
        assert not rival.has_acted
    finally:
        boundaries.at = None
    stands = (await theirs.governance.intent(ROOM, asked.intent_id)).status
    ours_stands = IntentStatus.APPROVED if act is approve else IntentStatus.DENIED
    assert (stands is ours_stands) is not rival.has_acted


@BOUNDARIES
@pytest.mark.rule("P31", "P32")
async def test_two_approvals_at_once_create_one_task_and_tell_one_token(
    boundary: int,
    boundaries: Boundaries,
    ours: House,
    theirs: House,
    ada: Connection,
    asked: Intent,
) -> None:
    created = await ours.governance.propose(
        ROOM, Action.TASK_CREATE, create_payload("Oil the gate"), fence=ada.fence
    )
    for intent in (created.intent, asked):
        tokens: list[object] = []

        async def they_approve(intent: Intent = intent, tokens: list[object] = tokens) -> None:
            tokens.append((await theirs.governance.approve(ROOM, intent.intent_id)).token)

        boundaries.at = Rival(they_approve, boundary).let_in
        tokens.append((await ours.governance.approve(ROOM, intent.intent_id)).token)
        boundaries.at = None
        told = [token for token in tokens if token is not None]
        assert len(told) == (1 if intent is asked else 0)

    page = await ours.board.tasks(ROOM, Query())
    assert [view.task.title for view in page.tasks] == ["Mend the clock", "Oil the gate"]


@pytest.mark.rule("P31", "P13")
async def test_of_processes_that_use_an_approval_at_once_one_does(
    tmp_path: Path, ours: House, ada: Connection, asked: Intent
) -> None:
    token = (await ours.governance.approve(ROOM, asked.intent_id)).token
    shown = Approval(asked.intent_id, token)
    context = approving_processes.CONTEXT
    start, told = context.Barrier(PROCESSES), context.SimpleQueue()
    users = [
        context.Process(  # type: ignore[attr-defined]  # every context has it
            target=approving_processes.use,
            args=(tmp_path / "rooms.db", number, ada.fence, shown, start, told),
            daemon=True,
        )
        for number in range(2, 2 + PROCESSES)
    ]
    for user in users:
        user.start()
    for user in users:
        await asyncio.to_thread(user.join, 60)

    outcomes = sorted(told.get() for _ in users)
    assert outcomes.count("cancelled") == 1
    assert set(outcomes) <= {"cancelled", "board_intent_not_approved"}
