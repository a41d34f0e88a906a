"""What a supervisor is made of: the hold on its home, its journal, and its agents' effects."""

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from letagents.adapters.supervision.hold import JOURNAL, HomeHold
from letagents.adapters.supervision.sql import SqlSupervision
from letagents.adapters.system import SystemClock, SystemIds
from letagents.application.agents.recovering import recover
from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.domain.generations import AlreadySupervised
from letagents.wiring.quiet import quiet_by_default

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from letagents.ports.supervision import Supervision
    from letagents.ports.tools import Tools
    from letagents.settings import Settings

    JournalOf = Callable[[int], Supervision]


@asynccontextmanager
async def open_supervisor(
    settings: "Settings",
    written: "Callable[[object], str]",
    tools: "Tools | None" = None,
    *,
    journal_of: "JournalOf | None" = None,
    patience: float = 0.0,
) -> "AsyncIterator[tuple[Supervising, SupervisedEffects]]":
    """Open what a supervisor of this home needs; nobody else supervises it meanwhile.

    One that does is waited for, `patience` seconds.

    `written` writes results as they are kept; with `tools` it does its agents' calls itself.
    `journal_of` returns the journal of a generation, in the place of the home's own file.

    Raises:
        AlreadySupervised: somebody does.
        StateUnavailable: the journal cannot be used.
    """
    quiet_by_default()
    clock = SystemClock()
    async with AsyncExitStack() as opened:
        hold = HomeHold(settings.home)
        opened.callback(hold.close)
        await _taken(hold, patience)
        if journal_of is not None:
            journal: Supervision = journal_of(hold.generation)
        else:
            journal = own = SqlSupervision(settings.home / JOURNAL, hold.generation)
            opened.push_async_callback(own.aclose)
        await recover(journal, clock)
        sessions = Supervising(journal, hold, clock)
        opened.callback(sessions.vault.forget)
        yield sessions, SupervisedEffects(sessions, SystemIds(), written, tools)


async def _taken(hold: "HomeHold", patience: float) -> None:
    """Take the home, once whoever has it lets go of it within `patience` seconds."""
    until = anyio.current_time() + patience
    while True:
        try:
            return hold.take()
        except AlreadySupervised:
            if anyio.current_time() >= until:
                raise
            await anyio.sleep(0.05)
