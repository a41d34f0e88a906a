"""The lines that a supervisor and its clients write to each other, and the versions of that.

(Source: supervisor 2.) A line is one JSON object in UTF-8. Names and sentences here are read by
other programs too, and stay as they are.
"""

from collections.abc import Mapping
from typing import Any

import attrs
import orjson

FIRST_VERSION = 1
"""The version in which every client asks what a supervisor speaks."""
VERSION = 2
"""The version that our supervisor speaks."""
UNDERSTOOD = frozenset({1, 2, 3})
"""The versions that our client speaks."""
LONGEST_LINE = 64 * 1024
"""Bytes that a supervisor takes on one connection before a line ends."""

NEGOTIATE = "daemon.negotiate"
STATUS = "daemon.status"
PREPARE_HANDOFF = "daemon.prepare_handoff"
BIND = "supervisor.bind_worker_session"
VERIFY = "supervisor.verify_worker_session"
BORROW = "supervisor.borrow_worker_credential"
INSTALL = "supervisor.install_worker_credential"
CHECKPOINT = "supervisor.checkpoint_worker_cursor"
PREPARE = "supervisor.prepare_bounded_effect"
EXECUTE = "supervisor.execute_bounded_tool"
COMPLETE = "supervisor.complete_bounded_effect"
INSTALL_GRANT = "supervisor.install_host_grant"
INSTALL_MODEL = "supervisor.install_open_model_credential"
AUTHORIZE = "supervisor.authorize_custodial_polling"
LIST_AGENTS = "manifest.list"
WATCH_AGENTS = "manifest.watch_state"
PUT_AGENT = "manifest.put"
WANT_AGENT = "manifest.set_desired_state"
WANT_IF = "manifest.compare_and_set_desired_state"
NAME_AGENT = "manifest.set_display_name"
APPEND_ACTIVITY = "manifest.append_activity"
PREPARE_MOVE = "supervisor.prepare_room_move"
COMMIT_MOVE = "supervisor.commit_room_move"
ROLL_BACK_MOVE = "supervisor.rollback_room_move"
GET_MOVE = "supervisor.get_room_move"
ACKNOWLEDGE_MOVE = "supervisor.acknowledge_room_move_source_revocation"
GET_CURRENT_MOVE = "supervisor.get_current_room_move"
CONTROL_TURN = "manifest.control_turn"
RESOLVE_CONTROL = "manifest.resolve_turn_control"
READ_ATTEMPT = "attempt.read"
BEGIN_INGRESS = "supervisor.bootstrap_room_ingress"
INSPECT_AGENT = "supervisor.get_agent_inspector_detail"
WATCH_AGENT = "supervisor.watch_agent_stream"
RETRY_MESSAGE = "supervisor.retry_room_delivery"
SKIP_MESSAGE = "supervisor.skip_room_delivery"
REMOVE_AGENT = "agents.remove"
GIVE_UP_GRANT = "agents.give_up_grant"
LIST_EFFECTS = "effects.list_uncertain"
SETTLE_EFFECT = "effects.settle"
LIST_DEEDS = "agents.history"
"""The last five are ours: other supervisors do not know them."""

KEEPS = "kept_connections_v1"
"""A capability of ours: who asks may keep a connection, and ask on it again."""

UNSUPPORTED = "Unsupported daemon method: "
INVALID = "Invalid daemon request."
NO_PARAMS = "Daemon request params must be an object."
UNTYPED = "Supervised tool execution requires exact typed coordinates."
TOO_DEEP = "Daemon request params are nested too deeply."

_MISSING = "undefined"
_SHOWN = 100
"""Characters of another program's word that are told back."""

SAFE_INTEGER = 2**53 - 1


class NotALine(ValueError):
    """A line is no message of the protocol."""


@attrs.frozen
class Request:
    """What a client asks, under a version that may be anything."""

    version: object
    id: object
    method: str
    params: object = None
    peer: int | None = None
    """Which process asked, for who is asked; it is not in the line."""

    def line(self) -> bytes:
        """Return it as it is written."""
        document = {"version": self.version, "id": self.id, "method": self.method}
        if self.params is not None:
            document["params"] = self.params
        return orjson.dumps(document) + b"\n"


