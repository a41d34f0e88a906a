"""Which adapter plays which port: what is passed in is not closed, what is opened here is."""

import functools
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, cast

import attrs

if TYPE_CHECKING:  # nothing is loaded before it is needed: a hook of git has no time for it
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import timedelta
    from pathlib import Path
    from typing import TypeGuard

    from httpx import AsyncBaseTransport

    from letagents.adapters.rooms.bells import Nudges
    from letagents.adapters.rooms.book import Keeping, Noting
    from letagents.adapters.rooms.hosted.rooms import HostedRooms
    from letagents.adapters.rooms.routed import RoutedRooms
    from letagents.adapters.services import Service
    from letagents.adapters.state.json_file import JsonFileState
    from letagents.adapters.state.sqlite import SqliteState
    from letagents.adapters.supervision.hold import HomeHold
    from letagents.application.agents import Words
    from letagents.application.borrowed import BorrowedRooms
    from letagents.application.client import LetAgents
    from letagents.application.directory import Directory
    from letagents.application.granted_sessions import Shown, Way
    from letagents.application.granting import Grants
    from letagents.application.household import Household
    from letagents.application.memory import Stores
    from letagents.application.servers import Lodging, LodgingOf, Servers
    from letagents.application.supervised_effects import SupervisedEffects
    from letagents.application.supervising import Supervising
    from letagents.domain.held_grants import Grant, Renewed
    from letagents.domain.ids import RoomId, SessionId
    from letagents.domain.manifest import Entry
    from letagents.domain.open_models import Endpoint
    from letagents.domain.sessions import Session
    from letagents.domain.supervised import OwnSession
    from letagents.domain.turns import Answered, Silent
    from letagents.ports.activity import Reports
    from letagents.ports.attachments import Attachments
    from letagents.ports.attendance import Attendance
    from letagents.ports.board import Board
    from letagents.ports.clock import Clock
    from letagents.ports.custody import Custody
    from letagents.ports.focus_rooms import FocusRooms
    from letagents.ports.forges import Forges
    from letagents.ports.governance import Governance
    from letagents.ports.health import Finding
    from letagents.ports.ids import Ids
    from letagents.ports.live_codex import LiveCodex
    from letagents.ports.path_claims import PathClaims
    from letagents.ports.providers import Provider
    from letagents.ports.receipts import Receipts
    from letagents.ports.rooms import RoomTransport
    from letagents.ports.state import StateStore
    from letagents.ports.supervision import Supervision
    from letagents.ports.supervisor import Supervisor
    from letagents.ports.surroundings import Checkouts, Surroundings
    from letagents.ports.tools import Tools
    from letagents.ports.whereabouts import Noticeboard
    from letagents.settings import Settings

    JournalOf = Callable[[int], Supervision]

T = TypeVar("T")


