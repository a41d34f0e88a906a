"""Where the keys of models are read."""

from typing import Protocol

from letagents.domain.open_models import KeySource


class ModelKeys(Protocol):
    """Reads a key each time that it is needed, and keeps none."""

    def read(self, source: KeySource) -> str:
        """Return the key.

        Raises:
            ProviderUnusable: it is not there, or others may read it too.
        """
        ...
