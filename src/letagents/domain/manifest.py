"""The agents that a supervisor looks after, as they are written down.

(Source: supervisor 1, 6.1, 6.4, 6.5.)

J54  What a person wants of an agent is changed by who saw what was wanted before.
J46  A name of an agent is no other's, and an agent is forgotten only when it is stopped; with it
      what it was told, so that the next one of its name begins anew.
J103  An agent that polls by itself is run by Codex, and its room is on a server.
J38  An agent's rooms are its supervisor's own, or those of the one server that its entry names.
"""

import enum
import re
from datetime import datetime

import attrs

from letagents.domain import bindings, names
from letagents.domain.bindings import Place
from letagents.domain.custody import Polling
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.inbox import Move
from letagents.domain.open_models import ModelServer
from letagents.domain.recovery import Desired, History
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.domain.workplaces import Worktree

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")

POLLS_IN = "codex"
PROVIDERS = ("codex", "claude-code", "open-model", "cursor")


class ManifestRefused(LetAgentsError):
    """The manifest does not change in that way. Nothing was changed."""

    code = "manifest_refused"


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


def unknown(entry_id: str) -> ManifestRefused:
    """Return what is said to who names an agent that is not there."""
    return ManifestRefused(
        f"Unknown daemon manifest entry: {entry_id}",
        remedy="`letagents agents list` names those that there are.",
    )


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
    if entry.desired is not Desired.STOPPED:
        raise ManifestRefused(
            f"{entry.entry_id} is not stopped.",
            remedy=f"Stop it first: `letagents agents stop {entry.entry_id}`.",
        )
    if entry.execution is not None and not entry.execution.is_over:
        raise ManifestRefused(
            f"{entry.entry_id} is being stopped, and its process is there still.",
            remedy="Try again once `letagents agents list` says that it is stopped.",
        )
