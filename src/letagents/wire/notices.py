"""What is told of mentions that woke nobody, to plain data and back. (Source: hosted-api 5.12.)"""

from collections.abc import Mapping, Sequence
from typing import Any

from letagents.domain.recipients import AMBIGUOUS, Candidate, MentionNotice

Plain = dict[str, Any]

FIELD = "mention_notices"


def plain(notices: Sequence[MentionNotice]) -> Plain:
    """Return the field that tells of `notices`; nothing where there are none."""
    return {FIELD: [_plain(one) for one in notices]} if notices else {}


def _plain(notice: MentionNotice) -> Plain:
    return {
        "reason": notice.reason,
        "handle": notice.handle,
        "candidates": [
            {
                "mention": one.mention,
                "agent_key": one.agent_key,
                "display_name": one.display_name,
                "actor_label": one.actor_label,
            }
            for one in notice.candidates
        ],
    }


def read(document: Mapping[str, Any]) -> tuple[MentionNotice, ...]:
    """Return the notices in an answer; those that cannot be read tell nobody anything."""
    found = document.get(FIELD)
    listed = found if isinstance(found, list) else []
    return tuple(
        MentionNotice(
            _text(one.get("handle")),
            tuple(_candidate(each) for each in _several(one.get("candidates"))),
            _text(one.get("reason")) or AMBIGUOUS,
        )
        for one in _several(listed)
    )


def _candidate(one: Mapping[str, Any]) -> Candidate:
    return Candidate(*(_text(one.get(name)) for name in _CANDIDATE))


_CANDIDATE = ("mention", "agent_key", "display_name", "actor_label")


def _several(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
