"""What every store of artifacts does: give the suite `rooms` and `artifacts`."""

from datetime import timedelta

import pytest

from letagents.domain.artifacts import MOST_TASKS, artifact, cursor
from letagents.domain.errors import ConnectionLost, Malformed
from letagents.domain.ids import RoomId
from letagents.domain.room_events import wanted
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Artifact, UnknownTask
from letagents.ports.artifacts import Artifacts, SharedArtifacts
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, arrival
from letagents.testing.determinism import ManualClock

NO_TASK = "task_999"
"""A task that the room does not have; it has task_1 to task_200."""


def pull(number: int, **more: object) -> Artifact:
    """Return a pull request."""
    return artifact({"provider": "github", "kind": "pull_request", "number": number, **more})


def numbers(page: SharedArtifacts) -> list[int | None]:
    """Return which pull requests a page holds."""
    return [one.artifact.number for one in page.artifacts]


@pytest.mark.anyio
class ArtifactsContract(RoomCallers):
    """Needs fixtures `rooms` and `artifacts`; may have `artifacts_elsewhere`."""

    @pytest.fixture
    def artifacts_elsewhere(self, artifacts: Artifacts) -> Artifacts:
        """Return the artifacts as another process has them, where there can be one."""
        return artifacts

    @pytest.mark.rule("K44")
    async def test_what_was_published_is_there_for_everybody(
        self, artifacts: Artifacts, artifacts_elsewhere: Artifacts, ada: Connection
    ) -> None:
        made = await artifacts.publish(ROOM, pull(3, title="Gears"), ["task_1"], ada.fence)

        assert await artifacts_elsewhere.artifacts(ROOM) == SharedArtifacts((made,))
        assert (made.source, made.published_by.label) == ("agent", ada.session.actor_label)

    @pytest.mark.rule("K41")
    async def test_the_same_identity_again_is_the_same_artifact(
        self, artifacts: Artifacts, ada: Connection, bob: Connection, clock: ManualClock
    ) -> None:
        first = await artifacts.publish(
            ROOM, pull(3, title="Gears", state="open"), ["task_1"], ada.fence
        )
        clock.pass_by(timedelta(minutes=1))
        second = await artifacts.publish(ROOM, pull(3, state="merged"), ["task_2"], bob.fence)

        assert (second.artifact.title, second.artifact.state) == ("Gears", "merged")
        assert second.task_ids == ("task_1", "task_2")
        assert second.first_seen_at == first.first_seen_at
        assert second.updated_at > first.updated_at
        assert await artifacts.artifacts(ROOM) == SharedArtifacts((second,))
        assert await artifacts.publish(ROOM, pull(3), (), ada.fence) == second

    @pytest.mark.rule("K45")
    async def test_the_newest_come_first_and_a_cursor_finds_all(
        self, artifacts: Artifacts, ada: Connection
    ) -> None:
        for number in range(1, 8):
            await artifacts.publish(ROOM, pull(number), [f"task_{number % 2 + 1}"], ada.fence)
        await artifacts.publish(ROOM, pull(1, state="merged"), (), ada.fence)

        assert numbers(await artifacts.artifacts(ROOM)) == [7, 6, 5, 4, 3, 2, 1]
        assert numbers(await artifacts.artifacts(ROOM, task_id="task_2")) == [7, 5, 3, 1]
        found: list[int | None] = []
        more, after = True, None
        while more:
            page = await artifacts.artifacts(ROOM, task_id="task_2", after=after, limit=3)
            found, more, after = found + numbers(page), page.more, cursor(page.artifacts[-1])
        assert found == [7, 5, 3, 1]
        with pytest.raises(Malformed, match="cursor"):
            await artifacts.artifacts(ROOM, after="nothing")

    @pytest.mark.rule("K43")
    async def test_it_is_linked_to_tasks_that_are_there_and_not_to_too_many(
        self, artifacts: Artifacts, ada: Connection
    ) -> None:
        with pytest.raises(UnknownTask):
            await artifacts.publish(ROOM, pull(1), ["task_1", NO_TASK], ada.fence)
        assert numbers(await artifacts.artifacts(ROOM)) == []

        for number in range(1, MOST_TASKS + 1):
            await artifacts.publish(ROOM, pull(1), [f"task_{number}"], ada.fence)
        with pytest.raises(Malformed):
            await artifacts.publish(ROOM, pull(1), ["task_150"], ada.fence)
        assert numbers(await artifacts.artifacts(ROOM, task_id="task_150")) == []

    async def test_a_replaced_connection_publishes_nothing(
        self, rooms: RoomTransport, artifacts: Artifacts, ada: Connection
    ) -> None:
        await rooms.connect(ROOM, arrival(1, 41, after=ada))

        with pytest.raises(ConnectionLost):
            await artifacts.publish(ROOM, pull(1), (), ada.fence)
        assert numbers(await artifacts.artifacts(ROOM)) == []

    async def test_rooms_have_their_own(
        self, rooms: RoomTransport, artifacts: Artifacts, ada: Connection
    ) -> None:
        await rooms.join(RoomId("elsewhere"))
        await artifacts.publish(ROOM, pull(1), (), ada.fence)

        assert numbers(await artifacts.artifacts(RoomId("elsewhere"))) == []


class NoForgeContract(RoomCallers):
    """For rooms of one machine."""

    @pytest.mark.anyio
    @pytest.mark.rule("K51")
    async def test_there_are_no_events_and_it_is_said_why(
        self, artifacts: Artifacts, ada: Connection
    ) -> None:
        found = await artifacts.events(ROOM, wanted({"event_type": "push"}), ada.fence)

        assert (found.events, found.more) == ((), False)
        assert "hosted rooms only" in (found.note or "")
