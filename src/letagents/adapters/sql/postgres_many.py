"""One statement for many, where the driver and the server would else be asked for each.

The facts of all are sent as one text of JSON, which costs next to nothing to write; the server
makes rows of it, and does for each what the statement says.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import attrs
import orjson
from sqlalchemy import Dialect, Executable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert, Update

from letagents.adapters.sql.database import Row

Facts = Mapping[str, object]

_PLACE = "in_its_place"


@attrs.define
class ManyTexts:
    """The texts of statements for many, made when first used; each is known by its identity."""

    _dialect: Dialect
    _made: dict[int, tuple[str, Facts]] = attrs.field(factory=dict)

    def rows(self, cursor: Any, statement: Executable, many: Sequence[Facts]) -> list[Row | None]:
        """Return the one row that `statement` finds for each of `many` facts, or None."""
        placed = [{**facts, _PLACE: place} for place, facts in enumerate(many)]
        self._run(cursor, statement, placed)
        found: dict[int, Row] = {row[0]: row[1:] for row in cursor.fetchall()}
        return [found.get(place) for place in range(len(many))]

    def change(self, cursor: Any, statement: Executable, many: Sequence[Facts]) -> None:
        """Insert or update a row for each of `many` facts, none of them twice."""
        self._run(cursor, statement, many)

    def _run(self, cursor: Any, statement: Executable, many: Sequence[Facts]) -> None:
        text, constants = self._made.get(id(statement)) or self._make(statement)
        facts = {**constants, "many": orjson.dumps(many).decode()}
        # How to update many is planned anew each time: it depends on how large the table is.
        cursor.execute(text, facts, prepare=False if isinstance(statement, Update) else None)

    def _make(self, statement: Executable) -> tuple[str, Facts]:
        compiled = cast(SQLCompiler, cast(Any, statement).compile(dialect=self._dialect))
        binds = compiled.bind_names.items()
        facts = {name: bind for bind, name in binds if bind.required}
        own = re.sub(
            r"%\((\w+)\)s",
            lambda found: f"asked.{found[1]}" if found[1] in facts else found[0],
            str(compiled),
        )
        kinds = {name: bind.type.compile(dialect=self._dialect) for name, bind in facts.items()}
        make = _MAKE.get(type(statement), _finding)
        constants = {name: bind.value for bind, name in binds if name not in facts}
        self._made[id(statement)] = made = make(own, kinds), constants
        return made


# Only our own words are put together below: all that is anybody's stands in the JSON.


def _inserting(own: str, kinds: Mapping[str, str]) -> str:
    head, _, values = own.partition(" VALUES ")
    told = values.strip().removeprefix("(").removesuffix(")")
    return f"{head} SELECT {told} FROM {_asked(kinds)}"  # noqa: S608  # see above


def _updating(own: str, kinds: Mapping[str, str]) -> str:
    head, _, where = own.partition(" WHERE ")
    return f"{head} FROM {_asked(kinds)} WHERE {where}"


def _finding(own: str, kinds: Mapping[str, str]) -> str:
    # OFFSET lets each be looked up by itself, as the statement is: the server would else plan for
    # many that all be read, while there are few, and keep to that plan.
    found = f"(SELECT * FROM ({own}) AS one OFFSET 0) AS found"  # noqa: S608  # see above
    asked = f"{_asked({**kinds, _PLACE: 'INTEGER'})} CROSS JOIN LATERAL {found}"
    return f"SELECT asked.{_PLACE}, found.* FROM {asked}"  # noqa: S608  # see above


def _asked(kinds: Mapping[str, str]) -> str:
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    return f"json_to_recordset(CAST(%(many)s AS json)) AS asked ({columns})"


_MAKE: Mapping[type, Callable[[str, Mapping[str, str]], str]] = {
    Insert: _inserting,
    Update: _updating,
}
