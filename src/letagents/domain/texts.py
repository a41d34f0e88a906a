"""Texts that callers give to be kept, within the bounds of their fields.

K20  A text that is kept is neither blank nor longer than its field allows, and holds what a message
     may; the refusal names the field and both numbers.
"""

from letagents.domain.errors import Malformed
from letagents.domain.messages import checked_text
from letagents.domain.names import is_blank


def checked(value: object, field: str, most: int) -> str:
    """Return the text that `value` is, without blanks at its ends.

    Raises:
        Malformed: it is none, or not of 1 to `most` characters that can be kept.
    """
    text = checked_text(value, field).strip()
    if len(text) > most:
        raise Malformed(
            f"{field}: {len(text):,} characters are too long.",
            remedy=f"Pass at most {most:,} characters.",
        )
    return text


def optional(value: object, field: str, most: int) -> str | None:
    """Return the text as `checked` does; nothing, or nothing but blanks, is None."""
    if value is None or (isinstance(value, str) and is_blank(value)):
        return None
    return checked(value, field, most)
