"""Moments as records spell them: UTC, three digits of a second's fraction, and a Z.

Such texts sort as the moments do, which other programs rely on.
"""

from datetime import UTC, datetime


def to_text(moment: datetime) -> str:
    """Return the text of an aware `moment`; what is finer than a millisecond is cut off."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_text(text: str) -> datetime | None:
    """Return the moment that `text` spells in any ISO form, or None if it spells none."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
