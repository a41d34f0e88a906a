"""The agents of a supervisor: what runs each, where it works, and as whom it is in its room."""

import functools
from typing import TYPE_CHECKING

import attrs

from letagents.adapters.providers.model_keys import OwnKeys
from letagents.adapters.system import SystemIds
from letagents.adapters.worktrees import GitWorktrees
from letagents.application.agents.agent_folders import AgentFolders
from letagents.application.agents.household import Household
from letagents.application.agents.keeping import Keeper
from letagents.application.agents.launching import launcher
from letagents.application.agents.open_models import OpenModels
from letagents.domain import inbox, manifest, turn_answers
from letagents.wiring.providers import OWN_TOOLS, agent_provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from letagents.application.agents.agent import Words
    from letagents.application.agents.granting import Grants
    from letagents.application.agents.servers import Lodging, LodgingOf, Servers
    from letagents.application.agents.supervising import Supervising
    from letagents.domain.manifest import Entry
    from letagents.domain.turns import Answered, Silent
    from letagents.ports.ids import Ids
    from letagents.ports.providers import Provider
    from letagents.ports.workplaces import Workplaces
    from letagents.settings import Settings


def open_household(
    settings: "Settings",
    servers: "Servers",
    sessions: "Supervising",
    words: "Words",
    *,
    providers: "Mapping[str, Provider] | None" = None,
    grants: "Grants | None" = None,
) -> Household:
    """Return the agents of a supervisor, whose rooms are those of `servers`.

    `providers` run agents in the place of the programs of those names.
    """
    ids, models = SystemIds(), OpenModels(OwnKeys())
    trees = GitWorktrees(settings.home.resolve() / "worktrees")
    keepers = _Keepers(
        settings, servers, sessions, words, ids, models, trees, providers or {}, grants
    )
    folders, generation = AgentFolders(trees, ids), sessions.hold.generation
    made = Household(sessions.journal, keepers.of, generation, folders, models, grants)
    if grants is not None:
        grants.look_again, grants.granted.withdraw = made.look_again, made.withdraw
        servers.granted = grants.letagents
    return made


@attrs.frozen
class _Keepers:
    """Makes what keeps each agent."""

    settings: "Settings"
    servers: "Servers"
    sessions: "Supervising"
    words: "Words"
    ids: "Ids"
    models: OpenModels
    trees: "Workplaces"
    given: "Mapping[str, Provider]"
    grants: "Grants | None"

    def of(self, entry: "Entry") -> Keeper:
        manifest.check_polling(entry)
        return Keeper(
            entry.entry_id,
            self.sessions,
            self._provider(entry),
            self._lodging_of(entry.entry_id),
            self.words,
            self.ids,
            launcher(str(self.settings.supervisor_socket), OWN_TOOLS),
            workplaces=self.trees,
        )

    def _provider(self, entry: "Entry") -> "Provider":
        if (given := self.given.get(entry.provider)) is not None:
            return given
        return agent_provider(
            entry.provider,
            self.settings,
            endpoint=functools.partial(self.models.endpoint, entry),
            said=self._said,
        )

    async def _said(self, turn_key: str) -> "Answered | Silent | None":
        item_id = inbox.item_of(turn_key)
        return turn_answers.said(
            await self.sessions.journal.look(lambda journal: journal.item(item_id))
        )

    def _lodging_of(self, entry_id: str) -> "LodgingOf":
        async def lodging(api_url: str) -> "Lodging":
            granted = await self.grants.lodging(entry_id) if self.grants is not None else None
            return granted or await self.servers.lodging(api_url)

        return lodging
