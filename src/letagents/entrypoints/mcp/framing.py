"""Lines of bytes to protocol messages and back; a line that is none gets an answer, never silence.

The SDK's own parser refuses a line with invalid UTF-8 or half a surrogate pair anywhere in it, and
its request would wait for an answer until the client gives up. Such a line is read a second time,
more kindly, so that the field at fault can be named by the tool that it was meant for.
"""

import json
import re

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


class NotAMessage(Exception):
    """A line is no message of the protocol. `answer` says so to whoever sent it."""

    def __init__(self, answer: JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


def parsed(line: bytes) -> JSONRPCMessage:
    """Return the message that `line` holds.

    Raises:
        NotAMessage: it holds none.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _parsed_kindly(line)
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        return _parsed_kindly(line)
    return message


def _parsed_kindly(line: bytes) -> JSONRPCMessage:
    text = line.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
    try:
        document = json.loads(text)
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
