"""What is to be said of the places that settings name."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from anyio import to_thread

from letagents.adapters import folders
from letagents.adapters.nudges import health as nudges_health
from letagents.adapters.nudges.datagram import DatagramNudges
from letagents.adapters.nudges.postgres import PostgresNudges
from letagents.adapters.processes import health as processes_health
from letagents.adapters.processes.locks import ProcessLocks
from letagents.adapters.rooms import health as rooms_health
from letagents.adapters.state import health as state_health
from letagents.adapters.system import SystemClock, SystemIds
from letagents.wiring import local

if TYPE_CHECKING:
    from letagents.ports.health import Finding
    from letagents.settings import Settings


async def examine(settings: "Settings") -> "list[Finding]":
    """Return what is to be said of the places that `settings` name; nothing is opened for long."""
    async with AsyncExitStack() as opened:
        return [
            *folders.examine("home", settings.home),
            *folders.openness("home", settings.run_dir),
            *await state_health.examine(local.state(settings, opened)),
            *await to_thread.run_sync(rooms_health.examine, settings.rooms_db),
            await to_thread.run_sync(_wake_ups, settings),
            processes_health.examine(ProcessLocks(settings.run_dir, SystemIds()), settings.run_dir),
            *(await _server_health(settings, opened) if settings.has_hosted_rooms else []),
        ]


async def _server_health(settings: "Settings", opened: AsyncExitStack) -> "list[Finding]":
    from letagents.adapters.rooms.hosted import health
    from letagents.wiring import hosted

    state = local.state(settings, opened)
    _, directory, _ = await hosted.rooms(settings, state, SystemClock(), opened)
    return await health.examine(settings.server_url, directory.server, directory.verified)


def _wake_ups(settings: "Settings") -> "Finding":
    if settings.rooms_are_on_a_server:
        return nudges_health.examine_server(PostgresNudges(settings.rooms_db))
    return nudges_health.examine(DatagramNudges(settings.run_dir, SystemIds()), settings.run_dir)
