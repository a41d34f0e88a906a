"""Every adapter of the machine's memory keeps the promises of the port."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest
from sqlalchemy import select

from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.account_tables import STATES
from letagents.adapters.sql.upserts import put_statement
from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.memory import MemoryState
from letagents.adapters.state.sql import SqlStates
from letagents.adapters.state.sqlite import SqliteState
from letagents.domain.errors import StateDamaged, StateUnavailable
from letagents.domain.local_state import LocalState
from letagents.ports.state import StateStore
from letagents.testing.contracts.state import Damaged, StateStoreContract, registered

PUT, DOCUMENT = put_statement(STATES), select(STATES.c.document)


@attrs.define
class Shelf:
    """Where one kind of store is opened, any number of times, and closed at the end of a test."""

    folder: Path
    opened: ExitStack = attrs.field(factory=ExitStack)
    kept: MemoryState = attrs.field(factory=MemoryState)

    def memory(self, _path: Path) -> StateStore:
        return self.kept

    def json(self, path: Path) -> StateStore:
        return JsonFileState(path)

    def sqlite(self, path: Path) -> StateStore:
        store = SqliteState(path)
        self.opened.callback(store.close)
        return store


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    with shelf.opened:
        yield shelf


class TestStateStore(StateStoreContract):
    @pytest.fixture(params=["memory", "json", "sqlite"])
    def opening(self, request: pytest.FixtureRequest, shelf: Shelf) -> Callable[[Path], StateStore]:
        opening: Callable[[Path], StateStore] = getattr(shelf, request.param)
        return opening

    @pytest.fixture
    def store(self, opening: Callable[[Path], StateStore], tmp_path: Path) -> StateStore:
        return opening(tmp_path / "home" / "state")

    @pytest.fixture
    def reopen(
        self, opening: Callable[[Path], StateStore], tmp_path: Path
    ) -> Callable[[], StateStore]:
        return lambda: opening(tmp_path / "home" / "state")

    @pytest.fixture
    def unusable(self, opening: Callable[[Path], StateStore], tmp_path: Path) -> StateStore:
        store = opening(tmp_path / "a-directory")
        if isinstance(store, MemoryState):
            store.fault = StateUnavailable("It cannot be used.", remedy="Mend it.")
        else:
            (tmp_path / "a-directory").mkdir()
        return store

    @pytest.fixture
    def damaged(self, opening: Callable[[Path], StateStore], tmp_path: Path) -> Damaged:
        path = tmp_path / "damaged"
        path.write_bytes(b"neither JSON nor a database")
        store = opening(path)
        if isinstance(store, MemoryState):
            store.fault = StateDamaged("It is damaged.", remedy="Mend it.")
        return store, path.read_bytes


class InADatabase(StateStoreContract):
    """The state of one account among others, in the database of a server."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path | str:
        return tmp_path / "server.db"

    @pytest.fixture
    def kept(self, place: Path | str) -> Iterator[LocalStore]:
        kept = LocalStore.at(place)
        yield kept
        kept.close()

    @pytest.fixture
    def store(self, kept: LocalStore) -> StateStore:
        return SqlStates(kept).of("account_1")

    @pytest.fixture
    def reopen(self, kept: LocalStore) -> Callable[[], StateStore]:
        return lambda: SqlStates(kept).of("account_1")

    @pytest.fixture
    def unusable(self, tmp_path: Path) -> Iterator[StateStore]:
        (tmp_path / "a-directory").mkdir()
        kept = LocalStore.at(tmp_path / "a-directory")
        yield SqlStates(kept).of("account_1")
        kept.close()

    @pytest.fixture
    def damaged(self, kept: LocalStore) -> Damaged:
        facts = {"account_id": "account_1", "number": 1, "document": "no JSON"}
        kept.write(lambda unit: unit.change(PUT, facts))

        def content() -> bytes:
            row = kept.read(lambda unit: unit.row(DOCUMENT))
            assert row is not None
            return str(row[0]).encode()

        return SqlStates(kept).of("account_1"), content

    @pytest.mark.anyio
    async def test_accounts_have_nothing_in_common(self, kept: LocalStore) -> None:
        states = SqlStates(kept)
        await states.of("account_1").transact(registered(1))

        assert await states.of("account_2").read() == LocalState()

    @pytest.mark.anyio
    async def test_what_was_remembered_gives_way_to_what_others_wrote(
        self, store: StateStore, reopen: Callable[[], StateStore]
    ) -> None:
        other = reopen()
        await store.transact(registered(1))
        before = await store.read()
        await other.transact(registered(2))

        assert await store.read() is not before
        assert len((await store.read()).workers) == 2
        assert await store.read() is await store.read()


class TestStateInSqlite(InADatabase):
    pass


class TestStateInPostgres(InADatabase):
    @pytest.fixture
    def place(self, postgres: str) -> Path | str:
        return postgres
