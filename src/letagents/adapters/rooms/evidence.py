"""What is known of processes where nobody asks the system."""

import attrs

from letagents.domain.ticks import Tick


class UnknownProcesses:
    """Knows of no process."""

    own: str | None = None

    def is_alive(self, _process: str) -> bool | None:
        """Say that it is not known."""
        return None

    def last_seen(self, _process: str) -> Tick | None:
        """Say that it is not known."""
        return None


@attrs.define
class ToldProcesses:
    """Takes all processes to be there, but for those in `gone`."""

    own: str | None = "here"
    gone: set[str] = attrs.field(factory=set)
    seen: dict[str, Tick] = attrs.field(factory=dict)

    def is_alive(self, process: str) -> bool | None:
        """Say what it was told."""
        return process not in self.gone

    def last_seen(self, process: str) -> Tick | None:
        """Say what it was told."""
        return self.seen.get(process)
