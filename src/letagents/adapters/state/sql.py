"""The states of a server's accounts, in the database of its rooms: one document for each.

A document is read only when its number says that somebody else wrote it since it was read or
written here last: of an account with hundreds of workers that takes longer than all else.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

import attrs
from anyio import to_thread
from sqlalchemy import bindparam, select

from letagents.adapters.sql.account_tables import STATES
from letagents.adapters.sql.database import Unit
from letagents.adapters.sql.upserts import put_statement
from letagents.domain.errors import RoomsUnavailable, StateUnavailable
from letagents.domain.local_state import LocalState
from letagents.wire import records
from letagents.wire.records import Record

T = TypeVar("T")

REMEMBERED = 256
"""Of so many accounts the document that was read last is kept."""

_OF = STATES.c.account_id == bindparam("account_id")
_NUMBER = select(STATES.c.number).where(_OF)
_DOCUMENT = select(STATES.c.document).where(_OF)
_PUT = put_statement(STATES)


class Store(Protocol):
    """Does work in transactions, and tells its failures in our own words."""

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds."""
        ...

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        """Return what `work` returns once what it did is kept."""
        ...


class _Withdrawn(Exception):
    """Who asked for a change has gone before its turn came."""


class _Raised(Exception):
    """A decision raised something, which is none of the store's failures, whatever it is."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@attrs.define(eq=False)
class SqlStates:
    """The states of all accounts. The store is not closed here."""

    _store: Store
    _mutex: threading.Lock = attrs.field(factory=threading.Lock)
    _lately: dict[str, tuple[int, Record]] = attrs.field(factory=dict)

    def of(self, account_id: str) -> "SqlState":
        """Return the state of one account."""
        return SqlState(self, account_id)

    async def read(self, account_id: str) -> LocalState:
        """Return what is kept for the account. Raises: as StateStore."""
        return await to_thread.run_sync(self._read, account_id, abandon_on_cancel=True)

    async def transact(
        self, account_id: str, decide: Callable[[LocalState], tuple[LocalState, T]]
    ) -> T:
        """Replace what is kept for the account. Raises: as StateStore."""
        gone = threading.Event()
        attempt = partial(self._transact, account_id, decide, gone)
        try:
            return await to_thread.run_sync(attempt, abandon_on_cancel=True)
        finally:
            gone.set()

    def _read(self, account_id: str) -> LocalState:
        try:
            number, record = self._store.read(lambda unit: self._found(unit, account_id))
        except RoomsUnavailable as error:
            raise _unavailable(error) from error
        # What a writer finds may be another's that is never committed: that is not remembered.
        self._note(account_id, number, record)
        return record.state

    def _transact(
        self,
        account_id: str,
        decide: Callable[[LocalState], tuple[LocalState, T]],
        gone: threading.Event,
    ) -> T:
        written: list[tuple[int, Record]] = []

        def replace(unit: Unit) -> T:
            written.clear()
            if gone.is_set():
                raise _Withdrawn
            number, record = self._found(unit, account_id)
            try:
                state, answer = decide(record.state)
            except Exception as error:
                raise _Raised(error) from error
            if state is not record.state:
                following, content = record.followed_by(state)
                written.append((number + 1, following))
                facts = {"account_id": account_id, "number": number + 1}
                unit.change(_PUT, {**facts, "document": content.decode()})
            return answer

        try:
            answer = self._store.write(replace, f"state of {account_id}")
        except _Raised as raised:
            raise raised.error from None
        except RoomsUnavailable as error:
            raise _unavailable(error) from error
        for number, record in written:
            self._note(account_id, number, record)
        return answer

    def _found(self, unit: Unit, account_id: str) -> tuple[int, Record]:
        row = unit.row(_NUMBER, account_id=account_id)
        if row is None:
            return 0, Record(_place(account_id))
        number = int(row[0])
        with self._mutex:
            lately = self._lately.get(account_id)
        if lately is not None and lately[0] == number:
            return lately
        found: Any = unit.row(_DOCUMENT, account_id=account_id)
        return number, records.load(found[0].encode(), place=_place(account_id))

    def _note(self, account_id: str, number: int, record: Record) -> None:
        with self._mutex:
            self._lately.pop(account_id, None)
            self._lately[account_id] = (number, record)
            if len(self._lately) > REMEMBERED:
                del self._lately[next(iter(self._lately))]


@attrs.frozen
class SqlState:
    """What a server remembers for one account."""

    _states: SqlStates
    _account_id: str

    async def read(self) -> LocalState:
        """Return the newest state. Raises: as StateStore."""
        return await self._states.read(self._account_id)

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        """Replace the state by what `decide` makes of it. Raises: as StateStore."""
        return await self._states.transact(self._account_id, decide)


def _place(account_id: str) -> str:
    return f"the state of the account {account_id}"


def _unavailable(error: RoomsUnavailable) -> StateUnavailable:
    return StateUnavailable(error.happened, remedy=error.remedy)
