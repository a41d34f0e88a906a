"""What the program that runs an agent reports of it."""

from datetime import UTC, datetime, timedelta

import pytest

from letagents.domain import activity
from letagents.domain.activity import Activity, Report
from letagents.domain.errors import Malformed
from letagents.domain.ids import SessionId

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def report(**given: object) -> Report:
    fields = {"observed_at": NOW, "sequence": 1, "method": "turn/started", "status": None, **given}
    return activity.report(**fields)  # type: ignore[arg-type]  # wrong ones are the point


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    "wrong",
    [
        {"observed_at": None},
        {"sequence": 0},
        {"sequence": True},
        {"sequence": "1"},
        {"sequence": 2**53},
        {"method": "  "},
        {"method": 7},
        {"status": "away"},
    ],
)
def test_what_is_in_no_form_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(Malformed, match="positive integer sequence"):
        report(**wrong)


def test_a_method_is_cut_and_no_word_means_idle() -> None:
    found = report(method="x" * 500, sequence=2**53 - 1)

    assert (len(found.method), found.status) == (activity.METHOD, "idle")


@pytest.mark.rule("X26")
@pytest.mark.parametrize(
    ("late", "is_of_now"), [(-5, True), (-6, False), (0, True), (600, True), (601, False)]
)
def test_a_report_is_of_now(late: int, is_of_now: bool) -> None:
    found = report(observed_at=NOW - timedelta(seconds=late))

    if is_of_now:
        activity.check_is_of_now(found, NOW)
    else:
        with pytest.raises(Malformed):
            activity.check_is_of_now(found, NOW)


@pytest.mark.rule("X27")
def test_the_report_of_the_highest_number_counts() -> None:
    before = Activity(
        session_id=SessionId("s1"), number=1, report=report(sequence=5), reported_at=NOW
    )

    assert [activity.counts(report(sequence=n), before) for n in (4, 5, 6)] == [False, False, True]
    assert activity.counts(report(), None)
