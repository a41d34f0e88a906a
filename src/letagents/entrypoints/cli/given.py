"""What people give to commands: texts, from standard input too, and their own names."""

import re
import sys

from letagents.domain import names, tasks, texts
from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted
from letagents.domain.messages import TEXT_LIMIT

STANDARD_INPUT = "-"

_LAST_LINE_END = re.compile(r"\r?\n\Z")


def text_given(text: str) -> str:
    """Return the text, from standard input if it is a dash, without its last line's end."""
    if text != STANDARD_INPUT:
        return text
    given = sys.stdin.buffer.read(4 * TEXT_LIMIT + 2)
    try:
        return _LAST_LINE_END.sub("", given.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Malformed(
            f"What came in is no UTF-8: the byte at {error.start} does not fit.",
            remedy="Convert it, for example with iconv, and send it again.",
        ) from None


def task_given(text: str) -> str:
    """Return the id of a task that somebody gave, or raise Malformed."""
    try:
        return tasks.task_id_of(text, "TASK")
    except Malformed as error:
        remedy = "Pass an id as `letagents board ROOM --all` shows it, such as task_3."
        raise Malformed(error.happened, remedy=remedy) from None


def reason_given(text: str | None) -> str | None:
    """Return the reason that somebody gave with --reason, or raise Malformed."""
    return texts.optional(text, "--reason", tasks.REASON_LIMIT)


def name_given(text: str | None) -> str | None:
    """Return the name that somebody gave with --as, or raise Malformed."""
    if text is None:
        return None
    try:
        return names.checked_display_name(text)
    except Malformed:
        raise Malformed(
            f"{quoted(text)} is not a name that a room can show.",
            remedy=f"Pass --as with 1 to {names.DISPLAY_NAME_LIMIT} characters, "
            "without control characters and without |.",
        ) from None
