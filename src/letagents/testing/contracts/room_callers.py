"""Who comes into rooms and speaks there, in the suites that every RoomTransport is to pass."""

import hashlib
from datetime import timedelta

import attrs
import pytest

from letagents.domain.ids import ClientKey, MessageId, RoomId, Token, WorkerId
from letagents.domain.messages import Draft, Message, Page
from letagents.domain.sessions import Arrival, Connection, Predecessor, SessionKind
from letagents.ports.rooms import RoomTransport
from letagents.testing.determinism import ManualClock

ROOM = RoomId("workshop")
ADA, BOB = 1, 2
SOON = timedelta(seconds=5)
AT_ONCE = timedelta(0)


def secret(number: int) -> Token:
    """Return the `number`-th secret."""
    return Token(f"s{number:042d}")


def worker(number: int) -> WorkerId:
    """Return the `number`-th worker's handle."""
    return WorkerId(f"worker_{number:032x}")


def arrival(number: int, token: int, after: Connection | None = None) -> Arrival:
    """Return how the worker of that number arrives under a secret, following a connection."""
    return Arrival(
        token=secret(token),
        agent_key=f"ada/worker-{number:032x}",
        instance_id=str(worker(number)),
        display_name=f"Worker{number}",
        owner_label="Ada",
        ide_label="Claude Code",
        runtime="claude-code",
        worker_id=worker(number),
        predecessor=Predecessor(after.fence.session_id, after.fence.token) if after else None,
    )


def person(token: int = 900) -> Arrival:
    """Return how a human being arrives."""
    return attrs.evolve(
        arrival(9, token),
        agent_key="human/ada",
        display_name="Ada",
        worker_id=None,
        instance_id="terminal",
        kind=SessionKind.PERSON,
    )


def passing_chat(token: int, *, name: str = "Guest") -> Arrival:
    """Return how a chat without a lasting handle arrives; all of them are one agent."""
    return attrs.evolve(
        arrival(8, token),
        agent_key="guest/chat",
        display_name=name,
        worker_id=None,
        instance_id="process-1",
    )


def draft(text: str, *, reply_to: Message | None = None, thread: Message | None = None) -> Draft:
    """Return a draft whose key is its text."""
    return Draft(
        text,
        ClientKey(hashlib.sha256(text.encode()).hexdigest()),
        reply_to=reply_to.id if reply_to else None,
        thread=thread.id if thread else None,
    )


def texts(page: Page) -> list[str]:
    """Return what is said in a page."""
    return [message.text for message in page.messages]


def cursor(number: int) -> MessageId:
    """Return the id of the message with that number."""
    return MessageId(number)


class RoomCallers:
    """Those who come into the rooms of a suite, which has a fixture `rooms` of its own."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return what moves the time of `rooms`, if they take their time from it."""
        return ManualClock()

    @pytest.fixture
    def elsewhere(self, rooms: RoomTransport) -> RoomTransport:
        """Return another transport on the place of `rooms`, where there can be one."""
        return rooms

    @pytest.fixture
    async def ada(self, rooms: RoomTransport) -> Connection:
        """Return a worker connected in a new room."""
        await rooms.join(ROOM)
        return await rooms.connect(ROOM, arrival(ADA, 1))

    @pytest.fixture
    async def bob(self, rooms: RoomTransport, ada: Connection) -> Connection:
        """Return a second worker of the same room."""
        return await rooms.connect(ROOM, arrival(BOB, 2))
