"""What a server serves from: what is opened here is closed here."""

from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from letagents.adapters.elsewhere import NoCheckouts, NoSurroundings
from letagents.adapters.forges import WebForges
from letagents.adapters.git import GitSurroundings
from letagents.adapters.own_sign_ins import OwnSignInsFile
from letagents.adapters.rooms.kept.activities import KeptActivities
from letagents.adapters.rooms.kept.administration import KeptAdministration
from letagents.adapters.rooms.kept.attachments import KeptAttachments
from letagents.adapters.rooms.kept.attendance import KeptAttendance
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.deliveries import KeptDeliveries
from letagents.adapters.rooms.kept.feeds import KeptFeed
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.adapters.rooms.kept.governance import KeptGovernance
from letagents.adapters.rooms.kept.paths import KeptPaths
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.kept.threads import KeptThreads
from letagents.adapters.rooms.kept.whereabouts import KeptRoster
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.local_store import LocalStore
from letagents.adapters.sql import engine
from letagents.adapters.sql.sole_server import SoleServer
from letagents.adapters.state.sql import SqlStates
from letagents.adapters.system import SystemClock, SystemIds
from letagents.application.server.hosting import Boards, Hosting
from letagents.application.server.remote_chats import Elsewhere
from letagents.application.server.serving import Doorkeeper, Owner
from letagents.wiring.accounts import accounts_in, named_to_a_server
from letagents.wiring.local import clock_and_nudges
from letagents.wiring.room_ports import memory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from letagents.adapters.accounts.sql import SqlAccounts
    from letagents.adapters.rooms.bells import Nudges
    from letagents.domain.ids import RoomId, SessionId
    from letagents.domain.sessions import Session
    from letagents.ports.clock import Clock
    from letagents.ports.ids import Ids
    from letagents.ports.people import People
    from letagents.server_settings import Serving
    from letagents.settings import Settings


@attrs.frozen
class Served:
    """What a server serves from, and what it needs to begin."""

    hosting: Hosting
    elsewhere: Elsewhere
    owner: Owner
    database: str
    """Where the rooms are, in a form without a password."""
    _sole: SoleServer | None = None

    def tell(self, address: str) -> None:
        """Say where the database is served, for those that would serve it too."""
        if self._sole is not None:
            self._sole.tell(address)


@asynccontextmanager
async def open_server(settings: "Settings", serving: "Serving") -> "AsyncIterator[Served]":
    """Open what a server serves from; nobody else serves the same file meanwhile.

    Raises:
        ServedElsewhere: somebody does.
        RoomsUnavailable: the database cannot be used.
    """
    ids, steady = SystemIds(), SystemClock()
    async with AsyncExitStack() as opened:
        sole = _sole(serving.database)
        if sole is not None:
            opened.callback(sole.close)
            with named_to_a_server():
                sole.take()
        kept = attrs.evolve(settings, rooms_db=serving.database)
        clock, nudges = clock_and_nudges(kept, steady, ids, opened)
        accounts = accounts_in(serving.database, steady, ids)
        opened.push_async_callback(accounts.aclose)
        with named_to_a_server():
            await accounts.prove()
        states = LocalStore.at(serving.database)
        opened.callback(states.close)
        rooms = _rooms(kept, accounts, clock, nudges, ids)
        opened.push_async_callback(rooms.aclose)
        owner = Owner(
            Doorkeeper(accounts, ids),
            OwnSignInsFile(settings.home / "server-owner.json"),
            GitSurroundings(),
        )
        yield Served(
            _hosting(settings, serving, rooms, accounts, clock, steady, ids),
            _elsewhere(states),
            owner,
            place_of(serving.database),
            sole,
        )


def _hosting(
    settings: "Settings",
    serving: "Serving",
    rooms: LocalRooms,
    accounts: "SqlAccounts",
    clock: "Clock",
    steady: "Clock",
    ids: "Ids",
) -> Hosting:
    term = settings.lease_term

    async def session_of(room_id: "RoomId", session_id: "SessionId") -> "Session | None":
        return await rooms.look(room_id, lambda book: book.session(session_id))

    return Hosting(
        rooms,
        session_of,
        accounts,
        steady,
        ids,
        settings.poll_cap,
        boards=Boards(KeptBoard(rooms, term), KeptGovernance(rooms), KeptPaths(rooms, term)),
        memory=memory(rooms, clock),
        focus=KeptFocusRooms(rooms, term),
        feed=KeptFeed(rooms, term),
        roster=KeptRoster(rooms),
        receipts=KeptReceipts(rooms),
        attachments=KeptAttachments(rooms),
        threads=KeptThreads(rooms),
        deliveries=KeptDeliveries(rooms, ids, clock),
        activities=KeptActivities(rooms),
        administration=KeptAdministration(rooms),
        watched=rooms,
        roll=KeptAttendance(rooms, ids),
        people=_people(serving),
        bounds=serving.bounds,
        takes_bearers=serving.takes_bearers,
        logins=serving.github.logins if serving.github is not None else frozenset(),
    )


def _rooms(
    settings: "Settings", accounts: "SqlAccounts", clock: "Clock", nudges: "Nudges", ids: "Ids"
) -> LocalRooms:
    def is_admin(caller: "Session | None") -> bool:
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


def _people(serving: "Serving") -> "People | None":
    if serving.github is None:
        return None
    from letagents.adapters.github_people import GithubPeople

    return GithubPeople(serving.github.client_id, serving.github.scopes)


def _elsewhere(store: LocalStore) -> Elsewhere:
    states = SqlStates(store)
    return Elsewhere(
        lambda account: states.of(account.account_id), NoSurroundings(), NoCheckouts(), WebForges()
    )


def _sole(database: str) -> SoleServer | None:
    """Return the right to serve a file; None where a database server keeps processes apart."""
    if engine.is_url_of_server(database):
        return None
    file = engine.file_of(engine.open_engine(database))
    return None if file is None else SoleServer(file)


def place_of(database: str) -> str:
    """Return where a database is, in a form without a password."""
    if "://" not in database:
        return str(Path(database).absolute())
    return engine.place_of(engine.open_engine(database))
