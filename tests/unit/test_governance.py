"""Who manages a board, and for how long."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import governance
from letagents.domain.errors import Malformed
from letagents.domain.governance import (
    SILENCE,
    BoardSettings,
    Evidence,
    Failover,
    Manager,
    ManagerMode,
    ManagerStatus,
    NoSuchSession,
    RuntimeSource,
)
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import AdminRequired
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)


def at(span: timedelta, boot: str = "boot-1") -> Tick:
    return Tick(boot, span.total_seconds())


def session(name: str = "bob", seen: Tick | None = None) -> Session:
    return Session(
        session_id=SessionId(name),
        room_id=RoomId("workshop"),
        kind=SessionKind.WORKER,
        agent_key=f"grace/{name}",
        instance_id=name,
        display_name=name,
        base_name=name,
        owner_label="Grace",
        ide_label="Codex",
        runtime="codex",
        actor_label=name,
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
        seen=seen,
    )


START = at(timedelta(0))


def manager(assigned: Tick = START) -> Manager:
    return governance.assign(
        1,
        session(),
        runtime_source=RuntimeSource.UNKNOWN,
        by="Grace",
        now=NOW,
        tick=assigned,
    )


ENDED = attrs.evolve(session(), ended_at=NOW)


@pytest.mark.rule("P1")
@pytest.mark.parametrize(
    ("mode", "unmanaged", "managed"),
    [
        (ManagerMode.OFF, False, False),
        (ManagerMode.MANAGER_OPTIONAL, False, True),
        (ManagerMode.INTENT_REQUIRED, True, True),
    ],
)
def test_each_mode_asks_as_it_says(mode: ManagerMode, unmanaged: bool, managed: bool) -> None:
    assert governance.needs_intent(mode, is_managed=False) is unmanaged
    assert governance.needs_intent(mode, is_managed=True) is managed


@pytest.mark.rule("P2", "P3")
def test_a_session_that_ended_or_is_gone_manages_nothing() -> None:
    for evidence in (Evidence(ENDED, True), Evidence(None)):
        assert not evidence.is_live
        assert governance.is_dead(manager(), evidence, at(timedelta(0)))


@pytest.mark.rule("P3")
@pytest.mark.parametrize("there", [None, False])
def test_silence_is_counted_from_the_later_of_the_last_sign_and_the_assignment(
    there: bool | None,
) -> None:
    minute = timedelta(minutes=1)
    for assigned, seen, since in ((0, 2, 2), (2, 0, 2), (1, None, 1)):
        one = manager(at(assigned * minute))
        evidence = Evidence(session(seen=None if seen is None else at(seen * minute)), there)

        assert not governance.is_dead(one, evidence, at(since * minute + SILENCE - MOMENT))
        assert governance.is_dead(one, evidence, at(since * minute + SILENCE))


@pytest.mark.rule("P3")
def test_a_process_that_is_there_keeps_its_manager_alive_and_a_boot_gives_time() -> None:
    week = timedelta(days=7)

    assert not governance.is_dead(manager(), Evidence(session(), True), at(week))
    assert not governance.is_dead(
        manager(at(week)), Evidence(session()), at(SILENCE - MOMENT, "boot-2")
    )


@pytest.mark.rule("P4")
def test_a_manager_whose_process_is_gone_is_not_reachable_at_once() -> None:
    for there, reachable in ((True, True), (None, True), (False, False)):
        evidence = Evidence(session(), there)

        assert governance.is_reachable(manager(), evidence, at(MOMENT)) is reachable
    assert not governance.is_reachable(manager(), Evidence(session()), at(SILENCE))


@pytest.mark.rule("P5")
def test_the_one_that_is_surely_there_or_was_seen_last_succeeds() -> None:
    early, late = session("early", at(MOMENT)), session("late", at(2 * MOMENT))
    unseen, gone = session("unseen"), session("gone", at(3 * MOMENT))
    person = attrs.evolve(session("grace"), kind=SessionKind.PERSON)
    now = at(SILENCE)

    def best(*others: tuple[Session, bool | None]) -> str | None:
        found = governance.successor(manager(), others, now)
        return str(found.session_id) if found else None

    assert best((early, None), (late, None), (unseen, None)) == "late"
    assert best((early, True), (late, None), (gone, False)) == "early"
    assert best((unseen, None)) == "unseen"
    assert best((gone, False), (person, True), (session(), True)) is None


def test_settings_change_only_where_something_is_given() -> None:
    first = governance.changed(
        BoardSettings(), mode=ManagerMode.OFF, failover=None, by="Grace", now=NOW
    )
    again = governance.changed(first, mode=ManagerMode.OFF, failover=None, by="Ada", now=NOW)
    other = governance.changed(first, mode=None, failover=Failover.OFF, by="Ada", now=NOW + MOMENT)

    assert (first.manager_mode, first.manager_failover) == (ManagerMode.OFF, Failover.AUTO)
    assert again is first
    assert (other.updated_by, other.revision) == ("Ada", 2)
    assert other.created_at == NOW


def test_only_a_live_worker_can_manage() -> None:
    assert governance.candidate(session(), SessionId("bob")) == session()
    for one in (None, ENDED, attrs.evolve(session(), kind=SessionKind.CONTROLLER)):
        with pytest.raises(NoSuchSession, match="Active agent session not found"):
            governance.candidate(one, SessionId("bob"))
    with pytest.raises(Malformed, match="agent_session_id"):
        governance.checked_session("no session")
    assert governance.checked_session("bob") == SessionId("bob")


def test_what_admins_do_is_refused_to_others() -> None:
    governance.check_admin(is_admin=True, what="do it")
    with pytest.raises(AdminRequired, match="Admin privileges required"):
        governance.check_admin(is_admin=False, what="do it")


def test_a_release_says_by_whom_and_why() -> None:
    released = governance.release(manager(), by="Grace", reason="tired", now=NOW)

    assert released.status is ManagerStatus.RELEASED
    assert not released.is_active
    assert (released.released_by, released.release_reason) == ("Grace", "tired")
