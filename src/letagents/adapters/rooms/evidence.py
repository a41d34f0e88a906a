"""What is known of processes where nobody asks the system."""

import attrs


class UnknownProcesses:
    """Knows of no process."""

    own: str | None = None

    def is_alive(self, _process: str) -> bool | None:
        """Say that it is not known."""
        return None


@attrs.define
class ToldProcesses:
    """Takes all processes to be there, but for those in `gone`."""

    own: str | None = "here"
    gone: set[str] = attrs.field(factory=set)

    def is_alive(self, process: str) -> bool | None:
        """Say what it was told."""
        return process not in self.gone
