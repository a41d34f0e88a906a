"""What this machine keeps: the state of its chats, and rooms in a file or a database server."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from letagents.adapters.rooms.bells import Nudges
    from letagents.adapters.state.json_file import JsonFileState
    from letagents.adapters.state.sqlite import SqliteState
    from letagents.ports.clock import Clock
    from letagents.ports.ids import Ids
    from letagents.ports.rooms import RoomTransport
    from letagents.settings import Settings


def state(settings: "Settings", opened: "AsyncExitStack") -> "JsonFileState | SqliteState":
    """Return what remembers the chats of this machine."""
    if settings.state == "sqlite":
        from letagents.adapters.state.sqlite import SqliteState

        kept = SqliteState(settings.state_path.with_suffix(".db"))
        opened.callback(kept.close)
        return kept
    from letagents.adapters.state.json_file import JsonFileState

    return JsonFileState(settings.state_path)


def rooms(
    settings: "Settings", clock: "Clock", ids: "Ids", opened: "AsyncExitStack"
) -> "RoomTransport":
    """Return the rooms of this machine."""
    from letagents.adapters.processes.locks import ProcessLocks, said_every
    from letagents.adapters.rooms.local import LocalRooms

    clock, nudges = clock_and_nudges(settings, clock, ids, opened)
    processes = ProcessLocks(settings.run_dir, ids, clock, said_every(settings.lease_term))
    opened.callback(processes.close)
    made = LocalRooms(
        settings.rooms_db,
        ids,
        clock,
        nudges,
        processes,
        term=settings.lease_term,
        grace=settings.notice_after,
    )
    opened.push_async_callback(made.aclose)
    return made


def clock_and_nudges(
    settings: "Settings", clock: "Clock", ids: "Ids", opened: "AsyncExitStack"
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
