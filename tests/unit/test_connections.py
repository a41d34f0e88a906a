"""How a session changes hands, as this machine writes it down."""

import itertools
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import connections
from letagents.domain.connections import MOVES, REFUSED, Move, Phase
from letagents.domain.errors import (
    ConnectionReplaced,
    NotConnected,
    RegistrationConflict,
    SessionEnded,
    UnknownWorker,
)
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.local_state import LocalState, StoredSession, Worker, with_context
from letagents.testing.determinism import CountingIds

IDS = CountingIds()
WORKER, STRANGER = IDS.worker_id(), IDS.worker_id()
OLD, NEW, OTHER = IDS.token(), IDS.token(), IDS.token()
ROOM, ELSEWHERE = RoomId("workshop"), RoomId("elsewhere")
SESSION = SessionId("local_session")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
NOBODY = LocalState(workers={WORKER: Worker(WORKER, "scope", "hash", "Juniper")})


def stored(token: Token, *, ended_at: datetime | None = None) -> StoredSession:
    return StoredSession(
        session_id=str(SESSION),
        session_token=token,
        room_id=str(ROOM),
        agent_instance_id=str(WORKER),
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
        ended_at=ended_at,
    )


def begun(state: LocalState, token: Token, operation: str = "mine") -> LocalState:
    return connections.begin(state, WORKER, ROOM, operation_id=operation, token=token)[0]


def settled(state: LocalState, token: Token, operation: str = "mine") -> LocalState:
    return connections.finish(state, WORKER, ROOM, operation_id=operation, session=stored(token))


LIVE = settled(begun(NOBODY, OLD), OLD)
ENDED = connections.end_session(LIVE, SESSION, now=LATER, token=OLD)[0]
IN_PHASE = {
    Phase.ABSENT: NOBODY,
    Phase.PREPARED: begun(LIVE, NEW),
    Phase.LEFT_OVER: begun(LIVE, NEW, "a dead process's"),
    Phase.LIVE: LIVE,
    Phase.ENDED: ENDED,
}


def moved(state: LocalState, move: Move) -> LocalState:
    if move is Move.PREPARE:
        return begun(state, NEW)
    if move is Move.CONFIRM:
        return settled(state, NEW)
    if move is Move.TAKE_ON:
        return connections.take_on(state, WORKER, ROOM, operation_id="mine")[0]
    return connections.end_session(state, SESSION, now=LATER, token=OLD)[0]


def test_a_session_that_is_taken_over_keeps_where_its_supervisor_is() -> None:
    known = with_context(LIVE, str(SESSION), "/work")

    assert settled(begun(known, NEW), NEW).sessions[str(SESSION)].supervisor_context_cwd == "/work"


def phase_of(state: LocalState) -> Phase:
    return connections.phase(state, WORKER, ROOM, operation_id="mine")


def test_every_move_in_every_phase_was_decided_on_purpose() -> None:
    assert set(MOVES) | REFUSED == set(itertools.product(Phase, Move))
    assert not set(MOVES) & REFUSED


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_is_seen_as_what_it_is(phase: Phase) -> None:
    assert phase_of(IN_PHASE[phase]) is phase


@pytest.mark.parametrize(("phase", "move"), MOVES)
def test_a_move_in_the_table_leads_where_the_table_says(phase: Phase, move: Move) -> None:
    assert phase_of(moved(IN_PHASE[phase], move)) is MOVES[phase, move]


@pytest.mark.parametrize(("phase", "move"), sorted(REFUSED, key=str))
def test_a_refused_move_changes_nothing(phase: Phase, move: Move) -> None:
    before = IN_PHASE[phase]
    if move in (Move.END, Move.TAKE_ON):
        assert moved(before, move) is before
    else:
        with pytest.raises(RegistrationConflict):
            moved(before, move)


@pytest.mark.rule("C1")
def test_a_second_operation_waits_for_the_first_to_be_settled() -> None:
    with pytest.raises(RegistrationConflict) as refused:
        begun(begun(NOBODY, OLD, "first"), NEW, "second")

    assert f"register_agent_session(worker_id='{WORKER}'" in refused.value.remedy


@pytest.mark.rule("C2")
def test_an_operation_names_the_stored_session_and_its_secret_as_what_it_follows() -> None:
    _, first = connections.begin(NOBODY, WORKER, ROOM, operation_id="mine", token=OLD)
    _, rotation = connections.begin(LIVE, WORKER, ROOM, operation_id="mine", token=NEW)
    _, comeback = connections.begin(ENDED, WORKER, ROOM, operation_id="mine", token=NEW)

    assert (first.predecessor_id, first.predecessor_token) == (None, None)
    assert (rotation.predecessor_id, rotation.predecessor_token) == (str(SESSION), OLD)
    assert (comeback.predecessor_id, comeback.predecessor_token) == (str(SESSION), OLD)


@pytest.mark.rule("C2")
def test_an_operation_follows_nothing_if_the_named_session_is_not_stored() -> None:
    forgotten = attrs.evolve(LIVE, sessions={})
    state, pending = connections.begin(forgotten, WORKER, ROOM, operation_id="mine", token=NEW)

    assert pending.predecessor_id is None
    assert connections.phase(forgotten, WORKER, ROOM) is Phase.ABSENT
    assert phase_of(state) is Phase.PREPARED


@pytest.mark.rule("C3")
def test_a_superseded_operation_settles_nothing() -> None:
    taken_over = begun(settled(begun(NOBODY, OLD, "slow"), OLD, "slow"), NEW, "quick")

    with pytest.raises(RegistrationConflict, match="went first"):
        settled(taken_over, OLD, "slow")
    with pytest.raises(RegistrationConflict, match="went first"):
        settled(settled(taken_over, NEW, "quick"), OLD, "slow")


