"""What a client shows of the leases that its sessions have, without being told to."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import attrs
import pytest
from tests.contract.kept_rooms import KeptRooms

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.book import Book
from letagents.adapters.rooms.evidence import ToldProcesses, UnknownProcesses
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.application.board import Boards
from letagents.application.connections import Connections
from letagents.application.epochs import MOST, REVIEW, WORK, Known
from letagents.application.path_claims import Paths
from letagents.domain.board import Handoff, Query, Release, ReviewClaim, Target
from letagents.domain.errors import ConnectionReplaced
from letagents.domain.fencing import Fence
from letagents.domain.git_rooms import Checkout
from letagents.domain.ids import RoomId
from letagents.domain.leases import LeaseFenceStale, LeaseMissing
from letagents.domain.path_claims import Mode
from letagents.domain.path_claims import Query as ClaimQuery
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.ports.surroundings import Place, Written
from letagents.testing.contracts.room_callers import (
    ADA,
    BOB,
    ROOM,
    arrival,
    passing_chat,
    worker,
)
from letagents.testing.contracts.task_holders import CLAIM, SHA, TERM, to
from letagents.testing.determinism import CountingIds, ManualClock

pytestmark = pytest.mark.anyio

T = TypeVar("T")


@attrs.define
class Waylaid:
    """Hands out the books of rooms, and lets things happen on the way.

    `first` happens just before the next change begins its transaction, `then` after the next look
    has ended its own.
    """

    rooms: KeptRooms
    first: Callable[[], Awaitable[object]] | None = None
    then: Callable[[], Awaitable[object]] | None = None

    async def change(
        self, room_id: RoomId, work: Callable[[Book], T], fence: Fence | None = None
    ) -> T:
        if (first := self.first) is not None:
            self.first = None
            await first()
        return await self.rooms.change(room_id, work, fence)

    async def look(
        self, room_id: RoomId, work: Callable[[Book], T], viewer: Fence | None = None
    ) -> T:
        found = await self.rooms.look(room_id, work, viewer)
        if (then := self.then) is not None:
            self.then = None
            await then()
        return found


class OneCheckout:
    """There is one checkout, wherever one looks."""

    async def look(self, cwd: str | None = None) -> Place:
        return Place("/work", checkout=Checkout("/work", repository="github.com/o/r"))

    async def choose(self, root: str, room_id: RoomId) -> Written:
        return Written(root)


@attrs.define
class Client:
    """One client, whose calls something may hold up."""

    way: Waylaid
    held: Connections = attrs.field(factory=Connections)

    @property
    def board(self) -> Boards:
        return Boards(lambda: KeptBoard(self.way, TERM), self.held, CountingIds())

    @property
    def paths(self) -> Paths:
        return Paths(lambda: KeptPaths(self.way, TERM), self.held, OneCheckout())

    def knows(self, connection: Connection) -> dict[str, Known]:
        return dict(self.held.epochs.of(connection))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "local"])
async def rooms(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock
) -> AsyncIterator[KeptRooms]:
    if request.param == "memory":
        yield MemoryRooms(CountingIds(), clock, UnknownProcesses())
        return
    local = LocalRooms(tmp_path / "rooms.db", CountingIds(), clock, NoNudges(), term=TERM)
    yield local
    await local.aclose()


@pytest.fixture
def client(rooms: KeptRooms) -> Client:
    return Client(Waylaid(rooms))


@pytest.fixture
def others(rooms: KeptRooms) -> KeptBoard:
    """Return the board as others have it."""
    return KeptBoard(rooms, TERM)


@pytest.fixture
async def ada(rooms: KeptRooms) -> Connection:
    await rooms.join(ROOM)
    return await rooms.connect(ROOM, arrival(ADA, 1))


@pytest.fixture
async def bob(rooms: KeptRooms, ada: Connection) -> Connection:
    return await rooms.connect(ROOM, arrival(BOB, 2))


@pytest.fixture
async def eve(rooms: KeptRooms, ada: Connection) -> Connection:
    return await rooms.connect(ROOM, arrival(3, 3))


Act = Callable[[Client, Connection], Any]

SAID = Verdict(kind=VerdictKind.APPROVE, head_sha=SHA, key="k")
TO_BOB = Handoff(target=Target(agent_key=arrival(BOB, 2).agent_key))


def changing(patch: Patch) -> Act:
    return lambda client, by: client.board.change(by, "task_1", patch)


WORKS: dict[str, Act] = {
    "attach": changing(Patch(pr_url="https://x/1")),
    "attach and claim": changing(Patch(status=Status.ASSIGNED, pr_url="https://x/1")),
    "go on": changing(to(Status.IN_PROGRESS)),
    "complete": changing(to(Status.IN_REVIEW)),
    "cancel": changing(to(Status.CANCELLED)),
    "let go": lambda client, by: client.board.lease_action(by, "task_1", Release()),
    "hand over": lambda client, by: client.board.lease_action(by, "task_1", TO_BOB),
    "claim paths": lambda client, by: client.paths.claim(
        by, "task_1", ["docs"], mode=Mode.EXCLUSIVE
    ),
    "release paths": lambda client, by: client.paths.release(by, "task_1"),
    "release a claim": lambda client, by: client.paths.release(by, "task_1", "paths_lease_1"),
}
REVIEWS: dict[str, Act] = {
    "send back": changing(to(Status.BLOCKED)),
    "close": changing(to(Status.DONE)),
    "verdict": lambda client, by: client.board.verdict(by, "task_1", SAID),
    "let go": lambda client, by: client.board.review_action(by, "task_1", Release()),
}


async def kept(client: Client) -> tuple[object, object]:
    """Return all that is to be seen of the task."""
    history = await KeptBoard(client.way.rooms, TERM).history(ROOM, "task_1")
    return history, await KeptPaths(client.way.rooms, TERM).claims(ROOM, ClaimQuery())


@pytest.mark.rule("B1", "K99", "L8")
@pytest.mark.parametrize("act", WORKS.values(), ids=WORKS)
async def test_a_call_that_is_late_does_nothing_under_work_that_is_one_s_own_again(
    act: Act,
    client: Client,
    others: KeptBoard,
    clock: ManualClock,
    ada: Connection,
    bob: Connection,
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)
    found: list[object] = []

    async def lost_and_claimed_anew() -> None:
        clock.pass_by(TERM)
        await others.change(ROOM, "task_1", CLAIM, bob.fence)
        await others.lease_action(ROOM, "task_1", Release(), bob.fence)
        await client.board.change(ada, "task_1", CLAIM)
        await client.paths.claim(ada, "task_1", ["src"], mode=Mode.EXCLUSIVE)
        found.append(await kept(client))

    client.way.first = lost_and_claimed_anew
    with pytest.raises(LeaseFenceStale, match=r"epoch 1, .* Worker1 .* works on it .* epoch 3"):
        await act(client, ada)
    assert await kept(client) == found[0]
    await act(client, ada)
    assert await kept(client) != found[0]


@pytest.mark.rule("B1", "L8")
@pytest.mark.parametrize("act", REVIEWS.values(), ids=REVIEWS)
async def test_a_call_that_is_late_does_nothing_under_a_review_that_is_one_s_own_again(
    act: Act,
    client: Client,
    others: KeptBoard,
    clock: ManualClock,
    ada: Connection,
    bob: Connection,
    eve: Connection,
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await others.change(ROOM, "task_1", CLAIM, ada.fence)
    await others.change(ROOM, "task_1", to(Status.IN_REVIEW), ada.fence)
    await client.board.review_action(bob, "task_1", ReviewClaim())
    found: list[object] = []

    async def lost_and_claimed_anew() -> None:
        clock.pass_by(TERM)
        await others.review_action(ROOM, "task_1", ReviewClaim(), eve.fence)
        await others.review_action(ROOM, "task_1", Release(), eve.fence)
        await client.board.review_action(bob, "task_1", ReviewClaim())
        found.append(await kept(client))

    client.way.first = lost_and_claimed_anew
    with pytest.raises(LeaseFenceStale, match=r"epoch 1, .* Worker2 .* reviews it .* epoch 3"):
        await act(client, bob)
    assert await kept(client) == found[0]
    await act(client, bob)
    assert await kept(client) != found[0]


@pytest.mark.rule("L8")
async def test_what_was_meant_as_work_is_no_review_when_it_comes_late(
    client: Client, others: KeptBoard, clock: ManualClock, ada: Connection, bob: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)
    await client.board.change(ada, "task_1", to(Status.IN_PROGRESS))

    async def another_works_and_she_reviews() -> None:
        clock.pass_by(TERM)
        await others.change(ROOM, "task_1", CLAIM, bob.fence)
        await others.change(ROOM, "task_1", to(Status.IN_REVIEW), bob.fence)
        await client.board.review_action(ada, "task_1", ReviewClaim())

    client.way.first = another_works_and_she_reviews
    with pytest.raises(LeaseFenceStale, match="The work lease of task_1 had epoch 1"):
        await client.board.change(ada, "task_1", to(Status.BLOCKED))
    assert client.knows(ada) == {"task_1": Known(REVIEW, 1)}
    await client.board.change(ada, "task_1", to(Status.BLOCKED))


async def test_a_client_knows_of_its_leases_what_it_was_told(
    client: Client, others: KeptBoard, ada: Connection, bob: Connection
) -> None:
    for title in ("mend the roof", "paint the door", "sweep"):
        await others.propose(ROOM, Proposal(title=title))
    await client.board.change(ada, "task_1", CLAIM)
    await others.change(ROOM, "task_2", CLAIM, bob.fence)
    to_ada = Handoff(target=Target(agent_key=ada.session.agent_key))
    await others.lease_action(ROOM, "task_2", to_ada, bob.fence)
    await others.change(ROOM, "task_3", CLAIM, bob.fence)
    await others.change(ROOM, "task_3", to(Status.IN_REVIEW), bob.fence)
    claimed = client.knows(ada)
    await client.board.tasks(ROOM, Query(), ada)
    read = client.knows(ada)
    await client.board.review_action(ada, "task_3", ReviewClaim())

    assert claimed == {"task_1": Known(WORK, 1)}
    assert read == {"task_1": Known(WORK, 1), "task_2": Known(WORK, 2)}
    assert client.knows(ada) == read | {"task_3": Known(REVIEW, 1)}
    assert client.knows(bob) == {}


async def test_what_was_handed_over_is_known_from_the_first_paths_that_are_claimed_for_it(
    client: Client, others: KeptBoard, ada: Connection, bob: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await others.change(ROOM, "task_1", CLAIM, ada.fence)
    await others.lease_action(ROOM, "task_1", TO_BOB, ada.fence)
    await client.paths.claim(bob, "task_1", ["src"], mode=Mode.SHARED)

    assert client.knows(bob) == {"task_1": Known(WORK, 2)}


async def test_a_client_forgets_what_has_ended(
    client: Client, others: KeptBoard, ada: Connection, bob: Connection
) -> None:
    for title in ("mend the roof", "paint the door", "sweep", "wash up"):
        await others.propose(ROOM, Proposal(title=title))
    for number in (1, 2, 3, 4):
        await client.board.change(ada, f"task_{number}", CLAIM)
    await client.board.lease_action(ada, "task_1", Release())
    await client.board.lease_action(ada, "task_2", TO_BOB)
    await client.board.change(ada, "task_3", to(Status.CANCELLED))
    await others.change(ROOM, "task_4", to(Status.CANCELLED))
    before = client.knows(ada)
    await client.board.task(ROOM, "task_4", ada)

    assert before == {"task_4": Known(WORK, 1)}
    assert client.knows(ada) == {}


async def test_who_was_refused_goes_on_under_what_it_has(
    client: Client, others: KeptBoard, ada: Connection, bob: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)
    await others.lease_action(ROOM, "task_1", TO_BOB, ada.fence)
    to_ada = Handoff(target=Target(agent_key=ada.session.agent_key))
    await others.lease_action(ROOM, "task_1", to_ada, bob.fence)
    with pytest.raises(LeaseFenceStale, match="epoch 3"):
        await client.board.change(ada, "task_1", to(Status.IN_PROGRESS))
    unknown = client.knows(ada)
    await client.board.change(ada, "task_1", to(Status.IN_PROGRESS))

    assert (unknown, client.knows(ada)) == ({}, {"task_1": Known(WORK, 3)})


async def test_who_is_told_that_it_has_nothing_any_more_knows_of_nothing(
    client: Client, others: KeptBoard, ada: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)
    await others.lease_action(ROOM, "task_1", Release())
    with pytest.raises(LeaseMissing):
        await client.board.change(ada, "task_1", Patch(pr_url="https://x/1"))

    assert client.knows(ada) == {}


async def test_an_epoch_that_a_call_names_is_what_is_shown(
    client: Client, others: KeptBoard, ada: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)
    for late in (
        client.board.change(ada, "task_1", to(Status.IN_PROGRESS), epoch=7),
        client.board.lease_action(ada, "task_1", Release(epoch=7)),
        client.paths.claim(ada, "task_1", ["src"], mode=Mode.SHARED, epoch=7),
        client.paths.release(ada, "task_1", epoch=7),
    ):
        with pytest.raises(LeaseFenceStale, match="had epoch 7"):
            await late

    assert client.knows(ada) == {"task_1": Known(WORK, 1)}


async def test_what_is_read_late_does_not_hide_what_is_known_since(
    client: Client, others: KeptBoard, ada: Connection, bob: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(ada, "task_1", CLAIM)

    async def lost_and_claimed_anew() -> None:
        await client.board.lease_action(ada, "task_1", Release())
        await client.board.change(ada, "task_1", CLAIM)

    client.way.then = lost_and_claimed_anew
    await client.board.tasks(ROOM, Query(), ada)

    assert client.knows(ada) == {"task_1": Known(WORK, 2)}


async def test_who_arrives_knows_what_it_has_and_no_more(
    client: Client, rooms: KeptRooms, others: KeptBoard, ada: Connection
) -> None:
    for title in ("mend the roof", "paint the door"):
        await others.propose(ROOM, Proposal(title=title))
    client.held.hold(worker(ADA), ROOM, ada, rooms=(ROOM,))
    await client.board.change(ada, "task_1", CLAIM)
    await client.board.change(ada, "task_2", CLAIM)
    elsewhere = await rooms.connect(ROOM, arrival(ADA, 4, after=ada))
    await others.lease_action(ROOM, "task_1", Release(), elsewhere.fence)
    await others.change(ROOM, "task_1", CLAIM, elsewhere.fence)
    await others.lease_action(ROOM, "task_2", Release(), elsewhere.fence)
    back = await rooms.connect(ROOM, arrival(ADA, 5, after=elsewhere))
    client.held.hold(worker(ADA), ROOM, back, rooms=(ROOM,))
    arrived = client.knows(back)
    with pytest.raises(ConnectionReplaced):
        await client.board.change(ada, "task_1", to(Status.IN_PROGRESS))

    assert arrived == {"task_1": Known(WORK, 2)}
    assert client.knows(back) == arrived, "it is the earlier connection that was refused"
    await client.board.change(back, "task_1", to(Status.IN_PROGRESS))


async def test_who_has_lost_its_connection_knows_nothing(
    client: Client, rooms: KeptRooms, others: KeptBoard, ada: Connection
) -> None:
    await others.propose(ROOM, Proposal(title="mend the roof"))
    client.held.hold(worker(ADA), ROOM, ada, rooms=(ROOM,))
    await client.board.change(ada, "task_1", CLAIM)
    await rooms.connect(ROOM, arrival(ADA, 4, after=ada))
    with pytest.raises(ConnectionReplaced):
        await client.board.change(ada, "task_1", to(Status.IN_PROGRESS))

    assert client.knows(ada) == {}


async def test_a_chat_without_a_handle_knows_what_its_next_session_took_up() -> None:
    processes = ToldProcesses("one")
    rooms = MemoryRooms(CountingIds(), ManualClock(), processes)
    client, others = Client(Waylaid(rooms)), KeptBoard(rooms, TERM)
    await rooms.join(ROOM)
    first = await rooms.connect(ROOM, passing_chat(50))
    client.held.hold_own(first)
    await others.propose(ROOM, Proposal(title="mend the roof"))
    await client.board.change(first, "task_1", CLAIM)
    second = await rooms.connect(ROOM, passing_chat(51))
    client.held.hold_own(second)

    assert client.knows(second) == {"task_1": Known(WORK, 2)}


async def test_what_a_client_knows_is_bounded() -> None:
    held = Connections()
    rooms = MemoryRooms(CountingIds(), ManualClock())
    await rooms.join(ROOM)
    ada = await rooms.connect(ROOM, arrival(ADA, 1))
    for number in range(MOST + 10):
        held.epochs.learn(ada, f"task_{number}", Known(WORK, 1), held.epochs.of(ada))
    known = held.epochs.of(ada)

    assert (len(known), "task_9" in known, "task_10" in known) == (MOST, False, True)
