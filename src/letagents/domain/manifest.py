"""The agents that a supervisor looks after, and the processes that each has had.

(Source: supervisor 1, 6.1, 6.4, 6.5.)

J50  A supervisor's generation is one more than the last one's; a number that cannot be read is
     never guessed.
J51  Only the supervisor whose generation is the newest changes anything.
J52  An agent has one living process at most, and each has a name of its own for ever.
J53  How a process ended is written down once, and stays.
J54  What a person wants of an agent is changed by who saw what was wanted before.
J47  A process is written down before its program begins: one that is not written down never ran.
J48  What came to no conversation is not gone on with: it is ended before another is started.
J140  Of an agent's processes before the last one the newest are remembered, each with its end, and
      how many there were; of the last two also what they wrote last.
J46  A name of an agent is no other's, and an agent is forgotten only when it is stopped; with it
      what it was told, so that the next one of its name begins anew.
J103  An agent that polls by itself is run by Codex, and its room is on a server.
J38  An agent's rooms are its supervisor's own, or those of the one server that its entry names.
"""

import enum
import re
from datetime import datetime

import attrs

from letagents.domain import bindings, names, recovery
from letagents.domain.bindings import Place
from letagents.domain.custody import Polling
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.inbox import Move
from letagents.domain.open_models import ModelServer
from letagents.domain.recovery import Desired, History
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.domain.workplaces import Worktree

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,14})\n?")

REMEMBERED = 20
"""So many of an agent's earlier processes are remembered."""

LONGEST_TAIL = 4000
"""Characters that are kept of what a process wrote last."""

POLLS_IN = "codex"
PROVIDERS = ("codex", "claude-code", "open-model", "cursor")


class ManifestRefused(LetAgentsError):
    """The manifest does not change in that way. Nothing was changed."""

    code = "manifest_refused"


class FenceLost(LetAgentsError):
    """A newer supervisor has taken over; this one changes nothing more."""

    code = "fence_lost"

    def __init__(self) -> None:
        super().__init__(
            "Supervisor generation fence was lost; exiting stale daemon.",
            remedy="Call again: the newer supervisor answers at the same place.",
        )


class AlreadySupervised(LetAgentsError):
    """Another supervisor runs in the same home."""

    code = "already_supervised"

    def __init__(self) -> None:
        super().__init__(
            "A supervisor daemon already owns this host lock.",
            remedy="Use that one, or end it first.",
        )


class GenerationDamaged(LetAgentsError):
    """The file that counts generations is not as it was written."""

    code = "generation_damaged"

    def __init__(self) -> None:
        super().__init__(
            "Supervisor generation state is malformed; refusing to roll back fencing.",
            remedy="Write into that file a number that is higher than any generation there was.",
        )


class Delivery(enum.Enum):
    """How an agent comes to its messages."""

    INBOX = "daemon_inbox"
    POLLING = "mcp_polling"


class Admission(enum.Enum):
    """By what an agent is let into its room."""

    SIGN_IN = "sign_in"
    """This machine's own, or nobody's where the rooms are its own."""
    GRANT = "host_grant"
    BLOCKED = "auth_blocked"
    """By nothing: its grant was refused, or has ended."""


class Ending(enum.Enum):
    """Why a process ended."""

    EXITED = "exited"
    KILLED = "killed"
    STOPPED = "stopped"
    CRASHED = "crashed"
    PROTOCOL_ERROR = "protocol_error"
    QUOTA = "provider_quota"


@attrs.frozen
class Process:
    """How to find an agent's process again, and to know that it is the same one."""

    kind: str
    pid: int
    birth: str
    url: str | None = None
    auth_path: str | None = None


@attrs.frozen
class Execution:
    """One process of an agent's provider."""

    execution_id: str
    work_attempt_id: str
    generation: int
    started_at: datetime
    ended_at: datetime | None = None
    ending: Ending | None = None
    process: Process | None = None
    """None until it is about to run."""
    exit_code: int | None = None
    """With which it ended, or below zero by which signal; None where that is not known."""
    tail: str = attrs.field(default="", repr=False)
    """What it wrote last."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.ended_at is not None


class MovePhase(enum.Enum):
    """How far a move to another room has come that a person wants."""

    PREPARED = "prepared"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


@attrs.frozen(kw_only=True)
class RoomMove:
    """A move to another room that a person wants of an agent."""

    operation_id: str
    request_id: str
    source: str
    destination: str
    phase: MovePhase
    created_at: datetime
    updated_at: datetime
    error: str | None = None


class TurnControlStatus(enum.Enum):
    """How a stop of a turn stands."""

    DISPATCHING = "dispatching"
    COMPLETED = "completed"
    RETRYABLE = "retryable"
    UNCERTAIN = "uncertain"


@attrs.frozen(kw_only=True)
class TurnControl:
    """A person's word that a turn is to be stopped, and what is known of it."""

    action_id: str
    work_attempt_id: str
    execution_id: str
    item_id: str
    turn_id: str
    status: TurnControlStatus
    recorded_at: datetime
    updated_at: datetime
    correction: str | None = None
    """What its message is begun with again."""
    interrupted: bool | None = None
    error: str | None = None


