"""The journal of a supervisor in memory, for tests and for those who embed one for a while."""

import copy
from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs

from letagents.domain import generations
from letagents.domain.bindings import Binding
from letagents.domain.deeds import KEPT, Deed
from letagents.domain.effects import Effect, Key, Weight
from letagents.domain.errors import StateUnavailable
from letagents.domain.inbox import Item
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry
from letagents.ports.supervision import Journal

T = TypeVar("T")


@attrs.define
class MemoryJournal:
    """What is written down, each thing under its name."""

    _entries: dict[str, Entry] = attrs.field(factory=dict)
    _bindings: dict[str, Binding] = attrs.field(factory=dict)
    _epochs: dict[str, int] = attrs.field(factory=dict)
    _ingress: dict[str, Ingress] = attrs.field(factory=dict)
    _items: dict[str, Item] = attrs.field(factory=dict)
    _effects: dict[str, Effect] = attrs.field(factory=dict)
    _by_key: dict[Key, str] = attrs.field(factory=dict)
    _deeds: list[Deed] = attrs.field(factory=list)

    def copied(self) -> "MemoryJournal":
        """Return a journal of the same values, which never change."""
        made = MemoryJournal()
        for field in attrs.fields(MemoryJournal):
            setattr(made, field.name, copy.copy(getattr(self, field.name)))
        return made

    def entry(self, entry_id: str) -> Entry | None:
        """Return an agent."""
        return self._entries.get(entry_id)

    def entries(self) -> Sequence[Entry]:
        """Return all agents, by their names."""
        return sorted(self._entries.values(), key=lambda entry: entry.entry_id)

    def put_entry(self, entry: Entry) -> None:
        """Keep an agent, in place of what was kept of it."""
        self._entries[entry.entry_id] = entry

    def drop_entry(self, entry_id: str) -> None:
        """Forget an agent, what it was told, and up to where; what it did stays."""
        self._entries.pop(entry_id, None)
        self._ingress.pop(entry_id, None)
        for item in [one for one in self._items.values() if one.entry_id == entry_id]:
            del self._items[item.item_id]

    def binding(self, entry_id: str) -> Binding | None:
        """Return the session that an agent is bound to."""
        return self._bindings.get(entry_id)

    def highest_epoch(self, entry_id: str) -> int:
        """Return the highest epoch that any binding of an agent ever had; 0 if it had none."""
        return self._epochs.get(entry_id, 0)

    def put_binding(self, binding: Binding) -> None:
        """Bind an agent."""
        self._bindings[binding.entry_id] = binding
        self._epochs[binding.entry_id] = binding.epoch

    def unbind(self, entry_id: str) -> None:
        """Take the binding of an agent away; its epoch is remembered."""
        self._bindings.pop(entry_id, None)

    def ingress(self, entry_id: str) -> Ingress | None:
        """Return up to where an agent has been told of its room; None if it never came in."""
        return self._ingress.get(entry_id)

    def put_ingress(self, ingress: Ingress) -> None:
        """Keep up to where an agent has been told."""
        self._ingress[ingress.entry_id] = ingress

    def item(self, item_id: str) -> Item | None:
        """Return an item of an inbox."""
        return self._items.get(item_id)

    def unfinished(self, entry_id: str) -> Sequence[Item]:
        """Return the items of an agent that are not over, first in first."""
        found = (one for one in self._items.values() if one.entry_id == entry_id)
        return sorted((one for one in found if not one.is_over), key=lambda one: one.sequence)

    def firsts(self) -> Sequence[Item]:
        """Return the first item that is not over of each agent that is there and has one."""
        waiting = (self.unfinished(entry_id) for entry_id in sorted(self._entries))
        return [items[0] for items in waiting if items]

    def newest_items(self, entry_id: str, most: int) -> Sequence[Item]:
        """Return the items of an agent, over or not, from the newest on, and at most so many."""
        found = [one for one in self._items.values() if one.entry_id == entry_id]
        return sorted(found, key=lambda one: -one.sequence)[:most]

    def last_sequence(self, entry_id: str) -> int:
        """Return the highest number that an item of an agent has; 0 if it has none."""
        found = (one.sequence for one in self._items.values() if one.entry_id == entry_id)
        return max(found, default=0)

    def put_item(self, item: Item) -> None:
        """Keep an item, in place of what was kept of it."""
        self._items[item.item_id] = item

    def effect(self, key: Key) -> Effect | None:
        """Return the effect of a request."""
        effect_id = self._by_key.get(key)
        return self._effects[effect_id] if effect_id is not None else None

    def effect_named(self, effect_id: str) -> Effect | None:
        """Return the effect of that id."""
        return self._effects.get(effect_id)

    def weight_of_turn(self, entry_id: str, turn_id: str) -> Weight:
        """Return how much is kept of a turn."""
        found = self.effects_of_turn(entry_id, turn_id)
        results = (len(one.result.encode()) for one in found if one.result is not None)
        return Weight(len(found), sum(one.request.size for one in found), sum(results))

    def count_unsettled(self, entry_id: str) -> int:
        """Return how many effects of an agent are not settled."""
        return len(self.unsettled(entry_id))

    def effects_of_turn(self, entry_id: str, turn_id: str) -> Sequence[Effect]:
        """Return the effects of a turn, in their order."""
        found = self._effects.values()
        return [one for one in found if (one.key.entry_id, one.key.turn_id) == (entry_id, turn_id)]

    def unsettled(self, entry_id: str | None = None) -> Sequence[Effect]:
        """Return the effects that are not settled, of one agent or of all, in their order."""
        found = (one for one in self._effects.values() if not one.state.is_settled)
        return [one for one in found if entry_id in (None, one.key.entry_id)]

    def put_effect(self, effect: Effect) -> None:
        """Keep an effect, in place of what was kept of it."""
        self._effects[effect.effect_id] = effect
        self._by_key[effect.key] = effect.effect_id

    def put_deed(self, deed: Deed) -> None:
        """Keep a deed; of all that are kept the oldest goes where there are too many."""
        self._deeds = [*self._deeds, deed][-KEPT:]

    def newest_deeds(self, entry_id: str | None, most: int) -> Sequence[Deed]:
        """Return the deeds of an agent or of all, from the newest on, and at most so many."""
        found = [one for one in self._deeds if entry_id in (None, one.entry_id)]
        return found[::-1][:most]


@attrs.define(eq=False)
class MemoryPlace:
    """Where journals are kept as long as this object lives."""

    journal: MemoryJournal = attrs.field(factory=MemoryJournal)
    generation: int = 0
    fault: StateUnavailable | None = None


@attrs.define(eq=False)
class MemorySupervision:
    """The journal at `place`, for the supervisor of that generation."""

    _place: MemoryPlace
    _generation: int

    def __attrs_post_init__(self) -> None:
        self._place.generation = max(self._place.generation, self._generation)

    async def change(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` returns once what it did is kept. Raises: as Supervision."""
        self._check_place()
        generations.check_newest(self._place.generation, self._generation)
        journal = self._place.journal.copied()
        done = work(journal)
        self._place.journal = journal
        return done

    async def look(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` finds in one state of the journal. Raises: as Supervision."""
        self._check_place()
        return work(self._place.journal.copied())

    async def aclose(self) -> None:
        """Do nothing: the place keeps what was written."""

    def _check_place(self) -> None:
        if self._place.fault is not None:
            raise StateUnavailable(self._place.fault.happened, remedy=self._place.fault.remedy)
