"""Every verb of the clients of a room server, with something that each can be asked.

Whoever gives a client a verb adds it here: test_client_verbs.py holds the table to the clients.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from tests.contract.callers import World

from letagents.adapters.rooms import hosted
from letagents.adapters.rooms.hosted.artifacts import HostedArtifacts
from letagents.adapters.rooms.hosted.attachments import HostedAttachments
from letagents.adapters.rooms.hosted.attendance import HostedAttendance, HostedAttended
from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.focus_rooms import HostedFocusRooms
from letagents.adapters.rooms.hosted.governance import HostedGovernance
from letagents.adapters.rooms.hosted.guidelines import HostedGuidelines
from letagents.adapters.rooms.hosted.knowledge import HostedKnowledge
from letagents.adapters.rooms.hosted.paths import HostedPaths
from letagents.adapters.rooms.hosted.presence import HostedPresence
from letagents.adapters.rooms.hosted.reasoning import HostedReasonings
from letagents.adapters.rooms.hosted.receipts import HostedReceipts
from letagents.adapters.rooms.hosted.reports import HostedReports
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.hosted.server import HostedServer
from letagents.adapters.rooms.hosted.wakes import HostedWakes
from letagents.domain import board, focus_rooms, path_claims, room_events, search, wake_rules
from letagents.domain.activity import Report
from letagents.domain.attachments import File
from letagents.domain.fencing import Fence
from letagents.domain.governance import ManagerMode
from letagents.domain.guidelines import ReplyOrder
from letagents.domain.ids import ClientKey, MessageId, RoomId, Token, WorkerId
from letagents.domain.intents import Action
from letagents.domain.knowledge import Entry, Section
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.path_patterns import Pattern
from letagents.domain.reasoning import Subject, Trace
from letagents.domain.receipts import State
from letagents.domain.sessions import Arrival
from letagents.domain.tasks import Artifact, ArtifactKind, Patch, Proposal, Provider
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.domain.whereabouts import Said
from letagents.ports.activity import Reports
from letagents.ports.artifacts import Artifacts
from letagents.ports.attachments import Attachments
from letagents.ports.attendance import Attendance
from letagents.ports.board import Board
from letagents.ports.focus_rooms import FocusRooms
from letagents.ports.governance import Governance
from letagents.ports.guidelines import GuidelinesOf
from letagents.ports.knowledge import Knowledge
from letagents.ports.path_claims import PathClaims
from letagents.ports.reasoning import Reasonings
from letagents.ports.receipts import Receipts
from letagents.ports.rooms import RoomTransport
from letagents.ports.search import Search
from letagents.ports.server import Server
from letagents.ports.wakes import Wakes
from letagents.ports.whereabouts import Noticeboard
from letagents.testing.determinism import ManualClock

Plain = dict[str, Any]

PLAYS: Mapping[type, tuple[type, ...]] = {
    HostedArtifacts: (Artifacts,),
    HostedAttachments: (Attachments,),
    HostedAttendance: (Attendance,),
    HostedBoard: (Board,),
    HostedFocusRooms: (FocusRooms,),
    HostedGovernance: (Governance,),
    HostedGuidelines: (GuidelinesOf,),
    HostedKnowledge: (Knowledge,),
    HostedPaths: (PathClaims,),
    HostedPresence: (Noticeboard,),
    HostedReasonings: (Reasonings,),
    HostedReceipts: (Receipts,),
    HostedReports: (Reports,),
    HostedRooms: (RoomTransport, Search),
    HostedServer: (Server,),
    HostedWakes: (Wakes,),
}
"""The clients, and what each plays."""
HELD_OPEN = {HostedAttended}
"""What a verb returns, and no client by itself: its verb is called with that of the other."""

ROOM = RoomId("shed")
MESSAGE = MessageId(1)
WORKER = WorkerId(f"worker_{1:032x}")
SECRET = "s" * 43
ARRIVAL = Arrival(
    token=Token(SECRET),
    agent_key="ada/worker",
    instance_id=str(WORKER),
    display_name="Worker",
    owner_label="Ada",
    ide_label="Agent",
    runtime="unknown",
    worker_id=WORKER,
)
CLAIM = path_claims.Wanted(task_id="task_1", patterns=(Pattern("a"),), repository="github.com/o/r")
OF_A_TASK = Subject(task_id="task_1", named=frozenset({"task_id"}))
FILE = File(name="plan.txt", content=b"x")
FACT = Entry(category="decision", title="We use tabs", body="All of us.")
REPORT = Report(
    observed_at=datetime(2030, 1, 1, tzinfo=UTC),
    sequence=1,
    method="turn/started",
    status="working",
)
PULL_REQUEST = Artifact(provider=Provider.GITHUB, kind=ArtifactKind.PULL_REQUEST, number=7)
VERDICT = Verdict(kind=VerdictKind.COMMENT, head_sha="0" * 40, key="a key", body="Well done.")


@attrs.frozen
class Ends:
    """All that a client can ask of a server, as the session `fence`."""

    calls: Calls
    fence: Fence
    named: Mapping[str, str]

    def of(self, kind: Callable[[Calls], Any]) -> Any:
        """Return one of the clients."""
        return kind(self.calls)

    @property
    def reasonings(self) -> HostedReasonings:
        """That of traces, which knows the time."""
        return HostedReasonings(self.calls, ManualClock())

    @property
    def attendance(self) -> HostedAttendance:
        """That of process connections, with little patience."""
        return HostedAttendance(self.calls, self.calls, answer=0.5, silence=0.5)


async def nothing(_world: World) -> None:
    """Need nothing more than there is."""


@attrs.frozen
class Verb:
    """How a verb is asked, and what is known of it."""

    act: Callable[[Ends], Awaitable[object]]
    changes: bool = True
    """Whether it changes something, so that what became of it is unknown without an answer."""
    first: tuple[Plain, ...] = ()
    """What a server answers to what is asked before the last."""
    reads: bool = True
    """Whether something is made of the answer, so that it has to have a form."""
    ready: Callable[[World], Awaitable[None]] = nothing
    """What lets it succeed where the world of test_who_may_call.py does not."""
    answer: Plain | None = None
    """What is answered where that world's server has nothing of the kind."""


