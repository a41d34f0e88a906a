"""The lines between a supervisor and its clients, as other programs read and write them."""

import json

import pytest

from letagents.wire import supervisor as wire
from letagents.wire.supervisor import NotALine, Params, Request, Response


def test_a_request_is_one_line_and_reads_back() -> None:
    request = Request(2, "b2", wire.BORROW, {"entry_id": "e1"})

    assert request.line().count(b"\n") == 1
    assert request.line().endswith(b"\n")
    assert wire.read_request(request.line()) == request
    assert json.loads(Request(1, "a1", wire.NEGOTIATE).line()) == {
        "version": 1,
        "id": "a1",
        "method": "daemon.negotiate",
    }


def test_a_response_is_one_line_and_reads_back() -> None:
    done = Response(2, "c3", ok=True, result={"status": "available"})
    refused = Response(2, "d4", ok=False, error=wire.mismatch(1))

    assert wire.read_response(done.line()) == done
    assert wire.read_response(refused.line()) == refused
    assert json.loads(refused.line())["error"] == (
        "Protocol version mismatch: expected 2, received 1."
    )
    assert "id" not in json.loads(Response(2, None, ok=False, error=wire.INVALID).line())


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'"text"', b"7", b"\xff\xfe", b"[" * 5000])
def test_what_is_no_object_is_no_line(line: bytes) -> None:
    with pytest.raises(NotALine):
        wire.read_request(line)
    with pytest.raises(NotALine):
        wire.read_response(line)


@pytest.mark.parametrize("version", ["2", None, 2.0, True, 2**60, [2]])
def test_a_version_is_a_whole_number(version: object) -> None:
    line = json.dumps({"version": version, "id": 1, "method": "daemon.status"}).encode()

    received = wire.read_request(line).version

    assert wire.whole(received) is None


@pytest.mark.parametrize(
    ("received", "said"),
    [
        ("2", "2"),
        (None, "null"),
        (2.5, "2.5"),
        (True, "true"),
        ([2], "an object"),
        ("9" * 500, "9" * 100),
    ],
)
def test_who_speaks_another_version_is_told_which(received: object, said: str) -> None:
    assert wire.mismatch(received).endswith(f" received {said}.")


def test_what_is_nested_too_deeply_is_no_line() -> None:
    nested = json.loads("[" * 300 + "]" * 300)

    with pytest.raises(NotALine, match="nested too deeply"):
        wire.canonical(nested)


def test_parameters_that_are_missing_or_odd_are_blank() -> None:
    params = Params.of(Request(2, "1", "m", {"text": 7, "number": "7", "flag": "true"}))

    assert params.text("text") == params.text("none") == ""
    assert params.number("number") == params.number("none") == 0
    assert not params.flag("flag")
    with pytest.raises(NotALine, match="params must be an object"):
        Params.of(Request(2, "1", "m", ["text"]))


@pytest.mark.parametrize("value", ["", " ", " x", "x ", 7, None])
def test_what_has_to_be_exact_is_refused_where_it_is_not(value: object) -> None:
    with pytest.raises(NotALine, match="requires exact typed coordinates"):
        Params.of(Request(2, "1", "m", {"x": value})).exact("x")


@pytest.mark.parametrize("value", [0, -1, "1", 1.5, True, None])
def test_a_number_that_has_to_be_exact_counts_from_one(value: object) -> None:
    with pytest.raises(NotALine):
        Params.of(Request(2, "1", "m", {"x": value})).exact_number("x")
    assert Params.of(Request(2, "1", "m", {"x": 1})).exact_number("x") == 1


def test_the_same_arguments_have_one_text() -> None:
    assert wire.canonical({"b": 1, "a": [2]}) == wire.canonical({"a": [2], "b": 1})
    assert wire.parsed(wire.canonical({"a": "ä"})) == {"a": "ä"}
