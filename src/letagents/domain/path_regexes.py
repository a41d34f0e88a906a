"""Patterns of paths as regular expressions: what git's hook matches with.

Every commit loads this where the guard is installed: it needs nothing that is slow to load.

K94  The expression of a pattern matches exactly what the pattern matches.
"""

import re
import unicodedata

_GLOB = re.compile(r"[*?\[]")
_BELOW = r"(?:/[^/]+)*\Z"


def literal(pattern: str) -> str:
    """Return what every path begins with that `pattern` matches; all of it if it is a path."""
    found = _GLOB.search(pattern)
    return pattern[: found.start()] if found else pattern


def normal(path: str) -> str:
    """Return `path` in the one form in which paths are compared."""
    return unicodedata.normalize("NFC", path)


def regex(pattern: str) -> str:
    """Return the expression that matches a normal path where `pattern`, well formed, does."""
    names = pattern.split("/")
    found = []
    for at, name in enumerate(names):
        is_last = at == len(names) - 1
        if name == "**":
            found.append(r"(?:[^/]+/)*" + (r"[^/]+" if is_last else ""))
        else:
            found.append(_name(name) + ("" if is_last else "/"))
    return r"(?s:\A" + "".join(found) + _BELOW + ")"


def _name(name: str) -> str:
    found, at = [], 0
    while at < len(name):
        character = name[at]
        if character == "[":
            end = name.index("]", at + 2 + (name[at + 1] in "!^"))
            found.append(_set(name[at + 1 : end]))
            at = end
        elif character in "*?":
            found.append(r"[^/]*" if character == "*" else r"[^/]")
        else:
            found.append(re.escape(character))
        at += 1
    return "".join(found)


def _set(inside: str) -> str:
    negated = inside[0] in "!^"
    body, ranges, at = inside[negated:], [], 0
    while at < len(body):
        high = at + 2 if body[at + 1 : at + 2] == "-" and at + 2 < len(body) else at
        if body[at] <= body[high]:
            ranges.append(f"{re.escape(body[at])}-{re.escape(body[high])}")
        at = high + 1
    chars = "".join(ranges)
    if negated:
        return f"[^/{chars}]"
    return f"(?!/)[{chars}]"
