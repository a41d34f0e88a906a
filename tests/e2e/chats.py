"""Chats as a model's program holds them: in this process through the SDK's client, or over pipes.

Every result is held to the schema that its tool declares.
"""

import contextlib
import json
import queue
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, Any, Self

import anyio
import attrs
import jsonschema  # type: ignore[import-untyped]  # it ships no types
from mcp import Client
from mcp_types import CallToolResult, Implementation, TextContent
from tests.contract.machine import Here
from tests.e2e.shell import PATIENCE, begun, environment

from letagents.application.client import LetAgents
from letagents.domain.bounds import RESULT_LIMIT
from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.resources import serve_resources
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.surface import readiness
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.entrypoints.mcp.visit import Visit
from letagents.entrypoints.mcp.watches import Watches
from letagents.settings import Settings
from letagents.wire.bounds import size
from letagents.wiring.client import open_letagents

ERAS = ["2025-11-25", "2026-07-28"]
SCHEMAS = {tool.name: tool.result for tool in TOOLS}

Plain = dict[str, Any]


def checked(tool: str, result: Plain) -> Plain:
    """Return `result` if it is what the tool declares, and no larger than any may be."""
    assert size(result) <= RESULT_LIMIT, (tool, size(result))
    jsonschema.validate(result, SCHEMAS[tool], cls=jsonschema.Draft202012Validator)
    return result


def schema_is_sound(schema: Mapping[str, Any]) -> None:
    """See that `schema` is one."""
    jsonschema.Draft202012Validator.check_schema(schema)


@attrs.frozen
class Chat:
    """One chat's client, what our side holds for it, and the notices that the client got."""

    client: Client
    visit: Visit
    notices: list[str] = attrs.field(factory=list)

    async def call(self, tool: str, **arguments: object) -> Plain:
        """Return what a call that succeeds returns, as data and as text."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        return checked(tool, dict(result.structured_content or {}))

    async def refused(self, tool: str, **arguments: object) -> str:
        """Return what the model is told of a call that is refused."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, text_of(result)
        assert result.structured_content is None
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@asynccontextmanager
async def chatting(
    letagents: LetAgents, era: str = ERAS[0], *, program: str | None = None
) -> AsyncIterator[Chat]:
    """Open one chat in this process."""
    who = Implementation(name=program, version="1") if program else None
    notices: list[str] = []

    async def noted(message: object) -> None:
        notices.append(str(getattr(message, "method", message)))

    async with letagents.client() as client, anyio.create_task_group() as tasks:
        visit = Visit(client, watches=Watches(client.messages, tasks))
        before = Visit.before_a_call
        server = build_server(TOOLS, Opening.of(visit), version="1", before=before)
        serve_resources(server, readiness(Caller()), Opening.of(visit))
        mode = "legacy" if era == ERAS[0] else "auto"
        async with Client(server, mode=mode, client_info=who, message_handler=noted) as ours:
            assert ours.protocol_version == era
            yield Chat(ours, visit, notices)
        tasks.cancel_scope.cancel()


@attrs.define
class House:
    """A home with rooms, in which chats of this process meet."""

    letagents: LetAgents
    era: str
    _chats: AsyncExitStack

    async def chat(self, program: str | None = None) -> Chat:
        return await self._chats.enter_async_context(
            chatting(self.letagents, self.era, program=program)
        )


@asynccontextmanager
async def living_in(home: Path, era: str = ERAS[0], **ports: Any) -> AsyncIterator[House]:
    """Open a house; `ports` play in place of those that the settings name."""
    ports.setdefault("surroundings", Here())
    with anyio.fail_after(60):
        async with (
            open_letagents(Settings(home=home), **ports) as letagents,
            AsyncExitStack() as chats,
        ):
            yield House(letagents, era, chats)


ENVELOPE: Plain = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO: Plain = {
    "protocolVersion": ERAS[0],
    "capabilities": {},
    "clientInfo": {"name": "claude-code", "version": "1"},
}


class Served:
    """`letagents mcp` as a process, over pipes. All that it ever said is kept."""

    begun = staticmethod(begun)

    def __init__(
        self, home: Path, era: str = ERAS[0], settings: Mapping[str, str] | None = None
    ) -> None:
        self.process = self.begun(["mcp"], environment(home, settings))
        self.said: list[bytes] = []
        self.complained: list[bytes] = []
        self._answers: dict[object, Plain] = {}
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._meta = ENVELOPE if era == ERAS[1] else {}
        self._asked = 0
        self._readers = [
            self._reading(self.process.stdout, self.said, self._lines),
            self._reading(self.process.stderr, self.complained, None),
        ]
        if era == ERAS[0]:
            self._greet()

    def _greet(self) -> None:
        try:
            self.answer(self.ask("initialize", HELLO))
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self.__exit__()
            raise

    def _reading(
        self,
        stream: IO[bytes] | None,
        kept: list[bytes],
        lines: "queue.SimpleQueue[bytes] | None",
    ) -> threading.Thread:
        def read() -> None:
            assert stream is not None
            with stream:
                for line in stream:
                    kept.append(line)
                    if lines is not None:
                        lines.put(line)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Mapping[str, object]) -> None:
        self.write(json.dumps(message).encode())

    def ask(self, method: str, params: Mapping[str, object]) -> int:
        """Ask without waiting; return the number under which it will be answered."""
        self._asked += 1
        whole = {**params, **({"_meta": self._meta} if self._meta else {})}
        self.send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": whole})
        return self._asked

    def begin(self, tool: str, **arguments: object) -> int:
        """Begin a call; return its number."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def cancel(self, number: int) -> None:
        """Say that nobody waits for the answer any more."""
        params = {"requestId": number, "reason": "it took too long"}
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def answer(self, number: object) -> Plain:
        """Wait for an answer; those to others are kept."""
        while number not in self._answers:
            message = json.loads(self._lines.get(timeout=PATIENCE))
            if "method" not in message:
                self._answers[message["id"]] = message
        return self._answers.pop(number)

    def notice(self) -> Plain:
        """Wait for the next notice that is no answer; answers are kept."""
        while True:
            message: Plain = json.loads(self._lines.get(timeout=PATIENCE))
            if "method" in message:
                return message
            self._answers[message["id"]] = message

    def call(self, tool: str, **arguments: object) -> Plain:
        """Return what a call that succeeds returns."""
        result = self.answer(self.begin(tool, **arguments))["result"]
        assert not result["isError"], (result["content"], self.complained[-1:])
        return checked(tool, result["structuredContent"])

    def refused(self, tool: str, **arguments: object) -> str:
        """Return what the model is told of a call that is refused."""
        result = self.answer(self.begin(tool, **arguments))["result"]
        assert result["isError"], result["content"]
        return str(result["content"][0]["text"])

    def close(self) -> int:
        """Let the process leave; return its exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.close()


posix = sys.platform != "win32"
