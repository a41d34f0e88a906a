"""What a tool's parameters are: rows of a table, from which come its schema and its reading."""

from collections.abc import Sequence
from typing import Literal

import attrs

Kind = Literal["string", "integer", "number", "boolean", "object", "array"]

OBJECT_LIMIT = 16_384
"""Bytes of an object without fixed fields, as compact JSON, where its parameter says nothing."""
MOST_ITEMS = 100
"""Items of a list, where its parameter says nothing."""


def _as_item(given: "Parameter | tuple[Parameter, ...] | None") -> "Parameter | None":
    return Parameter("item", "object", fields=given) if isinstance(given, tuple) else given


@attrs.frozen
class Parameter:
    """One named value that a tool takes.

    `free_text` may hold line breaks and tabs (CRLF is read as LF), `blank` may be empty, the value
    of a `secret` is never shown in an error, `form` says in words what `pattern` asks for. Where
    only the core of the tools is offered, what is not `core` is left out. A `ceiling` is a
    `max_length` that no honest value comes near, so that no model is told of it.

    An `object` with `fields` has these and no others; one without holds any JSON of at most
    `max_bytes`. Each value of an `array` is read as `item` says, whose own name is not shown; a
    tuple of parameters there stands for objects with these fields.
    """

    name: str
    kind: Kind
    doc: str = ""
    required: bool = attrs.field(default=False, kw_only=True)
    min_length: int | None = attrs.field(default=None, kw_only=True)
    max_length: int | None = attrs.field(default=None, kw_only=True)
    ceiling: int | None = attrs.field(default=None, kw_only=True)
    pattern: str | None = attrs.field(default=None, kw_only=True)
    form: str | None = attrs.field(default=None, kw_only=True)
    enum: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    blank: bool = attrs.field(default=False, kw_only=True)
    free_text: bool = attrs.field(default=False, kw_only=True)
    secret: bool = attrs.field(default=False, kw_only=True)
    core: bool = attrs.field(default=True, kw_only=True)
    minimum: float | None = attrs.field(default=None, kw_only=True)
    maximum: float | None = attrs.field(default=None, kw_only=True)
    fields: tuple["Parameter", ...] = attrs.field(default=(), kw_only=True)
    max_bytes: int = attrs.field(default=OBJECT_LIMIT, kw_only=True)
    item: "Parameter | None" = attrs.field(default=None, kw_only=True, converter=_as_item)
    min_items: int = attrs.field(default=0, kw_only=True)
    max_items: int = attrs.field(default=MOST_ITEMS, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.kind == "array") != (self.item is not None):
            raise ValueError(f"{self.name}: an array needs an item, and nothing else has one")


_KEYWORDS = {
    "description": "doc",
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
    "minimum": "minimum",
    "maximum": "maximum",
}


def input_schema(parameters: Sequence[Parameter]) -> dict[str, object]:
    """Return the JSON schema of an object with these parameters and no others."""
    schema: dict[str, object] = {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in parameters},
    }
    if required := [parameter.name for parameter in parameters if parameter.required]:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def _property(parameter: Parameter) -> dict[str, object]:
    schema: dict[str, object] = {"type": parameter.kind}
    for keyword, field in _KEYWORDS.items():
        if (value := getattr(parameter, field)) not in (None, ""):
            schema[keyword] = value
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    if parameter.fields:
        schema |= input_schema(parameter.fields)
    if parameter.item is not None:
        schema["items"] = _property(parameter.item)
        schema |= {"minItems": parameter.min_items} if parameter.min_items else {}
        schema["maxItems"] = parameter.max_items
    return schema
