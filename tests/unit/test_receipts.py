"""What becomes of a message with those whom it is for."""

import itertools
from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import receipts
from letagents.domain.activation import UNADDRESSED, Activation, Decision, Reason
from letagents.domain.ids import MessageId, SessionId
from letagents.domain.receipts import IDLE, MOVES, OPEN, Move, Receipt, Recipient, State
from letagents.domain.roster import Listener, Roster

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)


def worker(session: str, key: str = "ada/oak") -> Listener:
    return Listener(key, SessionId(session), "Oak | Ada's agent | Codex", "Oak")


OLD, YOUNG, OTHER = worker("s1"), worker("s2"), worker("s3", "bob/elm")
ROOM = Roster.of([OLD, YOUNG, OTHER])
MENTIONED = Activation(Decision.ACTIVATE, Reason.EXPLICIT_MENTION)
SILENT = Activation(Decision.SILENT, Reason.UNADDRESSED)


def receipt(listener: Listener = OLD, state: State = State.QUEUED) -> Receipt:
    made = receipts.of(MessageId(7), Recipient(listener, Reason.BROADCAST), NOW)
    return attrs.evolve(made, state=state)


def moved(state: State, move: Move) -> State:
    return receipt(state=state).moved(move, changed=1, now=LATER).state


@pytest.mark.rule("A71")
def test_every_move_in_every_state_was_decided_on_purpose() -> None:
    assert set(MOVES) | IDLE == set(itertools.product(State, Move))
    assert not set(MOVES) & IDLE


@pytest.mark.rule("A71", "A72")
def test_a_receipt_is_queued_then_shown_then_acknowledged() -> None:
    first = receipt()
    shown = first.moved(Move.SHOW, changed=3, now=LATER)
    said = shown.moved(Move.ACKNOWLEDGE, changed=4, now=LATER)

    assert (first.state, first.changed, first.updated_at) == (State.QUEUED, 0, NOW)
    assert (shown.state, shown.changed, shown.updated_at) == (State.RESPONDING, 3, LATER)
    assert (said.state, said.changed) == (State.ACKNOWLEDGED, 4)
    assert shown.moved(Move.SHOW, changed=9, now=LATER) is shown


@pytest.mark.rule("A71")
def test_who_is_blocked_goes_on_only_if_it_says_so() -> None:
    assert moved(State.RESPONDING, Move.BLOCK) is State.BLOCKED
    assert moved(State.BLOCKED, Move.SHOW) is State.BLOCKED
    assert moved(State.BLOCKED, Move.RESUME) is State.RESPONDING
    assert moved(State.QUEUED, Move.BLOCK) is State.QUEUED


@pytest.mark.rule("A73")
@pytest.mark.parametrize("move", Move)
def test_what_is_acknowledged_stays_so(move: Move) -> None:
    assert moved(State.ACKNOWLEDGED, move) is State.ACKNOWLEDGED


@pytest.mark.rule("A74")
@pytest.mark.parametrize("state", [one for one in State if one in OPEN])
def test_what_a_session_leaves_passes_on_or_waits_for_its_agent(state: State) -> None:
    passed = receipts.left(receipt(state=state), SessionId("s2"), changed=2, now=LATER)
    lost = receipts.left(receipt(state=state), None, changed=2, now=LATER)
    again = lost.moved(Move.SHOW, changed=3, now=LATER, to=SessionId("s9"))

    assert (passed.state, passed.session_id, passed.changed) == (state, SessionId("s2"), 2)
    assert (lost.state, lost.session_id) == (State.UNAVAILABLE, OLD.session_id)
    assert (again.state, again.session_id) == (State.RESPONDING, SessionId("s9"))


def decided(found: Activation, listener: Listener, own: Receipt | None, others: bool) -> Activation:
    return receipts.decided(found, own, listener, ROOM, woke_others=others)


@pytest.mark.rule("A75")
def test_who_has_the_receipt_is_woken_whatever_would_be_decided_now() -> None:
    of_young = receipt(YOUNG)
    woken = Activation(Decision.ACTIVATE, Reason.BROADCAST)

    assert decided(SILENT, YOUNG, of_young, others=True) == woken
    assert decided(MENTIONED, OLD, of_young, others=True) == SILENT
    own_words = Activation(Decision.SILENT, Reason.SELF_MESSAGE)
    assert decided(own_words, OLD, of_young, others=True) == own_words


@pytest.mark.rule("A75")
def test_where_its_session_is_gone_the_one_that_stands_for_the_agent_is_woken() -> None:
    of_gone = receipt(worker("s0"))
    woken = Activation(Decision.ACTIVATE, Reason.BROADCAST)

    assert decided(SILENT, OLD, of_gone, others=True) == woken
    assert decided(SILENT, YOUNG, of_gone, others=True) == SILENT


@pytest.mark.rule("A76")
@pytest.mark.parametrize("reason", Reason)
def test_what_woke_others_wakes_later_only_whom_it_means(reason: Reason) -> None:
    found = Activation(Decision.ACTIVATE, reason)
    named = {Reason.EXPLICIT_MENTION, Reason.REPLY_TARGET, Reason.THREAD_PARTICIPANT}

    assert decided(found, OLD, None, others=True) == (found if reason in named else SILENT)
    assert decided(found, OLD, None, others=False) == found
    assert decided(UNADDRESSED, OLD, None, others=True) == SILENT
    assert decided(UNADDRESSED, OLD, None, others=False) == UNADDRESSED