@attrs.frozen
class Entry:
    """One agent that a supervisor looks after."""

    entry_id: str
    room_id: str
    display_name: str
    provider: str
    created_at: datetime
    desired: Desired = Desired.STOPPED
    delivery: Delivery = Delivery.INBOX
    model: str | None = None
    charter: str = ""
    work_attempt_id: str = ""
    workspace: str | None = None
    model_server: ModelServer | None = None
    worktree: Worktree | None = None
    """Where the workspace is a folder that was made for it."""
    continuation_id: str | None = None
    execution: Execution | None = None
    history: History = attrs.field(factory=History)
    last_error: str | None = None
    api_url: str = LOCAL_ROOMS
    """Which server keeps its rooms."""
    move: Move | None = None
    """The move to another room that is to be made now."""
    admission: Admission = Admission.SIGN_IN
    polling: Polling | None = None
    """That its process polls by itself."""
    earlier: tuple[Execution, ...] = ()
    """Its processes before the last one."""
    restarts: int = 0
    """How many of those there were."""
    room_move: RoomMove | None = None
    """The last move to another room that a person wanted of it."""
    control: TurnControl | None = None
    """The last turn of it that a person wanted stopped."""

    def __attrs_post_init__(self) -> None:
        if not _ID.fullmatch(self.entry_id):
            raise Malformed(
                "That cannot be the name of an agent.",
                remedy="Use up to 100 letters, digits, dots, dashes and underscores.",
            )
        if self.provider not in PROVIDERS:
            raise Malformed(
                "No such provider is known.", remedy=f"Name one of {', '.join(PROVIDERS)}."
            )
        if not bindings.is_safe(self.api_url):
            raise Malformed(
                "An agent's rooms are on a server with HTTPS, or on this machine.",
                remedy="Name a server as https://rooms.example; with http:// only one that runs "
                "here.",
            )

    @property
    def place(self) -> Place:
        """Where the agent is now."""
        execution = self.execution
        return Place(
            entry_id=self.entry_id,
            room_id=self.room_id,
            work_attempt_id=self.work_attempt_id,
            execution_id=execution.execution_id if execution else None,
            has_ended=execution is not None and execution.ended_at is not None,
        )


def is_current(generation: int | None, own: int) -> bool:
    """Whether a call is meant for this supervisor, whose generation is `own`, and no other."""
    return generation == own


def unknown(entry_id: str) -> ManifestRefused:
    """Return what is said to who names an agent that is not there."""
    return ManifestRefused(
        f"Unknown daemon manifest entry: {entry_id}", remedy="Name an agent that there is."
    )


def next_generation(text: str | None) -> int:
    """Return the generation after the one that a file tells; None is a file that is not there.

    Raises:
        GenerationDamaged: it tells none.
    """
    if text is None:
        return 1
    if not _NUMBER.fullmatch(text):
        raise GenerationDamaged
    return int(text) + 1


def check_fence(own: int, text: str | None) -> None:
    """Let a supervisor act whose generation the file tells.

    Raises:
        FenceLost: it tells another.
    """
    if text is None or not _NUMBER.fullmatch(text) or int(text) != own:
        raise FenceLost


def wanted(entry: Entry, desired: Desired, *, expected: Desired | None = None) -> Entry | None:
    """Return the entry once that is wanted of it; None if what was wanted is not as expected."""
    if expected is not None and entry.desired is not expected:
        return None
    return attrs.evolve(entry, desired=desired)


def named(entry: Entry, name: str) -> Entry:
    """Return the entry once others are to call it `name`.

    Raises:
        Malformed: that is no name.
    """
    return attrs.evolve(entry, display_name=names.checked_display_name(name))


def check_polling(entry: Entry) -> None:
    """Let an agent be kept that is handed its messages, or may poll for them by itself.

    Raises:
        ManifestRefused: it may not.
    """
    if entry.delivery is Delivery.INBOX:
        return
    if entry.provider != POLLS_IN:
        raise ManifestRefused(
            f"An agent of {entry.provider} does not wait for messages by itself.",
            remedy=f"Add one of {POLLS_IN}, or leave --polling out.",
        )
    if entry.api_url == LOCAL_ROOMS:
        raise ManifestRefused(
            "An agent that waits for messages by itself has its room on a server.",
            remedy="Name the server with --server URL, or leave --polling out.",
        )


def check_handed(entry: Entry) -> None:
    """Let an agent be handed something that waits for nothing by itself.

    Raises:
        ManifestRefused: it does.
    """
    if entry.delivery is not Delivery.INBOX:
        raise ManifestRefused(
            "An agent that waits for messages by itself is handed none.",
            remedy="Say it in the agent's room.",
        )


def check_fresh(entry: Entry, known: Entry | None) -> None:
    """Let an agent be added whose name no other has.

    Raises:
        ManifestRefused: one has it.
    """
    if known is not None:
        raise ManifestRefused(
            f"There is an agent {entry.entry_id} already.", remedy="Give this one another name."
        )


def check_removable(entry: Entry) -> None:
    """Let an agent be forgotten of which nothing is there any more.

    Raises:
        ManifestRefused: it has a process, or is wanted.
    """
    has_process = entry.execution is not None and not entry.execution.is_over
    if entry.desired is not Desired.STOPPED or has_process:
        raise ManifestRefused(
            f"{entry.entry_id} is not stopped.",
            remedy=f"Stop it first: `letagents agents stop {entry.entry_id}`.",
        )


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
    if before is None:
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
) -> Entry:
    """Return the entry once that process has ended; `tail` is what it wrote last.

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
    if ending is not Ending.STOPPED:
        history = recovery.ended(history, now=now)
    return attrs.evolve(entry, execution=over, history=history)
