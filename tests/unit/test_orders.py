"""The words with which a person moves a task."""

import attrs
import pytest
from tests.unit.test_tasks import BOB, session, task

from letagents.domain import orders, targets
from letagents.domain.ids import SessionId
from letagents.domain.moves import WrongStatus
from letagents.domain.orders import Order
from letagents.domain.sessions import SessionKind
from letagents.domain.targets import TargetSessionRequired, UnknownTarget
from letagents.domain.tasks import MOVES, InvalidTransition, Status


@pytest.mark.rule("T60")
def test_the_words_are_the_moves_of_the_table_but_for_claims_and_reviewers() -> None:
    said = [(before, orders.TO[one]) for one in Order for before in orders.places(one)]
    moves = {
        (before, after)
        for before, allowed in MOVES.items()
        for after in allowed
        if after is not Status.ASSIGNED
    }

    assert len(said) == len(set(said)), "one word for each move"
    assert set(said) == moves - {(Status.IN_REVIEW, Status.BLOCKED)}


@pytest.mark.rule("T60", "T62")
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.PROPOSED, "accept cancel"),
        (Status.ACCEPTED, "cancel assign"),
        (Status.BLOCKED, "cancel start submit assign release"),
        (Status.IN_REVIEW, "cancel start merged done assign release"),
        (Status.MERGED, "reopen done"),
        (Status.DONE, "reopen"),
    ],
)
def test_where_a_task_stands_says_which_words_are_open(status: Status, words: str) -> None:
    assert " ".join(orders.open_words(status)) == words


@pytest.mark.rule("T61")
def test_a_word_that_comes_too_late_is_told_apart_from_one_that_never_fits() -> None:
    done = task(Status.DONE)
    accepting = orders.places(Order.ACCEPT)

    with pytest.raises(WrongStatus, match="is done, and not proposed"):
        orders.check_place(done, Status.ACCEPTED, accepting)
    with pytest.raises(InvalidTransition, match="done -> cancelled"):
        orders.check_place(done, Status.CANCELLED, orders.places(Order.CANCEL))
    with pytest.raises(WrongStatus, match="is done, and not accepted or assigned"):
        orders.check_place(done, None, {Status.ASSIGNED, Status.ACCEPTED})
    orders.check_place(task(Status.PROPOSED), Status.ACCEPTED, accepting)


@pytest.mark.rule("T52")
def test_a_person_means_a_worker_by_name_key_or_session() -> None:
    eve = session("Eve")
    grace = attrs.evolve(eve, display_name="Grace", kind=SessionKind.PERSON)
    there = [BOB, eve, grace]

    for said in (BOB.display_name, f" @{BOB.display_name.upper()} ", BOB.agent_key,
                 str(BOB.session_id)):  # fmt: skip
        assert targets.named(said, there) == BOB
    with pytest.raises(UnknownTarget, match="'Grace' is no worker") as nobody:
        targets.named("Grace", there)
    assert nobody.value.remedy == f"Name one of these: {BOB.display_name}, Eve."
    with pytest.raises(UnknownTarget) as empty:
        targets.named("Eve", [grace])
    assert empty.value.remedy == "Let an agent join it first."
    twin = attrs.evolve(eve, session_id=SessionId("session-twin"))
    with pytest.raises(TargetSessionRequired, match="2 workers") as several:
        targets.named("eve", [*there, twin])
    assert str(twin.session_id) in several.value.remedy
