"""Parts of the paths of a server. (Source: hosted-api 1.1.)"""

from urllib.parse import quote

_UNESCAPED = "-_.!~*'()"
_LEADS_ELSEWHERE = {".": "%2E", "..": "%2E%2E"}
"""Parts that clients and servers on the way take out of a path, if they are not escaped."""


def part(text: str) -> str:
    """Return `text` as one part of a path, percent-encoded, and none that leads elsewhere."""
    return _LEADS_ELSEWHERE.get(text) or quote(text, safe=_UNESCAPED)
