"""Which adapter plays which port of a server: what is opened here is closed here."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from letagents.application.hosting import Boards, Hosting
from letagents.application.remote_chats import Elsewhere
from letagents.application.serving import Doorkeeper, Owner
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session
from letagents.server_settings import Serving
from letagents.settings import Settings
from letagents.wiring.local import clock_and_nudges
from letagents.wiring.room_ports import memory

if TYPE_CHECKING:
    from letagents.adapters.accounts.sql import SqlAccounts
    from letagents.adapters.rooms.bells import Nudges
    from letagents.adapters.rooms.local import LocalRooms
    from letagents.adapters.rooms.local_store import LocalStore
    from letagents.adapters.sql.sole_server import SoleServer
    from letagents.ports.administration import Administration
    from letagents.ports.clock import Clock
    from letagents.ports.feeds import Feed
    from letagents.ports.focus_rooms import FocusRooms
    from letagents.ports.ids import Ids
    from letagents.ports.people import People
    from letagents.ports.receipts import Receipts
    from letagents.ports.threads import ThreadsOf
    from letagents.ports.whereabouts import Roster


@attrs.frozen
class Served:
    """What a server serves from, and what it needs to begin."""

    hosting: Hosting
    elsewhere: Elsewhere
    owner: Owner
    database: str
    """Where the rooms are, in a form without a password."""
    _sole: "SoleServer | None" = None

    def tell(self, address: str) -> None:
        """Say where the database is served, for those that would serve it too."""
        if self._sole is not None:
            self._sole.tell(address)


@asynccontextmanager
async def open_server(settings: Settings, serving: Serving) -> AsyncIterator[Served]:
    """Open what a server serves from; nobody else serves the same file meanwhile.

    Raises:
        ServedElsewhere: somebody does.
        RoomsUnavailable: the database cannot be used.
    """
    from letagents.adapters.git import GitSurroundings
    from letagents.adapters.own_sign_ins import OwnSignInsFile
    from letagents.adapters.rooms.kept.activities import KeptActivities
    from letagents.adapters.rooms.kept.attachments import KeptAttachments
    from letagents.adapters.rooms.kept.attendance import KeptAttendance
    from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
    from letagents.adapters.system import SystemClock, SystemIds

    ids, steady = SystemIds(), SystemClock()
    async with AsyncExitStack() as opened:
        sole = _sole(serving.database)
        if sole is not None:
            opened.callback(sole.close)
            with _of_a_server():
                sole.take()
        kept = attrs.evolve(settings, rooms_db=serving.database)
        clock, nudges = clock_and_nudges(kept, steady, ids, opened)
        accounts = _accounts(serving.database, steady, ids)
        opened.push_async_callback(accounts.aclose)
        with _of_a_server():
            await accounts.prove()
        states = _store(serving.database)
        opened.callback(states.close)
        rooms = _rooms(kept, accounts, clock, nudges, ids)
        opened.push_async_callback(rooms.aclose)

        async def session_of(room_id: RoomId, session_id: SessionId) -> Session | None:
            return await rooms.look(room_id, lambda book: book.session(session_id))

        hosting = Hosting(
            rooms,
            session_of,
            accounts,
            steady,
            ids,
            settings.poll_cap,
            boards=_boards(rooms, settings.lease_term),
            memory=memory(rooms, clock),
            focus=_focus(rooms, settings.lease_term),
            feed=_feed(rooms, settings.lease_term),
            roster=_roster(rooms),
            receipts=_receipts(rooms),
            attachments=KeptAttachments(rooms),
            threads=_threads(rooms),
            deliveries=KeptDeliveries(rooms, ids, clock),
            activities=KeptActivities(rooms),
            administration=_administration(rooms),
            watched=rooms,
            roll=KeptAttendance(rooms, ids),
            people=_people(serving),
            bounds=serving.bounds,
            takes_bearers=serving.takes_bearers,
            logins=serving.github.logins if serving.github is not None else frozenset(),
        )
        owner = Owner(
            Doorkeeper(accounts, ids),
            OwnSignInsFile(settings.home / "server-owner.json"),
            GitSurroundings(),
        )
        yield Served(hosting, _elsewhere(states), owner, place_of(serving.database), sole)


@asynccontextmanager
async def open_accounts(serving: Serving) -> AsyncIterator[Doorkeeper]:
    """Open the accounts of a server, which may be running meanwhile."""
    from letagents.adapters.system import SystemClock, SystemIds

    ids = SystemIds()
    accounts = _accounts(serving.database, SystemClock(), ids)
    try:
        with _of_a_server():
            yield Doorkeeper(accounts, ids)
    finally:
        await accounts.aclose()


@contextmanager
def _of_a_server() -> Iterator[None]:
    """Say of a place that cannot be used how another one is named to a server."""
    try:
        yield
    except RoomsUnavailable as error:
        upgrade = "Upgrade letagents" if _is_newer(error.__cause__) else "Mend that"
        remedy = f"{upgrade}, or name another place: --database, or LETAGENTS_SERVER_DB."
        raise RoomsUnavailable(error.happened, remedy=remedy) from error


def _is_newer(cause: BaseException | None) -> bool:
    from letagents.adapters.sql.migrations import NewerSchema

    return isinstance(cause, NewerSchema)


def place_of(database: str) -> str:
    """Return where a database is, in a form without a password."""
    from letagents.adapters.sql.engine import open_engine
    from letagents.adapters.sql.engine import place_of as place_of_engine

    if "://" not in database:
        return str(Path(database).absolute())
    return place_of_engine(open_engine(database))


def _boards(rooms: "LocalRooms", term: timedelta) -> Boards:
    from letagents.adapters.rooms.kept.board import KeptBoard
    from letagents.adapters.rooms.kept.governance import KeptGovernance
    from letagents.adapters.rooms.kept.paths import KeptPaths

    return Boards(KeptBoard(rooms, term), KeptGovernance(rooms), KeptPaths(rooms, term))


def _focus(rooms: "LocalRooms", term: timedelta) -> "FocusRooms":
    from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms

    return KeptFocusRooms(rooms, term)


def _feed(rooms: "LocalRooms", term: timedelta) -> "Feed":
    from letagents.adapters.rooms.kept.feeds import KeptFeed

    return KeptFeed(rooms, term)


def _people(serving: Serving) -> "People | None":
    if serving.github is None:
        return None
    from letagents.adapters.github_people import GithubPeople

    return GithubPeople(serving.github.client_id, serving.github.scopes)


def _roster(rooms: "LocalRooms") -> "Roster":
    from letagents.adapters.rooms.kept.whereabouts import KeptRoster

    return KeptRoster(rooms)


def _threads(rooms: "LocalRooms") -> "ThreadsOf":
    from letagents.adapters.rooms.kept.threads import KeptThreads

    return KeptThreads(rooms)


def _administration(rooms: "LocalRooms") -> "Administration":
    from letagents.adapters.rooms.kept.administration import KeptAdministration

    return KeptAdministration(rooms)


def _receipts(rooms: "LocalRooms") -> "Receipts":
    from letagents.adapters.rooms.kept.receipts import KeptReceipts

    return KeptReceipts(rooms)


def _sole(database: str) -> "SoleServer | None":
    """Return the right to serve a file; None where a database server keeps processes apart."""
    from letagents.adapters.sql.engine import file_of, is_url_of_server, open_engine
    from letagents.adapters.sql.sole_server import SoleServer

    if is_url_of_server(database):
        return None
    file = file_of(open_engine(database))
    return None if file is None else SoleServer(file)


def _accounts(database: str, clock: "Clock", ids: "Ids") -> "SqlAccounts":
    from letagents.adapters.accounts.sql import SqlAccounts

    return SqlAccounts(_store(database), clock, ids)


def _store(database: str) -> "LocalStore":
    """Return a store whose connections are not those that a transaction of a room holds."""
    from letagents.adapters.rooms.local_store import LocalStore

    return LocalStore.at(database)


def _elsewhere(store: "LocalStore") -> Elsewhere:
    from letagents.adapters.elsewhere import NoCheckouts, NoSurroundings
    from letagents.adapters.forges import WebForges
    from letagents.adapters.state.sql import SqlStates

    states = SqlStates(store)
    return Elsewhere(
        lambda account: states.of(account.account_id), NoSurroundings(), NoCheckouts(), WebForges()
    )


def _rooms(
    settings: Settings, accounts: "SqlAccounts", clock: "Clock", nudges: "Nudges", ids: "Ids"
) -> "LocalRooms":
    from letagents.adapters.rooms.local import LocalRooms

    def is_admin(caller: Session | None) -> bool:
        return caller is None or accounts.is_admin(caller.agent_key, caller.room_id)

    # Whether a client's process is there, this machine cannot know: only its calls are signs.
    return LocalRooms(
        settings.rooms_db,
        ids,
        clock,
        nudges,
        admins=is_admin,
        term=settings.lease_term,
        grace=settings.notice_after,
    )