@attrs.frozen
class Response:
    """What a supervisor answers."""

    version: object
    id: object
    ok: bool
    result: object = None
    error: str | None = None
    remedy: str | None = None
    """What to do about an error: a field of ours, which others leave out and ignore."""

    def line(self) -> bytes:
        """Return it as it is written."""
        document: dict[str, object] = {"version": self.version}
        if self.id is not None:
            document["id"] = self.id
        document["ok"] = self.ok
        if self.ok:
            document["result"] = self.result
        else:
            document["error"] = self.error
            if self.remedy is not None:
                document["remedy"] = self.remedy
        return orjson.dumps(document) + b"\n"


def read_request(line: bytes, peer: int | None = None) -> Request:
    """Return the request that a line is, which came from the process `peer`.

    Raises:
        NotALine: it is none.
    """
    document = _object(line)
    method, request_id = document.get("method"), document.get("id")
    return Request(
        document.get("version", _MISSING),
        request_id if isinstance(request_id, str | int | float) else None,
        method if isinstance(method, str) else "",
        document.get("params"),
        peer,
    )


def read_response(line: bytes) -> Response:
    """Return the response that a line is.

    Raises:
        NotALine: it is none.
    """
    document = _object(line)
    error, remedy = document.get("error"), document.get("remedy")
    return Response(
        document.get("version"),
        document.get("id"),
        document.get("ok") is True,
        document.get("result"),
        error if isinstance(error, str) and error.strip() else None,
        remedy if isinstance(remedy, str) and remedy.strip() else None,
    )


def _object(line: bytes) -> Mapping[str, object]:
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotALine(str(error)) from error
    if not isinstance(document, Mapping):
        raise NotALine("it is no object")
    return document


def mismatch(received: object) -> str:
    """Return what is said to who speaks another version."""
    if isinstance(received, str):
        shown = received
    else:
        shown = "an object" if isinstance(received, Mapping | list) else canonical(received)
    return f"Protocol version mismatch: expected {VERSION}, received {shown[:_SHOWN]}."


def whole(value: object) -> int | None:
    """Return `value` if it is a whole number that every program can hold; None if not."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) <= SAFE_INTEGER else None


def canonical(value: object) -> str:
    """Return `value` as JSON, in the one way in which it is kept and compared.

    Raises:
        NotALine: it is nested more deeply than can be written.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError as error:
        raise NotALine(TOO_DEEP) from error


def parsed(text: str) -> Any:
    """Return the value that `canonical` wrote."""
    return orjson.loads(text)


@attrs.frozen
class Params:
    """The parameters of a request, read leniently: what is missing is blank, and refused later."""

    _fields: Mapping[str, object]

    @classmethod
    def of(cls, request: Request) -> "Params":
        """Return the parameters of a request.

        Raises:
            NotALine: they are no object.
        """
        if not isinstance(request.params, Mapping):
            raise NotALine(NO_PARAMS)
        return cls(request.params)

    def text(self, name: str) -> str:
        """Return a text; a blank one for what is none."""
        value = self._fields.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """Return a whole number; 0 for what is none."""
        return whole(self._fields.get(name)) or 0

    def flag(self, name: str) -> bool:
        """Return whether it is true, and nothing else."""
        return self._fields.get(name) is True

    def value(self, name: str) -> object:
        """Return whatever it is."""
        return self._fields.get(name)

    def exact(self, name: str) -> str:
        """Return a text that is not blank and has no blanks at its ends.

        Raises:
            NotALine: it is none.
        """
        value = self.text(name)
        if not value or value != value.strip():
            raise NotALine(UNTYPED)
        return value

    def exact_number(self, name: str) -> int:
        """Return a whole number from 1 on.

        Raises:
            NotALine: it is none.
        """
        value = self.number(name)
        if value < 1:
            raise NotALine(UNTYPED)
        return value
