"""The bound on results, brought to plain data: sizes as they are on the wire."""

import json
from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, TypeVar

import attrs

from letagents.domain.bounds import ITEMS_LIMIT, fitting, longest

T = TypeVar("T")
Plain = dict[str, Any]
End = Literal["first", "last"]


@attrs.frozen
class Bounded(Generic[T]):
    """The items that fit, in their order, and how many did not."""

    items: list[T]
    omitted: int


def size(value: object) -> int:
    """Return the bytes of `value` as compact JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def bounded(
    items: Iterable[T],
    limit: int = ITEMS_LIMIT,
    keep: End = "first",
    size_of: Callable[[T], int] = size,
) -> Bounded[T]:
    """Return as many items from one end as fit into `limit` bytes. Each has to fit alone."""
    given = list(items)
    ordered = given if keep == "first" else given[::-1]
    count = fitting((size_of(one) for one in ordered), limit)
    kept = given[:count] if keep == "first" else given[len(given) - count :]
    return Bounded(kept, len(given) - count)


def cut(item: Plain, field: str, limit: int) -> Plain:
    """Return `item` with so much of its text `field` that it has at most `limit` bytes."""
    room = limit - size(item | {field: ""})
    return item | {field: longest(item[field], lambda text: size(text) - len('""') <= room)}
