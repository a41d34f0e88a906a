"""What a model is told when a call does not succeed; only here do errors become results."""

import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from letagents.domain.errors import LetAgentsError
from letagents.entrypoints.mcp.tool import Tool

Result = dict[str, object]
"""The result of a tool call, as it goes over the wire."""


async def told_to_the_model(
    tool: Tool[Any], arguments: Mapping[str, object], call: Callable[[], Awaitable[Result]]
) -> Result:
    """Return what `call` returns, or a result that tells the model why it does not.

    A cancelled call is no failure: its cancellation passes through.
    """
    try:
        return await call()
    except Exception as error:  # noqa: BLE001  whatever it is, this process answers and goes on
        cause = _cause(error)
        if isinstance(cause, LetAgentsError):
            return not_done(cause)
        _log(tool, arguments, error)
        return _not_done(_bug(tool, cause))


def _cause(error: Exception) -> Exception:
    """Return what happened, where a task group has wrapped it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def not_done(error: LetAgentsError) -> Result:
    """Return the result that tells of an error."""
    return _not_done(f"{error.happened} {error.remedy} [{error.code}]")


def _not_done(text: str) -> Result:
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "resultType": "complete",
    }


def _bug(tool: Tool[Any], error: Exception) -> str:
    """Name the class and nothing else: the rest could hold anything."""
    if tool.read_only:
        remedy = "Nothing was changed: call it once more, and go on without it if that fails too."
    else:
        remedy = (
            "It may have taken effect: look (read_messages, get_current_room) before repeating."
        )
    return (
        f"letagents failed inside {tool.name}: {type(error).__name__}. {remedy} "
        "This is a fault of letagents; its log has the details. [internal_error]"
    )


def _log(tool: Tool[Any], arguments: Mapping[str, object], error: Exception) -> None:
    import structlog

    details = "".join(traceback.format_exception(error))
    for parameter in tool.parameters:
        value = arguments.get(parameter.name)
        if parameter.secret and isinstance(value, str) and value:
            details = details.replace(value, "…")
    structlog.get_logger().error("tool.failed", tool=tool.name, exception=details)
