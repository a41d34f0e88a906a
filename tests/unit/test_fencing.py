"""Whether a connection may still act."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import fencing
from letagents.domain.errors import (
    ConnectionLost,
    ConnectionReplaced,
    NotConnected,
    SessionEnded,
)
from letagents.domain.fencing import Fence, Refusal, Standing
from letagents.domain.ids import RoomId, SessionId, Token

ROOM = RoomId("workshop")
SECRET = Token("s" * 43)
OTHER = Token("o" * 43)
FENCE = Fence(SessionId("local_1"), 3, SECRET)
STANDING = Standing(SessionId("local_1"), 3, fencing.digest(SECRET))
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
WORKER = "worker_" + "0" * 32


def test_the_newest_connection_is_admitted() -> None:
    assert fencing.refusal(FENCE, STANDING) is None
    fencing.admit(FENCE, STANDING, worker="worker", room_id=ROOM)


@pytest.mark.rule("F1")
@pytest.mark.parametrize("generation", [2, 4])
def test_an_older_and_a_newer_generation_are_refused_alike(generation: int) -> None:
    standing = attrs.evolve(STANDING, generation=generation)

    assert fencing.refusal(FENCE, standing) is Refusal.REPLACED


@pytest.mark.rule("F2")
def test_the_generation_alone_opens_nothing() -> None:
    assert fencing.refusal(attrs.evolve(FENCE, token=OTHER), STANDING) is Refusal.UNPROVEN
    assert fencing.proves(SECRET, STANDING)
    assert not fencing.proves(OTHER, STANDING)


@pytest.mark.rule("F4")
def test_a_fence_without_a_generation_is_judged_by_its_secret() -> None:
    fence = attrs.evolve(FENCE, generation=fencing.UNNUMBERED)

    assert fencing.refusal(fence, STANDING) is None
    assert fencing.refusal(fence, attrs.evolve(STANDING, generation=4)) is None
    assert fencing.refusal(attrs.evolve(fence, token=OTHER), STANDING) is Refusal.UNPROVEN


@pytest.mark.rule("F3")
def test_an_ended_and_an_unknown_session_admit_nobody() -> None:
    ended = attrs.evolve(STANDING, ended_at=NOON)
    elsewhere = attrs.evolve(STANDING, session_id=SessionId("local_2"))

    assert fencing.refusal(FENCE, ended) is Refusal.ENDED
    assert fencing.refusal(FENCE, None) is Refusal.UNKNOWN
    assert fencing.refusal(FENCE, elsewhere) is Refusal.UNKNOWN


def test_whoever_was_replaced_is_told_so_even_when_the_session_has_ended() -> None:
    standing = attrs.evolve(STANDING, generation=4, ended_at=NOON)

    assert fencing.refusal(FENCE, standing) is Refusal.REPLACED


@pytest.mark.parametrize(
    ("standing", "error"),
    [
        (None, NotConnected),
        (attrs.evolve(STANDING, generation=4), ConnectionReplaced),
        (attrs.evolve(STANDING, token_digest=fencing.digest(OTHER)), ConnectionReplaced),
        (attrs.evolve(STANDING, ended_at=NOON), SessionEnded),
    ],
)
def test_each_refusal_is_an_error_of_its_own_that_names_the_next_call(
    standing: Standing | None, error: type[ConnectionLost]
) -> None:
    with pytest.raises(error) as told:
        fencing.admit(FENCE, standing, worker=WORKER if standing else None, room_id=ROOM)

    assert "register_agent_session" in told.value.remedy
    assert str(ROOM) in told.value.happened
    assert (WORKER if standing else "local_1") in told.value.happened


@pytest.mark.parametrize("worker", [None, "process-1", "local_1"])
def test_only_a_worker_is_named_where_a_worker_id_belongs(worker: str | None) -> None:
    with pytest.raises(NotConnected) as refused:
        fencing.admit(FENCE, None, worker=worker, room_id=ROOM)

    told = refused.value
    assert told.remedy == f"Call register_agent_session(room_id='{ROOM}') first."
    assert str(told.again()) == str(told)
    of_worker = told.of_worker(WORKER)
    assert f"worker_id='{WORKER}'" in of_worker.remedy
    assert "local_1" not in str(of_worker)


@pytest.mark.rule("F2")
def test_two_secrets_are_one_only_if_they_are_alike() -> None:
    assert fencing.same(SECRET, Token("s" * 43))
    assert not fencing.same(SECRET, OTHER)


def test_a_hold_is_one_wherever_it_is_shown_from_and_another_by_any_part_of_the_fence() -> None:
    elsewhere = attrs.evolve(FENCE, origin=ROOM)
    others = [
        attrs.evolve(FENCE, token=OTHER),
        attrs.evolve(FENCE, generation=4),
        attrs.evolve(FENCE, session_id=SessionId("local_2")),
    ]

    assert fencing.is_one_hold(FENCE, elsewhere)
    assert not any(fencing.is_one_hold(FENCE, other) for other in others)


def test_a_digest_does_not_hold_the_secret() -> None:
    assert SECRET.value not in repr(STANDING)
    assert SECRET.value not in repr(FENCE)
