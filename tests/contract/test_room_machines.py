"""A state machine plays the callers of a room: the orders of calls that nobody wrote a test for."""

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import attrs
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.postgres_server import emptied

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.rooms.local import LocalRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.domain.errors import (
    ConnectionLost,
    KeyReused,
    Malformed,
    RegistrationConflict,
    UnknownMessage,
)
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, MessageId, SessionId, WorkerId
from letagents.domain.messages import After, Before, Draft, Latest, Message
from letagents.domain.sessions import Arrival, Connection, lasting_session_id
from letagents.ports.rooms import RoomTransport
from letagents.testing.contracts.room_callers import ROOM, arrival, texts
from letagents.testing.determinism import CountingIds, ManualClock

T = TypeVar("T")

OPTIONS = settings(max_examples=20, stateful_step_count=25, deadline=None)


class RoomMachine(RuleBasedStateMachine):
    """Has two transports on one place, and runs each call to its end."""

    in_memory: ClassVar[bool]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="machine-")
        self.opened: list[LocalRooms] = []
        self.transports = self.transports_on_one_place()
        self.run(self.transports[0].join(ROOM))

    def transports_on_one_place(self) -> list[RoomTransport]:
        clock = ManualClock()
        if self.in_memory:
            return [MemoryRooms(CountingIds(), clock)] * 2
        place = self.place()
        for process in (1, 2):
            ids = CountingIds(first=process * 1_000_000)
            self.opened.append(LocalRooms(place, ids, clock, NoNudges()))
        return list(self.opened)

    def place(self) -> Path | str:
        return Path(self.folder.name) / "rooms.db"

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run(call)

    def teardown(self) -> None:
        for rooms in self.opened:
            rooms.close()
        self.loop.close()
        self.folder.cleanup()


SIDES = st.sampled_from([0, 1])
NUMBERS = st.integers(1, 3)


@attrs.frozen
class Held:
    """A connection, with the arrival that made it."""

    arrival: Arrival
    connection: Connection

    @property
    def fence(self) -> Fence:
        return self.connection.fence


