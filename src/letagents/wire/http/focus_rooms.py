"""What makes a room a focus room, in a room's form, and what is asked of one. (Source: 3.11, 4.2.)

Of our own are `focus_title` and `concluded_by`. Another server's words that are none of ours are
not refused: of such a setting its default is shown.
"""

import enum
from datetime import UTC, datetime
from typing import Any, TypeVar

import attrs

from letagents.domain import locators
from letagents.domain.errors import Malformed
from letagents.domain.focus_rooms import (
    Changes,
    Conclusion,
    Details,
    Focus,
    Outcome,
    Routing,
    Scope,
    Settings,
    Visibility,
)
from letagents.domain.ids import RoomId, quoted
from letagents.wire import moments
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]
E = TypeVar("E", bound=enum.Enum)

_FIELDS = (
    "parent_room_id",
    "focus_key",
    "focus_title",
    "source_task_id",
    "focus_status",
    "focus_parent_visibility",
    "focus_activity_scope",
    "focus_github_event_routing",
    "focus_settings",
    "focus_archived_at",
    "concluded_at",
    "concluded_by",
    "conclusion_summary",
    "conclusion_details",
)
_DETAILS = tuple(field.name for field in attrs.fields(Details))
_SETTINGS: dict[str, type[enum.Enum]] = {
    "parent_visibility": Visibility,
    "activity_scope": Scope,
    "github_event_routing": Routing,
}
_UNTOLD = datetime(1970, 1, 1, tzinfo=UTC)


def plain(focus: Focus | None) -> Plain:
    """Return the fields of a room that say whether it is a focus room, and which."""
    if focus is None:
        return {"kind": "main", **dict.fromkeys(_FIELDS)}
    settings = {name: getattr(focus.settings, name).value for name in _SETTINGS}
    return {
        "kind": "focus",
        "parent_room_id": str(focus.parent),
        "focus_key": focus.key,
        "focus_title": focus.title,
        "source_task_id": focus.task_id,
        "focus_status": "active" if focus.is_active else "concluded",
        **{f"focus_{name}": word for name, word in settings.items()},
        "focus_settings": settings,
        "focus_archived_at": None,
        **_plain_conclusion(focus.conclusion),
    }


def _plain_conclusion(made: Conclusion | None) -> Plain:
    details = made.outcome.details if made else None
    return {
        "concluded_at": made and moments.to_text(made.at),
        "concluded_by": made and made.by,
        "conclusion_summary": made and made.outcome.summary,
        "conclusion_details": attrs.asdict(details) if details else None,
    }


def focus(fields: Fields, room_id: RoomId, display_name: str) -> Focus | None:
    """Return what makes a room a focus room; None for any other room.

    Raises:
        Unreadable: it spells neither.
    """
    if fields.text_or_none("kind") != "focus":
        return None
    number = locators.number_of(room_id)
    if number is None:
        raise Unreadable("room_id is not a focus room's")
    return Focus(
        number=number,
        parent=fields.parsed("parent_room_id", RoomId),
        key=fields.text("focus_key"),
        title=fields.text_or_none("focus_title") or display_name,
        task_id=fields.text_or_none("source_task_id"),
        settings=Settings(**{name: _told(fields, name) for name in _SETTINGS}),  # type: ignore[arg-type]  # each is of its kind
        conclusion=_conclusion(fields),
    )


def _told(fields: Fields, name: str) -> enum.Enum:
    word = fields.text_or_none(f"focus_{name}")
    kind = _SETTINGS[name]
    return next((one for one in kind if one.value == word), getattr(Settings(), name))


def _conclusion(fields: Fields) -> Conclusion | None:
    if fields.text_or_none("focus_status") != "concluded":
        return None
    details = fields.part("conclusion_details")
    try:
        outcome = Outcome(
            summary=fields.text_or_none("conclusion_summary") or "Concluded.",
            details=None if details is None else _details(details),
        )
    except Malformed as error:
        raise Unreadable("conclusion is not of its form") from error
    return Conclusion(
        outcome=outcome,
        by=fields.text_or_none("concluded_by") or "somebody",
        at=fields.moment_or_none("concluded_at") or _UNTOLD,
    )


# --- what is asked ------------------------------------------------------------------------------


def plain_changes(changes: Changes) -> Plain:
    """Return what a change of settings asks for."""
    given = {name: getattr(changes, name) for name in _SETTINGS}
    return {name: one.value for name, one in given.items() if one is not None}


def changes(fields: Fields) -> Changes:
    """Return the change of settings that `fields` ask for. Raises Malformed."""
    return Changes(**{name: _asked(fields, name) for name in _SETTINGS})  # type: ignore[arg-type]  # each is of its kind


def _asked(fields: Fields, name: str) -> enum.Enum | None:
    word, kind = fields.text_or_none(name), _SETTINGS[name]
    if word is None:
        return None
    try:
        return kind(word)
    except ValueError:
        words = ", ".join(one.value for one in kind)
        raise Malformed(
            f"{name}: {quoted(word)} is not a setting.", remedy=f"Pass one of: {words}."
        ) from None


def plain_outcome(outcome: Outcome) -> Plain:
    """Return what a conclusion says."""
    details = outcome.details
    return {
        "summary": outcome.summary,
        "conclusion_details": None if details is None else attrs.asdict(details),
    }


def outcome(fields: Fields) -> Outcome:
    """Return what somebody says came of a focus room. Raises Malformed."""
    summary = fields.text_or_none("summary")
    if not (summary or "").strip():
        raise Malformed("summary is required.", remedy="Pass summary.")
    details = fields.part("conclusion_details")
    return Outcome(summary=summary, details=None if details is None else _details(details))


def _details(fields: Fields) -> Details:
    return Details(**{name: fields.text_or_none(name) for name in _DETAILS})
