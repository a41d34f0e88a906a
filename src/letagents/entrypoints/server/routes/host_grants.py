"""What a supervisor asks for with a host grant. (Source: supervisor 6.8.)"""

from starlette.responses import Response

from letagents.domain import accounts, host_grants
from letagents.domain.accounts import Account
from letagents.domain.governance import NoSuchSession
from letagents.domain.host_grants import Given, GrantRefused
from letagents.domain.ids import RoomId, SessionId
from letagents.domain.rooms import canonical
from letagents.domain.sessions import Arrival, Session
from letagents.entrypoints.server.answers import Refused, answer, told
from letagents.entrypoints.server.calls import Call, bearer
from letagents.entrypoints.server.routes import sessions
from letagents.wire import moments
from letagents.wire.http import sessions as wire
from letagents.wire.http import worker_bearers
from letagents.wire.http.problems import Form, Forms

_GENERATION = "x-letagents-supervisor-generation"


async def open_session(call: Call) -> Response:
    """Let an agent be in a room, and give the bearer that shows it there."""
    given, account = await _used(call)
    if str(host_grants.GENERATION) != call.request.headers.get(_GENERATION, "").strip():
        raise Refused(409, "Supervisor grant generation is stale.")
    if not call.hosting.takes_bearers:
        raise Refused(403, "Worker bearers are not enabled on this server.")
    room_id = canonical(await _required(call, "room_id"))
    arrival = await _arriving(call, given, account)
    await call.hosting.entrances.admit(account, room_id, call.address)
    with told(sessions.BUSY):
        made = await call.hosting.rooms.connect(
            await call.hosting.entrances.meant(room_id), arrival
        )
    sessions.tell(call, made.session.room_id, made.displaced)
    shown = {
        "worker_bearer": worker_bearers.spelled(made.fence, made.session.room_id),
        "worker_bearer_id": str(made.session.session_id),
        "worker_bearer_expires_at": moments.to_text(given.expires_at),
    }
    return answer(wire.plain(made.session) | shown, 201)


async def _arriving(call: Call, given: Given, account: Account) -> Arrival:
    key = (await _required(call, "agent_key")).strip()
    with told(_FORBIDDEN):
        name = accounts.checked_name(host_grants.check_agent(given, key))
    display_name = await _required(call, "display_name")
    agent = await call.hosting.accounts.register_agent(account, name, display_name=display_name)
    return Arrival(
        token=wire.proposed(await call.body()) or call.hosting.ids.token(),
        agent_key=agent.key,
        instance_id=await _required(call, "agent_instance_id"),
        display_name=display_name,
        owner_label=agent.owner_label,
        ide_label=await _required(call, "ide_label"),
        runtime=(await _required(call, "runtime")).lower(),
        insists=True,
        host=host_grants.host_of(given.grant_id),
        account=account.account_id,
        base_name=display_name,
    )


async def end_session(call: Call) -> Response:
    """End a session that the grant opened. `room_id`, an addition of ours, says where it is."""
    given, account = await _used(call)
    session, named = None, call.named("session_id")
    if SessionId.fits(named):
        session = await _opened(call, given, account, SessionId(named))
    if session is None:
        raise Refused(404, "Agent session not found")
    room_id = session.room_id
    with told({NoSuchSession: Form(404, text="Agent session not found")}):
        ended = await call.administration.end(room_id, session.session_id)
    sessions.tell(call, room_id, [ended.session_id])
    return answer({"room_id": str(room_id), "agent_session": wire.plain(ended)})


async def _opened(
    call: Call, given: Given, account: Account, session_id: SessionId
) -> Session | None:
    """Return a session that the grant opened, in whichever room of its account's that is.

    Sessions are kept in their rooms: without a name of one each is looked into.
    """
    named = await call.text("room_id")
    entered = [RoomId(named)] if named else sorted(await call.hosting.accounts.entered(account))
    for room_id in entered:
        session = await call.hosting.session_of(room_id, session_id)
        if session is not None and host_grants.grant_of(session) == given.grant_id:
            return session
    return None


async def renew(call: Call) -> Response:
    """Let the grant last on, under the same secret: a lost answer can be asked for again."""
    given, _ = await _used(call)
    lasts = host_grants.lasting((await call.fields()).integer_or_none("ttl_ms"))
    digest = host_grants.digest_of(given.grant_id) or ""
    renewed = await call.hosting.accounts.prolong(digest, lasts)
    if renewed is None:
        raise Refused(401, "Supervisor grant required")
    return answer(
        {
            "grant_id": renewed.grant_id,
            "supervisor_grant": bearer(call.request),
            "current_generation": host_grants.GENERATION,
            "expires_at": moments.to_text(renewed.expires_at),
        }
    )


async def _used(call: Call) -> tuple[Given, Account]:
    """Return the grant that is shown, and whose it is. Raises Refused."""
    generation = (await call.body()).get("generation")
    shown = bearer(call.request)
    digest = accounts.digest(shown) if shown is not None else ""
    given = await call.hosting.accounts.grant(digest)
    account = await call.hosting.accounts.of_login(given.login) if given is not None else None
    if given is None or account is None:
        raise Refused(401, "Supervisor grant required")
    with told(_STALE if given.grant_id == call.named("grant_id") else _FORBIDDEN):
        host_grants.check_used(given, grant_id=call.named("grant_id"), generation=generation)
    return given, account


async def _required(call: Call, name: str) -> str:
    return await call.text(name, required=True) or ""


_FORBIDDEN: Forms = {GrantRefused: Form(403)}
_STALE: Forms = {GrantRefused: Form(409)}
_GRANT = "/supervisor-host-grants/{grant_id}"

ROUTES = (
    ("POST", f"{_GRANT}/worker-sessions", open_session),
    ("POST", f"{_GRANT}/worker-sessions/{{session_id}}/end", end_session),
    ("POST", f"{_GRANT}/renew", renew),
)
