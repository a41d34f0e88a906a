"""Answers that are almost right: a client takes them, or says that they cannot be read.

Each answer of our server is garbled in each of its fields in turn.
"""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import attrs
import httpx
import orjson
import pytest
from tests.contract.callers import World, world

from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.governance import HostedGovernance
from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
from letagents.adapters.rooms.hosted.paths import HostedPaths
from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.server import HostedServer
from letagents.adapters.rooms.hosted.wakes import HostedWakes
from letagents.domain import board, path_claims, room_events, search, wake_rules
from letagents.domain.errors import OutcomeUnknown, RoomsUnavailable
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.governance import ManagerMode
from letagents.domain.ids import ClientKey, MessageId, RoomId, SessionId, Token
from letagents.domain.knowledge import Section
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.path_patterns import Pattern
from letagents.domain.tasks import Patch, Proposal
from letagents.testing.determinism import ManualClock
from letagents.wire.http import problems

pytestmark = pytest.mark.anyio

ROOM = RoomId("shed")
ID = MessageId(1)
CLAIM = path_claims.Wanted(task_id="task_1", patterns=(Pattern("a"),), repository="github.com/o/r")
WRONG: tuple[object, ...] = (None, 7, "x", [], {}, [7])


@attrs.frozen
class Ends:
    """All that a client can ask of a server, as the session `fence`."""

    calls: Calls
    fence: Fence
    named: dict[str, str]

    def of(self, kind: Callable[[Calls], Any]) -> Any:
        """Return one of the ends."""
        return kind(self.calls)


Act = Callable[[Ends], Awaitable[object]]

ACTS: dict[str, Act] = {
    "create": lambda end: end.of(HostedRooms).create(),
    "join": lambda end: end.of(HostedRooms).join(ROOM),
    "known": lambda end: end.of(HostedRooms).known(),
    "post": lambda end: end.of(HostedRooms).post(ROOM, Draft("hi", ClientKey("k")), end.fence),
    "read": lambda end: end.of(HostedRooms).read(ROOM, Latest(10), end.fence),
    "wait": lambda end: end.of(HostedRooms).wait(ROOM, After(None), timeout=timedelta(0)),
    "message": lambda end: end.of(HostedRooms).message(ROOM, ID),
    "search": lambda end: end.of(HostedRooms).search(ROOM, search.asked("hello")),
    "whoami": lambda end: end.of(HostedServer).whoami(),
    "tasks": lambda end: end.of(HostedBoard).tasks(ROOM, board.Query()),
    "task": lambda end: end.of(HostedBoard).task(ROOM, "task_1"),
    "history": lambda end: end.of(HostedBoard).history(ROOM, "task_1"),
    "propose": lambda end: end.of(HostedBoard).propose(ROOM, Proposal(title="x"), end.fence),
    "change": lambda end: end.of(HostedBoard).change(
        ROOM, "task_1", Patch(pr_url="https://x/1"), end.fence
    ),
    "lock": lambda end: end.of(HostedBoard).lock(ROOM, "task_1", fence=end.fence),
    "release": lambda end: end.of(HostedBoard).lease_action(
        ROOM, "task_1", board.Release(), end.fence
    ),
    "governed": lambda end: end.of(HostedGovernance).governed(ROOM),
    "candidates": lambda end: end.of(HostedGovernance).candidates(ROOM),
    "set mode": lambda end: end.of(HostedGovernance).set_mode(
        ROOM, ManagerMode.OFF, fence=end.fence
    ),
    "manage": lambda end: end.of(HostedGovernance).assign_manager(
        ROOM, end.fence.session_id, fence=end.fence
    ),
    "intents": lambda end: end.of(HostedGovernance).intents(ROOM),
    "intent": lambda end: end.of(HostedGovernance).intent(ROOM, end.named["intent_id"]),
    "approve": lambda end: end.of(HostedGovernance).approve(ROOM, end.named["intent_id"]),
    "claim paths": lambda end: end.of(HostedPaths).claim(ROOM, CLAIM, end.fence),
    "path claims": lambda end: end.of(HostedPaths).claims(ROOM, path_claims.Query()),
    "records": lambda end: end.of(HostedKnowledge).records(ROOM, Section.MEMORY),
    "requests": lambda end: end.of(HostedKnowledge).records(ROOM, Section.ATTENTION),
    "versions": lambda end: end.of(HostedKnowledge).history(ROOM, "just_a_fact"),
    "answer": lambda end: end.of(HostedKnowledge).answer(ROOM, "just_a_wish", "Yes."),
    "guidelines": lambda end: end.of(HostedGuidelines).in_force(ROOM),
    "set guidelines": lambda end: end.of(HostedGuidelines).set(ROOM, "Write tests."),
    "artifacts": lambda end: end.of(HostedArtifacts).artifacts(ROOM),
    "events": lambda end: end.of(HostedArtifacts).events(ROOM, room_events.Wanted()),
    "wake": lambda end: end.of(HostedWakes).add(
        ROOM, wake_rules.Asked.of("timer", {"after_ms": 60_000}), end.fence
    ),
    "wake rules": lambda end: end.of(HostedWakes).rules(ROOM),
    "traces": lambda end: HostedReasonings(end.calls, ManualClock()).traces(ROOM),
    "trace": lambda end: HostedReasonings(end.calls, ManualClock()).trace(
        ROOM, end.named["reasoning_id"]
    ),
    "states": lambda end: HostedReasonings(end.calls, ManualClock()).updates(
        ROOM, end.named["reasoning_id"]
    ),
}


