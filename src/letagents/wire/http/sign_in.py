"""Signing in with a device, in the forms of a server, and back. (Source: hosted-api 3.1, 3.2.)"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from letagents.domain.errors import RoomsUnavailable
from letagents.domain.ids import RoomId
from letagents.domain.local_state import Account
from letagents.domain.sign_in import Authorized, Begun, Over, Polled, UnknownSignIn, Waiting
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]

_LARGEST = 10**7
"""Seconds; what is said to take longer is not believed."""


def query(room_id: RoomId | None) -> str:
    """Return what tells a server for which room somebody signs in."""
    return f"?{urlencode({'room_id': str(room_id)})}" if room_id is not None else ""


def poll_path(request_id: str) -> str:
    """Return where to ask how a sign-in stands."""
    return f"/auth/device/poll/{part(request_id)}"


def whoami(document: object) -> Account:
    """Return the account that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    account = Fields(document).part("account")
    if account is None:
        raise Unreadable("account is missing")
    return _account(account)


def _account(fields: Fields) -> Account:
    number = fields.document.get("id")
    return Account(
        str(number) if isinstance(number, str | int) else None,
        fields.text("login"),
        fields.text_or_none("display_name"),
    )


def begun(document: object) -> Begun:
    """Return the sign-in that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Begun(
        fields.text("request_id"),
        fields.text("user_code"),
        fields.text("verification_uri"),
        _span(fields, "expires_in"),
        _span(fields, "interval"),
    )


def plain_begun(made: Begun) -> Plain:
    """Return the form of a sign-in that was begun."""
    return {
        "request_id": made.request_id,
        "user_code": made.user_code,
        "verification_uri": made.verification_uri,
        "expires_in": made.expires_in // timedelta(seconds=1),
        "interval": made.interval // timedelta(seconds=1),
    }


def _span(fields: Fields, name: str) -> timedelta:
    return timedelta(seconds=min(max(0, fields.integer(name)), _LARGEST))


def polled(status: int, document: object) -> Polled:
    """Return how a sign-in stands, as an answer tells.

    Raises:
        UnknownSignIn: the server knows none.
        RoomsUnavailable: it does not tell.
    """
    try:
        return _polled(status, Fields(document))
    except Unreadable as error:
        raise RoomsUnavailable(
            f"The server does not say how the sign-in stands ({status}: {error}).",
            remedy="Call poll_device_auth again after a while.",
        ) from error


def _polled(status: int, fields: Fields) -> Polled:
    if status == 404:
        raise UnknownSignIn(
            "The server knows no such sign-in: it is over, or was never begun.",
            remedy="Call start_device_auth(force=true) for a new one.",
        )
    if status == 429:
        return Waiting("pending", _span(fields, "interval"))
    told = fields.text("status")
    if told in ("pending", "slow_down") and status == 200:
        left = _span(fields, "expires_in") if "expires_in" in fields.document else None
        return Waiting(told, _span(fields, "interval"), left)
    if told in ("denied", "expired"):
        return Over(told)
    if told != "authorized":
        raise Unreadable("status is none that is known")
    return _authorized(fields)


def _authorized(fields: Fields) -> Authorized:
    account = fields.part("account")
    if account is None:
        raise Unreadable("account is missing")
    return Authorized(
        fields.text("letagents_token"),
        _account(account),
        account.text_or_none("avatar_url"),
        fields.text_or_none("oauth_token_expires_at"),
    )
