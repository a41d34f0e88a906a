"""What every store of claimed paths does, whatever it is kept in, beside the board it hangs on."""

from datetime import timedelta

import anyio
import pytest

from letagents.domain.board import Handoff, Release, Target
from letagents.domain.errors import ConnectionReplaced
from letagents.domain.ids import RoomId
from letagents.domain.leases import LeaseFenceStale, LeaseHeld, LeaseMissing, LeaseStatus
from letagents.domain.path_claims import (
    MOST_CLAIMS,
    Granted,
    Mode,
    PathClaim,
    PathsHeld,
    Query,
    TooManyClaims,
    UnknownClaim,
    Wanted,
    patterns_of,
)
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Assignee, Patch, Proposal, Status, UnknownTask, WorkerRequired
from letagents.ports.board import Board
from letagents.ports.path_claims import PathClaims
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import (
    ROOM,
    RoomCallers,
    arrival,
    passing_chat,
    person,
)
from letagents.testing.determinism import ManualClock

TERM = timedelta(minutes=15)
"""The term of leases on the boards of this suite."""
REPOSITORY = "github.com/o/r"


def wanted(
    task_id: str,
    *patterns: str,
    shared: bool = False,
    repository: str = REPOSITORY,
    root: str | None = None,
    epoch: int | None = None,
) -> Wanted:
    """Return what somebody wants to claim for a task."""
    return Wanted(
        task_id=task_id,
        patterns=patterns_of(patterns),
        repository=repository,
        mode=Mode.SHARED if shared else Mode.EXCLUSIVE,
        root=root,
        epoch=epoch,
    )


