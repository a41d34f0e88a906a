"""Reading an answer of a hosted room: each field is of its kind, or the answer is none."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import attrs

from letagents.domain.errors import Malformed
from letagents.wire import moments

T = TypeVar("T")


class Unreadable(ValueError):
    """An answer is not of the form that it has to have; its text names the field, not the value."""


@attrs.frozen
class Fields:
    """The fields of an object in an answer. What is no object is refused."""

    document: Any = attrs.field()

    @document.validator
    def _check(self, _field: object, value: object) -> None:
        if not isinstance(value, Mapping):
            raise Unreadable("it is no object")

    def text(self, name: str) -> str:
        """Return a text."""
        return _checked(name, self.document.get(name), str)

    def text_or_none(self, name: str) -> str | None:
        """Return a text, or None for null and for what is left out."""
        return None if self.document.get(name) is None else self.text(name)

    def integer(self, name: str) -> int:
        """Return an integer."""
        return _checked(name, self.document.get(name), int)

    def integer_or_none(self, name: str) -> int | None:
        """Return an integer, or None for null and for what is left out."""
        return None if self.document.get(name) is None else self.integer(name)

    def number(self, name: str) -> float:
        """Return a number of seconds, or whatever else is not counted in whole ones."""
        return float(_checked(name, self.document.get(name), (int, float)))

    def number_or_none(self, name: str) -> float | None:
        """Return a number, or None for null and for what is left out."""
        return None if self.document.get(name) is None else self.number(name)

    def flag(self, name: str) -> bool:
        """Return a truth value; false where it is left out."""
        return _checked(name, self.document.get(name, False), bool)

    def list(self, name: str) -> "list[object]":
        """Return a list; an empty one where it is left out."""
        return _checked(name, self.document.get(name, []), list)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; an empty one where it is left out."""
        return tuple(_checked(name, one, str) for one in self.list(name))

    def parts(self, name: str) -> "tuple[Fields, ...]":
        """Return a list of objects; an empty one where it is left out."""
        return tuple(Fields(one) for one in self.list(name))

    def part(self, name: str) -> "Fields | None":
        """Return an object within, or None for null and for what is left out."""
        inner = self.document.get(name)
        return None if inner is None else Fields(inner)

    def moment(self, name: str) -> datetime:
        """Return a moment, in any ISO form."""
        moment = moments.from_text(self.text(name))
        if moment is None:
            raise Unreadable(f"{name} is no moment")
        return moment

    def moment_or_none(self, name: str) -> datetime | None:
        """Return a moment, or None for null and for what is left out."""
        return None if self.document.get(name) is None else self.moment(name)

    def parsed(self, name: str, parse: Callable[[str], T]) -> T:
        """Return what `parse`, which raises Malformed or ValueError, makes of a text."""
        try:
            return parse(self.text(name))
        except (Malformed, ValueError) as error:
            raise Unreadable(f"{name} is not of its form") from error

    def parsed_or_none(self, name: str, parse: Callable[[str], T]) -> T | None:
        """Return as `parsed`, or None for null and for what is left out."""
        return None if self.document.get(name) is None else self.parsed(name, parse)


def _checked(name: str, value: object, kind: type[T] | tuple[type[T], ...]) -> T:
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise Unreadable(f"{name} is not of its kind")
    return value
