"""Moments as records spell them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.wire import moments

MOMENTS = st.datetimes(timezones=st.just(UTC))


def test_a_moment_has_three_digits_and_a_z() -> None:
    moment = datetime(2026, 5, 28, 1, 2, 3, 4999, tzinfo=timezone(timedelta(hours=2)))

    assert moments.to_text(moment) == "2026-05-27T23:02:03.004Z"
    assert moments.to_text(datetime(2026, 5, 28, tzinfo=UTC)) == "2026-05-28T00:00:00.000Z"


@given(moment=MOMENTS)
def test_a_text_is_read_back_to_the_millisecond(moment: datetime) -> None:
    kept = moment.replace(microsecond=moment.microsecond // 1000 * 1000)

    assert moments.from_text(moments.to_text(moment)) == kept


@given(one=MOMENTS, other=MOMENTS)
def test_texts_sort_as_their_moments_do(one: datetime, other: datetime) -> None:
    earlier, later = sorted([one, other])

    assert moments.to_text(earlier) <= moments.to_text(later)


@pytest.mark.parametrize(
    "text", ["2026-05-28", "2026-05-28T00:00:00", "2026-05-28T00:00Z", "2026-05-28T02:00:00+02:00"]
)
def test_other_iso_forms_are_read_and_what_names_no_zone_is_utc(text: str) -> None:
    assert moments.from_text(text) == datetime(2026, 5, 28, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_none(text: str) -> None:
    assert moments.from_text(text) is None
