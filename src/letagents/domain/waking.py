"""When a wake rule wakes its agent, and with which words.

W45  A rule wakes once. One that repeats keeps its timer's beat, making up for none that was missed;
     on changes it wakes once a minute at most, and tells the last.
W47  A rule on a change of a task waits for that task alone, and for the statuses that it names.
W50  A rule whose time has come while nobody was there wakes when somebody is, if it still waits.
"""

from datetime import datetime

import attrs

from letagents.domain.names import handle_form
from letagents.domain.wake_arguments import shown
from letagents.domain.wake_rules import Change, State, WakeRule, ended, settled


@attrs.frozen
class Step:
    """What becomes of a rule, and what the room says because of it."""

    rule: WakeRule
    says: str | None = None


def moved(rule: WakeRule, change: Change, now: datetime) -> Step:
    """Return what becomes of `rule` when a task changes."""
    if not rule.is_waiting(now):
        return Step(settled(rule, now))
    wanted = rule.asked.wanted
    if wanted.task_id != change.task_id or (wanted.to and change.after not in wanted.to):
        return Step(rule)
    if rule.rested_at is not None and now < rule.rested_at:
        return Step(attrs.evolve(rule, pending=change))
    return _woken(rule, _changed(change), now)


def due(rule: WakeRule, now: datetime) -> Step:
    """Return what becomes of `rule` now that it is looked at because of the time."""
    if not rule.is_waiting(now):
        return Step(settled(rule, now))
    if rule.due_at is not None and rule.due_at <= now:
        return _woken(rule, f"it is {shown(rule.due_at)}", now)
    if rule.pending is not None and rule.rested_at is not None and rule.rested_at <= now:
        return _woken(rule, _changed(rule.pending), now)
    return Step(rule)


def _changed(change: Change) -> str:
    return f"{change.task_id} went from {change.before} to {change.after}"


def _woken(rule: WakeRule, why: str, now: datetime) -> Step:
    told = attrs.evolve(rule, told=rule.told + 1, told_at=now, pending=None)
    after = rule.asked.wanted.after
    if not rule.asked.repeat:
        told = ended(told, State.FIRED, now)
    elif rule.due_at is not None and after is not None:
        missed = (now - rule.due_at) // after
        told = attrs.evolve(told, due_at=rule.due_at + (missed + 1) * after)
    return Step(told, _words(rule, why))


def _words(rule: WakeRule, why: str) -> str:
    handle = handle_form(rule.agent_key).removeprefix("agent:")
    called = f"@agent:{handle} {rule.rule_id}: {why}."
    return f"{called}\nYour note: {rule.asked.note}" if rule.asked.note else called
