"""How a session proves itself to a hosted room: in the body of a write, in the headers of a read.

(Source: hosted-api 1.5.) The generation is our own addition: without it, the secret alone decides.
"""

from collections.abc import Mapping
from typing import Any, cast

from letagents.domain.errors import Malformed
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import RoomId, SessionId, Token

Plain = dict[str, Any]

SESSION_ID = "X-LetAgents-Agent-Session-Id"
SESSION_TOKEN = "X-LetAgents-Agent-Session-Token"  # noqa: S105  # a header's name
GENERATION = "X-LetAgents-Agent-Session-Generation"
DESKTOP = "X-LetAgents-Desktop-Client"
OF_A_PERSON = "desktop_human_client"
"""Marks, in a header or a body, what a human being does without a session."""
ORIGIN_ROOM = "X-LetAgents-Origin-Room-Id"

_IN_BODY = ("agent_session_id", "agent_session_token", "agent_session_generation")


class HalfShown(ValueError):
    """Of a session's id and its token only one was shown, or one of them has no such form."""


def without(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers, or the fields of a body, without what they show of a session."""
    left_out = (*_IN_BODY, SESSION_ID, SESSION_TOKEN, GENERATION)
    return {name: value for name, value in shown.items() if name not in left_out}


def origin(fence: Fence | None) -> dict[str, str]:
    """Return the header that says in which room whoever `fence` is acts, if that is known."""
    return of_room(fence.origin if fence is not None else None)


def of_room(room_id: RoomId | str | None) -> dict[str, str]:
    """Return the header that says in which room a call is made, if that is known.

    A header holds ASCII alone, as every focus room's id does, for which it is there.
    """
    return {ORIGIN_ROOM: str(room_id)} if room_id is not None and str(room_id).isascii() else {}


def in_headers(fence: Fence | None) -> dict[str, str]:
    """Return the headers of a read as whoever `fence` is."""
    if fence is None:
        return {}
    shown = {SESSION_ID: str(fence.session_id), SESSION_TOKEN: fence.token.value} | origin(fence)
    return shown | ({GENERATION: str(fence.generation)} if fence.generation else {})


def in_body(fence: Fence | None) -> Plain:
    """Return the fields of a write as whoever `fence` is."""
    if fence is None:
        return {}
    shown = {"agent_session_id": str(fence.session_id), "agent_session_token": fence.token.value}
    return shown | ({"agent_session_generation": fence.generation} if fence.generation else {})


def in_body_of_anybody(fence: Fence | None) -> Plain:
    """Return the fields of a write as whoever `fence` is, or as the human being of an account."""
    return {OF_A_PERSON: True} if fence is None else in_body(fence)


def from_headers(headers: Mapping[str, str]) -> Fence | None:
    """Return the fence that `headers` show, or None where they show none.

    Raises:
        HalfShown: they show a part of one.
    """
    return _fence(headers.get(SESSION_ID), headers.get(SESSION_TOKEN), headers.get(GENERATION))


def from_body(body: Mapping[str, object]) -> Fence | None:
    """Return the fence that `body` shows, or None where it shows none.

    Raises:
        HalfShown: it shows a part of one.
    """
    return _fence(*(body.get(name) for name in _IN_BODY))


def is_shown(body: Mapping[str, object]) -> bool:
    """Whether `body`, which shows no half of a session, shows one."""
    return not _is_left_out(body.get(_IN_BODY[0]))


def is_half_shown(body: Mapping[str, object]) -> bool:
    """Whether `body` shows the id of a session or its token, and not the other one."""
    left_out = [_is_left_out(body.get(name)) for name in _IN_BODY[:2]]
    return any(left_out) and not all(left_out)


def _fence(session_id: object, token: object, generation: object) -> Fence | None:
    if _is_left_out(session_id) and _is_left_out(token):
        return None
    try:  # each looks by itself whether it has the form
        named, secret = SessionId(cast(str, session_id)), Token(cast(str, token))
    except Malformed:
        raise HalfShown from None
    return Fence(named, _generation(generation), secret)


def _is_left_out(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _generation(shown: object) -> int:
    if isinstance(shown, str) and shown.isascii() and shown.isdecimal() and len(shown) < 10:
        return int(shown)
    return shown if isinstance(shown, int) and not isinstance(shown, bool) else UNNUMBERED
