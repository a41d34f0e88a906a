"""What is to be said of the server of hosted rooms, and of who this machine is there."""

from collections.abc import Awaitable, Callable

from letagents.domain.errors import LetAgentsError
from letagents.domain.local_state import Account
from letagents.ports.health import Finding
from letagents.ports.server import Server

ABOUT = "server"


async def examine(
    url: str, server: Server, verified: Callable[[], Awaitable[Account | None]]
) -> list[Finding]:
    """Return whether the server answers, and as whom it knows this machine."""
    status, error = await server.health()
    if error is not None:
        return [
            Finding(
                ABOUT,
                f"{url} cannot be reached: {error}",
                "Start it with `letagents serve`, correct LETAGENTS_API_URL, or set "
                "LETAGENTS_CHAT_STORAGE=local to use this machine's rooms.",
            )
        ]
    return [Finding(ABOUT, f"{url} answers with {status}"), await _account(verified)]


async def _account(verified: Callable[[], Awaitable[Account | None]]) -> Finding:
    try:
        account = await verified()
    except LetAgentsError as error:
        return Finding("account", error.happened, error.remedy)
    if account is None:
        return Finding(
            "account",
            "Nobody is signed in at that server.",
            "Set LETAGENTS_TOKEN to the token that its owner gave you, or let an agent call "
            "start_device_auth.",
        )
    return Finding("account", f"signed in as {account.login}")