@pytest.mark.rule("C4")
@pytest.mark.parametrize(
    "session",
    [
        stored(OTHER),
        attrs.evolve(stored(NEW), agent_instance_id=str(STRANGER)),
        attrs.evolve(stored(NEW), room_id=str(ELSEWHERE)),
    ],
    ids=["another secret", "another worker", "another room"],
)
def test_an_operation_is_not_settled_by_what_it_did_not_ask_for(session: StoredSession) -> None:
    state = begun(LIVE, NEW)

    with pytest.raises(RegistrationConflict, match="did not ask for"):
        connections.finish(state, WORKER, ROOM, operation_id="mine", session=session)


@pytest.mark.rule("C4")
def test_a_settled_operation_leaves_the_session_under_the_prepared_secret() -> None:
    state = settled(begun(LIVE, NEW), NEW)

    place = state.workers[WORKER].rooms[str(ROOM)]
    assert (place.session_id, place.pending) == (str(SESSION), None)
    assert state.sessions[str(SESSION)].session_token == NEW


@pytest.mark.rule("C5")
def test_what_was_left_over_is_taken_on_with_all_that_it_asked_for() -> None:
    left = connections.begin(LIVE, WORKER, ROOM, operation_id="another's", token=NEW)
    state, taken = connections.take_on(left[0], WORKER, ROOM, operation_id="mine")

    assert taken == attrs.evolve(left[1], operation_id="mine")
    assert connections.phase(settled(state, NEW), WORKER, ROOM) is Phase.LIVE


@pytest.mark.rule("C5")
def test_who_was_slow_settles_nothing_that_another_took_on() -> None:
    state = moved(begun(NOBODY, OLD, "slow"), Move.TAKE_ON)

    with pytest.raises(RegistrationConflict, match="went first"):
        settled(state, OLD, "slow")
    assert connections.abandon(state, WORKER, ROOM, operation_id="slow") is state


@pytest.mark.rule("C6")
@pytest.mark.parametrize("token", [None, OLD], ids=["no secret", "the replaced one's"])
def test_a_successor_is_not_ended_by_its_predecessor(token: Token | None) -> None:
    successor = settled(begun(LIVE, NEW), NEW)

    assert connections.end_session(successor, SESSION, now=LATER, token=token) == (successor, None)


@pytest.mark.rule("C6")
def test_a_session_without_a_lasting_worker_is_ended_by_its_id() -> None:
    plain = attrs.evolve(stored(OLD), agent_instance_id="a process")
    state = LocalState(sessions={str(SESSION): plain})

    _, over = connections.end_session(state, SESSION, now=LATER)
    assert over is not None
    assert (over.ended_at, over.updated_at, over.last_seen_at) == (LATER, LATER, LATER)
    assert connections.end_session(state, SessionId("none"), now=LATER) == (state, None)


@pytest.mark.rule("C7")
def test_an_ended_session_stays_as_it_ended_and_is_nobodys_current_one() -> None:
    others = {"a": str(SESSION), "b": "another", "c": str(SESSION)}
    current = attrs.evolve(LIVE, current_session_ids=others)
    state, over = connections.end_session(current, SESSION, now=LATER, token=OLD)

    assert state.current_session_ids == {"b": "another"}
    much_later = LATER + timedelta(days=1)
    assert connections.end_session(state, SESSION, now=much_later, token=OLD) == (state, over)


@pytest.mark.rule("C8")
def test_a_refused_operation_is_taken_back_and_the_earlier_session_stands() -> None:
    def abandoned(state: LocalState) -> LocalState:
        return connections.abandon(state, WORKER, ROOM, operation_id="mine")

    assert abandoned(IN_PHASE[Phase.PREPARED]) == LIVE
    assert abandoned(IN_PHASE[Phase.LEFT_OVER]) is IN_PHASE[Phase.LEFT_OVER]
    assert abandoned(LIVE) is LIVE


@pytest.mark.rule("C9")
def test_a_held_secret_is_good_while_nobody_replaced_it() -> None:
    assert connections.still_held(LIVE, WORKER, ROOM, held=OLD) == stored(OLD)
    with pytest.raises(NotConnected):
        connections.still_held(LIVE, WORKER, ROOM, held=None)
    with pytest.raises(NotConnected):
        connections.still_held(LIVE, WORKER, ELSEWHERE, held=OLD)
    with pytest.raises(ConnectionReplaced, match="under way"):
        connections.still_held(begun(LIVE, NEW), WORKER, ROOM, held=OLD)
    with pytest.raises(ConnectionReplaced, match="newer process"):
        connections.still_held(settled(begun(LIVE, NEW), NEW), WORKER, ROOM, held=OLD)


@pytest.mark.rule("C9")
def test_an_ended_session_is_held_only_for_those_who_allow_it() -> None:
    with pytest.raises(SessionEnded):
        connections.still_held(ENDED, WORKER, ROOM, held=OLD)

    allowed = connections.still_held(ENDED, WORKER, ROOM, held=OLD, ended_allowed=True)
    assert allowed.ended_at == LATER


def test_a_worker_that_is_not_known_is_told_so_at_every_step() -> None:
    with pytest.raises(UnknownWorker):
        connections.begin(LocalState(), WORKER, ROOM, operation_id="mine", token=NEW)
    with pytest.raises(UnknownWorker):
        settled(LocalState(), NEW)
    with pytest.raises(UnknownWorker):
        connections.take_on(NOBODY, STRANGER, ROOM, operation_id="mine")


def test_no_secret_is_shown_by_what_holds_it() -> None:
    state = begun(LIVE, NEW)

    assert OLD.value not in repr(state)
    assert NEW.value not in repr(state)
