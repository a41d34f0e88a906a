"""A small MCP server on our shell, for tests: one tool for each way in which a call can go."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import attrs

from letagents.domain.errors import NoRoom
from letagents.entrypoints.mcp.parameters import Parameter
from letagents.entrypoints.mcp.process import Service, serve
from letagents.entrypoints.mcp.tool import Progress, Run, Tool

ANYTHING: Mapping[str, object] = {"type": "object"}


@attrs.define
class Session:
    """What the calls of one client share."""

    waiting: int = 0
    freed: int = 0
    all_wait: anyio.Event = attrs.field(factory=anyio.Event)


async def echo(
    _: Session, arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    return {"text": arguments["text"], "length": len(str(arguments["text"])), "nothing": None}


async def wait(
    session: Session, arguments: Mapping[str, object], progress: Progress
) -> dict[str, object]:
    """Wait until as many calls as `until` says wait at the same time."""
    session.waiting += 1
    await progress(session.waiting, message="waiting")
    try:
        if session.waiting == arguments["until"]:
            session.all_wait.set()
        await session.all_wait.wait()
        return {"waiting": session.waiting}
    finally:
        session.freed += 1


async def freed(
    session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    return {"freed": session.freed}


CHILD = "import os, stat; print('a stray child on null', stat.S_ISCHR(os.fstat(0).st_mode))"


async def chatter(
    _session: Session, _arguments: Mapping[str, object], _progress: Progress
) -> dict[str, object]:
    print("a stray print")
    os.write(1, b"a stray write\n")
    subprocess.run([sys.executable, "-c", CHILD], check=False)
    return {}


async def block(
    _session: Session, _arguments: Mapping[str, object], progress: Progress
) -> dict[str, object]:
    await progress(1, message="waiting")
    await asyncio.to_thread(threading.Event().wait)
    return {}


async def freeze(
    _session: Session, _arguments: Mapping[str, object], progress: Progress
) -> dict[str, object]:
    """Hold the event loop, as a flood of calls does, but for longer than any test waits."""
    await progress(1, message="waiting")
    threading.Event().wait(600)
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
    await asyncio.to_thread(int)
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
    tool("freeze", freeze),
    tool("refuse", refuse),
    tool("fail", fail, Parameter("key", "string", required=True, secret=True), read_only=False),
    tool("halves", halves),
    tool("steps", steps),
)


@asynccontextmanager
async def _session() -> AsyncIterator[Session]:
    session = Session()
    yield session
    print(f"closed, {session.freed} freed", file=sys.stderr)


def service() -> Service[Session]:
    """Return what this server serves."""
    return Service(tools=TOOLS, open_session=_session, version="1", instructions="Test me.")


if __name__ == "__main__":
    sys.exit(serve(service))
