"""Where a supervisor keeps what must outlive it."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from letagents.domain.bindings import Binding
from letagents.domain.deeds import Deed
from letagents.domain.effects import Effect, Key, Weight
from letagents.domain.inbox import Item
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry

T = TypeVar("T")


class Journal(Protocol):
    """Everything that a supervisor has written down, within one transaction."""

    def entry(self, entry_id: str) -> Entry | None:
        """Return an agent."""
        ...

    def entries(self) -> Sequence[Entry]:
        """Return all agents, by their names."""
        ...

    def put_entry(self, entry: Entry) -> None:
        """Keep an agent, in place of what was kept of it."""
        ...

    def drop_entry(self, entry_id: str) -> None:
        """Forget an agent, what it was told, and up to where; what it did stays."""
        ...

    def binding(self, entry_id: str) -> Binding | None:
        """Return the session that an agent is bound to."""
        ...

    def highest_epoch(self, entry_id: str) -> int:
        """Return the highest epoch that any binding of an agent ever had; 0 if it had none."""
        ...

    def put_binding(self, binding: Binding) -> None:
        """Bind an agent."""
        ...

    def unbind(self, entry_id: str) -> None:
        """Take the binding of an agent away; its epoch is remembered."""
        ...

    def ingress(self, entry_id: str) -> Ingress | None:
        """Return up to where an agent has been told of its room; None if it never came in."""
        ...

    def put_ingress(self, ingress: Ingress) -> None:
        """Keep up to where an agent has been told."""
        ...

    def item(self, item_id: str) -> Item | None:
        """Return an item of an inbox."""
        ...

    def unfinished(self, entry_id: str) -> Sequence[Item]:
        """Return the items of an agent that are not over, first in first."""
        ...

    def firsts(self) -> Sequence[Item]:
        """Return the first item that is not over of each agent that is there and has one."""
        ...

    def newest_items(self, entry_id: str, most: int) -> Sequence[Item]:
        """Return the items of an agent, over or not, from the newest on, and at most so many."""
        ...

    def last_sequence(self, entry_id: str) -> int:
        """Return the highest number that an item of an agent has; 0 if it has none."""
        ...

    def put_item(self, item: Item) -> None:
        """Keep an item, in place of what was kept of it."""
        ...

    def effect(self, key: Key) -> Effect | None:
        """Return the effect of a request."""
        ...

    def effect_named(self, effect_id: str) -> Effect | None:
        """Return the effect of that id."""
        ...

    def weight_of_turn(self, entry_id: str, turn_id: str) -> Weight:
        """Return how much is kept of a turn."""
        ...

    def count_unsettled(self, entry_id: str) -> int:
        """Return how many effects of an agent are not settled."""
        ...

    def effects_of_turn(self, entry_id: str, turn_id: str) -> Sequence[Effect]:
        """Return the effects of a turn, in their order."""
        ...

    def unsettled(self, entry_id: str | None = None) -> Sequence[Effect]:
        """Return the effects that are not settled, of one agent or of all, in their order."""
        ...

    def put_effect(self, effect: Effect) -> None:
        """Keep an effect, in place of what was kept of it."""
        ...

    def put_deed(self, deed: Deed) -> None:
        """Keep a deed; of all that are kept the oldest goes where there are too many."""
        ...

    def newest_deeds(self, entry_id: str | None, most: int) -> Sequence[Deed]:
        """Return the deeds of an agent or of all, from the newest on, and at most so many."""
        ...


class Supervision(Protocol):
    """Keeps the journal of a supervisor.

    Every adapter keeps these, and the contract suite has a test for each:

    J55  What `change` did is on the disk when it returns; nothing of it is if `work` raises.
    J56  A supervisor that is not the newest one on that place changes nothing, whenever it began.
    J57  What was put is found by its name and its facts, by whoever opens the place next.
    J58  The epochs of bindings outlive them.
    J59  A place that cannot be used is told with StateUnavailable.
    """

    async def change(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` returns once what it did is on the disk; if it raises, nothing is.

        Raises:
            FenceLost: a newer supervisor has taken over, and nothing was changed.
        """
        ...

    async def look(self, work: Callable[[Journal], T]) -> T:
        """Return what `work` finds in one state of the journal."""
        ...


class Hold(Protocol):
    """The right to be the supervisor of a home, as one process has it."""

    @property
    def generation(self) -> int:
        """Which supervisor of the home this is."""
        ...

    def check(self) -> None:
        """Do nothing as long as no newer supervisor has taken over.

        Raises:
            FenceLost: one has.
        """
        ...
