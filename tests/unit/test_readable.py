"""Messages in the form that agents read."""

import json
from collections.abc import Sequence
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


def thread_of(plain: readable.Plain) -> tuple[object, ...]:
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


def plains(count: int, characters: int) -> list[readable.Plain]:
    return [{"id": f"msg_{n}", "text": "x" * characters} for n in range(1, count + 1)]


def ids(messages: Sequence[readable.Plain]) -> list[str]:
    return [str(one["id"]) for one in messages]


def test_a_page_that_does_not_fit_keeps_its_beginning() -> None:
    kept = readable.bounded(plains(100, 950_000), "first")

    assert ids(kept.messages) == ["msg_1", "msg_2"]
    assert kept.omitted == 98
    assert readable.size(kept.messages) <= readable.BODY_LIMIT


def test_a_tail_that_does_not_fit_keeps_its_end_in_order() -> None:
    kept = readable.bounded(plains(5, 700_000), "last")

    assert ids(kept.messages) == ["msg_4", "msg_5"]
    assert kept.omitted == 3


def test_a_message_too_large_for_any_page_is_cut_and_says_so() -> None:
    large: dict[str, Any] = {
        "id": "msg_1",
        "sender": "Juniper",
        "timestamp": "then",
        "text": "é" * 5_000_000,
        "thread_reply_to_id": None,
        "agent_identity": {"actor_label": "Juniper"},
    }
    kept = readable.bounded([large], "first")

    assert kept.omitted == 0
    assert kept.messages == [
        {
            "id": "msg_1",
            "sender": "Juniper",
            "timestamp": "then",
            "text": "é" * 16_384,
            "content_truncated": True,
            "original_utf8_bytes": readable.size(large),
        }
    ]


def test_a_cut_never_parts_a_character() -> None:
    """A character beyond the first 65,536 is two units of what is counted."""
    [cut] = readable.bounded([{"id": "msg_1", "text": "x" + "🙂" * 600_000}], "first").messages

    assert cut["text"] == "x" + "🙂" * 8191


@given(
    sizes=st.lists(st.integers(0, 3_000), max_size=12),
    keep=st.sampled_from(["first", "last"]),
    limit=st.integers(1_024, 6_000),
)
def test_what_is_kept_fits_and_is_one_end_of_what_was_given(
    sizes: list[int], keep: Any, limit: int
) -> None:
    given_ones = [{"id": f"msg_{n}", "text": "é" * size} for n, size in enumerate(sizes)]
    kept = readable.bounded(given_ones, keep, limit)
    count = len(kept.messages)
    end = given_ones[:count] if keep == "first" else given_ones[len(given_ones) - count :]

    assert ids(kept.messages) == ids(end)
    assert count + kept.omitted == len(given_ones)
    if all(readable.size(one) + 2 <= limit for one in given_ones):
        assert kept.messages == end
        assert readable.size(kept.messages) <= limit


@pytest.mark.parametrize("limit", [6, 7])
def test_the_bound_counts_brackets_and_separators(limit: int) -> None:
    """Two empty objects and what holds them are seven bytes."""
    assert readable.size([{}, {}]) == 7
    assert readable.bounded([{}, {}], "first", limit).omitted == (0 if limit == 7 else 1)
