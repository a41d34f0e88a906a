"""Keys of models, in variables of this process and in files that are their owner's alone."""

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from letagents.adapters import marks
from letagents.adapters.marks import NotSmall
from letagents.domain.open_models import KeySource
from letagents.domain.turns import ProviderUnusable


@attrs.frozen
class OwnKeys:
    """Looks where it is told to, each time anew."""

    environ: Mapping[str, str] = attrs.field(default=os.environ, repr=False)

    def read(self, source: KeySource) -> str:
        """Return the key. Raises: as ModelKeys."""
        if source.variable is not None:
            key = self.environ.get(source.variable, "")
        else:
            key = _in_file(Path(source.file or ""))
        if not key.strip() or len(key.split()) != 1:
            raise ProviderUnusable(
                f"There is no key in {source}, where this agent's model has its own.",
                remedy="Put the key there, and nothing else; a variable is read when the "
                "supervisor starts.",
            )
        return key.strip()


def _in_file(file: Path) -> str:
    try:
        content = marks.content(file, for_us_alone=True)
    except NotSmall as error:
        raise ProviderUnusable(
            f"The file {file} cannot be used for a model's key: it has to be a small file of "
            "yours that nobody else may read.",
            remedy=f"Run: chmod 600 {file}",
        ) from error
    return (content or b"").decode("utf-8", "replace")
