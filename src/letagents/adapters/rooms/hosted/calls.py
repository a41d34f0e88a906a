"""Calls of a room server: each is sent once, and what becomes of it is told in our own errors.

(Source: mcp-tools 4.1, 4.2.) Where nothing was sent, or nothing can have happened, the server is
unavailable; where it may have happened, the outcome is unknown.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar

import anyio
import attrs
import httpx
import orjson

from letagents.adapters.rooms.hosted import bounded
from letagents.adapters.rooms.hosted.bounded import Answer
from letagents.adapters.rooms.hosted.projects import Absent, NoRoute, Projects
from letagents.domain.accounts import NotYourAgent, WorkerSessionRequired
from letagents.domain.errors import (
    LetAgentsError,
    Malformed,
    NotConnected,
    NotSignedIn,
    OutcomeUnknown,
    RoomsUnavailable,
    SessionEnded,
    SignInFirst,
    UnknownRoom,
)
from letagents.domain.ids import SessionId, Token
from letagents.wire.http import credentials, problems
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN
from letagents.wire.http.reading import Unreadable

T = TypeVar("T")

LONGEST_LINE = 64 * 1024
"""Bytes of a stream's line; the servers' own are some hundreds."""
READING = 5.0
"""Seconds that the refusal of a stream may take to be read."""
BEYOND = 30.0
"""Seconds in which an answer has to be whole, beyond those in which it has to begin."""

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


Worker = tuple[SessionId | None, Token | None, bool]
"""The session that a call shows, its secret, and whether the call shows any worker's secret."""


class NoStream(LetAgentsError):
    """The server was asked for a stream, and answered with something else."""

    code = "no_stream"


class Busy(RoomsUnavailable):
    """The server says that it is busy: nothing happened, and it may be asked again soon."""


class Shows(Protocol):
    """What is shown to a server, and what becomes of it when the server refuses."""

    async def token(self) -> str | None:
        """Return the account's token."""
        ...

    async def refused(self, token: str) -> None:
        """Hear that the server knows the token no more."""
        ...

    async def session_ended(self, session_id: SessionId, token: Token) -> None:
        """Hear that the server ended a session."""
        ...


@attrs.frozen
class Always:
    """Shows what a function returns, whatever becomes of it."""

    _token: Callable[[], str | None]

    async def token(self) -> str | None:
        """Return the account's token."""
        return self._token()

    async def refused(self, token: str) -> None:
        """Do nothing: whoever gave the token hears of it by the error."""

    async def session_ended(self, session_id: SessionId, token: Token) -> None:
        """Do nothing: nothing is remembered here."""


def client_of(url: str, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
    """Return what calls the server at `url`; whoever opens it has to close it."""
    # As many at once as there is room for: each chat that waits holds one.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(
        base_url=url,
        limits=limits,
        timeout=httpx.Timeout(30, connect=10),
        transport=transport,
        trust_env=False,
    )


def _shows(given: Shows | Callable[[], str | None]) -> Shows:
    return Always(given) if callable(given) else given


