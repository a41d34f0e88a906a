"""Answers about what was asked: those about something else are none.

A server, or what is on the way to it, may mix its callers up; what it then says is another's.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from letagents.wire.http.reading import Unreadable

T = TypeVar("T")


def about(
    asked: object, named: Callable[[T], object], read: Callable[[Any], T]
) -> Callable[[Any], T]:
    """Return what reads an answer that is to be about `asked`: `named` tells what it is about.

    It raises Unreadable where `read` does, and where the answer is about something else.
    """

    def checked(answer: Any) -> T:
        found = read(answer)
        if str(named(found)) != str(asked):
            raise Unreadable("it is about something else than what was asked")
        return found

    return checked
