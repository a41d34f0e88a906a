"""A model that anybody may serve, under the interface that OpenAI's have.

Y43  An address of a model is plain http or https: one that holds a name, a password or a fragment
     is refused, and the refusal shows none of it. The key never shows itself.
Y46  A key is written down by where it is found: a variable of the supervisor's environment, which
     is none of letagents' own, or a file. What may be the key itself is refused unseen.
Y47  A key that is handed over is taken for an agent of an open model, under the generation of the
     supervisor that there is, and kept in memory alone.
"""

import re

import attrs

from letagents.domain import generations
from letagents.domain.errors import Malformed

PROVIDER = "open-model"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_OURS = "LETAGENTS_"
_LONGEST_PATH = 4096
_ADDRESS = re.compile(r"https?://(?![^/]*@)[^\s/?#@\\]+(?:/[^\s?#\\]*)?", re.IGNORECASE)


@attrs.frozen
class Endpoint:
    """Where a model is, what it is called there, and what it asks for."""

    base_url: str
    model: str
    api_key: str | None = attrs.field(default=None, repr=False)

    @classmethod
    def of(cls, base_url: str, model: str, api_key: str | None = None) -> "Endpoint":
        """Return the endpoint that a person has set.

        Raises:
            Malformed: it cannot be one.
        """
        address, name = base_url.strip(), model.strip()
        key = (api_key or "").strip() or None
        if not _ADDRESS.fullmatch(address):
            raise Malformed(
                "Open Model credential handoff contains an unsafe endpoint.",
                remedy="Pass an http or https address without a name, a password or a fragment.",
            )
        if not name:
            raise Malformed("The model has no name.", remedy="Pass the name that its server uses.")
        return cls(address.rstrip("/"), name, key)


@attrs.frozen
class KeySource:
    """Where the key of a model is found: in a variable, or in a file."""

    variable: str | None = None
    file: str | None = None

    @classmethod
    def of(cls, variable: str | None, file: str | None) -> "KeySource | None":
        """Return what a person named; None if they named nothing.

        Raises:
            Malformed: it names no variable of theirs, and no file (Y46).
        """
        if not variable and not file:
            return None
        if variable and file:
            raise Malformed(
                "The key of a model is in one place.", remedy="Name a variable, or a file."
            )
        if variable and (not _VARIABLE.fullmatch(variable) or variable.upper().startswith(_OURS)):
            raise Malformed(
                "That is no name of a variable with a model's key.",
                remedy="Name a variable of the supervisor's environment, and not the key itself.",
            )
        if file and (not file.startswith("/") or len(file) > _LONGEST_PATH or "\0" in file):
            raise Malformed(
                "That is no path of a file with a model's key.", remedy="Pass its whole path."
            )
        return cls(variable or None, file or None)

    def __str__(self) -> str:
        return f"the variable {self.variable}" if self.variable else f"the file {self.file}"


@attrs.frozen
class ModelServer:
    """Where an agent's model is, as it is written down."""

    base_url: str
    key: KeySource | None = None


def may_take(provider: str, *, generation: int, own: int) -> bool:
    """Whether a supervisor of generation `own` takes a key for an agent of a provider (Y47)."""
    return provider == PROVIDER and generations.is_current(generation, own)
