"""Workers that last: registering, coming back, being replaced, leaving, over memory and files."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import anyio
import attrs
import pytest
from tests.contract.machine import (
    ELSEWHERE,
    KEY,
    ROOM,
    Machine,
    Process,
    WatchedRooms,
    raising,
    switched_on,
)

from letagents.application.callers import Claim
from letagents.application.registration import Registered, Wish
from letagents.domain.errors import (
    AccountUnverified,
    AmbiguousRoom,
    ConnectionReplaced,
    ForeignWorker,
    NameTaken,
    NoRoom,
    NoSuchLostWorker,
    NotConnected,
    OutcomeUnknown,
    RegistrationConflict,
    RoomsUnavailable,
    SessionEnded,
    SessionRequired,
    SessionUnknown,
    StateDamaged,
    StateUnavailable,
    UnknownRoom,
    UnknownWorker,
)
from letagents.domain.hints import Hints
from letagents.domain.ids import RegistrationKey, RoomId, SessionId, WorkerId
from letagents.domain.local_state import LocalState, Pending
from letagents.domain.messages import After, Latest
from letagents.domain.sessions import Arrival, Connection, SessionKind
from letagents.ports.rooms import RoomTransport
from letagents.ports.state import StateStore
from letagents.settings import Settings
from letagents.wiring.client import open_letagents

T = TypeVar("T")

OTHER_KEY = RegistrationKey("the random key of another chat")
STRANGER = WorkerId(f"worker_{'f' * 32}")
UNANSWERED = OutcomeUnknown("The room did not answer.", remedy="Read before calling again.")
FULL = StateUnavailable("The disk is full.", remedy="Make room.")
BUSY = RoomsUnavailable("The place is busy.", remedy="Call again.")


@pytest.fixture(params=["memory", "files"])
async def machine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Machine]:
    with anyio.fail_after(60):
        async with switched_on(tmp_path if request.param == "files" else None) as machine:
            yield machine


def pending(state: LocalState, worker_id: WorkerId, room: RoomId = ROOM) -> Pending | None:
    place = state.workers[worker_id].rooms.get(str(room))
    return place.pending if place else None


async def sign_in(machine: Machine, login: str) -> None:
    """Put an account into the machine's memory, as signing in does."""
    auth = {"token": "a secret", "account": {"login": login}, "stored_at": "2030-01-01T00:00:00Z"}

    def signed_in(state: LocalState) -> tuple[LocalState, None]:
        return attrs.evolve(state, extra={**state.extra, "auth": auth}), None

    await machine.stored().transact(signed_in)


# --- one chat, one worker ------------------------------------------------------------------------


async def test_a_key_makes_a_worker_that_can_speak(machine: Machine) -> None:
    ada = await machine.process()
    registered = await ada.register(name="Juniper")
    session = registered.connection.session

    assert (session.display_name, session.base_name) == ("Juniper", "Juniper")
    assert session.instance_id == str(registered.worker_id)
    assert session.agent_key == f"ada-lovelace/{str(registered.worker_id).replace('_', '-')}"
    assert session.actor_label == "Juniper | Ada Lovelace's agent | Agent"
    assert session.repo_branch == "main"
    assert registered.name_held_here is None
    assert await ada.can_speak(registered.connection)
    assert pending(await machine.state(), registered.worker_id) is None


async def test_a_worker_without_a_name_gets_the_codename_of_its_handle(machine: Machine) -> None:
    first = await (await machine.process()).register()
    again = await (await machine.process()).register()

    assert first.connection.session.display_name.isalpha()
    assert again.connection.session.display_name == first.connection.session.display_name


async def test_the_same_key_is_answered_from_memory(machine: Machine) -> None:
    ada = await machine.process()
    first = await ada.register(name="Juniper")
    again = await ada.register(name="another name")
    by_handle = await ada.reconnect(first.worker_id)

    assert again == by_handle == first
    assert ada.rooms.connects == 1


async def test_the_same_key_in_another_process_takes_the_worker_over(machine: Machine) -> None:
    old, new = await machine.process(), await machine.process()
    first = await old.register(name="Juniper")
    second = await new.register()

    assert second.worker_id == first.worker_id
    assert second.connection.session.session_id == first.connection.session.session_id
    assert second.connection.session.display_name == "Juniper"
    assert second.connection.fence.generation == first.connection.fence.generation + 1
    assert second.connection.fence.token != first.connection.fence.token
    assert not await old.can_speak(first.connection)
    assert await new.can_speak(second.connection)


async def test_a_replaced_process_takes_the_worker_back_when_it_asks(machine: Machine) -> None:
    old, new = await machine.process(), await machine.process()
    first = await old.register()
    second = await new.register()
    third = await old.reconnect(first.worker_id)

    assert old.rooms.connects == 2
    assert await old.can_speak(third.connection)
    assert not await new.can_speak(second.connection)


