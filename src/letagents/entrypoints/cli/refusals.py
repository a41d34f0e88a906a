"""What the guard says to who may not commit or push: what is in the way, and how to go on."""

import sys
from collections.abc import Sequence
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
    keys = dict.fromkeys(f"@agent:{stop.held.agent_key}" for stop in stops)
    lines.append(f"  Ask {', '.join(keys)} in the room, or leave it out of the {what}.")
    lines.append(
        "  If these are yours: claim_paths from this checkout, or set LETAGENTS_WORKER_ID."
    )
    if not warns:
        lines.append(f"  To go on all the same: LETAGENTS_GUARD=warn git {what} …")
    for line in lines:
        sys.stderr.buffer.write(f"{one_line(line)}\n".encode("utf-8", "backslashreplace"))
    sys.stderr.flush()


def _said(stop: Stop) -> str:
    held = stop.held
    since = moments.to_text(_EPOCH + timedelta(microseconds=held.since))
    where = f"{held.task_id} in {held.room_id} ({held.lease_id}, since {since})"
    if stop.path is None:
        return f"The task for which you worked went on to {held.holder}: {where}."
    return f"{stop.path}: {held.holder} has it for {where}."
