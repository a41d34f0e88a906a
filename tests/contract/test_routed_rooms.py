"""Rooms of which some are on this machine and others on a server, as one."""

import inspect
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import anyio
import attrs
import httpx
import pytest
from tests.contract.served import TOKEN, client, hosting

from letagents.adapters.rooms.hosted.board import HostedBoard
from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.rooms import HostedRooms
from letagents.adapters.rooms.kept.board import KeptBoard
from letagents.adapters.rooms.kept.focus_rooms import KeptFocusRooms
from letagents.adapters.rooms.memory import MemoryRooms
from letagents.adapters.rooms.routed import (
    ByRoom,
    RoutedAttendance,
    RoutedRooms,
    Routes,
    Unasked,
)
from letagents.application.memory import Stores
from letagents.domain.board import Query
from letagents.domain.errors import UnknownRoom
from letagents.domain.fencing import Fence
from letagents.domain.ids import ClientKey, RoomId, SessionId, Token
from letagents.domain.messages import After, Draft, Latest
from letagents.domain.sessions import Arrival
from letagents.domain.storage import ChatStorage
from letagents.domain.tasks import Proposal
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
from letagents.ports.wakes import Wakes
from letagents.ports.whereabouts import Noticeboard
from letagents.settings import Settings
from letagents.testing.determinism import CountingIds, ManualClock
from letagents.wiring.client import open_letagents

pytestmark = pytest.mark.anyio

HERE, THERE = RoomId("harbour"), RoomId("shed")
PORTS = (
    RoomTransport,
    Board,
    FocusRooms,
    Governance,
    PathClaims,
    Attendance,
    Artifacts,
    GuidelinesOf,
    Knowledge,
    Reasonings,
    Wakes,
    Noticeboard,
    Attachments,
    Receipts,
    Reports,
)
OF_NO_ROOM = {"create", "known"}


def is_hosted(room_id: RoomId | None) -> bool:
    return room_id == THERE


@attrs.frozen
class Both:
    """Rooms in both places, and what is kept in each."""

    rooms: RoomTransport
    here: MemoryRooms
    there: MemoryRooms
    board: Board


def arrival(number: int) -> Arrival:
    return Arrival(
        token=Token(f"{number:043d}"),
        agent_key="ada/juniper",
        instance_id=f"process {number}",
        display_name="Juniper",
        owner_label="Ada",
        ide_label="Agent",
        runtime="unknown",
    )


@pytest.fixture
async def http() -> AsyncIterator[tuple[httpx.AsyncClient, MemoryRooms]]:
    clock = ManualClock()
    there = MemoryRooms(CountingIds(), clock)
    async with client(hosting(there, clock)) as opened:
        yield opened, there


def both_of(http: tuple[httpx.AsyncClient, MemoryRooms], token: str | None) -> Both:
    calls = Calls(http[0], lambda: token)
    here = MemoryRooms(CountingIds(), ManualClock())
    routes = Routes(is_hosted)
    rooms = cast(RoomTransport, RoutedRooms(here, HostedRooms(calls), routes))
    term = timedelta(minutes=15)
    board = cast(Board, ByRoom(KeptBoard(here, term), HostedBoard(calls), routes))
    return Both(rooms, here, http[1], board)


@pytest.fixture
def both(http: tuple[httpx.AsyncClient, MemoryRooms]) -> Both:
    return both_of(http, TOKEN)


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.__name__)
def test_every_verb_of_a_port_of_rooms_names_its_room_first(port: type) -> None:
    verbs = {
        name: list(inspect.signature(verb).parameters)
        for name, verb in inspect.getmembers(port, inspect.isfunction)
        if not name.startswith("_")
    }
    others = {
        name for name, names in verbs.items() if names[:2] != ["self", "room_id"]
    } - OF_NO_ROOM

    assert verbs
    assert others == set()


