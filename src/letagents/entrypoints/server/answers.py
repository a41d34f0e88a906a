"""What is answered: JSON, and our errors in the words of the interface."""

from typing import Any

import orjson
import structlog
from starlette.responses import Response

from letagents.domain.accounts import (
    AdminRequired,
    NotSignedIn,
    NotYourAgent,
    WorkerSessionRequired,
)
from letagents.domain.errors import LetAgentsError
from letagents.wire.http import problems

log = structlog.get_logger()

_STATUS: dict[type[LetAgentsError], int] = {
    NotSignedIn: 401,
    NotYourAgent: 403,
    AdminRequired: 403,
    WorkerSessionRequired: 403,
}


class Refused(Exception):
    """A request is answered with a status and a text of the interface."""

    def __init__(self, status: int, text: str, *, code: str | None = None, **more: object) -> None:
        super().__init__(text)
        self.status = status
        self.body = {"error": text, **({"code": code} if code else {}), **more}


def answer(document: Any, status: int = 200) -> Response:
    """Return `document` as an answer."""
    return Response(orjson.dumps(document), status, media_type="application/json")


def problem(error: Exception) -> Response:
    """Return what is answered where `error` was raised."""
    if isinstance(error, Refused):
        return answer(error.body, error.status)
    if isinstance(error, LetAgentsError):
        status, body = problems.plain(error)
        return answer(body, _STATUS.get(type(error), status))
    log.error("request.failed", exc_info=error)
    return answer({"error": "The request could not be carried out."}, 500)
