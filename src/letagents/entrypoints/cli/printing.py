"""What people are shown: text that cannot steer a terminal, colours where they are wanted, JSON.

Whatever was said in a room is somebody else's words: a character that a terminal would obey, that
would turn the reading direction, or that nobody would see, is shown as what it is.
"""

import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

import attrs

from letagents.domain.errors import LetAgentsError

_STEERING = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSEEN = (
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164"
    r"\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff"
)
_JOINER_AMONG_ASCII = r"(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
"""Emoji and many scripts are written with joiners; beside ASCII they only hide."""
_NOT_SHOWN = re.compile(f"[{_STEERING}{_UNSEEN}]|{_JOINER_AMONG_ASCII}")
_LINE_ENDS = re.compile(r"\r\n|\n|\r")

BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
_SPEAKERS = ("36", "35", "34", "33", "32", "96", "95", "94")
"""Colours of those who speak: all readable on dark and on light."""


def one_line(text: str) -> str:
    """Return `text` with all spelt out that could steer a terminal, begin a line or hide."""
    return _NOT_SHOWN.sub(_spelt, text)


def lines(text: str) -> list[str]:
    """Return the lines of `text`, each as `one_line` makes it; tabs become blanks."""
    return [one_line(line.expandtabs(4)) for line in _LINE_ENDS.split(text)]


def _spelt(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


@attrs.frozen
class Surface:
    """Where something is printed: a terminal or not, with colours or not."""

    is_terminal: bool = False
    has_colours: bool = False

    @classmethod
    def of(cls, stream: IO[str], environ: Mapping[str, str] = os.environ) -> "Surface":
        """Return what `stream` is. NO_COLOR and a dumb terminal keep colours out."""
        if not stream.isatty():
            return cls()
        plain = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        old = sys.platform == "win32" and "WT_SESSION" not in environ
        return cls(is_terminal=True, has_colours=not (plain or old))

    def painted(self, text: str, *styles: str) -> str:
        """Return `text` in those styles, if there are colours here."""
        return f"\x1b[{';'.join(styles)}m{text}\x1b[0m" if self.has_colours and text else text

    def speaker(self, name: str, key: str) -> str:
        """Return `name` in the colour that `key` always has."""
        colour = _SPEAKERS[zlib.crc32(key.encode("utf-8", "replace")) % len(_SPEAKERS)]
        return self.painted(name, BOLD, colour)


def output() -> Surface:
    """Return what standard output is; what its encoding lacks is spelt out from now on."""
    _forgiving(sys.stdout)
    return Surface.of(sys.stdout)


class OutputLost(LetAgentsError):
    """Standard output takes nothing any more, and not because its reader has left."""

    code = "output_lost"


def say(line: str = "") -> None:
    """Print a line now: whoever reads it may be waiting.

    Raises:
        BrokenPipeError: whoever read it has left.
        OutputLost: it cannot be written.
    """
    try:
        print(line, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputLost(
            f"Standard output cannot be written: {error.strerror}.",
            remedy="Send it to a place that has room, and run the command again.",
        ) from error


def say_json(fields: Mapping[str, object]) -> None:
    """Print one object on one line, in ASCII, so that no terminal and no encoding minds it."""
    say(json.dumps(fields, separators=(",", ":")))


def complain(error: LetAgentsError, room: str | None = None) -> None:
    """Say on standard error what happened, and on the next line what to do in that room."""
    _forgiving(sys.stderr)
    field, _, _ = error.happened.partition(":")
    option = _OPTIONS.get(field, field)
    happened = error.happened.replace(field, option, 1)
    remedy = _remedy(error).replace(f"Pass {field} ", f"Pass {option} ")
    if room is not None:
        remedy = _ROOM.sub(lambda _: shlex.quote(room.strip()), remedy)
    print(f"letagents: {one_line(happened)}\n  {one_line(remedy)}", file=sys.stderr)


def _remedy(error: LetAgentsError) -> str:
    """Return what to do at a shell; where only a tool would do it, that a shell has none."""
    from letagents.domain import agent_troubles  # only who is refused waits for all tools' names

    remedy = _REMEDIES.get(error.code, error.remedy)
    if agent_troubles.names_a_tool(remedy):
        return _WITHOUT_TOOLS.get(error.code, _OTHERWISE)
    return remedy


_SIGN_IN = (
    "Set LETAGENTS_TOKEN to a token of yours there (`letagents accounts token LOGIN` prints one "
    "where the server runs), or have an agent of this machine sign you in."
)
_WITHOUT_TOOLS = {
    **dict.fromkeys(("not_signed_in", "auth_required"), _SIGN_IN),
    "not_your_agent": "Set LETAGENTS_TOKEN to a token of an account that may.",
    "worker_session_required": "Have an agent do it that works in the room.",
    "not_available": "Go on by messages: `letagents tail ROOM` and `letagents send ROOM TEXT`.",
    "unknown_room": "`letagents rooms` lists those that are there.",
}
"""What stands in place of a remedy that names tools, which only agents can call."""
_OTHERWISE = "`letagents --help` lists what can be done at a shell."

_REMEDIES = {
    "archived": "Run `letagents memory ROOM --restore ID` to take it out again.",
    "board_intent_not_found": "Run `letagents intents ROOM` to see those that wait for you.",
    "board_intent_not_possible": "Approve it once its task stands where it can follow, or "
    "`letagents deny ROOM INTENT`.",
    "already_answered": "Run `letagents send ROOM TEXT` to say more.",
    "unknown_task": "Run `letagents board ROOM --all` to see its tasks.",
    "unknown_record": "Run `letagents requests ROOM --all` or `letagents memory ROOM --all`.",
    "unknown_message": "Run `letagents tail ROOM` to see the ids of its messages.",
    "coordination_active_lock": "Run `letagents unlock ROOM --board` to lift it.",
    "coordination_duplicate_work": "Approve it once that is over, or run "
    "`letagents deny ROOM INTENT`.",
    "key_reused": "Pass another --key for another message, or none.",
    "room_full": "Go on in another room: `letagents send --create NAME TEXT`.",
    "outcome_unknown": "Run `letagents tail ROOM --once` to see whether it arrived, "
    "before you do it again.",
}
"""What a person at a shell does, where an agent would make a call."""

_ROOM = re.compile(r"\bROOM\b")
_OPTIONS = {
    "answer": "TEXT",
    "author": "--author",
    "client_message_id": "--key",
    "guidelines": "--set",
    "message_id": "msg_N",
    "record_id": "ID",
    "reply_to": "--reply-to",
    "since": "--since",
    "source_message_id": "--source",
    "task_id": "TASK",
    "text": "TEXT",
    "thread_parent_id": "--thread",
    "until": "--until",
    "words": "WORDS",
}
"""What a person at a shell calls a call's parameters."""


def _forgiving(stream: object) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def columns(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """Return `rows` as lines whose cells stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
