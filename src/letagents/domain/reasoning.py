"""What an agent lets others see of its reasoning: a trace, replaced as it goes on.

K60  A line of a trace has single blanks and at most 280 characters; what is longer is cut, and a
     blank one is none.
K61  A trace without a summary has the first of goal, next action, checking, hypothesis and blocker
     as its summary; one with none of them is refused.
K62  Confidence lies between 0 and 1, in hundredths.
K63  An agent has one open trace in a room: what it posts goes on with it, or opens one.
K64  Only its own agent goes on with a trace or closes it, and a closed one is never gone on with.
K67  A trace may be about one task and begin at one message, both of its room. Its agent says so as
     it posts, or afterwards; what it does not name stays.
"""

from collections.abc import Mapping
from datetime import datetime

import attrs

from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import MessageId, quoted
from letagents.domain.messages import checked_text
from letagents.domain.names import collapse, is_blank
from letagents.domain.sessions import Session
from letagents.domain.tasks import task_id_of

LINE = 280
STATUSES = ("idle", "working", "reviewing", "blocked")
_STANDS_IN = ("goal", "next_action", "checking", "hypothesis", "blocker")


class UnknownReasoning(LetAgentsError):
    """The room has no such trace."""

    code = "unknown_reasoning_session"


class ForeignReasoning(LetAgentsError):
    """The trace is another agent's."""

    code = "foreign_reasoning_session"


class ClosedReasoning(LetAgentsError):
    """The trace is closed. Nothing was stored."""

    code = "closed_reasoning_session"


@attrs.frozen(kw_only=True)
class Trace:
    """What is shown of an agent's reasoning at one moment."""

    summary: str
    goal: str | None = None
    checking: str | None = None
    hypothesis: str | None = None
    blocker: str | None = None
    next_action: str | None = None
    milestone: str | None = None
    confidence: float | None = None
    status: str | None = None


@attrs.frozen(kw_only=True)
class Subject:
    """What a trace is said to be about. What is not among `named` stays as it was."""

    task_id: str | None = None
    anchor: MessageId | None = None
    named: frozenset[str] = frozenset()


UNNAMED = Subject()
_SUBJECTS = ("task_id", "anchor_message_id")


def subject(fields: Mapping[str, object], *, may_clear: bool) -> Subject:
    """Return what the fields say that a trace is about; nothing clears it, where that is meant.

    Raises:
        Malformed: they name no task, or no message.
    """
    given = {name: fields[name] for name in _SUBJECTS if name in fields}
    if not may_clear:
        given = {name: value for name, value in given.items() if value is not None}
    task_id, anchor = given.get("task_id"), given.get("anchor_message_id")
    return Subject(
        task_id=None if task_id is None else task_id_of(task_id),
        anchor=None if anchor is None else _anchor(anchor),
        named=frozenset(given),
    )


def _anchor(given: object) -> MessageId:
    return MessageId.parse(given if isinstance(given, str) else "", "anchor_message_id")


def trace(fields: Mapping[str, object]) -> Trace:
    """Return the trace that a caller's fields describe.

    Raises:
        Malformed: nothing is said in it, or a field is not what it should be.
    """
    names = ("summary", *_STANDS_IN, "milestone")
    lines = {name: _line(fields.get(name), name) for name in names}
    summary = lines.pop("summary")
    if summary is None:
        summary = next((lines[name] for name in _STANDS_IN if lines[name]), None)
    if summary is None:
        raise Malformed("summary is required", remedy="Pass one line on what you are thinking.")
    return Trace(
        summary=summary,
        **lines,
        confidence=_confidence(fields.get("confidence")),
        status=_status(fields.get("status")),
    )


def _line(value: object, field: str) -> str | None:
    if value is None or (isinstance(value, str) and is_blank(value)):
        return None
    return collapse(checked_text(value, field))[:LINE].rstrip()


def _confidence(value: object) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= float(str(value)) <= 1:
        raise Malformed(
            f"confidence: {quoted(value)} is not between 0 and 1.", remedy="Pass such a number."
        )
    return round(float(str(value)), 2)


def _status(value: object) -> str | None:
    text = collapse(value).lower() if isinstance(value, str) else value
    if text is None or text == "":
        return None
    if text not in STATUSES:
        raise Malformed(
            f"status: {quoted(value)} is not a status.",
            remedy=f"Pass one of: {', '.join(STATUSES)}.",
        )
    return str(text)


@attrs.frozen(kw_only=True)
class Reasoning:
    """One trace with its latest state."""

    reasoning_id: str
    number: int
    agent_key: str
    actor_label: str
    latest: Trace
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    task_id: str | None = None
    anchor: MessageId | None = None

    def about(self, what: Subject) -> "Reasoning":
        """Return this trace as it is about `what` (K67)."""
        return attrs.evolve(
            self,
            task_id=what.task_id if "task_id" in what.named else self.task_id,
            anchor=what.anchor if "anchor_message_id" in what.named else self.anchor,
        )


@attrs.frozen(kw_only=True)
class Update:
    """One state that a trace had."""

    update_id: str
    number: int
    reasoning_id: str
    actor_label: str
    trace: Trace
    created_at: datetime


def opened(said: Trace, *, reasoning_id: str, number: int, by: Session, now: datetime) -> Reasoning:
    """Return a new trace of `by`."""
    return Reasoning(
        reasoning_id=reasoning_id,
        number=number,
        agent_key=by.agent_key,
        actor_label=by.actor_label,
        latest=said,
        created_at=now,
        updated_at=now,
    )


def gone_on(before: Reasoning, said: Trace, *, by: Session, now: datetime) -> Reasoning:
    """Return `before` with a newer state.

    Raises:
        ForeignReasoning: it is another agent's.
        ClosedReasoning: it is closed.
    """
    if by.agent_key != before.agent_key:
        raise _foreign(before, "Go on with your own alone: leave its id out.")
    if before.closed_at is not None:
        raise ClosedReasoning(
            f"{before.reasoning_id} is closed.", remedy="Call post_reasoning to open another."
        )
    return attrs.evolve(before, latest=said, actor_label=by.actor_label, updated_at=now)


def related(before: Reasoning, what: Subject, *, by: Session | None, now: datetime) -> Reasoning:
    """Return `before` as it is about `what`.

    Raises:
        ForeignReasoning: it is another agent's.
    """
    if by is not None and by.agent_key != before.agent_key:
        raise _foreign(before, "Say what your own alone is about.")
    after = before.about(what)
    return before if after == before else attrs.evolve(after, updated_at=now)


def closed(before: Reasoning, *, by: Session | None, now: datetime) -> Reasoning:
    """Return `before`, closed; one that is closed stays as it is.

    Raises:
        ForeignReasoning: it is another agent's.
    """
    if by is not None and by.agent_key != before.agent_key:
        raise _foreign(before, "Close your own alone.")
    return before if before.closed_at else attrs.evolve(before, closed_at=now, updated_at=now)


def _foreign(before: Reasoning, remedy: str) -> ForeignReasoning:
    return ForeignReasoning(
        f"{before.reasoning_id} is a trace of {before.actor_label}.", remedy=remedy
    )
