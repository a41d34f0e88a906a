"""What the parts of letagents say of the places that they use, for whoever looks after them.

D1  Examining changes nothing that a place holds, but clears a lock whose owner is gone, and makes
    nothing where nothing was.
D2  Whatever is wrong with a place is a finding, never an error.
D3  A finding that tells of a problem says how to mend it.
"""

import attrs


@attrs.frozen
class Finding:
    """One thing that was looked at. With a remedy it is a problem; without one all is well."""

    about: str
    said: str
    remedy: str | None = None

    @property
    def is_problem(self) -> bool:
        """Whether something has to be mended."""
        return self.remedy is not None
