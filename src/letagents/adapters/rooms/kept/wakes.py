"""Wake rules, as rooms keep them. The board tells here what became of a task."""

import functools
from collections.abc import Callable, Iterator

import attrs

from letagents.adapters.rooms.book import Book, Keeping, Kind, Lookup, Where
from letagents.adapters.rooms.kept import dues
from letagents.domain import wake_rules, waking
from letagents.domain.audience import WAKE
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.sessions import Session
from letagents.domain.wake_rules import Asked, Change, State, UnknownWakeRule, WakeRule
from letagents.domain.waking import Step
from letagents.ports.wakes import Rules

DUE = "wake_rule"
"""What the room is asked to do when a rule is to be looked at."""
SHOWN_ACTIVE = 500
SHOWN_RECENT = 20

WAKE_RULES = Kind(
    name="wake_rule",
    of=WakeRule,
    key=lambda rule: rule.rule_id,
    number=lambda rule: rule.number,
    is_open=lambda rule: rule.state is State.ACTIVE,
    about=lambda rule: rule.asked.wanted.task_id,
    by=lambda rule: rule.agent_key,
)


def task_moved(book: Book, task_id: str, before: str, after: str) -> None:
    """Wake those who wait for this change of a task's status, in the transaction that makes it."""
    change = Change(task_id, before, after)
    for rule in _waiting_for(book, task_id):
        _take(book, rule, waking.moved(rule, change, book.now))


def _waiting_for(book: Book, task_id: str) -> Iterator[WakeRule]:
    """Give each open rule on a task, however many agents wait for it."""
    where = _on(task_id)
    while found := book.find(WAKE_RULES, where):
        yield from found
        where = attrs.evolve(where, after=found[-1].number)


@functools.lru_cache(maxsize=64)
def _on(task_id: str) -> Where:
    return Where(is_open=True, about=task_id)


def beside(task_id: str) -> Lookup:
    """Return what is looked up wherever a task is moved: the rules that wait for it."""
    return WAKE_RULES, _on(task_id)


def due(book: Book, rule_id: str) -> None:
    """Look at a rule because of the time."""
    rule = book.get(WAKE_RULES, rule_id)
    if rule is not None and rule.state is State.ACTIVE:
        step = waking.due(rule, book.now)
        _take(book, rule, step)
        if step.rule == rule:  # a clock was set back: it is to be looked at again
            dues.ask(book, DUE, rule_id, rule.next_at)


def _take(book: Book, before: WakeRule, step: Step) -> None:
    rule = step.rule
    if rule == before:
        return
    if step.says is not None:
        key = f"wake:{rule.rule_id}:{rule.told}"
        book.say(step.says, key=key, source=WAKE, session_id=rule.session_id)
    _put(book, rule)


def _put(book: Book, rule: WakeRule) -> None:
    book.put(WAKE_RULES, rule)
    if rule.state is State.ACTIVE:
        dues.ask(book, DUE, rule.rule_id, rule.next_at)
    else:
        dues.forget(book, DUE, rule.rule_id)


@attrs.frozen
class KeptWakes:
    """The wake rules of rooms that are kept in books."""

    _rooms: Keeping
    _status_of: Callable[[Book, str], str | None] = lambda _book, _task_id: None
    """Returns a task's status, or None if it is not known; raises if there is no such task."""

    async def add(self, room_id: RoomId, asked: Asked, fence: Fence) -> tuple[WakeRule, bool]:
        """Return the rule of who asks, and whether it was made now."""

        def add(book: Book) -> tuple[WakeRule, bool]:
            caller = book.caller
            assert caller is not None  # noqa: S101  # a fence admits a session
            waiting = _waiting(book, caller)
            for rule in waiting:
                if wake_rules.is_the_same(rule, asked):
                    return rule, False
            rule = self._made(book, asked, caller, len(waiting))
            _put(book, rule)
            return rule, True

        return await self._rooms.change(room_id, add, fence)

    def _made(self, book: Book, asked: Asked, caller: Session, waiting: int) -> WakeRule:
        wake_rules.check_count(waiting)
        if (task_id := asked.wanted.task_id) is not None:
            wake_rules.check_status(asked, self._status_of(book, task_id) or "")
        return wake_rules.made(
            asked,
            number=book.next_number(WAKE_RULES),
            rule_id=f"wake_{book.ids.uuid().replace('-', '')}",
            by=caller,
            now=book.now,
        )

    async def rules(
        self, room_id: RoomId, *, agent_key: str | None = None, viewer: Fence | None = None
    ) -> Rules:
        """Return the rules of a room, or those of one agent in it."""

        def rules(book: Book) -> Rules:
            found = book.find(WAKE_RULES, Where(is_open=True, by=agent_key, limit=SHOWN_ACTIVE))
            over = book.find(
                WAKE_RULES,
                Where(is_open=False, by=agent_key, newest_first=True, limit=SHOWN_RECENT),
            )
            now = [wake_rules.settled(rule, book.now) for rule in found]
            gone = [rule for rule in now if rule.state is not State.ACTIVE]
            return Rules(
                active=tuple(rule for rule in now if rule.state is State.ACTIVE),
                recent=(*gone, *over)[:SHOWN_RECENT],
            )

        return await self._rooms.look(room_id, rules, viewer)

    async def cancel(self, room_id: RoomId, rule_id: str, fence: Fence | None = None) -> WakeRule:
        """Return the rule, cancelled if it waited."""

        def cancel(book: Book) -> WakeRule:
            rule = book.get(WAKE_RULES, rule_id)
            if rule is None:
                raise UnknownWakeRule(
                    f"rule_id: this room has no wake rule {quoted(rule_id)}.",
                    remedy="Call list_wake_rules to see those that there are.",
                )
            after = wake_rules.cancelled(rule, book.caller, book.now)
            after = wake_rules.settled(after, book.now)
            if after != rule:
                _put(book, after)
            return after

        return await self._rooms.change(room_id, cancel, fence)


def _waiting(book: Book, caller: Session) -> list[WakeRule]:
    """Return the agent's rules that wait; those that outlived their time are ended on the way."""
    found = book.find(WAKE_RULES, Where(is_open=True, by=caller.agent_key))
    for rule in found:
        _take(book, rule, Step(wake_rules.settled(rule, book.now)))
    return [rule for rule in found if rule.is_waiting(book.now)]
