"""A small MCP server on our shell, for tests: one tool for each way in which a call can go."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import attrs

from letagents.domain.errors import NoRoom
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.process import Service, serve
from letagents.entrypoints.mcp.tool import Progress, Run, Tool

ANYTHING: Mapping[str, object] = {"type": "object"}


@attrs.define
class Session:
    """What the calls of one client share; `notes` is a folder that the test looks into."""

    notes: Path
    waiting: int = 0
    freed: int = 0

    def note(self, name: str) -> None:
        (self.notes / name).touch()


async def echo(
    _: Session, arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    return {"text": arguments["text"], "length": len(str(arguments["text"])), "nothing": None}


async def wait(
    session: Session, arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    session.waiting += 1
    session.note("waiting")
    try:
        while session.waiting < int(str(arguments["until"])):  # noqa: ASYNC110
            await anyio.sleep(0.01)
        return {"waiting": session.waiting}
    finally:
        session.freed += 1
        session.note("freed")


async def freed(
    session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    return {"freed": session.freed}


async def chatter(
    _session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    print("a stray print")  # noqa: T201
    os.write(1, b"a stray write\n")
    subprocess.run([sys.executable, "-c", "print('a stray child', input())"], check=False)  # noqa: ASYNC221
    return {}


async def block(
    session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    session.note("waiting")
    await asyncio.to_thread(time.sleep, 600)  # noqa: TID251
    return {}


async def refuse(
    _session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_without_a_room())
    return {}


async def _without_a_room() -> None:
    raise NoRoom


async def fail(
    _session: Session, arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    raise LookupError(f"details with {arguments['key']}")


async def halves(
    _session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    return {"path": "half a pair: \ud800"}


async def steps(
    _session: Session, _arguments: Mapping[str, object], progress: Progress
) -> dict[str, object]:
    await progress(1, 2, "half way")
    return {}


def tool(
    name: str,
    run: Run[Session],
    *parameters: Parameter,
    result: Mapping[str, object] = ANYTHING,
    read_only: bool = True,
) -> Tool[Session]:
    return Tool(
        name=name,
        purpose=f"Do {name}.",
        parameters=parameters,
        result=result,
        read_only=read_only,
        idempotent=True,
        open_world=False,
        run=run,
    )


TOOLS = (
    tool(
        "echo",
        echo,
        Parameter("text", "string", required=True, max_length=20_000_000, free_text=True),
        result={
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "length": {"type": "integer"},
                "nothing": {"type": ["string", "null"]},
            },
            "required": ["text", "length", "nothing"],
            "additionalProperties": False,
        },
    ),
    tool("wait", wait, Parameter("until", "integer", required=True)),
    tool("freed", freed),
    tool("chatter", chatter),
    tool("block", block),
    tool("refuse", refuse),
    tool("fail", fail, Parameter("key", "string", required=True, secret=True), read_only=False),
    tool("halves", halves),
    tool("steps", steps),
)


@asynccontextmanager
async def _session() -> AsyncIterator[Session]:
    session = Session(Path(sys.argv[1]))
    yield session
    session.note("closed")


def service() -> Service[Session]:
    """Return what this server serves."""
    return Service(tools=TOOLS, open_session=_session, version="1", instructions="Test me.")


if __name__ == "__main__":
    sys.exit(serve(service))