@asynccontextmanager
async def open_letagents(
    settings: "Settings",
    *,
    state: "StateStore | None" = None,
    rooms: "RoomTransport | None" = None,
    attendance: "Attendance | None" = None,
    surroundings: "Surroundings | None" = None,
    checkouts: "Checkouts | None" = None,
    forges: "Forges | None" = None,
    codex: "LiveCodex | None" = None,
    clock: "Clock | None" = None,
    ids: "Ids | None" = None,
) -> AsyncIterator["LetAgents"]:
    """Build it, hand it over, and close what was opened here.

    Nothing is read, made or connected before it is first needed.
    """
    from letagents.adapters.forges import WebForges
    from letagents.adapters.git import GitCheckouts, GitSurroundings, Patience
    from letagents.adapters.system import SystemClock, SystemIds
    from letagents.application.client import LetAgents
    from letagents.application.onboarding import Installation

    _quiet_by_default()
    clock, ids, patience = clock or SystemClock(), ids or SystemIds(), Patience()
    async with AsyncExitStack() as opened:
        if state is None:
            state = _state(settings, opened)
        directory, machine = None, None
        if rooms is None and settings.has_hosted_rooms:
            from letagents.adapters import machine as this_machine

            rooms, directory, attendance = await _hosted(settings, state, clock, opened)
            machine = this_machine.parts
            if settings.rooms_are_apart:
                here = _rooms(settings, clock, ids, opened)
                rooms, attendance = _apart(settings, here, rooms, attendance)
        elif rooms is None:
            rooms = _rooms(settings, clock, ids, opened)
        yield LetAgents(
            state=state,
            rooms=rooms,
            surroundings=surroundings or GitSurroundings(patience=patience),
            clock=clock,
            ids=ids,
            longest_wait=settings.poll_cap,
            api_url=settings.api_url,
            directory=directory,
            attendance=attendance,
            machine=machine,
            checkouts=checkouts or GitCheckouts(patience=patience),
            forges=forges or WebForges(),
            installation=Installation(
                state_path=str(settings.state_path),
                api_url=settings.api_url,
                has_owner_token=settings.caller.has_owner_token,
                rooms_are_apart=settings.rooms_are_apart,
            ),
            memory=functools.cache(functools.partial(_memory, rooms, clock)),
            board=functools.cache(functools.partial(_board, rooms, settings.lease_term)),
            governance=functools.cache(functools.partial(_governance, rooms)),
            paths=functools.cache(functools.partial(_paths, rooms, settings.lease_term)),
            focus=functools.cache(functools.partial(_focus, rooms, settings.lease_term)),
            codex=functools.cache(_codex) if codex is None else lambda: codex,
            codex_observed=settings.codex_observed,
            reports=functools.cache(functools.partial(_reports, rooms)),
            presence=functools.cache(functools.partial(_presence, rooms)),
            receipts=functools.cache(functools.partial(_receipts, rooms)),
            attachments=functools.cache(functools.partial(_attachments, rooms)),
        )


def _state(settings: "Settings", opened: AsyncExitStack) -> "JsonFileState | SqliteState":
    if settings.state == "sqlite":
        from letagents.adapters.state.sqlite import SqliteState

        kept = SqliteState(settings.state_path.with_suffix(".db"))
        opened.callback(kept.close)
        return kept
    from letagents.adapters.state.json_file import JsonFileState

    return JsonFileState(settings.state_path)


def _rooms(
    settings: "Settings", clock: "Clock", ids: "Ids", opened: AsyncExitStack
) -> "RoomTransport":
    from letagents.adapters.processes.locks import ProcessLocks, said_every
    from letagents.adapters.rooms.local import LocalRooms

    clock, nudges = clock_and_nudges(settings, clock, ids, opened)
    processes = ProcessLocks(settings.run_dir, ids, clock, said_every(settings.lease_term))
    opened.callback(processes.close)
    rooms = LocalRooms(
        settings.rooms_db,
        ids,
        clock,
        nudges,
        processes,
        term=settings.lease_term,
        grace=settings.notice_after,
    )
    opened.push_async_callback(rooms.aclose)
    return rooms


def clock_and_nudges(
    settings: "Settings", clock: "Clock", ids: "Ids", opened: AsyncExitStack
) -> "tuple[Clock, Nudges]":
    """Return what all who keep their rooms in the same place have in common."""
    if not settings.rooms_are_on_a_server:
        from letagents.adapters.nudges.datagram import DatagramNudges

        return clock, DatagramNudges(settings.run_dir, ids)
    from letagents.adapters.nudges.postgres import PostgresNudges
    from letagents.adapters.sql.server_clock import ServerClock

    nudges = PostgresNudges(settings.rooms_db)
    opened.callback(nudges.close)
    return ServerClock(clock), nudges


def _apart(
    settings: "Settings", here: "RoomTransport", there: "RoomTransport", attendance: "Attendance"
) -> "tuple[RoomTransport, Attendance]":
    """Return the rooms of this machine and those of a server as one, and what attends there."""
    from letagents.adapters.rooms.routed import RoutedAttendance, RoutedRooms, Routes

    is_hosted = Routes(settings.is_hosted)
    rooms = cast("RoomTransport", RoutedRooms(here, there, is_hosted))
    return rooms, RoutedAttendance(attendance, is_hosted)


def _are_apart(rooms: object) -> "TypeGuard[RoutedRooms]":
    """Whether some of the rooms are on this machine and others on a server."""
    loaded = sys.modules.get("letagents.adapters.rooms.routed")
    return loaded is not None and isinstance(rooms, loaded.RoutedRooms)


