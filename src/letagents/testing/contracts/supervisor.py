"""What every Supervisor does: inherit the suite and give it its fixture.

    class TestMySupervisor(SupervisorContract):
        @pytest.fixture
        async def world(self) -> AsyncIterator[World]:
            yield MyWorld()

A world has one agent, in the room `ROOM`, whose process is alive and whose turn about `MESSAGE`
has begun.
"""

from typing import Protocol

import attrs
import pytest

from letagents.domain.ids import Token
from letagents.domain.supervised import (
    DEFERRED,
    STALE,
    Answered,
    AnswerWithTurn,
    Call,
    DoIt,
    MayBeDone,
    MoveAfterTurn,
    OwnSession,
    SupervisorRefused,
    SupervisorUnavailable,
)
from letagents.ports.supervisor import Supervisor

ROOM, MESSAGE = "workshop", "msg_7"
SESSION = OwnSession("s1", ROOM, Token(f"t{1:042d}"))
RESULT = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": 1}}


class World(Protocol):
    """A supervisor, and the processes of its agent."""

    @property
    def session(self) -> OwnSession:
        """The agent's session, in `ROOM`."""
        ...

    def supervisor(self) -> Supervisor:
        """Return what one process of the agent sees of it."""
        ...

    async def take_over(self) -> None:
        """Let another supervisor take over, with nothing but what was written down."""
        ...

    async def end(self) -> None:
        """Let there be no supervisor any longer."""
        ...

    async def cursor(self) -> str | None:
        """Return how far the agent has seen its room, as it is written down."""
        ...

    def performed(self) -> int:
        """Return how many calls the supervisor itself has done."""
        ...


def change(request_id: str = "1", **arguments: object) -> Call:
    """Return a call that changes something."""
    return Call(request_id, "post_status", arguments or {"status": "working"}, is_change=True)


def reading(request_id: str = "1") -> Call:
    """Return a call that only reads."""
    return Call(request_id, "get_board", {}, is_change=False)


