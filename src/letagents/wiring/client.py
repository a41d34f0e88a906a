"""All that one chat can do, from settings: what is opened here is closed here, and nothing else."""

import functools
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import attrs

from letagents.adapters.forges import WebForges
from letagents.adapters.git import GitCheckouts, GitSurroundings, Patience
from letagents.adapters.system import SystemClock, SystemIds
from letagents.application.client import LetAgents
from letagents.application.onboarding import Installation
from letagents.wiring import local, room_ports
from letagents.wiring.quiet import quiet_by_default

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from letagents.application.chat import Machine
    from letagents.application.directory import Directory
    from letagents.ports.attendance import Attendance
    from letagents.ports.clock import Clock
    from letagents.ports.forges import Forges
    from letagents.ports.ids import Ids
    from letagents.ports.live_codex import LiveCodex
    from letagents.ports.rooms import RoomTransport
    from letagents.ports.state import StateStore
    from letagents.ports.surroundings import Checkouts, Surroundings
    from letagents.settings import Settings

P = ParamSpec("P")
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
) -> "AsyncIterator[LetAgents]":
    """Build it, hand it over, and close what was opened here.

    Nothing is read, made or connected before it is first needed.
    """
    quiet_by_default()
    clock, ids, patience = clock or SystemClock(), ids or SystemIds(), Patience()
    async with AsyncExitStack() as opened:
        state = state or local.state(settings, opened)
        if rooms is None:
            place = await _place(settings, state, clock, ids, opened)
        else:
            place = _Place(rooms)
        rooms, term = place.rooms, settings.lease_term
        yield LetAgents(
            state=state,
            rooms=rooms,
            surroundings=surroundings or GitSurroundings(patience=patience),
            clock=clock,
            ids=ids,
            longest_wait=settings.poll_cap,
            api_url=settings.api_url,
            directory=place.directory,
            attendance=place.attendance or attendance,
            machine=place.machine,
            checkouts=checkouts or GitCheckouts(patience=patience),
            forges=forges or WebForges(),
            installation=_installation(settings),
            memory=_once(room_ports.memory, rooms, clock),
            board=_once(room_ports.board, rooms, term),
            governance=_once(room_ports.governance, rooms),
            paths=_once(room_ports.paths, rooms, term),
            focus=_once(room_ports.focus, rooms, term),
            codex=_once(_codex, settings.run_dir) if codex is None else lambda: codex,
            codex_observed=settings.codex_observed,
            reports=_once(room_ports.reports, rooms),
            presence=_once(room_ports.presence, rooms),
            receipts=_once(room_ports.receipts, rooms),
            attachments=_once(room_ports.attachments, rooms),
        )


@attrs.frozen
class _Place:
    """Where the rooms are, and who this machine is there."""

    rooms: "RoomTransport"
    attendance: "Attendance | None" = None
    directory: "Directory | None" = None
    machine: "Machine | None" = None


async def _place(
    settings: "Settings", state: "StateStore", clock: "Clock", ids: "Ids", opened: AsyncExitStack
) -> _Place:
    if not settings.has_hosted_rooms:
        return _Place(local.rooms(settings, clock, ids, opened))
    from letagents.adapters import machine
    from letagents.wiring import hosted

    there, directory, attendance = await hosted.rooms(settings, state, clock, opened)
    if not settings.rooms_are_apart:
        return _Place(there, attendance, directory, machine.parts)
    from letagents.adapters.rooms.routed import RoutedAttendance, RoutedRooms, Routes

    here, is_hosted = local.rooms(settings, clock, ids, opened), Routes(settings.is_hosted)
    rooms = cast("RoomTransport", RoutedRooms(here, there, is_hosted))
    return _Place(rooms, RoutedAttendance(attendance, is_hosted), directory, machine.parts)


def _installation(settings: "Settings") -> Installation:
    return Installation(
        state_path=str(settings.state_path),
        api_url=settings.api_url,
        has_owner_token=settings.caller.has_owner_token,
        rooms_are_apart=settings.rooms_are_apart,
    )


def _codex(run_dir: "Path") -> "LiveCodex":
    from letagents.wiring.providers import live_codex

    return live_codex(run_dir)


def _once(port: "Callable[P, T]", *facts: P.args, **named: P.kwargs) -> "Callable[[], T]":
    """Return what loads a port when it is first asked for."""
    return functools.cache(functools.partial(port, *facts, **named))
