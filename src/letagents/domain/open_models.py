"""A model that anybody may serve, under the interface that OpenAI's have.

Y43  An address of a model is plain http or https: one that holds a name, a password or a fragment
     is refused, and the refusal shows none of it. The key never shows itself.
"""

import re

import attrs

from letagents.domain.errors import Malformed

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
