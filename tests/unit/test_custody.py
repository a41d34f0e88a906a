"""Polls are admitted from the agent's cursor, and what they bring is offered before it is shown."""

from datetime import UTC, datetime
from typing import Any

import pytest

from letagents.domain import custody
from letagents.domain.bindings import Binding
from letagents.domain.custody import Admission, End, Offer, Phase, Polling, PollRefused
from letagents.domain.ids import MessageId

PROCESS = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-000000000002"
AT = Admission("workshop", "msg_7", 1)
POLLING = Polling("a1", "x1")
BINDING = Binding(
    "e1", "workshop", "w1", "x1", "s1", "https://a.example", 3, datetime(2030, 1, 1, tzinfo=UTC)
)


def offer(request: str = "1", began: int = 7, ends: int = 9, process: str = PROCESS) -> Offer:
    return Offer(process, request, MessageId(began), MessageId(ends))


def offered(polling: Polling, one: Offer, at: int = 7) -> Polling:
    return custody.offered(polling, one, at=MessageId(at))


@pytest.mark.rule("J90")
@pytest.mark.parametrize("request_id", [1, 0, "1", "abc"], ids=repr)
def test_the_id_of_a_request_keeps_its_type(request_id: str | int) -> None:
    made = custody.invocation(PROCESS, request_id, None)

    assert made.request_id == request_id
    assert type(made.request_id) is type(request_id)


@pytest.mark.rule("J90")
@pytest.mark.parametrize("request_id", [None, True, 1.5, 2**53, [1]])
def test_a_wait_without_an_exact_id_is_refused(request_id: object) -> None:
    with pytest.raises(PollRefused, match="missing its exact MCP request id"):
        custody.invocation(PROCESS, request_id, None)


@pytest.mark.rule("J90")
@pytest.mark.parametrize("cursor", ["", "msg_0", "later", 7])
def test_a_wait_from_nowhere_is_refused(cursor: object) -> None:
    with pytest.raises(PollRefused, match="valid requested cursor"):
        custody.invocation(PROCESS, 1, cursor)


@pytest.mark.rule("J91")
@pytest.mark.parametrize(
    ("page", "ends"),
    [
        ({"messages": []}, 7),
        ({"messages": [], "last_observed_message_id": "msg_7"}, 7),
        ({"messages": [{}], "last_observed_message_id": "msg_19"}, 19),
        ({"messages": [], "skipped_message_count": 1, "last_observed_message_id": "8"}, 8),
        ({"messages": [{}], "truncated": True, "last_observed_message_id": "msg_8"}, 8),
    ],
)
def test_what_is_offered_is_the_end_of_what_is_shown(page: dict[str, Any], ends: int) -> None:
    assert custody.frontier({"room_id": "workshop", **page}, AT) == MessageId(ends)


@pytest.mark.rule("J91")
@pytest.mark.parametrize(
    ("page", "told"),
    [
        (None, "no valid bounded page"),
        ({"messages": 7}, "no valid bounded page"),
        ({"messages": [], "room_id": "elsewhere"}, "no valid bounded page"),
        ({"messages": [{}]}, "missing its bounded observed frontier"),
        ({"messages": [], "skipped_message_ids": ["msg_8"]}, "missing its bounded observed"),
        ({"messages": [{}], "last_observed_message_id": "msg_6"}, "invalid observed frontier"),
        ({"messages": [{}], "last_observed_message_id": "msg_7"}, "invalid observed frontier"),
        (
            {"messages": [], "truncated": True, "last_observed_message_id": "msg_7"},
            "invalid observed frontier",
        ),
        ({"messages": [], "last_observed_message_id": 9}, "invalid observed frontier"),
    ],
)
def test_a_page_without_a_sure_end_is_withheld(page: object, told: str) -> None:
    with pytest.raises(PollRefused, match=told):
        custody.frontier(page, AT)


