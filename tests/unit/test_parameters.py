"""The reading of a tool's arguments agrees with the schema that the model is shown."""

import json
import math
import string
from collections.abc import Mapping

import attrs
import jsonschema  # type: ignore[import-untyped]  # it has no stubs of its own
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain.errors import Malformed
from letagents.entrypoints.mcp.documents import WHOLE_NUMBERS
from letagents.entrypoints.mcp.parameters import Kind, Parameter, input_schema
from letagents.entrypoints.mcp.reading import LARGEST_INTEGER, read

TEXT = Parameter("text", "string", "What to say.", required=True, max_length=10, free_text=True)
ROOM = Parameter("room_id", "string", min_length=2, max_length=5)
MODE = Parameter("session_mode", "string", enum=("live", "current"))
AFTER = Parameter("after", "string", pattern="^msg_[1-9]$", form="a message id such as msg_3")
KEY = Parameter("registration_key", "string", secret=True, max_length=20, pattern="^[a-z]+$")
LIMIT = Parameter("limit", "integer", minimum=0, maximum=500)
CONFIDENCE = Parameter("confidence", "number", minimum=0, maximum=1)
FORCE = Parameter("force", "boolean")
NOTE = Parameter("note", "string", blank=True)
URL = Parameter("url", "string", required=True, max_length=9)
NUMBERED = Parameter("number", "integer", minimum=1)
ARTIFACTS = Parameter("artifacts", "array", "Links.", max_items=2, item=(URL, NUMBERED))
PATTERNS = Parameter(
    "patterns", "array", item=Parameter("pattern", "string", max_length=4), min_items=1, max_items=3
)
TARGET = Parameter("target", "object", fields=(URL, NUMBERED))
PAYLOAD = Parameter("payload", "object", max_bytes=40)
ALL = (
    *(TEXT, ROOM, MODE, AFTER, KEY, LIMIT, CONFIDENCE, FORCE, NOTE),
    *(ARTIFACTS, PATTERNS, TARGET, PAYLOAD),
)


def complaint(**arguments: object) -> str:
    with pytest.raises(Malformed) as refused:
        read(ALL, {"text": "hi", **arguments})
    return str(refused.value)


def test_a_schema_says_what_may_be_passed_and_nothing_twice() -> None:
    assert input_schema((TEXT, LIMIT, MODE)) == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say.", "maxLength": 10},
            "limit": {"type": "integer", "minimum": 0, "maximum": 500},
            "session_mode": {"type": "string", "enum": ["live", "current"]},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def test_a_schema_says_what_is_inside_lists_and_objects() -> None:
    inside = {
        "type": "object",
        "properties": {
            "url": {"type": "string", "maxLength": 9},
            "number": {"type": "integer", "minimum": 1},
        },
        "required": ["url"],
        "additionalProperties": False,
    }

    assert input_schema((ARTIFACTS, PATTERNS, TARGET, PAYLOAD))["properties"] == {
        "artifacts": {"type": "array", "description": "Links.", "items": inside, "maxItems": 2},
        "patterns": {
            "type": "array",
            "items": {"type": "string", "maxLength": 4},
            "minItems": 1,
            "maxItems": 3,
        },
        "target": inside,
        "payload": {"type": "object"},
    }


def test_a_list_that_does_not_say_what_is_in_it_cannot_be_declared() -> None:
    with pytest.raises(ValueError, match="an array needs an item"):
        Parameter("patterns", "array")


def test_an_object_that_is_too_deep_is_refused_and_costs_no_stack() -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}

    assert "payload: more than 32 objects and lists are inside each other" in complaint(
        payload=deep
    )


def test_a_call_without_parameters_has_a_schema_too() -> None:
    schema = input_schema(())

    assert schema == {"type": "object", "properties": {}, "additionalProperties": False}


def test_good_values_arrive_as_they_are() -> None:
    good = {
        "text": "a\n\tb",
        "room_id": "r🙂",
        "session_mode": "live",
        "after": "msg_3",
        "registration_key": "abc",
        "limit": 0,
        "confidence": 0.5,
        "force": False,
        "note": "",
        "artifacts": [{"url": "a", "number": 1}, {"url": "b"}],
        "patterns": ["src"],
        "target": {"url": "x"},
        "payload": {"any": [1, {"thing": None}]},
    }

    assert read(ALL, good) == good


