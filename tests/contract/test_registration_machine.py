"""Whatever the order of registering, returning, leaving, dying and answers that get lost.

At most one process can act for a worker in a room: the newest that was told that it may. A chat's
handle never changes, nor does the name that a room gave it.
"""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)
from tests.contract.machine import ELSEWHERE, ROOM, Machine, Process, raising, switched_on

from letagents.application.callers import Claim
from letagents.application.registration import Registered
from letagents.domain.errors import (
    ConnectionLost,
    LetAgentsError,
    OutcomeUnknown,
    RoomsUnavailable,
)
from letagents.domain.ids import RegistrationKey, RoomId, WorkerId
from letagents.domain.messages import Latest
from letagents.domain.sessions import Connection
from letagents.ports.state import T

KEYS = (RegistrationKey("one chat's key"), RegistrationKey("another chat's key"))
UNANSWERED = OutcomeUnknown("The room did not answer.", remedy="Read before calling again.")
BUSY = RoomsUnavailable("The place is busy.", remedy="Call again.")

Place = tuple[RegistrationKey, RoomId]

keys = st.sampled_from(KEYS)
rooms = st.sampled_from((ROOM, ELSEWHERE))
names = st.sampled_from(("Juniper", "Sage", None))


class RegistrationMachine(RuleBasedStateMachine):
    """Some processes of one machine, and who of them was last told that it holds a worker."""

    durable: ClassVar[bool] = False
    processes = Bundle("processes")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.switch = switched_on(Path(self.folder.name) if self.durable else None)
        self.machine: Machine = self.done(self.switch.__aenter__())
        self.living: list[Process] = []
        self.newest: dict[Place, Process] = {}
        self.handles: dict[RegistrationKey, WorkerId] = {}
        self.named: dict[Place, str] = {}

    def done(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.done(self.switch.__aexit__(None, None, None))
        self.runner.close()
        self.folder.cleanup()

    @initialize(target=processes)
    def begins_first(self) -> Process:
        return self.begun()

    @rule(target=processes)
    def begins(self) -> Process:
        return self.begun()

    def begun(self) -> Process:
        process = self.done(self.machine.process())
        self.living.append(process)
        return process

    @rule(process=consumes(processes))
    def dies(self, process: Process) -> None:
        self.living.remove(process)
        self.newest = {place: one for place, one in self.newest.items() if one is not process}

    @rule(process=processes, key=keys, room=rooms, name=names)
    def registers(
        self, process: Process, key: RegistrationKey, room: RoomId, name: str | None
    ) -> None:
        self.is_told(process, key, room, self.done(process.register(key, name, room)))

    @rule(process=processes, key=keys, room=rooms)
    def returns(self, process: Process, key: RegistrationKey, room: RoomId) -> None:
        if key in self.handles:
            told = self.done(process.reconnect(self.handles[key], room))
            self.is_told(process, key, room, told)

    @rule(process=processes, key=keys, room=rooms)
    def never_hears_the_answer(self, process: Process, key: RegistrationKey, room: RoomId) -> None:
        process.rooms.after.append(raising(UNANSWERED))
        with suppress(OutcomeUnknown):
            self.is_told(process, key, room, self.done(process.register(key, None, room)))
        if process.rooms.after:
            process.rooms.after.clear()  # what it holds already, it was told from memory
        else:
            self.newest.pop((key, room), None)

    @rule(process=processes, key=keys, room=rooms)
    def is_refused(self, process: Process, key: RegistrationKey, room: RoomId) -> None:
        process.rooms.before.append(raising(BUSY))
        with suppress(RoomsUnavailable):
            self.is_told(process, key, room, self.done(process.register(key, None, room)))
        process.rooms.before.clear()

    @rule(process=processes, key=keys, room=rooms)
    def leaves(self, process: Process, key: RegistrationKey, room: RoomId) -> None:
        held = self.holds(process, key, room)
        if held is None:
            return
        try:
            self.done(process.client.registration.disconnect(held))
        except ConnectionLost:
            assert self.newest.get((key, room)) is not process
        else:
            assert self.newest.pop((key, room)) is process

    @rule(process=processes, key=keys, room=rooms)
    def speaks(self, process: Process, key: RegistrationKey, room: RoomId) -> None:
        if key not in self.handles:
            return
        try:
            self.done(self.speaking(process, Claim(self.handles[key], room_id=room)))
        except LetAgentsError:
            assert self.newest.get((key, room)) is not process
        else:
            assert self.newest.get((key, room)) is process

    @invariant()
    def at_most_one_process_can_act_and_it_is_the_newest(self) -> None:
        for key in self.handles:
            for room in (ROOM, ELSEWHERE):
                heard = [one for one in self.living if self.is_heard(one, key, room)]
                newest = self.newest.get((key, room))
                assert heard == ([] if newest is None else [newest])

    async def speaking(self, process: Process, claim: Claim) -> None:
        speaker = await process.client.callers.acting(claim, None)
        await process.client.messages.send(speaker, "do you hear me?")

    def is_told(
        self, process: Process, key: RegistrationKey, room: RoomId, told: Registered
    ) -> None:
        self.newest[key, room] = process
        name = told.connection.session.display_name
        assert self.handles.setdefault(key, told.worker_id) == told.worker_id
        assert self.named.setdefault((key, room), name) == name
        others = {one: given for (one, where), given in self.named.items() if where == room}
        assert list(others.values()).count(name) == 1

    def holds(self, process: Process, key: RegistrationKey, room: RoomId) -> Connection | None:
        worker_id = self.handles.get(key)
        return process.client.connections.held(worker_id, room) if worker_id else None

    def is_heard(self, process: Process, key: RegistrationKey, room: RoomId) -> bool:
        """Whether the room admits what the process holds; it learns nothing of our asking."""
        held = self.holds(process, key, room)
        if held is None:
            return False
        try:
            self.done(process.rooms.read(room, Latest(1), held.fence))
        except ConnectionLost:
            return False
        return True


class OverFiles(RegistrationMachine):
    durable = True


TestOverMemory = RegistrationMachine.TestCase
TestOverMemory.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, derandomize=True
)
TestOverFiles = OverFiles.TestCase
TestOverFiles.settings = settings(
    max_examples=8,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
