"""Every adapter of a supervisor's journal keeps the promises of the port."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.adapters.supervision.sql import SqlSupervision
from letagents.domain.deeds import Act, Doer
from letagents.domain.errors import StateDamaged, StateUnavailable
from letagents.domain.generations import FenceLost
from letagents.ports.supervision import Journal, Supervision
from letagents.testing.contracts.supervision import (
    NOW,
    Opened,
    SupervisionContract,
    binding,
    effect,
    entry,
    item,
)

FIRST_FORM = Path(__file__).parents[1] / "integration" / "forms" / "supervisor_1.sql"


def form(file: Path) -> tuple[int, set[str]]:
    with closing(sqlite3.connect(file)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        things = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        return version, {" ".join(sql.split()) for (sql,) in things}


class TestMemory(SupervisionContract):
    @pytest.fixture
    def opened(self) -> Opened:
        place = MemoryPlace()
        return lambda generation: MemorySupervision(place, generation)

    @pytest.fixture
    def unusable(self) -> Supervision:
        fault = StateUnavailable("It cannot be used.", remedy="Mend it.")
        return MemorySupervision(MemoryPlace(fault=fault), 1)


class TestSql(SupervisionContract):
    @pytest.fixture
    async def opened(self, anyio_backend: str, tmp_path: Path) -> AsyncIterator[Opened]:
        async with AsyncExitStack() as stack:

            def opened(generation: int) -> Supervision:
                made = SqlSupervision(tmp_path / "home" / "supervisor.db", generation)
                stack.push_async_callback(made.aclose)
                return made

            yield opened

    @pytest.fixture
    async def unusable(self, anyio_backend: str, tmp_path: Path) -> AsyncIterator[Supervision]:
        (tmp_path / "supervisor.db").mkdir()
        made = SqlSupervision(tmp_path / "supervisor.db", 1)
        yield made
        await made.aclose()

    @pytest.mark.rule("J56")
    @pytest.mark.anyio
    async def test_who_comes_too_late_does_not_even_open(self, opened: Opened) -> None:
        await opened(2).change(lambda journal: journal.put_entry(entry()))

        with pytest.raises(FenceLost):
            await opened(1).look(lambda journal: journal.entries())

    @pytest.mark.anyio
    async def test_a_journal_of_the_first_form_is_brought_forward_with_all_that_is_in_it(
        self, opened: Opened, tmp_path: Path
    ) -> None:
        file = tmp_path / "home" / "supervisor.db"
        file.parent.mkdir()
        with closing(sqlite3.connect(file)) as database:
            database.executescript(FIRST_FORM.read_text("utf-8"))
        did = Doer(NOW, 4).did("e1", Act.REMOVED)
        await opened(4).change(lambda journal: journal.put_deed(did))

        def check(journal: Journal) -> None:
            assert journal.entry("e1") == entry()
            assert journal.binding("e1") == binding()
            assert journal.unfinished("e1") == [item(1)]
            assert journal.unsettled() == [effect(1)]
            assert journal.newest_deeds(None, 9) == [did]

        await opened(4).look(check)
        fresh = SqlSupervision(tmp_path / "fresh.db", 1)
        await fresh.look(lambda journal: journal.entries())
        await fresh.aclose()
        assert form(file) == form(tmp_path / "fresh.db")

    @pytest.mark.anyio
    async def test_a_file_that_is_no_journal_is_left_as_it_is(
        self, opened: Opened, tmp_path: Path
    ) -> None:
        file = tmp_path / "home" / "supervisor.db"
        file.parent.mkdir()
        file.write_bytes(b"not a database, whatever its name says" * 100)
        before = file.read_bytes()

        with pytest.raises(StateDamaged):
            await opened(1).change(lambda journal: journal.put_entry(entry()))

        assert file.read_bytes() == before
