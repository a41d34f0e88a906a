"""Codex for live sessions: a server that nobody but letagents speaks to. (Source: supervisor 8.)"""

import hashlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any

import attrs

from letagents.adapters.processes import children
from letagents.adapters.processes.children import Child
from letagents.adapters.processes.sole import sole
from letagents.adapters.providers import codex_server, codex_transcript
from letagents.adapters.providers.codex_link import (
    CodexLink,
    CodexRefused,
    LinkClosed,
    linked,
)
from letagents.adapters.providers.codex_server import OWNERS_EXTENSIONS_OFF, toml
from letagents.adapters.providers.environment import FOREIGN
from letagents.adapters.providers.programs import CODEX
from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.progress import SOURCE, Activity, Streams
from letagents.domain.turns import ProcessAmbiguous
from letagents.ports.live_codex import Begun, CodexUnreachable, IsOpen, Seen, Server

Raw = Mapping[str, Any]

CLIENT = "letagents-local-codex-session"
ANSWERED_WITHIN = 10.0
"""Seconds: somebody waits for it, and a turn goes on without us."""
SHOWN_ITEMS = 6
PROBES = 3
_IDENTITIES = ("LETAGENTS_AGENT_", "LETAGENTS_SUPERVISOR_")


@attrs.define(eq=False)
class AppServers:
    """Codex app-servers of this machine. `tools` is the command that starts letagents for them.

    In `run_dir` its processes see who of them shows what a session does.
    """

    tools: tuple[str, ...]
    run_dir: Path | None = None
    _launched: dict[int, Child] = attrs.field(factory=dict)

    @property
    def set_url(self) -> str | None:
        """What LETAGENTS_CODEX_SERVER_URL says."""
        url = os.environ.get("LETAGENTS_CODEX_SERVER_URL", "").strip()
        if url and not codex_server.is_address(url):
            raise Malformed(
                f"LETAGENTS_CODEX_SERVER_URL: {quoted(url)} is no address of a Codex app-server.",
                remedy="Set it to one like ws://127.0.0.1:8765, or not at all.",
            )
        return url or None

    def folder(self, cwd: str | None) -> str:
        """Return the folder as it really is."""
        try:
            found = Path(cwd or os.curdir).expanduser().resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            found = None
        if found is None or not found.is_dir():
            raise Malformed(
                f"cwd: {quoted(cwd)} is no folder here.", remedy="Pass the path of a folder."
            )
        return str(found)

    async def is_ready(self, url: str) -> bool:
        """Whether a server there says that it is ready: a busy machine is asked again."""
        for _ in range(PROBES):
            if await codex_server.is_ready(url):
                return True
        return False

    async def launch(self, url: str | None, cwd: str) -> Server:
        """Start a server, and wait until it is ready."""
        env = environment()
        server = await codex_server.launch(
            CODEX.found(),
            url or codex_server.free_url(),
            [*OWNERS_EXTENSIONS_OFF, *self._overrides(env)],
            cwd=cwd,
            env=env,
        )
        server.output.close()
        self._launched[server.child.pid] = server.child
        return Server(server.url, server.child.pid, server.child.birth)

    def _overrides(self, env: Mapping[str, str]) -> list[str]:
        """Give it our tools. Of what they need only names are said here: values may be secret."""
        names = sorted(name for name in env if name.startswith("LETAGENTS_"))
        command, *words = self.tools
        return [
            f"mcp_servers.letagents.command={toml(command)}",
            f"mcp_servers.letagents.args=[{', '.join(map(toml, words))}]",
            f"mcp_servers.letagents.env_vars=[{', '.join(map(toml, names))}]",
        ]

    async def begin(self, url: str, cwd: str, prompt: str) -> Begun:
        """Begin a thread, and its one turn: with all that the person themselves may do here."""
        with _translated():
            async with linked(url, CLIENT, ANSWERED_WITHIN) as link:
                started = await link.call("thread/start", {"cwd": cwd, "historyMode": "legacy"})
                thread_id = _id(started, "thread")
                said = {"type": "text", "text": prompt, "text_elements": []}
                asked = {
                    "threadId": thread_id,
                    "cwd": cwd,
                    "approvalPolicy": "never",
                    "sandboxPolicy": {"type": "dangerFullAccess"},
                    "input": [said],
                }
                return Begun(thread_id, _id(await link.call("turn/start", asked), "turn"))

    async def look(self, url: str, thread_id: str, turn_id: str) -> Seen:
        """Return how a turn stands."""
        with _translated():
            async with linked(url, CLIENT, ANSWERED_WITHIN) as link:
                return _seen(await _read(link, thread_id), turn_id)

    async def interrupt(self, url: str, thread_id: str, turn_id: str) -> None:
        """Break a turn off."""
        with _translated():
            async with linked(url, CLIENT, ANSWERED_WITHIN) as link:
                await link.call("turn/interrupt", {"threadId": thread_id, "turnId": turn_id})

    @asynccontextmanager
    async def follow(self, url: str, tell: Callable[[Activity], None]) -> AsyncIterator[IsOpen]:
        """Tell what the server notifies of."""
        streams = Streams()
        with _translated():
            async with linked(url, CLIENT, ANSWERED_WITHIN) as link:
                link.listen(lambda method, params: tell(streams.activity(method, params)))
                yield lambda: not link.closed.is_set()

    def showing(self, session_id: str) -> AbstractContextManager[bool]:
        """Whether this process is the one that shows what a session does."""
        if self.run_dir is None:
            return nullcontext(True)
        name = hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()[:16]
        return sole(self.run_dir / "live" / f"{name}.lock")

    async def terminate(self, pid: int, birth: str) -> None:
        """End a server, if it is still the one of that birth."""
        child = self._launched.pop(pid, None)
        with suppress(ProcessAmbiguous):
            if child is not None:
                await child.end()
            else:
                await children.end(pid, birth)


