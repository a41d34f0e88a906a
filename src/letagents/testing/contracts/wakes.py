"""What every store of wake rules does: inherit the suite, and give it `rooms` and `wakes`."""

from datetime import timedelta

import pytest

from letagents.domain.activation import Decision
from letagents.domain.errors import ConnectionLost, Malformed
from letagents.domain.ids import RoomId
from letagents.domain.messages import After, Latest, Message
from letagents.domain.sessions import Connection
from letagents.domain.wake_rules import (
    ACTIVE_LIMIT,
    Asked,
    ForeignWakeRule,
    State,
    TooManyWakeRules,
    UnknownWakeRule,
)
from letagents.ports.rooms import RoomTransport
from letagents.ports.wakes import Wakes
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, arrival, person
from letagents.testing.determinism import ManualClock

MINUTE = timedelta(minutes=1)


def timer(after_ms: int = 60_000, *, repeat: bool = False, note: str | None = None) -> Asked:
    """Return what asks for a timer."""
    return Asked.of("timer", {"after_ms": after_ms}, repeat=repeat, note=note)


def on_task(task_id: str = "task_1", to: str | None = None, *, repeat: bool = False) -> Asked:
    """Return what asks for a task's change."""
    return Asked.of("task.status_changed", {"task_id": task_id, "to": to}, repeat=repeat)


