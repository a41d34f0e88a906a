"""Where the open models of agents are; a key that was handed over is in memory alone."""

import attrs

from letagents.domain.manifest import Entry
from letagents.domain.open_models import Endpoint
from letagents.ports.model_keys import ModelKeys


@attrs.define(eq=False)
class OpenModels:
    """The models of one supervisor's agents."""

    keys: ModelKeys
    _handed_over: dict[str, Endpoint] = attrs.field(factory=dict, repr=False)

    def hand_over(self, entry_id: str, endpoint: Endpoint) -> None:
        """Use this model for an agent from its next start on, whatever is written down."""
        self._handed_over[entry_id] = endpoint

    def forget(self, entry_id: str) -> None:
        """Forget what was handed over for an agent."""
        self._handed_over.pop(entry_id, None)

    def endpoint(self, entry: Entry) -> Endpoint | None:
        """Return where an agent's model is; None if nobody said so.

        Raises:
            ProviderUnusable: its key is not where it was said to be.
        """
        server = entry.model_server
        if entry.entry_id in self._handed_over or server is None:
            return self._handed_over.get(entry.entry_id)
        key = self.keys.read(server.key) if server.key is not None else None
        return Endpoint.of(server.base_url, entry.model or "", key)