def _in_both(rooms: "RoutedRooms", port: "Callable[[RoomTransport], T | None]") -> "T":
    """Return what plays a port in the rooms of both places."""
    from letagents.adapters.rooms.routed import ByRoom

    return cast("T", ByRoom(port(rooms.here), port(rooms.there), rooms.is_hosted))


def _memory_apart(rooms: "RoutedRooms", clock: "Clock") -> "Stores | None":
    from letagents.adapters.rooms.routed import ByRoom
    from letagents.application.memory import Stores

    here, there = _memory(rooms.here, clock), _memory(rooms.there, clock)
    parts = (one.name for one in attrs.fields(Stores))
    return Stores(
        **{
            part: ByRoom(getattr(here, part), getattr(there, part), rooms.is_hosted)
            for part in parts
        }
    )


def _reports(rooms: "RoomTransport") -> "Reports | None":
    """Return where it is reported what programs do for their agents."""
    if _are_apart(rooms):
        return _in_both(rooms, _reports)
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.reports import HostedReports

        return HostedReports(rooms.calls)
    if not _take_notes(rooms):
        return None
    from letagents.adapters.rooms.kept.activities import KeptActivities

    return KeptActivities(rooms)


def _codex() -> "LiveCodex":
    from letagents.adapters.providers.live_codex import AppServers

    return AppServers((sys.executable, "-m", "letagents", "mcp"))


async def _nothing_said(_item_id: str) -> "Answered | Silent | None":
    return None


def agent_provider(
    name: str,
    settings: "Settings",
    *,
    endpoint: "Callable[[], Endpoint | None]" = lambda: None,
    said: "Callable[[str], Awaitable[Answered | Silent | None]]" = _nothing_said,
) -> "Provider":
    """Return what runs agents of that provider.

    `endpoint` tells which open model they are, `said` what the turn of an item said by the tool.

    Raises:
        Malformed: there is no such provider.
    """
    from letagents.adapters.system import SystemClock, SystemIds
    from letagents.domain.errors import Malformed
    from letagents.domain.ids import quoted

    if name == "codex":
        from letagents.adapters.providers.codex import CodexProvider

        return CodexProvider()
    if name == "claude-code":
        from letagents.adapters.providers.claude import ClaudeProvider

        return ClaudeProvider(SystemIds())
    if name == "open-model":
        from letagents.adapters.providers.open_model import OpenModelProvider

        return OpenModelProvider(endpoint, settings.run_dir, SystemClock(), SystemIds())
    if name == "cursor":
        from letagents.adapters.providers.cursor import CursorProvider

        return CursorProvider(said)
    raise Malformed(
        f"provider: {quoted(name)} runs no agents here.",
        remedy="Pass codex, claude-code, open-model or cursor.",
    )


def _memory(rooms: "RoomTransport", clock: "Clock") -> "Stores | None":
    if _are_apart(rooms):
        return _memory_apart(rooms, clock)
    if not _are_on_a_server(rooms):
        return memory_of(rooms)
    from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
    from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
    from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
    from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
    from letagents.adapters.rooms.hosted.wakes import HostedWakes
    from letagents.application.memory import Stores

    return Stores(
        knowledge=HostedKnowledge(rooms.calls),
        guidelines=HostedGuidelines(rooms.calls),
        artifacts=HostedArtifacts(rooms.calls),
        wakes=HostedWakes(rooms.calls),
        reasonings=HostedReasonings(rooms.calls, clock),
    )


def memory_of(rooms: "RoomTransport") -> "Stores | None":
    """Return what keeps the memory of `rooms`, if they keep anything but messages."""
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept import board_records
    from letagents.adapters.rooms.kept.artifacts import KeptArtifacts
    from letagents.adapters.rooms.kept.guidelines import KeptGuidelines
    from letagents.adapters.rooms.kept.knowledge import KeptKnowledge
    from letagents.adapters.rooms.kept.reasoning import KeptReasonings
    from letagents.adapters.rooms.kept.wakes import KeptWakes
    from letagents.application.memory import Stores

    return Stores(
        knowledge=KeptKnowledge(rooms),
        guidelines=KeptGuidelines(rooms),
        artifacts=KeptArtifacts(rooms, board_records.task),
        wakes=KeptWakes(rooms, board_records.status_of),
        reasonings=KeptReasonings(rooms, board_records.task),
    )


