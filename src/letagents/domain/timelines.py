"""What has happened to an item so far, for whoever looks at it later.

(Source: supervisor 3.7, 6.10.)

J156  Each step of an item is remembered with its moment, in the order of the walk; the newest of
      them stay.
"""

from collections.abc import Iterator
from datetime import datetime

import attrs

from letagents.domain.inbox import How, Item, Stage
from letagents.domain.item_events import LONGEST_DETAIL, REMEMBERED, ItemEvent, Phase

_AT_ITS_END = {
    Stage.PUBLISHING: Phase.PUBLISH_STARTED,
    Stage.ACKNOWLEDGED: Phase.PUBLISHED,
    Stage.ACKNOWLEDGED_NO_REPLY: Phase.NO_REPLY,
    Stage.BLOCKED: Phase.BLOCKED,
    Stage.CANCELLED_BY_ROOM_MOVE: Phase.ROOM_MOVE_CANCELLED,
    Stage.CANCELLED_BY_USER: Phase.USER_CANCELLED,
}


def noted(before: Item | None, after: Item, *, now: datetime) -> Item:
    """Return an item with what happened to it since it was as `before`; None if it is new."""
    phases = (Phase.RECEIVED, Phase.QUEUED) if before is None else tuple(_since(before, after))
    news = (ItemEvent(phase, now, _detail(phase, after)) for phase in phases)
    known = before.events if before is not None else ()
    return attrs.evolve(after, events=(*known, *news)[-REMEMBERED:])


def _since(before: Item, after: Item) -> Iterator[Phase]:
    if after.turn is not None and after.turn != before.turn:
        yield Phase.TURN_STARTED
    if after.outcome is not None and after.outcome != before.outcome:
        is_read = after.outcome.how is not How.UNREADABLE
        yield Phase.TURN_FINISHED if is_read else Phase.RESULT_UNREADABLE
    if after.stage is before.stage:
        return
    if after.stage in _AT_ITS_END:
        yield _AT_ITS_END[after.stage]
    elif after.stage is Stage.PENDING and after.retries > before.retries:
        yield Phase.RETRY_SCHEDULED
    elif after.stage is Stage.PENDING:
        yield Phase.QUEUED


def _detail(phase: Phase, item: Item) -> str | None:
    match phase:
        case Phase.TURN_STARTED:
            return item.turn.turn_id if item.turn is not None else None
        case Phase.PUBLISHED:
            return item.published_as
        case Phase.BLOCKED | Phase.RETRY_SCHEDULED:
            return item.trouble[:LONGEST_DETAIL] if item.trouble is not None else None
    return None
