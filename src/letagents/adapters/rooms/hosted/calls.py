"""Calls of a room server: each is sent once, and what becomes of it is told in our own errors.

(Source: mcp-tools 4.1, 4.2.) Where nothing was sent, or nothing can have happened, the server is
unavailable; where it may have happened, the outcome is unknown.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs
import httpx
import orjson

from letagents.domain.accounts import NotSignedIn, NotYourAgent, WorkerSessionRequired
from letagents.domain.errors import (
    LetAgentsError,
    Malformed,
    OutcomeUnknown,
    RoomsUnavailable,
    UnknownRoom,
)
from letagents.wire.http import problems
from letagents.wire.http.reading import Unreadable

T = TypeVar("T")

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class Absent(UnknownRoom):
    """What the path names is not there, and it is not said to be the room that is missing."""


@attrs.define(eq=False)
class Calls:
    """One server, as one account sees it. `token` is asked for anew for each call."""

    _client: httpx.AsyncClient
    _token: Callable[[], str | None]

    async def get(
        self,
        path: str,
        read: Callable[[Any], T],
        *,
        query: Mapping[str, str | int | None] | None = None,
        headers: Mapping[str, str] | None = None,
        patience: float | None = None,
    ) -> T:
        """Return what `read` makes of the answer. Nothing is changed by it, so failing is harmless.

        Raises:
            RoomsUnavailable: there is no answer, or none of the form that it has to have.
            LetAgentsError: what the server says.
        """
        given = {name: value for name, value in (query or {}).items() if value is not None}
        timeout = self._client.timeout if patience is None else httpx.Timeout(10, read=patience)
        try:
            answer = await self._client.get(
                path, params=given, headers=self._headers(headers), timeout=timeout
            )
            return _read(answer, read)
        except (httpx.HTTPError, Unreadable) as error:
            raise _unavailable(error) from error

    async def send(
        self,
        method: str,
        path: str,
        document: Mapping[str, object],
        read: Callable[[Any], T],
        *,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """Send what changes something, once, and return what `read` makes of the answer.

        Raises:
            RoomsUnavailable: it was not sent.
            OutcomeUnknown: it was sent, and no answer that can be read came.
            LetAgentsError: what the server says.
        """
        try:
            answer = await self._client.request(
                method, path, content=orjson.dumps(document), headers=self._headers(headers)
            )
        except _NOT_SENT as error:
            raise _unavailable(error) from error
        except httpx.HTTPError as error:
            raise _unknown(error) from error
        try:
            return _read(answer, read)
        except Unreadable as error:
            raise _unknown(error) from error

    def _headers(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        token = self._token()
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        return {"Content-Type": "application/json", **shown, **(more or {})}


def _read(answer: httpx.Response, read: Callable[[Any], T]) -> T:
    document = _document(answer)
    if answer.is_success:
        return read(document)
    raise problems.error(document) or _of_status(answer.status_code, document)


def _document(answer: httpx.Response) -> Any:
    try:
        return orjson.loads(answer.content) if answer.content else None
    except orjson.JSONDecodeError:
        if answer.is_success:
            raise Unreadable("it is not JSON") from None
        return None


def _of_status(status: int, document: object) -> LetAgentsError:
    """Return the error for an answer of a server that says no more than the interface."""
    fields = document if isinstance(document, dict) else {}
    said, code = fields.get("error"), fields.get("code")
    told = f"The room server answers {status}: {str(said)[:300] if said else 'no reason given'}."
    if status < 500 and (known := problems.of_code(code, told)) is not None:
        return known
    if status == 401:
        return NotSignedIn(told, remedy="Sign in again: call start_device_auth.")
    if status == 403:
        kind = WorkerSessionRequired if "worker session" in str(said).lower() else NotYourAgent
        return kind(told, remedy="Call register_agent_session, or use an account that may.")
    if status == 404:
        missing = UnknownRoom if code == "ROOM_NOT_FOUND" else Absent
        return missing(told, remedy="Call join_room(name=...) to open it.")
    if status in (400, 413, 422):
        return Malformed(told, remedy="Correct what was passed.")
    if status == 429 or status >= 500:
        return RoomsUnavailable(told, remedy="Call again after a while.")
    return LetAgentsError(told, remedy="Read the room, then decide.")


def _unavailable(error: Exception) -> RoomsUnavailable:
    return RoomsUnavailable(
        f"The room server cannot be used now: {_in_short(error)}.",
        remedy="Nothing happened. Call again after a while.",
    )


def _unknown(error: Exception) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"The room server did not confirm what was asked: {_in_short(error)}.",
        remedy="Read the room before calling again, or call again with the same key.",
    )


def _in_short(error: Exception) -> str:
    """Return what failed; never an address, which may hold a password."""
    if isinstance(error, Unreadable):
        return f"its answer cannot be read ({error})"
    return type(error).__name__
