"""The memory of rooms on servers that know nothing of our own additions, or lack it."""

import pytest
from tests.integration.test_hosted_board import FENCE, MOMENTS, ROOM, Plain, Server

from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.wakes import HostedWakes
from letagents.domain.artifacts import artifact
from letagents.domain.errors import (
    LetAgentsError,
    Malformed,
    NotAvailable,
    OutcomeUnknown,
    RoomsUnavailable,
    UnknownRoom,
)
from letagents.domain.knowledge import Section, entry
from letagents.domain.reasoning import UnknownReasoning, trace
from letagents.domain.records import UnknownRecord, cursor
from letagents.domain.room_events import wanted
from letagents.domain.search import asked
from letagents.domain.wake_rules import Asked, UnknownWakeRule
from letagents.testing.determinism import ManualClock
from letagents.wire.http.credentials import SESSION_ID, SESSION_TOKEN

AUTHOR: Plain = {"id": "grace/ada", "label": "Ada", "kind": "agent"}
SAID = entry(Section.MEMORY, category="decision", title="We use tabs", body="All of us.")
PULL = artifact({"provider": "github", "kind": "pull_request", "number": 7})
TIMER = Asked.of("timer", {"after_ms": 60_000})
TRACE: Plain = {
    "id": "rs_" + "0f" * 16,
    "room_id": str(ROOM),
    "actor_label": "Ada",
    "agent_key": "grace/ada",
    "status": None,
    "summary": "one",
    "latest_payload": {"summary": "one"},
    "closed_at": None,
    **MOMENTS,
}
UPDATE: Plain = {
    "id": "ru_" + "0f" * 16,
    "session_id": TRACE["id"],
    "actor_label": "Ada",
    "summary": "one",
    "payload": None,
    **MOMENTS,
}
POSTED: Plain = {"session": TRACE, "update": UPDATE}

pytestmark = pytest.mark.anyio


def a_record(name: str) -> Plain:
    """Return a record as another server gives it out."""
    return {
        "id": name,
        "type": "memory",
        "category": "decision",
        "title": "We use tabs",
        "body": "All of us.",
        "version": 1,
        "author": AUTHOR,
        "archived": False,
        "response": None,
        **MOMENTS,
    }


async def test_of_a_servers_only_page_each_record_is_read_once() -> None:
    names = ["record_3", "record_2", "record_1"]
    page = {"records": [a_record(name) for name in names], "truncated": True}
    server = Server({"GET /memory": (200, page)})
    async with server.calls() as calls:
        knowledge = HostedKnowledge(calls)
        first = await knowledge.records(ROOM, Section.MEMORY, viewer=FENCE)
        rest = await knowledge.records(
            ROOM, Section.MEMORY, after=cursor(first.records[1]), viewer=FENCE
        )
        end = await knowledge.records(
            ROOM, Section.MEMORY, after=cursor(rest.records[-1]), viewer=FENCE
        )

    assert [one.record_id for one in first.records] == names
    assert first.more
    assert [one.record_id for one in rest.records] == ["record_1"]
    assert (end.records, end.more) == ((), False)


async def test_a_fact_is_asked_for_as_the_interface_has_it() -> None:
    server = Server({"POST /memory": (201, {"record": a_record("tabs_or_spaces")})})
    async with server.calls() as calls:
        made = await HostedKnowledge(calls).add(ROOM, Section.MEMORY, "tabs_or_spaces", SAID, FENCE)

    [(_, body, _)] = server.sent
    assert made.author.id == "grace/ada"
    assert body == {
        "client_id": "tabs_or_spaces",
        "category": "decision",
        "title": "We use tabs",
        "body": "All of us.",
        "recommendation": None,
        "unblocks": None,
        "source_url": None,
        "source_message_id": None,
        "agent_session_id": "agent_session_7",
        "agent_session_token": "t" * 43,
    }


async def test_a_session_goes_on_with_the_trace_that_it_opened_on_another_server() -> None:
    at = f"POST /reasoning-sessions/{TRACE['id']}/updates"
    server = Server({"POST /reasoning-sessions": (201, POSTED), at: (201, POSTED)})
    async with server.calls() as calls:
        reasonings = HostedReasonings(calls, ManualClock())
        await reasonings.post(ROOM, trace({"summary": "one"}), FENCE)
        await reasonings.post(ROOM, trace({"summary": "two"}), FENCE)
        del server.answers[at]
        await reasonings.post(ROOM, trace({"summary": "three"}), FENCE)

    called = [one for one, _, _ in server.sent]
    assert called == ["POST /reasoning-sessions", at, at, "POST /reasoning-sessions"]
    assert server.sent[1][1]["summary"] == "two"


async def test_what_a_server_lists_of_others_is_left_out() -> None:
    closed = TRACE | {"id": "rs_closed", "closed_at": MOMENTS["created_at"]}
    others = TRACE | {"id": "rs_others", "agent_key": "bob/elm"}
    listed = {"sessions": [TRACE, closed, others]}
    server = Server({"GET /reasoning-sessions": (200, listed)})
    async with server.calls() as calls:
        reasonings = HostedReasonings(calls, ManualClock())
        mine = await reasonings.traces(ROOM, agent_key="grace/ada")
        over = await reasonings.traces(ROOM, is_open=False)

    assert [one.reasoning_id for one in mine] == [TRACE["id"]]
    assert [one.reasoning_id for one in over] == ["rs_closed"]


