"""What a git remote names, without any secret; the rules of it stand in git_rooms.py.

Every commit loads this where the guard is installed: it needs nothing that is slow to load.
"""

import re

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<address>[^/?#]*)(?P<path>[^?#@]*)(?:[?#][^@]*)?")
_FILE = re.compile(r"file://", re.IGNORECASE)
_SCP = re.compile(r"(?:[^/]*@)?(?P<address>\[[^]/]+\]|[^/:@\[\]]{2,}):(?P<path>.+)")
_ADDRESS = re.compile(r"(?:.*@)?\[?(?P<host>[^]@:]*)(?::\d*)?\]?(?::\d*)?")
BARE = re.compile(r"(?P<address>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?P<path>(?:/[^/]+){2,})/?")
_UNCLEAN = re.compile(r"[\x00-\x20\x7f-\xa0\ufffd\ud800-\udfff@:]")
_ALIASES = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Under these names the same hosts are reached where only the web's ports are open."""


def repository(remote: str) -> str | None:
    """Return the host and path of the repository that `remote` names, or None if it has none."""
    host, path = _parts(remote.strip())
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").rstrip("/")
    if not path or any(step in (".", "..") for step in path.split("/")):
        return None
    name = folded(_ALIASES.get(host.lower(), host), path)
    return None if _UNCLEAN.search(name) else name


def _parts(remote: str) -> tuple[str, str]:
    """Return a remote's host and path. A folder has no host; one found only from here, no path."""
    if remote.startswith("/"):
        return "", remote
    spelled = _URL.fullmatch(remote) or _SCP.fullmatch(remote) or BARE.fullmatch(remote)
    address = _ADDRESS.fullmatch(spelled["address"]) if spelled is not None else None
    if spelled is None or address is None:
        return "", ""
    if not address["host"] and not _FILE.match(remote):
        return "", ""  # its path would look like a folder of this machine
    return address["host"], spelled["path"]


def folded(host: str, path: str) -> str:
    """Return a host and path in the one spelling that they have."""
    host = host.lower()
    if host != "github.com":
        return f"{host}/{path}"
    owner_and_name, focus, key = path.partition("/focus/")
    if owner_and_name.count("/") != 1:  # the key of a focus room is the only thing with a case
        owner_and_name, focus, key = path, "", ""
    return f"{host}/{owner_and_name.lower()}{focus}{key}"