@pytest.mark.rule("J92", "J94")
def test_a_cursor_acknowledges_the_last_offer_of_its_own_process_alone() -> None:
    once = offered(POLLING, offer())
    for process, passed in ((OTHER, 9), (PROCESS, 8), (PROCESS, 10)):
        assert custody.acknowledged(once, process, MessageId(passed)) == (once, None)
    assert custody.acknowledged(once, PROCESS, None) == (once, None)
    assert custody.acknowledged(POLLING, PROCESS, MessageId(9)) == (POLLING, None)
    seen, to = custody.acknowledged(once, PROCESS, MessageId(9))

    assert to == MessageId(9)
    assert seen.last is not None
    assert seen.last.is_acknowledged


@pytest.mark.rule("J93")
def test_an_offer_is_made_once_and_follows_the_cursor() -> None:
    once = offered(POLLING, offer())
    assert offered(once, offer()) == once
    assert offered(once, offer("2", ends=7)) == once
    assert offered(once, offer('"1"', ends=12)).last == offer('"1"', ends=12)
    with pytest.raises(PollRefused, match="changed or was superseded"):
        offered(once, offer(ends=10))
    followed = offered(once, offer('"1"', ends=12))
    for later in (followed, offered(followed, offer("3", ends=13))):
        with pytest.raises(PollRefused, match="changed or was superseded"):
            offered(later, offer())
    seen, _ = custody.acknowledged(followed, PROCESS, MessageId(12))
    assert offered(seen, offer("3", began=12, ends=14), at=12).superseded == ()
    with pytest.raises(PollRefused, match="not the durable acknowledged cursor"):
        offered(once, offer("2"), at=8)
    with pytest.raises(PollRefused, match="cannot move behind its input cursor"):
        offered(once, offer("2", ends=6))


@pytest.mark.rule("J95")
def test_polls_are_admitted_to_the_process_that_polls() -> None:
    assert custody.check_active(POLLING, "x1") == POLLING
    for polling, execution in ((None, "x1"), (POLLING, "x2")):
        with pytest.raises(PollRefused, match="stale or unsupported"):
            custody.check_active(polling, execution)
    custody.check_process(PROCESS)
    with pytest.raises(PollRefused, match="upgrade the MCP runtime"):
        custody.check_process("me")


@pytest.mark.rule("J95")
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"revision": 2}, "changed before receipt commit"),
        ({"epoch": 4}, "changed before receipt commit"),
        ({"activation_id": "a2"}, "names a stale activation"),
    ],
)
def test_what_changed_meanwhile_withholds_the_result(changed: dict[str, Any], told: str) -> None:
    same: dict[str, Any] = {"revision": 1, "is_wait": True, "activation_id": "a1", "epoch": 3}
    custody.check_same(POLLING, BINDING, **same)
    custody.check_same(POLLING, BINDING, **{**same, "is_wait": False, "epoch": 0})
    with pytest.raises(PollRefused, match=told):
        custody.check_same(POLLING, BINDING, **{**same, **changed})


@pytest.mark.rule("J100")
def test_a_turn_that_may_have_begun_has_one_name_and_one_end() -> None:
    begun = custody.active(custody.uncertain(POLLING), "t1")
    ended = custody.over(begun, End.COMPLETED)

    assert (begun.phase, begun.turn_id) == (Phase.ACTIVE, "t1")
    assert (ended.phase, ended.end) == (Phase.COMPLETE, End.COMPLETED)
    assert custody.over(ended, End.FAILED) == custody.uncertain(ended) == ended
    assert custody.over(POLLING, End.COMPLETED).end is End.LOST
    for polling, turn_id in ((begun, "t2"), (ended, "t1")):
        with pytest.raises(PollRefused, match="activation changed during admission"):
            custody.active(polling, turn_id)


@pytest.mark.rule("J101")
def test_polls_are_admitted_as_long_as_the_turn_may_go_on() -> None:
    begun = custody.active(POLLING, "t1")
    for polling in (POLLING, begun, custody.uncertain(begun)):
        assert custody.check_active(polling, "x1") == polling
    for refused in (custody.over(begun, End.COMPLETED), custody.over(POLLING, End.LOST), None):
        with pytest.raises(PollRefused, match="stale or unsupported"):
            custody.check_active(refused, "x1")
