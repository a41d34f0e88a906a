"""What is no message is refused for the request that it was meant to be; all else is read."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from letagents.entrypoints.mcp.framing import (
    MOST_BESIDE_TEXTS,
    NotAMessage,
    outside_of_strings,
    parsed,
    unreadable,
    weigh,
    written,
)

CALL = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{"text":"%s"}}}'


def refusal(line: bytes) -> tuple[int, object]:
    with pytest.raises(NotAMessage) as refused:
        parsed(line)
    return refused.value.answer.error.code, refused.value.answer.id


def text_of(line: bytes) -> object:
    message = parsed(line)
    assert isinstance(message, JSONRPCRequest)
    assert message.params is not None
    return message.params["arguments"]["text"]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (b"plain", "plain"),
        ("é🙂".encode(), "é🙂"),
        (rb"\ud83d\ude42", "🙂"),
        (rb"half \ud83d", "half \ud83d"),
        (b"not \xff utf-8", "not \udcff utf-8"),
        (b"\xed\xa0\x80", "\udced\udca0\udc80"),
    ],
)
def test_a_call_is_read_even_where_its_text_is_not_valid_unicode(sent: bytes, read: str) -> None:
    assert text_of(CALL % sent) == read


def test_a_long_text_that_is_not_valid_unicode_is_read_whole() -> None:
    assert text_of(CALL % (b"\xff" + "é🙂".encode() * 100_000)) == "\udcff" + "é🙂" * 100_000


def test_a_byte_order_mark_and_a_carriage_return_are_passed_over() -> None:
    assert text_of(b"\xef\xbb\xbf" + CALL % b"hi" + b"\r\n") == "hi"


def test_a_notification_and_an_answer_are_read() -> None:
    assert isinstance(parsed(b'{"jsonrpc":"2.0","method":"m"}'), JSONRPCNotification)
    assert isinstance(parsed(b'{"jsonrpc":"2.0","id":1,"result":{}}'), JSONRPCResponse)


def test_a_notification_may_speak_of_an_id() -> None:
    line = b'{"jsonrpc":"2.0","method":"m","params":{"id":1}}'

    assert isinstance(parsed(line), JSONRPCNotification)


@pytest.mark.parametrize(
    "line", [b"garbage", b'{"jsonrpc":', b"\x00\xff", b"{'a': 1}", b"\xfe\xff"]
)
def test_what_is_not_json_is_refused(line: bytes) -> None:
    assert refusal(line) == (PARSE_ERROR, None)


@pytest.mark.parametrize(
    "deep",
    [b'"' + b"[" * 5000 + b"]" * 5000, b'"' + b"[" * 100_000, b"9" * 5000],
)
def test_what_is_too_deep_or_too_large_is_refused_for_its_request(deep: bytes) -> None:
    line = (CALL % b"x").replace(b'"x"', deep.removeprefix(b'"'))

    assert refusal(line) == (PARSE_ERROR, 7)


@pytest.mark.parametrize(
    "value",
    [
        b"[1,2],{}," * 200_000,
        b"[" * 300_000,
        b'"",' * 200_000,
        b"9" * 4000 + b"," + b"9" * 300_000,
        b'"\xff",' + b"1," * 200_000,
        b"1," * 200_000 + b'"' + b"[" * 200_000,
    ],
)
def test_more_values_than_any_call_needs_are_refused_for_their_request(value: bytes) -> None:
    with pytest.raises(NotAMessage, match="too many values") as refused:
        weigh((CALL % b"x").replace(b'"x"', b"[%b1]" % value))

    answer = refused.value.answer
    assert (answer.error.code, answer.id) == (INVALID_REQUEST, 7)


@pytest.mark.parametrize("text", [b"[1,2],{},", rb"\",[", rb"\\", rb"\u00e9", b"\xff", b"x"])
@pytest.mark.parametrize("shift", range(4))
def test_a_long_text_is_read_whatever_it_holds(text: bytes, shift: int) -> None:
    line = CALL % (b"x" * shift + text * (3 * MOST_BESIDE_TEXTS // len(text)))

    weigh(line)
    with pytest.raises(NotAMessage):
        weigh(line[:-2] + b',"more":[' + b"1," * MOST_BESIDE_TEXTS + b"1]}}")


ANY_JSON = st.recursive(
    st.none() | st.integers() | st.text(alphabet='\\"[,é\ud800'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='\\"{'), inner),
    max_leaves=8,
)


@given(document=ANY_JSON, size=st.integers(1, 9))
def test_text_and_what_is_none_are_told_apart_wherever_a_line_is_cut(
    document: object, size: int
) -> None:
    line = json.dumps(document).encode()
    without_texts = re.sub(rb'"(?:[^"\\]|\\.)*"', b'""', line)

    assert sum(outside_of_strings(line, size)) == len(without_texts)


@pytest.mark.parametrize(
    "line", [b"[]", b"3", b"null", b'"a"', b'{"id":1}', b'{"id":1,"result":5}', b"[%b]" % CALL]
)
def test_json_that_is_no_message_is_refused(line: bytes) -> None:
    assert refusal(line) == (INVALID_REQUEST, None)


@pytest.mark.parametrize("bad_id", [b"null", b"1.5", b"true", b'{"a":1}', b"[1]", rb'"\ud800"'])
def test_an_id_that_cannot_be_answered_is_refused_and_not_taken_for_a_notification(
    bad_id: bytes,
) -> None:
    assert refusal(CALL.replace(b"7", bad_id)) == (INVALID_REQUEST, None)


@pytest.mark.parametrize(("name", "request_id"), [(b"7", None), (b'"tools/call"', 7)])
def test_an_id_or_a_method_that_is_too_long_to_repeat_is_refused(
    name: bytes, request_id: object
) -> None:
    line = CALL.replace(name, b'"%b"' % (b"x" * 1001))

    assert refusal(line) == (INVALID_REQUEST, request_id)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [(b"2.0", b"1.0"), (b'"tools/call"', b"5"), (b'{"arguments', b'[{"arguments')],
)
def test_a_malformed_request_is_refused_by_its_id(part: bytes, wrong: bytes) -> None:
    line = (CALL % b"x").replace(part, wrong)
    line = line[:-1] + b"]}" if wrong.startswith(b"[") else line

    assert refusal(line) == (INVALID_REQUEST, 7)


@pytest.mark.parametrize(
    ("start", "end", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":3,"method":"x', b'x"}}', 3),
        (b'{ "jsonrpc" : "2.0", "id" : "a-1", "method":', b"}", "a-1"),
        (b'{"method":"x","params":{', b'},"jsonrpc":"2.0","id":4}\n', 4),
        (b'{"jsonrpc":"2.0","id":3,"result":{', b"}}", None),
        (b'{"method":"x"', rb'{\"jsonrpc\":\"2.0\",\"id\":4}"}}', None),
        (b"", b"", None),
    ],
)
def test_the_request_of_an_unread_line_is_found_at_either_end(
    start: bytes, end: bytes, request_id: object
) -> None:
    assert unreadable("too long", INVALID_REQUEST, start, end).answer.id == request_id


def test_an_answer_is_one_line_of_compact_json() -> None:
    answer = JSONRPCResponse(jsonrpc="2.0", id="a", result={"text": "é\n", "nothing": None})

    assert (
        written(answer)
        == '{"jsonrpc":"2.0","id":"a","result":{"text":"é\\n","nothing":null}}\n'.encode()
    )


def test_an_answer_that_utf_8_cannot_hold_is_written_with_question_marks() -> None:
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={"\udcff": ["\ud800", 1, None]})

    assert json.loads(written(answer))["result"] == {"?": ["?", 1, None]}
