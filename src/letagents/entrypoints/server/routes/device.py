"""Signing in with a device. (Source: hosted-api 3.1.)"""

from datetime import timedelta
from typing import Any

from starlette.responses import Response

from letagents.application.server.device_sign_in import Admitted, TooSoon
from letagents.domain.accounts import Account, digest
from letagents.domain.sign_in import Over, SignInUnavailable, UnknownSignIn, Waiting
from letagents.entrypoints.server.answers import Refused, answer
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import sign_in as wire

SECOND = timedelta(seconds=1)
_OVER = {"denied": 403, "expired": 410}


async def start(call: Call) -> Response:
    """Begin to sign somebody in."""
    try:
        return answer(wire.plain_begun(await call.hosting.devices.begin(call.address)), 201)
    except SignInUnavailable as error:
        raise Refused(503, "Device authorization is currently unavailable.") from error


async def poll(call: Call) -> Response:
    """Say how a sign-in stands."""
    try:
        stands = await call.hosting.devices.poll(call.named("request_id"))
    except UnknownSignIn as error:
        raise Refused(404, "Unknown or expired device authorization request") from error
    except SignInUnavailable as error:
        raise Refused(500, "Device authorization polling failed.") from error
    match stands:
        case TooSoon(interval):
            raise Refused(429, "Polling too quickly", interval=interval // SECOND)
        case Waiting():
            return answer(_waiting(stands))
        case Over(status):
            return answer({"status": status}, _OVER[status])
        case Admitted():
            return answer(_admitted(stands))


def _waiting(stands: Waiting) -> dict[str, Any]:
    left = stands.expires_in or timedelta(0)
    return {
        "status": stands.status,
        "interval": stands.interval // SECOND,
        "expires_in": left // SECOND,
    }


def _admitted(made: Admitted) -> dict[str, Any]:
    return {
        "status": "authorized",
        "letagents_token": made.token,
        "owner_token_id": digest(made.token)[:16],
        "oauth_token_expires_at": None,
        "account": _account(made.account),
    }


def _account(account: Account) -> dict[str, Any]:
    return {
        "id": account.account_id,
        "login": account.login,
        "display_name": account.display_name,
        "avatar_url": account.avatar_url,
        "provider": account.provider,
        "provider_user_id": account.provider_user_id,
    }


ROUTES = (
    ("POST", "/auth/device/start", start),
    ("GET", "/auth/device/poll/{request_id}", poll),
)