def asks(act: Callable[[Ends], Awaitable[object]], **more: Any) -> Verb:
    """Return a verb that changes nothing."""
    return Verb(act, changes=False, **more)


async def _attended(end: Ends) -> object:
    async with end.attendance.attend(ROOM, end.fence) as attended:
        return await attended.over()


async def _to_review(world: World) -> None:
    """Let there be a task of somebody else's that is to be reviewed."""
    other = world.callers["memberworker"]
    made = await world.make(
        "/tasks", world.callers["admin"], title="paint it", desktop_human_client=True
    )
    world.named["task_id"] = str(made["id"])
    await world.claim(made["id"], other)
    done = {"status": "in_review", **other.body}
    moved = await world.http.patch(
        f"/rooms/shed/tasks/{made['id']}", json=done, headers=other.headers
    )
    assert moved.status_code == 200, moved.text


async def _reviewing(world: World) -> None:
    await _to_review(world)
    task_id = world.named["task_id"]
    await world.make(
        f"/tasks/{task_id}/review-lease-action", world.callers["worker"], action="claim"
    )


async def _managed(world: World) -> None:
    own, admin = world.callers["worker"], world.callers["admin"]
    await world.make("/board-managers", admin, agent_session_id=own.session_id)


async def _called(world: World) -> None:
    """Let somebody call the worker."""
    said = {"text": "@agent:ada/juniper hello", "desktop_human_client": True}
    made = await world.make("/messages", world.callers["admin"], **said)
    world.named["message_id"] = str(made["id"])


async def _claimed(world: World) -> None:
    await world.make(
        "/path-claims",
        world.callers["worker"],
        task_id="task_1",
        patterns=["a"],
        repository="github.com/o/r",
    )


CREATED: Plain = {"canonical_key": "ada/worker", "name": "worker"}
BEGUN: Plain = {
    "request_id": "0" * 32,
    "user_code": "AB-12",
    "verification_uri": "https://example.org/device",
    "expires_in": 900,
    "interval": 5,
}
AUTHORIZED: Plain = {
    "status": "authorized",
    "letagents_token": "t" * 64,
    "account": {"id": "1", "login": "ada", "display_name": "Ada", "avatar_url": None},
    "oauth_token_expires_at": None,
}

