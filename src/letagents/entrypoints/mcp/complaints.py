"""What a caller is told of an argument that is wrong: which one, what it is, what it should be."""

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.entrypoints.mcp.parameters import Kind, Parameter


def wrong_type(parameter: Parameter, value: object) -> Malformed:
    """Return the refusal of a value that is not of the parameter's kind."""
    what = "a value of another type" if parameter.secret else described(value)
    return refused(parameter, f"{what} was passed, not {_A[parameter.kind]}")


def refused(parameter: Parameter, what: str) -> Malformed:
    """Return the refusal of a value, of which `what` says what is wrong."""
    otherwise = "" if parameter.required else ", or leave it out"
    return Malformed(
        f"{parameter.name}: {what}.",
        remedy=f"Pass {parameter.name} as {_expected(parameter)}{otherwise}.",
    )


def shown(parameter: Parameter, value: object) -> str:
    """Return a few words for a value of the right kind, and nothing of a secret."""
    return "what was passed" if parameter.secret else quoted(value)


_A: dict[Kind, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "object": "an object",
    "array": "a list",
}


def described(value: object) -> str:
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
    if parameter.kind == "object":
        return _expected_object(parameter)
    if parameter.kind == "array":
        return _expected_list(parameter)
    if parameter.kind != "string":
        numbers = _span(parameter.minimum, parameter.maximum)
        return f"{_A[parameter.kind]} of {numbers}" if numbers else _A[parameter.kind]
    lengths = _span(parameter.min_length, parameter.max_length)
    text = f"a string of {lengths} characters" if lengths else "a string"
    form = "" if parameter.pattern is None else f" of the form {parameter.pattern}"
    return f"{text}{form}{'' if parameter.blank else ', not blank'}"


def _expected_object(parameter: Parameter) -> str:
    if not parameter.fields:
        return f"an object of at most {parameter.max_bytes} bytes of JSON"
    return f"an object of {', '.join(one.name for one in parameter.fields)}"


def _expected_list(parameter: Parameter) -> str:
    assert parameter.item is not None  # noqa: S101  an array has one
    counts = _span(parameter.min_items or None, parameter.max_items)
    return f"a list of {counts} items, each {_expected(parameter.item)}"


def _span(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None:
        return f"at least {least}"
    return "" if most is None else f"at most {most}"
