"""A supervisor as a process: it looks at what was left, answers, and ends in order when told to.

Told to end, or replaced, it takes nothing more, lets what was begun be answered, and lets go of the
home. The agents' own processes live on.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from importlib.metadata import version
from types import FrameType
from typing import Any

import anyio
import attrs
import structlog

from letagents.application.agents.endings import end_all
from letagents.application.agents.grant_renewals import GrantRenewals
from letagents.application.agents.granting import Grants
from letagents.application.agents.household import Household
from letagents.application.agents.polls import Polls
from letagents.application.agents.supervising import Supervising
from letagents.application.agents.tending import THERE
from letagents.application.agents.turn_control import TurnControls
from letagents.domain.errors import NotAvailable
from letagents.domain.generations import AlreadySupervised, FenceLost
from letagents.domain.supervised import SupervisorSilent, SupervisorUnavailable
from letagents.entrypoints import signals
from letagents.entrypoints.daemon.agents import Agents
from letagents.entrypoints.daemon.controller import Controller
from letagents.entrypoints.daemon.grants import GrantMethods
from letagents.entrypoints.daemon.inspector import Inspector
from letagents.entrypoints.daemon.methods import Identity, Methods
from letagents.entrypoints.daemon.moves import Moves
from letagents.entrypoints.daemon.polls import PollMethods
from letagents.entrypoints.daemon.server import GRACE, LONGEST_DRAIN, Server, listening
from letagents.entrypoints.daemon.table import Table
from letagents.entrypoints.daemon.tools import RoomTools
from letagents.entrypoints.daemon.turns import Turns
from letagents.entrypoints.daemon.words import WordsForAgents
from letagents.ports.providers import Provider
from letagents.ports.supervision import Supervision
from letagents.settings import Settings
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import canonical
from letagents.wiring.granting import open_grants
from letagents.wiring.household import open_household
from letagents.wiring.servers import open_supervised_rooms
from letagents.wiring.supervising import open_supervisor
from letagents.wiring.supervisor import ask_supervisor

log = structlog.get_logger()

JournalOf = Callable[[int], Supervision]

_AGAIN = 1.0
"""Seconds after which a supervisor is asked again to go that did not answer."""
_FINGERPRINT = "LETAGENTS_SUPERVISOR_{}_FINGERPRINT"


async def supervise(
    settings: Settings,
    environ: Mapping[str, str],
    announce: Callable[[int], None],
    *,
    replaces: bool = False,
    **ports: Any,
) -> None:
    """Supervise the agents of a home until a signal comes, or another supervisor takes over.

    `announce` is told the generation once everybody can ask; `ports` are those of `supervising`.
    One that supervises is asked to hand over if this one `replaces` it.

    Raises: as open_supervisor.
        FenceLost: another one has taken over.
    """
    until = anyio.current_time() + LONGEST_DRAIN
    while True:
        goes = replaces and await _is_told_to_go(settings)
        if replaces:
            ports["patience"] = LONGEST_DRAIN + GRACE if goes else _AGAIN
        try:
            await _supervise(settings, environ, announce, ports)
        except AlreadySupervised:  # one that is stuck is asked again
            if not replaces or goes or anyio.current_time() >= until:
                raise
        else:
            return


async def _supervise(
    settings: Settings,
    environ: Mapping[str, str],
    announce: Callable[[int], None],
    ports: Mapping[str, Any],
) -> None:
    async with supervising(settings, environ, **ports) as running:
        with _told_by_signals(running.end):
            announce(running.generation)
            await running.ended()


async def _is_told_to_go(settings: Settings) -> bool:
    """Ask the supervisor that runs to hand over; return whether it says that it does."""
    try:
        await ask_supervisor(settings, wire.PREPARE_HANDOFF, {})
    except (SupervisorSilent, SupervisorUnavailable) as error:
        log.debug("supervisor.silent", code=error.code)
        return False
    return True


@attrs.frozen
class Running:
    """A supervisor that answers, and keeps its agents."""

    household: Household
    server: Server

    @property
    def generation(self) -> int:
        """Which of the supervisors that this home ever had it is."""
        return self.server.methods.sessions.hold.generation

    async def ended(self) -> None:
        """Wait until it is told to end, or another one has taken over."""
        await self.server.ended.wait()

    def now(self) -> datetime:
        """Return what its clock shows."""
        return self.server.methods.sessions.clock.now()

    async def there(self, entry_id: str) -> None:
        """Wait until an agent is in its room, and can be spoken to.

        Raises:
            NotAvailable: the supervisor has ended.
        """
        feed, last = self.server.methods.sessions.feeds.of(entry_id), 0
        while not feed.is_over:
            for event in await feed.after(last, timedelta(minutes=1)):
                last = event.sequence
                if event.kind == THERE:
                    return
        raise NotAvailable("This supervisor has ended.", remedy="Open another one.")

    def end(self) -> None:
        """Tell it to end."""
        self.server.ended.set()


@asynccontextmanager
async def supervising(
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    *,
    providers: Mapping[str, Provider] | None = None,
    journal_of: JournalOf | None = None,
    patience: float = 0.0,
) -> AsyncIterator[Running]:
    """Supervise the agents of a home in this process meanwhile; their processes outlive it.

    `providers` run agents in the place of the programs of those names; `journal_of` returns where
    the supervisor of a generation keeps its journal. Another supervisor is waited for, `patience`
    seconds.

    Raises: as open_supervisor.
        FenceLost: another one has taken over.
    """
    async with (
        open_supervised_rooms(settings) as servers,
        open_supervisor(
            settings, canonical, RoomTools(servers), journal_of=journal_of, patience=patience
        ) as (sessions, effects),
        open_grants(settings, sessions) as grants,
    ):
        household = open_household(
            settings, servers, sessions, WordsForAgents(), providers=providers, grants=grants
        )
        identity = _identity(os.environ if environ is None else environ)
        table = _table(household, sessions, grants)
        server = Server(Methods(sessions, effects, identity, table))
        running = Running(household, server)
        renewals = GrantRenewals(grants.granted)
        async with (
            listening(settings.supervisor_socket, server),
            _kept(household, server, renewals),
        ):
            log.info("supervisor.started", generation=running.generation, pid=os.getpid())
            try:
                yield running
            finally:
                sessions.end_waits()
        log.info("supervisor.ended", generation=running.generation)
        sessions.hold.check()


def _table(household: Household, sessions: Supervising, grants: Grants) -> Table:
    """Return what is answered beside what every supervisor answers."""
    return {
        **Agents(household, sessions.clock.now).table(),
        **Inspector(household, sessions).table(),
        **Controller(household, sessions).table(),
        **PollMethods(Polls(sessions)).table(),
        **GrantMethods(grants).table(),
        **Moves(household, sessions).table(),
        **Turns(TurnControls(household, sessions)).table(),
    }


@asynccontextmanager
async def _kept(
    household: Household, server: Server, renewals: GrantRenewals
) -> AsyncIterator[None]:
    """Keep the agents meanwhile; end the server if another supervisor keeps them.

    Raises: what nobody foresaw, and ended that: whoever starts this process is to start another.
    """
    tasks = [asyncio.create_task(work) for work in (household.run(), renewals.run())]
    for task in tasks:
        task.add_done_callback(lambda _: server.ended.set())
    try:
        yield
    finally:
        await end_all(*tasks)
    for task in tasks:
        failed = None if task.cancelled() else task.exception()
        if failed is not None and not isinstance(failed, FenceLost):
            raise failed


def _identity(environ: Mapping[str, str]) -> Identity:
    def told(name: str) -> str | None:
        return environ.get(_FINGERPRINT.format(name), "").strip() or None

    implementation = f"py-{version('letagents')}"
    return Identity(implementation, told("RUNTIME_ENVIRONMENT"), told("COMPATIBILITY"))


@contextmanager
def _told_by_signals(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` on the loop when a signal asks for it."""
    loop = asyncio.get_running_loop()

    def told(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(end)

    with signals.heard_by(told):
        yield
