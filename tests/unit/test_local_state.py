"""What one machine must not forget between runs."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import local_state
from letagents.domain.ids import RoomId, Token
from letagents.domain.local_state import Account, ForeignToken, LocalState, StoredSession
from letagents.testing.determinism import CountingIds

IDS = CountingIds()
ROOM, ELSEWHERE = RoomId("workshop"), RoomId("elsewhere")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def stored(session_id: str, room_id: RoomId = ROOM, *, at: datetime = NOW) -> StoredSession:
    return StoredSession(
        session_id=session_id,
        session_token=IDS.token(),
        room_id=str(room_id),
        agent_key="ada/agent",
        created_at=at,
        updated_at=at,
        last_seen_at=at,
    )


def saved(*sessions: StoredSession) -> LocalState:
    state = LocalState()
    for one in sessions:
        state = local_state.save_session(state, one)
    return state


@pytest.mark.rule("H1")
def test_a_saved_session_takes_the_place_of_the_one_before_it() -> None:
    first, second = stored("one"), attrs.evolve(stored("one"), repo_branch="main")
    state = saved(first, second)

    assert state.sessions == {"one": second}
    assert local_state.current_session(state, ROOM) == second


def test_a_session_that_is_saved_anew_keeps_where_its_supervisor_is() -> None:
    state = local_state.with_context(saved(stored("one")), "one", "/work")

    again = local_state.save_session(state, stored("one")).sessions["one"]
    assert again.supervisor_context_cwd == "/work"


@pytest.mark.rule("H1")
def test_a_session_can_be_saved_without_becoming_the_current_one() -> None:
    state = local_state.save_session(saved(stored("one")), stored("two"), make_current=False)

    assert state.current_session_ids == {"workshop": "one"}
    assert set(state.sessions) == {"one", "two"}


@pytest.mark.rule("H2")
def test_over_all_rooms_the_newest_current_session_counts_until_it_ends() -> None:
    here, there = stored("here"), stored("there", ELSEWHERE, at=LATER)
    state = saved(here, there)
    over = local_state.ended(there, now=LATER)
    without = local_state.save_session(state, over)

    assert local_state.current_session(state) == there
    assert local_state.current_session(state, ROOM) == here
    assert local_state.current_session(without) == here
    assert local_state.current_session(without, ELSEWHERE) is None
    assert local_state.current_session(LocalState()) is None


@pytest.mark.rule("H2")
def test_a_current_session_that_is_not_stored_counts_as_none() -> None:
    state = LocalState(current_session_ids={"workshop": "forgotten"})

    assert local_state.current_session(state, ROOM) is None


@pytest.mark.rule("H3")
def test_the_next_session_of_a_local_agent_ends_those_before_it() -> None:
    controller = attrs.evolve(stored("watching"), session_kind="controller")
    another = attrs.evolve(stored("another"), agent_key="ada/other")
    before = saved(controller, another, stored("elsewhere", ELSEWHERE), stored("old"))
    state = local_state.replace_local_worker(before, stored("new", at=LATER))

    assert {one.session_id for one in state.sessions.values() if one.ended_at} == {"old"}
    assert state.sessions["old"] == local_state.ended(before.sessions["old"], now=LATER)
    assert local_state.current_session(state, ROOM) == state.sessions["new"]


def test_the_live_workers_of_a_room_are_listed_oldest_first() -> None:
    young, old = stored("a", at=LATER), stored("b")
    over = local_state.ended(stored("c"), now=LATER)
    controller = attrs.evolve(stored("d"), session_kind="controller")
    state = saved(young, old, over, controller, stored("e", ELSEWHERE))

    assert local_state.live_workers(state, ROOM) == (old, young)


def test_an_agents_sessions_in_a_room_are_listed_newest_first() -> None:
    old, young = stored("old"), stored("young", at=LATER)
    state = saved(old, young, stored("elsewhere", ELSEWHERE))

    assert local_state.lineage(state, ROOM, "ada/agent") == (young, old)
    assert local_state.lineage(state, ROOM, "") == ()


@pytest.mark.rule("H4")
def test_joining_again_keeps_what_is_not_said_anew() -> None:
    state, first = local_state.save_room(
        LocalState(),
        ROOM,
        joined_via="join_code",
        now=NOW,
        project_id="p",
        code="AAAA-BBBB-CCCC",
        display_name="Workshop",
        git_room={"branch": "main"},
        last_message_id="msg_7",
    )
    state, again = local_state.save_room(state, ROOM, joined_via="join_room", now=LATER)

    assert again == attrs.evolve(first, joined_via="join_room", last_seen_at=LATER)
    assert state.rooms == {"workshop": again}
    assert state.current_room == again


@pytest.mark.rule("H4")
def test_a_git_room_is_emptied_only_when_that_is_said() -> None:
    state, _ = local_state.save_room(
        LocalState(), ROOM, joined_via="config", now=NOW, git_room={"branch": "main"}
    )
    _, kept = local_state.save_room(state, ROOM, joined_via="config", now=NOW)
    _, emptied = local_state.save_room(state, ROOM, joined_via="config", now=NOW, git_room=None)

    assert kept.git_room == {"branch": "main"}
    assert emptied.git_room is None


@pytest.mark.rule("H5")
def test_touching_an_unknown_room_creates_nothing() -> None:
    assert local_state.touch_room(LocalState(), ROOM, now=NOW) == (LocalState(), None)


def test_touching_a_room_notes_when_it_was_seen_and_how_far_it_was_read() -> None:
    state, _ = local_state.save_room(
        LocalState(), ROOM, joined_via="config", now=NOW, last_message_id="msg_7"
    )
    state, seen = local_state.touch_room(state, ROOM, now=LATER)
    state, read = local_state.touch_room(state, ROOM, now=LATER, last_message_id="msg_8")

    assert seen is not None
    assert read is not None
    assert (seen.last_seen_at, seen.last_message_id) == (LATER, "msg_7")
    assert read.last_message_id == "msg_8"
    assert state.current_room == read


@pytest.mark.rule("H8")
@pytest.mark.parametrize(
    ("known", "seen", "kept"),
    [("msg_10", "msg_9", "msg_10"), ("msg_9", "msg_10", "msg_10"), ("17", "msg_3", "msg_3")],
)
def test_how_far_a_room_was_read_never_goes_back(known: str, seen: str, kept: str) -> None:
    state, _ = local_state.save_room(
        LocalState(), ROOM, joined_via="config", now=NOW, last_message_id=known
    )

    _, room = local_state.touch_room(state, ROOM, now=LATER, last_message_id=seen)

    assert room is not None
    assert room.last_message_id == kept


def test_touching_another_room_leaves_the_current_one() -> None:
    state, _ = local_state.save_room(LocalState(), ELSEWHERE, joined_via="config", now=NOW)
    state, current = local_state.save_room(state, ROOM, joined_via="config", now=NOW)
    state, _ = local_state.touch_room(state, ELSEWHERE, now=LATER)

    assert state.current_room == current


def signed_in(**auth: object) -> LocalState:
    who = {"id": " 7 ", "login": "Ada", "display_name": "Ada Lovelace"}
    return LocalState(extra={"auth": {"token": "secret", "account": who, **auth}})


@pytest.mark.rule("H9")
def test_a_sign_in_of_nobody_knows_whom_is_unverified() -> None:
    assert local_state.is_unverified(signed_in(account=None), now=NOW)
    assert local_state.is_unverified(signed_in(account={"login": " "}), now=NOW)
    assert not local_state.is_unverified(signed_in(), now=NOW)
    assert not local_state.is_unverified(LocalState(), now=NOW)
    over = signed_in(account=None, expires_at="1999-01-01T00:00:00.000Z")
    assert not local_state.is_unverified(over, now=NOW)


@pytest.mark.rule("H6")
@pytest.mark.parametrize(
    "expiry", [{}, {"expires_at": "2030-01-01T00:00:00.001Z"}, {"expires_at": "one day"}], ids=str
)
def test_who_is_signed_in_counts_until_it_expires(expiry: dict[str, str]) -> None:
    account = local_state.account(signed_in(**expiry), now=NOW)

    assert account == Account("7", "Ada", "Ada Lovelace")


@pytest.mark.rule("H6")
@pytest.mark.parametrize(
    "state",
    [
        signed_in(expires_at="2030-01-01T00:00:00.000Z"),
        signed_in(expires_at="2029-12-31"),
        signed_in(expires_at="0001-01-01T00:00:00+14:00"),
        signed_in(account={"login": " "}),
        signed_in(account={"id": "7"}),
        signed_in(account="Ada"),
        LocalState(extra={"auth": "Ada"}),
        LocalState(),
    ],
    ids=range(8),
)
def test_an_expired_or_incomplete_sign_in_counts_as_none(state: LocalState) -> None:
    assert local_state.account(state, now=NOW) is None


@pytest.mark.rule("H7")
@pytest.mark.parametrize("before", [None, "", "  "])
def test_a_machine_without_a_name_takes_the_first_that_is_offered(before: str | None) -> None:
    state, name = local_state.ensure_host_id(LocalState(local_host_id=before), "host_1")

    assert name == "host_1"
    assert local_state.ensure_host_id(state, "host_2") == (state, "host_1")


def test_a_foreign_secret_is_a_token_that_prints_nothing_either() -> None:
    token = ForeignToken("a secret of 30 characters.")

    assert isinstance(token, Token)
    assert "secret of" not in f"{token} {token!r}"
    assert token == ForeignToken("a secret of 30 characters.")


def test_what_is_passed_on_unread_is_not_shown() -> None:
    assert "secret" not in repr(signed_in())