async def test_who_looks_is_shown_in_the_headers_of_each_read() -> None:
    server = Server({})
    async with server.calls() as calls:
        reasonings = HostedReasonings(calls, ManualClock())
        for called in (
            HostedKnowledge(calls).records(ROOM, Section.ATTENTION, viewer=FENCE),
            HostedKnowledge(calls).history(ROOM, "tabs_or_spaces", viewer=FENCE),
            HostedGuidelines(calls).in_force(ROOM, FENCE),
            HostedArtifacts(calls).artifacts(ROOM, viewer=FENCE),
            HostedArtifacts(calls).events(ROOM, wanted({}), FENCE),
            reasonings.traces(ROOM, viewer=FENCE),
            reasonings.trace(ROOM, "rs_0", FENCE),
            reasonings.updates(ROOM, "rs_0", viewer=FENCE),
            HostedWakes(calls).rules(ROOM, viewer=FENCE),
            HostedRooms(calls).search(ROOM, asked("lexer"), FENCE),
        ):
            await refusal(called)

    assert len(server.sent) == 10
    for called_path, body, headers in server.sent:
        assert headers[SESSION_ID] == "agent_session_7", called_path
        assert headers[SESSION_TOKEN] == "t" * 43
        assert body == {}


def everything(calls: Calls) -> list[object]:
    """Return a call of each part of a room's memory."""
    return [
        HostedKnowledge(calls).records(ROOM, Section.MEMORY),
        HostedKnowledge(calls).add(ROOM, Section.MEMORY, "tabs_or_spaces", SAID, FENCE),
        HostedGuidelines(calls).in_force(ROOM),
        HostedGuidelines(calls).set(ROOM, "Write tests."),
        HostedArtifacts(calls).artifacts(ROOM),
        HostedArtifacts(calls).publish(ROOM, PULL, (), FENCE),
        HostedArtifacts(calls).events(ROOM, wanted({})),
        HostedReasonings(calls, ManualClock()).post(ROOM, trace({"summary": "x"}), FENCE),
        HostedReasonings(calls, ManualClock()).traces(ROOM),
        HostedWakes(calls).add(ROOM, TIMER, FENCE),
        HostedWakes(calls).rules(ROOM),
        HostedRooms(calls).search(ROOM, asked("lexer")),
    ]


async def refusal(called: object) -> LetAgentsError:
    """Return what a call is refused with."""
    with pytest.raises(LetAgentsError) as refused:
        await called  # type: ignore[misc]
    return refused.value


async def test_what_a_server_lacks_is_said_to_be_lacking() -> None:
    async with Server({}).calls() as calls:
        for called in everything(calls):
            assert isinstance(await refusal(called), NotAvailable)


async def test_what_is_not_there_is_not_taken_for_a_room_that_is_not_there() -> None:
    async with Server({}).calls() as calls:
        knowledge = HostedKnowledge(calls)
        reasonings = HostedReasonings(calls, ManualClock())
        for called, kind in (
            (knowledge.history(ROOM, "tabs_or_spaces"), UnknownRecord),
            (knowledge.answer(ROOM, "tabs_or_spaces", "Yes."), UnknownRecord),
            (knowledge.archive(ROOM, "tabs_or_spaces", version=1), UnknownRecord),
            (reasonings.updates(ROOM, "rs_0"), UnknownReasoning),
            (reasonings.close(ROOM, "rs_0", FENCE), UnknownReasoning),
            (HostedWakes(calls).cancel(ROOM, "wake_0", FENCE), UnknownWakeRule),
        ):
            assert type(await refusal(called)) is kind


async def test_a_room_that_is_not_there_is_said_not_to_be_there() -> None:
    gone = (404, {"error": "Room not found", "code": "ROOM_NOT_FOUND"})
    server = Server({})
    server.answers = _Always(gone)
    async with server.calls() as calls:
        for called in everything(calls):
            assert type(await refusal(called)) is UnknownRoom


async def test_an_answer_that_cannot_be_read_is_no_refusal() -> None:
    server = Server({})
    server.answers = _Always((200, b'{"records": 7'))
    async with server.calls() as calls:
        for called in everything(calls):
            assert isinstance(await refusal(called), RoomsUnavailable | OutcomeUnknown)
    unreadable = {"records": [a_record("record_1") | {"version": "one"}]}
    async with Server({"GET /memory": (200, unreadable)}).calls() as calls:
        refused = await refusal(HostedKnowledge(calls).records(ROOM, Section.MEMORY))

    assert isinstance(refused, RoomsUnavailable)
    assert "version" in str(refused)


async def test_another_servers_refusal_is_told_by_its_status() -> None:
    server = Server({"POST /memory": (400, {"error": "title is too long"})})
    async with server.calls() as calls:
        refused = await refusal(
            HostedKnowledge(calls).add(ROOM, Section.MEMORY, "tabs_or_spaces", SAID, FENCE)
        )

    assert isinstance(refused, Malformed)
    assert "title is too long" in str(refused)


class _Always(dict[str, tuple[int, object]]):
    """Answers everything alike."""

    def __init__(self, answer: tuple[int, object]) -> None:
        super().__init__()
        self._answer = answer

    def get(self, _called: str, _default: object = None) -> tuple[int, object]:
        return self._answer
