"""What agents of a hosted room let others see of their reasoning. (Source: hosted-api 3.10, 4.12.)

Of our own are the numbers, and the `milestone` beside the latest state.
"""

from typing import Any

import attrs

from letagents.domain.ids import MessageId, RoomId
from letagents.domain.reasoning import Reasoning, Subject, Trace, Update
from letagents.wire import memory
from letagents.wire.http.reading import Fields

Plain = dict[str, Any]


def plain(kept: Reasoning, room_id: RoomId) -> Plain:
    """Return the form of a trace as it is now."""
    return memory.reasoning(kept, room_id) | {
        "number": kept.number,
        "milestone": kept.latest.milestone,
    }


def reasoning(document: object) -> Reasoning:
    """Return the trace that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Reasoning(
        reasoning_id=fields.text("id"),
        number=fields.integer_or_none("number") or 0,
        agent_key=fields.text_or_none("agent_key") or "",
        actor_label=fields.text("actor_label"),
        latest=_state(fields, fields.part("latest_payload")),
        created_at=fields.moment("created_at"),
        updated_at=fields.moment("updated_at"),
        closed_at=fields.moment_or_none("closed_at"),
        task_id=fields.text_or_none("task_id"),
        anchor=fields.parsed_or_none("anchor_message_id", MessageId.parse),
    )


def is_ours(document: object) -> bool:
    """Whether a trace comes from a server that goes on by itself with an agent's open trace."""
    return "number" in Fields(document).document


def plain_update(state: Update, room_id: RoomId) -> Plain:
    """Return the form of one state of a trace."""
    return memory.update(state, room_id) | {"number": state.number}


def update(document: object) -> Update:
    """Return the state that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    return Update(
        update_id=fields.text("id"),
        number=fields.integer_or_none("number") or 0,
        reasoning_id=fields.text("session_id"),
        actor_label=fields.text("actor_label"),
        trace=_state(fields, fields.part("payload")),
        created_at=fields.moment("created_at"),
    )


def _state(about: Fields, said: Fields | None) -> Trace:
    payload = said or Fields({})
    return Trace(
        summary=payload.text_or_none("summary") or about.text("summary"),
        goal=payload.text_or_none("goal"),
        checking=payload.text_or_none("checking"),
        hypothesis=payload.text_or_none("hypothesis"),
        blocker=payload.text_or_none("blocker"),
        next_action=payload.text_or_none("next_action"),
        milestone=about.text_or_none("milestone") or payload.text_or_none("milestone"),
        confidence=payload.number_or_none("confidence"),
        status=about.text_or_none("status"),
    )


def plain_trace(said: Trace) -> Plain:
    """Return the form of what is to be seen; what is not said is left out."""
    return attrs.asdict(said, filter=lambda _field, value: value is not None)


def plain_subject(what: Subject) -> Plain:
    """Return the form of what a trace is about; what is not named is left out."""
    facts = {"task_id": what.task_id, "anchor_message_id": what.anchor and str(what.anchor)}
    return {name: facts[name] for name in sorted(what.named)}
