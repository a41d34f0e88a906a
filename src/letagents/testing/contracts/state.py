"""What every StateStore does: inherit the suite and give it its fixtures.

    class TestMyState(StateStoreContract):
        @pytest.fixture
        def store(self, tmp_path: Path) -> StateStore:
            return MyState(tmp_path / "state")

        @pytest.fixture
        def reopen(self, tmp_path: Path) -> Callable[[], StateStore]:
            return lambda: MyState(tmp_path / "state")

`unusable` is a store on a place that cannot be used. `damaged` is one on a place whose content is
no state, with a function that returns that content as it is now.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import anyio
import attrs
import pytest

from letagents.domain import connections, local_state, workers
from letagents.domain.errors import StateDamaged, StateUnavailable
from letagents.domain.ids import RegistrationKey, RoomId, Token, WorkerId
from letagents.domain.local_state import (
    LocalState,
    Pending,
    RoomSession,
    StoredSession,
    Worker,
    WorkerRoom,
)
from letagents.ports.state import StateStore

ROOM = RoomId("workshop")
SCOPE = "https://letagents.example\nada"
NOW = datetime(2030, 1, 1, 12, 30, 15, 123_000, tzinfo=UTC)

Damaged = tuple[StateStore, Callable[[], bytes]]


def worker_id(number: int) -> WorkerId:
    """Return the `number`-th worker's handle."""
    return WorkerId(f"worker_{number:032x}")


def secret(number: int) -> Token:
    """Return the `number`-th secret."""
    return Token(f"s{number:042d}")


def stored(number: int = 1) -> StoredSession:
    """Return the session of the `number`-th worker in the room."""
    return StoredSession(
        session_id=f"local_{number}",
        session_token=secret(number),
        room_id=str(ROOM),
        agent_instance_id=str(worker_id(number)),
        agent_key=f"ada/worker-{number:032x}",
        display_name=f"Worker{number}",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )


def registered(number: int) -> Callable[[LocalState], tuple[LocalState, Worker]]:
    """Return the decision that makes the `number`-th worker."""
    return lambda state: workers.ensure(
        state,
        scope=SCOPE,
        key=RegistrationKey(f"key {number}"),
        fresh=worker_id(number),
        display_name=f"Worker{number}",
    )


def with_unknown_parts() -> LocalState:
    """Return a state in which each kind of record holds something that no rule interprets."""
    odd = {"from_the_future": {"ünïcode": [1, None, True, "\u2028"]}}
    pending = Pending("an operation", secret(2), extra=odd)
    room = RoomSession(room_id=str(ROOM), joined_at=NOW, last_seen_at=NOW, extra=odd)
    place = WorkerRoom("local_1", pending, extra=odd)
    worker = Worker(worker_id(1), SCOPE, "a hash", "Worker1", {str(ROOM): place}, extra=odd)
    return LocalState(
        workers={worker.worker_id: worker},
        sessions={"local_1": attrs.evolve(stored(), extra=odd)},
        current_room=room,
        rooms={room.room_id: room},
        extra={"auth": {"token": "kept", "account": {"login": "ada"}}, **odd},
    )


@pytest.mark.anyio
class StateStoreContract:
    """Needs the fixtures `store`, `reopen`, `unusable` and `damaged`."""

    @pytest.mark.rule("S1")
    async def test_a_decision_is_given_what_the_one_before_it_made(self, store: StateStore) -> None:
        first = await store.transact(registered(1))
        again = await store.transact(registered(1))

        assert again == first
        assert list((await store.read()).workers) == [worker_id(1)]

    @pytest.mark.rule("S1")
    async def test_decisions_of_many_at_once_are_all_kept(
        self, store: StateStore, reopen: Callable[[], StateStore]
    ) -> None:
        others = [store, reopen(), reopen()]
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                for number in range(1, 31):
                    group.start_soon(others[number % 3].transact, registered(number))

        kept = set((await store.read()).workers)
        assert kept == {worker_id(number) for number in range(1, 31)}

    @pytest.mark.rule("S2")
    async def test_a_decision_that_raises_changes_nothing(self, store: StateStore) -> None:
        await store.transact(registered(1))
        before = await store.read()

        def change_of_mind(state: LocalState) -> tuple[LocalState, None]:
            registered(2)(state)
            raise FileExistsError("the decision's own error")

        with pytest.raises(FileExistsError, match="the decision's own error"):
            await store.transact(change_of_mind)
        assert await store.read() == before

    @pytest.mark.rule("S3")
    async def test_what_was_written_is_read_by_another_store(
        self, store: StateStore, reopen: Callable[[], StateStore]
    ) -> None:
        def everything(state: LocalState) -> tuple[LocalState, None]:
            state, worker = registered(1)(state)
            state, pending = connections.begin(
                state, worker.worker_id, ROOM, operation_id="first", token=secret(1)
            )
            state = connections.finish(
                state, worker.worker_id, ROOM, operation_id=pending.operation_id, session=stored()
            )
            state, _ = connections.begin(
                state, worker.worker_id, ROOM, operation_id="second", token=secret(2)
            )
            state, _ = local_state.save_room(state, ROOM, joined_via="join_room", now=NOW)
            state = local_state.save_session(state, attrs.evolve(stored(3), ended_at=NOW))
            return local_state.ensure_host_id(state, "host_1")[0], None

        await store.transact(everything)

        assert await reopen().read() == everything(LocalState())[0]

    async def test_a_place_that_is_not_there_yet_holds_nothing(self, store: StateStore) -> None:
        assert await store.read() == LocalState()

    @pytest.mark.rule("S4")
    async def test_a_place_that_cannot_be_used_is_unavailable(self, unusable: StateStore) -> None:
        with pytest.raises(StateUnavailable) as reading:
            await unusable.read()
        with pytest.raises(StateUnavailable):
            await unusable.transact(registered(1))

        assert not isinstance(reading.value, StateDamaged)

    @pytest.mark.rule("S5")
    async def test_what_is_no_state_is_reported_and_left_alone(self, damaged: Damaged) -> None:
        store, content = damaged
        before = content()

        with pytest.raises(StateDamaged):
            await store.read()
        with pytest.raises(StateDamaged):
            await store.transact(registered(1))
        assert content() == before

    @pytest.mark.rule("S6")
    async def test_what_nobody_interprets_is_kept_in_every_record(
        self, store: StateStore, reopen: Callable[[], StateStore]
    ) -> None:
        await store.transact(lambda _: (with_unknown_parts(), None))
        await reopen().transact(_touch_everything)

        assert await reopen().read() == _touch_everything(with_unknown_parts())[0]

    @pytest.mark.rule("S7")
    async def test_a_cancelled_call_changes_nothing(self, store: StateStore) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await store.transact(registered(1))

        assert await store.read() == LocalState()


def _touch_everything(state: LocalState) -> tuple[LocalState, None]:
    state, _ = registered(2)(state)
    state, _ = connections.begin(
        state, worker_id(1), RoomId("another"), operation_id="another", token=secret(4)
    )
    state = local_state.save_session(state, _seen_later(state.sessions.values()))
    state, _ = local_state.touch_room(state, ROOM, now=NOW, last_message_id="msg_9")
    return state, None


def _seen_later(sessions: Iterable[StoredSession]) -> StoredSession:
    return attrs.evolve(next(iter(sessions)), repo_branch="main", updated_at=NOW)