@pytest.mark.anyio
class SupervisorContract:
    """Needs the fixture `world`."""

    @pytest.mark.rule("J61")
    async def test_a_session_is_bound_as_often_as_it_likes(self, world: World) -> None:
        supervisor = world.supervisor()

        for known in (False, False, True):
            assert (await supervisor.bind(world.session, is_known=known)).is_supervised
        assert (await supervisor.borrow(world.session)).credential is not None

    @pytest.mark.rule("J61")
    async def test_another_secret_binds_anew(self, world: World) -> None:
        other = attrs.evolve(world.session, token=Token(f"t{2:042d}"))
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        await supervisor.bind(other)
        lent = await supervisor.borrow(other)

        assert lent.credential is not None
        assert lent.credential.value == other.token.value

    @pytest.mark.rule("J61", "J62")
    async def test_a_successor_has_no_secret_until_it_is_bound_to(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        await world.take_over()

        assert await supervisor.borrow(world.session) == DEFERRED
        await supervisor.bind(world.session)
        assert (await supervisor.borrow(world.session)).credential is not None

    @pytest.mark.rule("J61")
    async def test_what_was_bound_to_another_is_not_verified(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        await world.take_over()

        with pytest.raises(SupervisorRefused, match="does not match the active supervised binding"):
            await supervisor.bind(world.session, is_known=True)
        assert (await supervisor.bind(world.session, is_known=True)).is_supervised

    @pytest.mark.rule("J62")
    async def test_a_credential_is_lent_over_the_exact_route(self, world: World) -> None:
        supervisor = world.supervisor()
        assert await supervisor.borrow(world.session) == STALE
        await supervisor.bind(world.session)

        assert await supervisor.borrow(attrs.evolve(world.session, room_id="another")) == STALE
        assert await supervisor.borrow(attrs.evolve(world.session, session_id="s2")) == STALE
        lent = await supervisor.borrow(world.session)
        assert lent.is_supervised
        assert lent.credential is not None
        assert lent.credential.value == world.session.token.value

    @pytest.mark.rule("J62")
    async def test_nobody_lends_when_nobody_is_there(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        await world.end()

        assert await supervisor.borrow(world.session) == STALE

    @pytest.mark.rule("J63", "J64")
    async def test_the_same_request_is_done_once(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        first = await _done(supervisor, change())
        again = await _done(supervisor, change())

        assert first == again
        assert first.room_id == ROOM
        assert world.performed() in (0, 1)

    @pytest.mark.rule("J63")
    async def test_whoever_has_taken_over_does_the_next_call(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        first = await _done(supervisor, change())
        await world.take_over()
        await supervisor.bind(world.session)

        assert await _done(supervisor, change()) == first
        assert (await _done(supervisor, change("2"))).room_id == ROOM

    @pytest.mark.rule("J63")
    async def test_a_request_stands_for_one_call(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        await _done(supervisor, change())

        with pytest.raises(SupervisorRefused, match="refusing ambiguous execution"):
            await _done(supervisor, change(status="blocked"))

    @pytest.mark.rule("J64")
    async def test_word_of_an_outcome_is_taken_once(self, world: World) -> None:
        supervisor = world.supervisor()
        told = await supervisor.prepare(change())
        assert isinstance(told, DoIt)
        assert told.room_id == ROOM
        await supervisor.complete(told.effect_id, result=RESULT)
        await supervisor.complete(told.effect_id, result={"another": 1})
        await supervisor.complete(told.effect_id, error="It failed after all.")

        assert await supervisor.prepare(change()) == Answered(ROOM, RESULT)

    @pytest.mark.rule("J64", "J67")
    async def test_what_failed_stays_so_in_its_own_words(self, world: World) -> None:
        supervisor = world.supervisor()
        told = await supervisor.prepare(change())
        assert isinstance(told, DoIt)
        await supervisor.complete(told.effect_id, error="The room was away.")

        with pytest.raises(SupervisorRefused, match="The room was away"):
            await supervisor.prepare(change())

    @pytest.mark.rule("J64")
    async def test_word_reaches_whoever_has_taken_over(self, world: World) -> None:
        supervisor = world.supervisor()
        told = await supervisor.prepare(change())
        assert isinstance(told, DoIt)
        await world.take_over()
        await supervisor.complete(told.effect_id, result=RESULT)

        assert await supervisor.prepare(change()) == Answered(ROOM, RESULT)

    @pytest.mark.rule("J65")
    async def test_what_may_have_been_done_is_not_done_again(self, world: World) -> None:
        supervisor = world.supervisor()
        told = await supervisor.prepare(change())
        assert isinstance(told, DoIt)

        for _ in range(2):
            again = await supervisor.prepare(change())
            assert isinstance(again, MayBeDone)
            assert again.effect_id == told.effect_id
            await world.take_over()

    @pytest.mark.rule("J65")
    async def test_a_reading_may_be_done_again(self, world: World) -> None:
        supervisor = world.supervisor()
        first, again = await supervisor.prepare(reading()), await supervisor.prepare(reading())

        assert first == again
        assert isinstance(first, DoIt)

    @pytest.mark.rule("J64")
    async def test_what_the_turn_does_itself_is_said(self, world: World) -> None:
        supervisor = world.supervisor()
        reply = Call("1", "send_message", {"text": "Hi.", "reply_to": MESSAGE}, is_change=True)
        move = Call("2", "join_room", {"name": "elsewhere"}, is_change=True)
        told, moved = await supervisor.prepare(reply), await supervisor.prepare(move)

        assert isinstance(told, AnswerWithTurn)
        assert told.message_id == MESSAGE
        assert isinstance(moved, MoveAfterTurn)
        assert moved.destination == "elsewhere"

    @pytest.mark.rule("J66")
    async def test_a_cursor_never_goes_back(self, world: World) -> None:
        supervisor = world.supervisor()
        await supervisor.bind(world.session)
        for cursor in ("msg_12", "msg_10", "nothing"):
            await supervisor.checkpoint(world.session, cursor)
        await settled(supervisor)

        assert await world.cursor() == "msg_12"

    @pytest.mark.rule("J67", "J68")
    async def test_a_refusal_is_in_the_supervisors_words(self, world: World) -> None:
        with pytest.raises(SupervisorRefused) as refused:
            await world.supervisor().bind(attrs.evolve(world.session, room_id="another"))

        said = "Worker session room does not match the supervised manifest entry."
        assert refused.value.happened == said
        assert world.session.token.value not in str(refused.value)

    @pytest.mark.rule("J67")
    async def test_nobody_there_is_told_apart(self, world: World) -> None:
        await world.end()

        with pytest.raises(SupervisorUnavailable):
            await world.supervisor().bind(world.session)
        with pytest.raises(SupervisorUnavailable):
            await world.supervisor().prepare(change())


async def _done(supervisor: Supervisor, call: Call) -> Answered:
    """Have a call done by whoever does it."""
    answered = await supervisor.execute(call)
    if answered is not None:
        return answered
    told = await supervisor.prepare(call)
    if isinstance(told, Answered):
        return told
    assert isinstance(told, DoIt)
    await supervisor.complete(told.effect_id, result=RESULT)
    return Answered(told.room_id, RESULT)


async def settled(supervisor: object) -> None:
    """Return when nothing waits to be sent, where a supervisor sends in the background."""
    settle = getattr(supervisor, "settled", None)
    if settle is not None:
        await settle()