@pytest.mark.anyio
class PathClaimsContract(RoomCallers):
    """Needs fixtures `rooms`, `board` and `paths`; may have `paths_elsewhere` on the same place.

    `board` and `paths` have leases of `TERM`, and of processes nothing is known.
    """

    @pytest.fixture
    def paths_elsewhere(self, paths: PathClaims) -> PathClaims:
        """Return another store on the same place, where there can be one."""
        return paths

    async def on_a_task(self, board: Board, who: Connection, title: str) -> str:
        """Give a new task to a worker; return its id."""
        made = await board.propose(ROOM, Proposal(title=title))
        task_id = made.view.task.task_id
        await board.change(ROOM, task_id, Patch(status=Status.ASSIGNED), who.fence)
        return task_id

    @pytest.fixture
    async def hers(self, board: Board, ada: Connection) -> str:
        """Return a task that Ada holds."""
        return await self.on_a_task(board, ada, "mend the roof")

    @pytest.fixture
    async def his(self, board: Board, bob: Connection) -> str:
        """Return a task that Bob holds."""
        return await self.on_a_task(board, bob, "paint the door")

    async def open(
        self, paths: PathClaims, *, task_id: str | None = None, path: str | None = None
    ) -> list[PathClaim]:
        """Return the claims that have not ended."""
        page = await paths.claims(ROOM, Query(task_id=task_id, path=path))
        return [view.claim for view in page.claims]

    # --- claiming

    @pytest.mark.rule("K84")
    async def test_a_claim_is_of_the_task_s_holder_under_its_epoch(
        self, paths: PathClaims, ada: Connection, hers: str
    ) -> None:
        granted = await paths.claim(ROOM, wanted(hers, "src/", root="/work"), ada.fence)
        lease = granted.claim.lease

        assert (granted.is_new, granted.claim.patterns) == (True, ("src",))
        assert (lease.agent_key, lease.epoch, lease.about) == (ada.session.agent_key, 1, hers)
        assert await self.open(paths) == [granted.claim]

    @pytest.mark.rule("K84")
    async def test_a_claim_has_the_epoch_of_the_hold_that_it_is_made_under(
        self, paths: PathClaims, board: Board, ada: Connection, hers: str
    ) -> None:
        await board.lease_action(ROOM, hers, Release(), ada.fence)
        await board.change(ROOM, hers, Patch(status=Status.ASSIGNED), ada.fence)
        granted = await paths.claim(ROOM, wanted(hers, "src", epoch=2), ada.fence)

        assert granted.claim.lease.epoch == 2

    @pytest.mark.rule("K84")
    async def test_nobody_claims_for_a_task_that_it_does_not_hold(
        self, paths: PathClaims, board: Board, ada: Connection, bob: Connection, hers: str
    ) -> None:
        free = (await board.propose(ROOM, Proposal(title="sweep"))).view.task.task_id

        with pytest.raises(LeaseHeld, match="Worker1"):
            await paths.claim(ROOM, wanted(hers, "src"), bob.fence)
        with pytest.raises(LeaseMissing):
            await paths.claim(ROOM, wanted(free, "src"), bob.fence)
        with pytest.raises(UnknownTask):
            await paths.claim(ROOM, wanted("task_99", "src"), bob.fence)
        with pytest.raises(LeaseFenceStale):
            await paths.claim(ROOM, wanted(hers, "src", epoch=7), ada.fence)
        assert await self.open(paths) == []

    @pytest.mark.rule("K84")
    async def test_a_person_claims_nothing(
        self, paths: PathClaims, rooms: RoomTransport, hers: str
    ) -> None:
        somebody = await rooms.connect(ROOM, person())

        with pytest.raises(WorkerRequired):
            await paths.claim(ROOM, wanted(hers, "src"), somebody.fence)

    @pytest.mark.rule("K85")
    async def test_who_is_refused_is_told_who_has_which_pattern_for_what(
        self, paths: PathClaims, ada: Connection, bob: Connection, hers: str, his: str
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "docs", "src/**/*.py"), ada.fence)

        with pytest.raises(PathsHeld) as refused:
            await paths.claim(ROOM, wanted(his, "test", "src/api/x.py"), bob.fence)
        for said in ("Worker1", "'src/api/x.py'", "'src/**/*.py'", hers, "paths_lease_1"):
            assert said in refused.value.happened
        assert ada.session.agent_key in refused.value.remedy
        assert len(await self.open(paths)) == 1

    @pytest.mark.rule("K85")
    @pytest.mark.parametrize(
        ("first", "second", "allowed"),
        [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
    )
    async def test_only_what_both_share_is_claimed_twice(
        self,
        paths: PathClaims,
        ada: Connection,
        bob: Connection,
        hers: str,
        his: str,
        first: bool,
        second: bool,
        allowed: bool,
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src", shared=first), ada.fence)
        theirs = wanted(his, "src/app.py", shared=second)
        if not allowed:
            with pytest.raises(PathsHeld):
                await paths.claim(ROOM, theirs, bob.fence)
        else:
            await paths.claim(ROOM, theirs, bob.fence)

        assert len(await self.open(paths)) == 1 + allowed

    @pytest.mark.rule("K85")
    async def test_repositories_of_one_room_do_not_meet_and_one_s_own_claims_neither(
        self, paths: PathClaims, ada: Connection, bob: Connection, hers: str, his: str
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src"), ada.fence)
        await paths.claim(ROOM, wanted(his, "src", repository="github.com/o/other"), bob.fence)
        await paths.claim(ROOM, wanted(hers, "src/app.py"), ada.fence)

        assert len(await self.open(paths)) == 3

    @pytest.mark.rule("K87")
    async def test_the_same_claim_again_is_the_same_claim(
        self, paths: PathClaims, ada: Connection, hers: str
    ) -> None:
        first = await paths.claim(ROOM, wanted(hers, "a", "b", root="/here"), ada.fence)
        again = await paths.claim(ROOM, wanted(hers, "b/", "./a", root="/there"), ada.fence)

        assert (again.is_new, again.claim.claim_id) == (False, first.claim.claim_id)
        assert [claim.root for claim in await self.open(paths)] == ["/there"]

    @pytest.mark.rule("K88")
    async def test_a_task_has_only_so_many_claims(
        self, paths: PathClaims, ada: Connection, hers: str
    ) -> None:
        for number in range(MOST_CLAIMS):
            await paths.claim(ROOM, wanted(hers, f"d{number}"), ada.fence)

        with pytest.raises(TooManyClaims, match=str(MOST_CLAIMS)):
            await paths.claim(ROOM, wanted(hers, "more"), ada.fence)

    @pytest.mark.rule("K90")
    async def test_of_many_who_claim_at_once_one_has_it(
        self,
        paths: PathClaims,
        paths_elsewhere: PathClaims,
        ada: Connection,
        bob: Connection,
        hers: str,
        his: str,
    ) -> None:
        outcomes: list[Granted | PathsHeld] = []

        async def claim(store: PathClaims, task_id: str, who: Connection) -> None:
            try:
                outcomes.append(await store.claim(ROOM, wanted(task_id, "src"), who.fence))
            except PathsHeld as refused:
                outcomes.append(refused)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(claim, paths, hers, ada)
            tasks.start_soon(claim, paths_elsewhere, his, bob)

        [claim_held] = await self.open(paths)
        [refusal] = [one for one in outcomes if isinstance(one, PathsHeld)]
        assert claim_held.claim_id in refusal.happened

    @pytest.mark.rule("K99", "L8")
    async def test_who_shows_an_epoch_that_is_over_neither_claims_nor_releases(
        self, paths: PathClaims, board: Board, ada: Connection, bob: Connection, hers: str
    ) -> None:
        await board.lease_action(ROOM, hers, Release(), ada.fence)
        await board.change(ROOM, hers, Patch(status=Status.ASSIGNED), ada.fence)
        claim = (await paths.claim(ROOM, wanted(hers, "src", epoch=2), ada.fence)).claim

        for late in (
            paths.claim(ROOM, wanted(hers, "docs", epoch=1), ada.fence),
            paths.claim(ROOM, wanted(hers, "src", root="/late", epoch=1), ada.fence),
            paths.release(ROOM, hers, epoch=1, fence=ada.fence),
            paths.release(ROOM, hers, claim_id=claim.claim_id, epoch=1, fence=ada.fence),
            paths.release(ROOM, hers, epoch=1, fence=bob.fence),
        ):
            with pytest.raises(
                LeaseFenceStale, match=r"epoch 1, .* Worker1 .* works on it .* epoch 2"
            ):
                await late
        assert await self.open(paths) == [claim]
        released = await paths.release(ROOM, hers, epoch=2, fence=ada.fence)
        assert [one.claim_id for one in released] == [claim.claim_id]

    @pytest.mark.rule("K99")
    async def test_where_nobody_has_the_task_there_is_nothing_to_release(
        self, paths: PathClaims, board: Board, ada: Connection, hers: str
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src", epoch=1), ada.fence)
        await board.lease_action(ROOM, hers, Release(), ada.fence)

        assert await paths.release(ROOM, hers, epoch=1, fence=ada.fence) == ()

    # --- what becomes of it

    @pytest.mark.rule("K86")
    async def test_what_a_silent_holder_claimed_is_free_for_who_wants_it(
        self,
        paths: PathClaims,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
        hers: str,
        his: str,
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src", "docs"), ada.fence)
        clock.pass_by(TERM - timedelta(seconds=1))
        with pytest.raises(PathsHeld):
            await paths.claim(ROOM, wanted(his, "src"), bob.fence)
        clock.pass_by(timedelta(seconds=1))
        [view] = (await paths.claims(ROOM, Query())).claims
        taken = await paths.claim(ROOM, wanted(his, "src"), bob.fence)

        assert not view.is_held
        assert await self.open(paths) == [taken.claim]

    @pytest.mark.rule("K84")
    async def test_a_claim_is_handed_over_with_its_task(
        self, paths: PathClaims, board: Board, ada: Connection, bob: Connection, hers: str
    ) -> None:
        before = await paths.claim(ROOM, wanted(hers, "src", root="/hers"), ada.fence)
        to = Handoff(target=Target(agent_key=bob.session.agent_key))
        await board.lease_action(ROOM, hers, to, ada.fence)
        [after] = await self.open(paths)
        with pytest.raises(LeaseHeld):
            await paths.claim(ROOM, wanted(hers, "more"), ada.fence)
        with pytest.raises(UnknownClaim, match="not yours"):
            await paths.release(ROOM, hers, claim_id=after.claim_id, fence=ada.fence)

        assert (after.lease.agent_key, after.lease.epoch) == (bob.session.agent_key, 2)
        assert (after.patterns, after.root) == (before.claim.patterns, None)
        assert after.claim_id != before.claim.claim_id

    @pytest.mark.rule("K84")
    async def test_a_claim_goes_on_in_its_checkout_with_the_agent_s_next_session(
        self, paths: PathClaims, board: Board, rooms: RoomTransport, ada: Connection
    ) -> None:
        before = await rooms.connect(ROOM, passing_chat(50))
        task_id = await self.on_a_task(board, before, "sweep")
        claimed = await paths.claim(ROOM, wanted(task_id, "src", root="/here"), before.fence)
        after = await rooms.connect(ROOM, passing_chat(51))
        [claim] = await self.open(paths)
        again = await paths.claim(ROOM, wanted(task_id, "src", root="/here"), after.fence)

        assert (claim.claim_id, claim.root) == (claimed.claim.claim_id, "/here")
        assert (claim.lease.session_id, claim.lease.epoch) == (after.session.session_id, 2)
        assert not again.is_new

    @pytest.mark.rule("K84")
    @pytest.mark.parametrize("way", ["released", "cancelled", "given away"])
    async def test_a_claim_ends_with_its_task_s_lease(
        self, paths: PathClaims, board: Board, ada: Connection, bob: Connection, hers: str, way: str
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src"), ada.fence)
        other = await self.on_a_task(board, ada, "sweep")
        kept = await paths.claim(ROOM, wanted(other, "docs"), ada.fence)
        if way == "released":
            await board.lease_action(ROOM, hers, Release(), ada.fence)
        elif way == "cancelled":
            await board.change(ROOM, hers, Patch(status=Status.CANCELLED))
        else:
            await board.change(ROOM, hers, Patch(assignee=Assignee.of(bob.session)))

        assert await self.open(paths) == [kept.claim]

    @pytest.mark.rule("K84", "K86")
    async def test_a_claim_ends_when_another_takes_the_task_of_a_silent_holder(
        self,
        paths: PathClaims,
        board: Board,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
        hers: str,
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src"), ada.fence)
        clock.pass_by(TERM)
        await board.change(ROOM, hers, Patch(status=Status.ASSIGNED), bob.fence)

        assert await self.open(paths) == []

    async def test_who_releases_ends_its_own_alone(
        self, paths: PathClaims, ada: Connection, bob: Connection, hers: str, his: str
    ) -> None:
        first = await paths.claim(ROOM, wanted(hers, "a"), ada.fence)
        second = await paths.claim(ROOM, wanted(hers, "b"), ada.fence)
        theirs = await paths.claim(ROOM, wanted(his, "c"), bob.fence)
        [one] = await paths.release(ROOM, hers, claim_id=first.claim.claim_id, fence=ada.fence)
        with pytest.raises(UnknownClaim):
            await paths.release(ROOM, hers, claim_id=first.claim.claim_id, fence=ada.fence)
        with pytest.raises(UnknownClaim, match="Worker2"):
            await paths.release(ROOM, his, claim_id=theirs.claim.claim_id, fence=ada.fence)
        nothing = await paths.release(ROOM, his, fence=ada.fence)
        rest = await paths.release(ROOM, hers, fence=ada.fence)

        assert one.lease.status is LeaseStatus.RELEASED
        assert ([claim.claim_id for claim in rest], nothing) == ([second.claim.claim_id], ())
        assert await self.open(paths) == [theirs.claim]

    # --- reading, and who may

    @pytest.mark.rule("K91", "K92")
    async def test_pages_hold_all_claims_in_order_wherever_they_are_read(
        self,
        paths: PathClaims,
        paths_elsewhere: PathClaims,
        ada: Connection,
        bob: Connection,
        hers: str,
        his: str,
    ) -> None:
        for number in range(3):
            await paths.claim(ROOM, wanted(hers, f"a{number}"), ada.fence)
            await paths.claim(ROOM, wanted(his, f"b{number}/*.py"), bob.fence)
        numbers, after = [], 0
        for _ in range(2):
            page = await paths_elsewhere.claims(ROOM, Query(after=after, limit=4), ada.fence)
            numbers += [view.claim.lease.number for view in page.claims]
            after = page.last
        of_his = await self.open(paths_elsewhere, task_id=his)
        of_path = await self.open(paths_elsewhere, path="b1/x.py")

        assert (numbers, page.more) == ([1, 2, 3, 4, 5, 6], False)
        assert [claim.lease.number for claim in of_his] == [2, 4, 6]
        assert [claim.patterns for claim in of_path] == [("b1/*.py",)]

    @pytest.mark.rule("K93")
    async def test_a_replaced_connection_does_nothing_with_paths(
        self, paths: PathClaims, rooms: RoomTransport, ada: Connection, hers: str
    ) -> None:
        kept = await paths.claim(ROOM, wanted(hers, "src"), ada.fence)
        await rooms.connect(ROOM, arrival(1, 11, after=ada))

        with pytest.raises(ConnectionReplaced):
            await paths.claim(ROOM, wanted(hers, "docs"), ada.fence)
        with pytest.raises(ConnectionReplaced):
            await paths.release(ROOM, hers, fence=ada.fence)
        with pytest.raises(ConnectionReplaced):
            await paths.claims(ROOM, Query(), ada.fence)
        assert await self.open(paths) == [kept.claim]

    async def test_a_room_knows_nothing_of_another_s_claims(
        self, paths: PathClaims, rooms: RoomTransport, ada: Connection, hers: str
    ) -> None:
        await paths.claim(ROOM, wanted(hers, "src"), ada.fence)
        await rooms.join(RoomId("elsewhere"))

        assert (await paths.claims(RoomId("elsewhere"), Query())).claims == ()