def test_the_limits_themselves_are_allowed() -> None:
    for good in ({"text": "x" * 10}, {"room_id": "ab"}, {"room_id": "abcde"}, {"limit": 500}):
        assert read(ALL, {"text": "hi", **good}) == {"text": "hi", **good}


def test_a_pattern_is_looked_for_anywhere_as_a_schema_does() -> None:
    assert read((Parameter("a", "string", pattern="b"),), {"a": "abc"}) == {"a": "abc"}


def test_null_means_that_an_optional_value_was_left_out() -> None:
    assert read(ALL, {"text": "hi", "limit": None, "room_id": None}) == {"text": "hi"}


def test_a_whole_number_may_be_written_with_a_point() -> None:
    limit = read((LIMIT,), {"limit": 3.0})["limit"]

    assert limit == 3
    assert isinstance(limit, int)


def test_line_ends_of_windows_become_plain_ones_in_free_text() -> None:
    assert read((TEXT,), {"text": "a\r\nb"}) == {"text": "a\nb"}


@pytest.mark.parametrize("arguments", [None, [], "text", 3])
def test_arguments_that_are_no_object_are_refused(arguments: object) -> None:
    with pytest.raises(Malformed, match="not an object"):
        read(ALL, arguments)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"text": None}, "text: is null"),
        ({"text": 5}, "text: the number 5 was passed, not a string"),
        ({"text": ["a"]}, "text: a list was passed, not a string"),
        ({"text": {"a": 1}}, "text: an object was passed, not a string"),
        ({"text": ""}, "text: is blank"),
        ({"text": " \n"}, "text: is blank"),
        ({"text": "x" * 11}, "text: 11 characters are too many, the limit is 10"),
        ({"text": "a\r"}, r"text: the character 2, '\r', is a control character"),
        ({"text": "a\x85"}, r"text: the character 2, '\x85', is a control character"),
        ({"text": "a\ud800"}, r"text: the character 2, '\ud800', is half a surrogate pair"),
        ({"room_id": "a"}, "room_id: 1 characters are too few, the least is 2"),
        ({"room_id": "a\nb"}, r"room_id: the character 2, '\n', is a control character"),
        ({"session_mode": "dead"}, "session_mode: 'dead' is not a choice. "),
        ({"after": "msg_0"}, "after: 'msg_0' does not have the form. "),
        ({"limit": "3"}, "limit: the string '3' was passed, not an integer"),
        ({"limit": True}, "limit: the boolean true was passed, not an integer"),
        ({"limit": 3.5}, "limit: 3.5 is not a whole number"),
        ({"limit": 1e308}, "limit: 1e+308 is larger than an integer can be"),
        ({"limit": 2**53}, "limit: 9007199254740992 is larger than an integer can be"),
        ({"limit": float("inf")}, "limit: inf is not a whole number"),
        ({"limit": -1}, "limit: -1 is below 0"),
        ({"limit": 501}, "limit: 501 is above 500"),
        ({"confidence": float("nan")}, "confidence: nan is not a finite number"),
        ({"confidence": "high"}, "confidence: the string 'high' was passed, not a number"),
        ({"force": 1}, "force: the number 1 was passed, not a boolean"),
        ({"artifacts": {}}, "artifacts: an object was passed, not a list"),
        ({"artifacts": [{"url": "a"}] * 3}, "artifacts: 3 items are too many, the limit is 2"),
        ({"artifacts": ["a"]}, "artifacts[0]: the string 'a' was passed, not an object"),
        ({"artifacts": [{"url": "a"}, {}]}, "artifacts[1].url: is missing"),
        ({"artifacts": [{"url": None}]}, "artifacts[0].url: is null"),
        ({"artifacts": [{"url": "a", "number": 0}]}, "artifacts[0].number: 0 is below 1"),
        ({"artifacts": [{"uri": "a"}]}, "artifacts[0]: there is no field 'uri' here. Did you mean"),
        ({"patterns": []}, "patterns: 0 items are too few, the least is 1"),
        ({"patterns": ["a", None]}, "patterns[1]: null was passed, not a string"),
        ({"patterns": ["a", "abcde"]}, "patterns[1]: 5 characters are too many, the limit is 4"),
        ({"target": []}, "target: a list was passed, not an object"),
        ({"target": {"url": 5}}, "target.url: the number 5 was passed, not a string"),
        ({"payload": {"a": "é" * 20}}, "payload: 48 bytes of JSON are too many, the limit is 40"),
        ({"payload": {"a": float("nan")}}, "payload: in it is a number that is not finite"),
        ({"payload": {"a": ["\ud800"]}}, "payload: in it is a text that is not valid Unicode"),
        ({"payload": {"\x00": 1}}, "payload: in it is a text that is not valid Unicode, or has"),
        ({"payload": {"a": 2**63}}, "payload: in it is a whole number of more than 64 bits"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(
    arguments: Mapping[str, object], what: str
) -> None:
    assert complaint(**arguments).startswith(what)


def test_a_missing_value_is_refused_by_the_name_of_its_field() -> None:
    with pytest.raises(Malformed, match="text: is missing"):
        read(ALL, {})


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ({"text": ""}, "Pass text as a string of at most 10 characters, not blank."),
        ({"room_id": ""}, "Pass room_id as a string of 2 to 5 characters, not blank, or leave"),
        ({"session_mode": "x"}, "Pass session_mode as one of live, current, or leave it out."),
        ({"after": "x"}, "Pass after as a message id such as msg_3, or leave it out."),
        ({"limit": ""}, "Pass limit as an integer of 0 to 500, or leave it out."),
        ({"force": ""}, "Pass force as true or false, or leave it out."),
        ({"patterns": 1}, "Pass patterns as a list of 1 to 3 items, each a string of at most 4"),
        ({"patterns": [1]}, "Pass patterns[0] as a string of at most 4 characters, not blank."),
        ({"artifacts": 1}, "as a list of at most 2 items, each an object of url, number, or leave"),
        ({"payload": 1}, "Pass payload as an object of at most 40 bytes of JSON, or leave it out."),
    ],
)
def test_a_complaint_ends_with_what_the_value_should_be(
    arguments: Mapping[str, object], remedy: str
) -> None:
    assert remedy in complaint(**arguments)