async def test_other_keys_make_other_workers(machine: Machine) -> None:
    ada = await machine.process()
    one, other = await ada.register(KEY), await ada.register(OTHER_KEY)

    assert one.worker_id != other.worker_id
    assert await ada.can_speak(one.connection)
    assert await ada.can_speak(other.connection)


async def test_one_key_used_at_once_in_one_process_makes_one_worker_and_one_connection(
    machine: Machine,
) -> None:
    ada, found = await machine.process(), list[Registered]()

    async def register() -> None:
        found.append(await ada.register(name="Juniper"))

    async with anyio.create_task_group() as chats:
        for _ in range(8):
            chats.start_soon(register)

    assert len({one.worker_id for one in found}) == 1
    assert len({one.connection.fence for one in found}) == 1
    assert ada.rooms.connects == 1
    assert len((await machine.state()).workers) == 1


async def test_a_worker_is_connected_in_each_of_its_rooms_by_itself(machine: Machine) -> None:
    ada, rival = await machine.process(), await machine.process()
    here = await ada.register(room=ROOM)
    there = await ada.register(room=ELSEWHERE)
    await rival.reconnect(here.worker_id, ROOM)

    assert there.worker_id == here.worker_id
    assert there.connection.session.session_id != here.connection.session.session_id
    assert not await ada.can_speak(here.connection)
    assert await ada.can_speak(there.connection)


async def test_chats_of_one_process_hold_nothing_of_each_other(machine: Machine) -> None:
    async with (
        open_letagents(
            Settings(home=Path("unused")),
            state=machine.stored(),
            rooms=(await machine.process()).rooms,
            surroundings=machine.here,
            clock=machine.clock,
        ) as letagents,
        letagents.client() as one,
        letagents.client() as other,
    ):
        first = await one.registration.register(KEY, Wish(ROOM, display_name="Juniper"))
        second = await other.registration.register(OTHER_KEY, Wish(ROOM, display_name="Juniper"))

        assert second.name_held_here is None
        with pytest.raises(NotConnected):
            await other.callers.acting(Claim(first.worker_id), ROOM)
        plain = await one.plain.register(Wish(ROOM)), await other.plain.register(Wish(ROOM))
        assert (await one.callers.acting(Claim(), ROOM)).fence == plain[0].fence
        assert plain[0].session.agent_key != plain[1].session.agent_key
        for connection in plain:
            await one.messages.send(connection, "both are heard")


async def test_a_chat_with_a_worker_does_not_speak_as_somebody_else(machine: Machine) -> None:
    process = await machine.process()
    ada = await process.client.registration.register(KEY, Wish(ROOM))

    with pytest.raises(SessionRequired, match="does not say who speaks") as refused:
        await process.client.callers.acting(Claim(), ROOM)

    assert "worker_id" in refused.value.remedy
    room, viewer = await process.client.callers.viewing(Claim(), ROOM)
    assert (room, viewer) == (ROOM, None)
    await process.client.registration.disconnect(ada.connection)
    assert (await process.client.callers.acting(Claim(), ROOM)).session.worker_id is None


async def test_a_room_that_is_not_there_leaves_nothing_behind(machine: Machine) -> None:
    ada = await machine.process()
    before = await machine.state()
    for room in (RoomId("no such room"), RoomId("NONE-SUCH-CODE")):
        with pytest.raises(UnknownRoom):
            await ada.register(room=room)

    assert await machine.state() == before
    known = await ada.rooms.known()
    assert {room.room_id for room in known} == {ROOM, ELSEWHERE}


# --- names ---------------------------------------------------------------------------------------


async def test_a_taken_name_is_replaced_by_a_codename_for_life(machine: Machine) -> None:
    ada, bob = await machine.process(), await machine.process()
    await ada.register(KEY, "Juniper")
    second = await bob.register(OTHER_KEY, " JUNIPER")
    given = second.connection.session.display_name
    again = await (await machine.process()).reconnect(second.worker_id)

    assert given.isalpha()
    assert given.casefold() != "juniper"
    assert second.connection.session.base_name == " JUNIPER"
    assert second.connection.session.actor_label.startswith(f"{given} | ")
    assert again.connection.session.display_name == given


async def test_a_name_that_a_worker_of_this_client_lives_under_is_told(machine: Machine) -> None:
    ada = await machine.process()
    await ada.register(KEY, "Juniper")
    second = await ada.register(OTHER_KEY, "juniper")
    again = await ada.register(OTHER_KEY, "juniper")

    assert second.name_held_here == "juniper"
    assert second.connection.session.display_name != "Juniper"
    assert again.name_held_here is None


