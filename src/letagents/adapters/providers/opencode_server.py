"""An OpenCode server: started for one agent, and spoken to over HTTP with a password of its own.

The password is in a file for its owner alone, so that who comes after us can speak to it too. The
key of the model goes to OpenCode alone: what it starts for the agent is not told it.
"""

import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import attrs

from letagents.adapters import private
from letagents.adapters.processes import children
from letagents.adapters.processes.children import Child
from letagents.adapters.providers.environment import coordinates, of_tools
from letagents.adapters.providers.programs import OPENCODE, Output
from letagents.domain import redaction
from letagents.domain.open_models import Endpoint
from letagents.ports.ids import Ids
from letagents.ports.providers import Born, Connection, Launch

if TYPE_CHECKING:
    from httpx import AsyncClient

KIND = "opencode_server"
READY_WITHIN = 60.0
"""It sets itself up when it is started for the first time."""
PROBE = 2.0
LOOKING = 0.1
ANSWERED_WITHIN = 120.0
MODEL_SERVER = "letagents-open-model"
TOOLS = "letagents"
LONGEST_ANSWER = 8_192
_USER = "opencode"
_INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TMPDIR", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
    "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
)  # fmt: skip
_SECRETS = ("OPENCODE_AUTH_CONTENT", "OPENCODE_SERVER_PASSWORD", "OPENCODE_CONFIG_CONTENT")
_PLUGIN = f"""\
export const LetAgents = async () => ({{
  "shell.env": async (_input, output) => {{
    for (const name of {json.dumps(_SECRETS)}) output.env[name] = ""
  }},
}})
"""


class Silence(Exception):
    """The server does not answer, or says no; `status` is what it says."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


@attrs.define(eq=False)
class OpenCode:
    """A server, and the line to it."""

    url: str
    auth_path: str
    child: Child | None
    output: Output | None
    _client: "AsyncClient" = attrs.field(repr=False)

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the server's answer.

        Raises:
            Silence: there is none that says yes.
        """
        import httpx

        try:
            answer = await self._client.request(method, path, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Silence("OpenCode does not answer") from error
        if not answer.is_success:
            said = redaction.shown(answer.text, 200)
            raise Silence(f"OpenCode answered {answer.status_code}: {said}", answer.status_code)
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise Silence("OpenCode answered what is no JSON") from error

    async def is_ready(self) -> bool:
        """Whether it says that it is."""
        import httpx

        try:
            asked = self._client.get("/global/health", timeout=PROBE)
            return (await asked).is_success
        except httpx.HTTPError:
            return False

    async def events(self) -> AsyncIterator[Mapping[str, Any]]:
        """Yield what goes on, until the line ends."""
        import httpx

        try:
            async with self._client.stream("GET", "/event", timeout=None) as stream:
                async for line in stream.aiter_lines():
                    if (event := _event(line)) is not None:
                        yield event
        except httpx.HTTPError:
            return

    async def aclose(self) -> None:
        """Close the line; the server goes on."""
        await self._client.aclose()


def _event(line: str) -> Mapping[str, Any] | None:
    """Return the event that a line tells; None if it tells none that can be read."""
    if not line.startswith("data:"):
        return None
    try:
        event = json.loads(line.removeprefix("data:"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, Mapping) else None


def connect(
    url: str, auth_path: str, child: Child | None = None, output: Output | None = None
) -> OpenCode:
    """Return the line to a server whose password is in that file.

    Raises:
        OSError: it cannot be read.
    """
    import httpx

    password = Path(auth_path).read_text("ascii").strip()
    client = httpx.AsyncClient(
        base_url=url, auth=(_USER, password), timeout=ANSWERED_WITHIN, trust_env=False
    )
    return OpenCode(url, auth_path, child, output, client)


async def launch(
    launch: Launch,
    workspace: str,
    endpoint: Endpoint,
    run_dir: Path,
    url: str,
    ids: Ids,
    born: Born,
) -> OpenCode:
    """Start a server, and return it once it is ready.

    Raises:
        ProviderUnusable: it cannot be started, or does not become ready; then it was ended.
    """
    binary = OPENCODE.found()
    folder = run_dir / "opencode"
    auth, plugin = folder / ids.uuid(), folder / "letagents.mjs"
    output = Output()
    try:
        _write(auth, ids.token().value)
        _write(plugin, _PLUGIN)
        child = await children.start_known(
            [binary, "serve", "--hostname=127.0.0.1", f"--port={url.rpartition(':')[2]}"],
            lambda pid, birth: born(Connection(KIND, pid, birth, url, str(auth))),
            cwd=workspace,
            env=environment(launch, endpoint, auth.read_text("ascii"), plugin),
            stdout=output.file,
            stderr=output.file,
        )
    except BaseException as error:
        output.close()
        forget(str(auth))
        if isinstance(error, OSError):
            raise OPENCODE.unusable(error.strerror or "it cannot be started") from error
        raise
    server = connect(url, str(auth), child, output)
    try:
        await _until_ready(server)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await end(server)
        output.close()
        raise
    return server


async def end(server: OpenCode) -> int | None:
    """End a server, where it was started here, and forget its password."""
    await server.aclose()
    code = await server.child.end() if server.child is not None else None
    forget(server.auth_path)
    return code


def forget(auth_path: str | None) -> None:
    """Remove the file with the password of a server that has ended."""
    if auth_path is not None:
        Path(auth_path).unlink(missing_ok=True)


async def _until_ready(server: OpenCode) -> None:
    with anyio.move_on_after(READY_WITHIN):
        while not await server.is_ready():
            if server.child is not None and server.child.has_ended:
                break
            await anyio.sleep(LOOKING)
        else:
            return
    tail = server.output.tail() if server.output is not None else ""
    raise OPENCODE.unusable("its server does not become ready", tail)


def environment(
    launch: Launch,
    endpoint: Endpoint,
    password: str,
    plugin: Path,
    inherited: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return the environment of a server: little of ours, and what it is to be."""
    kept = {name: inherited[name] for name in _INHERITED if name in inherited}
    key = {MODEL_SERVER: {"type": "api", "key": endpoint.api_key or "none"}}
    return (
        kept
        | coordinates(launch)
        | {
            "OPENCODE_SERVER_PASSWORD": password,
            "OPENCODE_AUTH_CONTENT": json.dumps(key),
            "OPENCODE_CONFIG_CONTENT": json.dumps(_config(launch, endpoint, plugin)),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
    )


def _config(launch: Launch, endpoint: Endpoint, plugin: Path) -> dict[str, object]:
    model = {
        "name": endpoint.model,
        "limit": {"context": 4 * LONGEST_ANSWER, "output": LONGEST_ANSWER},
    }
    server = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Open model",
        "options": {"baseURL": endpoint.base_url},
        "models": {endpoint.model: model},
    }
    tools = {
        "type": "local",
        "command": list(launch.tools),
        "environment": of_tools(launch),
        "enabled": True,
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": f"{MODEL_SERVER}/{endpoint.model}",
        "small_model": f"{MODEL_SERVER}/{endpoint.model}",
        "permission": {"*": "allow"},
        "plugin": [plugin.as_uri()],
        "provider": {MODEL_SERVER: server},
        "mcp": {TOOLS: tools} if launch.tools else {},
    }


def _write(file: Path, text: str) -> None:
    """Put a text there at once: another agent's OpenCode may be reading the file."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    private.make_file(fresh)
    fresh.write_text(text, "utf-8")
    fresh.replace(file)
