"""Who may use a server: its accounts, in its own database."""

from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from letagents.adapters.accounts.sql import SqlAccounts
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql.migrations import NewerSchema
from letagents.adapters.system import SystemClock, SystemIds
from letagents.application.server.serving import Doorkeeper
from letagents.domain.errors import RoomsUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from letagents.ports.clock import Clock
    from letagents.ports.ids import Ids
    from letagents.server_settings import Serving


@asynccontextmanager
async def open_accounts(serving: "Serving") -> "AsyncIterator[Doorkeeper]":
    """Open the accounts of a server, which may be running meanwhile."""
    ids = SystemIds()
    accounts = accounts_in(serving.database, SystemClock(), ids)
    try:
        with named_to_a_server():
            yield Doorkeeper(accounts, ids)
    finally:
        await accounts.aclose()


def accounts_in(database: str, clock: "Clock", ids: "Ids") -> SqlAccounts:
    """Return accounts whose connections are not those that a transaction of a room holds."""
    return SqlAccounts(LocalStore.at(database), clock, ids)


@contextmanager
def named_to_a_server() -> "Iterator[None]":
    """Say of a place that cannot be used how another one is named to a server."""
    try:
        yield
    except RoomsUnavailable as error:
        upgrade = "Upgrade letagents" if isinstance(error.__cause__, NewerSchema) else "Mend that"
        remedy = f"{upgrade}, or name another place: --database, or LETAGENTS_SERVER_DB."
        raise RoomsUnavailable(error.happened, remedy=remedy) from error
