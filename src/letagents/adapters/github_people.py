"""GitHub's device flow: people type a code there, and we hear who they are.

What GitHub gives us to ask that with is used once and kept nowhere.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import orjson

from letagents.domain.accounts import Account
from letagents.domain.sign_in import Begun, Over, SignInUnavailable, Waiting
from letagents.ports.people import Comer

if TYPE_CHECKING:
    import httpx

LIMIT = 10.0
"""Seconds that a question may take."""

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_OVER = {"access_denied": "denied", "expired_token": "expired"}


@attrs.frozen
class GithubPeople:
    """People who have an account at GitHub."""

    _client_id: str
    _scopes: str = "read:user"
    _site: str = "https://github.com"
    _api: str = "https://api.github.com"
    _transport: "httpx.AsyncBaseTransport | None" = None

    async def begin(self) -> Begun:
        """Begin a sign-in."""
        asked = {"client_id": self._client_id, "scope": self._scopes}
        told = await self._post("/login/device/code", asked)
        try:
            return Begun(
                str(told["device_code"]),
                str(told["user_code"]),
                str(told["verification_uri"]),
                timedelta(seconds=int(told["expires_in"])),
                timedelta(seconds=int(told.get("interval", 5))),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _unavailable() from error

    async def poll(self, request_id: str) -> Waiting | Over | Comer:
        """Return how a sign-in stands."""
        asked = {
            "client_id": self._client_id,
            "device_code": request_id,
            "grant_type": _GRANT,
        }
        told = await self._post("/login/oauth/access_token", asked)
        if isinstance(token := told.get("access_token"), str):
            return Comer(await self._who(token))
        error = told.get("error")
        if error in _OVER:
            return Over(_OVER[error])
        if error not in ("authorization_pending", "slow_down"):
            raise _unavailable()
        status = "pending" if error == "authorization_pending" else "slow_down"
        interval = told.get("interval")
        return Waiting(status, timedelta(seconds=interval if isinstance(interval, int) else 0))

    async def _who(self, token: str) -> Account:
        shown = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        told = await self._asked("GET", f"{self._api}/user", headers=shown)
        if not isinstance(told.get("login"), str) or not isinstance(told.get("id"), int):
            raise _unavailable()
        return Account(
            account_id="",
            login=told["login"],
            display_name=_text(told.get("name")),
            provider="github",
            provider_user_id=str(told["id"]),
            avatar_url=_text(told.get("avatar_url")),
        )

    async def _post(self, path: str, asked: dict[str, str]) -> dict[str, Any]:
        headers = {"Accept": "application/json"}
        return await self._asked("POST", self._site + path, headers=headers, data=asked)

    async def _asked(self, method: str, url: str, **what: Any) -> dict[str, Any]:
        import httpx

        try:
            with anyio.fail_after(LIMIT):
                async with httpx.AsyncClient(timeout=LIMIT, transport=self._transport) as client:
                    answer = await client.request(method, url, **what)
        except (httpx.HTTPError, TimeoutError, OSError) as error:
            raise _unavailable() from error
        return _content(answer)


def _content(answer: "httpx.Response") -> dict[str, Any]:
    try:
        content = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        content = None
    if not answer.is_success or not isinstance(content, dict):
        raise _unavailable()
    return content


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _unavailable() -> SignInUnavailable:
    return SignInUnavailable(
        "Device authorization is currently unavailable.", remedy="Call again after a while."
    )
