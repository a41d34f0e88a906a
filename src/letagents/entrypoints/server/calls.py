"""One request: who calls, which room it is about, and what it carries, each checked when asked for.

(Source: hosted-api 1.2, 1.4, 1.5.)
"""

import asyncio
import functools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

import attrs
import orjson
from starlette.requests import Request

from letagents.application.memory import Stores
from letagents.application.server.hosting import Boards, Hosting
from letagents.domain import fencing, rooms
from letagents.domain.accounts import (
    Account,
    Principal,
    TokenKind,
    WorkerSessionRequired,
    signed_in,
)
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.entrypoints.server.answers import Refused
from letagents.ports.administration import Administration
from letagents.wire.http import credentials, problems
from letagents.wire.http.credentials import HalfShown
from letagents.wire.http.reading import Fields

BODY_WITHIN = 30.0
"""Seconds in which it has to come."""
UNREAD_WITHIN = 1.0
"""Seconds that what nobody reads may take to come."""
SESSION_COOKIE = "letagents_session"
PAGE, LONGEST_PAGE = 200, 500

_canonical = functools.lru_cache(maxsize=1_000)(rooms.canonical)


@attrs.define
class Call:
    """A request under way."""

    request: Request
    hosting: Hosting
    principal: Principal
    largest: int | None = None
    """Bytes that its body may have; as all may where none is named."""
    _body: dict[str, Any] | None = None
    _meant: RoomId | None = None
    _is_heard: bool = False
    """Whether all of the body came."""
    _counted: str | None = None
    """The account of which it counts as a request that is under way."""

    @property
    def account(self) -> Account:
        """The account that calls. Raises NotSignedIn."""
        return signed_in(self.principal)

    @property
    def room_id(self) -> RoomId:
        """The room that the call is about. Raises Malformed."""
        return self._meant or self.called

    @property
    def called(self) -> RoomId:
        """What the path calls the room, which may be a focus room's locator. Raises Malformed."""
        return _canonical(self.named("room_id"))

    def is_under_way(self) -> None:
        """Count as a request of the account that calls, if one does. Raises AskedTooOften."""
        if (account := self.principal.account) is not None:
            self.hosting.under_way.begin(account.account_id)
            self._counted = account.account_id

    def is_over(self) -> None:
        """Count no more."""
        if self._counted is not None:
            self.hosting.under_way.end(self._counted)

    async def come_in(self) -> None:
        """Find the room that is meant, where the path calls a focus room by its locator.

        Raises:
            UnknownRoom: there is no such focus room.
        """
        if "room_id" not in self.request.path_params or self.principal.account is None:
            return
        with suppress(Malformed):  # which is told when the room is asked for
            called = self.called
            self._meant = await self.hosting.entrances.meant(called)

    @property
    def boards(self) -> Boards:
        """What keeps the boards of rooms. Raises NotAvailable."""
        if self.hosting.boards is None:
            raise NotAvailable(
                "The rooms of this server have no task board.",
                remedy="Agree on the work by messages: send_message.",
            )
        return self.hosting.boards

    @property
    def memory(self) -> Stores:
        """What keeps all else that rooms remember. Raises NotAvailable."""
        if self.hosting.memory is None:
            raise NotAvailable(
                "The rooms of this server keep messages and nothing else.",
                remedy="Say it in the room: send_message.",
            )
        return self.hosting.memory

    @property
    def administration(self) -> Administration:
        """What the admins of rooms do with them. Raises NotAvailable."""
        if self.hosting.administration is None:
            raise NotAvailable(
                "Nobody looks after the rooms of this server.", remedy="Ask in the room."
            )
        return self.hosting.administration

    @property
    def address(self) -> str:
        """Where the call comes from, as far as it can be told."""
        return address_of(self.request)

    def named(self, part: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[part])

    def asked(self, name: str) -> str | None:
        """Return a parameter of the query; None where it is left out or blank."""
        return self.request.query_params.get(name, "").strip() or None

    @property
    def limit(self) -> int:
        """How many items are asked for: any number above nothing, else the default."""
        return self.limited(PAGE, LONGEST_PAGE)

    def limited(self, default: int, most: int) -> int:
        """Return how many items are asked for, where a page holds others than `limit` says."""
        text = self.asked("limit") or ""
        asked = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
        return min(asked or default, most)

    @property
    def wants_prompts(self) -> bool:
        """Whether messages are asked for that only prompt agents. (Source: hosted-api 8, 84.)"""
        asked = self.request.query_params.getlist("include_prompt_only")
        return len(asked) == 1 and asked[0].strip().lower() in ("1", "true")

    @property
    def place(self) -> str | None:
        """The place in a list after which items are asked for, as it was given; None for none."""
        return self.request.query_params.get("after")

    @property
    def after(self) -> int:
        """After which number the items begin that are asked for; from the first one if none is."""
        text = self.asked("after") or ""
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0

    async def body(self) -> dict[str, Any]:
        """Return the object that the request carries.

        Raises:
            Refused: it is too large, or none.
        """
        if self._body is None:
            self._body = _object(await self._read())
        return self._body

    async def hear_out(self) -> None:
        """Take what is still to come of a body that nobody read.

        Who is hung up on while they send may lose what they were answered.
        """
        if self.request.method == "GET":
            return
        with suppress(TimeoutError, Refused):
            async with asyncio.timeout(UNREAD_WITHIN):
                while not self._is_heard:
                    await self._piece()

    async def _piece(self) -> bytes:
        message = await self.request.receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "request body was not sent to its end")
        self._is_heard = not message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        return piece

    async def _read(self) -> bytes:
        pieces, size = [], 0
        try:
            async with asyncio.timeout(BODY_WITHIN):
                while not self._is_heard:
                    pieces.append(await self._piece())
                    size += len(pieces[-1])
                    _check_size(size, self.largest or self.hosting.bounds.body)
        except TimeoutError:
            raise Refused(408, "request body was not sent in time") from None
        return b"".join(pieces)

    async def text(self, name: str, *, required: bool = False) -> str | None:
        """Return a text of the body; None where it is null or left out.

        Raises:
            Malformed: it is no text, or required and blank.
        """
        value = text_in(await self.body(), name)
        if required and not (value or "").strip():
            raise Malformed(f"{name} is required.", remedy=f"Pass {name}.")
        return value

    async def fields(self) -> Fields:
        """Return the fields of the body. Raises Refused."""
        return Fields(await self.body())

    async def is_still_signed_in(self) -> bool:
        """Whether who called is still who it was, and may go on."""
        if (worker := self.principal.worker) is not None:
            return await self.hosting.sessions.worker(self.called, worker) is not None
        now = await self.hosting.sessions.principal(bearer(self.request), cookie(self.request))
        return now.account is not None and now == self.principal

    async def acting(self) -> Fence:
        """Return who acts, as the body shows. Raises as Hosting.acting, and Refused."""
        return await self.hosting.sessions.acting(self.principal, self.room_id, await self.shown())

    async def shown(self) -> Fence | None:
        """Return the session that the body shows; None where it shows none.

        Raises:
            WorkerSessionRequired: it shows a part of one. (Source: hosted-api 2.3.)
            Refused: what it shows has no such form.
        """
        body = await self.body()
        if credentials.is_half_shown(body):
            raise WorkerSessionRequired(
                "Registered worker session is required for agent write actions.",
                remedy="Show both agent_session_id and agent_session_token.",
            )
        return self._shown(credentials.from_body, body)

    async def speaking(self) -> Fence:
        """Return as `acting_marked`, where those who only watch say nothing.

        Raises:
            WorkerRequired: a session that only watches is shown.
        """
        fence = await self.acting_marked()
        await self.hosting.sessions.check_speaks(self.room_id, fence)
        return fence

    async def acting_marked(self) -> Fence:
        """Return who acts, as the body shows, or the account's person where it is marked as one's.

        Raises: as Hosting.acting and Hosting.person, and Refused.
        """
        marked = self.request.headers.get(credentials.DESKTOP) == "1"
        in_a_browser = self.principal.kind is TokenKind.SESSION
        if marked or in_a_browser or (await self.body()).get(credentials.OF_A_PERSON) is True:
            return await self.acting_or_person()
        return await self.acting()

    async def acting_or_person(self) -> Fence:
        """Return who acts, as the body shows, or else the account's person.

        Raises: as Hosting.acting and Hosting.person, and Refused.
        """
        return await self._or_person(await self.shown())

    async def acting_by_headers(self) -> Fence:
        """Return as `acting_or_person`, where the body says something else of sessions."""
        return await self._or_person(self._shown(credentials.from_headers, self.request.headers))

    async def _or_person(self, shown: Fence | None) -> Fence:
        if shown is None:
            return await self.hosting.sessions.person(self.principal, self.room_id)
        return await self.hosting.sessions.acting(self.principal, self.room_id, shown)

    async def looking(self) -> Fence | None:
        """Return who looks, as the headers show. Raises as Hosting.looking, and Refused."""
        shown = self._shown(credentials.from_headers, self.request.headers)
        return await self.hosting.sessions.looking(self.principal, self.room_id, shown)

    async def looking_by_body(self) -> Fence | None:
        """Return as `looking`, for what an account notes for itself, as the body shows."""
        return await self.hosting.sessions.looking(self.principal, self.room_id, await self.shown())

    def _of_bearer(self, shown: Fence | None) -> Fence | None:
        """Return who is shown, which beside a worker's bearer can only be that worker."""
        worker = self.principal.worker
        if worker is None or shown is None:
            return worker or shown
        if not fencing.is_one_hold(attrs.evolve(shown, generation=worker.generation), worker):
            raise Refused(401, "Invalid or mismatched agent session bearer credentials.")
        return shown

    def _shown(self, read: Any, fields: Mapping[str, Any]) -> Fence | None:
        """Return the fence that is shown, and in which room who shows it says that they are."""
        try:
            shown: Fence | None = read(fields)
        except HalfShown:
            raise Refused(401, problems.BAD_CREDENTIALS) from None
        shown = self._of_bearer(shown)
        origin = self.request.headers.get(credentials.ORIGIN_ROOM)
        if shown is None or origin is None:
            return shown
        with suppress(Malformed):  # what names no room names none that forbids anything
            return attrs.evolve(shown, origin=rooms.canonical(origin))
        return shown


