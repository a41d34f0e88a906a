"""Answers of a server, each read within a time and up to a size, whatever the server sends."""

from collections.abc import Iterable

import anyio
import attrs
import httpx
import orjson

from letagents.wire.http.reading import Unreadable

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer. A page of the longest messages that we ask for has a third of it."""
HIDDEN = b"[hidden]"


@attrs.frozen
class Answer:
    """What a server answered. `content` is None where it cannot be read, and `why` says why."""

    status_code: int
    path: str
    content: bytes | None = attrs.field(repr=False)
    why: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the server says that it did what was asked."""
        return 200 <= self.status_code < 300

    def document(self) -> object:
        """Return what the answer carries.

        Raises:
            Unreadable: it cannot be read.
        """
        if self.content is None:
            raise Unreadable(self.why)
        try:
            return orjson.loads(self.content) if self.content else None
        except orjson.JSONDecodeError:
            raise Unreadable("it is not JSON") from None

    def document_or_none(self, secrets: Iterable[str] = ()) -> object:
        """Return what it carries, if that can be read, without secrets that the call has shown."""
        content = self.content
        for secret in secrets:
            content = content and content.replace(secret.encode(), HIDDEN)
        try:
            return attrs.evolve(self, content=content).document()
        except Unreadable:
            return None


async def answered(
    client: httpx.AsyncClient, request: httpx.Request, within: float, largest: int = LARGEST
) -> Answer:
    """Send a request, once, and return the answer, which has to be whole `within` seconds.

    Raises:
        httpx.HTTPError: none began.
    """
    begun: httpx.Response | None = None
    try:
        with anyio.fail_after(within):
            begun = await client.send(request, stream=True)
            return await read(begun, largest)
    except TimeoutError:
        if begun is None:
            raise httpx.ReadTimeout("no answer in time", request=request) from None
        return _unread(begun, "it did not come in time")
    finally:
        if begun is not None:
            await begun.aclose()


async def read(begun: httpx.Response, largest: int = LARGEST) -> Answer:
    """Return the answer that has begun, read to its end or to where it cannot be read."""
    if not is_plain(begun):
        return _unread(begun, "it is compressed, which was not asked for")
    pieces, size = [], 0
    try:
        async for piece in begun.aiter_bytes():
            size += len(piece)
            if size > largest:
                return _unread(begun, f"it is longer than {largest} bytes")
            pieces.append(piece)
    except httpx.HTTPError as error:
        return _unread(begun, f"it broke off: {type(error).__name__}")
    return Answer(begun.status_code, begun.request.url.path, b"".join(pieces))


def is_plain(begun: httpx.Response) -> bool:
    """Whether an answer comes as it is, so that its bytes are no more than were sent."""
    shown: str = begun.headers.get("content-encoding", "").strip().lower()
    return shown in ("", "identity")


def _unread(begun: httpx.Response, why: str) -> Answer:
    return Answer(begun.status_code, begun.request.url.path, None, why)
