"""A worker's place in a room."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import codenames, fencing, sessions
from letagents.domain.errors import NameTaken, RegistrationConflict
from letagents.domain.ids import RoomId, SessionId, Token, WorkerId
from letagents.domain.names import name_key
from letagents.domain.sessions import Arrival, Host, Predecessor, Seat, SessionKind

ROOM = RoomId("workshop")
WORKER = WorkerId("worker_" + "1" * 32)
PLACE = sessions.lasting_session_id(WORKER, ROOM)
FIRST, SECOND, THIRD = (Token(letter * 43) for letter in "abc")
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)

ARRIVAL = Arrival(
    token=FIRST,
    agent_key="ada/worker-1",
    instance_id=str(WORKER),
    display_name="Juniper",
    owner_label="Ada",
    ide_label="Codex",
    runtime="codex",
    worker_id=WORKER,
)


def arrive(
    arrival: Arrival = ARRIVAL,
    seat: Seat | None = None,
    *,
    taken: frozenset[str] = frozenset(),
    now: datetime = NOON,
) -> Seat:
    return sessions.arrive(arrival, seat, room_id=ROOM, session_id=PLACE, taken=taken, now=now)


def follow(token: Token, before: Token) -> Arrival:
    return attrs.evolve(ARRIVAL, token=token, predecessor=Predecessor(PLACE, before))


def test_a_workers_place_in_a_room_is_the_same_on_every_machine() -> None:
    assert str(PLACE) == (
        "local_" + "bf2af932549e600b771867a734da3199229c7dc53e790927857a6d0cc92a7dd8"
    )
    assert sessions.lasting_session_id(WORKER, RoomId("other")) != PLACE


def test_a_first_arrival_opens_a_session_of_the_first_generation() -> None:
    seat = arrive()

    assert seat.standing.generation == 1
    assert fencing.proves(FIRST, seat.standing)
    assert seat.session.session_id == PLACE
    assert seat.session.display_name == "Juniper"
    assert seat.session.actor_label == "Juniper | Ada's agent | Codex"
    assert seat.session.created_at == seat.session.last_seen_at == NOON
    assert seat.is_live


@pytest.mark.rule("E1", "E2")
def test_a_worker_that_returns_finds_its_name_and_its_beginning() -> None:
    before = arrive()
    moved = attrs.evolve(
        follow(SECOND, FIRST),
        display_name="Other",
        ide_label="Cursor",
        repo_branch="main",
        host=Host(label="Laptop"),
    )
    after = arrive(moved, before, now=LATER)

    assert after.standing.generation == 2
    assert after.session == attrs.evolve(
        before.session,
        ide_label="Cursor",
        actor_label="Juniper | Ada's agent | Cursor",
        repo_branch="main",
        host=Host(label="Laptop"),
        updated_at=LATER,
        last_seen_at=LATER,
    )


@pytest.mark.rule("E2")
def test_the_same_secret_again_changes_nothing() -> None:
    before = arrive()

    assert arrive(ARRIVAL, before, now=LATER) is before


@pytest.mark.rule("E3")
@pytest.mark.parametrize(
    "arrival", [attrs.evolve(ARRIVAL, token=SECOND), follow(SECOND, THIRD)], ids=["none", "other"]
)
def test_an_arrival_that_does_not_follow_the_holder_is_in_conflict(arrival: Arrival) -> None:
    with pytest.raises(RegistrationConflict):
        arrive(arrival, arrive())


@pytest.mark.rule("E3")
def test_who_was_followed_cannot_be_followed_again() -> None:
    second = arrive(follow(SECOND, FIRST), arrive())

    with pytest.raises(RegistrationConflict):
        arrive(follow(THIRD, FIRST), second)
    assert arrive(follow(THIRD, SECOND), second).standing.generation == 3


@pytest.mark.rule("E2", "E3")
def test_who_insists_takes_over_whoever_holds_it() -> None:
    insisting = attrs.evolve(ARRIVAL, token=SECOND, insists=True)
    before = arrive()

    after = arrive(insisting, before, now=LATER)

    assert after.session.session_id == before.session.session_id
    assert after.session.display_name == before.session.display_name
    assert after.standing.generation == before.standing.generation + 1


@pytest.mark.rule("E4")
def test_a_taken_name_is_replaced_by_a_codename() -> None:
    seat = arrive(taken=frozenset({"juniper"}))

    assert seat.session.display_name == codenames.replacement_name("ada/worker-1", {"juniper"})
    assert seat.session.base_name == "Juniper"
    assert seat.session.actor_label.startswith(seat.session.display_name)


@pytest.mark.rule("E4")
def test_a_name_is_kept_even_if_it_was_taken_meanwhile() -> None:
    again = arrive(follow(SECOND, FIRST), arrive(), taken=frozenset({"juniper"}))

    assert again.session.display_name == "Juniper"


@pytest.mark.rule("E4")
def test_where_every_name_is_taken_the_arrival_is_refused() -> None:
    every = {name_key(codenames.codename_at(at).display_name) for at in range(codenames.SPACE)}

    with pytest.raises(NameTaken):
        arrive(taken=frozenset({"juniper", *every}))


def test_a_person_keeps_their_name_and_speaks_under_it_alone() -> None:
    person = attrs.evolve(ARRIVAL, kind=SessionKind.PERSON, worker_id=None)
    seat = arrive(person, taken=frozenset({"juniper"}))

    assert seat.session.display_name == seat.session.actor_label == "Juniper"
    assert seat.session.kind.source == "browser"
    assert arrive().session.kind.source == "agent"


@pytest.mark.rule("E5")
@pytest.mark.parametrize("arrival", [ARRIVAL, follow(SECOND, FIRST)], ids=["same", "new"])
def test_an_ended_session_is_taken_up_again_under_a_new_generation(arrival: Arrival) -> None:
    ended = sessions.ended(arrive(), now=LATER)
    again = arrive(arrival, ended, now=LATER)

    assert again.is_live
    assert again.session.ended_at is None
    assert again.session.session_id == PLACE
    assert again.session.display_name == "Juniper"
    assert again.standing.generation == 2


@pytest.mark.rule("E5")
def test_an_ended_session_is_nobody_elses() -> None:
    ended = sessions.ended(arrive(), now=LATER)

    with pytest.raises(RegistrationConflict):
        arrive(attrs.evolve(ARRIVAL, token=SECOND), ended)


def test_a_session_ends_once() -> None:
    ended = sessions.ended(arrive(), now=NOON)

    assert ended.session.ended_at == ended.standing.ended_at == NOON
    assert not ended.is_live
    assert sessions.ended(ended, now=LATER) is ended


@pytest.mark.rule("E6")
def test_only_a_worker_without_a_handle_ends_its_earlier_sessions() -> None:
    passing = attrs.evolve(ARRIVAL, worker_id=None)

    assert passing.ends_earlier_sessions
    assert not ARRIVAL.ends_earlier_sessions
    assert not attrs.evolve(passing, kind=SessionKind.PERSON).ends_earlier_sessions
    assert not attrs.evolve(passing, kind=SessionKind.CONTROLLER).ends_earlier_sessions


def test_a_seat_gives_its_holder_the_fence_to_act_with() -> None:
    seat = arrive()
    held = seat.connection(FIRST)

    assert held.session is seat.session
    assert held.fence.session_id == SessionId(str(PLACE))
    assert fencing.refusal(held.fence, seat.standing) is None