@pytest.mark.parametrize("lost", ["disconnected", "replaced", "in another room", "never asked"])
async def test_a_name_is_not_told_where_this_client_holds_nobody_under_it(
    machine: Machine, lost: str
) -> None:
    ada = await machine.process()
    first = await ada.register(KEY, "Juniper")
    if lost == "disconnected":
        await ada.client.registration.disconnect(first.connection)
    if lost == "replaced":
        await (await machine.process()).reconnect(first.worker_id)
    room = ELSEWHERE if lost == "in another room" else ROOM
    second = await ada.register(OTHER_KEY, None if lost == "never asked" else "Juniper", room)

    assert second.name_held_here is None


async def test_no_name_left_is_refused_and_leaves_nothing_pending(machine: Machine) -> None:
    ada = await machine.process()
    no_name = NameTaken("No name is left.", remedy="Call create_room().")
    ada.rooms.before.append(raising(no_name))
    with pytest.raises(NameTaken):
        await ada.register()

    [worker_id] = (await machine.state()).workers
    assert pending(await machine.state(), worker_id) is None
    assert (await ada.register()).worker_id == worker_id


# --- recovery by name ----------------------------------------------------------------------------


async def recovered(process: Process, name: str, room: RoomId = ROOM) -> Registered:
    return await process.client.registration.recover(Wish(room, display_name=name))


async def test_a_held_worker_is_recovered_by_its_name_without_asking_the_room(
    machine: Machine,
) -> None:
    ada = await machine.process()
    first = await ada.register(name="Juniper")

    assert await recovered(ada, " juniper ") == first
    assert ada.rooms.connects == 1


async def test_a_worker_that_got_a_codename_is_recovered_by_that(machine: Machine) -> None:
    ada, bob = await machine.process(), await machine.process()
    await ada.register(KEY, "Juniper")
    second = await bob.register(OTHER_KEY, "Juniper")

    assert await recovered(bob, second.connection.session.display_name) == second
    with pytest.raises(NoSuchLostWorker, match="no worker named"):
        await recovered(bob, "Juniper")


async def test_a_worker_that_this_client_does_not_hold_is_not_recovered(machine: Machine) -> None:
    ada, other = await machine.process(), await machine.process()
    first = await ada.register(name="Juniper")

    for process, name, room in ((other, "Juniper", ROOM), (ada, "Juniper", ELSEWHERE)):
        with pytest.raises(NoSuchLostWorker, match="no worker named 'Juniper'"):
            await recovered(process, name, room)
    await other.reconnect(first.worker_id)
    with pytest.raises(NoSuchLostWorker, match="no worker named"):
        await recovered(ada, "Juniper")


async def test_a_disconnected_worker_is_not_recovered(machine: Machine) -> None:
    ada = await machine.process()
    first = await ada.register(name="Juniper")
    await ada.client.registration.disconnect(first.connection)

    with pytest.raises(NoSuchLostWorker, match="no worker named"):
        await recovered(ada, "Juniper")


async def test_a_worker_of_another_account_is_not_recovered(machine: Machine) -> None:
    ada = await machine.process()
    await ada.register(name="Juniper")
    await sign_in(machine, "ada")

    with pytest.raises(NoSuchLostWorker, match="no worker named"):
        await recovered(ada, "Juniper")


async def test_two_of_one_name_are_not_told_apart(machine: Machine) -> None:
    """Rooms of ours never give a name twice; others may."""
    ada = await machine.process()
    one, other = await ada.register(KEY, "Juniper"), await ada.register(OTHER_KEY, "Sage")
    twin = attrs.evolve(
        other.connection, session=attrs.evolve(other.connection.session, display_name="JUNIPER")
    )
    ada.client.connections.hold(other.worker_id, ROOM, twin, rooms=(ROOM,))

    with pytest.raises(NoSuchLostWorker, match="more than one") as refused:
        await recovered(ada, "Juniper")
    assert str(one.worker_id) not in str(refused.value)
    assert str(other.worker_id) not in str(refused.value)


# --- lost answers, refusals, deaths --------------------------------------------------------------


@pytest.mark.parametrize("before", ["new", "known"])
async def test_a_lost_answer_is_found_again_by_the_next_process(
    machine: Machine, before: str
) -> None:
    first = None
    if before == "known":
        first = (await (await machine.process()).register()).connection
    dying = await machine.process()
    dying.rooms.after.append(raising(UNANSWERED))
    with pytest.raises(OutcomeUnknown) as told:
        await dying.register()
    assert "register_agent_session" in told.value.remedy
    [worker_id] = (await machine.state()).workers
    prepared = pending(await machine.state(), worker_id)
    assert prepared is not None

    next_one = await machine.process()
    found = await next_one.register()

    assert found.worker_id == worker_id
    assert first is None or found.connection.session.session_id == first.session.session_id
    assert next_one.rooms.connects == 2, "what was asked is asked again, and then rotated"
    assert found.connection.fence.token != prepared.connection_token
    assert found.connection.fence.generation == (2 if first is None else 3)
    assert pending(await machine.state(), worker_id) is None
    assert await next_one.can_speak(found.connection)


