"""Every adapter of the machine's memory keeps the promises of the port."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest

from letagents.adapters.state.json_file import JsonFileState
from letagents.adapters.state.memory import MemoryState
from letagents.adapters.state.sqlite import SqliteState
from letagents.domain.errors import StateDamaged, StateUnavailable
from letagents.ports.state import StateStore
from letagents.testing.contracts.state import Damaged, StateStoreContract


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
