"""GitHub's device flow, against a GitHub that the test plays."""

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from letagents.adapters.github_people import GithubPeople
from letagents.domain.sign_in import Over, SignInUnavailable, Waiting
from letagents.ports.people import Comer

SECOND = timedelta(seconds=1)
WHO = {"login": "Ada", "id": 17, "name": "Ada L.", "avatar_url": "https://example.org/a.png"}

Says = Callable[[httpx.Request], httpx.Response]


def github(says: Says) -> GithubPeople:
    return GithubPeople("a client id", transport=httpx.MockTransport(says))


def saying(**body: object) -> Says:
    return lambda _: httpx.Response(200, json=body)


@pytest.mark.anyio
async def test_a_sign_in_is_begun_with_the_servers_client_id() -> None:
    asked: list[bytes] = []

    def says(request: httpx.Request) -> httpx.Response:
        asked.append(request.content)
        return httpx.Response(
            200,
            json={
                "device_code": "device",
                "user_code": "ABCD-1234",
                "verification_uri": "https://github.com/login/device",
                "expires_in": 899,
                "interval": 5,
            },
        )

    begun = await github(says).begin()

    assert asked == [b"client_id=a+client+id&scope=read%3Auser"]
    assert (begun.request_id, begun.user_code) == ("device", "ABCD-1234")
    assert (begun.expires_in, begun.interval) == (899 * SECOND, 5 * SECOND)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("told", "stands"),
    [
        ({"error": "authorization_pending"}, Waiting("pending", 0 * SECOND)),
        ({"error": "slow_down", "interval": 10}, Waiting("slow_down", 10 * SECOND)),
        ({"error": "access_denied"}, Over("denied")),
        ({"error": "expired_token"}, Over("expired")),
    ],
)
async def test_how_it_stands_is_told(told: dict[str, object], stands: object) -> None:
    assert await github(saying(**told)).poll("device") == stands


@pytest.mark.anyio
async def test_who_has_signed_in_is_asked_with_what_github_gave() -> None:
    shown: list[str | None] = []

    def says(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/user":
            shown.append(request.headers.get("authorization"))
            return httpx.Response(200, json=WHO)
        return httpx.Response(200, json={"access_token": "gho_x"})

    comer = await github(says).poll("device")

    assert isinstance(comer, Comer)
    assert (comer.account.login, comer.account.provider_user_id) == ("Ada", "17")
    assert shown == ["Bearer gho_x"]


def _breaks(_request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no way")


@pytest.mark.anyio
@pytest.mark.rule("Q29")
@pytest.mark.parametrize(
    "says",
    [
        _breaks,
        lambda _: httpx.Response(500),
        lambda _: httpx.Response(200, content=b"<html>"),
        saying(error="incorrect_device_code"),
        saying(),
    ],
    ids=["cut", "failing", "no JSON", "another error", "nothing"],
)
async def test_what_cannot_be_told_is_told_so(says: Says) -> None:
    with pytest.raises(SignInUnavailable):
        await github(says).poll("device")
    with pytest.raises(SignInUnavailable):
        await github(says).begin()
