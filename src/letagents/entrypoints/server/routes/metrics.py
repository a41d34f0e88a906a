"""What the server counts, for who looks after it."""

from starlette.responses import Response

from letagents.domain.errors import LetAgentsError
from letagents.entrypoints.server import metrics as form
from letagents.entrypoints.server.calls import Call
from letagents.ports.vitals import Vitals


async def metrics(call: Call) -> Response:
    """Show what is counted, in the form that Prometheus reads."""
    _ = call.account
    shown = form.exposition(call.hosting.answered, await _vitals(call))
    return Response(shown, headers={"Content-Type": form.MEDIA})


async def _vitals(call: Call) -> Vitals | None:
    try:
        return await call.hosting.watched.vitals() if call.hosting.watched else None
    except LetAgentsError:
        return None


ROUTES = (("GET", "/metrics", metrics),)