async def test_what_is_said_in_a_room_is_said_where_the_room_is(both: Both) -> None:
    for number, room_id in enumerate((HERE, THERE), start=1):
        entered = await both.rooms.join(room_id)
        fence = (await both.rooms.connect(room_id, arrival(number))).fence
        await both.rooms.post(room_id, Draft(f"ahoy {room_id}", ClientKey("a key")), fence)
        heard = await both.rooms.wait(room_id, After(None), timeout=timedelta(0), viewer=fence)

        assert [one.text for one in heard.messages] == [f"ahoy {room_id}"]
        assert entered.is_local is (room_id == HERE)

    assert [one.room_id for one in await both.here.known()] == [HERE]
    assert [one.room_id for one in await both.there.known()] == [THERE]
    assert [one.room_id for one in await both.rooms.known()] == [HERE, THERE]
    assert (await both.there.read(THERE, Latest(10))).messages[0].text == "ahoy shed"


async def test_a_board_is_where_its_room_is(both: Both) -> None:
    for room_id in (HERE, THERE):
        await both.rooms.join(room_id)
        await both.board.propose(room_id, Proposal(title=f"mend the {room_id}"))

        page = await both.board.tasks(room_id, Query())
        assert [one.task.title for one in page.tasks] == [f"mend the {room_id}"]


async def test_a_room_with_a_code_is_where_all_others_are(both: Both) -> None:
    made = await both.rooms.create()

    assert made.is_local
    assert (await both.rooms.join(made.room_id, create=False)) == made


async def test_who_is_nobody_at_the_server_sees_the_rooms_of_this_machine(
    http: tuple[httpx.AsyncClient, MemoryRooms],
) -> None:
    both = both_of(http, None)
    await both.rooms.join(HERE)

    assert [one.room_id for one in await both.rooms.known()] == [HERE]


async def test_what_no_port_has_is_nowhere(both: Both) -> None:
    routed: Any = both.board

    assert not hasattr(routed, "paint")
    assert not hasattr(routed, "_rooms")


async def test_in_rooms_of_this_machine_nobody_has_to_attend() -> None:
    attendance = RoutedAttendance(cast(Attendance, None), Routes(is_hosted))
    fence = Fence(SessionId("agent_session_1"), 1, Token("s" * 43))

    async with attendance.attend(HERE, fence) as attended:
        with anyio.move_on_after(0.01) as waited:
            await attended.over()
    exited = await attendance.exited(HERE, fence, None)

    assert waited.cancelled_caught
    assert exited is False


async def test_a_focus_room_is_where_the_room_beside_it_is(both: Both) -> None:
    for kept, parent in ((both.here, HERE), (both.there, THERE)):
        await both.rooms.join(parent)
        focus = KeptFocusRooms(kept, timedelta(minutes=15))
        opened = (await focus.open(parent, f"the {parent} gate")).room
        assert opened.focus is not None

        located = await both.rooms.join(RoomId(f"{parent}/focus/{opened.focus.key}"), create=False)
        page = await both.rooms.read(located.room_id, Latest(1))

        assert located.room_id == opened.room_id
        assert located.is_local is (parent == HERE)
        assert page.messages == ()


async def test_a_focus_room_named_by_its_id_is_found_in_either_place(both: Both) -> None:
    await both.rooms.join(THERE)
    focus = KeptFocusRooms(both.there, timedelta(minutes=15))
    opened = (await focus.open(THERE, "the gate")).room

    found = await both.rooms.join(opened.room_id, create=False)
    page = await both.rooms.read(opened.room_id, Latest(1))
    with pytest.raises(UnknownRoom):
        await both.rooms.join(RoomId("focus_77"), create=False)

    assert (found.room_id, found.is_local) == (opened.room_id, False)
    assert page.messages == ()


async def test_nobody_asks_in_rooms_of_this_machine_what_an_agent_does() -> None:
    await Unasked().note(HERE, Said(), Fence(SessionId("session_1"), 1, Token("s" * 43)))


async def test_all_that_a_client_uses_is_routed(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path,
        api_url="http://127.0.0.1:9",
        storage=ChatStorage("local", {THERE: "cloud"}),
    )
    async with open_letagents(settings) as letagents:
        stores = letagents.memory()
        assert stores is not None
        parts: list[object] = [getattr(stores, one.name) for one in attrs.fields(Stores)]
        parts += [letagents.board(), letagents.governance(), letagents.paths()]
        parts += [letagents.presence(), letagents.attachments()]
        parts += [letagents.receipts(), letagents.reports()]

        assert isinstance(letagents.rooms, RoutedRooms)
        assert isinstance(letagents.attendance, RoutedAttendance)
        assert all(type(one) is ByRoom for one in parts)
