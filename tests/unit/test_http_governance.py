"""What goes over HTTP of approvals and claimed paths comes back as it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.arbitrary import WORDS, of, several
from tests.unit.test_http_board import ROOM, sent
from tests.unit.test_tasks import ADA, task

from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.errors import Malformed
from letagents.domain.governance import (
    BoardSettings,
    Candidate,
    Failover,
    Manager,
    RuntimeSource,
)
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.intents import Action, create_payload
from letagents.domain.leases import Lease, LeaseKind
from letagents.domain.path_claims import ClaimView, PathClaim, Wanted, patterns_of
from letagents.domain.tasks import Status
from letagents.wire.http import governance, path_claims
from letagents.wire.http.reading import Fields, Unreadable

FEW = settings(max_examples=30)
MAYBE = st.none() | WORDS
PAYLOADS = st.dictionaries(WORDS, MAYBE, max_size=4)
CLAIMS = of(PathClaim, lease=of(Lease, kind=st.just(LeaseKind.PATHS)), patterns=several(WORDS))
NOTICES = {"reaches": "target_agent_session_id"}


@FEW
@given(of(BoardSettings))
def test_how_a_board_is_governed_comes_back_as_it_was(governed: BoardSettings) -> None:
    assert governance.settings(sent(governance.plain_settings(governed, ROOM))) == governed


@FEW
@given(of(Manager))
def test_an_assignment_comes_back_as_it_was(manager: Manager) -> None:
    assert governance.manager(sent(governance.plain_manager(manager, ROOM))) == manager


@FEW
@given(of(Intent, payload=PAYLOADS, token_digest=st.none()))
def test_an_intent_comes_back_as_it_was(intent: Intent) -> None:
    assert governance.intent(sent(governance.plain_intent(intent, ROOM))) == intent


@pytest.mark.parametrize("is_there", [True, False, None])
def test_a_worker_that_could_manage_comes_back_as_it_was(is_there: bool | None) -> None:
    one = Candidate(ADA, is_there)

    assert governance.candidate(sent(governance.plain_candidate(one))) == one


@FEW
@given(of(ClaimView, claim=CLAIMS))
def test_a_claim_comes_back_as_it_was(view: ClaimView) -> None:
    assert path_claims.view(sent(path_claims.plain_view(view, ROOM))) == view


@FEW
@given(
    of(
        Wanted,
        task_id=st.just("task_3"),
        patterns=st.lists(WORDS, min_size=1, max_size=3).map(patterns_of),
    )
)
def test_a_claim_is_asked_for_as_it_is_meant(wanted: Wanted) -> None:
    assert path_claims.wanted(Fields(sent(path_claims.plain_wanted(wanted)))) == wanted


@FEW
@given(st.none() | WORDS.map(SessionId), st.none() | st.integers(1, 99).map(MessageId))
def test_what_was_told_comes_back_as_it_was(
    to: SessionId | None, message_id: MessageId | None
) -> None:
    plain = sent(governance.plain_told(to, message_id, **NOTICES))

    assert governance.told(Fields(plain), **NOTICES) == (to, message_id)
    assert governance.told(None, **NOTICES) == (None, None)


def test_another_servers_intent_and_manager_are_understood() -> None:
    told = {
        "id": "bi_00ff",
        "action_type": "task_create",
        "payload": dict(create_payload("mend the roof")),
        "status": "pending",
        "proposer_actor_label": "Ada",
        "expires_at": "2030-01-02T00:00:00Z",
        "created_at": "2030-01-01T00:00:00Z",
        "updated_at": "2030-01-01T00:00:00Z",
    }
    intent = governance.intent(told)
    assigned = {
        "id": "bm_00ff",
        "agent_session_id": "agent_session_7",
        "agent_key": "grace/ada",
        "runtime_source": "a new one",
        "status": "active",
        "created_at": "2030-01-01T00:00:00Z",
        "updated_at": "2030-01-01T00:00:00Z",
    }
    manager = governance.manager(assigned)
    board = governance.settings({"manager_mode": "off"})

    assert (intent.intent_id, intent.action) == ("bi_00ff", Action.TASK_CREATE)
    assert intent.proposer is not None
    assert (intent.proposer.actor_label, intent.proposer.agent_key) == ("Ada", "")
    assert (manager.manager_id, manager.runtime_source) == ("bm_00ff", RuntimeSource.UNKNOWN)
    assert (board.manager_failover, board.created_at) == (Failover.AUTO, None)
    with pytest.raises(Unreadable, match="payload"):
        governance.intent({**told, "payload": None})


def test_what_came_of_an_approval_is_told() -> None:
    made = task(Status.PROPOSED)
    intent = governance.intent(
        {
            "id": "intent_1",
            "action_type": "task_create",
            "payload": {"title": "mend the roof"},
            "status": "approved",
            "expires_at": "2030-01-02T00:00:00Z",
            "created_at": "2030-01-01T00:00:00Z",
            "updated_at": "2030-01-01T00:00:00Z",
        }
    )
    created = governance.plain_result(intent, ROOM, made, has_token=False)
    token = governance.plain_result(intent, ROOM, None, has_token=True)
    again = governance.plain_result(intent, ROOM, None, has_token=False)

    assert intent.status is IntentStatus.APPROVED
    assert governance.created(Fields({"result": created})) == made
    assert governance.created(Fields({"result": token})) is None
    assert governance.created(Fields({})) is None
    assert [one["kind"] for one in (created, token, again)] == [
        "task_created",
        "approval_token",
        "approval_recorded",
    ]
    assert token["requires_follow_up"]
    assert again["requires_follow_up"]


def test_a_payload_that_is_no_object_is_refused_in_the_words_of_the_interface() -> None:
    with pytest.raises(Malformed, match="payload must be an object"):
        governance.asked_payload(Fields({"payload": "title"}))
