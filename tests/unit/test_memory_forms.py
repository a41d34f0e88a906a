"""The forms in which a room's memory is seen: the fields that the wire names, and no secret."""

from datetime import UTC, datetime

import attrs
import pytest
from tests.unit.test_knowledge import ASKED, HUMAN, entry, record
from tests.unit.test_wake_rules import asked, made, session

from letagents.domain import artifacts, guidelines, reasoning, records
from letagents.domain.authors import Author
from letagents.domain.guidelines import InForce
from letagents.domain.ids import MessageId, RoomId
from letagents.domain.room_events import RepositoryEvent
from letagents.wire import kept, memory

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
AT = "2030-01-01T12:00:00.000Z"
ROOM = RoomId("workshop")
AGENT = {"id": "ada/sage", "label": "Sage | Ada's agent | Codex", "kind": "agent"}
PERSON = {**AGENT, "id": "human:name:ada", "kind": "human"}


def test_a_record_has_the_fields_of_the_wire() -> None:
    said = entry(ASKED, recommendation="Four.", source_message_id="msg_3")
    asked_for = records.added(ASKED, "a_record", said, number=1, by=session(), now=NOW)
    plain = memory.record(asked_for, ROOM)

    assert plain == {
        "id": "a_record",
        "room_id": "workshop",
        "type": "attention",
        "category": "decision",
        "title": "Tabs",
        "body": "Always.",
        "recommendation": "Four.",
        "unblocks": None,
        "source_url": None,
        "source_message_id": "msg_3",
        "version": 1,
        "author": AGENT,
        "updated_by": AGENT,
        "created_at": AT,
        "updated_at": AT,
        "archived": False,
        "response": None,
    }
    answered = records.answered(asked_for, "Yes.", by=HUMAN, now=NOW)
    assert memory.record(answered, ROOM) == {
        **plain,
        "version": 2,
        "updated_by": PERSON,
        "response": {"body": "Yes.", "actor": PERSON, "at": AT},
    }


def test_guidelines_say_whose_they_are() -> None:
    own = guidelines.set_by(HUMAN, "Write tests.", None, NOW)
    plain = memory.guidelines(InForce(own, RoomId("github.com/a/b")), ROOM, can_manage=True)

    assert plain.pop("note")
    assert plain == {
        "room_id": "workshop",
        "guidelines": "Write tests.",
        "updated_by": PERSON["label"],
        "updated_at": AT,
        "inherited_from_room_id": "github.com/a/b",
        "max_bytes": 8000,
        "token_budget": 2000,
        "agent_reply_order": "parallel",
        "can_manage": True,
    }
    none = memory.guidelines(InForce(), ROOM, can_manage=False)
    assert (none["guidelines"], none["updated_by"], none["updated_at"]) == (None, None, None)


def test_an_artifact_has_the_fields_of_the_wire() -> None:
    given = artifacts.artifact({"provider": "github", "kind": "branch", "ref": "fix"})
    shared = artifacts.published(
        None, given, ["task_1"], number=1, by=Author.of(session()), now=NOW
    )

    assert memory.artifact(shared, ROOM) == {
        "room_id": "workshop",
        "identity_key": "github:branch:ref:fix",
        "provider": "github",
        "kind": "branch",
        "artifact_id": None,
        "artifact_number": None,
        "title": None,
        "url": None,
        "ref": "fix",
        "state": None,
        "detail": None,
        "source": "agent",
        "published_by": AGENT["label"],
        "first_seen_at": AT,
        "updated_at": AT,
        "linked_task_ids": ["task_1"],
    }


def test_an_event_has_the_fields_of_the_wire() -> None:
    happened = RepositoryEvent(
        id="e1",
        event_type="push",
        action=None,
        object_id="1",
        object_url="https://example.com",
        title="t",
        state=None,
        actor="ada",
        created_at=NOW,
    )

    assert memory.event(happened) == {
        "id": "e1",
        "event_type": "push",
        "action": None,
        "github_object_id": "1",
        "github_object_url": "https://example.com",
        "title": "t",
        "state": None,
        "actor_login": "ada",
        "metadata": {},
        "linked_task_id": None,
        "created_at": AT,
    }


def test_a_trace_and_its_states_have_the_fields_of_the_wire() -> None:
    said = reasoning.trace({"summary": "a", "goal": "b", "milestone": "c", "confidence": 0.5})
    trace = reasoning.opened(said, reasoning_id="rs_1", number=1, by=session(), now=NOW)
    state = reasoning.Update(
        update_id="ru_1",
        number=1,
        reasoning_id="rs_1",
        actor_label=trace.actor_label,
        trace=said,
        created_at=NOW,
    )
    payload = {
        "summary": "a",
        "goal": "b",
        "checking": None,
        "hypothesis": None,
        "blocker": None,
        "next_action": None,
        "confidence": 0.5,
    }

    assert memory.reasoning(trace, ROOM) == {
        "id": "rs_1",
        "room_id": "workshop",
        "task_id": None,
        "anchor_message_id": None,
        "actor_label": AGENT["label"],
        "agent_key": "ada/sage",
        "status": None,
        "summary": "a",
        "latest_payload": payload,
        "created_at": AT,
        "updated_at": AT,
        "closed_at": None,
    }
    assert memory.update(state, ROOM) == {
        "id": "ru_1",
        "room_id": "workshop",
        "session_id": "rs_1",
        "actor_label": AGENT["label"],
        "status": None,
        "summary": "a",
        "milestone": "c",
        "payload": payload,
        "created_at": AT,
    }


def test_a_wake_rule_shows_the_arguments_that_were_given() -> None:
    plain = memory.wake_rule(made(asked(note="Tea.")), ROOM)

    assert plain["arguments"] == {"after_ms": 60_000}
    assert (plain["event"], plain["status"], plain["note"]) == ("timer", "active", "Tea.")
    assert (plain["due_at"], plain["fired_at"]) == ("2030-01-01T12:01:00.000Z", None)
    closed = made(asked("github.pr_closed", {"pr": 7, "merged_only": True}))
    assert memory.wake_rule(closed, ROOM)["arguments"] == {"pr": 7, "merged_only": True}


@pytest.mark.parametrize(
    "value",
    [
        attrs.evolve(
            records.answered(record(), "Yes.", by=HUMAN, now=NOW),
            entry=entry(ASKED, source_message_id=MessageId(3)),
        ),
        guidelines.set_by(HUMAN, "Write tests.", None, NOW),
        made(asked(repeat=True, expires_at="2030-01-03T12:00:00Z")),
        made(asked("task.status_changed", {"task_id": "task_3", "to": ["done"]})),
        artifacts.published(
            None,
            artifacts.artifact({"provider": "gitlab", "kind": "merge", "number": 3}),
            ["task_1"],
            number=1,
            by=Author.of(None),
            now=NOW,
        ),
        reasoning.opened(
            reasoning.trace({"summary": "a", "confidence": 1}),
            reasoning_id="rs_1",
            number=1,
            by=session(),
            now=NOW,
        ),
    ],
    ids=["record", "guidelines", "timer", "task rule", "artifact", "trace"],
)
def test_what_is_kept_is_read_back_as_it_was(value: object) -> None:
    assert kept.read(kept.written(value), type(value)) == value
