"""The reading of a call's arguments, as the table of its parameters has them.

The reading is a little stricter than the schema (no blanks, no control characters, nothing that
UTF-8 cannot hold, no NaN, no integer too large to be exact) and kinder in one thing: null stands
for an optional value left out.
What is wrong inside a list or an object is named by its place: `artifacts[2].url`.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.entrypoints.mcp.complaints import described, refused, shown, wrong_type
from letagents.entrypoints.mcp.documents import refuse_unfit
from letagents.entrypoints.mcp.parameters import Kind, Parameter

LONGEST_NAME = 64
"""An unknown field whose name is longer is not compared with the known ones."""
LONGEST_TEXT = 100_000
"""Characters of any text, where its parameter leaves the bound to the rules behind it."""

LARGEST_INTEGER = 2**53 - 1
"""Beyond it a double is not one integer but several. (Source: RFC 8259, 6.)"""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def read(parameters: Sequence[Parameter], arguments: object) -> dict[str, object]:
    """Return the values of `arguments` by parameter name, without those that were left out.

    Raises:
        Malformed: something is missing, unknown or not what its parameter says; nothing was done.
    """
    if not isinstance(arguments, Mapping):
        raise Malformed(
            f"arguments: {described(arguments)} was passed, not an object.",
            remedy=f"Pass an object. {_known(parameters)}",
        )
    _refuse_unknown(parameters, arguments)
    return _values(parameters, arguments)


def _values(
    parameters: Sequence[Parameter], arguments: Mapping[str, object], inside: str = ""
) -> dict[str, object]:
    values: dict[str, object] = {}
    for parameter in parameters:
        name, value = parameter.name, arguments.get(parameter.name)
        placed = attrs.evolve(parameter, name=f"{inside}.{name}") if inside else parameter
        if value is not None:
            values[name] = _READERS[parameter.kind](placed, value)
        elif parameter.required:
            passed = "null" if name in arguments else "missing"
            raise refused(placed, f"is {passed}, and this call needs it")
    return values


def _refuse_unknown(
    parameters: Sequence[Parameter], arguments: Mapping[str, object], inside: str = ""
) -> None:
    names = {parameter.name for parameter in parameters}
    unknown = next((name for name in arguments if name not in names), None)
    if unknown is not None:
        no_such = f"{inside}: there is no field" if inside else "There is no parameter"
        known = _known(parameters, "fields" if inside else "parameters")
        raise Malformed(
            f"{no_such} {quoted(unknown)} here.",
            remedy=f"{_nearest(str(unknown), sorted(names))}{known}",
        )


def _nearest(name: str, names: Sequence[str]) -> str:
    import difflib

    if len(name) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]}? " if near else ""


def _known(parameters: Sequence[Parameter], called: str = "parameters") -> str:
    if not parameters:
        return "This call takes no parameters."
    return f"The {called} are: {', '.join(parameter.name for parameter in parameters)}."


def _string(parameter: Parameter, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(parameter, value)
    _refuse_length(parameter, len(value))
    text = value.replace("\r\n", "\n") if parameter.free_text else value
    _refuse_characters(parameter, text)
    if not parameter.blank and not text.strip():
        raise refused(parameter, "is blank")
    if parameter.enum and text not in parameter.enum:
        raise refused(parameter, f"{shown(parameter, text)} is not a choice")
    if parameter.pattern is not None and re.search(parameter.pattern, text) is None:
        raise refused(parameter, f"{shown(parameter, text)} does not have the form")
    return text


def _refuse_length(parameter: Parameter, length: int) -> None:
    limits = (parameter.max_length, parameter.ceiling, LONGEST_TEXT)
    most = next(limit for limit in limits if limit is not None)
    if length > most:
        raise refused(parameter, f"{length} characters are too many, the limit is {most}")
    if parameter.min_length is not None and length < parameter.min_length:
        raise refused(
            parameter, f"{length} characters are too few, the least is {parameter.min_length}"
        )


def _refuse_characters(parameter: Parameter, text: str) -> None:
    if found := _SURROGATE.search(text):
        raise refused(
            parameter,
            f"the character {found.start() + 1}, {found[0]!a}, is half a surrogate pair, "
            "which is not valid Unicode",
        )
    if found := (_CONTROL_IN_TEXT if parameter.free_text else _CONTROL).search(text):
        allowed = "only \\n and \\t are" if parameter.free_text else "none is"
        raise refused(
            parameter,
            f"the character {found.start() + 1}, {found[0]!a}, is a control character, "
            f"of which {allowed} allowed",
        )


def _integer(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(parameter, value)
    if isinstance(value, float) and not value.is_integer():
        raise refused(parameter, f"{shown(parameter, value)} is not a whole number")
    if abs(value) > LARGEST_INTEGER:
        raise refused(parameter, f"{shown(parameter, value)} is larger than an integer can be")
    _refuse_beyond(parameter, value)
    return int(value)


def _number(parameter: Parameter, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(parameter, value)
    if value != value or value in (float("inf"), float("-inf")):
        raise refused(parameter, f"{shown(parameter, value)} is not a finite number")
    _refuse_beyond(parameter, value)
    return value


def _refuse_beyond(parameter: Parameter, value: float) -> None:
    if parameter.minimum is not None and value < parameter.minimum:
        raise refused(parameter, f"{shown(parameter, value)} is below {parameter.minimum}")
    if parameter.maximum is not None and value > parameter.maximum:
        raise refused(parameter, f"{shown(parameter, value)} is above {parameter.maximum}")


def _boolean(parameter: Parameter, value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong_type(parameter, value)
    return value


def _array(parameter: Parameter, value: object) -> list[object]:
    if not isinstance(value, list | tuple):
        raise wrong_type(parameter, value)
    if len(value) > parameter.max_items:
        many = f"{len(value)} items are too many, the limit is {parameter.max_items}"
        raise refused(parameter, many)
    if len(value) < parameter.min_items:
        few = f"{len(value)} items are too few, the least is {parameter.min_items}"
        raise refused(parameter, few)
    assert parameter.item is not None  # noqa: S101  an array has one
    return [
        _item(attrs.evolve(parameter.item, name=f"{parameter.name}[{index}]", required=True), one)
        for index, one in enumerate(value)
    ]


def _item(placed: Parameter, value: object) -> object:
    if value is None:
        raise wrong_type(placed, value)
    return _READERS[placed.kind](placed, value)


def _object(parameter: Parameter, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise wrong_type(parameter, value)
    if parameter.fields:
        _refuse_unknown(parameter.fields, value, parameter.name)
        return _values(parameter.fields, value, parameter.name)
    refuse_unfit(parameter, value)
    return dict(value)


_READERS: dict[Kind, Callable[[Parameter, object], object]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "object": _object,
    "array": _array,
}
