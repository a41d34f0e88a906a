"""Who is in a room, and what they say they do. (Source: hosted-api 3.3, 3.7.)"""

from starlette.responses import Response

from letagents.domain import whereabouts
from letagents.domain.errors import NotAvailable
from letagents.domain.ids import MessageId
from letagents.domain.sessions import SessionKind
from letagents.domain.whereabouts import LIMIT, MOST
from letagents.entrypoints.server.answers import answer
from letagents.entrypoints.server.calls import Call
from letagents.ports.whereabouts import Roster
from letagents.wire.http import sessions
from letagents.wire.http import whereabouts as wire

PARTICIPANTS = 100


def _roster(call: Call) -> Roster:
    if call.hosting.roster is None:
        raise NotAvailable(
            "The rooms of this server do not tell who is in them.", remedy="Ask in the room."
        )
    return call.hosting.roster


async def note(call: Call) -> Response:
    """Keep what the caller's agent says it does."""
    fence, body = await call.acting(), await call.body()
    field = "liveness_observation"
    host = sessions.host(body[field], field) if body.get(field) is not None else None
    said = whereabouts.said(body.get("status"), body.get("status_text"), host)
    return answer(wire.plain(await _roster(call).note(call.room_id, said, fence)))


async def observe(call: Call) -> Response:
    """Keep that the caller's agent was shown some messages."""
    fence = await call.acting()
    first, last = [await _message(call, name) for name in ("first_message_id", "last_message_id")]
    is_news = await _roster(call).observed(call.room_id, first, last, fence)
    return answer(
        {
            "room_id": str(call.room_id),
            "first_message_id": str(first),
            "last_message_id": str(last),
            "recorded": is_news,
        }
    )


async def _message(call: Call, name: str) -> MessageId:
    return MessageId.parse((await call.text(name, required=True) or "").strip(), name)


async def present(call: Call) -> Response:
    """Show what the workers in the room say they do."""
    viewer = await call.looking()
    found = await _roster(call).present(call.room_id, limit=MOST, viewer=viewer)
    workers = [one for one in found if one.session.kind is SessionKind.WORKER]
    shown = [wire.plain(one) for one in workers[: call.limited(LIMIT, MOST)]]
    return answer({"room_id": str(call.room_id), "presence": shown})


async def participants(call: Call) -> Response:
    """Show the agents and the people in the room, each once."""
    viewer = await call.looking()
    found = await _roster(call).present(call.room_id, limit=MOST, viewer=viewer)
    shown = {}
    for one in found:
        participant = wire.plain_participant(one, call.room_id)
        shown[participant["participant_key"]] = participant
    listed = list(shown.values())[: call.limited(PARTICIPANTS, MOST)]
    return answer({"room_id": str(call.room_id), "participants": listed, "hidden_count": 0})


_PRESENCE = "/rooms/{room_id:path}/presence"

ROUTES = (
    ("GET", _PRESENCE, present),
    ("GET", f"/api{_PRESENCE}", present),
    ("POST", _PRESENCE, note),
    ("PUT", "/rooms/{room_id:path}/agents/self/observation", observe),
    ("GET", "/rooms/{room_id:path}/participants", participants),
)
