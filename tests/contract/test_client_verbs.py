"""What a server may answer, to every verb of its clients: what happened is told as it is.

What changes something is unknown without an answer that can be read, what only asks is unavailable;
nothing is sent twice, nobody is followed to another place, and no secret gets into an error.
"""

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import httpx
import orjson
import pytest
from tests.contract.client_verbs import (
    HELD_OPEN,
    NEVER_FAILS,
    PLAYS,
    SECRET,
    VERBS,
    Ends,
    Verb,
    clients,
    verbs_of,
)

from letagents.adapters.rooms.hosted.calls import Calls, NoStream, client_of
from letagents.domain.errors import LetAgentsError, OutcomeUnknown, Retry, RoomsUnavailable
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import SessionId, Token

pytestmark = pytest.mark.anyio

ACCOUNT = "a" * 64
FENCE = Fence(SessionId("agent_session_7"), UNNUMBERED, Token(SECRET))
LARGEST = 10_000
NAMED = dict.fromkeys(
    ("task_id", "lock_id", "key", "intent_id", "record_id", "attention_id", "reasoning_id"), "x_1"
) | {"rule_id": "x_1", "message_id": "msg_1"}

Says = Callable[[httpx.Request], httpx.Response]


def test_the_table_has_every_verb_of_every_client_and_no_other() -> None:
    found = set(clients()) - HELD_OPEN
    verbs = {f"{kind.__name__}.{name}" for kind in found for name in verbs_of(kind)}

    assert found == set(PLAYS)
    assert verbs == set(VERBS)


def test_every_client_has_the_verbs_of_what_it_plays() -> None:
    lacking = {
        (kind.__name__, name)
        for kind, ports in PLAYS.items()
        for name in set[str]().union(*map(verbs_of, ports)) - verbs_of(kind)
    }

    assert lacking == set()


@attrs.define
class Heard:
    """What came of asking a verb: how often the server was asked, and what was told."""

    asked: int
    told: object
    is_error: bool

    @property
    def words(self) -> str:
        return f"{self.told!r} {self.told}" if self.is_error else ""


async def heard(verb: Verb, says: Says) -> Heard:
    """Ask a verb of a server that says the same to whatever is the verb's own matter."""
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        number = len(requests)
        return says(request) if number > len(verb.first) else of(201, verb.first[number - 1])

    transport = httpx.MockTransport(answer)
    async with client_of("http://rooms.test", transport) as http:
        end = Ends(Calls(http, lambda: ACCOUNT, beyond=1, largest=LARGEST), FENCE, NAMED)
        try:
            told: object = await verb.act(end)
        except LetAgentsError as error:
            return Heard(len(requests), error, is_error=True)
    return Heard(len(requests), told, is_error=False)


def of(status: int, document: Any, headers: Mapping[str, str] | None = None) -> httpx.Response:
    body = document if isinstance(document, bytes) else orjson.dumps(document)
    kind = {"Content-Type": "application/json"}
    return httpx.Response(status, content=body, headers={**kind, **(headers or {})})


BREAKS: dict[str, httpx.TransportError] = {
    "lost": httpx.RemoteProtocolError("Server disconnected without sending a response."),
    "held": httpx.ReadTimeout("timed out"),
    "cut": httpx.ReadError("connection reset"),
    "not all sent": httpx.WriteError("broken pipe"),
}
NOT_SENT: dict[str, httpx.TransportError] = {
    "no server": httpx.ConnectError("refused"),
    "no way there": httpx.ConnectTimeout("timed out"),
}
UNREADABLE: dict[str, Any] = {
    "nothing": b"",
    "a page": b"<html>Sign in to the network</html>",
    "broken UTF-8": b'{"id":"\xff"}',
    "a list": [],
    "null": None,
    "a number": 7,
    "a text": "ok",
    "too much": b'{"id":"' + b"x" * LARGEST + b'"}',
    "too deep": b"[" * 5000,
}
STATUSES = (400, 401, 403, 404, 405, 409, 410, 413, 418, 422, 429, 500, 502, 503, 504, 508)
TELLS_ABSENCE = {("HostedRooms.message", 404), ("HostedRooms.message", 405)}
"""What brings nothing where nothing is."""
REDIRECTS = (301, 302, 303, 307, 308)


def raising(error: Exception) -> Says:
    def says(_request: httpx.Request) -> httpx.Response:
        raise error

    return says


def saying(status: int, document: Any, headers: Mapping[str, str] | None = None) -> Says:
    def says(_request: httpx.Request) -> httpx.Response:
        return of(status, document, headers)

    return says


def echoing(status: int) -> Says:
    """Return what says back all that it was shown."""

    def says(request: httpx.Request) -> httpx.Response:
        shown = f"no: {request.headers} {request.content.decode()}"
        return of(status, {"error": shown, "code": shown[:200]})

    return says


def expected(verb: Verb) -> tuple[type[LetAgentsError], ...]:
    """Return what a verb tells without an answer that can be read."""
    return (OutcomeUnknown,) if verb.changes else (RoomsUnavailable, NoStream)


def faults(name: str, found: Heard, kinds: tuple[type[LetAgentsError], ...]) -> list[str]:
    """Return what is wrong with what came of a verb."""
    wrong = []
    if name not in NEVER_FAILS and type(found.told) not in kinds:
        wrong.append(f"{name}: {found.told!r}")
    if found.asked != len(VERBS[name].first) + 1:
        wrong.append(f"{name} asked {found.asked} times")
    if ACCOUNT in found.words or SECRET in found.words:
        wrong.append(f"{name} shows a secret")
    return wrong


async def test_what_is_sent_and_not_confirmed_is_unknown_and_what_is_only_asked_unavailable() -> (
    None
):
    wrong = []
    for name, verb in VERBS.items():
        for error in BREAKS.values():
            found = await heard(verb, raising(error))
            wrong += faults(name, found, expected(verb))
            if isinstance(found.told, OutcomeUnknown):
                assert found.told.retry is Retry.AFTER_READING
        for error in NOT_SENT.values():
            wrong += faults(name, await heard(verb, raising(error)), (RoomsUnavailable,))

    assert wrong == []


async def test_an_answer_that_cannot_be_read_is_none() -> None:
    wrong = []
    for name, verb in VERBS.items():
        for body in UNREADABLE.values():
            found = await heard(verb, saying(200, body))
            if verb.reads or found.is_error:
                wrong += faults(name, found, expected(verb))

    assert wrong == []


async def test_nobody_is_followed_to_another_place() -> None:
    wrong = []
    for name, verb in VERBS.items():
        for status in REDIRECTS:
            found = await heard(verb, saying(status, {}, {"Location": "https://elsewhere.test/"}))
            kinds = expected(verb) if status == 303 else (RoomsUnavailable, NoStream)
            wrong += faults(name, found, kinds)

    assert wrong == []


async def test_a_refusal_says_that_nothing_happened_unless_that_cannot_be_known() -> None:
    wrong = []
    for name, verb in VERBS.items():
        for status in STATUSES:
            found = await heard(verb, echoing(status))
            is_untold = verb.changes and status >= 500 and status != 503
            if is_untold is not isinstance(found.told, OutcomeUnknown):
                wrong.append(f"{name} {status}: {found.told!r}")
            if not (found.is_error or name in NEVER_FAILS or (name, status) in TELLS_ABSENCE):
                wrong.append(f"{name} {status} succeeds: {found.told!r}")
            if ACCOUNT in found.words or SECRET in found.words:
                wrong.append(f"{name} {status} shows a secret")

    assert wrong == []
