"""Whether a process is gone. (Source of the cases: hosted-api section 8, 10 to 19.)"""

from datetime import timedelta

import attrs
import pytest

from letagents.domain import presence
from letagents.domain.presence import EXITED, Facts, Holder

HERE, THERE = "phost_a", "phost_b"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def closed(ago: timedelta, connection: str = "c", *, ended: timedelta | None = None) -> Facts:
    """Return the facts of a process whose connection closed so long ago, and no call since."""
    return Facts(
        host=HERE,
        connection=connection,
        seen=ago,
        closed=ago,
        heard=2 * ago + MINUTE,
        last_seen=2 * ago + MINUTE,
        ended=ended,
    )


def connected(**more: timedelta) -> Facts:
    """Return the facts of a process that is connected, or that was never known to be cut off."""
    return Facts(**({"host": HERE, "connection": "c"} | more))  # type: ignore[arg-type]


@pytest.mark.rule("E20")
@pytest.mark.parametrize(
    ("ago", "host", "is_gone"),
    [
        (15 * SECOND, HERE, True),
        (timedelta(seconds=14.999), HERE, False),
        (15 * SECOND, THERE, False),
        (15 * SECOND, None, False),
        (9 * MINUTE, THERE, False),
        (10 * MINUTE, THERE, True),
    ],
)
def test_a_closed_connection_tells_its_own_machine_sooner(
    ago: timedelta, host: str | None, is_gone: bool
) -> None:
    assert presence.gone(closed(ago), host) is is_gone


@pytest.mark.rule("E20")
def test_where_no_machine_is_told_nobody_is_on_the_same_one() -> None:
    nowhere = attrs.evolve(closed(MINUTE), host=None)

    assert not presence.gone(nowhere, None)
    assert not presence.gone(nowhere, HERE)


@pytest.mark.rule("E20")
@pytest.mark.parametrize("host", [HERE, THERE, None])
def test_who_said_that_it_exits_is_gone_at_once_for_everybody(host: str | None) -> None:
    assert presence.exited(closed(timedelta(0), EXITED), host)
    assert presence.gone(closed(timedelta(0), EXITED), host)


@pytest.mark.rule("E21")
@pytest.mark.parametrize("connection", ["c", EXITED])
def test_a_call_or_a_delivery_refutes_a_closed_connection(connection: str) -> None:
    back = attrs.evolve(closed(MINUTE, connection), heard=59 * SECOND)
    delivering = attrs.evolve(closed(MINUTE, connection), has_delivery=True)

    assert not presence.gone(back, HERE)
    assert not presence.gone(delivering, HERE)


@pytest.mark.rule("E21")
def test_what_the_server_notes_itself_refutes_nothing_unless_nothing_else_is_known() -> None:
    noted = attrs.evolve(closed(MINUTE), last_seen=SECOND)

    assert presence.gone(noted, HERE)
    assert not presence.gone(attrs.evolve(noted, heard=None), HERE)


@pytest.mark.rule("E22", "E26")
def test_who_is_connected_is_there_however_long_its_agent_is_silent() -> None:
    busy = connected(seen=20 * SECOND, heard=timedelta(hours=10), last_seen=timedelta(hours=10))

    assert not presence.gone(busy, HERE)
    assert presence.is_there(busy)


@pytest.mark.rule("E22", "E26")
@pytest.mark.parametrize(("silent", "is_gone"), [(9, False), (11, True)])
def test_a_connection_that_is_refreshed_no_more_is_believed_for_ten_minutes(
    silent: int, is_gone: bool
) -> None:
    ago = silent * MINUTE
    lost = connected(seen=ago, heard=ago, last_seen=ago)

    assert presence.gone(lost, HERE) is is_gone
    assert not presence.is_there(lost)
    assert not presence.exited(lost, HERE)


