"""Sessions of agents: opened, taken over, ended. (Source: hosted-api 3.5.)"""

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from letagents.application.server.served_sessions import arriving
from letagents.domain.accounts import Account
from letagents.domain.deliveries import Delivery
from letagents.domain.errors import RoomsUnavailable
from letagents.domain.governance import NoSuchSession
from letagents.domain.ids import RoomId, SessionId, Token
from letagents.domain.sessions import Arrival, Predecessor, Session, SessionKind
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import deliveries as wire_deliveries
from letagents.wire.http import sessions as wire
from letagents.wire.http import worker_bearers
from letagents.wire.http.problems import Form, Forms


async def register(call: Call) -> Response:
    """Open a session or take it over."""
    account = call.account
    body = await call.body()
    kind = _kind(body.get("session_kind"))
    arrival = (
        await _person(call, account)
        if kind is SessionKind.PERSON
        else await _agent(call, account, kind)
    )
    await call.hosting.entrances.admit(account, call.called, call.address)
    with told(BUSY):
        made = await call.hosting.rooms.connect(call.room_id, arrival)
    tell(call, call.room_id, made.displaced)
    is_worker = kind is SessionKind.WORKER and call.hosting.takes_bearers
    bearer = worker_bearers.spelled(made.fence, made.session.room_id) if is_worker else None
    return answer(wire.plain_connection(made) | {"worker_bearer": bearer}, 201)


def tell(call: Call, room_id: RoomId, ended: Sequence[SessionId]) -> None:
    """Let the processes hear whose sessions have ended."""
    if call.hosting.roll is not None:
        call.hosting.roll.ended(room_id, ended)


def _kind(given: object) -> SessionKind:
    """Return what a session is to be: a worker if nothing is said, else what is said."""
    if given is None:
        return SessionKind.WORKER
    try:
        return SessionKind(given)
    except ValueError:
        return SessionKind.CONTROLLER


async def _person(call: Call, account: Account) -> Arrival:
    return arriving(
        account,
        wire.proposed(await call.body()) or call.hosting.ids.token(),
        instance_id=await call.text("agent_instance_id") or call.hosting.ids.uuid(),
    )


async def _agent(call: Call, account: Account, kind: SessionKind) -> Arrival:
    body = await call.body()
    key = await call.text("actor_key", required=True)
    agent = await call.hosting.sessions.agent(account, key or "")
    instance = (await call.text("agent_instance_id") or "").strip()
    worker_id = wire.worker_id(instance)
    return Arrival(
        token=_token(body, call, durable=worker_id is not None),
        agent_key=agent.key,
        instance_id=instance or call.hosting.ids.uuid(),
        display_name=await _name(call) or agent.display_name,
        owner_label=agent.owner_label,
        ide_label=await call.text("ide_label") or "Agent",
        runtime=(await call.text("runtime") or "unknown").lower(),
        kind=kind,
        worker_id=worker_id,
        repo_branch=await call.text("repo_branch"),
        predecessor=_predecessor(body),
        insists=body.get("insists") is True,
        host=wire.host(body.get("registration_liveness"), "registration_liveness"),
        account=account.account_id,
        base_name=await _text(call, "requested_base_display_name"),
        process_host=wire.process_host(body.get(wire.PROCESS_HOST)),
        makes_its_secret=worker_id is not None or wire.proposed(body) is not None,
    )


async def _text(call: Call, name: str) -> str | None:
    return (await call.text(name) or "").strip() or None


async def _name(call: Call) -> str:
    asked = await call.text("display_name") or await call.text("requested_base_display_name")
    return (asked or "").strip()


def _token(body: dict[str, Any], call: Call, *, durable: bool) -> Token:
    given = body.get("connection_token")
    if durable != (given is not None) or (durable and not Token.fits(given)):
        raise Refused(400, "A durable worker requires a valid prepared connection credential.")
    if durable:
        return Token(str(given))
    return wire.proposed(body) or call.hosting.ids.token()


def _predecessor(body: dict[str, Any]) -> Predecessor | None:
    session_id = body.get("replace_agent_session_id")
    token = body.get("replace_agent_session_token")
    if (session_id is None) != (token is None):
        raise Refused(
            400,
            "replace_agent_session_id and replace_agent_session_token must be supplied together.",
            code="invalid_agent_session_replacement_proof",
        )
    return wire.predecessor(session_id, token)


async def disconnect(call: Call) -> Response:
    """End a session: its own, or any that an admin of the room names."""
    delivery = None
    if await call.shown() is None:
        ended = await _ended_by_an_admin(call)
    else:
        fence = await call.acting()
        if call.named("session_id") != str(fence.session_id):
            raise Refused(403, "Worker sessions can only disconnect themselves.")
        delivery = await _delivery(call, fence.session_id)
        ended = await call.hosting.rooms.disconnect(call.room_id, fence)
    tell(call, call.room_id, [ended.session_id])
    shown = {"room_id": str(call.room_id), "agent_session": wire.plain(ended)}
    kept = None
    if delivery is not None and ended.worker_id is None:
        kept = wire_deliveries.plain(delivery, ended)
    return answer(shown | {"delivery_session": kept})


async def _delivery(call: Call, session_id: SessionId) -> Delivery | None:
    held = call.hosting.deliveries
    return await held.of(call.room_id, session_id) if held is not None else None


async def _ended_by_an_admin(call: Call) -> Session:
    fence, named = await call.acting_or_person(), call.named("session_id")
    if not SessionId.fits(named):
        raise Refused(404, "Agent session not found")
    with told(_NO_SUCH_SESSION):
        return await call.administration.end(call.room_id, SessionId(named), fence)


_NO_SUCH_SESSION: Forms = {NoSuchSession: Form(404, text="Agent session not found")}
BUSY: Forms = {
    RoomsUnavailable: Form(503, text="Agent session registration is busy. Retry shortly.")
}

ROUTES = (
    ("POST", "/rooms/{room_id:path}/agent-sessions", register),
    ("POST", "/rooms/{room_id:path}/agent-sessions/{session_id}/disconnect", disconnect),
)