async def test_a_lost_answer_is_found_again_by_the_same_process(machine: Machine) -> None:
    ada = await machine.process()
    ada.rooms.after.append(raising(UNANSWERED))
    with pytest.raises(OutcomeUnknown):
        await ada.register(name="Juniper")
    found = await ada.register(name="Juniper")

    assert found.connection.session.display_name == "Juniper"
    assert await ada.can_speak(found.connection)
    assert len((await machine.state()).workers) == 1


async def test_what_was_asked_and_never_arrived_is_asked_again(machine: Machine) -> None:
    ada = await machine.process()
    ada.rooms.before.append(raising(UNANSWERED))
    with pytest.raises(OutcomeUnknown):
        await ada.register()

    assert await ada.can_speak((await ada.register()).connection)


async def test_a_refused_registration_leaves_nothing_pending(machine: Machine) -> None:
    ada = await machine.process()
    first = await ada.register()
    rival = await machine.process()
    rival.rooms.before.append(raising(BUSY))
    with pytest.raises(RoomsUnavailable):
        await rival.reconnect(first.worker_id)

    assert pending(await machine.state(), first.worker_id) is None
    assert await ada.reconnect(first.worker_id) == first
    assert await ada.can_speak(first.connection)


async def test_an_answer_that_could_not_be_written_down_is_found_again(machine: Machine) -> None:
    """The room took the connection: what is written down has to go on saying under which secret."""
    ada, rival = await machine.process(), await machine.process()
    worker = await ada.register()
    rival.rooms.after.append(lambda: rival.state.failing.append(FULL))
    with pytest.raises(OutcomeUnknown, match="could not be written down") as told:
        await rival.reconnect(worker.worker_id)

    assert "it finds the same worker" in told.value.remedy
    assert pending(await machine.state(), worker.worker_id) is not None
    assert not await ada.can_speak(worker.connection)
    again = await rival.reconnect(worker.worker_id)
    assert await rival.can_speak(again.connection)


async def test_what_cannot_be_written_down_is_not_asked_of_the_room(machine: Machine) -> None:
    ada, rival = await machine.process(), await machine.process()
    worker = await ada.register()
    rival.state.failing.append(FULL)
    with pytest.raises(StateUnavailable):
        await rival.reconnect(worker.worker_id)

    assert rival.rooms.connects == 0
    assert await ada.can_speak(worker.connection)


async def test_a_cancelled_registration_is_finished_by_the_next(machine: Machine) -> None:
    ada = await machine.process()
    with anyio.CancelScope() as hurry:
        ada.rooms.after.append(hurry.cancel)
        await ada.register(name="Juniper")
    [worker_id] = (await machine.state()).workers
    assert ada.client.connections.held(worker_id, ROOM) is None

    found = await ada.register()
    assert found.worker_id == worker_id
    assert await ada.can_speak(found.connection)


async def test_a_damaged_memory_is_reported_and_left_as_it_is(tmp_path: Path) -> None:
    async with switched_on(tmp_path) as machine:
        ada = await machine.process()
        registered = await ada.register()
        (tmp_path / "state.json").write_bytes(b"{ damaged")
        for attempt in (
            ada.register(),
            ada.reconnect(registered.worker_id),
            ada.client.plain.own(ROOM),
        ):
            with pytest.raises(StateDamaged, match=r"state\.json"):
                await attempt

        assert (tmp_path / "state.json").read_bytes() == b"{ damaged"
        assert await ada.can_speak(registered.connection), "the room is what decides"


# --- whose worker it is --------------------------------------------------------------------------


async def test_without_an_account_a_worker_is_found_whatever_git_calls_its_owner(
    machine: Machine,
) -> None:
    first = await (await machine.process()).register()
    machine.here.owner = "ada@work"
    elsewhere = await machine.process()
    second = await elsewhere.register(room=ELSEWHERE)
    third = await elsewhere.reconnect(first.worker_id)

    assert second.worker_id == third.worker_id == first.worker_id
    assert second.connection.session.agent_key == first.connection.session.agent_key
    assert second.connection.session.owner_label == "ada@work"


async def test_signing_in_makes_the_workers_of_nobody_foreign(machine: Machine) -> None:
    ada = await machine.process()
    before = await ada.register()
    await sign_in(machine, "Ada")
    after = await ada.register()

    assert after.worker_id != before.worker_id
    assert after.connection.session.agent_key.startswith("ada/worker-")
    with pytest.raises(ForeignWorker, match="Unknown worker_id"):
        await ada.reconnect(before.worker_id)


async def test_another_account_has_other_workers(machine: Machine) -> None:
    ada = await machine.process()
    await sign_in(machine, "ada")
    hers = await ada.register()
    await sign_in(machine, "bob")
    his = await ada.register()
    await sign_in(machine, "ADA")

    assert his.worker_id != hers.worker_id
    assert (await ada.register()).worker_id == hers.worker_id
    with pytest.raises(ForeignWorker):
        await ada.reconnect(his.worker_id)


