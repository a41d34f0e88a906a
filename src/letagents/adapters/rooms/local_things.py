"""The statements for what rooms keep besides messages, and the values of their parameters.

There are few, and each is built once: a statement is known by its identity.
"""

import functools
from collections.abc import Mapping
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    Update,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    union_all,
)

from letagents.adapters.rooms.book import Kind, Where
from letagents.adapters.sql.tables import TEXT, THINGS
from letagents.adapters.sql.upserts import put_statement

V = TypeVar("V")

_EQUAL = {"state": "with_state", "about": "with_about", "by": "with_by", "also": "with_also"}
"""Facts that are asked for by their value, and the parameters of their statements."""

# The name of a kind and the limit stand in the text of each statement. Of a parameter there, SQLite
# asks of each value anew whether an index serves that is only for some, and prepares the statement
# again, which takes longer than to run it.


def _of(kind: str) -> ColumnElement[bool]:
    return THINGS.c.kind == literal_column(f"'{kind}'")


@functools.cache
def getting(kind: str, mark: str = "") -> Select[Any]:
    """Return the statement for the thing of a name; `mark` ends the name of that parameter."""
    return select(THINGS.c.value).where(
        THINGS.c.room_id == bindparam("room_id"),
        _of(kind),
        THINGS.c.key == bindparam(f"name{mark}"),
    )


@functools.cache
def numbering(kind: str) -> Select[Any]:
    """Return the statement for the highest number of a kind."""
    of_kind = select(THINGS.c.number).where(THINGS.c.room_id == bindparam("room_id"), _of(kind))
    return _first(of_kind.order_by(THINGS.c.number.desc()), 1)


def _first(statement: Select[Any], limit: int) -> Select[Any]:
    return statement.suffix_with(f"LIMIT {limit}")


PUT = put_statement(THINGS)
"""Puts a thing in the place of the one of its name."""


@functools.cache
def changing(kind: str, changed: tuple[str, ...]) -> Update:
    """Return the statement that gives a thing another value, and others of its facts."""
    return (
        THINGS.update()
        .where(
            THINGS.c.room_id == bindparam("at_room"), _of(kind), THINGS.c.key == bindparam("name")
        )
        .values({THINGS.c[name]: bindparam(name) for name in (*changed, "value")})
    )


def facts_of(kind: Kind[V], value: V) -> dict[str, object]:
    """Return the facts by which a thing is found, as its row holds them."""
    return {
        "number": kind.number(value),
        "state": kind.state(value),
        "is_open": kind.is_open(value),
        "about": kind.about(value),
        "by": kind.by(value),
        "also": kind.also(value),
    }


Shape = tuple[str, tuple[str, ...], bool, int]
"""What makes the statement of a search: its kind, which facts are given, its order and limit."""


@functools.cache
def finding(shape: Shape, mark: str = "") -> Select[Any]:
    """Return the statement of that shape; there are few, and each is built once.

    `mark` ends the names of its parameters.
    """
    kind, given, newest_first, limit = shape
    place = (THINGS.c.number, func.length(THINGS.c.key), THINGS.c.key)
    order = (fact.desc() if newest_first else fact for fact in place)
    found = _fitting(select(THINGS.c.value), kind, given, mark)
    return _first(found.order_by(*order), limit)


@functools.cache
def bringing(
    shapes: tuple[Shape, ...], named: tuple[str, ...], numbered: tuple[str, ...]
) -> CompoundSelect[Any]:
    """Return the statement for all of it, each of whose rows says of which it is by its place."""
    found = [
        *(finding(shape, f"_{at}").subquery().c.value for at, shape in enumerate(shapes)),
        *(getting(kind, f"_{at}").subquery().c.value for at, kind in enumerate(named)),
        *(cast(numbering(kind).subquery().c.number, TEXT) for kind in numbered),
    ]
    return union_all(*(select(literal_column(str(at)), one) for at, one in enumerate(found)))


@functools.cache
def counting(kind: str, given: tuple[str, ...]) -> Select[Any]:
    """Return the statement that counts the things of a kind to which that fits."""
    return _fitting(select(func.count()).select_from(THINGS), kind, given)


def _fitting(
    statement: Select[Any], kind: str, given: tuple[str, ...], mark: str = ""
) -> Select[Any]:
    statement = statement.where(THINGS.c.room_id == bindparam("room_id"), _of(kind))
    for name in given:
        if name == "after":
            statement = statement.where(THINGS.c.number > bindparam(f"after{mark}"))
        elif name == "before":
            statement = statement.where(THINGS.c.number < bindparam(f"before{mark}"))
        elif name in ("open", "closed"):
            is_open = THINGS.c.is_open
            statement = statement.where(is_open if name == "open" else ~is_open)
        else:
            statement = statement.where(THINGS.c[name] == bindparam(f"{_EQUAL[name]}{mark}"))
    return statement


def given_by(where: Where) -> tuple[tuple[str, ...], dict[str, object]]:
    """Return which facts are asked for, and their values as the statement takes them."""
    names: list[str] = []
    facts: dict[str, object] = {}
    for name, parameter in _EQUAL.items():
        if (value := getattr(where, name)) is not None:
            names.append(name)
            facts[parameter] = value
    if where.is_open is not None:
        names.append("open" if where.is_open else "closed")
    if where.after is not None:
        names.append("after")
        facts["after"] = where.after
    if where.before is not None:
        names.append("before")
        facts["before"] = where.before
    return tuple(names), facts


@functools.lru_cache(maxsize=1024)
def shape_of(kind: Kind[Any], where: Where) -> tuple[Shape, Mapping[str, object]]:
    """Return the shape of a search, and the values of its parameters."""
    given, facts = given_by(where)
    limit = 1 << max(where.limit - 1, 0).bit_length()  # few limits make few statements
    return (kind.name, given, where.newest_first, limit), facts
