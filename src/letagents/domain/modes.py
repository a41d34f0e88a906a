"""Whose credentials a process acts with, and what it may not do then. (Source: mcp-tools 4.)

U7   Bounded turns and the profile supervised_room_turn go together; either alone is invalid.
U8   A process under a supervisor refuses credentials of its own.
U9   Who acts with a worker's or a supervisor's credentials names its server; over HTTPS, or here.
U10  A worker's bearer and an owner's token are never used together.
U11  A tool for owners is refused to everybody else, and waiting in a bounded turn, before any act.
U12  What needs the machine that it is called from is refused to who calls from another one, before
     any act, with what to do there instead.
"""

import enum
import re

import attrs

from letagents.domain.surfaces import BY_NAME, LOCAL_ROOMS, Caller, Profile


class Mode(enum.Enum):
    """Whose credentials a process acts with."""

    OWNER = "owner"
    WORKER = "worker"
    SUPERVISED = "supervised"


@attrs.frozen
class Invalid:
    """Why a process may not act as it is set up. `reason` and `remedy` are whole sentences."""

    reason: str
    remedy: str


_PROFILE, _BOUNDED = "LETAGENTS_EXECUTION_PROFILE", "LETAGENTS_SUPERVISED_BOUNDED_TURNS"
_BEARER, _TOKEN, _API = "LETAGENTS_AGENT_SESSION_BEARER", "LETAGENTS_TOKEN", "LETAGENTS_API_URL"
_MODE = "Worker bearer mode"
"""So others call all that acts with a credential which is not its own, and know it by that."""

NO_SUPERVISOR = Invalid(
    f"{_API}={LOCAL_ROOMS} names the rooms that a supervisor keeps, and this process has none.",
    f"Unset {_API}: the rooms of this machine need no address. What a supervisor starts is told "
    f"{_PROFILE}=supervised_room_turn and {_BOUNDED}=1 by it.",
)


def mode(caller: Caller) -> Mode | Invalid:
    """Decide whose credentials `caller` acts with."""
    bounded, polls = caller.bounded, caller.profile is Profile.SUPERVISED_MCP_POLLING
    if bounded != (caller.profile is Profile.SUPERVISED_ROOM_TURN):
        return Invalid(
            f"{_PROFILE}=supervised_room_turn and {_BOUNDED}=1 must be configured together.",
            f"Set both, or neither, and start again; without both, leave {_BOUNDED} out.",
        )
    if polls and (caller.has_bearer or caller.has_owner_token):
        return Invalid(
            "Custodial polling refuses environment credentials; borrow exact daemon worker "
            "authority.",
            f"Unset {_BEARER} and {_TOKEN}; the supervisor lends a credential for each request.",
        )
    if not (caller.has_bearer or bounded or polls):
        return NO_SUPERVISOR if caller.api_url == LOCAL_ROOMS else Mode.OWNER
    if caller.has_bearer and bounded:
        return Invalid(
            f"Daemon-supervised bounded turns refuse {_BEARER}; credentials must be borrowed from "
            "the exact supervisor generation.",
            f"Unset {_BEARER}.",
        )
    return _at_a_server(caller)


def _at_a_server(caller: Caller) -> Mode | Invalid:
    if caller.bounded and caller.is_in_local_turn:
        return Mode.SUPERVISED
    if (wrong := _wrong_address(caller.api_url)) is not None:
        return wrong
    if caller.has_bearer and caller.has_owner_token:
        return Invalid(
            f"Worker bearer mode refuses {_TOKEN}. Remove the owner token from this process "
            "before starting the worker.",
            f"Unset {_TOKEN}.",
        )
    return Mode.WORKER if caller.has_bearer else Mode.SUPERVISED


_ADDRESS = (
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/?#@:\[\]]+)(?::(?P<port>\d{1,5}))?"
    r"(?P<rest>[/?#]\S*)?"
)
_HERE = {"localhost", "127.0.0.1", "[::1]"}


def server_of(text: str) -> str:
    """Return the address of a server that `text` is, as paths are put behind it.

    Raises:
        ValueError: it is none. It is not repeated: a password may stand in it.
    """
    plain = text.rstrip("/")
    found = re.fullmatch(_ADDRESS, plain, re.IGNORECASE)
    is_one = found is not None and _ends_where_paths_begin(found)
    if not is_one and plain != LOCAL_ROOMS:
        raise ValueError(
            "it is http:// or https://, a host and, if need be, a port up to 65535 and a path, "
            "with no user, password or query in it"
        )
    return plain


def _ends_where_paths_begin(address: "re.Match[str]") -> bool:
    rest = address["rest"] or ""
    return int(address["port"] or 0) <= 65_535 and "?" not in rest and "#" not in rest


def _wrong_address(url: str | None) -> Invalid | None:
    remedy = f"Set {_API} to the server's address, such as https://rooms.example."
    if not url:
        return Invalid(f"{_MODE} requires an explicit {_API}.", remedy)
    address = re.fullmatch(_ADDRESS, url, re.IGNORECASE)
    if address is None:
        return Invalid(f"{_MODE} requires {_API} to be a valid HTTP(S) URL.", remedy)
    if address["scheme"].lower() == "http" and address["host"].lower() not in _HERE:
        return Invalid(f"{_MODE} requires HTTPS unless {_API} uses an exact loopback host.", remedy)
    return None


@attrs.frozen
class Refusal:
    """Why a tool is not for this process: a code and a sentence, given as a plain result."""

    error: str
    message: str


def refusal(
    name: str, *, mode: Mode, bounded: bool = False, is_afar: bool = False
) -> Refusal | None:
    """Return why the tool `name` is refused to a process of that mode, or None if it is not."""
    if name == "wait_for_messages" and bounded:
        return Refusal(
            "supervised_bounded_delivery",
            f"{name} is disabled because supervised room delivery is owned by the desktop daemon.",
        )
    offer = BY_NAME.get(name)
    if offer is not None and offer.afar is not None and is_afar:
        return Refusal(
            "needs_your_machine",
            f"{name} would look at the server's machine, and you are on another. {offer.afar}",
        )
    if offer is None or offer.owners is None or mode is Mode.OWNER:
        return None
    if mode is Mode.WORKER:
        why, error = f"while {_BEARER} is configured", "worker_bearer_mode"
    else:
        why, error = "during a daemon-supervised bounded turn", "supervised_bounded_mode"
    return Refusal(error, f"{offer.owners} is disabled {why}.")