async def test_another_server_has_other_workers(machine: Machine) -> None:
    here = await (await machine.process()).register()
    machine.api_url = "https://a.example"
    there = await machine.process()

    assert (await there.register()).worker_id != here.worker_id
    with pytest.raises(ForeignWorker):
        await there.reconnect(here.worker_id)


async def test_an_unknown_handle_is_told_apart_from_a_foreign_one(machine: Machine) -> None:
    ada = await machine.process()
    with pytest.raises(UnknownWorker, match=str(STRANGER)) as unknown:
        await ada.reconnect(STRANGER)

    assert "registration_key" in unknown.value.remedy


# --- leaving -------------------------------------------------------------------------------------


async def test_a_worker_that_left_comes_back_as_what_it_was(machine: Machine) -> None:
    ada = await machine.process()
    first = await ada.register(name="Juniper")
    left = await ada.client.registration.disconnect(first.connection)
    assert left.ended_at is not None
    assert not await ada.can_speak(first.connection)
    [stored] = (await machine.state()).sessions.values()
    assert stored.ended_at == left.ended_at

    again = await ada.reconnect(first.worker_id)
    assert again.connection.session.session_id == first.connection.session.session_id
    assert again.connection.session.display_name == "Juniper"
    assert again.connection.session.ended_at is None
    assert await ada.can_speak(again.connection)


async def test_a_replaced_process_cannot_end_its_successor(machine: Machine) -> None:
    old, new = await machine.process(), await machine.process()
    first = await old.register()
    second = await new.register()
    with pytest.raises(ConnectionReplaced):
        await old.client.registration.disconnect(first.connection)

    assert await new.can_speak(second.connection)
    [stored] = (await machine.state()).sessions.values()
    assert stored.ended_at is None


async def test_leaving_succeeds_though_the_end_cannot_be_written_down(machine: Machine) -> None:
    ada = await machine.process()
    first = await ada.register()
    ada.state.failing.append(FULL)
    left = await ada.client.registration.disconnect(first.connection)

    assert left.ended_at is not None
    again = await ada.register()
    assert again.connection.fence.generation == 2
    assert await ada.can_speak(again.connection)


# --- who a call is from --------------------------------------------------------------------------


async def acting(process: Process, claim: Claim, current: RoomId | None = None) -> Connection:
    return await process.client.callers.acting(claim, current)


async def test_a_handle_stands_for_its_connection(machine: Machine) -> None:
    ada = await machine.process()
    registered = await ada.register()
    worker_id = registered.worker_id

    assert await acting(ada, Claim(worker_id)) == registered.connection
    assert await acting(ada, Claim(worker_id, room_id=ROOM), ELSEWHERE) == registered.connection
    by_session = Claim(session_id=registered.connection.session.session_id)
    assert await acting(ada, by_session) == registered.connection
    assert await ada.client.callers.viewing(Claim(worker_id), ELSEWHERE) == (
        ROOM,
        registered.connection,
    )


async def test_a_handle_in_several_rooms_has_to_say_which_though_only_one_is_held_here(
    machine: Machine,
) -> None:
    before = await machine.process()
    registered = await before.register(room=ROOM)
    await before.register(room=ELSEWHERE)
    after = await machine.process()
    await after.reconnect(registered.worker_id, ELSEWHERE)

    with pytest.raises(AmbiguousRoom, match="in 2 rooms") as ambiguous:
        await acting(after, Claim(registered.worker_id), ELSEWHERE)
    assert "workshop" in ambiguous.value.remedy
    named = await acting(after, Claim(registered.worker_id, room_id=ELSEWHERE))
    assert named.session.room_id == ELSEWHERE


async def test_a_handle_in_one_room_is_found_there_without_looking_it_up(machine: Machine) -> None:
    ada = await machine.process()
    registered = await ada.register()
    ada.state.reads = 0
    await acting(ada, Claim(registered.worker_id))
    await acting(ada, Claim(registered.worker_id, room_id=ROOM))

    assert ada.state.reads == 0


async def test_a_handle_that_nobody_knows_or_of_another_account_cannot_act(
    machine: Machine,
) -> None:
    ada, other = await machine.process(), await machine.process()
    registered = await ada.register()
    with pytest.raises(UnknownWorker):
        await acting(ada, Claim(STRANGER, room_id=ROOM))
    await sign_in(machine, "ada")

    with pytest.raises(ForeignWorker):
        await acting(other, Claim(registered.worker_id))


async def test_a_handle_that_is_not_connected_here_is_told_how_to_connect(
    machine: Machine,
) -> None:
    ada, other = await machine.process(), await machine.process()
    worker_id = (await ada.register()).worker_id

    for claim in (Claim(worker_id), Claim(worker_id, room_id=ROOM)):
        with pytest.raises(NotConnected, match="this process has not connected it") as told:
            await acting(other, claim)
        assert f"worker_id='{worker_id}', room_id='workshop'" in told.value.remedy
    with pytest.raises(NotConnected, match="in elsewhere"):
        await acting(ada, Claim(worker_id, room_id=ELSEWHERE))


