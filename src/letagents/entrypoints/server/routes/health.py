"""How the server is: for load balancers, and for clients that look for it."""

from importlib.metadata import version

import anyio
from starlette.responses import Response

from letagents.domain.errors import LetAgentsError
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call

PATIENCE = 5.0
"""Seconds that writing may take before it counts as not possible now."""


async def alive(_call: Call) -> Response:
    """Say that the process is there, without looking at anything."""
    return answer({"status": "ok", "version": version("letagents")})


async def healthy(call: Call) -> Response:
    """Say whether something can be written now, and synced: by doing it."""
    problem = await _problem(call)
    if problem is not None:
        return answer({"status": "unhealthy", "error": problem}, 503)
    return answer({"status": "ok"})


async def ready(call: Call) -> Response:
    """Say whether requests are to be sent here."""
    if call.hosting.stopping.is_set():
        return answer({"status": "stopping"}, 503)
    return await healthy(call)


async def _problem(call: Call) -> str | None:
    """Return why nothing can be written, without naming the place."""
    try:
        with anyio.fail_after(PATIENCE):
            await call.hosting.proven()
    except TimeoutError:
        return f"writing took longer than {PATIENCE:.0f} seconds"
    except LetAgentsError as error:
        return error.code
    return None


ROUTES = (
    ("GET", "/api/health", alive),
    ("GET", "/healthz", healthy),
    ("GET", "/readyz", ready),
)
