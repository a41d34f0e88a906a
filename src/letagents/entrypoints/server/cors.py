"""Which pages in browsers may read what the server answers: its own, by any of its names.

(Source: hosted-api 1.5.) A page may call with a token; the cookie of a browser counts only for a
page of the very host that is called, so no answer allows credentials.
"""

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from letagents.application.server.hosting import Hosting
from letagents.domain import serving
from letagents.wire.http import credentials

METHODS = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
ALLOWED = (
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    credentials.SESSION_ID,
    credentials.SESSION_TOKEN,
    credentials.GENERATION,
    credentials.ORIGIN_ROOM,
    credentials.DESKTOP,
)
_VARIES = (b"vary", b"Origin")


class Cors:
    """The application `inner`, for pages too."""

    def __init__(self, inner: ASGIApp, hosting: Hosting) -> None:
        self._inner = inner
        self._known = (hosting.base_url, *hosting.addresses)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whoever asks what may be asked is told without more ado."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        origin = next((shown for name, shown in scope["headers"] if name == b"origin"), None)

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], _VARIES]
                if origin is not None:
                    self._tell(origin.decode("latin-1"), MutableHeaders(scope=message))
            await send(message)

        if scope["method"] == "OPTIONS":
            await Response(status_code=204)(scope, receive, told)
        else:
            await self._inner(scope, receive, told)

    def _tell(self, origin: str, headers: MutableHeaders) -> None:
        if not serving.is_our_page(origin, "", self._known):
            return
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Allow-Methods"] = METHODS
        headers["Access-Control-Allow-Headers"] = ", ".join(ALLOWED)
