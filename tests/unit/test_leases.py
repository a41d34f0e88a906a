"""Who holds a thing now, and until when."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_tasks import ADA, BOB

from letagents.domain import leases
from letagents.domain.ids import WorkerId
from letagents.domain.leases import (
    Evidence,
    Lease,
    LeaseFenceStale,
    LeaseHeld,
    LeaseKind,
    LeaseMissing,
    LeaseStatus,
    StaleLeaseReference,
)
from letagents.domain.sessions import Session
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, tzinfo=UTC)
TERM = timedelta(seconds=900)
START = Tick("boot-1", 1_000.0)
UNKNOWN, RUNNING, GONE = Evidence(), Evidence(alive=True), Evidence(alive=False)


def at(seconds: float) -> Tick:
    return Tick("boot-1", START.seconds + seconds)


def claimed(
    by: Session,
    current: Lease | None = None,
    *,
    evidence: Evidence = UNKNOWN,
    tick: Tick = START,
    number: int = 1,
) -> leases.Claimed:
    return leases.claim(
        current,
        by,
        kind=LeaseKind.WORK,
        about="task_3",
        number=number,
        evidence=evidence,
        now=NOW,
        tick=tick,
        term=TERM,
        intent="mend the roof",
    )


LEASE = claimed(ADA).lease


@pytest.mark.rule("L1")
def test_a_lease_is_held_as_long_as_its_process_runs_in_a_session_that_has_not_ended() -> None:
    later = at(100_000)

    assert leases.is_held(LEASE, RUNNING, later, TERM)
    assert not leases.is_held(LEASE, attrs.evolve(RUNNING, ended=True), later, TERM)


@pytest.mark.rule("L2")
@pytest.mark.parametrize("evidence", [UNKNOWN, GONE, Evidence(alive=True, ended=True)])
def test_without_its_process_a_lease_is_held_for_less_than_a_term(evidence: Evidence) -> None:
    assert leases.is_held(LEASE, evidence, at(899.9), TERM)
    assert not leases.is_held(LEASE, evidence, at(900), TERM)


@pytest.mark.rule("L2")
def test_the_later_of_two_signs_counts() -> None:
    seen_late = Evidence(alive=False, seen=at(500))
    seen_early = Evidence(alive=False, seen=Tick("boot-1", 0.0))
    renewed = leases.renewed(LEASE, now=NOW, tick=at(700), term=TERM)

    assert leases.silence(LEASE, seen_late, at(600)) == timedelta(seconds=100)
    assert leases.silence(LEASE, seen_early, at(600)) == timedelta(seconds=600)
    assert leases.silence(renewed, seen_late, at(800)) == timedelta(seconds=100)
    assert leases.is_held(LEASE, seen_late, at(1_399), TERM)
    assert not leases.is_held(LEASE, seen_late, at(1_400), TERM)


@pytest.mark.rule("L3")
def test_after_a_restart_of_the_machine_a_lease_is_held_for_a_term_of_it() -> None:
    assert leases.is_held(LEASE, GONE, Tick("boot-2", 899.0), TERM)
    assert not leases.is_held(LEASE, GONE, Tick("boot-2", 900.0), TERM)


@pytest.mark.rule("L4")
def test_who_claims_what_is_held_is_told_by_whom() -> None:
    with pytest.raises(LeaseHeld, match="Ada") as refused:
        claimed(BOB, LEASE, tick=at(899))

    assert f"@agent:{ADA.agent_key}" in refused.value.remedy


@pytest.mark.rule("L5", "L6")
def test_who_claims_what_lapsed_ends_it() -> None:
    taken = claimed(BOB, LEASE, evidence=GONE, tick=at(900), number=2)

    assert taken.expired is not None
    assert (taken.expired.lease_id, taken.expired.status) == (
        LEASE.lease_id,
        LeaseStatus.EXPIRED,
    )
    assert (taken.lease.holder, taken.lease.epoch) == (
        leases.opened(
            LeaseKind.WORK, "task_3", BOB, number=2, before=LEASE, now=NOW, tick=START
        ).holder,
        2,
    )


@pytest.mark.rule("L6")
@given(
    steps=st.lists(
        st.tuples(st.sampled_from([ADA, BOB]), st.sampled_from(["claim", "go", "hand", "pass"])),
        max_size=12,
    )
)
def test_epochs_only_grow(steps: list[tuple[Session, str]]) -> None:
    current, epochs = LEASE, [LEASE.epoch]
    for number, (who, what) in enumerate(steps, 2):
        if what == "go":
            current = leases.let_go(current, who, now=NOW, reason=None)
            continue
        if what == "claim":
            current = claimed(who, current, evidence=GONE, tick=at(900 * number * 2)).lease
        elif what == "hand":
            current = leases.handed(current, who, number=number, now=NOW, tick=START)
        else:
            current = leases.passed(current, who, now=NOW, tick=START)
        epochs.append(current.epoch)

    assert epochs == sorted(epochs)
    changes = sum(what in ("hand", "pass") for _, what in steps)
    assert epochs[-1] >= 1 + changes


@pytest.mark.rule("L7")
def test_who_claims_again_has_what_it_had() -> None:
    again = claimed(ADA, LEASE, tick=at(5_000), number=2)

    assert again.expired is None
    assert again.lease == attrs.evolve(LEASE, renewed=at(5_000))


@pytest.mark.rule("L8")
def test_who_writes_is_the_holder_and_shows_what_is() -> None:
    def check(lease: Lease | None, by: Session, **shown: object) -> None:
        leases.check(lease, by, kind=LeaseKind.WORK, about="task_3", **shown)  # type: ignore[arg-type]  # a test's shorthand

    check(LEASE, ADA)
    check(LEASE, ADA, epoch=1, lease_id="work_lease_1")
    check(LEASE, ADA, epoch=1, under=LeaseKind.WORK)
    for refusal, lease, by, shown in (
        (LeaseMissing, None, ADA, {}),
        (LeaseMissing, leases.let_go(LEASE, ADA, now=NOW, reason=None), ADA, {}),
        (LeaseHeld, LEASE, BOB, {}),
        (LeaseFenceStale, LEASE, ADA, {"epoch": 0}),
        (LeaseFenceStale, LEASE, ADA, {"epoch": 2}),
        (StaleLeaseReference, LEASE, ADA, {"lease_id": "work_lease_2"}),
        (LeaseFenceStale, LEASE, ADA, {"epoch": 1, "under": LeaseKind.REVIEW}),
        (LeaseHeld, LEASE, BOB, {"epoch": 1, "under": LeaseKind.REVIEW}),
        (LeaseFenceStale, LEASE, BOB, {"epoch": 2, "under": LeaseKind.WORK}),
    ):
        with pytest.raises(refusal) as refused:
            check(lease, by, **shown)
        assert refusal is LeaseMissing or ADA.display_name in refused.value.happened


@pytest.mark.rule("L9")
def test_a_holder_releases_and_others_revoke_with_a_reason() -> None:
    own = leases.let_go(LEASE, ADA, now=NOW, reason=None)
    others = leases.let_go(LEASE, BOB, now=NOW, reason=None)
    persons = leases.let_go(LEASE, None, now=NOW, reason="stop")

    assert (own.status, own.revoked_reason) == (LeaseStatus.RELEASED, None)
    assert (others.status, others.revoked_reason) == (
        LeaseStatus.REVOKED,
        f"ended by {BOB.actor_label}",
    )
    assert (persons.status, persons.revoked_reason) == (LeaseStatus.REVOKED, "stop")


@pytest.mark.rule("L2")
def test_how_long_a_holder_may_be_silent_is_its_own_to_set() -> None:
    short, long = TERM / 10, 10 * TERM
    patient = leases.renewed(LEASE, now=NOW, tick=START, term=long)
    hasty = leases.renewed(LEASE, now=NOW, tick=START, term=short)

    assert leases.is_held(patient, GONE, at(8_999), short)
    assert not leases.is_held(patient, GONE, at(9_000), short)
    assert leases.is_held(hasty, GONE, at(89), long)
    assert not leases.is_held(hasty, GONE, at(90), long)


@pytest.mark.rule("L15")
def test_only_the_holder_or_a_person_ends_what_is_held() -> None:
    for kind, helps in ((LeaseKind.WORK, "register_task_lease_action"), (LeaseKind.REVIEW, "Ask")):
        lease = attrs.evolve(LEASE, kind=kind)
        with pytest.raises(LeaseHeld, match=ADA.display_name) as refused:
            leases.check_may_end(lease, BOB, is_held=True)
        assert helps in refused.value.remedy
        assert LEASE.agent_key in refused.value.remedy
        for by, is_held in ((ADA, True), (None, True), (BOB, False)):
            leases.check_may_end(lease, by, is_held=is_held)


# --- passing on ---

ENDED = attrs.evolve(ADA, ended_at=NOW)
NEXT = attrs.evolve(ADA, session_id=BOB.session_id)


def passes(
    holder: Session = ENDED,
    to: Session = NEXT,
    *,
    lease: Lease = LEASE,
    gone: bool = False,
    elsewhere: bool = False,
) -> bool:
    is_own = holder.owner_label == to.owner_label
    return leases.passes(
        lease, holder, to, is_own=is_own, has_exited=gone, holder_is_elsewhere=elsewhere
    )


@pytest.mark.rule("L10", "L12")
def test_a_lease_passes_to_the_next_session_of_its_process() -> None:
    assert passes()
    assert not passes(ADA), "the holder's session has not ended"
    assert not passes(to=attrs.evolve(NEXT, owner_label="Another")), "another owner's"
    assert not passes(to=attrs.evolve(NEXT, instance_id="sibling")), "nothing tells it is gone"


@pytest.mark.rule("L11")
def test_a_lease_passes_to_a_session_of_its_agent_once_the_process_is_gone() -> None:
    sibling = attrs.evolve(NEXT, instance_id="sibling")

    assert passes(to=sibling, gone=True)
    assert not passes(to=sibling, gone=False)


@pytest.mark.rule("L11")
def test_work_passes_to_who_bears_the_name_where_its_agent_is_nowhere() -> None:
    namesake = attrs.evolve(BOB, display_name="ada")
    review = attrs.evolve(LEASE, kind=LeaseKind.REVIEW)
    lasting = attrs.evolve(ENDED, instance_id=str(WorkerId("worker_" + "1" * 32)))

    assert passes(to=namesake, gone=True)
    assert not passes(to=namesake)
    assert not passes(to=BOB, gone=True)
    assert not passes(to=namesake, gone=True, elsewhere=True)
    assert not passes(to=namesake, gone=True, lease=review)
    assert not passes(lasting, to=namesake, gone=True)


@pytest.mark.rule("L6", "L13")
def test_what_is_passed_on_keeps_what_belongs_to_the_work() -> None:
    worked = attrs.evolve(LEASE, branch_ref="roof", pr_url="https://x/1")
    for new in (
        leases.handed(worked, BOB, number=2, now=NOW, tick=at(5)),
        leases.passed(worked, BOB, now=NOW, tick=at(5)),
    ):
        assert (new.branch_ref, new.pr_url, new.output_intent) == (
            "roof",
            "https://x/1",
            "mend the roof",
        )
        assert (new.agent_key, new.epoch, new.renewed) == (BOB.agent_key, 2, at(5))
