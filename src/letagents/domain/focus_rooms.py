"""Focus rooms: beside another room, to settle one thing. (Source: hosted-api 3.11, 5.13, 7.1.)

R21  Its key is unique beside its parent: the task that it is for, or what is left of its title;
     a number is added where a concluded one has it.
R22  For a task, or a title, there is one open focus room: who asks for it again is shown that one.
R23  A focus room has none of its own, and none is opened for a task that is over.
R24  Who concludes it says what came of it; of one that is for a task also what is to become of
     that.
R25  It is concluded once: the same summary again changes nothing, and another is refused.
R26  The summary is shared with the parent unless the room is silent towards it.
R27  From a focus room whose scope is the room, no agent writes on the board of its parent.
"""

import enum
from collections.abc import Iterator
from datetime import datetime

import attrs

from letagents.domain import names, texts
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.ids import RoomId

SUMMARY_LIMIT, FACT_LIMIT, TITLE_LIMIT, KEY_LIMIT = 4_000, 500, 120, 60
LISTED = 500
"""So many are listed at most."""


class Visibility(enum.Enum):
    """What the parent hears of it. More than the summary no room of ours tells."""

    SUMMARY_ONLY = "summary_only"
    MAJOR_ACTIVITY = "major_activity"
    ALL_ACTIVITY = "all_activity"
    SILENT = "silent"


class Scope(enum.Enum):
    """What those who work in it work on."""

    TASK_AND_BRANCH = "task_and_branch"
    TASK_ONLY = "task_only"
    ROOM = "room"


class Routing(enum.Enum):
    """Which events of a repository are for it. Rooms of ours get none."""

    TASK_AND_BRANCH = "task_and_branch"
    FOCUS_OWNED_ONLY = "focus_owned_only"
    TASK_ONLY = "task_only"
    ALL_PARENT_REPO = "all_parent_repo"
    OFF = "off"


class ParentBoardReadOnly(LetAgentsError):
    """An agent would write on a board from a focus room that is to keep to itself."""

    code = "focus_parent_board_read_only"


class FocusRoomConcluded(LetAgentsError):
    """The focus room was concluded with another summary. Nothing was changed."""

    code = "focus_room_concluded"


class NoFocusRoomThere(LetAgentsError):
    """A focus room cannot be opened there. Nothing was made."""

    code = "focus_room_not_opened"


@attrs.frozen(kw_only=True)
class Settings:
    """How a focus room and its parent belong together."""

    parent_visibility: Visibility = Visibility.SUMMARY_ONLY
    activity_scope: Scope = Scope.TASK_AND_BRANCH
    github_event_routing: Routing = Routing.TASK_AND_BRANCH


@attrs.frozen(kw_only=True)
class Changes:
    """What is to be set otherwise; nothing of what is None."""

    parent_visibility: Visibility | None = None
    activity_scope: Scope | None = None
    github_event_routing: Routing | None = None

    def of(self, before: Settings) -> Settings:
        """Return the settings after them."""
        given = {name: one for name, one in attrs.asdict(self).items() if one is not None}
        return attrs.evolve(before, **given)


def _check_fact(_details: object, field: "attrs.Attribute[str | None]", value: object) -> None:
    texts.optional(value, field.name, FACT_LIMIT)


def _fact() -> str | None:
    fact: str | None = attrs.field(default=None, validator=_check_fact)
    return fact


@attrs.frozen(kw_only=True)
class Details:
    """What a focus room leaves to the task that it was for."""

    artifact: str | None = _fact()
    review_state: str | None = _fact()
    blocker_state: str | None = _fact()
    parent_task_next: str | None = _fact()
    next_owner: str | None = _fact()


def _summary(value: object) -> str:
    return texts.checked(value, "summary", SUMMARY_LIMIT)


@attrs.frozen(kw_only=True)
class Outcome:
    """What somebody says came of a focus room."""

    summary: str = attrs.field(converter=_summary)
    details: Details | None = None


@attrs.frozen(kw_only=True)
class Conclusion:
    """What came of a focus room, and who says so."""

    outcome: Outcome
    by: str
    at: datetime


