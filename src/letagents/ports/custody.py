"""What a process needs that polls by itself, under its supervisor's eyes."""

from typing import Protocol

from letagents.domain.custody import Admission, Invocation
from letagents.domain.ids import MessageId


class Custody(Protocol):
    """Admits polls.

    Every adapter keeps these:

    J96  A poll is admitted by a supervisor that says that it does so, under the exact route of this
         process; whatever in its answer does not fit is a refusal.
    J97  A release shows the admission that it belongs to, to the very supervisor that gave it.
    J98  Nothing is admitted to a process that has credentials of its own, and nobody is asked.
    """

    async def admit(self, tool: str, invocation: Invocation | None = None) -> Admission:
        """Return the admission for a call of a tool; a wait shows its invocation.

        Raises:
            PollRefused: it is not admitted.
            CoordinatesWrong: where the supervisor is to be found is told badly.
            SupervisorUnavailable, SupervisorSilent: it does not answer.
        """
        ...

    async def release(
        self, tool: str, admission: Admission, offered: MessageId | None = None
    ) -> None:
        """Let the result of an admitted call be shown; `offered` is where a wait's page ends.

        Raises: as `admit`.
        """
        ...
