"""What one process offers: the catalogue as its profile has it, and what it refuses.

The calls of a room turn go to its supervisor (supervised.py), and those of a process that polls by
itself are admitted by it (polling.py): neither runs the tools as they are listed here.
"""

import re

import attrs

from letagents.domain.errors import LetAgentsError, NotAvailable
from letagents.domain.modes import Mode, Refusal, refusal
from letagents.domain.surfaces import BY_NAME, Caller, Profile, Toolset, offered, reads
from letagents.entrypoints.mcp.tool import Arguments, Progress, Run, Tool
from letagents.entrypoints.mcp.tools import schemas
from letagents.entrypoints.mcp.tools.catalogue import TOOLS
from letagents.entrypoints.mcp.visit import Visit

Plain = dict[str, object]

_BY_NAME = {tool.name: tool for tool in TOOLS}
_WORD = re.compile(r"\w+")
_CORE_ALONE = (
    " This process offers the core of the tools alone, without {tools}: ask your user to leave "
    "LETAGENTS_TOOLSET out and to start it again, or to do it for you."
)
_REFUSED = schemas.result(
    {"success": schemas.BOOLEAN, "error": schemas.STRING, "message": schemas.STRING}
)

_ANYTHING = schemas.result({})
"""What a supervisor answers: a tool's own result, or what is to be done in its place."""

_CLOSING = (
    "Verified work that is merged is closed with status done; that needs neither a close intent "
    "nor another work lease."
)


def tools_of(caller: Caller, mode: Mode = Mode.OWNER) -> tuple[Tool[Visit], ...]:
    """Return the tools that a process lists, in order; those that it refuses say so when called."""
    tools = (_BY_NAME[name] for name in offered(caller) if name in _BY_NAME)
    if not caller.profile.is_independent:
        tools = (_of_one_worker(tool) for tool in tools)
    return tuple(_as_seen(tool, caller, mode) for tool in tools)


def _of_one_worker(tool: Tool[Visit]) -> Tool[Visit]:
    """Return a tool as it is offered where a supervisor says which worker calls."""
    parameters = tuple(one for one in tool.parameters if one.name != "worker_id")
    return attrs.evolve(tool, parameters=parameters)


def withheld(caller: Caller, mode: Mode) -> dict[str, Plain]:
    """Return what those are told who call a tool that is not listed, where there is more to say."""
    told = {
        name: refusal(name, mode=mode, bounded=caller.bounded)
        for name in BY_NAME.keys() - set(offered(caller))
    }
    return {name: _plain(refused) for name, refused in told.items() if refused is not None}


def _plain(refused: Refusal) -> Plain:
    return {"success": False, "error": refused.error, "message": refused.message}


def _as_seen(tool: Tool[Visit], caller: Caller, mode: Mode) -> Tool[Visit]:
    refused = refusal(tool.name, mode=mode, bounded=caller.bounded, is_afar=caller.is_afar)
    if refused is not None:
        return attrs.evolve(tool, run=_refusing(refused), result=_REFUSED)
    if mode is Mode.SUPERVISED:
        tool = attrs.evolve(tool, run=_no_supervisor, read_only=reads(tool.name), result=_ANYTHING)
        closes = tool.name == "update_task" and caller.is_in_local_turn
        return attrs.evolve(tool, purpose=f"{tool.purpose} {_CLOSING}") if closes else tool
    if caller.is_afar:
        tool = _of_a_server(tool)
    return _in_the_core(tool, caller) if caller.toolset is Toolset.CORE else tool


def _of_a_server(tool: Tool[Visit]) -> Tool[Visit]:
    """Return a tool as it is offered to others, who are not told where rooms are (Q34)."""

    async def run(visit: Visit, arguments: Arguments, progress: Progress) -> Plain:
        from letagents.domain.serving import for_others

        try:
            return await tool.run(visit, arguments, progress)
        except LetAgentsError as error:
            if (told := for_others(error)) is error:
                raise
            _log(tool.name, error)
            raise told from error

    return attrs.evolve(tool, run=run)


def _log(tool: str, error: LetAgentsError) -> None:
    import structlog

    structlog.get_logger().error("rooms.failed", tool=tool, happened=error.happened)


def _in_the_core(tool: Tool[Visit], caller: Caller) -> Tool[Visit]:
    """Return a tool as it is offered where many are not, of which an error may still speak."""
    there = set(offered(caller))

    async def run(visit: Visit, arguments: Arguments, progress: Progress) -> Plain:
        try:
            return await tool.run(visit, arguments, progress)
        except LetAgentsError as error:
            named = dict.fromkeys(name for name in _WORD.findall(error.remedy) if name in _BY_NAME)
            if named and not there & named.keys():
                error.remedy += _CORE_ALONE.format(tools=" and ".join(named))
            raise

    parameters = tuple(parameter for parameter in tool.parameters if parameter.core)
    return attrs.evolve(tool, parameters=parameters, run=run)


def _refusing(refused: Refusal) -> Run[Visit]:
    async def run(_visit: Visit, _arguments: Arguments, _progress: Progress) -> Plain:
        return _plain(refused)

    return run


async def _no_supervisor(_visit: Visit, _arguments: Arguments, _progress: Progress) -> Plain:
    raise NotAvailable(
        "This process acts through its supervisor alone.",
        remedy="Tell your user: without LETAGENTS_EXECUTION_PROFILE the same tools work in this "
        "machine's rooms.",
    )


def readiness(caller: Caller) -> Plain:
    """Return what a supervisor is told of a process that has started. (Source: mcp-tools 15.)"""
    return {
        "format": 1,
        "profile": caller.profile.value,
        "provider": caller.provider,
        "tools": _names(caller),
    }


def contract(api_url: str | None) -> Plain:
    """Return what supervisors can rely on in this version. (Source: mcp-tools 15.)"""
    polling = Caller(profile=Profile.SUPERVISED_MCP_POLLING, provider="codex", api_url=api_url)
    turn = Caller(
        profile=Profile.SUPERVISED_ROOM_TURN, bounded=True, provider="cursor", api_url=api_url
    )
    return {
        "format": 1,
        "profiles": {
            "supervised_mcp_polling": {
                "contract": "custodial_polling_v1",
                "tools": _names(polling),
            },
            "cursor_supervised_room_turn": {"tools": _names(turn)},
        },
    }


def _names(caller: Caller) -> list[str]:
    return sorted(tool.name for tool in tools_of(caller))
