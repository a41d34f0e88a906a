"""Sessions as a supervisor is told of them, and what it lends of one. (Source: supervisor 4.)"""

import hashlib
from collections.abc import Mapping

from letagents.adapters.supervisor import effects
from letagents.adapters.supervisor.calls import Negotiated
from letagents.adapters.supervisor.coordinates import Coordinates
from letagents.domain import bindings
from letagents.domain.ids import Credential
from letagents.domain.supervised import DEFERRED, STALE, Borrowed, CoordinatesWrong, OwnSession

USUAL_API = "https://letagents.chat"


def api_url(environ: Mapping[str, str]) -> str:
    """Return where rooms are, as far as that is set."""
    return environ.get("LETAGENTS_API_URL", "").strip() or USUAL_API


def checked_api_url(environ: Mapping[str, str]) -> str:
    """Return where rooms are, which is as safe as a credential needs it.

    Raises:
        CoordinatesWrong: it is not.
    """
    url = api_url(environ)
    if bindings.origin(url) is None:
        raise CoordinatesWrong(
            "Daemon-supervised worker requires a valid LETAGENTS_API_URL.",
            remedy="Set LETAGENTS_API_URL to the address of the room server.",
        )
    if not bindings.is_safe(url):
        raise CoordinatesWrong(
            "Daemon-supervised worker requires HTTPS unless LETAGENTS_API_URL uses an exact "
            "loopback host.",
            remedy="Set LETAGENTS_API_URL to an address with https://.",
        )
    return url


def shown(at: Coordinates, session: OwnSession, url: str) -> dict[str, object]:
    """Return a session, its secret included, as it is bound and verified."""
    return {
        "entry_id": at.entry_id,
        "room_id": session.room_id,
        "work_attempt_id": at.work_attempt_id,
        "execution_generation_id": at.execution_id,
        "agent_session_id": session.session_id,
        "agent_session_token": session.token.value,
        "api_url": url,
    }


def lending(
    at: Coordinates, session: OwnSession, negotiated: Negotiated, url: str
) -> dict[str, object]:
    """Return how the secret of a session is asked for."""
    return {
        **effects.place(at, negotiated),
        "room_id": session.room_id,
        "agent_session_id": session.session_id,
        "api_url": bindings.origin(url) or url,
    }


def seen(at: Coordinates, session: OwnSession, cursor: str) -> dict[str, object]:
    """Return how it is told up to where a session has seen its room."""
    return {
        "entry_id": at.entry_id,
        "work_attempt_id": at.work_attempt_id,
        "execution_generation_id": at.execution_id,
        "agent_session_id": session.session_id,
        "room_cursor": cursor,
    }


def key(at: Coordinates, session: OwnSession, url: str) -> str:
    """Return what tells a binding apart from every other; the secret in it cannot be read."""
    return "\0".join(
        (
            str(at.socket),
            at.entry_id,
            at.work_attempt_id,
            at.execution_id,
            session.session_id,
            session.room_id,
            hashlib.sha256(session.token.value.encode()).hexdigest(),
            bindings.origin(url) or "",
        )
    )


def borrowed(result: object) -> Borrowed:
    """Return what is lent; what makes no sense is nothing."""
    told = result if isinstance(result, Mapping) else {}
    status, credential = told.get("status"), told.get("credential")
    if status == "deferred":
        return DEFERRED
    if status == "available" and Credential.fits(credential):
        return Borrowed(Credential(str(credential)))
    return STALE
