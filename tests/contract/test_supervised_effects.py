"""A supervisor does each call once, and writes down what became of it, whatever goes wrong."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import pytest
from tests.contract.supervised import put_agent_in_turn

from letagents.adapters.supervision.memory import MemoryPlace, MemorySupervision
from letagents.adapters.supervision.sql import SqlSupervision
from letagents.application.agents.effect_runs import EffectRuns
from letagents.application.agents.effect_steps import Asked, EffectSteps, Told
from letagents.application.agents.recovering import Found, recover
from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.domain import inbox
from letagents.domain.bindings import Claim
from letagents.domain.effect_authority import Coordinates
from letagents.domain.effects import LARGEST_READ, Answer, EffectRefused, State
from letagents.domain.errors import LetAgentsError, OutcomeUnknown, StateUnavailable
from letagents.domain.generations import FenceLost
from letagents.domain.ids import Token
from letagents.domain.inbox import Item
from letagents.domain.manifest import TurnControl, TurnControlStatus
from letagents.domain.room_moves import RoomMoveRefused
from letagents.ports.supervision import Journal, Supervision
from letagents.ports.tools import Authority
from letagents.testing.contracts.supervisor import MESSAGE, ROOM
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wire.supervisor import canonical, parsed

pytestmark = pytest.mark.anyio

AT = Coordinates("e1", "w1", "x1", 1)
CLAIM = Claim("e1", ROOM, "w1", "x1", "s1", "https://letagents.example")


@attrs.frozen
class Held:
    """A supervisor that is never replaced."""

    generation: int = 1

    def check(self) -> None:
        """Do nothing."""


@attrs.define(eq=False)
class SlowTools:
    """Does each call when it is let, and ends as it is told to."""

    outcome: Mapping[str, object] | LetAgentsError = attrs.field(factory=lambda: {"n": 1})
    let: asyncio.Event = attrs.field(factory=asyncio.Event)
    begun: asyncio.Event = attrs.field(factory=asyncio.Event)
    runs: int = 0
    meanwhile: Callable[[], None] = lambda: None

    async def run(
        self, tool: str, arguments: Mapping[str, object], authority: Authority
    ) -> Mapping[str, object]:
        self.runs += 1
        self.begun.set()
        await self.let.wait()
        self.meanwhile()
        if isinstance(self.outcome, LetAgentsError):
            raise self.outcome
        return self.outcome


@attrs.define(eq=False)
class Supervised:
    """A supervisor whose agent is in a turn."""

    tools: SlowTools = attrs.field(factory=SlowTools)
    place: MemoryPlace = attrs.field(factory=MemoryPlace)
    runs: EffectRuns = attrs.field(init=False)
    sessions: Supervising = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.use(MemorySupervision(self.place, 1))

    def use(self, journal: Supervision) -> None:
        """Write down in that journal, from now on."""
        self.sessions = Supervising(journal, Held(), ManualClock())
        self.runs = EffectRuns(EffectSteps(self.sessions, canonical), CountingIds(), self.tools)

    async def start(self, *, is_let: bool = True) -> None:
        await self.sessions.journal.change(put_agent_in_turn)
        await self.sessions.bind(CLAIM, Token(f"t{1:042d}"))
        if is_let:
            self.tools.let.set()

    async def execute(self, asked: Asked) -> Told:
        return await self.runs.execute(AT, asked)

    def states(self) -> list[State]:
        return [one.state for one in self.place.journal.effects_of_turn("e1", "t1")]


def asked(number: int = 1, tool: str = "post_status", **arguments: object) -> Asked:
    given = arguments or {"status": "working"}
    return Asked(str(number), tool, given, canonical(given))


@pytest.fixture
async def supervised(anyio_backend: str) -> Supervised:
    return Supervised()


async def test_of_those_who_ask_at_once_one_does_it(supervised: Supervised) -> None:
    await supervised.start(is_let=False)
    asking = [asyncio.create_task(supervised.execute(asked())) for _ in range(3)]
    async with asyncio.timeout(30):
        await supervised.tools.begun.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        with pytest.raises(EffectRefused, match="refusing ambiguous execution"):
            await supervised.execute(asked(status="blocked"))
        supervised.tools.let.set()
        told = await asyncio.gather(*asking)

    assert supervised.tools.runs == 1
    assert {(one.answer, one.effect.result) for one in told} == {(Answer.COMPLETED, '{"n":1}')}


async def test_of_those_who_ask_at_once_one_does_it_while_the_journal_is_written_elsewhere(
    anyio_backend: str, tmp_path: Path
) -> None:
    journal = SqlSupervision(tmp_path / "supervisor.db", 1)
    supervised = Supervised()
    supervised.use(journal)
    await supervised.start()
    told = await asyncio.gather(*(supervised.execute(asked()) for _ in range(3)))
    again = await supervised.execute(asked())
    await supervised.runs.drained()
    await journal.aclose()

    assert supervised.tools.runs == 1
    assert {one.effect.effect_id for one in (*told, again)} == {told[0].effect.effect_id}
    assert {one.answer for one in (*told, again)} == {Answer.COMPLETED}


async def test_what_was_begun_ends_when_who_asked_has_gone(supervised: Supervised) -> None:
    await supervised.start(is_let=False)
    asking = asyncio.create_task(supervised.execute(asked()))
    async with asyncio.timeout(30):
        await supervised.tools.begun.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        supervised.tools.let.set()
        told = await supervised.execute(asked())

    assert told.effect.result == '{"n":1}'
    assert supervised.tools.runs == 1
    assert supervised.states() == [State.COMPLETED]


async def test_what_was_done_is_told_also_while_the_session_has_no_secret(
    supervised: Supervised,
) -> None:
    await supervised.start()
    await supervised.execute(asked())
    supervised.sessions.vault.forget()

    assert (await supervised.execute(asked())).effect.result == '{"n":1}'
    with pytest.raises(EffectRefused, match="identity is unavailable"):
        await supervised.execute(asked(2))
    assert supervised.tools.runs == 1


async def test_what_became_of_a_call_is_said_once_and_by_whoever_is_in_its_turn(
    supervised: Supervised,
) -> None:
    await supervised.start()
    effects = SupervisedEffects(supervised.sessions, CountingIds(), canonical)
    first = (await effects.prepare(AT, asked(), is_change=True)).effect.effect_id
    await effects.complete(AT, first, result='{"n":1}', error=None)
    await effects.complete(AT, first, result=None, error="It failed after all.")
    second = (await effects.prepare(AT, asked(2), is_change=True)).effect.effect_id

    def go_on(journal: Journal) -> None:
        (item,) = journal.unfinished("e1")
        assert item.turn is not None
        journal.put_item(attrs.evolve(item, turn=attrs.evolve(item.turn, turn_id="t2")))

    await supervised.sessions.journal.change(go_on)
    with pytest.raises(EffectRefused, match="turn"):
        await effects.complete(AT, second, result='{"n":2}', error=None)
    await effects.complete(AT, first, result='{"n":3}', error=None)
    assert supervised.states() == [State.COMPLETED, State.EXECUTING]


async def test_a_tool_that_refused_is_not_called_again(supervised: Supervised) -> None:
    await supervised.start()
    supervised.tools.outcome = StateUnavailable("It is away.", remedy="Wait.")
    with pytest.raises(StateUnavailable):
        await supervised.execute(asked())
    told = await supervised.execute(asked())

    assert told.answer is Answer.FAILED
    assert told.effect.error == "It is away. Wait."
    assert supervised.tools.runs == 1


@pytest.mark.parametrize("outcome", [{"n": 1}, OutcomeUnknown("No answer came.", remedy="Look.")])
async def test_a_change_that_could_not_be_noted_is_never_said_to_have_changed_nothing(
    supervised: Supervised, outcome: Mapping[str, object] | LetAgentsError
) -> None:
    await supervised.start()
    supervised.tools.outcome = outcome

    def fail() -> None:
        supervised.place.fault = StateUnavailable("The disk is full.", remedy="Make room.")

    supervised.tools.meanwhile = fail
    with pytest.raises(OutcomeUnknown):
        await supervised.execute(asked())
    supervised.place.fault = None

    assert (await supervised.execute(asked())).answer is Answer.UNCERTAIN
    assert supervised.tools.runs == 1


async def test_a_change_whose_outcome_is_unknown_is_uncertain(supervised: Supervised) -> None:
    await supervised.start()
    supervised.tools.outcome = OutcomeUnknown("No answer came.", remedy="Look.")
    with pytest.raises(OutcomeUnknown):
        await supervised.execute(asked())
    with pytest.raises(OutcomeUnknown):
        await supervised.execute(asked(2, "get_board"))

    assert (await supervised.execute(asked())).answer is Answer.UNCERTAIN
    assert supervised.tools.runs == 2
    assert supervised.states() == [State.UNCERTAIN, State.FAILED]


async def test_what_was_done_and_could_not_be_written_down_is_never_called_failed(
    supervised: Supervised,
) -> None:
    await supervised.start()

    def be_replaced() -> None:
        supervised.place.generation = 2

    supervised.tools.meanwhile = be_replaced
    with pytest.raises(FenceLost):
        await supervised.execute(asked())
    assert supervised.states() == [State.EXECUTING]

    successor = MemorySupervision(supervised.place, 2)
    assert await recover(successor, ManualClock()) == Found(effects=1, items=1)
    assert supervised.states() == [State.UNCERTAIN]


async def test_of_a_large_reading_all_is_told_and_a_note_kept(supervised: Supervised) -> None:
    await supervised.start()
    supervised.tools.outcome = {"text": "a" * 5 * LARGEST_READ}
    first = await supervised.execute(asked(1, "get_board"))
    again = await supervised.execute(asked(1, "get_board"))
    change = await supervised.execute(asked(2))

    assert parsed(first.effect.result or "") == supervised.tools.outcome
    note = parsed(again.effect.result or "")["structuredContent"]
    assert note["code"] == "SUPERVISED_READ_RESULT_NOT_RETAINED"
    assert note["serialized_bytes"] == len(canonical(supervised.tools.outcome))
    assert (await supervised.execute(asked(2))).effect.result == change.effect.result


async def test_the_turns_own_answer_and_a_move_are_not_done(supervised: Supervised) -> None:
    await supervised.start()
    reply = await supervised.execute(asked(1, "send_message", reply_to=MESSAGE))
    move = await supervised.execute(asked(2, "join_room", name="elsewhere"))

    assert (reply.answer, move.answer) == (Answer.FINAL_ANSWER, Answer.ROOM_MOVE)
    assert supervised.tools.runs == 0


@pytest.mark.rule("J149")
async def test_no_move_is_prepared_while_it_is_not_known_whether_the_turn_was_stopped(
    supervised: Supervised,
) -> None:
    await supervised.start()
    before = await supervised.execute(asked(1, "join_room", name="elsewhere"))
    now = ManualClock().now()

    def doubt(journal: Journal) -> None:
        entry = journal.entry("e1")
        assert entry is not None
        control = TurnControl(
            action_id="a1",
            work_attempt_id="w1",
            execution_id="x1",
            item_id=journal.unfinished("e1")[0].item_id,
            turn_id="t1",
            status=TurnControlStatus.UNCERTAIN,
            recorded_at=now,
            updated_at=now,
        )
        journal.put_entry(attrs.evolve(entry, control=control))

    await supervised.sessions.journal.change(doubt)

    with pytest.raises(RoomMoveRefused, match="Room move is blocked by unresolved turn control"):
        await supervised.execute(asked(2, "join_room", name="another"))
    again = await supervised.execute(asked(1, "join_room", name="elsewhere"))
    assert again == before
    assert supervised.states() == [State.PREPARED]


async def test_when_the_turn_is_over_nothing_more_is_begun(supervised: Supervised) -> None:
    await supervised.start()

    def end(journal: Journal) -> None:
        item: Item = journal.unfinished("e1")[0]
        journal.put_item(inbox.ended(item, inbox.NO_REPLY))

    await supervised.sessions.journal.change(end)

    with pytest.raises(EffectRefused, match="no exact active turn"):
        await supervised.execute(asked())
    assert supervised.states() == []
