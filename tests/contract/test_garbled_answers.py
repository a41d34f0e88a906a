"""Answers that are almost right: a client takes them, or says that they cannot be read.

Each answer of our server is garbled in each of its fields in turn.
"""

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import attrs
import httpx
import orjson
import pytest
from tests.contract.callers import World, world
from tests.contract.client_verbs import ABOUT, STREAMS, VERBS, Ends, Verb

from letagents.adapters.rooms.hosted.calls import Calls, client_of
from letagents.domain.errors import OutcomeUnknown, RoomsUnavailable
from letagents.domain.fencing import UNNUMBERED, Fence
from letagents.domain.ids import SessionId, Token
from letagents.wire.http import problems

pytestmark = pytest.mark.anyio

WRONG: tuple[object, ...] = (None, 7, "x", [], {}, [7])


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


async def answers_to(verb: Verb, served: World) -> list[tuple[int, Any]]:
    """Return what our server answers to all that a verb asks."""
    if verb.answer is not None:
        return [(200, verb.answer)]
    answers: list[httpx.Response] = []
    await verb.ready(served)
    served.http.event_hooks["response"] = [_keeping(answers)]
    await verb.act(calling(served.http, served.callers["worker"].token, served))
    return [(one.status_code, one.json()) for one in answers]


@attrs.define
class Replay:
    """A server that says what ours said, but for one answer."""

    answers: list[tuple[int, Any]]
    other: int = -1
    said: Any = None
    _asked: int = 0

    def __call__(self, _request: httpx.Request) -> httpx.Response:
        """Answer one request; the last answer goes on."""
        number = min(self._asked, len(self.answers) - 1)
        self._asked += 1
        status, document = self.answers[number]
        return httpx.Response(
            status, content=orjson.dumps(self.said if number == self.other else document)
        )


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(VERBS) - STREAMS))
async def test_an_answer_that_is_almost_right_is_read_or_is_none(served: World, name: str) -> None:
    verb = VERBS[name]
    answers = await answers_to(verb, served)
    token = served.callers["worker"].token
    for number, (_, document) in enumerate(answers):
        for one in garbled(document):
            replay = httpx.MockTransport(Replay(answers, number, one))
            async with client_of("http://rooms.test", replay) as http:
                with suppress(OutcomeUnknown, RoomsUnavailable):
                    await verb.act(calling(http, token, served))


@pytest.mark.long
@pytest.mark.parametrize("name", ABOUT)
async def test_an_answer_about_something_else_is_none(served: World, name: str) -> None:
    verb = VERBS[name]
    answers = await answers_to(verb, served)
    token = served.callers["worker"].token
    *_, (_, document) = answers
    path = tuple(ABOUT[name].split())
    said = _inner(document, path)[path[-1]]
    other = f"{said[:-1]}{'2' if said[-1] != '2' else '3'}"
    replay = Replay(answers, len(answers) - 1, _with(document, path, other))
    async with client_of("http://rooms.test", httpx.MockTransport(replay)) as http:
        with pytest.raises(OutcomeUnknown if verb.changes else RoomsUnavailable):
            await verb.act(calling(http, token, served))


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
