"""What workers and programs are called: which names are the same, and the labels made of them.

N1  Names are the same when their keys are equal: ASCII case, blanks and most signs do not count.
N2  Blanks are JavaScript's: its set, not Python's, is trimmed and collapsed.
N3  Only the letters A to Z are folded; other letters keep their case.
N4  A display name is 1 to 64 characters without control characters, surrogates or a bar.
N9  A display name can be seen: nothing invisible is in it, and it is not the server's own name.
N5  A label of a sender is at most 512 characters and at most 2,048 bytes.
N6  A slug is lower-case ASCII words joined by hyphens, and never empty if its fallback is not.
N7  A label is name, owner and program between two bars, whatever it was made of, and is read back.
N8  A program is known by its own spelling of its name; an unknown one is in title case.
"""

import re
import unicodedata
from functools import lru_cache

import attrs

from letagents.domain.errors import Malformed
from letagents.domain.ids import quoted

WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The blanks of JavaScript; also fit to stand inside the brackets of a pattern."""

DISPLAY_NAME_LIMIT = 64
SENDER_LIMIT = 512
SENDER_BYTES_LIMIT = 2048

_BLANKS = re.compile(f"[{WHITESPACE}]+")
_NOT_IN_HANDLES = re.compile(r"[^a-z0-9_.:/-]")
_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f|\ud800-\udfff]")
_FOLDED = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}

_IDES = {
    "agent": "Agent",
    "antigravity": "Antigravity",
    "claude": "Claude",
    "claude-code": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "open-model": "Open Model",
    "opencode": "OpenCode",
    "orchestrator": "Orchestrator",
}
_INFERRED = ("codex", "antigravity", "claude", "orchestrator")
_CLIENTS = {
    "claude-code": "Claude Code",
    "codex-mcp-client": "Codex",
    "cursor-vscode": "Cursor",
    "opencode": "OpenCode",
}


# --- forms of a name ----------------------------------------------------------------------------


def trim(text: str) -> str:
    """Return `text` without the blanks at its ends."""
    return text.strip(WHITESPACE)


def collapse(text: str) -> str:
    """Return `text` trimmed, with one space for each run of blanks."""
    return _BLANKS.sub(" ", trim(text))


def sender_form(text: str) -> str:
    """Return the form in which the labels of senders are compared."""
    return collapse(text).translate(_FOLDED)


def handle_form(text: str) -> str:
    """Return the form in which mentions are compared; empty if nothing of `text` can be in one."""
    return _NOT_IN_HANDLES.sub("", text.translate(_FOLDED))


def name_key(display_name: str) -> str:
    """Return what is equal for two display names exactly when a room takes them for the same."""
    return handle_form(display_name) or sender_form(display_name)


def slug(text: str, fallback: str) -> str:
    """Return `text` as lower-case ASCII words joined by hyphens, or `fallback` if none is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return _NOT_IN_SLUGS.sub("-", plain.lower()).strip("-") or fallback


def base_name(text: str) -> str:
    """Return the slug of a name, without a final `-agent`."""
    return slug(text, "agent").removesuffix("-agent")


def title_case(text: str) -> str:
    """Return the words of `text`, each with a capital first letter; hyphens part words too."""
    words = collapse(text.replace("-", " ")).split(" ")
    return " ".join(word[:1].upper() + word[1:].lower() for word in words)


# --- bounds -------------------------------------------------------------------------------------


SERVER = "letagents"
"""Who the room server is called where it speaks itself."""
_PLAINLY_SEEN = re.compile("[!-~]")
_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""What is drawn as nothing, although it counts as a letter or a sign."""


def checked_display_name(value: object) -> str:
    """Return the display name that `value` spells, trimmed.

    Raises:
        Malformed: it is blank, too long, or holds what no name may hold.
    """
    name = trim(value) if isinstance(value, str) else ""
    is_plain = visible(name) == name and not _NOT_IN_NAMES.search(name) and not is_blank(name)
    if not 1 <= len(name) <= DISPLAY_NAME_LIMIT or not is_plain:
        raise Malformed(
            f"display_name: {quoted(value)} is not a name that a room can show.",
            remedy=f"Pass a display_name of 1 to {DISPLAY_NAME_LIMIT} characters, "
            "without control or invisible characters and without |.",
        )
    if is_servers(name):
        raise Malformed(
            f"display_name: {quoted(value)} is the name of the room server itself.",
            remedy="Pass another display_name.",
        )
    return name


def visible(text: str) -> str:
    """Return `text` without what nobody sees, by which two names could look like one (N9)."""
    return "".join(filter(_is_seen, text))


def is_blank(text: str) -> bool:
    """Whether nobody sees anything of `text`; accents without a letter count as nothing."""
    if _PLAINLY_SEEN.search(text) is not None:
        return False
    return not any(
        _is_seen(letter) and not letter.isspace() and unicodedata.category(letter)[0] != "M"
        for letter in text
    )


def _is_seen(letter: str) -> bool:
    return letter not in _INVISIBLE and unicodedata.category(letter) != "Cf"


def is_servers(name: str) -> bool:
    """Whether `name` is the room server's own (N9)."""
    return name_key(name) == SERVER