VERBS: dict[str, Verb] = {
    "HostedArtifacts.artifacts": asks(lambda end: end.of(HostedArtifacts).artifacts(ROOM)),
    "HostedArtifacts.publish": Verb(
        lambda end: end.of(HostedArtifacts).publish(ROOM, PULL_REQUEST, (), end.fence)
    ),
    "HostedArtifacts.events": asks(
        lambda end: end.of(HostedArtifacts).events(ROOM, room_events.Wanted())
    ),
    "HostedAttachments.upload": Verb(
        lambda end: end.of(HostedAttachments).upload(ROOM, FILE, end.fence)
    ),
    "HostedAttachments.fetch": asks(lambda end: end.of(HostedAttachments).fetch(ROOM, MESSAGE, 1)),
    "HostedAttendance.attend": asks(_attended),
    "HostedAttendance.exited": Verb(lambda end: end.attendance.exited(ROOM, end.fence, None)),
    "HostedBoard.propose": Verb(
        lambda end: end.of(HostedBoard).propose(ROOM, Proposal(title="x"), end.fence)
    ),
    "HostedBoard.tasks": asks(lambda end: end.of(HostedBoard).tasks(ROOM, board.Query())),
    "HostedBoard.task": asks(lambda end: end.of(HostedBoard).task(ROOM, "task_1")),
    "HostedBoard.change": Verb(
        lambda end: end.of(HostedBoard).change(
            ROOM, "task_1", Patch(pr_url="https://x/1"), end.fence
        )
    ),
    "HostedBoard.lease_action": Verb(
        lambda end: end.of(HostedBoard).lease_action(ROOM, "task_1", board.Release(), end.fence)
    ),
    "HostedBoard.review_action": Verb(
        lambda end: end.of(HostedBoard).review_action(
            ROOM, end.named["task_id"], board.ReviewClaim(), end.fence
        ),
        ready=_to_review,
    ),
    "HostedBoard.verdict": Verb(
        lambda end: end.of(HostedBoard).verdict(ROOM, end.named["task_id"], VERDICT, end.fence),
        ready=_reviewing,
    ),
    "HostedBoard.history": asks(lambda end: end.of(HostedBoard).history(ROOM, "task_1")),
    "HostedBoard.mute": Verb(lambda end: end.of(HostedBoard).mute(ROOM, "task_1", end.fence)),
    "HostedBoard.lock": Verb(lambda end: end.of(HostedBoard).lock(ROOM, "task_1", fence=end.fence)),
    "HostedBoard.unlock": Verb(
        lambda end: end.of(HostedBoard).unlock(ROOM, end.named["lock_id"], end.fence)
    ),
    "HostedFocusRooms.beside": asks(lambda end: end.of(HostedFocusRooms).beside(ROOM)),
    "HostedFocusRooms.of_key": asks(
        lambda end: end.of(HostedFocusRooms).of_key(ROOM, end.named["key"])
    ),
    "HostedFocusRooms.open_for_task": Verb(
        lambda end: end.of(HostedFocusRooms).open_for_task(ROOM, "task_1", end.fence)
    ),
    "HostedFocusRooms.open": Verb(
        lambda end: end.of(HostedFocusRooms).open(ROOM, "Which roof?", end.fence)
    ),
    "HostedFocusRooms.set": Verb(
        lambda end: end.of(HostedFocusRooms).set(
            ROOM, end.named["key"], focus_rooms.Changes(activity_scope=focus_rooms.Scope.ROOM)
        )
    ),
    "HostedFocusRooms.conclude": Verb(
        lambda end: end.of(HostedFocusRooms).conclude(
            ROOM, end.named["key"], focus_rooms.Outcome(summary="Slate."), end.fence
        )
    ),
    "HostedGovernance.governed": asks(
        lambda end: end.of(HostedGovernance).governed(ROOM), ready=_managed
    ),
    "HostedGovernance.acts": asks(lambda end: end.of(HostedGovernance).acts(ROOM), ready=_managed),
    "HostedGovernance.candidates": asks(lambda end: end.of(HostedGovernance).candidates(ROOM)),
    "HostedGovernance.set_mode": Verb(
        lambda end: end.of(HostedGovernance).set_mode(ROOM, ManagerMode.OFF, fence=end.fence)
    ),
    "HostedGovernance.assign_manager": Verb(
        lambda end: end.of(HostedGovernance).assign_manager(
            ROOM, end.fence.session_id, fence=end.fence
        )
    ),
    "HostedGovernance.release_manager": Verb(
        lambda end: end.of(HostedGovernance).release_manager(ROOM, fence=end.fence),
        ready=_managed,
    ),
    "HostedGovernance.propose": Verb(
        lambda end: end.of(HostedGovernance).propose(
            ROOM, Action.TASK_CREATE, {"title": "mend the roof"}, fence=end.fence
        )
    ),
    "HostedGovernance.intents": asks(lambda end: end.of(HostedGovernance).intents(ROOM)),
    "HostedGovernance.intent": asks(
        lambda end: end.of(HostedGovernance).intent(ROOM, end.named["intent_id"])
    ),
    "HostedGovernance.approve": Verb(
        lambda end: end.of(HostedGovernance).approve(ROOM, end.named["intent_id"])
    ),
    "HostedGovernance.deny": Verb(
        lambda end: end.of(HostedGovernance).deny(ROOM, end.named["intent_id"])
    ),
    "HostedGuidelines.in_force": asks(lambda end: end.of(HostedGuidelines).in_force(ROOM)),
    "HostedGuidelines.set_reply_order": Verb(
        lambda end: end.of(HostedGuidelines).set_reply_order(ROOM, ReplyOrder.SEQUENTIAL)
    ),
    "HostedGuidelines.set": Verb(lambda end: end.of(HostedGuidelines).set(ROOM, "Write tests.")),
    "HostedKnowledge.records": asks(
        lambda end: end.of(HostedKnowledge).records(ROOM, Section.ATTENTION)
    ),
    "HostedKnowledge.history": asks(
        lambda end: end.of(HostedKnowledge).history(ROOM, end.named["record_id"])
    ),
    "HostedKnowledge.add": Verb(
        lambda end: end.of(HostedKnowledge).add(
            ROOM, Section.MEMORY, "another_fact", FACT, end.fence
        )
    ),
    "HostedKnowledge.revise": Verb(
        lambda end: end.of(HostedKnowledge).revise(ROOM, end.named["record_id"], FACT, version=1)
    ),
    "HostedKnowledge.archive": Verb(
        lambda end: end.of(HostedKnowledge).archive(ROOM, end.named["record_id"], version=1)
    ),
    "HostedKnowledge.answer": Verb(
        lambda end: end.of(HostedKnowledge).answer(ROOM, end.named["attention_id"], "Yes.")
    ),
    "HostedPaths.claim": Verb(lambda end: end.of(HostedPaths).claim(ROOM, CLAIM, end.fence)),
    "HostedPaths.release": Verb(
        lambda end: end.of(HostedPaths).release(ROOM, "task_1", fence=end.fence), ready=_claimed
    ),
    "HostedPaths.claims": asks(
        lambda end: end.of(HostedPaths).claims(ROOM, path_claims.Query()), ready=_claimed
    ),
    "HostedPresence.note": Verb(
        lambda end: end.of(HostedPresence).note(ROOM, Said(status="working"), end.fence),
        reads=False,
    ),
    "HostedPresence.observed": Verb(
        lambda end: end.of(HostedPresence).observed(ROOM, MESSAGE, MESSAGE, end.fence),
        reads=False,
    ),
    "HostedReasonings.post": Verb(
        lambda end: end.reasonings.post(ROOM, Trace(summary="I look."), end.fence)
    ),
    "HostedReasonings.traces": asks(lambda end: end.reasonings.traces(ROOM)),
    "HostedReasonings.trace": asks(
        lambda end: end.reasonings.trace(ROOM, end.named["reasoning_id"])
    ),
    "HostedReasonings.updates": asks(
        lambda end: end.reasonings.updates(ROOM, end.named["reasoning_id"])
    ),
    "HostedReasonings.close": Verb(
        lambda end: end.reasonings.close(ROOM, end.named["reasoning_id"], end.fence)
    ),
    "HostedReasonings.relate": Verb(
        lambda end: end.reasonings.relate(ROOM, end.named["reasoning_id"], OF_A_TASK, end.fence)
    ),
    "HostedReceipts.of": asks(lambda end: end.of(HostedReceipts).of(ROOM, MESSAGE)),
    "HostedReceipts.declare": Verb(
        lambda end: end.of(HostedReceipts).declare(
            ROOM, MessageId.parse(end.named["message_id"]), State.RESPONDING, end.fence
        ),
        ready=_called,
    ),
    "HostedReports.report": Verb(
        lambda end: end.of(HostedReports).report(ROOM, REPORT, end.fence), reads=False
    ),
    "HostedRooms.create": Verb(lambda end: end.of(HostedRooms).create()),
    "HostedRooms.join": Verb(lambda end: end.of(HostedRooms).join(ROOM)),
    "HostedRooms.known": asks(lambda end: end.of(HostedRooms).known()),
    "HostedRooms.connect": Verb(
        lambda end: HostedRooms(end.calls, pauses=()).connect(ROOM, ARRIVAL), first=(CREATED,)
    ),
    "HostedRooms.disconnect": Verb(lambda end: end.of(HostedRooms).disconnect(ROOM, end.fence)),
    "HostedRooms.post": Verb(
        lambda end: end.of(HostedRooms).post(ROOM, Draft("hi", ClientKey("k")), end.fence)
    ),
    "HostedRooms.read": asks(lambda end: end.of(HostedRooms).read(ROOM, Latest(10), end.fence)),
    "HostedRooms.wait": asks(
        lambda end: end.of(HostedRooms).wait(ROOM, After(None), timeout=timedelta(0))
    ),
    "HostedRooms.message": asks(lambda end: end.of(HostedRooms).message(ROOM, MESSAGE)),
    "HostedRooms.search": asks(lambda end: end.of(HostedRooms).search(ROOM, search.asked("hello"))),
    "HostedServer.whoami": asks(lambda end: end.of(HostedServer).whoami()),
    "HostedServer.begin_sign_in": Verb(
        lambda end: end.of(HostedServer).begin_sign_in(None), answer=BEGUN
    ),
    "HostedServer.poll_sign_in": asks(
        lambda end: end.of(HostedServer).poll_sign_in("0" * 32), answer=AUTHORIZED
    ),
    "HostedServer.health": asks(lambda end: end.of(HostedServer).health(), reads=False),
    "HostedServer.register_agent": Verb(
        lambda end: end.of(HostedServer).register_agent("worker", "Worker", "Ada")
    ),
    "HostedWakes.add": Verb(
        lambda end: end.of(HostedWakes).add(
            ROOM, wake_rules.Asked.of("timer", {"after_ms": 60_000}), end.fence
        )
    ),
    "HostedWakes.rules": asks(lambda end: end.of(HostedWakes).rules(ROOM)),
    "HostedWakes.cancel": Verb(
        lambda end: end.of(HostedWakes).cancel(ROOM, end.named["rule_id"], end.fence)
    ),
}
ABOUT: dict[str, str] = {
    "HostedBoard.task": "id",
    "HostedBoard.change": "id",
    "HostedBoard.mute": "id",
    "HostedBoard.lease_action": "task id",
    "HostedBoard.review_action": "task id",
    "HostedBoard.verdict": "task_id",
    "HostedBoard.history": "task id",
    "HostedGovernance.intent": "intent id",
    "HostedGovernance.approve": "intent id",
    "HostedGovernance.deny": "intent id",
    "HostedKnowledge.add": "record id",
    "HostedKnowledge.revise": "record id",
    "HostedKnowledge.archive": "record id",
    "HostedKnowledge.answer": "record id",
    "HostedReceipts.declare": "receipt message_id",
    "HostedGuidelines.set_reply_order": "agent_reply_order",
    "HostedReasonings.trace": "session id",
    "HostedReasonings.close": "session id",
    "HostedReasonings.relate": "session id",
    "HostedRooms.connect": "agent_instance_id",
    "HostedRooms.disconnect": "agent_session session_id",
    "HostedRooms.message": "message id",
    "HostedRooms.post": "client_message_id",
    "HostedWakes.cancel": "rule id",
}
"""Where the answer to a verb says what it is about, which was named when it was asked."""
NEVER_FAILS = {"HostedServer.health"}
"""Verbs that answer with what went wrong, too."""
STREAMS = {"HostedAttendance.attend"}
"""Verbs whose answer has no end."""


def clients() -> Iterator[type]:
    """Yield every client that there is."""
    for module in pkgutil.iter_modules(hosted.__path__, f"{hosted.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ == module.name and kind.__name__.startswith("Hosted"):
                yield kind


def verbs_of(kind: type) -> set[str]:
    """Return the names of what a client, or a port, can be asked."""
    return {
        name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")
    }