@pytest.fixture
async def served() -> AsyncIterator[World]:
    async with world() as made:
        yield made


def garbled(document: Any) -> Iterator[Any]:
    """Yield the document with one thing in it wrong or gone."""
    for path in list(_paths(document)):
        for wrong in WRONG:
            yield _with(document, path, wrong)
        yield _without(document, path)


def _paths(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    named = document.items() if isinstance(document, dict) else enumerate(document)
    for name, value in named if isinstance(document, dict | list) else ():
        yield (*at, name)
        if isinstance(value, dict | list):
            yield from _paths(value, (*at, name))


def _with(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    _inner(changed, path)[path[-1]] = value
    return changed


def _without(document: Any, path: tuple[Any, ...]) -> Any:
    changed = copy.deepcopy(document)
    del _inner(changed, path)[path[-1]]
    return changed


def _inner(document: Any, path: tuple[Any, ...]) -> Any:
    for name in path[:-1]:
        document = document[name]
    return document


def calling(http: httpx.AsyncClient, token: str | None, served: World) -> Ends:
    own = served.callers["worker"]
    fence = Fence(SessionId(own.session_id or ""), UNNUMBERED, Token(own.secret or ""))
    return Ends(Calls(http, lambda: token), fence, served.named)


@pytest.mark.long
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_an_answer_that_is_almost_right_is_read_or_is_none(served: World, act: Act) -> None:
    answers: list[httpx.Response] = []
    served.http.event_hooks["response"] = [_keeping(answers)]
    token = served.callers["worker"].token
    await act(calling(served.http, token, served))
    document = answers[-1].json()
    said = {"content": b""}

    def says(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(answers[-1].status_code, content=said["content"])

    async with httpx.AsyncClient(
        transport=httpx.MockTransport(says), base_url="http://rooms.test"
    ) as http:
        end = calling(http, token, served)
        for one in garbled(document):
            said["content"] = orjson.dumps(one)
            with suppress(OutcomeUnknown, RoomsUnavailable):
                await act(end)


def _keeping(answers: list[httpx.Response]) -> Callable[[httpx.Response], Awaitable[None]]:
    async def keep(response: httpx.Response) -> None:
        await response.aread()
        answers.append(response)

    return keep


GARBLED = ("errors.Malformed", "errors.SessionEnded", "errors.SignInFirst")


def test_a_problem_that_is_almost_right_is_an_error_of_ours_or_none() -> None:
    for kind in sorted(map(str, problems.kinds())):
        whole = {
            "kind": kind,
            "code": "malformed",
            "happened": "It happened.",
            "remedy": "Do it again.",
            "about": ["worker", "shed", "why", "session"],
        }
        for one in garbled(whole) if kind in GARBLED else [whole]:
            told = problems.error({"error": "x", "problem": one})

            assert told is None or (told.happened and str(told))
