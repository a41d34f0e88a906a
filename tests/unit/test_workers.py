"""A chat's lasting handle."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import workers
from letagents.domain.errors import (
    AmbiguousRoom,
    ForeignWorker,
    RegistrationConflict,
    UnknownWorker,
)
from letagents.domain.ids import RegistrationKey, RoomId, WorkerId
from letagents.domain.local_state import LocalState, Pending, StoredSession, Worker, WorkerRoom
from letagents.testing.determinism import CountingIds

HERE, THERE = "https://a.example\nada", "https://a.example\nbob"
KEY = RegistrationKey(" a key, with blanks ")
IDS = CountingIds()
FIRST, SECOND = IDS.worker_id(), IDS.worker_id()


def registered(
    state: LocalState, key: RegistrationKey = KEY, *, scope: str = HERE, fresh: WorkerId = FIRST
) -> tuple[LocalState, Worker]:
    return workers.ensure(state, scope=scope, key=key, fresh=fresh, display_name="Juniper")


@pytest.mark.rule("W1")
def test_the_same_key_finds_the_same_worker() -> None:
    state, made = registered(LocalState())
    again, found = registered(state, fresh=SECOND)

    assert found is made
    assert again is state
    assert workers.of_key(state, scope=HERE, key=KEY) is made


@pytest.mark.rule("W1")
def test_the_same_key_in_another_scope_is_another_worker() -> None:
    state, here = registered(LocalState())
    state, there = registered(state, scope=THERE, fresh=SECOND)

    assert there.worker_id != here.worker_id
    assert set(state.workers) == {FIRST, SECOND}


@pytest.mark.rule("W1")
@given(keys=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_as_many_workers_are_made_as_there_are_keys(keys: list[str]) -> None:
    valid = [RegistrationKey(key) for key in keys if RegistrationKey.fits(key)]
    ids, state = CountingIds(), LocalState()
    for key in valid:
        state, _ = registered(state, key, fresh=ids.worker_id())

    assert len(state.workers) == len(set(valid))


@pytest.mark.rule("W2")
def test_a_key_is_kept_as_a_hash_bound_to_its_scope() -> None:
    state, made = registered(LocalState())

    # sha256 of "https://a.example\nada\n a key, with blanks ", as sha256sum gives it
    assert made.registration_key_hash == (
        "97aec2cc649227cabc29b6311239c0b799b4d0ba2c60f73785bb2e09571b7666"
    )
    assert workers.key_hash(THERE, KEY) != made.registration_key_hash
    assert KEY.value not in f"{attrs.astuple(made, recurse=False)}"
    assert made.registration_key_hash not in repr(state)


@pytest.mark.rule("W3")
def test_a_handle_is_found_in_its_own_scope_only() -> None:
    state, made = registered(LocalState())

    assert workers.find(state, FIRST, scope=HERE) is made
    with pytest.raises(ForeignWorker, match="Unknown worker_id"):
        workers.find(state, FIRST, scope=THERE)
    with pytest.raises(UnknownWorker, match="Unknown worker_id"):
        workers.find(state, SECOND, scope=HERE)


SERVER, OTHER_SERVER = "http://localhost:3001", "https://a.example"


@pytest.mark.rule("W6")
def test_without_an_account_a_worker_is_found_under_any_owner_of_its_server() -> None:
    state, made = registered(LocalState(), scope=f"{SERVER}\nlocal:ada")
    again, found = registered(state, scope=f"{SERVER}\nlocal:ada-lovelace", fresh=SECOND)

    assert (again, found) == (state, made)
    assert workers.find(state, FIRST, scope=f"{SERVER}\nlocal:owner") is made


@pytest.mark.rule("W6")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"{SERVER}\nlocal:ada", f"{OTHER_SERVER}\nlocal:ada"),
        (f"{SERVER}\nlocal:ada", f"{SERVER}\nada"),
        (f"{SERVER}\nada", f"{SERVER}\nbob"),
        (f"{SERVER}\nlocal", f"{SERVER}\nlocal:ada"),
    ],
    ids=["another server", "an account", "another account", "an account called local"],
)
def test_a_worker_of_another_server_or_account_is_foreign(one: str, other: str) -> None:
    state, made = registered(LocalState(), scope=one)
    _, another = registered(state, scope=other, fresh=SECOND)

    assert another != made
    assert not workers.same_scope(one, other)
    assert not workers.same_scope(other, one)
    with pytest.raises(ForeignWorker):
        workers.find(state, FIRST, scope=other)


@pytest.mark.rule("W7")
@pytest.mark.parametrize(
    ("scope", "owner"),
    [(f"{SERVER}\nlocal:ada", "ada"), (f"{SERVER}\nemmy_may", "emmy-may"), ("damaged", "owner")],
)
def test_a_worker_s_agent_key_is_made_of_what_never_changes(scope: str, owner: str) -> None:
    _, made = registered(LocalState(), scope=scope)

    assert workers.agent_key(made) == f"{owner}/worker-{FIRST.value.removeprefix('worker_')}"


def test_a_handle_is_never_given_to_a_second_worker() -> None:
    state, _ = registered(LocalState())

    with pytest.raises(RegistrationConflict):
        registered(state, RegistrationKey("another key"))


def placed(*rooms: str, prepared: tuple[str, ...] = ()) -> Worker:
    places = {room: WorkerRoom(session_id=f"session in {room}") for room in rooms}
    waiting = {room: WorkerRoom(pending=Pending("asked", IDS.token())) for room in prepared}
    return Worker(FIRST, HERE, "hash", "Juniper", {**places, **waiting})


@pytest.mark.rule("W4")
def test_a_call_without_a_room_means_the_only_one() -> None:
    worker = placed("here", prepared=("not yet there",))

    assert workers.room_meant(worker, None) == RoomId("here")
    assert workers.room_meant(worker, RoomId("elsewhere")) == RoomId("elsewhere")


@pytest.mark.rule("W4")
def test_a_call_without_a_room_has_to_name_one_of_several() -> None:
    with pytest.raises(AmbiguousRoom) as several:
        workers.room_meant(placed("here", "there"), None)
    with pytest.raises(AmbiguousRoom) as many:
        workers.room_meant(placed(*(f"room {number}" for number in range(30))), None)

    assert "one of: here, there." in several.value.remedy
    assert "room 9 and 20 more." in many.value.remedy


@pytest.mark.rule("W4")
def test_a_call_without_a_room_by_a_worker_in_none_is_told_how_to_enter_one() -> None:
    with pytest.raises(AmbiguousRoom) as nowhere:
        workers.room_meant(placed(), None)

    assert f"register_agent_session(worker_id='{FIRST}'" in nowhere.value.remedy


@pytest.mark.rule("W5")
def test_a_later_registration_does_not_rename_the_worker() -> None:
    state, _ = registered(LocalState())
    _, found = workers.ensure(state, scope=HERE, key=KEY, fresh=SECOND, display_name="Other")

    assert found.display_name == "Juniper"


def test_the_sessions_of_a_worker_are_those_that_name_it() -> None:
    own = StoredSession(
        session_id="own", session_token=IDS.token(), room_id="a", agent_instance_id=str(FIRST)
    )
    others = attrs.evolve(own, session_id="other", agent_instance_id=str(SECOND))
    plain = attrs.evolve(own, session_id="plain", agent_instance_id="a process")
    state = LocalState(sessions={one.session_id: one for one in (own, others, plain)})

    assert workers.sessions_of(state, FIRST) == (own,)
    assert own.worker_id == FIRST
    assert plain.worker_id is None
