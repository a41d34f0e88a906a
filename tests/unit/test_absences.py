"""When a room tells of somebody who holds work and is gone."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import absences
from letagents.domain.absences import GRACE, LOOK_AGAIN, STALE, Found, look
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SEEN = Tick("boot", 1000.0)
MINUTE = timedelta(minutes=1)


def session() -> Session:
    return Session(
        session_id=SessionId("local_1"),
        room_id=RoomId("workshop"),
        kind=SessionKind.WORKER,
        agent_key="ada/worker",
        instance_id="worker_1",
        display_name="MossDawn",
        base_name="MossDawn",
        owner_label="Ada",
        ide_label="Claude Code",
        runtime="claude-code",
        actor_label="MossDawn | Ada's agent | Claude Code",
        created_at=NOW,
        updated_at=NOW,
        last_seen_at=NOW,
        seen=SEEN,
    )


def after(span: timedelta, *, alive: bool | None, one: Session | None = None) -> Found:
    tick = Tick(SEEN.boot, SEEN.seconds + span.total_seconds())
    return look(one or session(), alive=alive, tick=tick, grace=GRACE)


@pytest.mark.rule("D30")
def test_a_process_that_is_there_is_a_sign_and_is_looked_at_again() -> None:
    assert after(5 * GRACE, alive=True) == Found(is_there=True, again_in=LOOK_AGAIN)


@pytest.mark.rule("D31")
def test_a_process_that_is_gone_is_told_of_when_the_grace_is_over() -> None:
    assert after(MINUTE, alive=False) == Found(again_in=GRACE - MINUTE)
    assert after(GRACE, alive=False) == Found(gone_for=GRACE)
    assert after(GRACE + STALE, alive=False) == Found(gone_for=GRACE + STALE)


@pytest.mark.rule("D32")
def test_nothing_is_told_of_what_is_unknown_over_or_no_news() -> None:
    ended = attrs.evolve(session(), ended_at=NOW)

    assert after(5 * GRACE, alive=None) == Found(again_in=LOOK_AGAIN)
    assert after(GRACE, alive=False, one=ended) == Found()
    assert after(GRACE, alive=False, one=attrs.evolve(session(), seen=None)) == Found()
    assert after(GRACE + STALE + MINUTE, alive=False) == Found()


@pytest.mark.rule("D31")
def test_what_is_told_names_three_tasks_and_the_span() -> None:
    text = absences.gone("MossDawn", 31.5 * MINUTE, [f"task_{number}" for number in range(1, 6)])
    long = absences.gone("MossDawn", 61 * MINUTE, ["task_1"])

    assert text.startswith(
        "[status] MossDawn has been offline for 31m while holding task_1, task_2, task_3 and 2 more"
    )
    assert "for 1h1m while holding task_1." in long
    assert "may still be in progress" in text
    assert absences.back("MossDawn") == "[status] MossDawn is connected to the room again."
