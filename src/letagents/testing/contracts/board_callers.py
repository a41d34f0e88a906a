"""Who acts on a board in the suites of what governs it."""

from datetime import timedelta
from typing import ClassVar

import pytest

from letagents.domain.approvals import Intent, IntentStatus
from letagents.domain.governance import OWNER, ManagerMode
from letagents.domain.intents import Action, Approval, ApprovalToken, change_payload, create_payload
from letagents.domain.messages import Latest, Message
from letagents.domain.sessions import Connection
from letagents.domain.tasks import Patch, Proposal, Status, Task
from letagents.ports.board import Board
from letagents.ports.governance import Governance, Proposed
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, RoomCallers, arrival
from letagents.testing.determinism import ManualClock

CY = 3
MINUTE = timedelta(minutes=1)


def with_token(token: ApprovalToken | None, intent: Intent | None = None) -> Approval:
    """Return what shows a token, and the intent if one is given."""
    return Approval(intent.intent_id if intent else None, token)


def by_id(intent: Intent) -> Approval:
    """Return what shows an intent without a token."""
    return Approval(intent.intent_id)


class BoardCallers(RoomCallers):
    """Needs fixtures `rooms`, `board` and `governance`; may have the last two `…_elsewhere`."""

    owner: ClassVar[str] = OWNER
    """What who acts without a session is called."""

    @pytest.fixture
    def board_elsewhere(self, board: Board) -> Board:
        """Return the board as another process has it, where there can be one."""
        return board

    @pytest.fixture
    def governance_elsewhere(self, governance: Governance) -> Governance:
        """Return the same as another process has it, where there can be one."""
        return governance

    @pytest.fixture
    async def cy(self, rooms: RoomTransport, bob: Connection) -> Connection:
        """Return a third worker of the same room."""
        return await rooms.connect(ROOM, arrival(CY, 3))

    async def let_time_be(self, rooms: RoomTransport) -> None:
        """Let what is due be done; an adapter's suite says how."""
        raise NotImplementedError

    async def after(self, rooms: RoomTransport, clock: ManualClock, span: timedelta) -> None:
        """Let `span` go by, and what is due be done."""
        clock.pass_by(span)
        await self.let_time_be(rooms)

    async def a_task(self, board: Board, title: str = "Mend the clock") -> Task:
        """Return a task that the room's owner has put on the board: it is accepted at once."""
        return (await board.propose(ROOM, Proposal(title=title))).view.task

    async def new_task(
        self, board: Board, who: Connection, title: str, approval: Approval | None = None
    ) -> Task:
        """Return the task that a worker puts on the board."""
        proposal = Proposal(title=title)
        return (await board.propose(ROOM, proposal, who.fence, approval=approval)).view.task

    async def claim(
        self, board: Board, who: Connection, task: Task, approval: Approval | None = None
    ) -> Task:
        """Return the task after a worker claimed it."""
        patch = Patch(status=Status.ASSIGNED)
        claimed = await board.change(ROOM, task.task_id, patch, who.fence, approval=approval)
        return claimed.task

    async def close(
        self, board: Board, who: Connection, task: Task, approval: Approval | None = None
    ) -> Task:
        """Return the task after a worker cancelled it."""
        patch = Patch(status=Status.CANCELLED)
        closed = await board.change(ROOM, task.task_id, patch, who.fence, approval=approval)
        return closed.task

    async def move(self, board: Board, task: Task, status: Status) -> Task:
        """Return the task after the room's owner moved it."""
        return (await board.change(ROOM, task.task_id, Patch(status=status))).task

    async def asks_to_claim(self, governance: Governance, who: Connection, task: Task) -> Proposed:
        """Return the intent of a worker to claim a task."""
        session = who.session
        payload = change_payload(
            task.task_id,
            status="assigned",
            assignee=session.actor_label,
            assignee_agent_key=session.agent_key,
        )
        return await governance.propose(ROOM, Action.TASK_CLAIM, payload, fence=who.fence)

    async def asks_to_create(
        self, governance: Governance, who: Connection, title: str = "Oil the gate"
    ) -> Proposed:
        """Return the intent of a worker to put a task on the board."""
        payload = create_payload(title)
        return await governance.propose(ROOM, Action.TASK_CREATE, payload, fence=who.fence)

    async def status_of(self, governance: Governance, intent: Intent) -> IntentStatus:
        """Return how that intent stands."""
        found = (await governance.intents(ROOM)).intents
        return next(one.status for one in found if one.intent_id == intent.intent_id)

    async def said(self, rooms: RoomTransport, *starts: str) -> list[Message]:
        """Return what the room said that begins with one of these."""
        page = await rooms.read(ROOM, Latest(500))
        return [one for one in page.messages if one.text.startswith(starts)]

    def everything_said(self, messages: list[Message]) -> str:
        """Return the texts of messages as one."""
        return "\n".join(message.text for message in messages)


class EverythingIsAsked(BoardCallers):
    """Those who act where everything has to be approved."""

    @pytest.fixture(autouse=True)
    async def everything_is_asked(self, governance: Governance, ada: Connection) -> None:
        """Let the room want approvals for everything."""
        await governance.set_mode(ROOM, ManagerMode.INTENT_REQUIRED)
