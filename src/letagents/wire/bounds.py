"""The bound on results, brought to plain data: sizes as they are on the wire."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Literal, TypeVar

import attrs

from letagents.domain.bounds import ITEMS_LIMIT, fitting, largest, longest

T = TypeVar("T")
Plain = dict[str, Any]
End = Literal["first", "last"]

SHORTEST = 80
"""Characters that a text keeps however much has to be cut: ids and names stay whole."""


@attrs.frozen
class Bounded(Generic[T]):
    """The items that fit, in their order, and how many did not."""

    items: list[T]
    omitted: int


def size(value: object) -> int:
    """Return the bytes of `value` as compact JSON."""
    return utf8_size(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def utf8_size(text: str) -> int:
    """Return the bytes of `text`, whatever is in it."""
    return len(text.encode("utf-8", "surrogatepass"))


def bounded(
    items: Iterable[T],
    limit: int = ITEMS_LIMIT,
    keep: End = "first",
    size_of: Callable[[T], int] = size,
) -> Bounded[T]:
    """Return as many items from one end as fit into `limit` bytes.

    Of an object that is too large alone the longest texts are cut, so that who reads on gets on.
    """
    given = [_alone(one, limit, size_of) for one in items]
    ordered = given if keep == "first" else given[::-1]
    count = fitting((size_of(one) for one in ordered), limit)
    kept = given[:count] if keep == "first" else given[len(given) - count :]
    return Bounded(kept, len(given) - count)


def _alone(item: T, limit: int, size_of: Callable[[T], int]) -> T:
    if not isinstance(item, dict) or size_of(item) + len("[]") <= limit:
        return item
    smaller: T = within(item, limit // 2)
    return smaller


def within(item: Mapping[str, Any], limit: int) -> Any:
    """Return an object in `limit` bytes: where it has more, its longest texts are cut.

    Then it says so. A list that is too long stays so.
    """
    if size(item) <= limit:
        return item
    told = {**item, "content_truncated": True}
    length = largest(SHORTEST, size(item), lambda length: size(_capped(told, length)) <= limit)
    return _capped(told, length)


def _capped(value: Any, length: int) -> Any:
    match value:
        case str():
            return value[:length]
        case dict():
            return {name: _capped(one, length) for name, one in value.items()}
        case list() | tuple():
            return [_capped(one, length) for one in value]
        case _:
            return value


def cut(item: Plain, field: str, limit: int) -> Plain:
    """Return `item` with so much of its text `field` that it has at most `limit` bytes."""
    room = limit - size(item | {field: ""})
    return item | {field: longest(item[field], lambda text: size(text) - len('""') <= room)}
