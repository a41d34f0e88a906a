"""The processes that an agent has had, one after another: begun, born, gone on with, and ended.

(Source: supervisor 6.4, 6.5.)

J52  An agent has one living process at most, and each has a name of its own for ever.
J53  How a process ended is written down once, and stays.
J47  A process is written down before its program begins: one that is not written down never ran.
J48  What came to no conversation is not gone on with: it is ended before another is started.
J140  Of an agent's processes before the last one the newest are remembered, each with its end, and
      how many there were; of the last two also what they wrote last.
"""

from datetime import datetime

import attrs

from letagents.domain import generations, recovery
from letagents.domain.manifest import Ending, Entry, Execution, ManifestRefused, Process

REMEMBERED = 20
"""So many of an agent's earlier processes are remembered."""

LONGEST_TAIL = 4000
"""Characters that are kept of what a process wrote last."""


def begun(entry: Entry, execution: Execution) -> Entry:
    """Return the entry with a new process.

    Raises:
        ManifestRefused: it has one that lives, or had one of that name.
    """
    before = entry.execution
    if before is not None and before.ended_at is None:
        raise ManifestRefused(
            f"{entry.entry_id} has a process already.", remedy="Wait until that one has ended."
        )
    if before is not None and before.execution_id == execution.execution_id:
        raise ManifestRefused(
            "A process has a name that no other ever had.", remedy="Give it another name."
        )
    fresh = attrs.evolve(entry, execution=execution, work_attempt_id=execution.work_attempt_id)
    if before is None or before.process is None:  # it never ran (J47)
        return fresh
    forgotten = (attrs.evolve(one, tail="") for one in entry.earlier)
    earlier = (*forgotten, before)[-REMEMBERED:]
    return attrs.evolve(fresh, earlier=earlier, restarts=entry.restarts + 1)


def born(entry: Entry, execution_id: str, process: Process) -> Entry:
    """Return the entry once it is known which process the new one is, before its program begins.

    Raises:
        ManifestRefused: it has begun none of that name, or that one has been born.
    """
    execution = entry.execution
    if execution is None or execution.is_over or execution.process is not None:
        raise _nothing_begins(entry)
    if execution.execution_id != execution_id:
        raise _nothing_begins(entry)
    return attrs.evolve(entry, execution=attrs.evolve(execution, process=process))


def started(entry: Entry, continuation_id: str) -> Entry:
    """Return the entry once a conversation goes on in its new process.

    Raises:
        ManifestRefused: it has none.
    """
    execution = entry.execution
    if execution is None or execution.is_over or execution.process is None:
        raise _nothing_begins(entry)
    history = recovery.succeeded(entry.history)
    return attrs.evolve(entry, continuation_id=continuation_id, history=history, last_error=None)


def _nothing_begins(entry: Entry) -> ManifestRefused:
    return ManifestRefused(
        f"{entry.entry_id} has no process that begins.", remedy="Look at the agent again."
    )


def came_to_nothing(entry: Entry) -> bool:
    """Whether the entry's process is one in which no conversation goes on yet (J48)."""
    return entry.continuation_id is None or entry.history.pending is not None


def ended(
    entry: Entry,
    execution_id: str,
    ending: Ending,
    *,
    now: datetime,
    exit_code: int | None = None,
    tail: str = "",
    own: int | None = None,
) -> Entry:
    """Return the entry once that process has ended; `tail` is what it wrote last.

    `own` is the generation of a supervisor that found it ended already: one that an earlier
    supervisor began is no crash of its own (J41).

    Raises:
        ManifestRefused: it is another's, or its end is written down already.
    """
    execution = entry.execution
    if execution is None or execution.execution_id != execution_id or execution.ended_at:
        raise ManifestRefused(
            "Execution terminal payloads are append-only and immutable.",
            remedy="Look at the agent again.",
        )
    over = attrs.evolve(
        execution, ended_at=now, ending=ending, exit_code=exit_code, tail=tail[-LONGEST_TAIL:]
    )
    history = entry.history
    went_with_another = own is not None and not generations.is_current(execution.generation, own)
    if ending is not Ending.STOPPED and not went_with_another:
        history = recovery.ended(history, now=now)
    return attrs.evolve(entry, execution=over, history=history)
