"""What wakes an agent that waits for something to happen, instead of asking again and again.

W40  A rule is for the agent that made it: it wakes nobody else, and only that agent or a person
     cancels it.
W41  The same rule asked for again while it waits is the rule that is there; only a timer that
     counts from now is a new one each time.
W42  An agent has at most 20 rules that wait in a room.
W43  A rule waits for a day unless it says until when, at most seven days; a timer waits until ten
     minutes after its time at the least.
W44  A timer is set at least 30 seconds ahead; one that repeats says every how long, a minute at
     least.
W46  A rule that woke, was cancelled or outlived its time never wakes again.
W48  A rule on an event of GitHub is kept, and in a room of one machine nothing ever sets it off.
W49  What a rule is asked for is checked before it is kept, and a refusal names the argument.
"""

import enum
from collections.abc import Mapping
from datetime import datetime, timedelta

import attrs

from letagents.domain import wake_arguments
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import SessionId
from letagents.domain.sessions import Session, SessionKind
from letagents.domain.texts import optional
from letagents.domain.wake_arguments import Event, Wanted, shown

NOTE_LIMIT = 280
ACTIVE_LIMIT = 20
LIFE = timedelta(hours=24)
LONGEST = timedelta(days=7)
SOONEST = timedelta(seconds=30)
GRACE = timedelta(minutes=10)
BETWEEN = timedelta(seconds=60)
"""So long a rule that repeats rests after it woke."""


class TooManyWakeRules(LetAgentsError):
    """The agent has as many rules as it may have. Nothing was stored."""

    code = "too_many_wake_rules"


class UnknownWakeRule(LetAgentsError):
    """The room has no wake rule of that id."""

    code = "unknown_wake_rule"


class ForeignWakeRule(LetAgentsError):
    """The rule belongs to another agent."""

    code = "foreign_wake_rule"


class AlreadySo(LetAgentsError):
    """What the rule would wait for is the case already. Nothing was stored."""

    code = "already_so"


class State(enum.Enum):
    """Whether a rule still waits, and if not, why."""

    ACTIVE = "active"
    FIRED = "fired"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


@attrs.frozen
class Asked:
    """What an agent asks to be woken by; the same asked again is equal."""

    event: Event
    wanted: Wanted
    note: str | None = None
    repeat: bool = False
    expires_at: datetime | None = None

    @classmethod
    def of(
        cls,
        event: str,
        arguments: Mapping[str, object],
        *,
        note: object = None,
        repeat: bool = False,
        expires_at: str | None = None,
    ) -> "Asked":
        """Return what is asked for in a call's words. Raises Malformed, naming what is wrong."""
        kind = wake_arguments.event(event)
        wanted = wake_arguments.wanted(kind, arguments)
        if repeat and wanted.at is not None:
            raise Malformed(
                "repeat: a timer that is set for one moment cannot repeat.",
                remedy="Pass arguments={'after_ms': …} to be woken again and again.",
            )
        if repeat and wanted.after is not None and wanted.after < BETWEEN:
            raise Malformed(
                f"arguments.after_ms: {wanted.after_ms} is too often for a timer that repeats.",
                remedy="Pass 60000 or more.",
            )
        ends = None if expires_at is None else wake_arguments.moment(expires_at, "expires_at")
        return cls(kind, wanted, optional(note, "note", NOTE_LIMIT), repeat, ends)


@attrs.frozen
class Change:
    """A task's change of status."""

    task_id: str
    before: str
    after: str


@attrs.frozen
class WakeRule:
    """What wakes one agent. `due_at` is when a timer goes off; `told` counts how often it woke."""

    number: int
    rule_id: str
    asked: Asked
    agent_key: str
    actor_label: str
    session_id: SessionId
    created_at: datetime
    expires_at: datetime
    state: State = State.ACTIVE
    due_at: datetime | None = None
    pending: Change | None = None
    told: int = 0
    told_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def rested_at(self) -> datetime | None:
        """When it may wake again."""
        return self.told_at and self.told_at + BETWEEN

    @property
    def next_at(self) -> datetime:
        """When it is to be looked at next, whatever else happens."""
        waits = [self.expires_at]
        if self.due_at is not None:
            waits.append(self.due_at)
        if self.pending is not None and self.rested_at is not None:
            waits.append(self.rested_at)
        return min(waits)

    def is_waiting(self, now: datetime) -> bool:
        """Whether it can still wake."""
        return self.state is State.ACTIVE and now < self.expires_at


