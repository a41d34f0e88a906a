"""What is answered: JSON, and our errors in the words of the interface."""

from typing import Any

import attrs
import orjson
import structlog
from starlette.responses import Response

from letagents.domain import serving
from letagents.domain.accounts import LoginTaken, NotYourAgent, WorkerSessionRequired
from letagents.domain.errors import LetAgentsError, NotSignedIn
from letagents.wire.http import problems
from letagents.wire.http.problems import Forms
from letagents.wire.http.reading import Unreadable

log = structlog.get_logger()

_STATUS: dict[type[LetAgentsError], int] = {
    NotSignedIn: 401,
    NotYourAgent: 403,
    LoginTaken: 409,
    WorkerSessionRequired: 403,
}


class Refused(Exception):
    """A request is answered with a status and a text of the interface."""

    def __init__(self, status: int, text: str, *, code: str | None = None, **more: object) -> None:
        super().__init__(text)
        self.status = status
        self.body = {"error": text, **({"code": code} if code else {}), **more}


class Told(Exception):
    """An error of ours is answered in the words that a route has for it."""

    def __init__(self, error: LetAgentsError, forms: Forms) -> None:
        super().__init__(str(error))
        self.error, self.forms = error, forms


@attrs.frozen
class told:  # noqa: N801  # it reads as what it does
    """Lets errors be answered in these forms, where they are not everybody's."""

    _forms: Forms

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        """Raise an error that has such a form as one that is told so."""
        if isinstance(error, LetAgentsError) and isinstance(error, tuple(self._forms)):
            raise Told(error, self._forms) from error


def answer(document: Any, status: int = 200) -> Response:
    """Return `document` as an answer. Who is told that nothing can be done now may ask soon."""
    headers = {"Retry-After": "1"} if status == 503 else None
    return Response(orjson.dumps(document), status, headers, media_type="application/json")


def problem(error: Exception) -> Response:
    """Return what is answered where `error` was raised."""
    if isinstance(error, Refused):
        return answer(error.body, error.status)
    if isinstance(error, Told):
        status, body = problems.plain(_for_others(error.error), error.forms)
        return answer(body, status)
    if isinstance(error, Unreadable):
        return answer({"error": f"The request cannot be read: {error}."}, 400)
    if isinstance(error, LetAgentsError):
        status, body = problems.plain(_for_others(error))
        return answer(body, _STATUS.get(type(error), status))
    log.error("request.failed", exc_info=error)
    return answer({"error": "The request could not be carried out."}, 500)


def _for_others(error: LetAgentsError) -> LetAgentsError:
    told = serving.for_others(error)
    if told is not error:
        log.error("rooms.failed", happened=error.happened, remedy=error.remedy)
    return told