def within_sender_bounds(value: object) -> bool:
    """Whether `value` is a text short enough to be a sender's label."""
    if not isinstance(value, str) or len(value) > SENDER_LIMIT:
        return False
    return len(value.encode("utf-8", "surrogatepass")) <= SENDER_BYTES_LIMIT


def checked_sender(value: object, field: str = "sender") -> str:
    """Return `value` unchanged if it is short enough to be a sender's label.

    Raises:
        Malformed: it is not.
    """
    if not isinstance(value, str) or not within_sender_bounds(value):
        raise Malformed(
            f"{field}: {quoted(value)} is no text within the bounds of a sender.",
            remedy=f"Pass a {field} of at most {SENDER_LIMIT} characters "
            f"and at most {SENDER_BYTES_LIMIT:,} bytes.",
        )
    return value


# --- labels -------------------------------------------------------------------------------------


@attrs.frozen
class ParsedLabel:
    """What the label of an actor says; `structured` if it has the three parts of ours."""

    raw: str
    display_name: str
    owner_attribution: str | None
    ide_label: str | None
    structured: bool


def owner_attribution(owner_label: str | None) -> str:
    """Return whose agent it is, in words."""
    owner = _part(owner_label) or "Owner"
    return f"{owner}' agent" if owner.endswith(("s", "S")) else f"{owner}'s agent"


def actor_label(display_name: str | None, owner_label: str | None, ide_label: str | None) -> str:
    """Return the label under which an agent speaks."""
    name = _part(display_name) or "Agent"
    return f"{name} | {owner_attribution(owner_label)} | {_program(ide_label) or 'Agent'}"


def _part(text: str | None) -> str:
    """Return `text` as one part of a label: a bar in it would begin the next."""
    return collapse((text or "").replace("|", " "))


def ide_label(text: str | None) -> str | None:
    """Return how the program that `text` means is written, or None if it means none."""
    return _program(text)


def _program(text: str | None) -> str | None:
    known_as = slug(text or "", "")
    return _IDES.get(known_as) or title_case(known_as) or None


def infer_ide(text: str | None) -> str | None:
    """Return the program that a name such as `codex-worker` or `ClaudeHelper` begins with."""
    begun = (program for program in _INFERRED if _begins_with(text or "", program))
    return _IDES.get(next(begun, ""))


def _begins_with(text: str, program: str) -> bool:
    if f"{slug(text, '')}-".startswith(f"{program}-"):
        return True
    joined = re.sub(r"[^A-Za-z0-9]", "", text)
    rest = joined[len(program) :]
    return joined.lower().startswith(program) and not rest[:1].islower()


def ide_of_client(client_name: str | None) -> str | None:
    """Return the program of an MCP client that calls itself `client_name`, or None if unknown."""
    return _CLIENTS.get(sender_form(client_name or ""))


def parse_actor_label(label: str | None) -> ParsedLabel | None:
    """Return what a label says, or None if it is blank."""
    text = collapse(label or "")
    if not text:
        return None
    return _structured(text) or _parenthesised(text) or _plain(text, text, None)


@lru_cache(maxsize=256)
def primary_label(label: str | None) -> str:
    """Return the name in a label; empty if it is blank."""
    parsed = parse_actor_label(label)
    return parsed.display_name if parsed else ""


def _structured(text: str) -> ParsedLabel | None:
    parts = [trim(part) for part in text.split("|")]
    if len(parts) != 3 or not all(parts) or not parts[1].endswith("agent"):
        return None
    program = _program(parts[2])
    if program is None:
        return None
    return ParsedLabel(text, parts[0], parts[1], program, structured=True)


def _parenthesised(text: str) -> ParsedLabel | None:
    """Read the older form, `name (owner's agent)`."""
    name, bracket, owner = text.removesuffix(")").rpartition(" (")
    if not name or not bracket or not text.endswith("agent)"):
        return None
    return _plain(text, name, owner)


def _plain(text: str, name: str, owner: str | None) -> ParsedLabel:
    return ParsedLabel(text, name, owner, infer_ide(name), structured=False)
