"""Lines of bytes to protocol messages and back; a line that is none gets an answer, never silence.

The SDK's own parser refuses a line with invalid UTF-8 or half a surrogate pair anywhere in it, and
its request would wait for an answer until the client gives up. Such a line is read a second time,
more kindly, so that the field at fault can be named by the tool that it was meant for.

A long line is weighed before it is read. Reading is one call that lets nothing else run, and takes
seconds where millions of values, or of digits, stand in the line; long texts are no trouble.
"""

import codecs
import json
import re
from collections.abc import Iterator

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ID = rb'(?P<id>\d{1,18}|"[\w.:-]{1,200}")'
_FIRST = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*' + _ID + rb'\s*,\s*"method"'
)
_LAST = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*' + _ID + rb"\s*\}\s*\Z")

SEEN_OF_LONG_LINES = 400
"""So many bytes of either end of a line suffice to find whose request it was."""

LONGEST_NAME = 1000
"""Characters of an id, or of a method: both are repeated in answers."""

MOST_BESIDE_TEXTS = 256 * 1024
"""Bytes of a line that may stand outside of its strings, quotes included. No call needs so many."""

_PIECE = 256 * 1024
"""Bytes that are looked at in one go: a few milliseconds in which nothing else can run."""


class NotAMessage(Exception):
    """A line is no message of the protocol. `answer` says so to whoever sent it."""

    def __init__(self, answer: JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


def weigh(line: bytes) -> None:
    """Refuse `line` where reading it would take long. This lets other threads run all the while.

    Raises:
        NotAMessage: too much of it stands outside of strings.
    """
    beside = 0
    for outside in outside_of_strings(line):
        beside += outside
        if beside > MOST_BESIDE_TEXTS:
            text = (
                "This line holds too many values: a message has at most "
                f"{MOST_BESIDE_TEXTS} bytes outside of its strings."
            )
            raise unreadable(text, INVALID_REQUEST, line, line)


def outside_of_strings(line: bytes, size: int = _PIECE) -> Iterator[int]:
    """Yield for each piece of `line` how many of its bytes are no text; exact where it is JSON."""
    inside = False
    start = 0
    while piece := line[start : start + size]:
        if _ends_within_an_escape(piece):
            piece += line[start + size : start + size + 1]
        start += len(piece)
        parts = piece.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
        quotes = len(parts) - 1
        yield quotes + sum(map(len, parts[inside::2]))
        inside ^= quotes % 2 == 1


def _ends_within_an_escape(piece: bytes) -> bool:
    return (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1


def parsed(line: bytes) -> JSONRPCMessage:
    """Return the message that `line` holds.

    Raises:
        NotAMessage: it holds none.
    """
    message = _parsed(line)
    if len(line) <= LONGEST_NAME:
        return message
    request_id = getattr(message, "id", None)
    if _is_long(request_id) or _is_long(getattr(message, "method", None)):
        text = f"The id and the method of a message have {LONGEST_NAME} characters at most."
        raise _answered(text, INVALID_REQUEST, None if _is_long(request_id) else request_id)
    return message


def _is_long(name: object) -> bool:
    return isinstance(name, str) and len(name) > LONGEST_NAME


def _parsed(line: bytes) -> JSONRPCMessage:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _parsed_kindly(line)
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        return _parsed_kindly(line)
    return message


def _parsed_kindly(line: bytes) -> JSONRPCMessage:
    try:
        document = json.loads(_decoded(line.removeprefix(_BYTE_ORDER_MARK)))
    except json.JSONDecodeError as error:
        raise _not_json(error.msg, line) from None
    except (ValueError, RecursionError):
        raise _not_json("it nests too deeply, or holds too large a number", line) from None
    try:
        message = jsonrpc_message_adapter.validate_python(document, by_name=False)
    except ValidationError:
        raise _invalid(document) from None
    if "method" in document and "id" in document and not _is_id(document["id"]):
        raise _invalid(document)  # it would pass for a notification, and never be answered
    return message


def _decoded(line: bytes) -> str:
    """Return the text of `line`; piece by piece, as nothing can run while one is decoded."""
    pieces = (line[start : start + _PIECE] for start in range(0, len(line), _PIECE))
    return "".join(codecs.iterdecode(pieces, "utf-8", "surrogateescape"))


def _not_json(reason: str, line: bytes) -> NotAMessage:
    return unreadable(f"This line is not JSON: {reason}.", PARSE_ERROR, line, line)


def _invalid(document: object) -> NotAMessage:
    text = "This line is not a message: it must be an object with jsonrpc, method, id and params."
    found = None
    if isinstance(document, dict) and "method" in document:  # an answer is not answered
        found = document.get("id")
    return _answered(text, INVALID_REQUEST, found if _is_id(found) else None)


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return value.isprintable()
    return isinstance(value, int) and not isinstance(value, bool)


def unreadable(text: str, code: int, start: bytes, end: bytes) -> NotAMessage:
    """Return the refusal of a line that cannot be read, for the request that it seems to be."""
    first = _FIRST.match(start[:SEEN_OF_LONG_LINES])
    found = first or _LAST.search(end[-SEEN_OF_LONG_LINES:])
    return _answered(text, code, json.loads(found["id"]) if found else None)


def _answered(text: str, code: int, request_id: RequestId | None) -> NotAMessage:
    error = ErrorData(code=code, message=text)
    return NotAMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


def written(message: JSONRPCMessage) -> bytes:
    """Return `message` as a line; what UTF-8 cannot hold becomes a question mark."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except PydanticSerializationError:
        plain = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace") + b"\n"
