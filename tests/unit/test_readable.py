"""Messages in the form that agents read."""

import json
from datetime import timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain.activation import Activation, Decision, Reason
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Message, Quote
from letagents.testing.determinism import ManualClock
from letagents.wire import readable
from letagents.wire.bounds import Plain, size

NOW = ManualClock().now()


def said(number: int, *, root: int | None = None, quotes: int | None = None) -> Message:
    return Message(
        room_id=RoomId("workshop"),
        id=MessageId(number),
        sender="Juniper | Ada's agent | Codex",
        agent_key="ada/worker-1",
        session_id=SessionId("local_1"),
        text=f"text {number}",
        source="agent",
        said_at=NOW + timedelta(seconds=number),
        thread_root=MessageId(root or number),
        reply_to=quote(quotes) if quotes else None,
    )


def quote(number: int) -> Quote:
    return Quote(MessageId(number), "Sage", f"text {number}", "agent", NOW)


def thread_of(plain: Plain) -> tuple[object, ...]:
    thread = plain["thread"]
    return (
        thread["root_message_id"],
        thread["reply_to_id"],
        thread["is_thread_reply"],
        thread["reply_count_in_result"],
        thread["latest_reply_id_in_result"],
    )


# --- one message ---------------------------------------------------------------------------------


def test_a_message_says_who_spoke_and_when() -> None:
    plain = readable.message(said(3))

    assert plain["id"] == "msg_3"
    assert plain["timestamp"] == "2030-01-01T00:00:03.000Z"
    assert plain["agent_identity"] == {
        "actor_label": "Juniper | Ada's agent | Codex",
        "agent_key": "ada/worker-1",
        "agent_session_id": "local_1",
    }
    assert "activation" not in plain
    json.dumps(plain)


def test_a_person_has_no_agent_s_identity() -> None:
    assert readable.message(attrs.evolve(said(1), agent_key=None))["agent_identity"] is None


def test_a_quotation_is_shown_with_its_words() -> None:
    assert readable.message(said(2, quotes=1))["reply_to"] == {
        "id": "msg_1",
        "sender": "Sage",
        "text": "text 1",
        "source": "agent",
        "timestamp": "2030-01-01T00:00:00.000Z",
    }


def test_whom_a_message_is_for_is_told_where_it_is_known() -> None:
    label = Activation(Decision.ACTIVATE, Reason.EXPLICIT_MENTION)
    plain = readable.message(attrs.evolve(said(1), activation=label))

    assert plain["activation"] == {
        "for_current_agent": {
            "decision": "activate",
            "reason": "explicit_mention",
            "addressed": True,
        }
    }


# --- threads -------------------------------------------------------------------------------------


def test_a_thread_s_root_counts_the_replies_of_its_page() -> None:
    root, reply, nested = readable.page([said(1), said(2, root=1, quotes=1), said(3, root=1)])

    assert thread_of(root) == ("msg_1", None, False, 2, "msg_3")
    assert thread_of(reply) == ("msg_1", "msg_1", True, 2, "msg_3")
    assert thread_of(nested) == ("msg_1", None, True, 2, "msg_3")
    assert not {"thread_parent_id", "thread_root_id", "thread_reply_to_id"} & set(root)


def test_a_thread_reply_names_its_thread_at_the_top() -> None:
    [reply] = readable.page([said(3, root=1, quotes=2)])

    assert reply["thread"]["parent_id"] == "msg_1"
    assert (reply["thread_parent_id"], reply["thread_root_id"]) == ("msg_1", "msg_1")
    assert reply["thread_reply_to_id"] == "msg_2"


def test_a_quotation_stays_top_level_and_counts_for_nobody() -> None:
    quoted, quoting = readable.page([said(1), said(2, quotes=1)])

    assert thread_of(quoted) == ("msg_1", None, False, 0, None)
    assert thread_of(quoting) == ("msg_2", "msg_1", False, 0, None)
    assert quoting["thread"]["parent_id"] is None
    assert "thread_root_id" not in quoting


def test_a_real_reply_counts_where_a_quotation_of_the_root_does_not() -> None:
    root, _, _ = readable.page([said(1), said(2, quotes=1), said(3, root=1)])

    assert thread_of(root) == ("msg_1", None, False, 1, "msg_3")


# --- bounds --------------------------------------------------------------------------------------


def test_a_quotation_shows_only_the_beginning_of_a_long_text() -> None:
    long = attrs.evolve(quote(1), text="x" * 1_001)
    [plain] = readable.page([attrs.evolve(said(2), reply_to=long)])

    assert plain["reply_to"]["text"] == "x" * 1_000
    assert plain["reply_to"]["content_truncated"] is True


@pytest.mark.rule("Z2")
def test_a_page_that_does_not_fit_keeps_its_beginning_or_its_end_in_order() -> None:
    large = [{"id": f"msg_{n}", "text": "x" * 15_000} for n in range(1, 6)]
    beginning, end = readable.bounded(large, "first"), readable.bounded(large, "last")

    assert beginning.items == large[:2]
    assert end.items == large[3:]
    assert beginning.omitted == end.omitted == 3


@pytest.mark.rule("Z3")
def test_a_message_too_large_for_any_page_is_cut_and_says_so() -> None:
    large: dict[str, Any] = {"id": "msg_1", "sender": "Juniper", "text": "é" * 50_000}
    [cut] = readable.bounded([large], "first").items

    assert cut.items() >= {"id": "msg_1", "sender": "Juniper", "content_truncated": True}.items()
    assert cut["text"] == "é" * cut["next_text_offset"]
    assert cut["original_utf8_bytes"] == size(large)
    assert readable.CUT - 10 < size(cut) <= readable.CUT


@pytest.mark.rule("Z3")
def test_a_message_that_grows_when_it_is_shown_is_measured_as_shown() -> None:
    both = [{"id": "msg_1", "text": "x" * 30_000}, {"id": "msg_2", "text": "x" * 15_000}]
    kept = readable.bounded(both, "first", size_of=lambda one: 2 * size(one))

    assert [one.get("content_truncated") for one in kept.items] == [True]


@pytest.mark.rule("Z4")
@given(
    some=st.text(st.sampled_from('ab"\\\n\té🙂\u2028'), min_size=1, max_size=20),
    often=st.integers(1, 400),
    limit=st.integers(220, 2_000),
)
def test_the_pieces_of_a_text_are_the_whole_of_it(some: str, often: int, limit: int) -> None:
    text = some * often
    message = {"id": "msg_1", "text": text}
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        piece = readable.piece(message, offset, limit)
        assert size([piece]) <= limit
        pieces.append(piece["text"])
        assert len(pieces) <= len(text)
        offset = piece.get("next_text_offset")

    assert "".join(pieces) == text
    assert all(pieces)
