"""Whether anything could come of an intent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_leases import LEASE
from tests.unit.test_tasks import ADA, BOB, STATUSES, task

from letagents.domain import approvals, prospects
from letagents.domain.denials import IntentNotPossible
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.intents import Action, Payload, action_of, change_payload, lease_payload
from letagents.domain.leases import LeaseMissing, StaleLeaseReference
from letagents.domain.moves import WrongStatus
from letagents.domain.tasks import MOVES, WORKING, InvalidTransition, Status

CLAIM = change_payload(
    "task_3", status="assigned", assignee=ADA.actor_label, assignee_agent_key=ADA.agent_key
)
HANDOFF = lease_payload("task_3", "handoff", target_actor_key=BOB.agent_key)


@pytest.mark.rule("P21")
@given(stands=STATUSES, asked=st.sampled_from(list(Status)))
def test_what_does_not_follow_is_not_asked_for(stands: Status, asked: Status) -> None:
    payload = change_payload("task_3", status=asked.value)
    is_taken_over = asked is Status.ASSIGNED and stands in WORKING

    if asked in MOVES[stands] or is_taken_over:
        prospects.check_follows(payload, task(stands), None)
    else:
        with pytest.raises(InvalidTransition):
            prospects.check_follows(payload, task(stands), None)


@pytest.mark.rule("P21")
def test_only_work_under_way_is_asked_to_be_handed_over() -> None:
    release = lease_payload("task_3", "release")
    prospects.check_follows(HANDOFF, task(Status.BLOCKED, ADA), LEASE)
    prospects.check_follows(release, task(Status.MERGED), LEASE)
    prospects.check_follows(change_payload("task_3", pr_url="https://x/1"), task(Status.DONE), None)
    with pytest.raises(WrongStatus):
        prospects.check_follows(HANDOFF, task(Status.ACCEPTED), LEASE)
    with pytest.raises(LeaseMissing):
        prospects.check_follows(release, task(Status.ACCEPTED), None)
    another = lease_payload("task_3", "release", lease_id="work_lease_9")
    with pytest.raises(StaleLeaseReference):
        prospects.check_follows(another, task(Status.ASSIGNED), LEASE)


@pytest.mark.rule("P21")
@pytest.mark.parametrize(
    ("action", "payload", "named"),
    [
        (Action.TASK_UPDATE, change_payload("task_3", status="accepted"), "task_override"),
        (Action.TASK_UPDATE, change_payload("task_3", status="assigned"), "task_claim"),
        (Action.TASK_UPDATE, change_payload("task_3", status="done"), "task_close"),
        (Action.TASK_UPDATE, change_payload("task_3", assignee="Bob"), "payload.assignee"),
        (Action.TASK_CLAIM, change_payload("task_3", status="assigned"), "payload.assignee"),
        (Action.TASK_CLAIM, {**CLAIM, "assignee": "Bob"}, "payload.assignee"),
        (Action.TASK_CLAIM, {**CLAIM, "assignee_agent_key": None}, "payload.assignee_agent_key"),
        (Action.TASK_CLOSE, {**CLAIM, "status": "done"}, "payload.assignee"),
    ],
)
def test_what_no_call_makes_is_refused_by_its_field(
    action: Action, payload: Payload, named: str
) -> None:
    with pytest.raises(Malformed) as refused:
        prospects.check_form(action, payload, ADA)
    assert named in str(refused.value)


@pytest.mark.rule("P21")
def test_what_a_call_makes_can_be_asked_for() -> None:
    for action, payload in (
        (Action.TASK_CLAIM, CLAIM),
        (Action.TASK_OVERRIDE, HANDOFF),
        (Action.TASK_UPDATE, change_payload("task_3", status="blocked")),
    ):
        prospects.check_form(action, payload, ADA)
        prospects.check_form(action, payload, None)
    with pytest.raises(Malformed):
        prospects.check_form(Action.TASK_CLAIM, change_payload("task_3", status="assigned"), None)
    assert action_of(None) is Action.TASK_UPDATE


@pytest.mark.rule("P21")
def test_what_cannot_follow_any_more_is_not_approved() -> None:
    intent = approvals.propose(
        1, Action.TASK_CLAIM, CLAIM, by=ADA, standing=None, now=ADA.created_at
    )

    prospects.check_to_approve(intent, task(Status.ACCEPTED), None)
    prospects.check_to_approve(intent, None, None)
    with pytest.raises(IntentNotPossible, match=r"intent_1.*proposed -> assigned") as refused:
        prospects.check_to_approve(intent, task(Status.PROPOSED), None)
    assert isinstance(refused.value, LetAgentsError)
    assert "deny_board_intent(intent_id='intent_1')" in refused.value.remedy