def environment(inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of a live session: this one's, without what says who we are."""
    return {
        name: value
        for name, value in inherited.items()
        if name not in FOREIGN and not name.startswith(_IDENTITIES)
    }


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (LinkClosed, CodexRefused) as error:
        raise CodexUnreachable(str(error)) from error


def _id(answer: Raw, kind: str) -> str:
    found = answer.get(kind)
    named = found.get("id") if isinstance(found, Mapping) else None
    if not isinstance(named, str) or not named:
        raise CodexUnreachable(f"Codex app-server did not return a {kind} id")
    return named


async def _read(link: CodexLink, thread_id: str) -> Raw:
    try:
        return await link.call("thread/read", {"threadId": thread_id, "includeTurns": True})
    except CodexRefused as error:
        if "not materialized yet" in error.text:
            return {}
        raise


def _seen(read: Raw, turn_id: str) -> Seen:
    thread = read.get("thread")
    if not isinstance(thread, Mapping):
        return Seen()
    every = codex_transcript.turns_of(read)
    turn = codex_transcript.turn_of(read, turn_id) or (every[-1] if every else {})
    items = codex_transcript.items_of(turn)
    thread_status = codex_transcript.status_of(thread.get("status")) or None
    turn_status = codex_transcript.status_of(turn.get("status")) or None
    return Seen(
        thread_status,
        turn_status,
        tuple(_shown(item) for item in items[-SHOWN_ITEMS:]),
        _activity(items, thread_status, turn_status),
    )


def _shown(item: Raw) -> dict[str, object]:
    match item.get("type"):
        case "agentMessage":
            words = {"phase": item.get("phase"), "text": str(item.get("text") or "")}
            return {"type": "agentMessage", **words}
        case "userMessage":
            return {"type": "userMessage", "text": codex_transcript.text_of_user(item)}
        case kind:
            return {"type": str(kind)}


def _activity(items: Any, thread: str | None, turn: str | None) -> Activity | None:
    """Return what can be shown of a thread that is only looked at."""
    method = f"{SOURCE}: snapshot"
    for item in reversed(items):
        if item.get("type") == "agentMessage" and item.get("text"):
            return Activity(method, str(item["text"]), checking=method)
        if item.get("type") == "userMessage" and (text := codex_transcript.text_of_user(item)):
            return Activity(method, "Codex received a message.", checking=text)
    if thread or turn:
        return Activity(method, f"Codex thread {thread or 'unknown'}, turn {turn or 'unknown'}.")
    return None
