"""A Codex app-server: started on a free port of this machine, and waited for until it is ready.

(Source: supervisor 6.14, 8.2.)
"""

import json
import socket
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit, urlunsplit

import anyio
import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.children import Child
from letagents.adapters.providers.programs import CODEX, Output
from letagents.ports.providers import Born, Connection, unrecorded

KIND = "codex_app_server"
READY_WITHIN = 15.0
LOOKING = 0.1
PROBE = 1.0

OWNERS_EXTENSIONS_OFF = (
    "features.plugins=false",
    "features.apps=false",
    "features.computer_use=false",
    "features.browser_use=false",
    "features.browser_use_external=false",
    "features.hooks=false",
    "features.memories=false",
    "notify=[]",
)
"""What switches off, in a Codex that nobody watches, what its owner added for themselves."""


@attrs.define(eq=False)
class AppServer:
    """A server that this process has started, and what it writes."""

    child: Child
    url: str
    output: Output


def free_url() -> str:
    """Return an address of this machine at which nobody listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"ws://127.0.0.1:{probe.getsockname()[1]}"


def is_address(url: str) -> bool:
    """Whether a server can be spoken to there, as far as its address tells."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def readiness(url: str) -> str:
    """Return where a server tells that it is ready."""
    parts = urlsplit(url)
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return urlunsplit((scheme, parts.netloc, "/readyz", "", ""))


async def is_ready(url: str) -> bool:
    """Whether a server at `url` says that it is ready."""
    import httpx

    if not is_address(url):
        return False
    try:
        async with httpx.AsyncClient(timeout=PROBE, trust_env=False) as client:
            return (await client.get(readiness(url))).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        return False


def arguments(binary: str, url: str, overrides: Sequence[str]) -> list[str]:
    """Return the command line of a server."""
    set_for_it = [word for override in overrides for word in ("-c", override)]
    return [binary, "app-server", *set_for_it, "--listen", url]


async def launch(
    binary: str,
    url: str,
    overrides: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    born: Born = unrecorded,
) -> AppServer:
    """Start a server, and return it once it is ready.

    Raises:
        ProviderUnusable: it cannot be started, or does not become ready; then it was ended.
    """
    output = Output()
    try:
        child = await children.start_known(
            arguments(binary, url, overrides),
            lambda pid, birth: born(Connection(KIND, pid, birth, url)),
            cwd=cwd,
            env=env,
            stdout=output.file,
            stderr=output.file,
        )
    except BaseException as error:
        output.close()
        if isinstance(error, OSError):
            raise CODEX.unusable(error.strerror or "it cannot be started") from error
        raise
    server = AppServer(child, url, output)
    try:
        await _until_ready(server)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await child.end()
        output.close()
        raise
    return server


async def _until_ready(server: AppServer) -> None:
    with anyio.move_on_after(READY_WITHIN):
        while not await is_ready(server.url):
            if server.child.has_ended:
                raise CODEX.unusable("app-server ended", server.output.tail())
            await anyio.sleep(LOOKING)
        return
    raise CODEX.unusable(
        f"Timed out waiting for codex app-server at {server.url}", server.output.tail()
    )


def toml(text: str) -> str:
    """Return a text as TOML, which its command line takes, spells it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
