"""Every adapter of accounts keeps the promises of the port."""

import pytest

from letagents.adapters.accounts.memory import MemoryAccounts
from letagents.ports.accounts import Accounts
from letagents.testing.contracts.accounts import TOKENS, AccountsContract
from letagents.testing.determinism import ManualClock


class TestMemoryAccounts(AccountsContract):
    @pytest.fixture
    def accounts(self) -> Accounts:
        return MemoryAccounts.of(ManualClock(), TOKENS)
