"""The ways to a supervisor: of an agent's process, and of a person."""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from letagents.adapters.services import Service
    from letagents.ports.custody import Custody
    from letagents.ports.supervisor import Supervisor
    from letagents.settings import Settings


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


def own_custody(
    settings: "Settings", environ: "Mapping[str, str]", here: "Path"
) -> "tuple[Custody, str]":
    """Return what admits the polls of this process, and a name for it that no other has."""
    from letagents.adapters.supervisor.custody import SocketCustody
    from letagents.adapters.system import SystemIds

    ids = SystemIds()
    socket = settings.supervisor_socket
    return SocketCustody(environ, settings.caller, socket, here, ids), ids.uuid()


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


def supervisor_service(settings: "Settings", environ: "Mapping[str, str]") -> "Service":
    """Return what runs the supervisor of this home whenever its user is there."""
    from letagents.adapters.services import service

    return service(settings.home.absolute(), environ)
