"""Tools whose doing is loaded when it is first needed, so that a process starts without it."""

from importlib import import_module

from letagents.entrypoints.mcp.tool import Progress, Run
from letagents.entrypoints.mcp.tools.arguments import Arguments
from letagents.entrypoints.mcp.visit import Visit


def calling(module: str, name: str) -> Run[Visit]:
    """Return what runs the function of that name in a module beside this one."""

    async def run(visit: Visit, arguments: Arguments, _progress: Progress) -> dict[str, object]:
        calls = import_module(f"letagents.entrypoints.mcp.tools.{module}")
        result: dict[str, object] = await getattr(calls, name)(visit, arguments)
        return result

    return run
