"""How one agent stands, and what a person does about a message that it is stuck with."""

from collections.abc import Callable, Sequence

import attrs
import structlog

from letagents.application.agents import deeds, entries
from letagents.domain import inbox, stuck_messages
from letagents.domain.bindings import Binding, Claim
from letagents.domain.deeds import Act, Doer
from letagents.domain.effects import Effect, State
from letagents.domain.inbox import Item
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry
from letagents.ports.supervision import Journal, Supervision

log = structlog.get_logger()

NEWEST = 50
"""So many messages of an agent are told of."""


@attrs.frozen
class Detail:
    """All that is written down of an agent; its messages from the newest on."""

    entry: Entry
    binding: Binding | None
    ingress: Ingress | None
    items: Sequence[Item]
    unfinished: Sequence[Item]
    uncertain: Sequence[Effect]

    @property
    def first(self) -> Item | None:
        """The message that the agent is at."""
        return next(iter(self.unfinished), None)


async def detail(journal: Supervision, entry_id: str) -> Detail:
    """Return how an agent stands.

    Raises:
        ManifestRefused: there is none of that name.
    """

    def look(journal: Journal) -> Detail:
        return Detail(
            entries.known(journal, entry_id),
            journal.binding(entry_id),
            journal.ingress(entry_id),
            journal.newest_items(entry_id, NEWEST),
            journal.unfinished(entry_id),
            [one for one in journal.unsettled(entry_id) if one.state is State.UNCERTAIN],
        )

    return await journal.look(look)


async def retry(
    journal: Supervision,
    claim: Claim,
    generation: int,
    message_id: str,
    *,
    own: int,
    by: Doer | None = None,
) -> Item:
    """Have a blocked message tried again.

    Raises:
        InboxRefused: it is not blocked, or the word is about what is so no longer.
    """
    change = inbox.released, Act.RETRIED
    return await _changed(journal, claim, generation, message_id, *change, own=own, by=by)


async def skip(
    journal: Supervision,
    claim: Claim,
    generation: int,
    message_id: str,
    *,
    own: int,
    by: Doer | None = None,
) -> Item:
    """Have a message passed over of which no turn can have begun.

    Raises:
        InboxRefused: one may have, or the word is about what is so no longer.
    """
    change = inbox.skipped, Act.SKIPPED
    return await _changed(journal, claim, generation, message_id, *change, own=own, by=by)


async def _changed(
    journal: Supervision,
    claim: Claim,
    generation: int,
    message_id: str,
    move: Callable[[Item], Item],
    act: Act,
    *,
    own: int,
    by: Doer | None,
) -> Item:
    def change(journal: Journal) -> Item:
        entries.known(journal, claim.entry_id)
        stuck_messages.check(claim, generation, journal.binding(claim.entry_id), own=own)
        name = inbox.item_id(claim.entry_id, claim.room_id, message_id)
        known = journal.item(name)
        if known is None:
            raise stuck_messages.none_such(message_id)
        moved = move(known)
        journal.put_item(moved)
        deeds.put(journal, by, claim.entry_id, act, message_id)
        return moved

    moved = await journal.change(change)
    log.info("message.changed", entry_id=claim.entry_id, stage=moved.stage.value)
    return moved