@pytest.mark.rule("E23")
@pytest.mark.parametrize(("silent", "is_gone"), [(59, False), (60, True)])
def test_who_never_connected_is_gone_after_an_hour(silent: int, is_gone: bool) -> None:
    quiet = Facts(heard=silent * MINUTE, last_seen=silent * MINUTE)

    assert presence.gone(quiet, HERE) is is_gone
    assert not presence.gone(attrs.evolve(quiet, has_delivery=True), HERE)


@pytest.mark.rule("E23")
def test_a_live_worker_of_a_program_that_knows_no_connections_is_never_gone() -> None:
    ages = timedelta(days=9)
    old = Facts(is_durable=True, heard=ages, last_seen=ages)

    assert not presence.gone(old, HERE)
    assert presence.gone(attrs.evolve(old, host=HERE), HERE)
    assert not presence.gone(attrs.evolve(old, host=HERE, heard=59 * MINUTE), HERE)
    assert presence.gone(attrs.evolve(old, ended=ages), HERE)
    assert not presence.gone(attrs.evolve(old, ended=9 * MINUTE, heard=9 * MINUTE), HERE)
    assert presence.gone(attrs.evolve(old, ended=10 * MINUTE, heard=10 * MINUTE), HERE)


@pytest.mark.rule("E21")
def test_nobody_exits_by_silence_or_after_the_end() -> None:
    ages = timedelta(days=9)

    assert not presence.exited(connected(seen=ages, heard=ages, last_seen=ages), HERE)
    assert not presence.exited(closed(MINUTE, EXITED, ended=2 * MINUTE), HERE)
    assert presence.exited(closed(2 * MINUTE, EXITED, ended=MINUTE), HERE)
    assert not presence.exited(Facts(connection=EXITED, closed=ages), HERE)


@pytest.mark.rule("E24")
def test_who_closed_lately_on_the_same_machine_will_soon_be_gone() -> None:
    lately = closed(3 * SECOND)

    assert presence.gone_in(lately, HERE) == 12 * SECOND
    assert presence.gone_in(lately, THERE) is None
    assert presence.gone_in(attrs.evolve(lately, has_delivery=True), HERE) == 12 * SECOND
    delivering = attrs.evolve(closed(3 * SECOND, EXITED), has_delivery=True)
    assert presence.gone_in(delivering, THERE) == 9 * SECOND
    assert presence.gone_in(attrs.evolve(lately, heard=SECOND), HERE) is None
    assert presence.gone_in(connected(seen=SECOND, heard=SECOND), HERE) is None
    assert presence.gone_in(Facts(host=HERE, heard=SECOND), HERE) is None


@pytest.mark.rule("E25")
def test_a_name_comes_free_with_the_last_of_its_holders() -> None:
    soon, later = Holder(closed(9 * SECOND), is_own=True), Holder(closed(SECOND), is_own=True)

    assert presence.comes_free_in([soon, later], HERE) == 14 * SECOND
    assert presence.comes_free_in([], HERE) is None


@pytest.mark.rule("E25")
@pytest.mark.parametrize(
    "other",
    [
        Holder(connected(seen=SECOND, heard=SECOND), is_own=True),
        Holder(closed(SECOND), is_own=False),
        Holder(closed(SECOND), is_own=True, is_supervised=True),
        Holder(closed(MINUTE), is_own=True),
    ],
    ids=["there", "another's", "supervised", "gone already"],
)
def test_a_name_does_not_come_free_where_one_holder_keeps_it_or_has_gone_already(
    other: Holder,
) -> None:
    soon = Holder(closed(SECOND), is_own=True)

    assert presence.comes_free_in([soon, other], HERE) is None


@pytest.mark.rule("E25")
def test_a_name_is_lost_by_who_is_gone_to_its_own_owner_alone() -> None:
    left = Holder(closed(MINUTE), is_own=True)

    assert presence.may_lose_its_name(left, HERE)
    assert not presence.may_lose_its_name(left, THERE)
    assert not presence.may_lose_its_name(attrs.evolve(left, is_own=False), HERE)
    assert not presence.may_lose_its_name(attrs.evolve(left, is_supervised=True), HERE)
