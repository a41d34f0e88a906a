"""What goes over HTTP of a board comes back as it was; another server's words are understood."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.arbitrary import WORDS, of, several
from tests.unit.test_board_forms import lease_view
from tests.unit.test_leases import LEASE
from tests.unit.test_tasks import ADA, artifact, task

from letagents.domain.board import (
    Handoff,
    History,
    LeaseMoved,
    LeaseView,
    Release,
    ReviewAssign,
    ReviewClaim,
    TaskPage,
    TaskView,
)
from letagents.domain.errors import Malformed
from letagents.domain.events import Event
from letagents.domain.ids import RoomId
from letagents.domain.intents import Approval
from letagents.domain.leases import Lease
from letagents.domain.locks import Lock
from letagents.domain.tasks import Artifact, Assignee, Patch, Proposal, Status, Task
from letagents.domain.verdicts import Record, Verdict, VerdictKind
from letagents.wire.http import board, board_asks, leases
from letagents.wire.http.reading import Fields, Unreadable

Action = Release | Handoff | ReviewClaim | ReviewAssign

ROOM = RoomId("workshop")
MAYBE = st.none() | WORDS
ARTIFACTS = of(
    Artifact,
    id=MAYBE,
    title=MAYBE,
    url=st.none() | st.just("https://example.com/1"),
    ref=MAYBE,
    state=MAYBE,
)
MANY_ARTIFACTS = several(ARTIFACTS)
LEASES, LOCKS, EVENTS = of(Lease), of(Lock), of(Event)
VIEWS = of(
    TaskView,
    task=of(Task, artifacts=MANY_ARTIFACTS),
    leases=several(of(LeaseView)),
    locks=several(LOCKS),
)
SHA = st.text("0123456789abcdef", min_size=40, max_size=40)
VERDICTS = of(Verdict, head_sha=SHA, key=WORDS, body=WORDS)
PATCHES = of(
    Patch,
    pr_url=st.sampled_from([None, "", "https://example.com/pull/1"]),
    artifacts=st.none() | MANY_ARTIFACTS,
    assignee=st.none() | of(Assignee) | st.just(Assignee("")),
)
ACTIONS = st.one_of(
    [of(one, reason=MAYBE) for one in (Release, Handoff, ReviewClaim, ReviewAssign)]
)
FEW = settings(max_examples=30)


def sent(document: object) -> object:
    """Return a document as it arrives."""
    return orjson.loads(orjson.dumps(document))


@FEW
@given(VIEWS)
def test_a_task_comes_back_as_it_was(view: TaskView) -> None:
    assert board.view(sent(board.plain(view, ROOM))) == view


@FEW
@given(of(TaskPage, tasks=several(VIEWS), locks=several(LOCKS)))
def test_a_page_of_the_board_comes_back_as_it_was(page: TaskPage) -> None:
    assert board.page(sent(board.plain_page(page, ROOM))) == page


@FEW
@given(of(History, view=VIEWS, events=several(EVENTS)))
def test_what_happened_comes_back_as_it_was(history: History) -> None:
    assert board.history(sent(board.plain_history(history, ROOM))) == history


@FEW
@given(
    of(LeaseMoved, view=VIEWS),
    st.sampled_from(["lease", "new_lease"]),
)
def test_what_became_of_a_lease_comes_back_as_it_was(moved: LeaseMoved, new: str) -> None:
    assert board.moved(sent(board.plain_moved(moved, ROOM, new=new))) == moved


@FEW
@given(of(Record, verdict=VERDICTS))
def test_a_verdict_comes_back_as_it_was(record: Record) -> None:
    assert board.record(sent(board.plain_record(record, ROOM)), record.verdict) == record


@FEW
@given(VERDICTS)
def test_a_verdict_is_asked_for_as_it_is_said(verdict: Verdict) -> None:
    assert board_asks.verdict(Fields(sent(board_asks.plain_verdict(verdict)))) == verdict


@FEW
@given(PATCHES)
def test_a_change_is_asked_for_as_it_is_meant(patch: Patch) -> None:
    read = board_asks.patch(Fields(sent(board_asks.plain_patch(patch))))

    assert read == patch


@FEW
@given(of(Proposal, title=WORDS, description=MAYBE, client_task_id=MAYBE))
def test_a_proposal_is_asked_for_as_it_is_meant(proposal: Proposal) -> None:
    assert board_asks.proposal(Fields(sent(board_asks.plain_proposal(proposal)))) == proposal


@FEW
@given(st.none() | of(Approval, intent_id=MAYBE).filter(lambda shown: shown != Approval()))
def test_an_approval_is_shown_as_it_is(approval: Approval | None) -> None:
    assert board_asks.approval(Fields(sent(board_asks.plain_approval(approval)))) == approval


@given(ACTIONS)
def test_what_is_to_become_of_a_lease_is_asked_for_as_it_is_meant(action: Action) -> None:
    read = Fields(sent(board_asks.plain_action(action)))

    if isinstance(action, Release | Handoff):
        assert board_asks.lease_action(read) == action
    if not isinstance(action, Handoff):
        assert board_asks.review_action(read) == action


@FEW
@given(st.none() | st.frozensets(st.sampled_from(Status)))
def test_where_a_task_has_to_stand_is_asked_for_as_it_is_meant(
    where: frozenset[Status] | None,
) -> None:
    assert board_asks.where(Fields(sent(board_asks.plain_where(where)))) == where


def test_another_servers_task_is_understood() -> None:
    lease = {
        "id": "tl_00ff",
        "task_id": "task_3",
        "kind": "work",
        "status": "active",
        "agent_key": "grace/ada",
        "agent_instance_id": None,
        "agent_session_id": None,
        "actor_label": "Ada",
        "epoch": 0,
        "expires_at": None,
        "created_at": "2030-01-01 00:00:00+00",
        "updated_at": "2030-01-01T00:00:00Z",
    }
    lock = {"id": "lock_00ff", "scope": "room", "reason": "policy", "created_at": "2030-01-01"}
    unknown = {"provider": "forge", "kind": "issue"}
    told = {
        "id": "task_3",
        "title": "mend the roof",
        "status": "assigned",
        "assignee": "Ada",
        "workflow_artifacts": [board.plain_artifact(artifact(number=7)), unknown],
        "created_at": "2030-01-01T00:00:00Z",
        "updated_at": "2030-01-01T00:00:00Z",
        "active_leases": [lease],
        "active_locks": [lock],
    }
    view = board.view(told)

    assert view.task.assignee == Assignee("Ada")
    assert view.task.artifacts == (artifact(number=7),)
    assert view.leases[0].lease.lease_id == "tl_00ff"
    assert (view.leases[0].is_held, view.leases[0].alive) == (True, None)
    assert view.locks[0].lock_id == "lock_00ff"
    assert leases.plain(view.leases[0].lease, ROOM)["id"] == "tl_00ff"


@pytest.mark.parametrize("field", ["id", "title", "status", "created_at", "active_leases"])
def test_what_is_no_task_is_not_taken_for_one(field: str) -> None:
    view = TaskView(task=task(Status.ASSIGNED, ADA), leases=(lease_view(),))
    told = board.plain(view, ROOM)

    with pytest.raises(Unreadable):
        board.view(told | {field: 7})


def test_another_servers_verdict_is_taken_as_said() -> None:
    said = Verdict(kind=VerdictKind.APPROVE, head_sha="0" * 40, key="k")
    kept = board.record({"task_id": "task_3", "effect": {"state": "queued"}}, said)

    assert (kept.verdict, kept.task_id) == (said, "task_3")
    with pytest.raises(Unreadable):
        board.record({"task_id": "task_3"}, said)


@pytest.mark.parametrize(
    ("read", "body", "said"),
    [
        (board_asks.lease_action, {"action": "x"}, "action must be one of: release, handoff."),
        (board_asks.lease_action, {"action": "handoff"}, "target_actor_key is required"),
        (board_asks.review_action, {}, "action must be one of: assign, claim, release."),
        (board_asks.proposal, {"title": " "}, "title and created_by are required."),
        (board_asks.patch, {"status": "x"}, "status must be one of"),
    ],
)  # fmt: skip
def test_a_malformed_request_is_refused_in_the_words_of_the_interface(
    read: object, body: dict[str, object], said: str
) -> None:
    with pytest.raises(Malformed, match=said):
        read(Fields(body))  # type: ignore[operator]  # each is a function of fields


def test_the_lease_of_the_examples_has_its_number() -> None:
    assert leases.lease(leases.plain(LEASE, ROOM)) == LEASE
