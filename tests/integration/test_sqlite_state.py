"""What only a database that other processes use can do wrong."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from tests.integration.state_processes import counted

from letagents.adapters.sql import sqlite_library
from letagents.adapters.sql.sqlite_library import SqliteLibrary
from letagents.adapters.state import turns
from letagents.adapters.state.sqlite import SqliteState
from letagents.domain.errors import StateDamaged, StateUnavailable
from letagents.domain.local_state import LocalState, ensure_host_id

T = TypeVar("T")

SQLITE = sqlite_library.library().module
FAULTY = SqliteLibrary(sqlite3, (3, 40, 1), checkpoints_apart=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteState]:
    store = SqliteState(path)
    yield store
    store.close()


def named(state: LocalState) -> tuple[LocalState, str]:
    return ensure_host_id(state, "host_1")


def read(store: SqliteState) -> LocalState:
    return anyio.run(store.read)


def write(store: SqliteState, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
    return anyio.run(partial(_bounded, store, decide))


async def _bounded(store: SqliteState, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
    with anyio.fail_after(5):
        return await store.transact(decide)


def run(path: Path, statement: str, *values: object) -> Any:
    """Run one statement as another program would."""
    connection = SQLITE.connect(path, timeout=0, isolation_level=None)
    try:
        return connection.execute(statement, values).fetchone()
    finally:
        connection.close()


def counting(path: Path, times: int, name: str) -> subprocess.Popen[str]:
    module = "tests.integration.state_processes"
    command = [sys.executable, "-m", module, "count", str(path), str(times), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def counts_of(store: SqliteState) -> dict[str, int]:
    counts = read(store).extra["counts"]
    assert isinstance(counts, dict)
    return counts


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_file_and_folder_are_for_their_owner_alone(store: SqliteState) -> None:
    write(store, named)

    modes = {stat.S_IMODE(file.stat().st_mode) for file in store.path.parent.iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


def test_reading_makes_no_file(store: SqliteState) -> None:
    assert read(store) == LocalState()
    assert not store.path.parent.exists()


def test_what_is_committed_is_synced(store: SqliteState) -> None:
    write(store, named)
    connection = store._connection

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert run(store.path, "PRAGMA journal_mode") == ("wal",)


def test_a_library_with_the_wal_fault_keeps_to_the_older_journal(path: Path) -> None:
    store = SqliteState(path, FAULTY)
    write(store, named)

    assert run(path, "PRAGMA journal_mode") == ("delete",)
    assert read(store).local_host_id == "host_1"
    store.close()


def test_a_closed_store_opens_again_when_it_is_asked(store: SqliteState) -> None:
    write(store, named)
    store.close()
    store.close()

    assert read(store).local_host_id == "host_1"


@pytest.mark.rule("S1")
def test_nobody_begins_to_write_while_a_decision_is_made(store: SqliteState) -> None:
    def with_a_rival(state: LocalState) -> tuple[LocalState, str]:
        with pytest.raises(SQLITE.OperationalError, match="locked"):
            run(store.path, "BEGIN IMMEDIATE")
        return named(state)

    assert write(store, with_a_rival) == "host_1"
    run(store.path, "BEGIN IMMEDIATE")


def pauses(tries: int, then: Callable[[], object]) -> Iterator[float]:
    """Let `then` happen once the database was tried for so often."""
    for _ in range(tries):
        yield 0.0
    then()
    while True:
        yield 0.0


@pytest.fixture
def rival(store: SqliteState) -> Iterator[Any]:
    """Another program that is writing."""
    write(store, partial(counted, "before"))
    connection = SQLITE.connect(store.path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_a_rival_is_waited_for(
    store: SqliteState, rival: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PAUSES", pauses(2, rival.rollback))

    assert write(store, partial(counted, "after")) == 1
    assert counts_of(store) == {"before": 1, "after": 1}


@pytest.mark.rule("S7")
def test_a_wait_for_a_rival_can_be_cancelled(
    store: SqliteState, rival: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled() -> bool:
        with anyio.fail_after(5), anyio.CancelScope() as scope:
            monkeypatch.setattr(turns, "PAUSES", pauses(2, scope.cancel))
            await store.transact(named)
        return scope.cancelled_caught

    assert anyio.run(cancelled)
    rival.rollback()
    monkeypatch.undo()
    assert counts_of(store) == {"before": 1}


def test_a_rival_that_stays_is_given_up_on(
    store: SqliteState, rival: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "PAUSES", (0.0, 0.0))

    with pytest.raises(StateUnavailable, match=str(store.path)):
        write(store, named)


@pytest.mark.parametrize(
    "content", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 4096], ids=["text", "noise"]
)
def test_a_file_that_is_no_database_is_reported_and_not_touched(
    store: SqliteState, content: bytes
) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(content)

    with pytest.raises(StateDamaged, match=str(store.path)):
        read(store)
    with pytest.raises(StateDamaged, match=str(store.path)):
        write(store, named)
    assert store.path.read_bytes() == content


@pytest.mark.parametrize("document", ["[]", '{"agent_sessions": 1}', b"bytes"], ids=range(3))
def test_a_document_that_is_no_state_is_reported_and_kept(
    store: SqliteState, document: object
) -> None:
    write(store, named)
    run(store.path, "UPDATE state SET document = ?", document)

    with pytest.raises(StateDamaged, match=str(store.path)):
        write(store, named)
    assert run(store.path, "SELECT document FROM state") == (document,)


def test_a_database_of_another_kind_is_unavailable(store: SqliteState) -> None:
    store.path.parent.mkdir()
    run(store.path, "CREATE TABLE state (something TEXT)")

    with pytest.raises(StateUnavailable, match="document"):
        read(store)


@pytest.mark.rule("S1")
def test_two_processes_lose_nothing(store: SqliteState) -> None:
    with counting(store.path, 100, "a") as one, counting(store.path, 100, "b") as other:
        for process in (one, other):
            process.communicate(timeout=60)

    assert [one.returncode, other.returncode] == [0, 0]
    assert counts_of(store) == {"a": 100, "b": 100}


@pytest.mark.rule("S3")
def test_a_process_killed_while_it_writes_loses_nothing_that_was_acknowledged(
    store: SqliteState,
) -> None:
    for _ in range(3):
        with counting(store.path, 100_000, "a") as writer:
            assert writer.stdout is not None
            acknowledged = int(writer.stdout.readline())
            writer.kill()
            said = writer.stdout.read().split()
            acknowledged = int(said[-1]) if said else acknowledged

        assert acknowledged <= counts_of(store)["a"] <= acknowledged + 1
