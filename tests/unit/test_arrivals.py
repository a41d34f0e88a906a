"""Which session who comes through a server gets, and what counts as a name."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import arrivals, fencing, sessions
from letagents.domain.errors import RegistrationConflict
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.names import name_key
from letagents.domain.sessions import Arrival, Predecessor, Seat
from letagents.domain.ticks import Tick
from letagents.testing.contracts.room_callers import arrival, passing_chat, secret

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ROOM = RoomId("workshop")
SECOND = timedelta(seconds=1)
LATELY, STALE = 99 * SECOND, 100 * SECOND


def seat_of(came: Arrival, name: str = "session_1") -> Seat:
    """Return the seat that an arrival once was given."""
    return sessions.seated(
        came,
        None,
        room_id=ROOM,
        session_id=SessionId(name),
        name=came.display_name,
        base_name=came.display_name,
        now=NOW,
        tick=Tick("boot", 1.0),
    )


def of(came: Arrival, account: str = "a", after: Seat | None = None, token: int = 1) -> Arrival:
    """Return `came` as it comes through a server, following the seat that `token` opened."""
    before = Predecessor(after.session.session_id, secret(token)) if after else None
    return attrs.evolve(came, account=account, predecessor=before)


WORKER = seat_of(of(arrival(1, 1)))
CHAT = seat_of(of(passing_chat(1)))


@pytest.mark.rule("E30")
def test_a_worker_gets_its_session_with_the_secret_of_the_one_before() -> None:
    back = of(arrival(1, 2), after=WORKER)

    assert arrivals.place_of_worker(back, WORKER, "a").seat == WORKER
    assert arrivals.place_of_worker(of(arrival(1, 1)), WORKER, "a").is_confirmed
    assert arrivals.place_of_worker(of(arrival(1, 1)), None, None).seat is None


@pytest.mark.rule("E30")
@pytest.mark.parametrize(
    ("came", "seat", "account"),
    [
        (of(arrival(1, 2)), WORKER, "a"),
        (of(arrival(1, 2), after=WORKER, token=7), WORKER, "a"),
        (of(arrival(1, 2), after=WORKER), WORKER, "another's"),
        (attrs.evolve(of(arrival(1, 2)), insists=True), WORKER, "another's"),
        (of(arrival(1, 1), account="another's"), WORKER, "a"),
        (of(arrival(1, 2), after=WORKER), None, None),
    ],
    ids=["no proof", "a wrong one", "another's", "insists", "the same secret", "nothing to prove"],
)
def test_a_worker_that_proves_nothing_gets_no_session(
    came: Arrival, seat: Seat | None, account: str | None
) -> None:
    with pytest.raises(RegistrationConflict):
        arrivals.place_of_worker(came, seat, account)


@pytest.mark.rule("E30")
def test_a_worker_whose_room_was_put_back_may_insist() -> None:
    lost = attrs.evolve(of(arrival(1, 2), after=WORKER), insists=True)

    assert arrivals.place_of_worker(lost, None, None).seat is None
    assert arrivals.place_of_worker(lost, seat_of(of(arrival(1, 9))), "a").seat is not None


@pytest.mark.rule("E31")
def test_a_process_gets_its_session_again_by_proof_or_by_its_silence() -> None:
    proven = of(passing_chat(2), after=CHAT)
    other = seat_of(of(passing_chat(5)), "session_2")

    assert arrivals.place_of_process(proven, [CHAT], None, [SECOND]).seat == CHAT
    assert arrivals.place_of_process(of(passing_chat(2)), [CHAT], None, [STALE]).seat == CHAT
    both = arrivals.place_of_process(proven, [other, CHAT], None, [STALE, SECOND])
    assert (both.seat, both.ended) == (CHAT, (other,))
    latest = arrivals.place_of_process(of(passing_chat(2)), [other, CHAT], None, [STALE, 2 * STALE])
    assert (latest.seat, latest.ended) == (other, (CHAT,))


@pytest.mark.rule("E31")
def test_a_process_that_makes_its_secret_gets_a_new_session_instead() -> None:
    made = arrivals.place_of_process(of(passing_chat(2)), [CHAT], None, [LATELY])

    assert (made.seat, made.ended) == (None, (CHAT,))
    assert arrivals.place_of_process(of(passing_chat(1)), [CHAT], CHAT, [LATELY]).is_confirmed


@pytest.mark.rule("E31")
def test_the_successor_of_a_killed_supervisor_gets_the_same_session() -> None:
    insists = attrs.evolve(of(passing_chat(2)), insists=True)

    assert arrivals.place_of_process(insists, [CHAT], None, [LATELY]).seat == CHAT


@pytest.mark.rule("E31")
def test_a_process_that_proves_nothing_while_another_is_there_is_refused() -> None:
    asked = attrs.evolve(of(passing_chat(2)), makes_its_secret=False)
    other = seat_of(of(passing_chat(5)), "session_2")

    with pytest.raises(RegistrationConflict):
        arrivals.place_of_process(asked, [CHAT], None, [LATELY])
    with pytest.raises(RegistrationConflict):
        arrivals.place_of_process(
            attrs.evolve(of(passing_chat(2), after=CHAT), makes_its_secret=False),
            [CHAT, other],
            None,
            [LATELY, LATELY],
        )


@pytest.mark.rule("E32")
@pytest.mark.parametrize(
    ("asked", "base", "name"),
    [
        ("MossDawn", "MossDawn", "MossDawn"),
        ("MossDawn 1", "MossDawn", "MossDawn"),
        ("MossDawn 1 12", "MossDawn", "MossDawn"),
        ("MossDawn 1", None, "MossDawn 1"),
        ("MossDawn1", "MossDawn", "MossDawn1"),
        ("Unit 7", "MossDawn", "Unit 7"),
        ("", "MossDawn", "MossDawn"),
    ],
)
def test_only_the_digits_after_ones_own_name_are_no_part_of_it(
    asked: str, base: str | None, name: str
) -> None:
    assert arrivals.base_of(asked, base) == name


@pytest.mark.rule("E32")
@pytest.mark.parametrize(
    ("name", "is_generic"),
    [
        ("", True),
        ("Codex", True),
        ("claude_agent", True),
        ("Local-Worker", True),
        ("My Program", True),
        ("MossDawn", False),
        ("Codex Moss", False),
    ],
)
def test_a_name_of_programs_is_no_name(name: str, is_generic: bool) -> None:
    assert arrivals.is_generic(name, "My Program") is is_generic


@pytest.mark.rule("E36")
def test_the_end_of_a_key_is_a_name() -> None:
    assert arrivals.key_name("ada/moss-dawn") == name_key("Moss-Dawn")


def test_what_ends_a_session_from_outside_is_no_sign_of_it() -> None:
    over = sessions.displaced(WORKER, now=NOW + SECOND)

    assert not over.is_live
    assert over.session.last_seen_at == NOW
    assert sessions.displaced(over, now=NOW + STALE) == over
    assert fencing.proves(Token(secret(1).value), over.standing)