class ConnectionsMachine(RoomMachine):
    """Whatever the order of connecting, leaving and speaking, only the newest is heard."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.newest: dict[SessionId, Fence] = {}
        self.live: set[SessionId] = set()
        self.tokens = 0
        self.heard: list[str] = []

    def admitted(self, fence: Fence) -> bool:
        return fence.session_id in self.live and self.newest[fence.session_id] == fence

    def a_new_token(self) -> int:
        self.tokens += 1
        return self.tokens

    def settled(self, made: Held) -> Held:
        self.newest[made.fence.session_id] = made.fence
        self.live.add(made.fence.session_id)
        return made

    @rule(target=held, worker=NUMBERS, side=SIDES)
    def arrive_for_the_first_time(self, worker: int, side: int) -> Any:
        coming = arrival(worker, self.a_new_token())
        is_known = lasting_session_id(WorkerId(coming.instance_id), ROOM) in self.newest
        try:
            connection = self.run(self.transports[side].connect(ROOM, coming))
        except RegistrationConflict:
            assert is_known
            return multiple()
        assert not is_known
        assert connection.fence.generation == 1
        return self.settled(Held(coming, connection))

    @rule(target=held, before=held, side=SIDES)
    def follow(self, before: Held, side: int) -> Any:
        worker = int(before.arrival.instance_id.removeprefix("worker_"), 16)
        coming = arrival(worker, self.a_new_token(), after=before.connection)
        was_newest = self.newest[before.fence.session_id].token == before.fence.token
        generation = self.newest[before.fence.session_id].generation
        try:
            connection = self.run(self.transports[side].connect(ROOM, coming))
        except RegistrationConflict:
            assert not was_newest
            return multiple()
        assert was_newest
        assert connection.fence.generation == generation + 1
        assert connection.session.display_name == before.connection.session.display_name
        return self.settled(Held(coming, connection))

    @rule(target=held, before=held, side=SIDES)
    def ask_again(self, before: Held, side: int) -> Any:
        newest = self.newest[before.fence.session_id]
        was_live = before.fence.session_id in self.live
        try:
            connection = self.run(self.transports[side].connect(ROOM, before.arrival))
        except RegistrationConflict:
            assert newest.token != before.fence.token
            return multiple()
        assert newest.token == before.fence.token
        assert connection.fence.generation == newest.generation + (not was_live)
        return self.settled(Held(before.arrival, connection))

    @rule(one=held, side=SIDES)
    def leave(self, one: Held, side: int) -> None:
        may = self.admitted(one.fence)
        try:
            self.run(self.transports[side].disconnect(ROOM, one.fence))
        except ConnectionLost:
            assert not may
        else:
            assert may
            self.live.remove(one.fence.session_id)

    @rule(one=held, side=SIDES)
    def speak(self, one: Held, side: int) -> None:
        text = f"number {len(self.heard) + 1}"
        draft = Draft(text, ClientKey(text))
        try:
            message = self.run(self.transports[side].post(ROOM, draft, one.fence))
        except ConnectionLost:
            assert not self.admitted(one.fence)
        else:
            assert self.admitted(one.fence)
            self.heard.append(text)
            assert message.id.number == len(self.heard)

    @rule(one=held, side=SIDES)
    def look(self, one: Held, side: int) -> None:
        try:
            page = self.run(self.transports[side].read(ROOM, After(limit=500), one.fence))
        except ConnectionLost:
            assert not self.admitted(one.fence)
        else:
            assert self.admitted(one.fence)
            assert texts(page) == self.heard

    @invariant()
    def what_was_heard_is_there(self) -> None:
        for transport in self.transports:
            assert texts(self.run(transport.read(ROOM, After(limit=500)))) == self.heard


@attrs.frozen
class Said:
    """A draft that was accepted, and where it went by the rules."""

    draft: Draft
    reply_to: int | None
    root: int | None


class MessagesMachine(RoomMachine):
    """Readers see each message once and in order, and no key ever makes two."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = 2
        self.authors = [
            self.run(self.transports[0].connect(ROOM, arrival(one, one))) for one in (1, 2)
        ]
        self.said: list[Said] = []
        self.made: dict[tuple[int, str], int] = {}
        self.read = {0: 0, 1: 0}

    def root_of(self, number: int) -> int:
        return self.said[number - 1].root or number

    def fits(self, reply_to: int | None, thread: int | None) -> bool:
        named = [number for number in (reply_to, thread) if number is not None]
        if any(number > len(self.said) for number in named):
            return False
        return len({self.root_of(number) for number in named}) <= 1

    @rule(
        author=SIDES,
        side=SIDES,
        key=st.sampled_from("abcdef"),
        text=st.sampled_from(["yes", "no"]),
        reply_to=st.none() | st.integers(1, 6),
        thread=st.none() | st.integers(1, 6),
    )
    def say(
        self,
        author: int,
        side: int,
        key: str,
        text: str,
        reply_to: int | None,
        thread: int | None,
    ) -> None:
        draft = Draft(
            text,
            ClientKey(key),
            reply_to=MessageId(reply_to) if reply_to else None,
            thread=MessageId(thread) if thread else None,
        )
        fits, before = self.fits(reply_to, thread), self.made.get((author, key))
        post = self.transports[side].post(ROOM, draft, self.authors[author].fence)
        try:
            message = self.run(post)
        except (UnknownMessage, Malformed):
            assert not fits
            return
        except KeyReused:
            assert before is not None
            assert self.said[before - 1] != self.placed(draft)
            return
        assert fits
        if before is None:
            self.said.append(self.placed(draft))
            self.made[author, key] = before = len(self.said)
        assert message.id.number == before
        assert self.said[before - 1] == self.placed(draft)

    def placed(self, draft: Draft) -> Said:
        return Said(
            draft=Draft(draft.text, draft.key),
            reply_to=draft.reply_to.number if draft.reply_to else None,
            root=self.root_of(draft.thread.number) if draft.thread else None,
        )

    @rule(author=SIDES, side=SIDES)
    def come_back(self, author: int, side: int) -> None:
        self.tokens += 1
        back = arrival(author + 1, self.tokens, after=self.authors[author])
        self.authors[author] = self.run(self.transports[side].connect(ROOM, back))

    @rule(count=st.integers(2, 6))
    def say_many_at_once(self, count: int) -> None:
        at = len(self.said)
        drafts = [Draft(f"many {at} {one}", ClientKey(f"{at}-{one}")) for one in range(count)]

        async def say_all() -> list[Message]:
            return await asyncio.gather(
                *(
                    self.transports[one % 2].post(ROOM, draft, self.authors[one % 2].fence)
                    for one, draft in enumerate(drafts)
                )
            )

        said = sorted(self.run(say_all()), key=lambda message: message.id)
        assert [message.id.number for message in said] == list(range(at + 1, at + count + 1))
        self.said += [Said(Draft(one.text, self.key_of(one, drafts)), None, None) for one in said]

    def key_of(self, message: Message, drafts: list[Draft]) -> ClientKey:
        return next(draft.key for draft in drafts if draft.text == message.text)

    @rule(reader=SIDES, limit=st.integers(1, 5), waits=st.booleans())
    def read_on(self, reader: int, limit: int, waits: bool) -> None:
        at = self.read[reader]
        window = After(MessageId(at) if at else None, limit)
        transport = self.transports[reader]
        if waits:
            page = self.run(transport.wait(ROOM, window, timeout=timedelta(0)))
        else:
            page = self.run(transport.read(ROOM, window))

        self.check(page.messages, self.said[at : at + limit], first=at + 1)
        assert page.more == (at + limit < len(self.said))
        self.read[reader] = at + len(page.messages)

    @rule(side=SIDES, before=st.integers(1, 30), limit=st.integers(1, 5))
    def look_back(self, side: int, before: int, limit: int) -> None:
        page = self.run(self.transports[side].read(ROOM, Before(MessageId(before), limit)))

        end = min(before - 1, len(self.said))
        start = max(0, end - limit)
        self.check(page.messages, self.said[start:end], first=start + 1)
        assert page.more == (start > 0)

    @rule(side=SIDES, limit=st.integers(1, 5))
    def look_at_the_newest(self, side: int, limit: int) -> None:
        page = self.run(self.transports[side].read(ROOM, Latest(limit)))

        start = max(0, len(self.said) - limit)
        self.check(page.messages, self.said[start:], first=start + 1)
        assert page.more == (start > 0)

    def check(self, shown: Sequence[Message], said: Sequence[Said], *, first: int) -> None:
        assert [one.id.number for one in shown] == list(range(first, first + len(said)))
        assert [one.text for one in shown] == [one.draft.text for one in said]
        assert [one.reply_to.id.number if one.reply_to else None for one in shown] == [
            one.reply_to for one in said
        ]
        assert [one.thread_root.number if one.is_thread_reply else None for one in shown] == [
            one.root for one in said
        ]


