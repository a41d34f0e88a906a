"""Raw MCP clients for measuring: lines over pipes, so that hardly any of the time is their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import mcp_shell

OURS = (sys.executable, "-m", "letagents", "mcp")
BARE = (sys.executable, mcp_shell.__file__, "--serve", "bare on our transport")


class Agent:
    """One server process and its client's end, in the era of the handshake."""

    def __init__(self, command: Sequence[str], home: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "LETAGENTS_HOME": str(home), "LETAGENTS_LOG_LEVEL": "error"},
        )
        self._asked = 0
        self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        """Ask, and return the result."""
        self.begin(method, **params)
        return self.end()

    def begin(self, method: str, **params: Any) -> None:
        """Ask, and leave the answer for `end`."""
        self._asked += 1
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params})

    def end(self) -> Any:
        """Return the next answer's result."""
        assert self.process.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            part = self.process.stdout.read(65536)
            assert part, "the server has ended"
            line += part
        return json.loads(line)["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool, and return what it said as an object."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def memory(self) -> int:
        """Return what the process holds of the machine's memory now, in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(status.split("VmRSS:")[1].split()[0])

    def processor_seconds(self) -> float:
        """Return the processor time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Leave, as a client does."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def _send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")


@contextmanager
def agent(home: Path, command: Sequence[str] = OURS) -> Iterator[Agent]:
    """Run a server, and leave it at the end."""
    one = Agent(command, home)
    try:
        yield one
    finally:
        one.close()


def worker(one: Agent, room: str, name: str) -> str:
    """Register a worker in a room; return its handle."""
    handle: str = one.call(
        "register_agent_session", registration_key=f"key of {name}", room_id=room, display_name=name
    )["worker_id"]
    return handle
