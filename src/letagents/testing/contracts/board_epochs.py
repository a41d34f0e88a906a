"""What becomes of a write under a lease that one had before. A part of what every Board does."""

from collections.abc import Callable
from typing import Any

import pytest

from letagents.domain.board import Handoff, Release, ReviewClaim, Target
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseKind
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Status
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.ports.board import Board
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival
from letagents.testing.contracts.task_holders import CLAIM, SHA, HoldersOfTasks, lease_of, to

Write = Callable[[Board, Connection, int], Any]
"""Writes to task_1 as somebody, under an epoch."""

SAID = Verdict(kind=VerdictKind.APPROVE, head_sha=SHA, key="k")
TO_BOB = Target(agent_key=arrival(BOB, 2).agent_key)


def changing(patch: Patch) -> Write:
    """Return what changes the task so."""
    return lambda board, by, epoch: board.change(ROOM, "task_1", patch, by.fence, epoch=epoch)


def deciding(patch: Patch) -> Write:
    """Return what changes the task so, under a review."""
    return lambda board, by, epoch: board.change(
        ROOM, "task_1", patch, by.fence, epoch=epoch, under=LeaseKind.REVIEW
    )


WORK: dict[str, Write] = {
    "attach": changing(Patch(pr_url="https://x/1")),
    "attach and claim": changing(Patch(status=Status.ASSIGNED, pr_url="https://x/1")),
    "go on": changing(to(Status.IN_PROGRESS)),
    "complete": changing(to(Status.IN_REVIEW)),
    "cancel": changing(to(Status.CANCELLED)),
    "let go": lambda board, by, epoch: board.lease_action(
        ROOM, "task_1", Release(epoch=epoch), by.fence
    ),
    "hand over": lambda board, by, epoch: board.lease_action(
        ROOM, "task_1", Handoff(target=TO_BOB, epoch=epoch), by.fence
    ),
}
REVIEWS: dict[str, Write] = {
    "send back": changing(to(Status.BLOCKED)),
    "send back, as its reviewer": deciding(to(Status.BLOCKED)),
    "close": deciding(to(Status.DONE)),
    "verdict": lambda board, by, epoch: board.verdict(ROOM, "task_1", SAID, by.fence, epoch=epoch),
    "let go": lambda board, by, epoch: board.review_action(
        ROOM, "task_1", Release(epoch=epoch), by.fence
    ),
}


@pytest.mark.anyio
class BoardEpochsContract(HoldersOfTasks):
    """Needs fixtures `rooms` and `board`."""

    @pytest.mark.rule("B1", "L8")
    @pytest.mark.parametrize("write", WORK.values(), ids=WORK)
    async def test_a_write_under_work_that_one_had_before_is_refused(
        self, board: Board, ada: Connection, bob: Connection, write: Write
    ) -> None:
        await self.claimed(board, ada)
        await board.lease_action(ROOM, "task_1", Release(), ada.fence)
        await board.change(ROOM, "task_1", CLAIM, ada.fence)
        before = await board.task(ROOM, "task_1")

        with pytest.raises(LeaseFenceStale, match=r"epoch 1, .* Worker1 .* works on it .* epoch 2"):
            await write(board, ada, 1)
        assert await board.task(ROOM, "task_1") == before
        await write(board, ada, 2)
        assert await board.task(ROOM, "task_1") != before

    @pytest.mark.rule("B1", "L8")
    @pytest.mark.parametrize("write", REVIEWS.values(), ids=REVIEWS)
    async def test_a_write_under_a_review_that_one_had_before_is_refused(
        self, board: Board, ada: Connection, bob: Connection, write: Write
    ) -> None:
        await self.in_review(board, ada)
        await board.review_action(ROOM, "task_1", ReviewClaim(), bob.fence)
        await board.review_action(ROOM, "task_1", Release(), bob.fence)
        await board.review_action(ROOM, "task_1", ReviewClaim(), bob.fence)
        before = await board.history(ROOM, "task_1")

        with pytest.raises(LeaseFenceStale, match=r"epoch 1, .* Worker2 .* reviews it .* epoch 2"):
            await write(board, bob, 1)
        assert await board.history(ROOM, "task_1") == before
        await write(board, bob, 2)
        assert await board.history(ROOM, "task_1") != before

    @pytest.mark.rule("L8")
    async def test_what_was_meant_as_work_is_not_done_as_a_review_of_the_same_epoch(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        await self.in_review(board, ada)
        await board.review_action(ROOM, "task_1", ReviewClaim(), bob.fence)
        blocked, done, work = to(Status.BLOCKED), to(Status.DONE), LeaseKind.WORK

        with pytest.raises(LeaseFenceStale, match=r"The work lease .* Worker2 .* reviews it"):
            await board.change(ROOM, "task_1", blocked, bob.fence, epoch=1, under=work)
        with pytest.raises(LeaseHeld, match=r"Worker1 .* works on it"):
            await board.change(ROOM, "task_1", done, bob.fence, epoch=1, under=work)
        view = await board.task(ROOM, "task_1")
        assert view.task.status is Status.IN_REVIEW

    @pytest.mark.rule("L8")
    async def test_a_reviewer_that_attaches_something_is_told_who_works(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        await self.in_review(board, ada)
        await board.review_action(ROOM, "task_1", ReviewClaim(), bob.fence)
        patch, review = Patch(pr_url="https://x/1"), LeaseKind.REVIEW

        with pytest.raises(LeaseHeld, match=r"Worker1 .* works on it"):
            await board.change(ROOM, "task_1", patch, bob.fence, epoch=1, under=review)

    @pytest.mark.rule("L8")
    async def test_what_is_closed_under_a_lease_that_ended_is_looked_at_first(
        self, board: Board, ada: Connection
    ) -> None:
        await self.claimed(board, ada)
        await board.lease_action(ROOM, "task_1", Release(), ada.fence)

        with pytest.raises(LeaseFenceStale, match="nobody has it now") as refused:
            await board.change(ROOM, "task_1", to(Status.CANCELLED), ada.fence, epoch=1)
        assert "get_board" in refused.value.remedy
        await board.change(ROOM, "task_1", to(Status.CANCELLED), ada.fence)

    @pytest.mark.rule("L7")
    async def test_a_claim_may_show_any_epoch(
        self, board: Board, ada: Connection, bob: Connection
    ) -> None:
        await self.claimed(board, ada)
        again = await board.change(ROOM, "task_1", CLAIM, ada.fence, epoch=7)
        await board.lease_action(ROOM, "task_1", Release(), ada.fence)
        anew = await board.change(ROOM, "task_1", CLAIM, ada.fence, epoch=1)

        assert [one and one.epoch for one in (lease_of(again), lease_of(anew))] == [1, 2]
