"""Whether a session waits to be told of messages through a server."""

from datetime import UTC, datetime, timedelta

import pytest

from letagents.domain import deliveries
from letagents.domain.deliveries import Delivery, Transport
from letagents.domain.ids import SessionId
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HERE, THERE = "process-1", "process-2"


def at(seconds: float) -> Tick:
    return Tick("boot", 1_000.0 + seconds)


def opened(holder: str = HERE, before: Delivery | None = None, seconds: float = 0) -> Delivery:
    return deliveries.opened(
        before,
        SessionId("s1"),
        7,
        holder=holder,
        transport=Transport.LONG_POLL,
        tick=at(seconds),
        now=NOW + timedelta(seconds=seconds),
    )


def closed(delivery: Delivery, holder: str = HERE, seconds: float = 0) -> Delivery:
    now = NOW + timedelta(seconds=seconds)
    return deliveries.closed(delivery, holder=holder, since=at(seconds), now=now)


@pytest.mark.rule("E50")
@pytest.mark.parametrize(("seconds", "is_open"), [(0, True), (11.9, True), (12, False)])
def test_a_delivery_counts_as_open_for_a_while_after_its_last_request(
    seconds: float, is_open: bool
) -> None:
    assert deliveries.is_open(opened(), at(0))
    assert deliveries.is_open(closed(opened()), at(seconds)) is is_open


@pytest.mark.rule("E51")
def test_what_is_not_told_anew_is_over() -> None:
    told = deliveries.refreshed(opened(), holder=HERE, tick=at(60), now=NOW)

    assert deliveries.is_open(opened(), at(89))
    assert not deliveries.is_open(opened(), at(90))
    assert deliveries.is_open(told, at(149))


@pytest.mark.rule("E53")
def test_only_who_holds_a_delivery_ends_it() -> None:
    moved = opened(THERE, before=opened(), seconds=5)
    ended = closed(moved, THERE, seconds=6)

    assert closed(moved, HERE) is moved
    assert ended.closed == at(6)
    assert ended.number == 7
    assert closed(ended, THERE, seconds=9) is ended
    again = deliveries.refreshed(ended, holder=HERE, tick=at(20), now=NOW)
    assert (again.holder, again.closed) == (HERE, None)


@pytest.mark.rule("E54")
def test_what_was_of_a_process_before_is_over_at_once_until_the_next_waits() -> None:
    gone = deliveries.retired(opened(), tick=at(1), now=NOW)

    assert not deliveries.is_open(gone, at(1))
    assert deliveries.refreshed(gone, holder=HERE, tick=at(2), now=NOW) is gone
    assert deliveries.is_open(opened(before=gone, seconds=3), at(3))
