"""The journal of a supervisor in a SQLite file. It is written by one thread, one after another.

The generation of the newest supervisor is in the file too, and is compared in each transaction
that writes: one that was stopped in the middle, and wakes after another took over, writes nothing.
"""

import asyncio
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import attrs
from sqlalchemy import ColumnElement, Table, bindparam, func, insert, literal_column, select
from sqlalchemy.schema import CreateIndex, CreateTable

from letagents.adapters.sql.database import CommitFailed, Database, Unit
from letagents.adapters.sql.upserts import put_statement
from letagents.adapters.supervision.tables import (
    BINDINGS,
    DEEDS,
    EFFECTS,
    ENTRIES,
    FENCE,
    INGRESS,
    ITEMS,
    METADATA,
    VERSION,
)
from letagents.domain import generations
from letagents.domain.bindings import Binding
from letagents.domain.deeds import KEPT, Deed
from letagents.domain.effects import Effect, Key, Weight
from letagents.domain.errors import OutcomeUnknown, StateDamaged, StateUnavailable
from letagents.domain.generations import FenceLost
from letagents.domain.inbox import Item
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry
from letagents.ports.supervision import Journal
from letagents.wire import kept

T = TypeVar("T")

_GENERATION = select(FENCE.c.generation)
_PUT_GENERATION = put_statement(FENCE)

_ENTRY = select(ENTRIES.c.value).where(ENTRIES.c.entry_id == bindparam("entry_id"))
_ALL_ENTRIES = select(ENTRIES.c.value).order_by(ENTRIES.c.entry_id)
_PUT_ENTRY = put_statement(ENTRIES)

_DROP_ENTRY = tuple(
    table.delete().where(table.c.entry_id == bindparam("entry_id"))
    for table in (ENTRIES, INGRESS, ITEMS)
)

_BINDING = select(BINDINGS.c.epoch, BINDINGS.c.value).where(
    BINDINGS.c.entry_id == bindparam("entry_id")
)
_PUT_BINDING = put_statement(BINDINGS)

_INGRESS = select(INGRESS.c.value).where(INGRESS.c.entry_id == bindparam("entry_id"))
_PUT_INGRESS = put_statement(INGRESS)

_ITEM = select(ITEMS.c.value).where(ITEMS.c.item_id == bindparam("item_id"))
_OF_AGENT = ITEMS.c.entry_id == bindparam("entry_id")
_UNFINISHED = (
    select(ITEMS.c.value).where(_OF_AGENT, ITEMS.c.is_over.is_(False)).order_by(ITEMS.c.sequence)
)
_FIRST = (
    select(ITEMS.c.value)
    .where(ITEMS.c.entry_id == ENTRIES.c.entry_id, ITEMS.c.is_over.is_(False))
    .order_by(ITEMS.c.sequence)
    .limit(1)
    .correlate(ENTRIES)
)
_FIRSTS = select(_FIRST.scalar_subquery()).select_from(ENTRIES).order_by(ENTRIES.c.entry_id)
_NEWEST = (
    select(ITEMS.c.value)
    .where(_OF_AGENT)
    .order_by(ITEMS.c.sequence.desc())
    .limit(bindparam("most"))
)
_LAST = select(func.max(ITEMS.c.sequence)).where(_OF_AGENT)
_PUT_ITEM = put_statement(ITEMS)

_ORDER: ColumnElement[int] = literal_column("rowid")
_EFFECT = select(EFFECTS.c.value).where(EFFECTS.c.effect_id == bindparam("effect_id"))
_BY_KEY = select(EFFECTS.c.value).where(
    *(EFFECTS.c[name] == bindparam(name) for name in attrs.fields_dict(Key))
)
_IN_TURN = (
    EFFECTS.c.entry_id == bindparam("entry_id"),
    EFFECTS.c.turn_id == bindparam("turn_id"),
)
_OF_TURN = select(EFFECTS.c.value).where(*_IN_TURN).order_by(_ORDER)
_WEIGHT = select(
    func.count(), func.sum(EFFECTS.c.request_bytes), func.sum(EFFECTS.c.result_bytes)
).where(*_IN_TURN)
_OPEN = select(EFFECTS.c.value).where(EFFECTS.c.is_settled.is_(False)).order_by(_ORDER)
_OPEN_OF_AGENT = _OPEN.where(EFFECTS.c.entry_id == bindparam("entry_id"))
_COUNT_OPEN = select(func.count()).where(
    EFFECTS.c.is_settled.is_(False), EFFECTS.c.entry_id == bindparam("entry_id")
)
_PUT_EFFECT = put_statement(EFFECTS)

_PUT_DEED = insert(DEEDS).values(entry_id=bindparam("entry_id"), value=bindparam("value"))
_LAST_DEED = select(func.max(DEEDS.c.number)).scalar_subquery()
_DROP_DEEDS = DEEDS.delete().where(DEEDS.c.number <= _LAST_DEED - KEPT)
_DEEDS = select(DEEDS.c.value).order_by(DEEDS.c.number.desc()).limit(bindparam("most"))
_DEEDS_OF_AGENT = _DEEDS.where(DEEDS.c.entry_id == bindparam("entry_id"))


