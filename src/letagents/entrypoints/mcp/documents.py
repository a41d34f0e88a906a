"""What an argument that is any JSON object may hold: what every store and every end can keep."""

import json
import math
import re
from collections.abc import Iterator, Mapping

from letagents.entrypoints.mcp.complaints import refused
from letagents.entrypoints.mcp.parameters import Parameter

DEEPEST = 32
"""Objects and lists inside each other."""
WHOLE_NUMBERS = range(-(2**63), 2**63)

_NOT_KEPT = re.compile(r"[\x00\ud800-\udfff]")


def refuse_unfit(parameter: Parameter, value: Mapping[str, object]) -> None:
    """Raise Malformed where `value` is too large, too deep or holds what is no plain JSON."""
    for depth, one in _within(value):
        if (what := _unfit(depth, one)) is not None:
            raise refused(parameter, what)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > parameter.max_bytes:
        raise refused(
            parameter, f"{size} bytes of JSON are too many, the limit is {parameter.max_bytes}"
        )


def _within(value: object) -> Iterator[tuple[int, object]]:
    """Return what is in `value`, keys too, each with its depth; stops below the deepest allowed."""
    ahead: list[tuple[int, object]] = [(1, value)]
    while ahead:
        depth, one = ahead.pop()
        yield depth, one
        if depth > DEEPEST:
            continue
        if isinstance(one, Mapping):
            ahead += [(depth + 1, part) for pair in one.items() for part in pair]
        elif isinstance(one, list | tuple):
            ahead += [(depth + 1, part) for part in one]


def _unfit(depth: int, value: object) -> str | None:
    """Return why `value` cannot be kept as JSON everywhere."""
    match value:
        case Mapping() | list() | tuple() if depth > DEEPEST:
            return f"more than {DEEPEST} objects and lists are inside each other"
        case str() if _NOT_KEPT.search(value):
            return "in it is a text that is not valid Unicode, or has a NUL character"
        case int() if value not in WHOLE_NUMBERS:
            return "in it is a whole number of more than 64 bits"
        case float() if not math.isfinite(value):
            return "in it is a number that is not finite"
        case _:
            return None
