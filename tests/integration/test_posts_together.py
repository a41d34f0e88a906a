"""What becomes of posts that shared a transaction which broke."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar, cast

import anyio
import attrs
import pytest
from tests.integration.rooms_processes import rooms_at

from letagents.adapters.rooms import local_posts
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.rooms.rosters import Rosters
from letagents.adapters.rooms.writer import Post
from letagents.adapters.sql.database import Unit
from letagents.domain.errors import LetAgentsError, OutcomeUnknown, RoomsUnavailable
from letagents.domain.messages import Message
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft
from letagents.testing.determinism import ManualClock

T = TypeVar("T")

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