@attrs.define(eq=False)
class Calls:
    """One server, as one account sees it. What is shown is asked for anew for each call."""

    _client: httpx.AsyncClient
    _shows: Shows = attrs.field(converter=_shows)
    projects: Projects = attrs.field(factory=Projects)
    _beyond: float = BEYOND
    _largest: int = bounded.LARGEST
    shows_sessions: bool = True
    """Whether a session's secret is shown beside what the server knows the caller by."""
    origin: str | None = None
    """The room that every call says it is made in, whatever it says else."""

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
        token = await self._shows.token()
        shown = self._shown(token, headers)
        try:
            answer = await self._answered("GET", path, shown, timeout, params=given)
            if answer.is_success:
                return _read(answer, read)
        except (httpx.HTTPError, Unreadable) as error:
            raise _unavailable(error) from error
        raise await self._refusal(answer, token, _worker_in_headers(headers or {}), shown)

    def _shown(self, token: str | None, more: Mapping[str, str] | None) -> dict[str, str]:
        """Return the headers of a call."""
        return _headers(token, self._of_session(more)) | credentials.of_room(self.origin)

    def _of_session(self, shown: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return credentials.without(shown) if shown and not self.shows_sessions else shown

    async def _answered(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        timeout: httpx.Timeout,
        **more: Any,
    ) -> Answer:
        request = self._client.build_request(method, path, headers=headers, timeout=timeout, **more)
        within = (timeout.read or 0.0) + self._beyond
        return await bounded.answered(self._client, request, within, self._largest)

    def own_path(self, address: str) -> str | None:
        """Return which path of this server an address is; None for another one's, and for none."""
        try:
            there = httpx.URL(address)
        except httpx.InvalidURL:
            return None
        here = self._client.base_url
        if (there.scheme, there.netloc) != (here.scheme, here.netloc):
            return None
        return there.raw_path.decode("ascii")

    async def ask(self, path: str) -> tuple[int, Any]:
        """Return the status and the document of an answer, whatever it says.

        Raises:
            RoomsUnavailable: there is none.
        """
        try:
            answer = await self._answered("GET", path, _headers(None), self._client.timeout)
        except httpx.HTTPError as error:
            raise _unavailable(error) from error
        return answer.status_code, answer.document_or_none()

    async def status(self, path: str, within: float) -> tuple[int | None, str | None]:
        """Return the status of an answer, or else why there is none."""
        try:
            answer = await self._answered("GET", path, _headers(None), httpx.Timeout(within))
        except httpx.HTTPError as error:
            return None, _in_short(error)
        return answer.status_code, None

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: Mapping[str, str], patience: float, silence: float
    ) -> AsyncIterator[AsyncIterator[str]]:
        """Open a stream whose answer begins within `patience`; yield its lines.

        They end where the stream does, breaks off, or brings nothing for `silence`, in seconds.

        Raises:
            Absent, NoStream: the server has no such stream.
            RoomsUnavailable: there is no answer.
            LetAgentsError: what the server says.
        """
        timeout = httpx.Timeout(patience, read=silence)
        token = await self._shows.token()
        shown = self._shown(token, headers)
        request = self._client.build_request("GET", path, headers=shown, timeout=timeout)
        try:
            with anyio.fail_after(patience):
                answer = await self._client.send(request, stream=True)
        except (httpx.HTTPError, TimeoutError) as error:
            raise _unavailable(error) from error
        async with aclosing(answer):
            _check_is_stream(answer)
            if not answer.is_success:
                refused = await _read_soon(answer)
                raise await self._refusal(refused, token, _worker_in_headers(headers), shown)
            async with aclosing(_lines(answer)) as lines:
                yield lines

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
        token = await self._shows.token()
        headers, document = self._of_session(headers), self._of_session(document) or {}
        shown, content = self._shown(token, headers), orjson.dumps(document)
        try:
            answer = await self._answered(
                method, path, shown, self._client.timeout, content=content
            )
        except _NOT_SENT as error:
            raise _unavailable(error) from error
        except httpx.HTTPError as error:
            raise _unknown(error) from error
        if not answer.is_success:
            by_headers = headers is not None and SESSION_ID in headers
            worker = _worker_in_headers(headers or {}) if by_headers else _worker_in_body(document)
            refusal = await self._refusal(answer, token, worker, shown | dict(document))
            if _is_untold(answer, refusal):
                raise _unknown(refusal) from refusal
            raise refusal
        try:
            return _read(answer, read)
        except Unreadable as error:
            raise _unknown(error) from error

    async def _refusal(
        self, answer: Answer, token: str | None, worker: Worker, shown: Mapping[str, object]
    ) -> LetAgentsError:
        """Return what the server says, but nothing of what it was `shown`.

        A worker's 401 never signs the account out.
        """
        document = answer.document_or_none(_secrets(token, shown))
        told = problems.error(document)
        if answer.status_code == 503:
            return _busy(told or _of_status(answer, document))
        if answer.status_code != 401:
            return told or _of_status(answer, document)
        if token is not None and not self.shows_sessions:  # then it is all that was refused
            await self._shows.refused(token)
        session_id, secret, is_shown = worker
        said = str(document.get("error")) if isinstance(document, dict) else ""
        if session_id is not None and secret is not None and problems.ENDED in said:
            await self._shows.session_ended(session_id, secret)
            room = _room_in(answer.path)
            return told or SessionEnded(None, room, "the room ended its session", session_id)
        if is_shown:
            room = _room_in(answer.path)
            return told or NotConnected(None, room, "the room admits it no more", session_id)
        if token is not None:
            await self._shows.refused(token)
        return told or _of_status(answer, document)


def _read(answer: Answer, read: Callable[[Any], T]) -> T:
    """Return what `read` makes of an answer.

    Raises:
        Unreadable: nothing; what it spells is of no form that we know, which is not the caller's
            doing.
    """
    try:
        return read(answer.document())
    except Malformed as error:
        raise Unreadable("a part of it has no form that is known") from error


def _is_untold(answer: Answer, refusal: LetAgentsError) -> bool:
    """Whether a failure that is answered says nothing of whether what was asked happened.

    So is one of a server on the way that heard nothing from the next, and one that names another
    place where the outcome can be read. Of 503 the interface says that nothing happened.
    """
    is_failure = answer.status_code >= 500 and answer.status_code != 503
    return (is_failure or answer.status_code == 303) and type(refusal) is RoomsUnavailable


_OF_WORKERS = ("agent_session_token", "replace_agent_session_token", "connection_token")
_IN_A_ROOM = re.compile(
    r"/rooms/(.+?)/(?:messages|agent-sessions|tasks|presence|board-[a-z]+|reasoning-sessions"
    r"|reasoning|artifacts|events|locks|path-claims|memory|attention|agent-guidelines|wake-rules"
    r"|focus-rooms|focus/[^/]+/(?:settings|conclude))(?:/|$)"
)


def _worker_in_headers(headers: Mapping[str, str]) -> Worker:
    return _worker(headers.get(SESSION_ID), headers.get(SESSION_TOKEN))