def test_an_unknown_field_is_refused_with_the_nearest_known_one() -> None:
    told = complaint(rooms_id="r")

    assert "There is no parameter 'rooms_id' here. Did you mean room_id? The parameters" in told


def test_a_huge_value_is_not_repeated_in_the_complaint() -> None:
    for arguments in ({"text": "x" * 10_000_000}, {"y" * 10_000_000: 1}, {"limit": 10**4000}):
        told = complaint(**arguments)

        assert len(told) < 400
        assert told.isprintable()


def test_a_ceiling_is_kept_and_not_shown() -> None:
    quiet = Parameter("worker_id", "string", ceiling=200)

    assert input_schema((quiet,))["properties"] == {"worker_id": {"type": "string"}}
    assert read((quiet,), {"worker_id": "x" * 200})
    with pytest.raises(Malformed, match="worker_id: 201 characters are too many, the limit is 200"):
        read((quiet,), {"worker_id": "x" * 201})


def test_no_text_is_without_a_bound() -> None:
    with pytest.raises(Malformed, match="note: 100001 characters are too many"):
        read((NOTE,), {"note": "x" * 100_001})


def test_a_secret_is_not_repeated_in_the_complaint() -> None:
    for wrong in ("SECRET", "SECRET" * 9, 5353, ["SECRET"], "SECRET\x00"):
        told = complaint(registration_key=wrong)

        assert "SECRET" not in told
        assert "5353" not in told


# --- the reading and the schema, side by side ---------------------------------------------------

NAMES = ("a", "b", "text")
WORD = Parameter("word", "string", max_length=4)
KINDS: tuple[Kind, ...] = ("string", "integer", "number", "boolean", "object", "array")
LETTERS = string.ascii_lowercase + " é🙂\n\x00\ud800"


TEXTS = st.one_of(
    st.sampled_from(["live", "current", "", " ", "msg_3", "msg_0", "msg_12", "msg_3\n", "ab"]),
    st.lists(st.sampled_from(LETTERS), max_size=8).map("".join),
)
OF_KIND: dict[Kind, st.SearchStrategy[object]] = {
    "string": TEXTS,
    "integer": st.integers(-2, 8) | st.integers(-2, 8).map(float) | st.integers(),
    "number": st.integers(-2, 8) | st.floats(-2, 8) | st.floats(),
    "boolean": st.booleans(),
    "object": st.dictionaries(st.sampled_from(["url", "number"]), st.integers(-1, 2) | TEXTS),
    "array": st.lists(TEXTS, max_size=3),
}
WILD = st.one_of(
    st.none(),
    *OF_KIND.values(),
    st.lists(st.integers(), max_size=1),
    st.dictionaries(st.sampled_from("ab"), st.integers(), max_size=1),
)


