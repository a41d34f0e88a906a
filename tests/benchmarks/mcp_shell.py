"""What our shell costs beside a bare SDK server: one call, and the start. Prints ratios.

Run it with `python tests/benchmarks/mcp_shell.py [calls] [starts]`. All servers of a comparison
take turns in one run, so that a busy machine slows all of them alike; compare ratios, not seconds.
"""

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

SERVERS = ("shell", "bare on our transport", "bare on the SDK's transport")
ERAS = ("2025-11-25", "2026-07-28")
BATCH = 50


# --- the servers --------------------------------------------------------------------------------


def shell() -> int:
    from letagents.entrypoints.mcp.process import Service, serve

    def service() -> Service[None]:
        from collections.abc import AsyncIterator

        from letagents.entrypoints.mcp.tool import Progress, Tool

        async def empty(_: None, __: Mapping[str, object], ___: Progress) -> dict[str, object]:
            return {}

        @asynccontextmanager
        async def nothing() -> AsyncIterator[None]:
            yield None

        tool = Tool(
            name="empty",
            purpose="Do nothing.",
            result={"type": "object"},
            read_only=True,
            idempotent=True,
            open_world=False,
            run=empty,
        )
        return Service(tools=(tool,), open_session=nothing, version="1")

    return serve(service)


def bare_server() -> Any:
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    tool = Tool(
        name="empty",
        description="Do nothing.",
        input_schema={"type": "object"},
        output_schema={"type": "object"},
    )

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool])

    async def call_tool(_ctx: Any, _params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="{}")], structured_content={})

    return Server("bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def bare_on_ours() -> int:
    async def run() -> None:
        from letagents.entrypoints.mcp.stdio import stdio

        server = bare_server()
        async with stdio(lambda _: None) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(run())
    return 0


def bare_on_theirs() -> int:
    async def run() -> None:
        from mcp.server.stdio import stdio_server

        server = bare_server()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(run())
    return 0


RUN: dict[str, Callable[[], int]] = dict(
    zip(SERVERS, (shell, bare_on_ours, bare_on_theirs), strict=True)
)


# --- the client ---------------------------------------------------------------------------------


class Client:
    """Raw lines over raw pipes, so that hardly any of the time is the client's own."""

    def __init__(self, name: str, era: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._meta: dict[str, Any] = {}
        if era == ERAS[0]:
            self.ask("initialize", _INITIALIZE)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        else:
            self._meta = {"_meta": _ENVELOPE}

    def ask(self, method: str, params: Mapping[str, Any]) -> None:
        self._send(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **self._meta}}
        )
        answer = b""
        while not answer.endswith(b"\n"):
            answer += self._from.read(65536) or b"\n"
        assert b'"result"' in answer, answer

    def _send(self, message: Mapping[str, Any]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")

    def close(self) -> None:
        self._to.close()
        self._process.wait()
        self._from.close()


_INITIALIZE = {
    "protocolVersion": ERAS[0],
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
_ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@contextmanager
def connected(name: str, era: str) -> Iterator[Client]:
    client = Client(name, era)
    try:
        yield client
    finally:
        client.close()


def timed(action: Callable[[], None]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def measure_calls(era: str, calls: int) -> dict[str, list[float]]:
    spans: dict[str, list[float]] = {name: [] for name in SERVERS}
    clients = {name: Client(name, era) for name in SERVERS}
    for name in SERVERS * (calls // BATCH + 1):
        ask = clients[name].ask
        for _ in range(BATCH):
            spans[name].append(timed(lambda: ask("tools/call", {"name": "empty"})))  # noqa: B023
    for client in clients.values():
        client.close()
    return {name: some[BATCH:] for name, some in spans.items()}


def measure_starts(starts: int) -> dict[str, list[float]]:
    spans: dict[str, list[float]] = {name: [] for name in SERVERS}
    for name in SERVERS * starts:
        begin = time.perf_counter()
        with connected(name, ERAS[0]) as client:
            client.ask("tools/list", {})
            spans[name].append(time.perf_counter() - begin)
    return spans


def show(title: str, spans: Mapping[str, list[float]]) -> None:
    print(title)
    ours = statistics.median(spans[SERVERS[0]])
    for name, some in spans.items():
        middle = statistics.median(some)
        print(
            f"  {name:28} median {middle * 1e3:8.3f} ms   min {min(some) * 1e3:8.3f} ms"
            f"   shell is {ours / middle:.2f} of it"
        )


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--serve"]:
        return RUN[arguments[1]]()
    calls, starts = (*map(int, arguments), *(2000, 10)[len(arguments) :])
    for era in ERAS:
        show(f"an empty tool, {era}", measure_calls(era, calls))
    show("start to tools/list", measure_starts(starts))
    print(f"largest server: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