async def test_a_replaced_handle_is_told_so_every_time(machine: Machine) -> None:
    ada, rival = await machine.process(), await machine.process()
    registered = await ada.register()
    await rival.register()

    held = await acting(ada, Claim(registered.worker_id))
    for _ in range(2):
        with pytest.raises(ConnectionReplaced, match="a newer process holds"):
            await ada.client.messages.send(held, "still me?")
        with pytest.raises(ConnectionReplaced, match="a newer process holds"):
            await acting(ada, Claim(registered.worker_id))


async def test_a_handle_that_left_is_told_so_by_every_process(machine: Machine) -> None:
    ada, other = await machine.process(), await machine.process()
    registered = await ada.register()
    await ada.client.registration.disconnect(registered.connection)

    for process in (ada, other):
        with pytest.raises(SessionEnded, match="has ended"):
            await acting(process, Claim(registered.worker_id))


async def test_what_a_session_s_id_stands_for_is_checked(machine: Machine) -> None:
    ada, other = await machine.process(), await machine.process()
    registered = await ada.register()
    session_id = registered.connection.session.session_id

    with pytest.raises(NotConnected):
        await acting(other, Claim(session_id=session_id))
    with pytest.raises(SessionUnknown, match="not of elsewhere"):
        await acting(ada, Claim(session_id=session_id, room_id=ELSEWHERE))
    with pytest.raises(SessionUnknown, match="agent_session_id: there is no such session"):
        await acting(ada, Claim(session_id=SessionId("local_none")))


async def test_a_session_of_a_worker_that_is_gone_from_memory_is_nobody_s(
    machine: Machine,
) -> None:
    ada = await machine.process()
    registered = await ada.register()

    def forgotten(state: LocalState) -> tuple[LocalState, None]:
        return attrs.evolve(state, workers={}), None

    await machine.stored().transact(forgotten)
    other = await machine.process()
    with pytest.raises(UnknownWorker):
        await acting(other, Claim(session_id=registered.connection.session.session_id))


# --- chats without a handle ----------------------------------------------------------------------


async def test_a_chat_that_shows_nothing_gets_a_session_and_keeps_it(machine: Machine) -> None:
    ada = await machine.process()
    first = await acting(ada, Claim(), ROOM)
    again = await acting(ada, Claim(room_id=ROOM), ELSEWHERE)

    assert again == first
    assert str(first.session.session_id).startswith("local_")
    assert first.session.worker_id is None
    assert (await ada.client.callers.viewing(Claim(), ROOM))[1] == first
    assert await ada.can_speak(first)


async def test_eight_calls_at_once_that_show_nothing_speak_with_one_session(
    machine: Machine,
) -> None:
    ada, found = await machine.process(), list[Connection]()

    async def call() -> None:
        connection = await acting(ada, Claim(), ROOM)
        found.append(connection)
        assert await ada.can_speak(connection)

    async with anyio.create_task_group() as calls:
        for _ in range(8):
            calls.start_soon(call)

    assert len({one.session.session_id for one in found}) == 1
    assert ada.rooms.connects == 1


async def test_without_any_room_nobody_acts(machine: Machine) -> None:
    ada = await machine.process()

    with pytest.raises(NoRoom):
        await acting(ada, Claim())
    with pytest.raises(NoRoom):
        await ada.client.callers.viewing(Claim(), None)


async def test_a_misspelt_room_is_not_made_by_speaking_in_it(machine: Machine) -> None:
    ada = await machine.process()
    before = await machine.state()
    with pytest.raises(UnknownRoom):
        await acting(ada, Claim(room_id=RoomId("werkshop")))

    assert await machine.state() == before
    assert len(await ada.rooms.known()) == 2


async def test_a_chat_that_registers_without_a_handle_again_ends_what_it_was(
    machine: Machine,
) -> None:
    ada = await machine.process()
    plain = ada.client.plain
    first = await plain.register(Wish(ROOM, display_name="Juniper"))
    second = await plain.register(Wish(ROOM, display_name="Juniper"))

    assert second.session.session_id != first.session.session_id
    assert await acting(ada, Claim(), ROOM) == second
    with pytest.raises(SessionUnknown, match="ended at") as over:
        await acting(ada, Claim(session_id=first.session.session_id))
    assert "register_agent_session" in over.value.remedy
    ended = await ada.client.callers.ended(Claim(session_id=first.session.session_id))
    assert ended is not None
    assert ended.ended_at is not None