@st.composite
def parameter(draw: st.DrawFn, name: str) -> Parameter:
    kind = draw(st.sampled_from(KINDS))
    if kind == "array":
        few, many = sorted((draw(st.integers(0, 3)), draw(st.integers(0, 3))))
        return Parameter(name, kind, item=WORD, min_items=few, max_items=many)
    plain = Parameter(name, kind, required=draw(st.booleans()))
    low = draw(st.none() | st.integers(0, 4))
    high = draw(st.none() | st.integers(low or 0, 6))
    if plain.kind in ("integer", "number"):
        return attrs.evolve(plain, minimum=low, maximum=high)
    if plain.kind == "boolean":
        return plain
    if plain.kind == "object":
        return attrs.evolve(plain, fields=draw(st.sampled_from([(), (URL, NUMBERED)])))
    return attrs.evolve(
        plain,
        min_length=low,
        max_length=high,
        pattern=draw(st.none() | st.sampled_from([r"^msg_[1-9]$", "[a-z]", r"\S"])),
        enum=draw(st.sampled_from([(), (), ("live", "current"), ("",)])),
        blank=draw(st.booleans()),
        free_text=draw(st.booleans()),
    )


@st.composite
def call(draw: st.DrawFn) -> tuple[tuple[Parameter, ...], dict[str, object]]:
    """A table of parameters, and arguments that come near to fitting it."""
    rows = tuple(draw(parameter(name)) for name in NAMES if draw(st.booleans()))
    arguments = {
        row.name: draw(draw(st.sampled_from([OF_KIND[row.kind], OF_KIND[row.kind], WILD])))
        for row in rows
        if draw(st.integers(0, 4))
    }
    if not draw(st.integers(0, 9)):
        arguments[draw(st.sampled_from(["unknown", "\ud800", ""]))] = draw(WILD)
    return rows, arguments


def is_refused_on_purpose(row: Parameter, value: object) -> bool:
    """Whether the reading refuses what a JSON schema has no words for."""
    if row.kind == "array" and isinstance(value, list):
        return any(is_refused_on_purpose(WORD, one) for one in value)
    if row.kind == "object" and isinstance(value, dict):
        return any(is_odd(one, row) for one in value.values())
    if isinstance(value, int | float) and row.kind == "integer":
        return abs(value) > LARGEST_INTEGER
    if isinstance(value, float) and row.kind == "number":
        return not math.isfinite(value)
    if not isinstance(value, str) or row.kind != "string":
        return False
    controls = {"\x00"} if row.free_text else {"\x00", "\n"}
    blank = not row.blank and not value.strip()
    return blank or "\ud800" in value or bool(controls & set(value))


def is_odd(value: object, row: Parameter) -> bool:
    """Whether a text or a number inside an object is refused; in fields none may be blank."""
    if not isinstance(value, str):
        return not row.fields and value not in WHOLE_NUMBERS
    kept_out = "\x00\ud800\n" if row.fields else "\x00\ud800"
    return bool(set(kept_out) & set(value)) or (bool(row.fields) and not value.strip())


def reading(rows: tuple[Parameter, ...], arguments: object) -> dict[str, object] | None:
    try:
        return read(rows, arguments)
    except Malformed:
        return None


@given(call())
def test_the_reading_accepts_what_the_schema_accepts_but_for_what_it_cannot_say(
    called: tuple[tuple[Parameter, ...], dict[str, object]],
) -> None:
    rows, arguments = called
    optional = {row.name for row in rows if not row.required}
    present = {k: v for k, v in arguments.items() if v is not None or k not in optional}
    schema = input_schema(rows)
    accepted = jsonschema.Draft202012Validator(schema).is_valid(present)
    strict = any(is_refused_on_purpose(row, present.get(row.name)) for row in rows)

    values = reading(rows, arguments)

    assert values == (present if accepted and not strict else None)


@given(st.sampled_from(NAMES).flatmap(parameter))
def test_every_schema_is_a_valid_schema(row: Parameter) -> None:
    schema = input_schema((row,))

    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
