"""What has happened to an item so far."""

from datetime import UTC, datetime

import pytest

from letagents.domain import inbox, timelines
from letagents.domain.inbox import Item, TurnBinding
from letagents.domain.item_events import LONGEST_DETAIL, REMEMBERED

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NEW = Item("i1", "e1", "workshop", "msg_1", 1)
TURN = TurnBinding("t1", "w1", "x1", "c1")
BEGUN = inbox.dispatched(NEW)
AT_WORK = inbox.started(BEGUN, TURN)
ANSWERED = inbox.ended(AT_WORK, inbox.reply("Hi."))
UNREAD = inbox.ended(AT_WORK, inbox.UNREADABLE)
STUCK = inbox.blocked(AT_WORK, "x" * 999)


def phases(*walk: Item) -> list[tuple[str, str | None]]:
    """Return what is noted as an item walks so."""
    known = None
    for item in walk:
        known = timelines.noted(known, item, now=NOW)
    assert known is not None
    return [(one.phase.value, one.detail) for one in known.events]


@pytest.mark.rule("J156")
@pytest.mark.parametrize(
    ("walk", "noted"),
    [
        (
            (BEGUN, AT_WORK, ANSWERED, inbox.published(ANSWERED, "msg_2", "workshop")),
            [
                ("turn_started", "t1"),
                ("turn_finished", None),
                ("publish_started", None),
                ("published", "msg_2"),
            ],
        ),
        (
            (AT_WORK, inbox.ended(AT_WORK, inbox.NO_REPLY)),
            [("turn_started", "t1"), ("turn_finished", None), ("no_reply", None)],
        ),
        (
            (AT_WORK, UNREAD, inbox.ended(UNREAD, inbox.UNREADABLE)),
            [
                ("turn_started", "t1"),
                ("result_unreadable", None),
                ("blocked", "How its turn ended cannot be read."),
            ],
        ),
        (
            (AT_WORK, STUCK, inbox.released(STUCK)),
            [("turn_started", "t1"), ("blocked", "x" * LONGEST_DETAIL), ("queued", None)],
        ),
        (
            (BEGUN, inbox.unsuccessful(BEGUN, "so")),
            [("retry_scheduled", "so")],
        ),
        ((inbox.skipped(NEW),), [("user_cancelled", None)]),
        ((inbox.cancelled_by_move(NEW),), [("room_move_cancelled", None)]),
    ],
)
def test_each_step_is_remembered_in_its_order(
    walk: tuple[Item, ...], noted: list[tuple[str, str | None]]
) -> None:
    assert phases(NEW, *walk) == [("received", None), ("queued", None), *noted]


@pytest.mark.rule("J156")
def test_of_many_steps_the_newest_stay() -> None:
    stuck = inbox.blocked(NEW, "so")
    walk = [NEW, *[stuck, NEW] * REMEMBERED, stuck]

    assert phases(*walk) == [("queued", None), ("blocked", "so")] * (REMEMBERED // 2)
