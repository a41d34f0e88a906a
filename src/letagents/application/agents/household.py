"""All agents of one supervisor: each is kept as it is wanted, and what is wanted can be changed."""

import asyncio
from collections.abc import Callable, Sequence

import attrs
import structlog

from letagents.application.agents import deeds, entries
from letagents.application.agents.agent_folders import AgentFolders
from letagents.application.agents.endings import end_all
from letagents.application.agents.granting import Grants
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.open_models import OpenModels
from letagents.domain import ingress, manifest, open_models, recovery
from letagents.domain.deeds import Act, Doer
from letagents.domain.errors import LetAgentsError, NotAvailable
from letagents.domain.generations import FenceLost
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry, TurnControl
from letagents.domain.open_models import Endpoint
from letagents.domain.recovery import Desired, History
from letagents.domain.turn_controls import TurnControlRefused
from letagents.domain.workplaces import Kept, Wish
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()


@attrs.frozen
class Initial:
    """What an agent is told at its beginning, and why, as JSON."""

    message: str
    activation: str


@attrs.define(eq=False)
class Household:
    """The agents of a supervisor. `keeper_of` returns who keeps one, or raises if nobody can."""

    journal: Supervision
    keeper_of: Callable[[Entry], Keeper]
    generation: int
    """That of this supervisor."""
    folders: AgentFolders | None = None
    models: OpenModels | None = None
    grants: Grants | None = None
    _keepers: dict[str, Keeper] = attrs.field(factory=dict)
    _tasks: dict[str, "asyncio.Task[None]"] = attrs.field(factory=dict)
    _replaced: asyncio.Event = attrs.field(factory=asyncio.Event)
    _is_over: bool = False
    """Whether whoever comes next keeps the agents: what is wanted is only written down now."""

    async def run(self) -> None:
        """Keep all agents until this is cancelled, which leaves their processes as they are.

        Raises:
            FenceLost: another supervisor has taken over.
        """
        try:
            for entry in await self.entries():
                self._keep_if_possible(entry)
            await self._replaced.wait()
            raise FenceLost
        finally:
            self._is_over = True
            await end_all(*self._tasks.values())

    def _keep_if_possible(self, entry: Entry) -> None:
        """Keep an agent of an earlier supervisor; one that nobody can keep is left as it is."""
        try:
            self._keep(entry)
        except LetAgentsError as error:
            log.warning("agent.unkept", entry_id=entry.entry_id, code=error.code)

    def _keep(self, entry: Entry) -> None:
        """Keep an agent, unless somebody does: one may be added while the others are looked up."""
        task = self._tasks.get(entry.entry_id)
        if self._is_over or (task is not None and not task.done()):
            return
        keeper = self.keeper_of(entry)
        self._keepers[entry.entry_id] = keeper
        task = asyncio.create_task(keeper.run())
        self._tasks[entry.entry_id] = task
        task.add_done_callback(lambda done: self._over(entry.entry_id, done))

    def _over(self, entry_id: str, task: "asyncio.Task[None]") -> None:
        why = None if task.cancelled() else task.exception()
        if isinstance(why, FenceLost):
            self._replaced.set()
        elif why is not None:
            log.error("keeper.failed", entry_id=entry_id, exc_info=why)

    async def entries(self) -> Sequence[Entry]:
        """Return all agents, by their names."""
        return await self.journal.look(lambda journal: journal.entries())

    async def add(self, entry: Entry, wish: Wish | None = None, *, by: Doer | None = None) -> Entry:
        """Add an agent, and keep it; with `wish` in a folder of its own.

        Raises:
            ManifestRefused: another has its name.
            Malformed: others cannot call it as it is to be called.
            WorkplaceRefused: it cannot have such a folder.
            ProviderMissing, ProviderUnusable: its program is not there, or cannot be used.
            LetAgentsError: nobody can keep it.
        """
        entry = manifest.named(entry, entry.display_name)
        await self.keeper_of(entry).provider.version()
        if wish is not None:
            entry = await self._placed(entry, wish)

        def add(journal: Journal) -> None:
            manifest.check_fresh(entry, journal.entry(entry.entry_id))
            journal.put_entry(entry)
            where = f"{entry.provider} in {entry.room_id}"
            deeds.put(journal, by, entry.entry_id, Act.ADDED, where)

        await self.journal.change(add)
        self._keep(entry)
        return entry

    async def _placed(self, entry: Entry, wish: Wish) -> Entry:
        if self.folders is None:
            raise NotAvailable(
                "This supervisor makes no folders for its agents.",
                remedy="Name a folder that there is: `--workspace DIR`.",
            )
        return await self.folders.placed(entry, wish, await self.entries())

    async def want(self, entry_id: str, desired: Desired, *, by: Doer | None = None) -> Entry:
        """Change what is wanted of an agent. One that was left alone is tried again.

        Raises:
            ManifestRefused: there is none of that name.
        """
        entry, _ = await self.want_if(entry_id, desired, by=by)
        return entry

    async def want_if(
        self,
        entry_id: str,
        desired: Desired,
        expected: Desired | None = None,
        *,
        by: Doer | None = None,
    ) -> tuple[Entry, bool]:
        """Do that if what was wanted is as expected; return the agent, and whether it was.

        Raises:
            ManifestRefused: there is none of that name.
        """

        def want(journal: Journal) -> tuple[Entry, bool]:
            known = entries.known(journal, entry_id)
            wanted = manifest.wanted(known, desired, expected=expected)
            if wanted is None:
                return known, False
            history = History() if desired is Desired.RUNNING else known.history
            history = attrs.evolve(history, pending=known.history.pending)
            wanted = attrs.evolve(wanted, history=history)
            journal.put_entry(wanted)
            change = f"{known.desired.value} → {desired.value}"
            deeds.put(journal, by, entry_id, Act.WANTED, change)
            return wanted, True

        entry, is_so = await self.journal.change(want)
        if not is_so:
            return entry, False
        log.info("agent.wanted", entry_id=entry_id, desired=desired.value)
        self._keep(entry)
        self.look_again(entry_id)
        return entry, True

    async def rename(self, entry_id: str, name: str, *, by: Doer | None = None) -> Entry:
        """Have others call an agent so, from its next process on.

        Raises:
            ManifestRefused: there is none of that name.
            Malformed: that is none that others can call it.
        """

        def rename(journal: Journal) -> Entry:
            before = entries.known(journal, entry_id).display_name
            named = entries.changed(journal, entry_id, lambda known: manifest.named(known, name))
            change = f"{before} → {named.display_name}"
            deeds.put(journal, by, entry_id, Act.RENAMED, change)
            return named

        return await self.journal.change(rename)

    async def stop_turn(
        self, entry_id: str, begin: Callable[[Journal], TurnControl]
    ) -> TurnControl:
        """Break off the turn of an agent that `begin` writes down to be stopped.

        Raises: as `begin`.
            TurnControlRefused: the agent is in no turn that runs here.
        """
        keeper = self._keepers.get(entry_id)
        if keeper is None:
            raise TurnControlRefused(
                "The agent is in no turn that this supervisor runs.",
                remedy="`letagents agents status` shows what each agent is at.",
            )
        return await keeper.stop_turn(begin)

    async def admit(self, entry_id: str) -> tuple[Ingress, bool]:
        """Return up to where an agent has been told of its room, and whether it begins only now.

        Raises:
            ManifestRefused: there is none of that name.
            LetAgentsError: nobody can keep it, or its room cannot be had.
        """
        entry = await entries.look(self.journal, entry_id)
        before = await self.journal.look(lambda journal: journal.ingress(entry_id))
        keeper = self._keepers.get(entry_id) or self.keeper_of(entry)
        there = await keeper.admit()
        return there, before is None or before.room_id != there.room_id

    async def tell_at_once(self, entry_id: str, initial: Initial) -> None:
        """Hand an agent that has a room something as its first turn there; once in each room.

        Raises:
            ManifestRefused: there is none of that name, or it is handed nothing.
        """

        def tell(journal: Journal) -> None:
            entry, there = entries.known(journal, entry_id), journal.ingress(entry_id)
            manifest.check_handed(entry)
            if there is None:
                return
            item = ingress.initial(
                there,
                initial.message,
                initial.activation,
                mark=f"{entry.created_at:%Y%m%dT%H%M%S.%f}",
                last_sequence=journal.last_sequence(entry_id),
            )
            if journal.item(item.item_id) is None:
                journal.put_item(item)

        await self.journal.change(tell)
        self.look_again(entry_id)

    async def take_model(self, entry_id: str, endpoint: Endpoint, generation: int) -> bool:
        """Use a model, whose key was handed over, for an agent from its next start on.

        Return whether it is taken: not for other agents, nor under another generation.
        """
        entry = await entries.find(self.journal, entry_id)
        if entry is None or self.models is None:
            return False
        if not open_models.may_take(entry.provider, generation=generation, own=self.generation):
            return False
        self.models.hand_over(entry_id, endpoint)
        await entries.change_if_there(self.journal, entry_id, _tried_at_once)
        self.look_again(entry_id)
        return True

    def withdraw(self, entry_id: str) -> None:
        """Have an agent handed nothing any more: it is not let into its room."""
        if (keeper := self._keepers.get(entry_id)) is not None:
            keeper.withdraw()

    def look_again(self, entry_id: str) -> None:
        """Have an agent looked at now: a person has changed something of it."""
        if (keeper := self._keepers.get(entry_id)) is not None:
            keeper.look_again()

    async def remove(self, entry_id: str, *, by: Doer | None = None) -> Kept | None:
        """Forget an agent that is stopped. Return which folder of its own was kept, if one was.

        Raises:
            ManifestRefused: it is not, or there is none of that name.
        """

        def check(journal: Journal) -> Entry:
            known = entries.known(journal, entry_id)
            manifest.check_removable(known)
            return known

        def remove(journal: Journal) -> None:
            check(journal)
            journal.drop_entry(entry_id)
            deeds.put(journal, by, entry_id, Act.REMOVED)

        entry = await self.journal.look(check)
        kept = await self.folders.cleared(entry) if self.folders is not None else None
        await self.journal.change(remove)
        task = self._tasks.pop(entry_id, None)
        if task is not None:
            await end_all(task)
        self._keepers.pop(entry_id, None)
        if self.models is not None:
            self.models.forget(entry_id)
        if self.grants is not None:
            await self.grants.granted.forget(entry_id)
        return kept


def _tried_at_once(entry: Entry) -> Entry:
    """Return an agent that is tried again without waiting, if it could not be started."""
    return attrs.evolve(entry, history=recovery.without_pause(entry.history))