class ConnectionsInMemory(ConnectionsMachine):
    in_memory = True


class ConnectionsInSqlite(ConnectionsMachine):
    in_memory = False


class ConnectionsInPostgres(ConnectionsInSqlite):
    def place(self) -> Path | str:
        return emptied()


class MessagesInMemory(MessagesMachine):
    in_memory = True


class MessagesInSqlite(MessagesMachine):
    in_memory = False


class MessagesInPostgres(MessagesInSqlite):
    def place(self) -> Path | str:
        return emptied()


@pytest.mark.rule("R1", "R2", "R11", "E2", "E3", "E5")
@pytest.mark.parametrize(
    "machine", [ConnectionsInMemory, ConnectionsInSqlite, ConnectionsInPostgres]
)
def test_whatever_the_order_only_the_newest_is_heard(machine: type[RoomMachine]) -> None:
    run_state_machine_as_test(machine, settings=OPTIONS)


@pytest.mark.rule("R3", "R5", "R6", "M3", "M4", "M6")
@pytest.mark.parametrize("machine", [MessagesInMemory, MessagesInSqlite, MessagesInPostgres])
def test_whatever_the_order_each_message_is_seen_once(machine: type[RoomMachine]) -> None:
    run_state_machine_as_test(machine, settings=OPTIONS)
