"""The answer to who arrives at a hosted room, there and back."""

from datetime import UTC, datetime

import attrs

from letagents.domain.fencing import Fence
from letagents.domain.ids import SessionId
from letagents.domain.sessions import Connection, Resumed, Session, SessionKind
from letagents.testing.contracts.room_callers import ADA, ROOM, arrival
from letagents.wire.http import sessions as wire

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ASKED = arrival(ADA, 1)
SESSION = Session(
    session_id=SessionId("agent_session_1"),
    room_id=ROOM,
    kind=SessionKind.WORKER,
    agent_key=ASKED.agent_key,
    instance_id=ASKED.instance_id,
    display_name="Juniper",
    base_name="Juniper",
    owner_label="Ada",
    ide_label="Claude Code",
    runtime="claude-code",
    actor_label="Juniper | Ada's agent | Claude Code",
    created_at=NOON,
    updated_at=NOON,
    last_seen_at=NOON,
)
WORK = Resumed("task_3", "work", epoch=4, lease_id="work_lease_7")
MADE = Connection(SESSION, Fence(SESSION.session_id, 2, ASKED.token), (WORK,))


def test_a_worker_learns_what_it_holds_again_and_under_which_epoch() -> None:
    answer = wire.plain_connection(MADE)

    assert wire.connection(answer, ASKED, ROOM, ASKED.agent_key) == MADE
    assert answer["adopted_task_leases"] == [
        {"lease_id": "work_lease_7", "task_id": "task_3", "kind": "work"}
    ]


def test_a_server_that_tells_no_epochs_leaves_them_open() -> None:
    answer = wire.plain_connection(MADE)
    del answer["adopted_epochs"], answer["generation"]

    made = wire.connection(answer, ASKED, ROOM, ASKED.agent_key)

    assert made.resumed == (attrs.evolve(WORK, epoch=None),)
    assert made.fence.generation == 0


def test_who_holds_nothing_is_told_of_nothing() -> None:
    answer = wire.plain_connection(attrs.evolve(MADE, resumed=()))

    assert "adopted_task_leases" not in answer
