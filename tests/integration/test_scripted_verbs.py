"""Every verb of the clients, over a real connection to a server that does what ours never does."""

from collections.abc import AsyncIterator, Iterator

import anyio
import httpx
import pytest
from tests.contract.callers import World, world
from tests.contract.client_verbs import NEVER_FAILS, STREAMS, VERBS, Ends, Verb
from tests.contract.test_client_verbs import ACCOUNT, FENCE, NAMED, expected
from tests.contract.test_garbled_answers import answers_to
from tests.integration.scripted_server import TRUST, Play, Script, answering, playing, saying
from tests.integration.test_scripted_server import GARBAGE, LARGEST

from letagents.adapters.rooms.hosted.calls import Calls, client_of
from letagents.domain.errors import LetAgentsError

pytestmark = [pytest.mark.anyio, pytest.mark.long]


@pytest.fixture
async def served() -> AsyncIterator[World]:
    async with world() as made:
        yield made


async def told(verb: Verb, *plays: Play) -> tuple[object, Script]:
    """Return what a verb tells of a server that plays its parts, and the server."""
    async with (
        playing(*plays) as script,
        client_of(script.url, httpx.AsyncHTTPTransport(verify=TRUST)) as http,
    ):
        http.timeout = httpx.Timeout(0.3)
        end = Ends(Calls(http, lambda: ACCOUNT, beyond=0.3, largest=LARGEST), FENCE, NAMED)
        with anyio.fail_after(90):  # a wait is waited for half a minute longer
            try:
                return await verb.act(end), script
            except LetAgentsError as error:
                return error, script


@pytest.mark.parametrize("name", VERBS)
async def test_no_verb_takes_garbage_for_an_answer(name: str) -> None:
    verb = VERBS[name]
    before = [saying(answering(one, 201)) for one in verb.first]
    wrong = []
    for what, play in GARBAGE.items():
        found, script = await told(verb, *before, play)
        is_fine = name in NEVER_FAILS or what == "wrong fields" or not (verb.reads or found)
        if type(found) not in expected(verb) and not is_fine:
            wrong.append((what, found))
        if len(script.asked) > len(before) + 1:
            wrong.append((what, [one.line for one in script.asked]))

    assert wrong == []


@pytest.mark.parametrize("name", sorted(set(VERBS) - STREAMS - NEVER_FAILS))
async def test_an_answer_of_any_verb_may_die_at_any_byte(served: World, name: str) -> None:
    verb = VERBS[name]
    answers = await answers_to(verb, served)
    *before, (status, document) = answers
    plays = [saying(answering(one, done)) for done, one in before]
    wrong = []
    whole = answering(document, status)
    for count in cuts(whole):
        found, script = await told(verb, *plays, saying(whole[:count]))
        if type(found) not in expected(verb) or len(script.asked) != len(answers):
            wrong.append((whole[:count], found))

    assert wrong == []


def cuts(whole: bytes) -> Iterator[int]:
    """Yield where an answer is cut off: all over its head, at its end, and here and there."""
    head = len(whole) - len(whole.partition(b"\r\n\r\n")[2])
    yield from range(0, head + 3, 3)
    yield from range(head + 3, len(whole) - 3, max(1, (len(whole) - head) // 25))
    yield from range(len(whole) - 3, len(whole))
