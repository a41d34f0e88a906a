"""What is found out once and does not change, remembered as long as there is room for it."""

from typing import Generic, TypeVar

import attrs

Of = TypeVar("Of")
What = TypeVar("What")

MOST = 10_000


@attrs.define
class Recollection(Generic[Of, What]):
    """Remembers at most so much; then it forgets all, and begins anew."""

    _most: int = MOST
    _known: dict[Of, What] = attrs.field(factory=dict)

    def of(self, about: Of) -> What | None:
        """Return what is remembered, if anything is."""
        return self._known.get(about)

    def keep(self, about: Of, what: What) -> What:
        """Remember that from now on; return it."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[about] = what
        return what