async def test_a_chat_that_took_another_name_speaks_under_it_and_leaves_the_old_one(
    machine: Machine,
) -> None:
    ada = await machine.process()
    first = await acting(ada, Claim(), ROOM)
    ada.client.chat.chosen_name = "Sage"
    second = await acting(ada, Claim(), ROOM)

    assert second.session.display_name == "Sage"
    assert second.session.agent_key == "ada-lovelace/sage"
    stored = (await machine.state()).sessions
    assert stored[str(first.session.session_id)].ended_at is not None
    assert stored[str(second.session.session_id)].ended_at is None


async def test_a_session_without_a_handle_is_good_in_any_process(machine: Machine) -> None:
    """Its secret never changes hands, so it can be found in what the machine remembers."""
    ada, other = await machine.process(), await machine.process()
    plain = await ada.client.plain.register(Wish(ROOM))
    found = await acting(other, Claim(session_id=plain.session.session_id))

    assert found.fence == plain.fence
    assert await other.can_speak(found)
    own = await acting(other, Claim(), ROOM)
    assert own.session.session_id != plain.session.session_id


async def test_a_session_that_the_room_ended_says_how_to_get_another(machine: Machine) -> None:
    """Two chats that are called the same take the session from each other."""
    same = Hints(name="juniper")
    ada, twin = await machine.process(same), await machine.process(same)
    first = await ada.client.plain.register(Wish(ROOM))
    await twin.client.plain.register(Wish(ROOM))
    with pytest.raises(SessionUnknown, match="is over") as over:
        await ada.client.messages.send(first, "still me?")

    assert "register_agent_session(room_id='workshop')" in over.value.remedy
    again = await acting(ada, Claim(), ROOM)
    assert await ada.can_speak(again)


async def test_a_controller_watches_and_never_speaks(machine: Machine) -> None:
    ada = await machine.process()
    speaker = await acting(ada, Claim(), ROOM)
    watcher = await ada.client.plain.register(Wish(ROOM), SessionKind.CONTROLLER)
    shown = Claim(session_id=watcher.session.session_id)

    assert await acting(ada, Claim(), ROOM) == speaker
    assert await ada.can_speak(speaker)
    with pytest.raises(SessionUnknown, match="controller's session and cannot act"):
        await acting(ada, shown)
    assert (await ada.client.registration.disconnect(watcher)).ended_at is not None
    current = (await machine.state()).current_session_ids
    assert current[str(ROOM)] == str(speaker.session.session_id)


async def test_what_another_program_remembers_is_not_taken_for_ours(machine: Machine) -> None:
    ada, other = await machine.process(), await machine.process()
    plain = await ada.client.plain.register(Wish(ROOM))
    session_id = str(plain.session.session_id)

    def changed(state: LocalState) -> tuple[LocalState, None]:
        strange = attrs.evolve(state.sessions[session_id], session_kind="hovercraft")
        return attrs.evolve(state, sessions={session_id: strange}), None

    await machine.stored().transact(changed)
    with pytest.raises(SessionUnknown, match="no such session"):
        await acting(other, Claim(session_id=plain.session.session_id))


# --- words give nobody anything ------------------------------------------------------------------


async def test_a_secret_or_a_handle_in_the_room_s_words_gives_nobody_anything(
    machine: Machine,
) -> None:
    ada, other = await machine.process(), await machine.process()
    registered = await ada.register()
    told = f"{registered.worker_id} {registered.connection.fence.token.value} {KEY.value}"
    await ada.client.messages.send(registered.connection, told)
    [heard] = (await other.client.messages.read(ROOM, Latest())).messages
    before = await machine.state()

    assert heard.text == told
    own = await acting(other, Claim(), ROOM)
    assert own.session.worker_id is None
    assert other.client.connections.held(registered.worker_id, ROOM) is None
    assert (await machine.state()).workers == before.workers
    assert await ada.can_speak(registered.connection)


# --- answers that get lost on the way to the speaker ---------------------------------------------


async def test_a_message_whose_answer_got_lost_is_asked_for_again_and_said_once(
    machine: Machine,
) -> None:
    ada = await machine.process()
    registered = await ada.register()
    ada.rooms.after.append(raising(UNANSWERED))
    message = await ada.client.messages.send(registered.connection, "once")

    said = (await ada.rooms.read(ROOM, After())).messages
    assert [(one.id, one.text) for one in said] == [(message.id, "once")]


async def test_a_message_of_which_nothing_is_known_is_told_as_such(machine: Machine) -> None:
    ada = await machine.process()
    registered = await ada.register()
    ada.rooms.before.extend([raising(UNANSWERED), raising(BUSY)])

    with pytest.raises(OutcomeUnknown):
        await ada.client.messages.send(registered.connection, "perhaps")


# --- what a leaving client notes -----------------------------------------------------------------