@pytest.mark.anyio
class WakesContract(RoomCallers):
    """Needs fixtures `rooms` and `wakes`, and a `move`; may have `wakes_elsewhere`."""

    @pytest.fixture
    def wakes_elsewhere(self, wakes: Wakes) -> Wakes:
        """Return the rules as another process has them, where there can be one."""
        return wakes

    async def move(self, before: str, after: str, task_id: str = "task_1") -> None:
        """Let the task of that id change; an adapter's suite says how."""
        raise NotImplementedError

    async def let_time_be(self, rooms: RoomTransport) -> None:
        """Let what is due be done: as a waiter does, unless an adapter's suite knows better."""
        newest = await rooms.read(ROOM, Latest(1))
        after = After(newest.messages[-1].id if newest.messages else None)
        await rooms.wait(ROOM, after, timeout=timedelta(milliseconds=200))

    async def woken(self, rooms: RoomTransport, who: Connection) -> list[Message]:
        """Let what is due be done, and return what the room said to `who` alone."""
        await self.let_time_be(rooms)
        page = await rooms.read(ROOM, Latest(), who.fence)
        return [
            one
            for one in page.messages
            if one.source == "wake_rule"
            and one.activation is not None
            and one.activation.decision is Decision.ACTIVATE
        ]

    async def states(self, wakes: Wakes) -> list[State]:
        """Return the states of all rules, oldest first."""
        rules = await wakes.rules(ROOM)
        both = (*rules.active, *rules.recent)
        return [rule.state for rule in sorted(both, key=lambda rule: rule.number)]

    @pytest.mark.rule("W60", "W40")
    async def test_a_rule_that_was_answered_is_there_for_everybody(
        self, wakes: Wakes, wakes_elsewhere: Wakes, ada: Connection, bob: Connection
    ) -> None:
        rule, was_made = await wakes.add(ROOM, timer(note="tea"), ada.fence)
        other, _ = await wakes.add(ROOM, on_task(), bob.fence)

        assert was_made
        assert rule.agent_key == ada.session.agent_key
        assert (await wakes_elsewhere.rules(ROOM)).active == (rule, other)
        mine = await wakes_elsewhere.rules(ROOM, agent_key=ada.session.agent_key)
        assert mine.active == (rule,)

    @pytest.mark.rule("W41")
    async def test_the_same_rule_again_is_the_one_that_waits(
        self, wakes: Wakes, ada: Connection, bob: Connection
    ) -> None:
        first = await wakes.add(ROOM, on_task(), ada.fence)
        again = await wakes.add(ROOM, on_task(), ada.fence)
        others = await wakes.add(ROOM, on_task(), bob.fence)
        timers = [await wakes.add(ROOM, timer(), ada.fence) for _ in range(2)]

        assert again == (first[0], False)
        assert others[1]
        assert [was_made for _, was_made in timers] == [True, True]

    @pytest.mark.rule("W42")
    async def test_an_agent_has_twenty_rules_at_most(
        self, wakes: Wakes, ada: Connection, bob: Connection
    ) -> None:
        rules = [await wakes.add(ROOM, timer(), ada.fence) for _ in range(ACTIVE_LIMIT)]

        with pytest.raises(TooManyWakeRules):
            await wakes.add(ROOM, timer(), ada.fence)
        await wakes.add(ROOM, timer(), bob.fence)
        await wakes.cancel(ROOM, rules[0][0].rule_id, ada.fence)
        await wakes.add(ROOM, timer(), ada.fence)

    @pytest.mark.rule("W42", "W46")
    async def test_rules_that_outlived_their_time_count_no_more(
        self, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        for _ in range(3):
            for _ in range(ACTIVE_LIMIT):
                await wakes.add(ROOM, timer(), ada.fence)
            clock.pass_by(timedelta(hours=25))

        rule, _ = await wakes.add(ROOM, timer(), ada.fence)
        assert (await wakes.rules(ROOM)).active == (rule,)

    async def test_what_is_refused_is_not_kept(self, wakes: Wakes, ada: Connection) -> None:
        with pytest.raises(Malformed):
            await wakes.add(ROOM, timer(1000), ada.fence)

        assert await self.states(wakes) == []

    @pytest.mark.rule("W40")
    async def test_only_its_agent_or_a_person_cancels_a_rule(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, bob: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        rules = [(await wakes.add(ROOM, timer(), ada.fence))[0] for _ in range(3)]

        with pytest.raises(ForeignWakeRule):
            await wakes.cancel(ROOM, rules[0].rule_id, bob.fence)
        for rule, fence in zip(rules, (ada.fence, human.fence, None), strict=True):
            assert (await wakes.cancel(ROOM, rule.rule_id, fence)).state is State.CANCELLED
        with pytest.raises(UnknownWakeRule):
            await wakes.cancel(ROOM, "wake_0", ada.fence)
        assert await self.states(wakes) == [State.CANCELLED] * 3

    @pytest.mark.rule("W62", "W45", "W46", "A60")
    async def test_a_timer_wakes_its_agent_once(
        self,
        rooms: RoomTransport,
        wakes: Wakes,
        ada: Connection,
        bob: Connection,
        clock: ManualClock,
    ) -> None:
        await wakes.add(ROOM, timer(note="look at @Worker2"), ada.fence)
        assert await self.woken(rooms, ada) == []

        clock.pass_by(MINUTE)
        (told,) = await self.woken(rooms, ada)
        clock.pass_by(MINUTE)

        assert told.text.endswith("look at @Worker2")
        assert await self.woken(rooms, bob) == []
        assert len(await self.woken(rooms, ada)) == 1
        assert await self.states(wakes) == [State.FIRED]

    @pytest.mark.rule("W62")
    async def test_a_timer_ends_a_wait(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        await wakes.add(ROOM, timer(), ada.fence)
        clock.pass_by(MINUTE)

        page = await rooms.wait(ROOM, After(None), timeout=timedelta(seconds=5), viewer=ada.fence)
        assert [one.source for one in page.messages] == ["wake_rule"]

    @pytest.mark.rule("W50")
    async def test_a_timer_that_nobody_was_there_for_wakes_later(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        await wakes.add(ROOM, timer(), ada.fence)
        clock.pass_by(timedelta(hours=5))
        assert len(await self.woken(rooms, ada)) == 1

        await wakes.add(ROOM, timer(), ada.fence)
        clock.pass_by(timedelta(days=2))
        assert len(await self.woken(rooms, ada)) == 1
        assert await self.states(wakes) == [State.FIRED, State.EXPIRED]

    @pytest.mark.rule("W45")
    async def test_a_timer_that_repeats_goes_on_and_makes_up_for_nothing(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        await wakes.add(ROOM, timer(repeat=True), ada.fence)
        for _ in range(3):
            clock.pass_by(MINUTE)
            await self.woken(rooms, ada)
        clock.pass_by(10 * MINUTE)

        assert len(await self.woken(rooms, ada)) == 4
        assert await self.states(wakes) == [State.ACTIVE]

    @pytest.mark.rule("W61", "W47")
    async def test_a_tasks_change_wakes_those_who_wait_for_it(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, bob: Connection
    ) -> None:
        await wakes.add(ROOM, on_task(to="in_review"), ada.fence)
        await wakes.add(ROOM, on_task("task_2"), bob.fence)

        await self.move("assigned", "in_progress")
        assert await self.woken(rooms, ada) == []
        await self.move("in_progress", "in_review")
        await self.move("in_progress", "in_review")

        (told,) = await self.woken(rooms, ada)
        assert "task_1 went from in_progress to in_review" in told.text
        assert await self.woken(rooms, bob) == []
        assert await self.states(wakes) == [State.FIRED, State.ACTIVE]

    @pytest.mark.rule("W45")
    async def test_changes_in_quick_succession_are_told_by_the_last(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        await wakes.add(ROOM, on_task(repeat=True), ada.fence)
        await self.move("accepted", "assigned")
        await self.move("assigned", "in_progress")
        await self.move("in_progress", "blocked")
        assert len(await self.woken(rooms, ada)) == 1

        clock.pass_by(MINUTE)
        told = await self.woken(rooms, ada)
        assert len(told) == 2
        assert "in_progress to blocked" in told[1].text

    @pytest.mark.rule("W46", "W43")
    async def test_what_was_cancelled_or_outlived_its_time_wakes_nobody(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        cancelled, _ = await wakes.add(ROOM, on_task(), ada.fence)
        await wakes.cancel(ROOM, cancelled.rule_id, ada.fence)
        await self.move("accepted", "assigned")
        await wakes.add(ROOM, on_task(), ada.fence)
        clock.pass_by(timedelta(hours=25))
        await self.move("assigned", "in_progress")

        assert await self.woken(rooms, ada) == []
        assert await self.states(wakes) == [State.CANCELLED, State.EXPIRED]

    @pytest.mark.rule("W40", "A60")
    async def test_a_rule_wakes_the_session_that_asked_or_else_its_agent(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection, clock: ManualClock
    ) -> None:
        await wakes.add(ROOM, timer(), ada.fence)
        await rooms.disconnect(ROOM, ada.fence)
        clock.pass_by(MINUTE)
        again = await rooms.connect(ROOM, arrival(1, 21, after=ada))

        assert len(await self.woken(rooms, again)) == 1

    async def test_a_replaced_connection_asks_for_nothing(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection
    ) -> None:
        await rooms.connect(ROOM, arrival(1, 22, after=ada))

        with pytest.raises(ConnectionLost):
            await wakes.add(ROOM, timer(), ada.fence)
        assert await self.states(wakes) == []

    async def test_rooms_have_their_own_rules(
        self, rooms: RoomTransport, wakes: Wakes, ada: Connection
    ) -> None:
        await rooms.join(RoomId("elsewhere"))
        await wakes.add(ROOM, timer(), ada.fence)

        assert (await wakes.rules(RoomId("elsewhere"))).active == ()
