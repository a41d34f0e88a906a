"""What the guard says to who may not commit or push: what is in the way, and how to go on."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from letagents.domain.path_guard import Stop
from letagents.entrypoints.cli.printing import one_line
from letagents.wire import moments

SHOWN = 10
"""So many paths are named; of more it is said how many."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def explain(hook: str, stops: Sequence[Stop], *, warns: bool) -> None:
    """Say on standard error what is in the way, and how to go on."""
    what = "push" if hook == "pre-push" else "commit"
    lines = [f"letagents: this {what} {'would be' if warns else 'is'} refused."]
    lines += [f"  {_said(stop)}" for stop in stops[:SHOWN]]
    if len(stops) > SHOWN:
        lines.append(f"  … and {len(stops) - SHOWN} paths more.")
    lines += _ways_on(what, stops)
    if not warns:
        lines.append(f"  To go on all the same: LETAGENTS_GUARD=warn git {what} …")
    for line in lines:
        sys.stderr.buffer.write(f"{one_line(line)}\n".encode("utf-8", "backslashreplace"))
    sys.stderr.flush()


def _ways_on(what: str, stops: Sequence[Stop]) -> Iterator[str]:
    """Yield what helps: paths can be left out, and a task that went on cannot."""
    if lost := _holders(stop for stop in stops if stop.path is None):
        yield f"  Call claim_task for another task, or ask {lost} in the room to hand it back."
        yield f"  If this {what} is not that agent's: set LETAGENTS_WORKER_ID to whose it is."
    if holders := _holders(stop for stop in stops if stop.path is not None):
        yield f"  Ask {holders} in the room, or leave it out of the {what}."
        yield "  If these are yours: claim_paths from this checkout, or set LETAGENTS_WORKER_ID."


def _holders(stops: Iterable[Stop]) -> str:
    return ", ".join(dict.fromkeys(f"@agent:{stop.held.agent_key}" for stop in stops))


def _said(stop: Stop) -> str:
    held = stop.held
    since = moments.to_text(_EPOCH + timedelta(microseconds=held.since))
    where = f"{held.task_id} in {held.room_id} ({held.lease_id}, since {since})"
    if stop.path is None:
        return f"The task for which you worked went on to {held.holder}: {where}."
    return f"{stop.path}: {held.holder} has it for {where}."
