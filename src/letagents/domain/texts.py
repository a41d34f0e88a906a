"""Texts that callers give to be kept, within the bounds of their fields.

K20  A text that is kept is neither blank nor longer than its field allows, and holds what a message
     may; the refusal names the field and both numbers.
K29  An address that is kept is of http or https, has at most 2,048 characters, and names no user
     and no password; what is refused is not shown, for it may hold one.
"""

import re

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


ADDRESS_LIMIT = 2_048

_PLAIN = r"[^\x00-\x20\x7f-\x9f\ud800-\udfff]"
_ADDRESS = re.compile(rf"https?://((?:(?![/?#\\]){_PLAIN})+)(?:[/?#]{_PLAIN}*)?", re.IGNORECASE)


def address(value: object, field: str) -> str | None:
    """Return the address that `value` is; nothing, or nothing but blanks, is None (K29).

    Raises:
        Malformed: it is none, or names a user or a password.
    """
    text = optional(value, field, ADDRESS_LIMIT)
    found = None if text is None else _ADDRESS.fullmatch(text)
    if text is not None and (found is None or "@" in found[1]):
        raise Malformed(
            f"{field}: this is not an http or https address without a user and password.",
            remedy="Pass an address such as https://example.com/pull/3, or leave it out.",
        )
    return text