@attrs.frozen(kw_only=True)
class Focus:
    """What makes a room a focus room. `number` counts those of all rooms."""

    number: int
    parent: RoomId
    key: str
    title: str
    task_id: str | None = None
    settings: Settings = Settings()
    conclusion: Conclusion | None = None

    @property
    def room_id(self) -> RoomId:
        """The id of the room itself."""
        return RoomId(f"focus_{self.number}")

    @property
    def is_active(self) -> bool:
        """Whether it has not been concluded."""
        return self.conclusion is None


# --- what they are called -----------------------------------------------------------------------


def checked_title(title: object, field: str = "title") -> str:
    """Return what a focus room is called, in one line. Raises Malformed."""
    return names.collapse(texts.checked(title, field, TITLE_LIMIT))


def cut_title(title: str) -> str:
    """Return the title of a task as that of a focus room."""
    line = names.collapse(title)
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1].rstrip()}…"


def keys_for(task_id: str | None, title: str) -> Iterator[str]:
    """Yield the keys that a focus room may have, the best first (R21)."""
    own = task_id or names.slug(title, "focus")[:KEY_LIMIT].strip("-")
    yield own
    number = 2
    while True:
        yield f"{own}-{number}"
        number += 1


# --- what becomes of them -----------------------------------------------------------------------


def check_may_have_some(parent: RoomId | None) -> None:
    """Let a room have focus rooms that has no parent itself (R23). Raises NoFocusRoomThere."""
    if parent is not None:
        raise NoFocusRoomThere(
            "This is a focus room, and has none of its own.", remedy=f"Open it beside {parent}."
        )


def check_may_be_about(task_id: str, *, is_open: bool) -> None:
    """Let a focus room be opened for a task that is not over (R23). Raises NoFocusRoomThere."""
    if not is_open:
        raise NoFocusRoomThere(
            f"{task_id} is over.", remedy="Open one with a title, or reopen the task first."
        )


def concluded(focus: Focus, outcome: Outcome, *, by: str, now: datetime) -> Focus:
    """Return the focus room once `by` has said what came of it (R24, R25).

    Raises:
        Malformed: it does not say what is to become of the task.
        FocusRoomConcluded: something else was said before.
    """
    if (before := focus.conclusion) is not None:
        if before.outcome.summary == outcome.summary:
            return focus
        raise FocusRoomConcluded(
            f"{focus.room_id} was concluded before, by {before.by}.",
            remedy="Say what has changed since in the room beside it: send_message.",
        )
    if focus.task_id is not None and outcome.details is None:
        raise Malformed(
            "conclusion_details is required for the focus room of a task.",
            remedy="Pass artifact, review_state, blocker_state, parent_task_next and next_owner.",
        )
    return attrs.evolve(focus, conclusion=Conclusion(outcome=outcome, by=by, at=now))


def is_shared(focus: Focus) -> bool:
    """Whether the parent is told what came of a focus room (R26)."""
    return focus.settings.parent_visibility is not Visibility.SILENT


def words_of(focus: Focus) -> str:
    """Return what the parent is told. It mentions nobody, whatever was said."""
    assert focus.conclusion is not None  # noqa: S101  # else there is nothing to be told
    outcome = focus.conclusion.outcome
    what = focus.task_id or focus.title
    who = names.primary_label(focus.conclusion.by)
    facts = attrs.asdict(outcome.details) if outcome.details else {}
    told = [f"{name.replace('_', ' ')}: {one}" for name, one in facts.items() if one]
    said = f"[focus] {focus.room_id} ({what}) concluded by {who}: {outcome.summary}"
    return "\n".join([said, *told]).replace("@", "@ ")


def check_origin(origin: Focus | None) -> None:
    """Let an agent write on a board that calls from `origin`, a focus room beside it (R27).

    Raises:
        ParentBoardReadOnly: it is to keep to that room.
    """
    if origin is not None and origin.settings.activity_scope is Scope.ROOM:
        raise ParentBoardReadOnly(
            f"From {origin.room_id}, whose scope is the room itself, nobody writes on the board of "
            f"{origin.parent}.",
            remedy=f"Work on the board of {origin.room_id}, or call "
            f"join_room(name={str(origin.parent)!r}) first.",
        )
