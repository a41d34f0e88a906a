"""Every adapter of accounts keeps the promises of the port."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.adapters.accounts.sql import SqlAccounts
from letagents.adapters.rooms.local_store import LocalStore
from letagents.ports.accounts import Accounts
from letagents.testing.contracts.accounts import AccountsContract
from letagents.testing.determinism import CountingIds, ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class TestMemoryAccounts(AccountsContract):
    @pytest.fixture
    def accounts(self, clock: ManualClock) -> Accounts:
        return MemoryAccounts(clock)


class OfTwoProcesses(AccountsContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path | str:
        return tmp_path / "server.db"

    @pytest.fixture
    async def accounts(self, place: Path | str, clock: ManualClock) -> AsyncIterator[Accounts]:
        kept = SqlAccounts(LocalStore.at(place), clock, CountingIds())
        yield kept
        await kept.aclose()

    @pytest.fixture
    async def elsewhere(
        self, accounts: Accounts, place: Path | str, clock: ManualClock
    ) -> AsyncIterator[Accounts]:
        there = SqlAccounts(LocalStore.at(place), clock, CountingIds(first=1000))
        yield there
        await there.aclose()


class TestAccountsInSqlite(OfTwoProcesses):
    pass


class TestAccountsInPostgres(OfTwoProcesses):
    @pytest.fixture
    def place(self, postgres: str) -> Path | str:
        return postgres
