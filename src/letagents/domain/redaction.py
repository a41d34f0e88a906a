"""What is left out of a foreign program's words before they are kept or shown.

Y16  What looks like a secret is never shown: the value of a name that says so, and any text of the
     form that tokens and keys have.
Y17  What is shown of a value is bounded: 12 deep, 100 parts each, and its texts cut.
"""

import re
from collections.abc import Mapping

HIDDEN = "[hidden]"
DEEPEST = 12
MOST = 100
LONGEST = 4_000
"""Characters of one text that are shown. (Source: supervisor 6.14.)"""
READ = 32_768
"""Characters of one text that are looked through, from its end."""

_NAMES = (
    r"authorization|bearer|cookie|credential|passwd|password|private[_-]?key|secret|session[_-]?key"
    r"|token|api[_-]?key|access[_-]?key"
)
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
_COUNTS = re.compile(r"^tokens\b|^token_?count", re.IGNORECASE)
_SECRET_FORMS = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|AKIA|ASIA|lat)[-_A-Za-z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"
)
_NAMED = re.compile(
    rf"(?P<name>(?:{_NAMES})[\w.-]{{0,64}}[\"']?\s{{0,8}}[:=]\s{{0,8}})"
    r"(?:(?:bearer|basic)\s{1,8})?(?P<value>\"[^\"]*\"|'[^']*'|\[hidden\]|[^\s,;}\]]+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?P<kind>bearer|basic)\s{1,8}[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_IN_URL = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]{0,20}://)[^\s/@]{1,2000}@", re.IGNORECASE)


def shown(text: str, longest: int = LONGEST) -> str:
    """Return the end of `text`, of at most `longest` characters, without secrets (Y16).

    What was shown so already stays as it is.
    """
    text = _SECRET_FORMS.sub(HIDDEN, _end_of(text))
    text = _IN_URL.sub(rf"\g<scheme>{HIDDEN}@", text)
    text = _NAMED.sub(_without_value, text)
    text = _BEARER.sub(rf"\g<kind> {HIDDEN}", text)
    return text if len(text) <= longest else f"…{text[-longest:]}"


def _end_of(text: str) -> str:
    """Return the end of a long text, from the beginning of a line or word: no secret is halved."""
    if len(text) <= READ:
        return text
    end = text[-READ:]
    return end.partition("\n")[2] or end.partition(" ")[2] or end


def _without_value(found: "re.Match[str]") -> str:
    if _COUNTS.search(found["name"]) and found["value"].strip("\"'").isdigit():
        return found[0]
    return f"{found['name']}{HIDDEN}"


def parts(value: object, depth: int = 0) -> object:
    """Return `value`, of which JSON is made, bounded and without secrets (Y16, Y17)."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return _too_deep(depth) or _mapping(value, depth)
    if isinstance(value, list | tuple):
        return _too_deep(depth) or [parts(one, depth + 1) for one in value[:MOST]]
    return value


def _mapping(value: Mapping[object, object], depth: int) -> dict[str, object]:
    return {
        str(name): HIDDEN if _hides(str(name), one) else parts(one, depth + 1)
        for name, one in list(value.items())[:MOST]
    }


def _hides(name: str, value: object) -> bool:
    is_count = isinstance(value, int | float) or value is None
    return not is_count and _SECRET_NAME.search(name) is not None


def _too_deep(depth: int) -> str | None:
    return "[deeper]" if depth >= DEEPEST else None