# --- making and ending --------------------------------------------------------------------------


def made(asked: Asked, *, number: int, rule_id: str, by: Session, now: datetime) -> WakeRule:
    """Return the rule that `by` asks for.

    Raises:
        Malformed: a time in it is too soon or too far.
    """
    wanted = asked.wanted
    due_at = wanted.at if wanted.after is None else now + wanted.after
    if due_at is not None:
        field = "arguments.at" if wanted.at else "arguments.after_ms"
        _check_ahead(due_at, field, now)
    return WakeRule(
        number=number,
        rule_id=rule_id,
        asked=asked,
        agent_key=by.agent_key,
        actor_label=by.actor_label,
        session_id=by.session_id,
        created_at=now,
        expires_at=_expiry(asked, due_at, now),
        due_at=due_at,
    )


def _expiry(asked: Asked, due_at: datetime | None, now: datetime) -> datetime:
    if asked.expires_at is None:
        return max(now + LIFE, due_at + GRACE) if due_at else now + LIFE
    _check_ahead(asked.expires_at, "expires_at", now)
    if due_at is not None and asked.expires_at < due_at:
        raise Malformed(
            "expires_at: it is before the timer's own time.",
            remedy="Leave expires_at out, or pass a later one.",
        )
    return asked.expires_at


def _check_ahead(moment: datetime, field: str, now: datetime) -> None:
    if moment - now < SOONEST:
        raise Malformed(
            f"{field}: {shown(moment)} is too soon; it is {shown(now)} now.",
            remedy=f"Pass a time at least {SOONEST.seconds} seconds ahead.",
        )
    if moment - now > LONGEST:
        raise Malformed(
            f"{field}: {shown(moment)} is too far; it is {shown(now)} now.",
            remedy=f"Pass a time at most {LONGEST.days} days ahead.",
        )


def is_the_same(rule: WakeRule, asked: Asked) -> bool:
    """Whether `asked` is what `rule`, which waits, was asked for (W41)."""
    return rule.asked == asked and (asked.wanted.after is None or asked.repeat)


def check_count(waiting: int) -> None:
    """Allow one more rule beside `waiting` others of the same agent.

    Raises:
        TooManyWakeRules: there are too many.
    """
    if waiting >= ACTIVE_LIMIT:
        raise TooManyWakeRules(
            f"This agent has {waiting} wake rules that wait, and may have no more.",
            remedy="Call list_wake_rules, and cancel_wake_rule for one that is not needed.",
        )


def check_status(asked: Asked, status: str) -> None:
    """Allow waiting for a task that has `status`.

    Raises:
        AlreadySo: it has a status that is waited for.
    """
    if status in asked.wanted.to:
        raise AlreadySo(
            f"arguments.to: {asked.wanted.task_id} is {status} already.",
            remedy="Go on; to be woken by its next change, leave `to` out.",
        )


def cancelled(rule: WakeRule, by: Session | None, now: datetime) -> WakeRule:
    """Return `rule` as it is once `by` cancelled it; one that waits no more stays as it is.

    Raises:
        ForeignWakeRule: it is another agent's.
    """
    is_agent = by is not None and by.kind is not SessionKind.PERSON
    if is_agent and by is not None and by.agent_key != rule.agent_key:
        raise ForeignWakeRule(
            f"rule_id: {rule.rule_id} is a rule of {rule.actor_label}.",
            remedy="Call list_wake_rules(agent_key=…) to see your own.",
        )
    return ended(rule, State.CANCELLED, now) if rule.is_waiting(now) else rule


def ended(rule: WakeRule, state: State, now: datetime) -> WakeRule:
    """Return `rule` as it is once it waits no more."""
    return attrs.evolve(rule, state=state, ended_at=now, due_at=None, pending=None)


def settled(rule: WakeRule, now: datetime) -> WakeRule:
    """Return `rule` as it stands now: expired, if its time is over."""
    if rule.state is State.ACTIVE and not rule.is_waiting(now):
        return ended(rule, State.EXPIRED, rule.expires_at)
    return rule