_SINCE_1 = (DEEDS,)
"""The tables that a file of the first form lacks."""


@attrs.frozen
class SqlJournal:
    """The journal within one transaction."""

    _unit: Unit

    def entry(self, entry_id: str) -> Entry | None:
        """Return an agent."""
        return _one(self._unit.row(_ENTRY, entry_id=entry_id), Entry)

    def entries(self) -> Sequence[Entry]:
        """Return all agents, by their names."""
        return _all(self._unit.rows(_ALL_ENTRIES), Entry)

    def put_entry(self, entry: Entry) -> None:
        """Keep an agent, in place of what was kept of it."""
        self._put(_PUT_ENTRY, entry, entry_id=entry.entry_id)

    def drop_entry(self, entry_id: str) -> None:
        """Forget an agent, what it was told, and up to where; what it did stays."""
        for drop in _DROP_ENTRY:
            self._unit.change(drop, {"entry_id": entry_id})

    def binding(self, entry_id: str) -> Binding | None:
        """Return the session that an agent is bound to."""
        row = self._unit.row(_BINDING, entry_id=entry_id)
        return None if row is None or row[1] is None else _read(row[1], Binding)

    def highest_epoch(self, entry_id: str) -> int:
        """Return the highest epoch that any binding of an agent ever had; 0 if it had none."""
        row = self._unit.row(_BINDING, entry_id=entry_id)
        return int(row[0]) if row is not None else 0

    def put_binding(self, binding: Binding) -> None:
        """Bind an agent."""
        self._put(_PUT_BINDING, binding, entry_id=binding.entry_id, epoch=binding.epoch)

    def unbind(self, entry_id: str) -> None:
        """Take the binding of an agent away; its epoch is remembered."""
        epoch = self.highest_epoch(entry_id)
        if epoch:
            facts = {"entry_id": entry_id, "epoch": epoch, "value": None}
            self._unit.change(_PUT_BINDING, facts)

    def ingress(self, entry_id: str) -> Ingress | None:
        """Return up to where an agent has been told of its room; None if it never came in."""
        return _one(self._unit.row(_INGRESS, entry_id=entry_id), Ingress)

    def put_ingress(self, ingress: Ingress) -> None:
        """Keep up to where an agent has been told."""
        self._put(_PUT_INGRESS, ingress, entry_id=ingress.entry_id)

    def item(self, item_id: str) -> Item | None:
        """Return an item of an inbox."""
        return _one(self._unit.row(_ITEM, item_id=item_id), Item)

    def unfinished(self, entry_id: str) -> Sequence[Item]:
        """Return the items of an agent that are not over, first in first."""
        return _all(self._unit.rows(_UNFINISHED, entry_id=entry_id), Item)

    def firsts(self) -> Sequence[Item]:
        """Return the first item that is not over of each agent that is there and has one."""
        return _all([row for row in self._unit.rows(_FIRSTS) if row[0] is not None], Item)

    def newest_items(self, entry_id: str, most: int) -> Sequence[Item]:
        """Return the items of an agent, over or not, from the newest on, and at most so many."""
        return _all(self._unit.rows(_NEWEST, entry_id=entry_id, most=most), Item)

    def last_sequence(self, entry_id: str) -> int:
        """Return the highest number that an item of an agent has; 0 if it has none."""
        row = self._unit.row(_LAST, entry_id=entry_id)
        return int(row[0] or 0) if row is not None else 0

    def put_item(self, item: Item) -> None:
        """Keep an item, in place of what was kept of it."""
        facts = {"entry_id": item.entry_id, "sequence": item.sequence, "is_over": item.is_over}
        self._put(_PUT_ITEM, item, item_id=item.item_id, **facts)

    def effect(self, key: Key) -> Effect | None:
        """Return the effect of a request."""
        return _one(self._unit.row(_BY_KEY, **attrs.asdict(key)), Effect)

    def effect_named(self, effect_id: str) -> Effect | None:
        """Return the effect of that id."""
        return _one(self._unit.row(_EFFECT, effect_id=effect_id), Effect)

    def weight_of_turn(self, entry_id: str, turn_id: str) -> Weight:
        """Return how much is kept of a turn."""
        row = self._unit.row(_WEIGHT, entry_id=entry_id, turn_id=turn_id)
        return Weight(*(int(one or 0) for one in row)) if row is not None else Weight()

    def count_unsettled(self, entry_id: str) -> int:
        """Return how many effects of an agent are not settled."""
        row = self._unit.row(_COUNT_OPEN, entry_id=entry_id)
        return int(row[0]) if row is not None else 0

    def effects_of_turn(self, entry_id: str, turn_id: str) -> Sequence[Effect]:
        """Return the effects of a turn, in their order."""
        return _all(self._unit.rows(_OF_TURN, entry_id=entry_id, turn_id=turn_id), Effect)

    def unsettled(self, entry_id: str | None = None) -> Sequence[Effect]:
        """Return the effects that are not settled, of one agent or of all, in their order."""
        if entry_id is None:
            return _all(self._unit.rows(_OPEN), Effect)
        return _all(self._unit.rows(_OPEN_OF_AGENT, entry_id=entry_id), Effect)

    def put_effect(self, effect: Effect) -> None:
        """Keep an effect, in place of what was kept of it."""
        key, result = effect.key, effect.result
        self._put(
            _PUT_EFFECT,
            effect,
            effect_id=effect.effect_id,
            entry_id=key.entry_id,
            execution_id=key.execution_id,
            turn_id=key.turn_id,
            request_id=key.request_id,
            is_settled=effect.state.is_settled,
            request_bytes=effect.request.size,
            result_bytes=len(result.encode()) if result is not None else 0,
        )

    def put_deed(self, deed: Deed) -> None:
        """Keep a deed; of all that are kept the oldest goes where there are too many."""
        self._put(_PUT_DEED, deed, entry_id=deed.entry_id)
        self._unit.change(_DROP_DEEDS, {})

    def newest_deeds(self, entry_id: str | None, most: int) -> Sequence[Deed]:
        """Return the deeds of an agent or of all, from the newest on, and at most so many."""
        if entry_id is None:
            return _all(self._unit.rows(_DEEDS, most=most), Deed)
        return _all(self._unit.rows(_DEEDS_OF_AGENT, entry_id=entry_id, most=most), Deed)

    def _put(self, statement: Any, value: object, **facts: object) -> None:
        self._unit.change(statement, {**facts, "value": kept.written(value)})