def _worker_in_body(document: Mapping[str, object]) -> Worker:
    session_id, secret, _ = _worker(
        document.get("agent_session_id"), document.get("agent_session_token")
    )
    return session_id, secret, any(document.get(name) is not None for name in _OF_WORKERS)


def _worker(session_id: object, secret: object) -> Worker:
    return (
        SessionId(str(session_id)) if SessionId.fits(session_id) else None,
        Token(str(secret)) if Token.fits(secret) else None,
        secret is not None,
    )


def _room_in(path: str) -> str:
    found = _IN_A_ROOM.search(path)
    return found[1] if found is not None else "that room"


def _headers(token: str | None, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers of a call. No answer is to be compressed: few bytes may become many."""
    shown = {"Authorization": f"Bearer {token}"} if token else {}
    kinds = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    return {**kinds, **shown, **(more or {})}


def _secrets(token: str | None, shown: Mapping[str, object]) -> list[str]:
    """Return what no text of an error may hold: all that a call has shown as a secret."""
    given = [value for name, value in shown.items() if name.lower().endswith("token")]
    return [one for one in (token, *given) if isinstance(one, str) and one]


def _check_is_stream(answer: httpx.Response) -> None:
    kind = answer.headers.get("content-type", "")
    if answer.status_code == 429:
        raise NoStream("The room server has too many streams.", remedy="Ask again after a while.")
    is_stream = kind.startswith("text/event-stream") and bounded.is_plain(answer)
    if answer.status_code < 400 and not (answer.is_success and is_stream):
        raise NoStream(
            "The room server answered with something else than a stream.",
            remedy="Check that LETAGENTS_API_URL names the room server itself.",
        )


async def _read_soon(answer: httpx.Response) -> Answer:
    try:
        with anyio.fail_after(READING):
            return await bounded.read(answer)
    except TimeoutError as error:
        raise _unavailable(error) from error


async def _lines(answer: httpx.Response) -> AsyncGenerator[str, None]:
    left = b""
    with suppress(httpx.HTTPError):
        async for piece in answer.aiter_bytes():
            *whole, left = (left + piece).split(b"\n")
            for line in whole:
                yield line.rstrip(b"\r").decode("utf-8", "replace")
            if len(left) > LONGEST_LINE:
                return


_NO_ROUTE = re.compile(r"Cannot (?:GET|POST|PATCH)|Not Found", re.IGNORECASE)


def _of_status(answer: Answer, document: object) -> LetAgentsError:
    """Return the error for an answer of a server that says no more than the interface."""
    status = answer.status_code
    fields = document if isinstance(document, dict) else {}
    said, code = fields.get("error"), fields.get("code")
    told = f"The room server answers {status}: {str(said)[:300] if said else 'no reason given'}."
    if status < 500 and (known := problems.of_code(code, told)) is not None:
        return known
    if status == 401:
        return _nobody(fields, told)
    if status == 403:
        kind = WorkerSessionRequired if "worker session" in str(said).lower() else NotYourAgent
        return kind(told, remedy="Call register_agent_session, or use an account that may.")
    if status == 410:
        return SessionEnded(None, "that room", "the room ended its session")
    if status in (404, 405):
        return _missing(answer, code)(told, remedy="Call join_room(name=...) to open it.")
    if status in (400, 413, 422):
        return Malformed(told, remedy="Correct what was passed.")
    return _of_other_status(status, told)


def _of_other_status(status: int, told: str) -> LetAgentsError:
    if 300 <= status < 400:
        return _leads_elsewhere(status)
    if status == 429 or status >= 500:
        return RoomsUnavailable(told, remedy="Call again after a while.")
    return LetAgentsError(told, remedy="Read the room, then decide.")


def _missing(answer: Answer, code: object) -> type[UnknownRoom]:
    """Return what is missing. The room, where a server says so by its code; else that is open."""
    if code == "ROOM_NOT_FOUND":
        return UnknownRoom
    beginning = (answer.content or b"")[:LONGEST_LINE].decode("utf-8", "replace")
    return NoRoute if _NO_ROUTE.search(beginning) else Absent


def _nobody(fields: Mapping[str, object], told: str) -> NotSignedIn:
    if fields.get("error") != "auth_required":
        return NotSignedIn(told, remedy="Sign in again: call start_device_auth.")
    room_id, start = fields.get("room_id"), fields.get("device_flow_url")
    return SignInFirst(
        room_id if isinstance(room_id, str) else None, start if isinstance(start, str) else None
    )


def _leads_elsewhere(status: int) -> RoomsUnavailable:
    """Return the error for who is sent on, and does not go: what a call shows is for one server."""
    return RoomsUnavailable(
        f"The room server answers {status}: it sends its callers to another place.",
        remedy="Check that LETAGENTS_API_URL names the room server itself.",
    )


def _busy(told: LetAgentsError) -> LetAgentsError:
    if type(told) is not RoomsUnavailable:
        return told
    return Busy(told.happened, remedy=told.remedy)


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
    if isinstance(error, LetAgentsError):
        return error.happened.rstrip(".")
    return type(error).__name__
