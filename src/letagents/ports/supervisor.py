"""What a supervised process needs of its supervisor."""

from typing import Protocol

from letagents.domain.supervised import Answered, Borrowed, Bound, Call, OwnSession, Told


class Supervisor(Protocol):
    """Looks after the agent that this process acts for.

    Every adapter keeps these, and the contract suite has a test for each:

    J60  Who is not supervised is told so; nobody is asked, and nothing is written down.
    J61  A session is bound once for each supervisor, secret and route; a supervisor that has taken
         over, or another secret, binds anew.
    J62  A credential is lent for one request, and no adapter keeps it. Whatever is not certain is
         stale, and what the supervisor has not yet is deferred; neither is an error.
    J63  The same request of a turn is done once, and answers each time with the same result.
    J64  A supervisor does a call itself, or says that this process is to; then it is told what
         became of it, and the same word twice changes nothing.
    J65  What may have been done is never done again: it is said so, whoever asks.
    J66  A cursor that was passed on is written down, and one that is older never comes after it.
    J67  A refusal is told in the supervisor's words. That it could not be asked, and that it did
         not answer, are told apart.
    J68  No secret stands in what is raised, and none but the session's own travels.
    """

    async def bind(self, session: OwnSession, *, is_known: bool = False) -> Bound:
        """Let the supervisor know the session; whoever was bound before is so no more.

        A session that `is_known` to have been bound is only verified, if it was, and quickly; once
        that was refused, the next call binds it anew.

        Raises:
            CoordinatesWrong: where the supervisor is to be found is told badly.
            SupervisorRefused: the session is not of the agent that it names.
            SupervisorUnavailable: it cannot be asked.
            SupervisorSilent: it did not answer.
        """
        ...

    async def borrow(self, session: OwnSession) -> Borrowed:
        """Return the credential for one request in the session's room."""
        ...

    async def checkpoint(self, session: OwnSession, cursor: str) -> None:
        """Have it written down soon that the session has seen all up to `cursor`.

        This returns at once and raises nothing: what is no cursor is left.
        """
        ...

    async def execute(self, call: Call) -> Answered | None:
        """Have the supervisor do a call; None if it leaves that to this process.

        Raises: as `bind`; SupervisorRefused also if the tool failed.
        """
        ...

    async def prepare(self, call: Call) -> Told:
        """Ask what is to be done about a call that this process is to do. Raises: as `bind`."""
        ...

    async def complete(
        self, effect_id: str, *, result: object = None, error: str | None = None
    ) -> None:
        """Say what became of a call, to whichever supervisor is there. Raises: as `bind`."""
        ...
