"""Tools whose doing is loaded when it is first needed, so that a process starts without it."""

from importlib import import_module

from letagents.entrypoints.mcp.tool import Arguments, Progress, Run
from letagents.entrypoints.mcp.visit import Visit


def calling(module: str, name: str, *, tells_progress: bool = False) -> Run[Visit]:
    """Return what runs the function of that name in a module beside this one."""

    async def run(visit: Visit, arguments: Arguments, progress: Progress) -> dict[str, object]:
        calls = import_module(f"letagents.entrypoints.mcp.tools.{module}")
        told = (progress,) if tells_progress else ()
        result: dict[str, object] = await getattr(calls, name)(visit, arguments, *told)
        return result

    return run