def _one(row: Any, kind: type[T]) -> T | None:
    return _read(row[0], kind) if row is not None else None


def _all(rows: Sequence[Any], kind: type[T]) -> list[T]:
    return [_read(row[0], kind) for row in rows]


def _read(text: str, kind: type[T]) -> T:
    """Return the value that a text is; all but effects are read with each call of a tool."""
    value: T = kept.read(text, kind) if kind is Effect else _remembered(text, kind)
    return value


_remembered: Any = functools.lru_cache(128)(kept.read)


@attrs.define(eq=False)
class SqlSupervision:
    """The journal in the file at `place`, for the supervisor of that generation."""

    _place: Path
    _generation: int
    _database: Database = attrs.field(init=False)
    _thread: ThreadPoolExecutor = attrs.field(init=False)
    _is_open: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._database = Database.at(self._place, has_one_writer=True)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    async def change(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` returns once what it did is on the disk. Raises: as Supervision."""

        def fenced(unit: Unit) -> T:
            row = unit.row(_GENERATION)
            generations.check_newest(None if row is None else row[0], self._generation)
            return work(SqlJournal(unit))

        return await self._run(lambda: self._database.write(fenced))

    async def look(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` finds in one state of the journal. Raises: as Supervision."""
        return await self._run(lambda: self._database.read(lambda unit: work(SqlJournal(unit))))

    async def aclose(self) -> None:
        """Do what was asked before, and close the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._thread.shutdown()
        self._database.close()

    async def _run(self, act: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: self._told(act))

    def _told(self, act: Callable[[], T]) -> T:
        """Return what `act` returns, its failures told in our own words."""
        try:
            if not self._is_open:
                self._database.write(self._opened)
                self._is_open = True
            done = act()
        except CommitFailed as error:
            raise OutcomeUnknown(
                f"The journal in {self._place} broke while something was written down: {error}.",
                remedy="Ask again under the same request: if it was kept, it is not done twice.",
            ) from error
        except self._database.failures as error:
            raise self._unavailable(error) from error
        self._database.tidy()
        return done

    def _opened(self, unit: Unit) -> None:
        """Make the tables if they are not there, and be the newest supervisor."""
        (form,) = unit.ask("PRAGMA user_version")
        if form > VERSION:
            raise StateDamaged(
                f"The journal in {self._place} is of form {form}, and this program knows up to "
                f"{VERSION}.",
                remedy="Use the newer letagents that wrote it.",
            )
        if form < VERSION:
            self._make(unit, METADATA.sorted_tables if form == 0 else _SINCE_1)
        row = unit.row(_GENERATION)
        if row is not None and row[0] > self._generation:
            raise FenceLost
        unit.change(_PUT_GENERATION, {"id": 1, "generation": self._generation})

    def _make(self, unit: Unit, tables: Sequence[Table]) -> None:
        dialect = self._database.engine.dialect
        for table in tables:
            unit.say(str(CreateTable(table).compile(dialect=dialect)))
            for index in sorted(table.indexes, key=lambda one: str(one.name)):
                unit.say(str(CreateIndex(index).compile(dialect=dialect)))
        unit.say(f"PRAGMA user_version = {VERSION}")

    def _unavailable(self, error: Exception) -> StateUnavailable:
        name = getattr(error, "sqlite_errorname", "")
        kind = StateDamaged if name in ("SQLITE_NOTADB", "SQLITE_CORRUPT") else StateUnavailable
        return kind(
            f"The journal in {self._place} cannot be used: {error}.",
            remedy="Let this user read and write that file and its folder; nothing was changed.",
        )
