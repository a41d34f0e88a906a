"""Where a server may be reached, and which of this machine's sign-ins is for which server.

Q16  A server that is reached from beyond this machine needs accounts, or somebody who insists.
Q17  A sign-in of this machine is for one server, however its loopback address is spelled, and is
     shown to no other.
Q18  A call names the server by an address, as localhost, or by a name that it is known by: so a
     name that somebody else's page was given for this machine's address leads nowhere.
Q19  A page makes calls only to the server that it is from.
Q34  What is wrong with the place where a server keeps its rooms is for who runs it: others are told
     that they cannot be used, or that it is not known what happened.
"""

import re
from collections.abc import Collection
from datetime import timedelta

import attrs

from letagents.domain.errors import LetAgentsError, OutcomeUnknown, Retry, RoomsUnavailable

PORT = 3001
COUNTED_WITHIN = timedelta(seconds=60)
"""What is bounded by how often it happens is counted over that span."""

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[^\]/]+\]|[^/:@\[\]]+)(?::(?P<port>\d{1,5}))?/*"
)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(?::\d{1,5})?")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[.*\]")
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1|\[::1\]")
_USUAL = {"http": 80, "https": 443}


class ServedElsewhere(LetAgentsError):
    """Another process serves the same database file. Nothing was opened."""

    code = "served_elsewhere"


class NotServed(LetAgentsError):
    """A server cannot be reached at the address that it was to have."""

    code = "not_served"


class Exposed(LetAgentsError):
    """A server would be reached by others, and nobody has an account yet. Nothing was opened."""

    code = "exposed"


class AskedTooOften(LetAgentsError):
    """Something was asked more often than anybody has reason to. Nothing happened."""

    code = "asked_too_often"
    retry = Retry.LATER


class JoinedTooOften(AskedTooOften):
    """More rooms were entered in a short time than anybody has reason to. Nothing happened."""

    code = "joined_too_often"


@attrs.frozen(kw_only=True)
class Bounds:
    """How much of a server one caller, or all of them, may use."""

    joins: int = 10
    """Rooms that an account enters for the first time in a minute, from one address.

    (Source: hosted-api 1.6.)
    """
    misses: int = 60
    """Rooms that are not there for which an account asks in a minute: so no code is guessed."""
    sign_ins: int = 10
    """Sign-ins with a device that are begun in a minute from one address, which anybody may."""
    at_once: int = 4_000
    """Requests of one account that are under way at once; each agent that waits has two."""
    connections: int = 10_000
    """Connections of everybody together."""
    body: int = 1024 * 1024
    """Bytes of a request's body."""
    upload: int = 6 * 1024 * 1024
    """Those of a body with a file in base 64."""


@attrs.frozen
class OwnSignIn:
    """How programs of this machine sign in at a server that it runs itself."""

    url: str
    database: str
    login: str
    token: str = attrs.field(repr=False)


def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address, is reached from this machine alone."""
    return _LOOPBACK.fullmatch(host.lower()) is not None


def check_reach(host: str, *, has_accounts: bool, insists: bool) -> None:
    """See that a server may be reached at `host`.

    Raises:
        Exposed: it may not (Q16).
    """
    if is_loopback(host) or has_accounts or insists:
        return
    raise Exposed(
        f"Others could reach the server at {host}, and it has no accounts yet.",
        remedy="Make one with `letagents accounts add LOGIN`, or pass --insecure if whoever "
        "reaches that address may know of it.",
    )


def for_others(error: LetAgentsError) -> LetAgentsError:
    """Return what is told of an error to who calls a server (Q34)."""
    if type(error) is RoomsUnavailable:
        return RoomsUnavailable(
            "The rooms of this server cannot be used now.",
            remedy="Nothing happened. Call again after a while; its log says what is wrong.",
        )
    if type(error) is OutcomeUnknown:
        return OutcomeUnknown(
            "The server broke off while it wrote down what was asked.",
            remedy="Read the room before calling again, or call again with the same key.",
        )
    return error


def place_of(url: str) -> str | None:
    """Return what two addresses of one server have in common (Q17); None for what is none."""
    found = _URL.fullmatch(url.strip())
    if found is None:
        return None
    scheme, host = found["scheme"], found["host"].lower()
    port = int(found["port"] or _USUAL[scheme])
    return f"{scheme}://{'localhost' if is_loopback(host) else host}:{port}"


def names_us(host: str | None, known: Collection[str]) -> bool:
    """Whether who calls by `host` means the server at the addresses `known` (Q18)."""
    found = _HOST.fullmatch(host or "")
    if found is None:
        return False
    name = found["name"].lower()
    ours = {url["host"].lower() for url in map(_URL.fullmatch, known) if url is not None}
    return is_loopback(name) or _ADDRESS.fullmatch(name) is not None or name in ours


def is_our_page(origin: str | None, host: str | None, known: Collection[str]) -> bool:
    """Whether a call that names `origin` is made by no page, or by one of the server (Q19)."""
    if origin is None:
        return True
    place = place_of(origin)
    own = {place_of(url) for url in (f"http://{host}", f"https://{host}", *known)}
    return place is not None and place in own


def is_for(sign_in: OwnSignIn, url: str) -> bool:
    """Whether `sign_in` is to be shown to the server at `url` (Q17)."""
    return place_of(url) is not None and place_of(url) == place_of(sign_in.url)
