"""In whatever order agents are called, read, answer, leave and come back, receipts are as they are.

Each step is a transaction of its own, so all that can race is the order of steps: that is what the
machine chooses. Besides, two readers of one session and its reply are let run at the same time.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from tests.contract.kept_rooms import place_for
from tests.contract.served import KeptRooms

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.kept.receipts import KeptReceipts
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.errors import ConnectionLost
from letagents.domain.ids import MessageId
from letagents.domain.messages import Latest
from letagents.domain.receipts import State
from letagents.domain.sessions import Connection
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival, draft
from letagents.testing.determinism import CountingIds, ManualClock

T = TypeVar("T")

LISTENERS = (2, 3)
WHO = st.sampled_from(LISTENERS)
PICK = st.integers(0, 20)


class ReceiptMachine(RuleBasedStateMachine):
    """One agent calls the others; what becomes of each message is written down here beside."""

    in_memory: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.rooms = self.opened()
        self.receipts = KeptReceipts(self.rooms)
        self.secrets = 10
        self.said = 0
        self.states: dict[tuple[int, int], State] = {}
        """By message and listener."""
        self.run(self.rooms.join(ROOM))
        self.caller = self.run(self.rooms.connect(ROOM, arrival(ADA, 1)))
        self.held: dict[int, Connection] = {}
        self.live: set[int] = set()
        for number in LISTENERS:
            self.comes(number)

    def opened(self) -> KeptRooms:
        if self.in_memory:
            return MemoryRooms(CountingIds(), ManualClock())
        place = Path(self.folder.name) / "rooms.db"
        return LocalRooms(place, CountingIds(), ManualClock(), NoNudges())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        if isinstance(self.rooms, LocalRooms):
            self.run(self.rooms.aclose())
        self.loop.close()
        self.folder.cleanup()

    def text(self, words: str) -> str:
        self.said += 1
        return f"{words} ({self.said})"

    def called(self, words: str, meant: tuple[int, ...]) -> None:
        made = self.run(self.rooms.post(ROOM, draft(self.text(words)), self.caller.fence))
        for number in meant:
            if number in self.live:
                self.states[made.id.number, number] = State.QUEUED

    def of(self, number: int) -> list[tuple[int, int]]:
        return [key for key in self.states if key[1] == number]

    @rule(number=WHO)
    def calls_one(self, number: int) -> None:
        self.called(f"@Worker{number} look", (number,))

    @rule()
    def calls_all(self) -> None:
        self.called("everyone, look", LISTENERS)

    @rule(number=WHO)
    def comes(self, number: int) -> None:
        """Come for the first time, after leaving, or in the place of the process before."""
        self.secrets += 1
        before = self.held.get(number)
        arriving = arrival(number, self.secrets, after=before)
        self.held[number] = self.run(self.rooms.connect(ROOM, arriving))
        self.live.add(number)

    @rule(number=WHO)
    def leaves(self, number: int) -> None:
        if number not in self.live:
            return
        self.run(self.rooms.disconnect(ROOM, self.held[number].fence))
        self.live.discard(number)
        for key in self.of(number):
            if self.states[key].is_open:
                self.states[key] = State.UNAVAILABLE

    @rule(number=WHO)
    def reads(self, number: int) -> None:
        if number not in self.live:
            with pytest.raises(ConnectionLost):
                self.run(self.rooms.read(ROOM, Latest(500), self.held[number].fence))
            return
        self.run(self.rooms.read(ROOM, Latest(500), self.held[number].fence))
        for key in self.of(number):
            if self.states[key] in (State.QUEUED, State.UNAVAILABLE):
                self.states[key] = State.RESPONDING

    @rule(number=WHO)
    def says(self, number: int) -> None:
        if number in self.live:
            self.run(self.rooms.post(ROOM, draft(self.text("I am on it")), self.held[number].fence))
            self.acknowledged(number)

    @rule(number=WHO, which=PICK)
    def replies(self, number: int, which: int) -> None:
        messages = sorted({message for message, _ in self.states})
        if number not in self.live or not messages:
            return
        message = messages[which % len(messages)]
        found = self.run(self.rooms.message(ROOM, MessageId(message)))
        reply = draft(self.text("yes"), reply_to=found)
        self.run(self.rooms.post(ROOM, reply, self.held[number].fence))
        self.acknowledged(number)
        if (message, number) in self.states:
            self.states[message, number] = State.ACKNOWLEDGED

    def acknowledged(self, number: int) -> None:
        for key in self.of(number):
            if self.states[key] is State.RESPONDING:
                self.states[key] = State.ACKNOWLEDGED

    @invariant()
    def receipts_are_as_they_are_written_down_here(self) -> None:
        self.run(self.rooms.note(ROOM, lambda _book: None))  # what was shown is written by then
        for message in {message for message, _ in self.states}:
            found = self.run(self.receipts.of(ROOM, MessageId(message)))
            expected = {who: state for (one, who), state in self.states.items() if one == message}
            assert {int(one.agent_key[-1]): one.state for one in found} == expected


class InSqlite(ReceiptMachine):
    in_memory = False


@pytest.mark.rule("A71", "A72", "A73", "A74")
@pytest.mark.parametrize(("machine", "examples"), [(ReceiptMachine, 20), (InSqlite, 2)])
def test_in_whatever_order_things_happen_receipts_are_as_they_are(
    machine: type[RuleBasedStateMachine], examples: int
) -> None:
    options = settings(max_examples=examples, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(machine, settings=options)


@pytest.fixture(params=["memory", "local", pytest.param("postgres", marks=pytest.mark.long)])
async def rooms(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeptRooms]:
    if request.param == "memory":
        yield MemoryRooms(CountingIds(), ManualClock())
        return
    place = place_for(request.param, tmp_path)
    local = LocalRooms(place, CountingIds(), ManualClock(), NoNudges())
    yield local
    await local.aclose()


@pytest.mark.anyio
@pytest.mark.rule("A73", "A74")
async def test_readers_a_reply_and_a_leave_at_once_leave_each_receipt_in_one_end(
    rooms: KeptRooms,
) -> None:
    await rooms.join(ROOM)
    caller = await rooms.connect(ROOM, arrival(ADA, 1))
    receipts, ends = KeptReceipts(rooms), set()
    before: Connection | None = None
    for turn in range(10):
        before = bob = await rooms.connect(ROOM, arrival(2, 20 + turn, after=before))
        called = await rooms.post(ROOM, draft(f"@Worker2 look {turn}"), caller.fence)

        async def attempt(work: Coroutine[Any, Any, object]) -> None:
            with contextlib.suppress(ConnectionLost):  # it had left by then
                await work

        async with anyio.create_task_group() as together:
            reply = draft(f"yes {turn}", reply_to=called)
            together.start_soon(attempt, rooms.read(ROOM, Latest(), bob.fence))
            together.start_soon(attempt, rooms.post(ROOM, reply, bob.fence))
            together.start_soon(attempt, rooms.read(ROOM, Latest(), bob.fence))
            together.start_soon(attempt, rooms.disconnect(ROOM, bob.fence))
        await rooms.note(ROOM, lambda _book: None)
        [one] = await receipts.of(ROOM, called.id)
        ends.add(one.state)
        said = (await rooms.read(ROOM, Latest(1))).messages[-1]
        has_replied = said.reply_to is not None and said.reply_to.id == called.id

        assert one.state is (State.ACKNOWLEDGED if has_replied else State.UNAVAILABLE)

    assert ends <= {State.ACKNOWLEDGED, State.UNAVAILABLE}
