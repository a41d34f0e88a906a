"""What becomes of posts that shared a transaction which broke."""

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar, cast

import anyio
import attrs
import pytest
from tests.integration.postgres_processes import rooms_in
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms import local_posts
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.rosters import Rosters
from letagents.adapters.rooms.writer import Post, Writer
from letagents.adapters.sql.database import Unit
from letagents.domain.errors import (
    ConnectionReplaced,
    KeyReused,
    LetAgentsError,
    OutcomeUnknown,
    RoomsUnavailable,
    UnknownRoom,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import MessageId, RoomId, SessionId, Token
from letagents.domain.messages import Draft, Message
from letagents.testing.contracts.room_callers import ADA, BOB, ROOM, arrival, draft
from letagents.testing.determinism import ManualClock

T = TypeVar("T")

HARBOUR = RoomId("harbour")

LOST = OutcomeUnknown("No answer.", remedy="Read.")
AWAY = RoomsUnavailable("It is away.", remedy="Call again.")


@attrs.define
class Breaking:
    """A store whose writes are done, and whose answers are lost as a test has planned."""

    kept: LocalStore
    failures: list[LetAgentsError]

    @property
    def rosters(self) -> Rosters:
        return self.kept.rosters

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        done = self.kept.write(work, *held)
        if self.failures:
            raise self.failures.pop(0)
        return done


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LocalStore]:
    store = LocalStore.at(tmp_path / "rooms.db")
    yield store
    store.close()


@pytest.fixture
def posts(tmp_path: Path) -> list[Post]:
    rooms = rooms_at(tmp_path / "rooms.db")

    async def arrive() -> list[Post]:
        await rooms.join(ROOM)
        ada = await rooms.connect(ROOM, arrival(ADA, 1))
        return [Post(ROOM, draft(text), ada.fence) for text in ("one", "two", "three")]

    made = anyio.run(arrive)
    rooms.close()
    return made


def outcomes(store: LocalStore, posts: list[Post], *failures: LetAgentsError) -> list[object]:
    breaking = Breaking(store, list(failures))
    done = local_posts.post_all(cast("LocalStore", breaking), posts, ManualClock())
    return [one.id.number if isinstance(one, Message) else one for one in done]


@pytest.mark.rule("R5", "R10")
def test_posts_whose_answer_was_lost_together_are_told_one_by_one_what_they_became(
    store: LocalStore, posts: list[Post]
) -> None:
    assert outcomes(store, posts, LOST) == [1, 2, 3]


@pytest.mark.rule("R10")
def test_what_may_have_been_said_is_never_told_as_refused(
    store: LocalStore, posts: list[Post]
) -> None:
    assert outcomes(store, posts, LOST, AWAY) == [LOST, LOST, LOST]
    assert outcomes(store, posts) == [1, 2, 3]


@pytest.mark.rule("R3", "R5")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_posts_of_one_transaction_become_what_they_would_one_after_another(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = tmp_path / "a.db" if kind == "sqlite" else str(request.getfixturevalue("postgres"))
    rooms = rooms_at(place) if isinstance(place, Path) else rooms_in(place, NoNudges())
    one, other, third = ADA, BOB, RoomId("never made")

    async def arrive() -> list[Post]:
        for room_id in (ROOM, HARBOUR):
            await rooms.join(room_id)
        ada = (await rooms.connect(ROOM, arrival(one, 1))).fence
        bob = (await rooms.connect(ROOM, arrival(other, 2))).fence
        afar = (await rooms.connect(HARBOUR, arrival(one, 3))).fence
        nobody = attrs.evolve(ada, token=Token(43 * "x"))
        return [
            Post(ROOM, draft("a"), ada),
            Post(HARBOUR, draft("a"), afar),
            Post(ROOM, draft("b"), bob),
            Post(ROOM, draft("a"), ada),
            Post(ROOM, Draft("not a", draft("a").key), ada),
            Post(third, draft("c"), ada),
            Post(ROOM, draft("e"), nobody),
            Post(ROOM, Draft("d", draft("d").key, reply_to=MessageId(1)), ada),
            Post(HARBOUR, draft("d"), afar),
        ]

    posts = anyio.run(arrive)
    store = LocalStore.at(place)
    together = local_posts.post_all(store, posts, ManualClock())
    again = [local_posts.post_all(store, [one], ManualClock())[0] for one in posts]
    store.close()
    rooms.close()

    told = [one.id.number if isinstance(one, Message) else type(one) for one in together]
    assert told == [1, 1, 2, 1, KeyReused, UnknownRoom, ConnectionReplaced, 3, 2]
    assert [str(one) for one in again] == [str(one) for one in together]


async def test_who_posts_alone_after_others_that_posted_together_is_answered_too() -> None:
    shared: list[int] = []

    def post_all(posts: Sequence[Post]) -> Sequence[Message | Exception]:
        shared.append(len(posts))
        return [AWAY] * len(posts)

    writer = Writer(post_all, lambda: None)
    one = Post(ROOM, draft("a"), Fence(SessionId("s"), 1, Token(43 * "x")))
    held = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writer.do, lambda: held.wait(30))  # so that the next two wait together
        for _ in range(2):
            tasks.start_soon(_refused, writer, one)
        await anyio.wait_all_tasks_blocked()
        held.set()
    with anyio.fail_after(30):
        await _refused(writer, one)
        await _refused(writer, one)
    await anyio.to_thread.run_sync(writer.close)

    assert shared == [2, 1, 1]


async def _refused(writer: Writer, post: Post) -> None:
    with pytest.raises(RoomsUnavailable):
        await writer.post(post)
