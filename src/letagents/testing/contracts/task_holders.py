"""Who acts on a board in its suites, and what they do there again and again."""

from datetime import timedelta

import pytest

from letagents.domain.board import TaskView
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Artifact, ArtifactKind, Patch, Proposal, Provider, Status
from letagents.ports.board import Board
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, arrival

TERM = timedelta(minutes=15)
"""The term of leases on the boards of this suite."""
SHA = "0123456789abcdef" * 2 + "01234567"
CLAIM = Patch(status=Status.ASSIGNED)
PULL_REQUEST = Artifact(
    provider=Provider.GITHUB,
    kind=ArtifactKind.PULL_REQUEST,
    number=7,
    url="https://github.com/o/r/pull/7",
)


def to(status: Status) -> Patch:
    """Return the change to a status."""
    return Patch(status=status)


def lease_of(view: TaskView, kind: LeaseKind = LeaseKind.WORK) -> Lease | None:
    """Return the active lease of a task."""
    return next((one.lease for one in view.leases if one.lease.kind is kind), None)


class HoldersOfTasks(RoomCallers):
    """Needs fixtures `rooms` and `board`; may have a `board_elsewhere` on the same place.

    `board` has leases of `TERM`, and `rooms` take processes to be there until `kill` ends them.
    """

    @pytest.fixture
    def board_elsewhere(self, board: Board) -> Board:
        """Return another board on the same place, where there can be one."""
        return board

    def lives_in(self, rooms: RoomTransport, process: str) -> None:
        """Let all calls from now on come from `process`."""
        raise NotImplementedError

    def kill(self, rooms: RoomTransport) -> None:
        """Let the process from which calls came until now be known to be gone."""
        raise NotImplementedError

    @pytest.fixture
    async def eve(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a third worker."""
        return await rooms.connect(ROOM, arrival(3, 3))

    async def accepted(self, board: Board, title: str = "mend the roof") -> str:
        """Return the id of a new task that can be claimed."""
        made = await board.propose(ROOM, Proposal(title=title))
        return made.view.task.task_id

    async def claimed(self, board: Board, by: Connection, title: str = "mend the roof") -> str:
        """Return the id of a new task that `by` has claimed."""
        task_id = await self.accepted(board, title)
        await board.change(ROOM, task_id, CLAIM, by.fence)
        return task_id

    async def in_review(self, board: Board, by: Connection) -> str:
        """Return the id of a task of `by` that waits for its review."""
        task_id = await self.claimed(board, by)
        await board.change(ROOM, task_id, to(Status.IN_REVIEW), by.fence)
        return task_id

    async def adopt(self, rooms: RoomTransport, connection: Connection) -> None:
        """Let who has just connected take up what it left, where connecting does not do so."""
