"""What a reviewer may say, and what stops a board."""

from datetime import UTC, datetime

import attrs
import pytest
from tests.unit.test_tasks import ADA, BOB

from letagents.domain import locks, targets, verdicts
from letagents.domain.board import Target
from letagents.domain.errors import KeyReused, Malformed
from letagents.domain.locks import Lock, Locked, LockReason, UnknownLock
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.targets import (
    TargetSessionRequired,
    TargetSessionUnreachable,
    UnknownTarget,
)
from letagents.domain.verdicts import InvalidHeadSha, Record, Verdict, VerdictKind

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SAID = Verdict(kind=VerdictKind.APPROVE, head_sha="A" * 40, key=" k ")


@pytest.mark.rule("T40")
def test_a_verdict_names_a_whole_commit() -> None:
    assert (SAID.head_sha, SAID.key, SAID.body) == ("a" * 40, "k", "")
    for wrong in ("a" * 39, "a" * 41, "HEAD", "", "g" * 40, None):
        with pytest.raises(InvalidHeadSha, match="expected_head_sha"):
            verdicts.head_sha(wrong)
    with pytest.raises(Malformed, match="body"):
        attrs.evolve(SAID, body="x" * 65_537)
    with pytest.raises(Malformed, match="idempotency_key"):
        attrs.evolve(SAID, key="x" * 201)


@pytest.mark.rule("T41")
def test_a_key_is_for_one_verdict() -> None:
    record = Record(
        number=1,
        task_id="task_3",
        verdict=SAID,
        by="Bob",
        by_key="b",
        lease_id="l",
        epoch=1,
        at=NOW,
    )

    assert verdicts.repeated(record, SAID) is record
    with pytest.raises(KeyReused, match="verdict_1"):
        verdicts.repeated(record, attrs.evolve(SAID, body="It leaks."))


@pytest.mark.rule("T20", "T21")
def test_an_active_lock_stops_and_says_who_and_why() -> None:
    lock = Lock(number=1, created_by="Grace", created_at=NOW, message="wait for the rain")
    cleared = locks.cleared(lock, lock.lock_id, "Bob", now=NOW)
    paused = attrs.evolve(lock, task_id="task_3", reason=LockReason.MANAGER_PAUSE)

    locks.check([cleared])
    assert (lock.scope, paused.scope, cleared.cleared_by) == ("room", "task", "Bob")
    with pytest.raises(Locked, match=r"board is locked by Grace \(human_stop\): wait for the rain"):
        locks.check([cleared, lock])
    with pytest.raises(Locked, match="task_3 is locked"):
        locks.check([paused])
    assert locks.cleared(cleared, lock.lock_id, "Eve", now=NOW) is cleared
    with pytest.raises(UnknownLock, match="lock_9"):
        locks.cleared(None, "lock_9", "Eve", now=NOW)


@pytest.mark.rule("T50", "T51")
def test_a_target_is_one_session_that_is_there() -> None:
    second = attrs.evolve(BOB, session_id=ADA.session_id, instance_id="other")
    person = attrs.evolve(BOB, kind=SessionKind.PERSON)
    key = BOB.agent_key

    def resolved(target: Target, *live: Session, alive: bool | None = None) -> Session:
        return targets.resolved(target, live, lambda _one: alive)

    assert resolved(Target(agent_key=key), ADA, BOB) is BOB
    assert resolved(Target(agent_key=key, instance_id="other"), BOB, second) is second
    assert resolved(Target(agent_key=key, session_id=str(BOB.session_id)), BOB, second) is BOB
    assert resolved(Target(agent_key=key), BOB, alive=True) is BOB
    with pytest.raises(TargetSessionRequired, match="2 live sessions"):
        resolved(Target(agent_key=key), BOB, second)
    with pytest.raises(UnknownTarget, match=key) as refused:
        resolved(Target(agent_key=key), ADA, person)
    assert ADA.agent_key in refused.value.remedy
    with pytest.raises(TargetSessionUnreachable):
        resolved(Target(agent_key=key), BOB, alive=False)