def _board(rooms: "RoomTransport", term: "timedelta") -> "Board | None":
    """Return the board of `rooms`, if they keep anything but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, lambda one: _board(one, term))
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.board import HostedBoard

        return HostedBoard(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.board import KeptBoard

    return KeptBoard(rooms, term)


def _governance(rooms: "RoomTransport") -> "Governance | None":
    """Return what governs the boards of `rooms`, if they keep anything but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, _governance)
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.governance import HostedGovernance

        return HostedGovernance(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.governance import KeptGovernance

    return KeptGovernance(rooms)


def _receipts(rooms: "RoomTransport") -> "Receipts | None":
    """Return the receipts of `rooms`, if they keep anything but messages."""
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.receipts import HostedReceipts

        return HostedReceipts(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.receipts import KeptReceipts

    return KeptReceipts(rooms)


def _attachments(rooms: "RoomTransport") -> "Attachments | None":
    """Return the files of `rooms`, if they keep anything but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, _attachments)
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.attachments import HostedAttachments

        return HostedAttachments(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.attachments import KeptAttachments

    return KeptAttachments(rooms)


def _presence(rooms: "RoomTransport") -> "Noticeboard | None":
    """Return where agents say what they do; on one machine nobody asks."""
    if _are_apart(rooms):
        from letagents.adapters.rooms.routed import Unasked

        return _in_both(rooms, lambda one: _presence(one) or Unasked())
    if not _are_on_a_server(rooms):
        return None
    from letagents.adapters.rooms.hosted.presence import HostedPresence

    return HostedPresence(rooms.calls)


def _paths(rooms: "RoomTransport", term: "timedelta") -> "PathClaims | None":
    """Return the claimed paths of `rooms`, if they keep anything but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, lambda one: _paths(one, term))
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.paths import HostedPaths

        return HostedPaths(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.paths import KeptPaths

    return KeptPaths(rooms, term)


def _focus(rooms: "RoomTransport", term: "timedelta") -> "FocusRooms | None":
    """Return what keeps the rooms beside `rooms`, if they keep anything but messages."""
    if _are_apart(rooms):
        return _in_both(rooms, lambda one: _focus(one, term))
    if _are_on_a_server(rooms):
        from letagents.adapters.rooms.hosted.focus_rooms import HostedFocusRooms

        return HostedFocusRooms(rooms.calls)
    if not _keep_books(rooms):
        return None
    from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms

    return KeptFocusRooms(rooms, term)


def _are_on_a_server(rooms: object) -> "TypeGuard[HostedRooms]":
    """Whether rooms are on a server, which then keeps all that is kept in them."""
    loaded = sys.modules.get("letagents.adapters.rooms.hosted.rooms")
    return loaded is not None and isinstance(rooms, loaded.HostedRooms)


def _keep_books(rooms: object) -> "TypeGuard[Keeping]":
    """Whether what is kept in rooms can be kept in these; those that were passed in may not."""
    return hasattr(rooms, "change") and hasattr(rooms, "look")


def _take_notes(rooms: object) -> "TypeGuard[Noting]":
    """Whether what programs report can be kept in these rooms."""
    return _keep_books(rooms) and hasattr(rooms, "note") and hasattr(rooms, "listen_for")


def _quiet_by_default() -> None:
    """Keep structlog off standard output in a process that has not set it up."""
    import logging

    import structlog

    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )


async def _hosted(
    settings: "Settings", state: "StateStore", clock: "Clock", opened: AsyncExitStack
) -> "tuple[HostedRooms, Directory, Attendance]":
    """Return the rooms of a server, who this machine is there, and what proves that it is."""
    from letagents.adapters.own_sign_ins import OwnSignInsFile
    from letagents.adapters.rooms.hosted.attendance import HostedAttendance
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.rooms import HostedRooms
    from letagents.adapters.rooms.hosted.server import HostedServer
    from letagents.application.credentials import Credentials
    from letagents.application.directory import Directory

    url = settings.server_url
    own = OwnSignInsFile(settings.home / "server-owner.json")
    credentials = Credentials(state, clock, url, settings.token, own)
    calls = Calls(await opened.enter_async_context(client_of(url)), credentials)
    # A client of its own: no call is to wait behind an answer that lasts for days.
    streams = Calls(await opened.enter_async_context(client_of(url)), credentials)
    attendance = HostedAttendance(streams, calls)
    return HostedRooms(calls), Directory(credentials, HostedServer(calls)), attendance


@asynccontextmanager
async def open_hosted_rooms(
    url: str, token: str | None = None, *, transport: "AsyncBaseTransport | None" = None
) -> "AsyncIterator[HostedRooms]":
    """Open the rooms of the server at `url`, for whoever has `token` there.

    `transport` is how it is called, where not over the network: an ASGI program in this process.
    """
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.rooms import HostedRooms

    async with client_of(url.rstrip("/"), transport) as client:
        yield HostedRooms(Calls(client, lambda: token))


@asynccontextmanager
async def open_supervisor(
    settings: "Settings",
    written: "Callable[[object], str]",
    tools: "Tools | None" = None,
    *,
    journal_of: "JournalOf | None" = None,
    patience: float = 0.0,
) -> "AsyncIterator[tuple[Supervising, SupervisedEffects]]":
    """Open what a supervisor of this home needs; nobody else supervises it meanwhile.

    One that does is waited for, `patience` seconds.

    `written` writes results as they are kept; with `tools` it does its agents' calls itself.
    `journal_of` returns the journal of a generation, in the place of the home's own file.

    Raises:
        AlreadySupervised: somebody does.
        StateUnavailable: the journal cannot be used.
    """
    from letagents.adapters.supervision.hold import HomeHold
    from letagents.adapters.supervision.sql import SqlSupervision
    from letagents.adapters.system import SystemClock, SystemIds
    from letagents.application.recovering import recover
    from letagents.application.supervised_effects import SupervisedEffects
    from letagents.application.supervising import Supervising

    _quiet_by_default()
    clock = SystemClock()
    async with AsyncExitStack() as opened:
        hold = HomeHold(settings.home)
        opened.callback(hold.close)
        await _taken(hold, patience)
        if journal_of is not None:
            journal: Supervision = journal_of(hold.generation)
        else:
            journal = own = SqlSupervision(settings.home / "supervisor.db", hold.generation)
            opened.push_async_callback(own.aclose)
        await recover(journal, clock)
        sessions = Supervising(journal, hold, clock)
        opened.callback(sessions.vault.forget)
        yield sessions, SupervisedEffects(sessions, SystemIds(), written, tools)


async def _taken(hold: "HomeHold", patience: float) -> None:
    """Take the home, once whoever has it lets go of it within `patience` seconds."""
    import anyio

    from letagents.domain.manifest import AlreadySupervised

    until = anyio.current_time() + patience
    while True:
        try:
            return hold.take()
        except AlreadySupervised:
            if anyio.current_time() >= until:
                raise
            await anyio.sleep(0.05)


@asynccontextmanager
async def open_supervised_rooms(settings: "Settings") -> "AsyncIterator[Servers]":
    """Open the rooms in which a supervisor's agents work, as each is needed.

    What this machine remembers of its chats has no part in it, but for who is signed in.
    """
    from letagents.application.servers import Servers
    from letagents.domain.surfaces import LOCAL_ROOMS

    def open_(api_url: str) -> "AbstractAsyncContextManager[LetAgents]":
        return _rooms_here(settings) if api_url == LOCAL_ROOMS else _rooms_there(settings, api_url)

    servers = Servers(open_, _session_here, settings.hints)
    try:
        yield servers
    finally:
        await servers.aclose()


async def _session_here(
    rooms: "RoomTransport", room_id: "RoomId", session_id: "SessionId"
) -> "Session | None":
    """Return a session of the rooms of this machine."""
    from letagents.adapters.rooms.local import LocalRooms

    if not isinstance(rooms, LocalRooms):
        return None
    return await rooms.look(room_id, lambda book: book.session(session_id))


@asynccontextmanager
async def _rooms_here(settings: "Settings") -> "AsyncIterator[LetAgents]":
    from letagents.adapters.state.memory import MemoryState
    from letagents.domain.storage import ChatStorage

    here = attrs.evolve(
        settings, api_url=None, chat_storage="local", storage=ChatStorage(), token=None
    )
    async with open_letagents(here, state=MemoryState()) as letagents:
        yield letagents


@asynccontextmanager
async def _rooms_there(settings: "Settings", api_url: str) -> "AsyncIterator[LetAgents]":
    """Open the rooms of a server, for who is signed in there on this machine."""
    from letagents.adapters.state.memory import MemoryState
    from letagents.adapters.system import SystemClock

    token = settings.token if settings.server_url == api_url else None
    there = attrs.evolve(settings, api_url=api_url, chat_storage="cloud", token=token)
    async with AsyncExitStack() as opened:
        state = _state(settings, opened)
        rooms, directory, _ = await _hosted(there, state, SystemClock(), opened)
        made = open_letagents(there, state=MemoryState(), rooms=rooms)
        yield attrs.evolve(await opened.enter_async_context(made), directory=directory)


@asynccontextmanager
async def open_own_supervisor(
    settings: "Settings", environ: "Mapping[str, str]", here: "Path"
) -> "AsyncIterator[Supervisor]":
    """Open the way to the supervisor that `environ`, or the folder `here`, names."""
    from letagents.adapters.supervisor.socket import SocketSupervisor
    from letagents.adapters.system import SystemIds

    supervisor = SocketSupervisor(environ, settings.supervisor_socket, here, SystemIds())
    try:
        yield supervisor
    finally:
        await supervisor.aclose()


@asynccontextmanager
async def open_rooms_by_bearer(
    settings: "Settings", *, transport: "AsyncBaseTransport | None" = None
) -> "AsyncIterator[BorrowedRooms]":
    """Open the rooms of a process that was given a worker's bearer, and shows that alone."""
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.rooms import HostedRooms
    from letagents.adapters.state.memory import MemoryState
    from letagents.application.borrowed import BEARER_SESSION, BorrowedRooms, Worker

    bearer = settings.bearer
    async with client_of(settings.server_url, transport) as http:

        def open_(_session: "OwnSession") -> "AbstractAsyncContextManager[LetAgents]":
            calls = Calls(http, lambda: bearer, shows_sessions=False)
            return open_letagents(settings, state=MemoryState(), rooms=HostedRooms(calls))

        rooms = BorrowedRooms(Worker(BEARER_SESSION, settings.hints.display_name), open_)
        try:
            yield rooms
        finally:
            await rooms.aclose()


def own_custody(
    settings: "Settings", environ: "Mapping[str, str]", here: "Path"
) -> "tuple[Custody, str]":
    """Return what admits the polls of this process, and a name for it that no other has."""
    from letagents.adapters.supervisor.custody import SocketCustody
    from letagents.adapters.system import SystemIds

    ids = SystemIds()
    socket = settings.supervisor_socket
    return SocketCustody(environ, settings.caller, socket, here, ids), ids.uuid()


@asynccontextmanager
async def open_borrowed_rooms(
    settings: "Settings",
    supervisor: "Supervisor",
    environ: "Mapping[str, str]",
    here: "Path",
    *,
    transport: "AsyncBaseTransport | None" = None,
) -> "AsyncIterator[BorrowedRooms]":
    """Open the rooms of a supervised process, which calls their server with what is lent to it.

    Raises:
        CoordinatesWrong: as whom it acts is told badly.
    """
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.rooms import HostedRooms
    from letagents.adapters.state.memory import MemoryState
    from letagents.adapters.supervisor import coordinates
    from letagents.application.borrowed import BorrowedRooms, Borrowing, Worker

    found = coordinates.resolve(environ, home_socket=settings.supervisor_socket, here=here)
    worker = None
    if found is not None and found.session_id is not None:
        runtime = settings.caller.provider or "codex"
        worker = Worker(found.session_id, found.display_name, runtime)
    async with client_of(settings.server_url, transport) as http:

        def open_(session: "OwnSession") -> "AbstractAsyncContextManager[LetAgents]":
            calls = Calls(http, Borrowing(supervisor, session), shows_sessions=False)
            return open_letagents(settings, state=MemoryState(), rooms=HostedRooms(calls))

        rooms = BorrowedRooms(worker, open_)
        try:
            yield rooms
        finally:
            await rooms.aclose()


def open_household(
    settings: "Settings",
    servers: "Servers",
    sessions: "Supervising",
    words: "Words",
    *,
    providers: "Mapping[str, Provider] | None" = None,
    grants: "Grants | None" = None,
) -> "Household":
    """Return the agents of a supervisor, whose rooms are those of `servers`.

    `providers` run agents in the place of the programs of those names.
    """
    from letagents.adapters.providers.model_keys import OwnKeys
    from letagents.adapters.system import SystemIds
    from letagents.adapters.worktrees import GitWorktrees
    from letagents.application.household import Household
    from letagents.application.keeping import Keeper
    from letagents.application.launching import launcher
    from letagents.application.open_models import OpenModels
    from letagents.domain import inbox, manifest, turn_answers
    from letagents.domain.errors import NotAvailable

    programs = ("codex", "claude-code", "open-model", "cursor")
    ids, given, models = SystemIds(), providers or {}, OpenModels(OwnKeys())
    trees = GitWorktrees(settings.home.resolve() / "worktrees")
    tools = (sys.executable, "-m", "letagents", "mcp")

    async def said(turn_key: str) -> "Answered | Silent | None":
        item_id = inbox.item_of(turn_key)
        return turn_answers.said(await sessions.journal.look(lambda journal: journal.item(item_id)))

    def lodging_of(entry_id: str) -> "LodgingOf":
        async def lodging(api_url: str) -> "Lodging":
            granted = await grants.lodging(entry_id) if grants is not None else None
            return granted or await servers.lodging(api_url)

        return lodging

    def keeper_of(entry: "Entry") -> Keeper:
        manifest.check_polling(entry)
        if entry.provider not in programs and entry.provider not in given:
            raise NotAvailable(
                f"This version cannot run agents of {entry.provider}.",
                remedy=f"Use one of {', '.join(programs)}.",
            )
        return Keeper(
            entry.entry_id,
            sessions,
            given.get(entry.provider)
            or agent_provider(
                entry.provider, settings, endpoint=lambda: models.endpoint(entry), said=said
            ),
            lodging_of(entry.entry_id),
            words,
            ids,
            launcher(str(settings.supervisor_socket), tools),
            workplaces=trees,
        )

    made = Household(
        sessions.journal, keeper_of, sessions.hold.generation, trees, ids, models, grants
    )
    if grants is not None:
        grants.look_again, grants.granted.withdraw = made.look_again, made.withdraw
        servers.granted = grants.letagents
    return made


@asynccontextmanager
async def open_grants(
    settings: "Settings",
    sessions: "Supervising",
    *,
    transport: "AsyncBaseTransport | None" = None,
) -> "AsyncIterator[Grants]":
    """Open what holds the host grants of a supervisor's agents; they are forgotten with it.

    `transport` is how servers are called, where not over the network.
    """
    from letagents.adapters.system import SystemIds
    from letagents.application.granted_sessions import GrantedSessions
    from letagents.application.granting import Grants

    async with AsyncExitStack() as opened:
        way_to = functools.cache(functools.partial(_way_to, settings, opened, transport))
        grants = Grants(GrantedSessions(sessions, SystemIds(), way_to))
        opened.push_async_callback(grants.aclose)
        yield grants


async def renewed_grant(grant: "Grant") -> "Renewed":
    """Return a host grant as its server renews it.

    Raises:
        GrantCallFailed: it does not.
    """
    from letagents.adapters.rooms.hosted.calls import client_of
    from letagents.adapters.rooms.hosted.grants import HttpGrantServer
    from letagents.domain.held_grants import LASTS

    async with client_of(grant.api_url.rstrip("/")) as client:
        return await HttpGrantServer(client).renew(grant, LASTS)


def _way_to(
    settings: "Settings",
    opened: AsyncExitStack,
    transport: "AsyncBaseTransport | None",
    api_url: str,
) -> "Way":
    """Return what asks a server with grants, and opens the rooms of who is let in by one."""
    from letagents.adapters.rooms.hosted.calls import Calls, client_of
    from letagents.adapters.rooms.hosted.grants import GrantedRooms, HttpGrantServer
    from letagents.adapters.state.memory import MemoryState
    from letagents.application.granted_sessions import Way

    client = client_of(api_url.rstrip("/"), transport)
    opened.push_async_callback(client.aclose)
    there = attrs.evolve(settings, api_url=api_url.rstrip("/"), chat_storage="cloud", token=None)

    def open_(shown: "Shown") -> "AbstractAsyncContextManager[LetAgents]":
        rooms = GrantedRooms(Calls(client, shown, shows_sessions=False), opened=shown.opened)
        return open_letagents(there, state=MemoryState(), rooms=rooms)

    return Way(HttpGrantServer(client), open_)


def supervisor_service(settings: "Settings", environ: "Mapping[str, str]") -> "Service":
    """Return what runs the supervisor of this home whenever its user is there."""
    from letagents.adapters.services import service

    return service(settings.home.absolute(), environ)


async def ask_supervisor(
    settings: "Settings",
    method: str,
    params: "Mapping[str, object]",
    patience: float | None = None,
) -> object:
    """Return what the supervisor of this home answers to a person, within so many seconds.

    One that hands over is followed to the next one.

    Raises:
        SupervisorUnavailable, SupervisorSilent: it does not answer.
        SupervisorRefused: it refuses.
    """
    import anyio

    from letagents.adapters.supervisor.calls import Deadline, Line, refused
    from letagents.adapters.supervisor.successors import outlasting
    from letagents.adapters.system import SystemIds
    from letagents.domain.supervised import PATIENCE

    line = Line(settings.supervisor_socket, SystemIds())

    async def ask() -> object:
        deadline = Deadline.within(patience or PATIENCE.total_seconds())
        negotiated = await line.negotiate(deadline)
        response = await line.ask(negotiated.version, method, params, deadline)
        if not response.ok:
            raise refused(response.error or f"The supervisor refused {method}.", response.remedy)
        return response.result

    return await outlasting(ask, within=0.0, pause=anyio.sleep, is_repeatable=False)


async def examine(settings: "Settings") -> "list[Finding]":
    """Return what is to be said of the places that `settings` name; nothing is opened for long."""
    from anyio import to_thread

    from letagents.adapters import folders
    from letagents.adapters.processes import health as processes_health
    from letagents.adapters.processes.locks import ProcessLocks
    from letagents.adapters.rooms import health as rooms_health
    from letagents.adapters.state import health as state_health
    from letagents.adapters.system import SystemIds

    async with AsyncExitStack() as opened:
        return [
            *folders.examine("home", settings.home),
            *folders.openness("home", settings.run_dir),
            *await state_health.examine(_state(settings, opened)),
            *await to_thread.run_sync(rooms_health.examine, settings.rooms_db),
            await to_thread.run_sync(_wake_ups, settings),
            processes_health.examine(ProcessLocks(settings.run_dir, SystemIds()), settings.run_dir),
            *(await _server_health(settings, opened) if settings.has_hosted_rooms else []),
        ]


async def _server_health(settings: "Settings", opened: AsyncExitStack) -> "list[Finding]":
    from letagents.adapters.rooms.hosted import health
    from letagents.adapters.system import SystemClock

    state = _state(settings, opened)
    _, directory, _ = await _hosted(settings, state, SystemClock(), opened)
    return await health.examine(settings.server_url, directory.server, directory.verified)


def _wake_ups(settings: "Settings") -> "Finding":
    from letagents.adapters.nudges import health
    from letagents.adapters.nudges.datagram import DatagramNudges
    from letagents.adapters.nudges.postgres import PostgresNudges
    from letagents.adapters.system import SystemIds

    if settings.rooms_are_on_a_server:
        return health.examine_server(PostgresNudges(settings.rooms_db))
    return health.examine(DatagramNudges(settings.run_dir, SystemIds()), settings.run_dir)
