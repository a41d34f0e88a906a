"""The life of an intent, told everything."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import approvals, denials, spending
from letagents.domain.approvals import (
    APPROVAL_TERM,
    OPEN_LIMIT,
    OPEN_LIMIT_EACH,
    PENDING_TERM,
    Intent,
    IntentStatus,
    Standing,
    Voided,
)
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import Manager
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.intents import (
    Action,
    ApprovalToken,
    Payload,
    change_payload,
    create_payload,
    digest,
    lease_payload,
)
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.tasks import AdminRequired
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
TOKEN, OTHER = ApprovalToken("t" * 43), ApprovalToken("u" * 43)


def session(name: str, kind: SessionKind = SessionKind.WORKER, session_id: str = "") -> Session:
    return Session(
        session_id=SessionId(session_id or name),
        room_id=RoomId("workshop"),
        kind=kind,
        agent_key=f"grace/{name}",
        instance_id=name,
        display_name=name,
        base_name=name,
        owner_label="Grace",
        ide_label="Codex",
        runtime="codex",
        actor_label=f"{name} | Grace's agent | Codex",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
    )


ADA, BOB, PERSON = session("ada"), session("bob"), session("grace", SessionKind.PERSON)
ACCEPTED = Standing("accepted", "1")
CLAIM = change_payload("task_1", status="assigned", assignee="ada", assignee_agent_key="grace/ada")


def proposed(
    action: Action = Action.TASK_CLAIM,
    payload: Payload = CLAIM,
    by: Session | None = ADA,
    standing: Standing | None = ACCEPTED,
) -> Intent:
    return approvals.propose(1, action, payload, by=by, standing=standing, now=NOW)


def approved(intent: Intent | None = None, now: datetime = NOW) -> Intent:
    intent = intent or proposed()
    return approvals.approve(
        intent, by="Bob", reason=None, token_digest=digest(TOKEN), standing=intent.standing, now=now
    )


def spend(
    intent: Intent,
    *,
    action: Action = Action.TASK_CLAIM,
    payload: Payload = CLAIM,
    by: Session = ADA,
    token: ApprovalToken | None = None,
    now: datetime = NOW,
    standing: Standing | None = ACCEPTED,
) -> Intent:
    return spending.spent(intent, action, payload, by=by, token=token, now=now, standing=standing)


def stands(intent: Intent, standing: Standing | None = ACCEPTED, now: datetime = NOW) -> str:
    return approvals.as_it_stands(intent, now, standing).status.value


@pytest.mark.rule("P12")
def test_an_intent_lasts_a_day_and_its_approval_half_an_hour() -> None:
    assert stands(proposed(), now=NOW + PENDING_TERM - MOMENT) == "pending"
    assert stands(proposed(), now=NOW + PENDING_TERM) == "expired"
    late = approved(now=NOW + PENDING_TERM - MOMENT)
    assert stands(late, now=NOW + PENDING_TERM + APPROVAL_TERM - 2 * MOMENT) == "approved"
    assert stands(late, now=NOW + PENDING_TERM + APPROVAL_TERM) == "expired"


@pytest.mark.rule("P12")
def test_after_a_restart_of_the_machine_the_wall_clock_tells_what_is_over() -> None:
    intent = attrs.evolve(proposed(), counted_from=Tick("one", 100.0))
    day = PENDING_TERM.total_seconds()
    for now, tick, status in (
        (NOW - 9 * PENDING_TERM, Tick("one", 100.0 + day), "expired"),
        (NOW + 9 * PENDING_TERM, Tick("one", 99.0 + day), "pending"),
        (NOW, Tick("two", 2 * day), "pending"),
        (NOW + PENDING_TERM, Tick("two", 0.0), "expired"),
    ):
        assert approvals.as_it_stands(intent, now, ACCEPTED, tick).status.value == status


@pytest.mark.rule("P13")
def test_what_is_over_stays_as_it_is() -> None:
    for over in (
        approvals.used(approved(), NOW),
        approvals.deny(proposed(), by="Bob", reason=None, now=NOW),
        approvals.superseded(proposed(), Voided.MODE_CHANGED, NOW),
    ):
        assert approvals.as_it_stands(over, NOW + 2 * PENDING_TERM, None) == over
        with pytest.raises(LetAgentsError):
            spend(over)


@pytest.mark.rule("P13")
def test_an_approval_that_was_used_is_used() -> None:
    used = spend(approved())

    assert used.status is IntentStatus.USED
    with pytest.raises(denials.IntentNotApproved, match="is used, not approved"):
        spend(used)


@pytest.mark.rule("P16")
@pytest.mark.parametrize(
    ("action", "asked", "before", "after", "status"),
    [
        (Action.TASK_CLAIM, "assigned", "proposed", "accepted", "pending"),
        (Action.TASK_CLAIM, "assigned", "accepted", "proposed", "pending"),
        (Action.TASK_CLAIM, "assigned", "accepted", "assigned", "superseded"),
        (Action.TASK_CLAIM, "assigned", "accepted", "cancelled", "superseded"),
        (Action.TASK_CLAIM, "assigned", "assigned", "assigned", "pending"),
        (Action.TASK_CLOSE, "done", "in_progress", "in_review", "pending"),
        (Action.TASK_CLOSE, "done", "in_review", "merged", "pending"),
        (Action.TASK_CLOSE, "done", "in_review", "done", "superseded"),
        (Action.TASK_CLOSE, "merged", "in_review", "done", "superseded"),
        (Action.TASK_CLOSE, "cancelled", "in_review", "merged", "superseded"),
        (Action.TASK_OVERRIDE, "accepted", "proposed", "accepted", "superseded"),
    ],
)
def test_an_intent_is_void_once_its_task_moved_past_or_away(
    action: Action, asked: str, before: str, after: str, status: str
) -> None:
    payload = change_payload("task_1", status=asked)
    intent = proposed(action, payload, standing=Standing(before, "1"))

    assert stands(intent, Standing(before, "1")) == "pending"
    assert stands(intent, Standing(after, "2")) == status
    assert stands(intent, None) == "superseded"


@pytest.mark.rule("P16")
def test_an_approval_is_void_once_anything_of_its_task_changed() -> None:
    assert stands(approved(), Standing("accepted", "2")) == "superseded"
    with pytest.raises(denials.IntentTaskChanged):
        spend(approved(), standing=Standing("accepted", "2"))
    with pytest.raises(denials.IntentManagerChanged):
        spend(approvals.superseded(approved(), Voided.MODE_CHANGED, NOW))


@pytest.mark.rule("P16")
def test_a_release_of_a_lease_is_void_once_the_task_is_closed() -> None:
    intent = proposed(Action.TASK_OVERRIDE, lease_payload("task_1", "release"))

    assert stands(intent, Standing("assigned", "2")) == "pending"
    assert stands(intent, Standing("done", "3")) == "superseded"


@pytest.mark.rule("P14")
def test_an_approval_lets_nothing_else_through() -> None:
    other = {**CLAIM, "task_id": "task_2"}
    with pytest.raises(denials.IntentPayloadMismatch, match="another task_id"):
        spend(approved(), payload=other)
    with pytest.raises(denials.IntentActionMismatch):
        spend(approved(), action=Action.TASK_CLOSE)


@pytest.mark.rule("P15")
def test_an_approval_is_its_proposer_s() -> None:
    again = session("ada", session_id="another")
    assert spend(approved(), token=TOKEN).status is IntentStatus.USED
    assert spend(approved(), token=TOKEN, by=again).status is IntentStatus.USED
    with pytest.raises(denials.IntentWorkerMismatch):
        spend(approved(), by=again)
    for token in (None, TOKEN):
        with pytest.raises(denials.IntentWorkerMismatch):
            spend(approved(), by=BOB, token=token)
    with pytest.raises(denials.IntentTokenInvalid):
        spend(approved(), token=OTHER)


@pytest.mark.rule("P15")
def test_what_nobody_proposed_takes_the_token() -> None:
    nobodys = approved(proposed(by=None))

    assert spend(nobodys, token=TOKEN, by=BOB).status is IntentStatus.USED
    with pytest.raises(denials.IntentWorkerUnverified):
        spend(nobodys)
    without_token = attrs.evolve(approved(), token_digest=None)
    with pytest.raises(denials.IntentTokenInvalid):
        spend(without_token, token=TOKEN)


@pytest.mark.rule("P17")
def test_a_repetition_finds_what_is_open() -> None:
    opened = [proposed(by=BOB), proposed()]

    assert approvals.repeated(opened, Action.TASK_CLAIM, CLAIM, ADA) is opened[1]
    assert approvals.repeated(opened, Action.TASK_CLOSE, CLAIM, ADA) is None
    assert approvals.repeated(opened, Action.TASK_CLAIM, CLAIM, None) is None


@pytest.mark.rule("P18")
def test_a_decision_can_be_made_once_and_repeated() -> None:
    denied = approvals.deny(proposed(), by="Bob", reason=None, now=NOW)

    assert approvals.to_decide(proposed(), "intent_1", approving=True) == proposed()
    assert approvals.to_decide(approved(), "intent_1", approving=True) is None
    assert approvals.to_decide(denied, "intent_1", approving=False) is None
    for intent, approving in ((denied, True), (approved(), False), (None, True)):
        with pytest.raises(denials.IntentNotFound):
            approvals.to_decide(intent, "intent_1", approving=approving)


@pytest.mark.rule("P20")
def test_the_manager_and_admins_decide() -> None:
    manager = Manager(
        number=1,
        session_id=BOB.session_id,
        agent_key=BOB.agent_key,
        actor_label=BOB.actor_label,
        assigned_by="Grace",
        assigned=Tick("boot", 0),
        created_at=NOW,
        updated_at=NOW,
    )

    approvals.check_decider(BOB, manager, is_admin=False)
    approvals.check_decider(PERSON, manager, is_admin=True)
    approvals.check_decider(None, None, is_admin=True)
    for by, known in ((ADA, manager), (BOB, None)):
        with pytest.raises(denials.NotTheManager):
            approvals.check_decider(by, known, is_admin=True)
    with pytest.raises(AdminRequired):
        approvals.check_decider(PERSON, manager, is_admin=False)


def test_only_so_many_can_be_open() -> None:
    approvals.check_room_for_more(OPEN_LIMIT - 1, OPEN_LIMIT_EACH - 1)
    for everybody, own in ((OPEN_LIMIT, 0), (OPEN_LIMIT_EACH, OPEN_LIMIT_EACH)):
        with pytest.raises(denials.TooManyIntents):
            approvals.check_room_for_more(everybody, own)


@pytest.mark.rule("P19")
def test_each_refusal_has_a_code_of_its_own_and_names_a_call() -> None:
    refusals = [
        one
        for one in vars(denials).values()
        if isinstance(one, type) and issubclass(one, LetAgentsError) and one is not LetAgentsError
    ]
    codes = {one.code for one in refusals}

    assert codes == {
        "board_intent_required", "board_intent_not_found", "board_intent_expired",
        "board_intent_not_approved", "board_intent_action_mismatch",
        "board_intent_payload_mismatch", "board_intent_token_invalid",
        "board_intent_worker_mismatch", "board_intent_worker_unverified",
        "board_intent_task_changed", "board_intent_manager_changed", "board_manager_mode_off",
        "board_manager_required", "board_intents_full", "board_intent_not_possible",
    }  # fmt: skip
    asked = spending.required(Action.TASK_CREATE, create_payload("Tabs"), None)
    assert "register_task_create_intent(title='Tabs')" in asked.remedy
    assert (
        "board_intent_id='intent_1'"
        in spending.required(Action.TASK_CLAIM, CLAIM, approved()).remedy
    )
    assert "wait_for_messages" in spending.required(Action.TASK_CLAIM, CLAIM, proposed()).remedy
    assert "update" not in denials.ManagerModeOff().remedy
    assert "board_intent_id" in denials.ManagerModeOff().remedy