def text_in(body: Mapping[str, Any], name: str) -> str | None:
    """Return a text of `body`; None where it is null or left out. Raises Malformed."""
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise Malformed(f"{name} must be a string.", remedy=f"Pass {name} as a string.")
    return value


def _object(body: bytes) -> dict[str, Any]:
    if not body:
        return {}
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Refused(400, "request body must be valid JSON") from None
    if not isinstance(document, dict):
        raise Refused(400, "request body must be a JSON object")
    return document


def address_of(request: Request) -> str:
    """Return where a request comes from, as far as it can be told."""
    return request.client.host if request.client else ""


def check_declared(request: Request, most: int) -> None:
    """See that a request does not declare a larger body than it may have, whoever reads that.

    Raises:
        Refused: it does.
    """
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal():
        _check_size(int(declared[:20]), most)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise Refused(413, "request body is too large", code="BODY_TOO_LARGE")


def bearer(request: Request) -> str | None:
    """Return the token that a request shows, or None for another kind of showing."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return unquote(token.strip()) if scheme.lower() == "bearer" and token.strip() else None


def cookie(request: Request) -> str | None:
    """Return the session that a browser shows; none where a page of somebody else made it call.

    Nor does it count beside an `Authorization` that is none. (Source: hosted-api 2.1.)
    """
    if "cookie" not in request.headers:
        return None  # as most who call
    shown = request.headers.get("authorization")
    if shown is not None and bearer(request) is None:
        return None
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        return None
    return request.cookies.get(SESSION_COOKIE)
