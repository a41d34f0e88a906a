"""What every Governance does about who manages a board."""

from datetime import timedelta

import pytest

from letagents.domain.denials import IntentRequired
from letagents.domain.errors import ConnectionReplaced, UnknownRoom
from letagents.domain.governance import Failover, ManagerMode, ManagerStatus, NoSuchSession
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Connection
from letagents.ports.board import Board
from letagents.ports.governance import Governance
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.board_callers import MINUTE, BoardCallers
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, person
from letagents.testing.determinism import ManualClock


@pytest.mark.anyio
class BoardManagersContract(BoardCallers):
    """Who manages, and how much is asked."""

    @pytest.mark.rule("P30")
    async def test_a_board_begins_with_an_optional_manager_and_none_assigned(
        self, governance: Governance, ada: Connection
    ) -> None:
        governed = await governance.governed(ROOM, ada.fence)

        assert governed.settings.manager_mode is ManagerMode.MANAGER_OPTIONAL
        assert governed.settings.manager_failover is Failover.AUTO
        assert (governed.manager, governed.pending) == (None, 0)

    @pytest.mark.rule("P30")
    async def test_what_was_set_is_set_for_everybody(
        self, governance: Governance, governance_elsewhere: Governance, ada: Connection
    ) -> None:
        await governance.set_mode(
            ROOM, ManagerMode.INTENT_REQUIRED, Failover.ANNOUNCE, fence=ada.fence
        )
        await governance.set_mode(ROOM, failover=Failover.OFF)

        settings = (await governance_elsewhere.governed(ROOM)).settings
        assert settings.manager_mode is ManagerMode.INTENT_REQUIRED
        assert settings.manager_failover is Failover.OFF
        assert settings.updated_by == self.owner

    @pytest.mark.rule("P38")
    async def test_each_change_of_the_settings_is_told_with_who_made_it(
        self, rooms: RoomTransport, governance: Governance, ada: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await governance.set_mode(ROOM, ManagerMode.OFF, fence=human.fence)
        await governance.set_mode(ROOM, ManagerMode.OFF, fence=human.fence)
        await governance.set_mode(ROOM, failover=Failover.ANNOUNCE, fence=human.fence)
        await governance.assign_manager(ROOM, ada.session.session_id, fence=human.fence)
        await governance.release_manager(ROOM, "lunch", fence=human.fence)

        said = [message.text for message in await self.said(rooms, "[board]")]
        assert said[:2] == [
            "[board] Approvals: manager_optional → off, set by Ada.",
            "[board] When the manager is gone: auto → announce, set by Ada.",
        ]
        assert "assigned by Ada" in said[2]
        assert "released by Ada: “lunch”" in said[3]

    @pytest.mark.rule("P39")
    async def test_what_was_done_is_shown_with_who_did_it_the_newest_first(
        self,
        rooms: RoomTransport,
        governance: Governance,
        governance_elsewhere: Governance,
        ada: Connection,
        bob: Connection,
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED, fence=human.fence)
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED, fence=human.fence)
        await governance.assign_manager(ROOM, ada.session.session_id, fence=human.fence)
        intent = (await self.asks_to_create(governance, bob)).intent
        await governance.deny(ROOM, intent.intent_id, "not now", fence=ada.fence)
        await governance.deny(ROOM, intent.intent_id, fence=ada.fence)
        await governance.release_manager(ROOM, "lunch", fence=human.fence)

        acts = await governance_elsewhere.acts(ROOM, viewer=bob.fence)
        told = [(one.type.value, one.actor, one.actor_key, one.reason) for one in acts]
        assert told == [
            ("board_manager_released", "Ada", None, "lunch"),
            ("board_intent_denied", ada.session.actor_label, ada.session.agent_key, "not now"),
            ("board_manager_assigned", "Ada", None, None),
            ("board_settings_changed", "Ada", None, None),
        ]
        assert acts[1].intent_id == intent.intent_id
        assert acts[3].detail == "manager_mode: manager_optional → intent_required"
        assert await governance.acts(ROOM, limit=1) == acts[:1]
        assert (await governance.governed(ROOM)).manager_seen_at is None

    @pytest.mark.rule("P30")
    async def test_those_who_could_manage_are_the_workers_that_are_there(
        self,
        rooms: RoomTransport,
        governance: Governance,
        governance_elsewhere: Governance,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await rooms.connect(ROOM, person())
        before = await governance.candidates(ROOM, ada.fence)
        await rooms.disconnect(ROOM, bob.fence)
        after = await governance_elsewhere.candidates(ROOM)

        both = {ada.session.session_id, bob.session.session_id}
        assert {one.session.session_id for one in before} == both
        assert [one.session.session_id for one in after] == [ada.session.session_id]

    @pytest.mark.rule("P1")
    async def test_each_mode_asks_for_as_much_as_it_says(
        self, governance: Governance, board: Board, ada: Connection, bob: Connection
    ) -> None:
        await self.new_task(board, ada, "Nobody manages")
        await governance.assign_manager(ROOM, bob.session.session_id)
        with pytest.raises(IntentRequired):
            await self.new_task(board, ada, "Bob manages")
        await governance.set_mode(ROOM, ManagerMode.OFF)
        await self.new_task(board, ada, "Nothing is asked")
        await governance.release_manager(ROOM)
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
        with pytest.raises(IntentRequired):
            await self.new_task(board, ada, "Everything is asked")

    @pytest.mark.rule("P1")
    async def test_people_need_no_approval(
        self, governance: Governance, board: Board, rooms: RoomTransport, ada: Connection
    ) -> None:
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
        human = await rooms.connect(ROOM, person())

        await self.new_task(board, human, "A person's")
        await self.a_task(board, "The owner's")

    @pytest.mark.rule("P2", "P34")
    async def test_a_manager_takes_the_place_of_the_one_before_and_is_told(
        self, governance: Governance, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        first = await governance.assign_manager(ROOM, ada.session.session_id)
        again = await governance.assign_manager(ROOM, ada.session.session_id)
        second = await governance.assign_manager(ROOM, bob.session.session_id, fence=ada.fence)

        governed = await governance.governed(ROOM)
        assert again == first
        assert governed.manager == second
        assert second.manager_id != first.manager_id
        assert second.assigned_by == ada.session.actor_label
        assert f"@agent:{bob.session.agent_key} manages" in self.everything_said(
            await self.said(rooms, "[board]")
        )

    @pytest.mark.rule("P2")
    async def test_a_manager_whose_session_ended_manages_nothing(
        self,
        governance: Governance,
        board: Board,
        rooms: RoomTransport,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        await rooms.disconnect(ROOM, bob.fence)

        assert (await governance.governed(ROOM)).manager is None
        await self.new_task(board, ada, "Nobody manages")

    @pytest.mark.rule("P1")
    @pytest.mark.parametrize("failover", [Failover.OFF, Failover.ANNOUNCE])
    async def test_a_manager_that_fell_silent_keeps_nobody_from_the_board(
        self,
        governance: Governance,
        board: Board,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
        failover: Failover,
    ) -> None:
        await governance.set_mode(ROOM, failover=failover)
        await governance.assign_manager(ROOM, bob.session.session_id)
        clock.pass_by(5 * MINUTE - timedelta(seconds=1))
        with pytest.raises(IntentRequired):
            await self.new_task(board, ada, "Bob manages")
        await self.after(rooms, clock, 2 * MINUTE)

        await self.new_task(board, ada, "Nobody manages")

        told = await self.said(rooms, "[status]")
        assert len(told) == (failover is Failover.ANNOUNCE)
        assert all("nothing needs an approval" in one.text for one in told)
        with pytest.raises(IntentRequired):
            await self.new_task(board, bob, "Bob is back")

    async def test_only_a_live_worker_of_the_room_can_manage(
        self, governance: Governance, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        human = await rooms.connect(ROOM, person())
        await rooms.disconnect(ROOM, bob.fence)

        for one in (SessionId("nobody"), human.session.session_id, bob.session.session_id):
            with pytest.raises(NoSuchSession):
                await governance.assign_manager(ROOM, one)
        assert (await governance.governed(ROOM)).manager is None

    async def test_a_release_gives_back_what_was_released(
        self, governance: Governance, rooms: RoomTransport, ada: Connection, bob: Connection
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)

        released = await governance.release_manager(ROOM, " @Bob is asleep ", fence=ada.fence)

        assert released is not None
        assert released.status is ManagerStatus.RELEASED
        assert released.release_reason == "@Bob is asleep"
        assert await governance.release_manager(ROOM) is None
        assert "@Bob" not in self.everything_said(await self.said(rooms, "[board]"))

    async def test_who_was_replaced_changes_and_sees_nothing(
        self, governance: Governance, rooms: RoomTransport, ada: Connection
    ) -> None:
        await rooms.connect(ROOM, arrival(ADA, 7, after=ada))

        with pytest.raises(ConnectionReplaced):
            await governance.set_mode(ROOM, ManagerMode.OFF, fence=ada.fence)
        with pytest.raises(ConnectionReplaced):
            await governance.governed(ROOM, ada.fence)
        with pytest.raises(UnknownRoom):
            await governance.governed(RoomId("elsewhere"))

    # --- failover -------------------------------------------------------------------------------

    @pytest.mark.rule("P36", "P3")
    async def test_a_manager_that_left_is_succeeded_at_the_next_occasion(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        before = await governance.assign_manager(ROOM, bob.session.session_id)
        await self.asks_to_create(governance, ada)
        await rooms.disconnect(ROOM, bob.fence)
        await self.after(rooms, clock, MINUTE)
        await self.after(rooms, clock, MINUTE)

        manager = (await governance.governed(ROOM)).manager
        told = await self.said(rooms, "[status]")
        assert manager is not None
        assert manager.session_id == ada.session.session_id
        assert manager.assigned_by == "letagents:manager_failover"
        assert manager.number == before.number + 1
        assert [one.source for one in told] == ["agent_liveness", "agent_liveness"]
        assert f"@agent:{ada.session.agent_key}" in told[0].text
        assert "intent_1" in told[1].text

    @pytest.mark.rule("P36", "P3")
    async def test_a_manager_is_succeeded_after_five_minutes_of_silence(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.assign_manager(ROOM, bob.session.session_id)
        clock.set_to(clock.now() + timedelta(hours=1))
        await self.let_time_be(rooms)
        after_a_step = (await governance.governed(ROOM)).manager
        await self.after(rooms, clock, 5 * MINUTE - timedelta(seconds=1))
        just_before = (await governance.governed(ROOM)).manager
        await self.after(rooms, clock, 2 * MINUTE)

        manager = (await governance.governed(ROOM)).manager
        assert after_a_step == just_before
        assert just_before is not None
        assert just_before.session_id == bob.session.session_id
        assert manager is not None
        assert manager.session_id == ada.session.session_id

    @pytest.mark.rule("P36")
    async def test_an_absence_is_announced_once_where_nobody_succeeds(
        self, governance: Governance, rooms: RoomTransport, clock: ManualClock, ada: Connection
    ) -> None:
        manager = await governance.assign_manager(ROOM, ada.session.session_id)
        for _ in range(3):
            await self.after(rooms, clock, 31 * MINUTE)

        told = await self.said(rooms, "[status]")
        assert len(told) == 1
        assert (told[0].sender, told[0].source) == ("letagents", "agent_liveness")
        governed = await governance.governed(ROOM)
        assert governed.manager is not None
        assert governed.manager.manager_id == manager.manager_id

    @pytest.mark.rule("P36")
    async def test_announcing_promotes_nobody_and_off_says_nothing(
        self,
        governance: Governance,
        rooms: RoomTransport,
        clock: ManualClock,
        ada: Connection,
        bob: Connection,
    ) -> None:
        await governance.set_mode(ROOM, failover=Failover.OFF)
        await governance.assign_manager(ROOM, bob.session.session_id)
        await self.after(rooms, clock, 31 * MINUTE)
        silent = await self.said(rooms, "[status]")
        await governance.set_mode(ROOM, failover=Failover.ANNOUNCE)
        await self.let_time_be(rooms)

        manager = (await governance.governed(ROOM)).manager
        assert silent == []
        assert len(await self.said(rooms, "[status]")) == 1
        assert manager is not None
        assert manager.session_id == bob.session.session_id