async def test_how_far_a_room_was_read_is_noted_when_the_client_leaves(tmp_path: Path) -> None:
    async with switched_on(tmp_path) as machine:
        ada = await machine.process()
        await ada.client.places.join(ROOM)
        registered = await ada.register()
        for text in ("one", "two"):
            message = await ada.client.messages.send(registered.connection, text)
            await ada.client.places.saw(ROOM, message.id)

    noted = json.loads((tmp_path / "state.json").read_bytes())["room_sessions"]["workshop"]
    assert noted["last_message_id"] == "msg_2"


async def test_reading_further_up_takes_nothing_back_from_the_note(machine: Machine) -> None:
    ada = await machine.process()
    await ada.client.places.join(ROOM)
    registered = await ada.register()
    ids = [(await ada.client.messages.send(registered.connection, text)).id for text in "abc"]
    for message_id in (ids[2], ids[0]):
        await ada.client.places.saw(ROOM, message_id)
        await ada.client.places.remember()

    assert (await ada.client.places.resume())[1] == "msg_3"


async def test_a_note_that_cannot_be_made_spoils_nothing_and_is_made_later(
    machine: Machine,
) -> None:
    ada = await machine.process()
    await ada.client.places.join(ROOM)
    registered = await ada.register()
    message = await ada.client.messages.send(registered.connection, "one")
    ada.state.failing.append(FULL)
    await ada.client.places.saw(ROOM, message.id)
    await ada.client.places.remember()
    assert (await machine.state()).rooms[str(ROOM)].last_message_id is None

    await ada.client.places.remember()
    assert (await machine.state()).rooms[str(ROOM)].last_message_id == "msg_1"


# --- places that were put back -------------------------------------------------------------------


async def test_a_handle_survives_that_the_state_is_put_back_from_a_copy(machine: Machine) -> None:
    first = await machine.process()
    registered = await first.register(name="Ada")
    copy = await machine.state()
    later = await (await machine.process()).reconnect(registered.worker_id)
    await machine.stored().transact(lambda _: (copy, None))
    returned = await machine.process()

    back = await returned.reconnect(registered.worker_id)

    assert back.connection.session.session_id == registered.connection.session.session_id
    assert back.connection.session.display_name == "Ada"
    assert back.connection.fence.generation == later.connection.fence.generation + 1
    assert await returned.can_speak(back.connection)
    assert not await first.can_speak(later.connection)
    assert (await machine.state()).workers[registered.worker_id].rooms[str(ROOM)].pending is None


class AskedLate(WatchedRooms):
    """Rooms whose first connection waits until something else has happened."""

    async def connect(self, room_id: RoomId, arrival: Arrival) -> Connection:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await super().connect(room_id, arrival)

    meanwhile: Callable[[], Awaitable[None]] | None = None


def asked_late(
    meanwhile: Callable[[], Awaitable[None]],
) -> Callable[[RoomTransport], RoomTransport]:
    def around(rooms: RoomTransport) -> RoomTransport:
        late = AskedLate(rooms)
        late.meanwhile = meanwhile
        return late

    return around


async def test_who_was_superseded_does_not_insist(machine: Machine) -> None:
    """It asks late: another has taken its question on, asked it, and moved the seat on since."""
    ada = await (await machine.process()).register(name="Ada")
    rival = await machine.process()
    moved_on: list[Registered] = []

    async def rival_first() -> None:
        moved_on.append(await rival.reconnect(ada.worker_id))

    slow = await machine.process(around_rooms=asked_late(rival_first))
    with pytest.raises(RegistrationConflict):
        await slow.reconnect(ada.worker_id)

    assert await rival.can_speak(moved_on[0].connection)


async def test_a_sign_in_of_nobody_knows_whom_registers_nobody(machine: Machine) -> None:
    unknown = {"auth": {"token": "secret", "account": None}}
    await machine.stored().transact(lambda state: (attrs.evolve(state, extra=unknown), None))
    process = await machine.process()

    with pytest.raises(AccountUnverified, match="Could not verify your LetAgents account") as told:
        await process.register()

    assert "same worker_id or registration_key" in told.value.remedy
    assert not (await machine.state()).workers


async def test_a_room_is_entered_although_the_note_of_it_cannot_be_written(
    machine: Machine,
) -> None:
    process = await machine.process(around_state=lambda state: Full(state, notes_left=0))

    entered = await process.client.places.join(ROOM)
    spoken = await process.client.callers.acting(Claim(), ROOM)

    assert entered.room.room_id == process.client.places.current_id == ROOM
    assert await process.can_speak(spoken)


@attrs.define
class Full:
    """A state that takes so many notes more, as on a disk that is nearly full."""

    inner: StateStore
    notes_left: int = 1

    async def read(self) -> LocalState:
        return await self.inner.read()

    async def transact(self, decide: Callable[[LocalState], tuple[LocalState, T]]) -> T:
        before = await self.inner.read()
        if decide(before)[0] is not before:
            if not self.notes_left:
                raise StateUnavailable("The disk is full.", remedy="Make room.")
            self.notes_left -= 1
        return await self.inner.transact(decide)
