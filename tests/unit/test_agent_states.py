"""How an agent is, in one word."""

from datetime import UTC, datetime

import attrs
import pytest

from letagents.domain import agent_states, executions, inbox, recovery
from letagents.domain.agent_states import State
from letagents.domain.inbox import Item, TurnBinding
from letagents.domain.manifest import Ending, Entry, Execution, Process
from letagents.domain.recovery import Desired

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NEW = Entry("e1", "workshop", "Ada", "codex", NOW, desired=Desired.RUNNING)
BEGUN = executions.begun(NEW, Execution("x1", "w1", 7, NOW))
BORN = executions.born(BEGUN, "x1", Process("scripted", 4242, "birth-1"))
THERE = executions.started(BORN, "c1")
OVER = executions.ended(THERE, "x1", Ending.EXITED, now=NOW)
WAITING = Item("i1", "e1", "workshop", "msg_1", 1)
BEGINNING = inbox.dispatched(WAITING)
AT_WORK = inbox.started(BEGINNING, TurnBinding("t1", "w1", "x1", "c1"))


def wanted(entry: Entry, desired: Desired) -> Entry:
    return attrs.evolve(entry, desired=desired)


@pytest.mark.rule("J151")
@pytest.mark.parametrize(
    ("entry", "first", "state"),
    [
        (NEW, None, State.ABSENT),
        (BEGUN, None, State.STARTING),
        (BORN, AT_WORK, State.STARTING),
        (THERE, None, State.IDLE),
        (THERE, WAITING, State.IDLE),
        (THERE, inbox.blocked(AT_WORK, "so"), State.IDLE),
        (THERE, BEGINNING, State.WORKING),
        (THERE, inbox.after_crash(BEGINNING), State.WORKING),
        (THERE, AT_WORK, State.WORKING),
        (THERE, inbox.ended(AT_WORK, inbox.reply("Hi.")), State.WORKING),
        (wanted(THERE, Desired.PAUSED), AT_WORK, State.PAUSING),
        (wanted(THERE, Desired.STOPPED), None, State.STOPPING),
        (wanted(OVER, Desired.PAUSED), WAITING, State.PAUSED),
        (wanted(OVER, Desired.STOPPED), None, State.STOPPED),
        (OVER, None, State.RECOVERING),
        (attrs.evolve(OVER, history=recovery.quarantined(OVER.history)), None, State.FAILED),
    ],
)
def test_an_agent_is_as_its_process_and_its_message_are(
    entry: Entry, first: Item | None, state: State
) -> None:
    assert agent_states.of(entry, first) is state
