"""What a tool's parameters are: rows of a table, from which come its JSON schema and its reading.

The reading is a little stricter than the schema (no blanks, no control characters, nothing that
UTF-8 cannot hold, no NaN) and kinder in one thing: null stands for an optional value left out.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted

Kind = Literal["string", "integer", "number", "boolean"]

LONGEST_NAME = 64
"""An unknown field whose name is longer is not compared with the known ones."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@attrs.frozen
class Parameter:
    """One named value that a tool takes.

    `free_text` may hold line breaks and tabs (CRLF is read as LF), `blank` may be empty, the value
    of a `secret` is never shown in an error, `form` says in words what `pattern` asks for.
    """

    name: str
    kind: Kind
    doc: str = ""
    required: bool = attrs.field(default=False, kw_only=True)
    min_length: int | None = attrs.field(default=None, kw_only=True)
    max_length: int | None = attrs.field(default=None, kw_only=True)
    pattern: str | None = attrs.field(default=None, kw_only=True)
    form: str | None = attrs.field(default=None, kw_only=True)
    enum: tuple[str, ...] = attrs.field(default=(), kw_only=True)
    blank: bool = attrs.field(default=False, kw_only=True)
    free_text: bool = attrs.field(default=False, kw_only=True)
    secret: bool = attrs.field(default=False, kw_only=True)
    minimum: float | None = attrs.field(default=None, kw_only=True)
    maximum: float | None = attrs.field(default=None, kw_only=True)


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
    return schema


def read(parameters: Sequence[Parameter], arguments: object) -> dict[str, object]:
    """Return the values of `arguments` by parameter name, without those that were left out.

    Raises:
        Malformed: something is missing, unknown or not what its parameter says; nothing was done.
    """
    if not isinstance(arguments, Mapping):
        raise Malformed(
            f"arguments: {_described(arguments)} was passed, not an object.",
            remedy=f"Pass an object. {_known(parameters)}",
        )
    _refuse_unknown(parameters, arguments)
    values: dict[str, object] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name)
        if value is not None:
            values[parameter.name] = _READERS[parameter.kind](parameter, value)
        elif parameter.required:
            passed = "null" if parameter.name in arguments else "missing"
            raise _refused(parameter, f"is {passed}, and this call needs it")
    return values


def _refuse_unknown(parameters: Sequence[Parameter], arguments: Mapping[object, object]) -> None:
    names = {parameter.name for parameter in parameters}
    unknown = next((name for name in arguments if name not in names), None)
    if unknown is not None:
        raise Malformed(
            f"There is no parameter {quoted(unknown)} here.",
            remedy=f"{_nearest(str(unknown), sorted(names))}{_known(parameters)}",
        )


def _nearest(name: str, names: Sequence[str]) -> str:
    import difflib

    if len(name) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {near[0]}? " if near else ""


def _known(parameters: Sequence[Parameter]) -> str:
    if not parameters:
        return "This call takes no parameters."
    return f"The parameters are: {', '.join(parameter.name for parameter in parameters)}."


def _string(parameter: Parameter, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong_type(parameter, value)
    _refuse_length(parameter, len(value))
    text = value.replace("\r\n", "\n") if parameter.free_text else value
    _refuse_characters(parameter, text)
    if not parameter.blank and not text.strip():
        raise _refused(parameter, "is blank")
    if parameter.enum and text not in parameter.enum:
        raise _refused(parameter, f"{_shown(parameter, text)} is not a choice")
    if parameter.pattern is not None and re.search(parameter.pattern, text) is None:
        raise _refused(parameter, f"{_shown(parameter, text)} does not have the form")
    return text


def _refuse_length(parameter: Parameter, length: int) -> None:
    if parameter.max_length is not None and length > parameter.max_length:
        raise _refused(
            parameter, f"{length} characters are too many, the limit is {parameter.max_length}"
        )
    if parameter.min_length is not None and length < parameter.min_length:
        raise _refused(
            parameter, f"{length} characters are too few, the least is {parameter.min_length}"
        )


def _refuse_characters(parameter: Parameter, text: str) -> None:
    if found := _SURROGATE.search(text):
        raise _refused(
            parameter,
            f"the character {found.start() + 1}, {found[0]!a}, is half a surrogate pair, "
            "which is not valid Unicode",
        )
    if found := (_CONTROL_IN_TEXT if parameter.free_text else _CONTROL).search(text):
        allowed = "only \\n and \\t are" if parameter.free_text else "none is"
        raise _refused(
            parameter,
            f"the character {found.start() + 1}, {found[0]!a}, is a control character, "
            f"of which {allowed} allowed",
        )


def _integer(parameter: Parameter, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(parameter, value)
    if isinstance(value, float) and not value.is_integer():
        raise _refused(parameter, f"{_shown(parameter, value)} is not a whole number")
    _refuse_beyond(parameter, value)
    return int(value)


def _number(parameter: Parameter, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(parameter, value)
    if value != value or value in (float("inf"), float("-inf")):
        raise _refused(parameter, f"{_shown(parameter, value)} is not a finite number")
    _refuse_beyond(parameter, value)
    return value


def _refuse_beyond(parameter: Parameter, value: float) -> None:
    if parameter.minimum is not None and value < parameter.minimum:
        raise _refused(parameter, f"{_shown(parameter, value)} is below {parameter.minimum}")
    if parameter.maximum is not None and value > parameter.maximum:
        raise _refused(parameter, f"{_shown(parameter, value)} is above {parameter.maximum}")


def _boolean(parameter: Parameter, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(parameter, value)
    return value


_READERS: dict[Kind, Callable[[Parameter, object], object]] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}


def _wrong_type(parameter: Parameter, value: object) -> Malformed:
    what = "a value of another type" if parameter.secret else _described(value)
    return _refused(parameter, f"{what} was passed, not {_A[parameter.kind]}")


def _refused(parameter: Parameter, what: str) -> Malformed:
    otherwise = "" if parameter.required else ", or leave it out"
    return Malformed(
        f"{parameter.name}: {what}.",
        remedy=f"Pass {parameter.name} as {_expected(parameter)}{otherwise}.",
    )


def _shown(parameter: Parameter, value: object) -> str:
    return "what was passed" if parameter.secret else quoted(value)


_A = {"string": "a string", "integer": "an integer", "number": "a number", "boolean": "a boolean"}


def _described(value: object) -> str:
    """Return a few words for `value`; what is inside a list or an object is not shown."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case str():
            return f"the string {quoted(value)}"
        case int() | float():
            return f"the number {quoted(value)}"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"


def _expected(parameter: Parameter) -> str:
    if parameter.form is not None:
        return parameter.form
    if parameter.enum:
        return f"one of {', '.join(parameter.enum)}"
    if parameter.kind == "boolean":
        return "true or false"
    if parameter.kind != "string":
        numbers = _span(parameter.minimum, parameter.maximum)
        return f"{_A[parameter.kind]} of {numbers}" if numbers else _A[parameter.kind]
    lengths = _span(parameter.min_length, parameter.max_length)
    text = f"a string of {lengths} characters" if lengths else "a string"
    form = "" if parameter.pattern is None else f" of the form {parameter.pattern}"
    return f"{text}{form}{'' if parameter.blank else ', not blank'}"


def _span(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None:
        return f"at least {least}"
    return "" if most is None else f"at most {most}"
