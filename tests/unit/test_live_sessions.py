"""What is remembered of live sessions, and what becomes of them."""

from datetime import UTC, datetime, timedelta

import attrs
import pytest

from letagents.domain import live_sessions, local_state
from letagents.domain.ids import RoomId, Token
from letagents.domain.live_sessions import LiveSession, Status, derived
from letagents.domain.local_state import LocalState, StoredSession
from letagents.domain.throttles import Throttle
from letagents.domain.ticks import Tick

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
SESSION = LiveSession(
    session_id="one",
    room_id="workshop",
    room_identifier="workshop",
    cwd="/work",
    repo_branch="main",
    token="LOCAL_CODEX_ROOM_1",
    codex_bin="/opt/codex",
    started_at=live_sessions.text_of(NOW),
    updated_at=live_sessions.text_of(NOW),
)


@pytest.mark.rule("Y34")
def test_a_session_that_is_saved_is_its_room_s_current_one() -> None:
    second = attrs.evolve(SESSION, session_id="two")
    state = live_sessions.saved(live_sessions.saved(LocalState(), SESSION), second)

    assert live_sessions.current(state, RoomId("workshop")) == second
    assert live_sessions.of_id(state, "one") == SESSION


@pytest.mark.rule("Y34")
def test_a_session_that_is_noted_displaces_no_other() -> None:
    second = attrs.evolve(SESSION, session_id="two")
    state = live_sessions.saved(live_sessions.saved(LocalState(), SESSION), second)
    later = NOW + timedelta(minutes=1)
    state, noted = live_sessions.noted(state, "one", now=later, status=Status.FAILED)
    same, nobody = live_sessions.noted(state, "three", now=later, status=Status.FAILED)

    assert noted is not None
    assert (noted.status, noted.updated_at) == (Status.FAILED, live_sessions.text_of(later))
    assert live_sessions.current(state, RoomId("workshop")) == second
    assert [one.session_id for one in live_sessions.known(state)] == ["one", "two"]
    assert (same, nobody) == (state, None)


@pytest.mark.rule("Y36")
def test_of_two_that_begin_at_once_the_first_is_the_one() -> None:
    first = attrs.evolve(SESSION, status=Status.RUNNING)
    second = attrs.evolve(first, session_id="two")
    state, one = live_sessions.begun(LocalState(), first, None)
    same, other = live_sessions.begun(state, second, None)
    elsewhere = attrs.evolve(second, cwd="/elsewhere")

    assert (one, other, same) == (first, first, state)
    assert live_sessions.begun(state, second, "one")[1] == second
    assert live_sessions.begun(state, elsewhere, None)[1] == elsewhere
    over, _ = live_sessions.noted(state, "one", now=NOW, status=Status.FAILED)
    assert live_sessions.begun(over, second, None)[1] == second


def test_what_another_program_wrote_there_is_kept_and_what_is_no_session_is_passed_over() -> None:
    theirs = {**live_sessions.plain(SESSION), "server_pid": 7, "theirs": {"x": 1}}
    records = {"one": theirs, "odd": [], "poor": {"session_id": "poor"}}
    state = LocalState(extra={live_sessions.SESSIONS: records})
    state, _ = live_sessions.noted(state, "one", now=NOW, status=Status.RUNNING)
    kept = state.extra[live_sessions.SESSIONS]

    assert isinstance(kept, dict)
    assert kept["one"]["theirs"] == {"x": 1}
    assert kept["odd"] == []
    assert [one.server_pid for one in live_sessions.known(state)] == [7]


@pytest.mark.rule("Y35")
@pytest.mark.parametrize(
    ("before", "thread", "turn", "after"),
    [
        (Status.RUNNING, "systemError", "completed", Status.FAILED),
        (Status.RUNNING, "idle", "failed", Status.FAILED),
        (Status.RUNNING, "active", "completed", Status.COMPLETED),
        (Status.RUNNING, "idle", "interrupted", Status.INTERRUPTED),
        (Status.STARTING, "active", None, Status.RUNNING),
        (Status.STARTING, "idle", "inProgress", Status.RUNNING),
        (Status.STARTING, "idle", None, Status.STARTING),
        (Status.UNKNOWN, None, None, Status.UNKNOWN),
    ],
)
def test_what_became_of_a_session_is_read_off_its_thread(
    before: Status, thread: str | None, turn: str | None, after: Status
) -> None:
    assert derived(before, thread=thread, turn=turn) is after


@pytest.mark.rule("Y35")
def test_of_a_session_out_of_reach_only_an_end_is_known() -> None:
    found = {one: derived(one, thread=None, turn=None, is_reachable=False) for one in Status}

    assert {one for one, now in found.items() if now is one} == {
        Status.COMPLETED,
        Status.INTERRUPTED,
        Status.UNKNOWN,
    }
    assert set(found.values()) == {Status.COMPLETED, Status.INTERRUPTED, Status.UNKNOWN}


@pytest.mark.rule("Y36")
def test_a_session_is_gone_on_with_in_its_own_place_only() -> None:
    anywhere = attrs.evolve(SESSION, repo_branch=None)

    assert SESSION.is_at("workshop", "/work", "main")
    assert anywhere.is_at("workshop", "/work", None)
    assert not SESSION.is_at("workshop", "/work", None)
    assert not anywhere.is_at("workshop", "/work", "main")
    assert not SESSION.is_at("workshop", "/elsewhere", "main")
    assert not SESSION.is_at("harbour", "/work", "main")


@pytest.mark.rule("Y37")
def test_everybody_may_see_a_session_but_not_its_mark() -> None:
    public = SESSION.public()

    assert public["repo_branch"] == "main"
    assert not {"token", "codex_bin", "room_identifier", "reasoning_session_id"} & set(public)
    assert SESSION.token not in repr(SESSION)


def test_a_session_is_told_where_it_works_and_when_it_ends() -> None:
    told = live_sessions.prompt(
        attrs.evolve(
            SESSION,
            room_identifier='a "room"',
            stop_phrase="stop\nnow",
            deadline_utc=live_sessions.deadline(NOW, 30),
        )
    )
    by_code = live_sessions.prompt(attrs.evolve(SESSION, joined_via="join_code"))

    assert "Work in /work, on the branch main. Stop at 2030-01-01 12:30:00 UTC." in told
    assert 'join_room {"name": "a \\"room\\"", "session_mode": "current"}' in told
    assert "exactly stop now, end" in told
    assert "LOCAL_CODEX_ROOM_1_DONE" in told
    assert 'join_code {"code": "workshop"' in by_code
    assert "no deadline" in by_code.lower()
    assert live_sessions.deadline(NOW, 0) is None


def worker(name: str, **more: object) -> StoredSession:
    given = {"runtime": "codex", "created_at": NOW, "updated_at": NOW, "last_seen_at": NOW}
    return StoredSession(
        session_id=name,
        session_token=Token("s" * 43),
        room_id="workshop",
        **{**given, **more},  # type: ignore[arg-type]  # the fields of a session, by their names
    )


@pytest.mark.parametrize(
    "mark",
    [
        {"runtime": "Codex"},
        {"runtime": "", "ide_label": "codex"},
        {"runtime": "", "liveness_capability": "codex_app_server"},
        {"runtime": "", "tool_bridge_id": "bridge:Codex:1"},
    ],
)
def test_a_worker_of_codex_is_known_by_any_of_its_marks(mark: dict[str, object]) -> None:
    assert live_sessions.is_codex(worker("x", **mark))


def test_a_worker_of_another_program_is_none_of_codex() -> None:
    assert not live_sessions.is_codex(worker("x", runtime="antigravity", tool_bridge_id="codexes"))


@pytest.mark.rule("Y48")
def test_a_live_session_is_the_worker_that_it_was_bound_to_or_the_first_since_it_began() -> None:
    early = worker("early", created_at=NOW - timedelta(hours=1))
    first = worker("first", created_at=NOW + timedelta(seconds=5))
    later = worker("later", created_at=NOW + timedelta(seconds=9))
    claude = worker("claude", runtime="claude-code", created_at=NOW + timedelta(seconds=1))
    state = LocalState()
    for one in (early, claude, later, first):
        state = local_state.save_session(state, one)
    bound = attrs.evolve(SESSION, agent_session_id="later")
    another = attrs.evolve(SESSION, session_id="two", agent_session_id="first")
    before = attrs.evolve(SESSION, started_at=live_sessions.text_of(NOW + timedelta(days=1)))

    assert live_sessions.worker(state, SESSION) == first
    assert live_sessions.worker(state, bound) == later
    assert live_sessions.worker(live_sessions.saved(state, another), SESSION) == later
    assert live_sessions.worker(state, before) is None
    assert live_sessions.worker(LocalState(), SESSION) is None


@pytest.mark.rule("Y35")
@pytest.mark.parametrize("end", [Status.COMPLETED, Status.INTERRUPTED])
def test_an_end_that_was_seen_is_kept_by_who_does_not_see_it_any_more(end: Status) -> None:
    state = live_sessions.saved(LocalState(), attrs.evolve(SESSION, status=end))
    _, noted = live_sessions.noted(
        state, "one", now=NOW, status=Status.UNKNOWN, last_error="nobody answers"
    )

    assert noted is not None
    assert (noted.status, noted.last_error) == (end, None)


def test_fields_that_another_program_wrote_in_another_form_count_as_not_there() -> None:
    odd = {"max_minutes": "long", "server_pid": True, "launched_server": "yes", "cwd": "/work"}
    found = live_sessions.read({**live_sessions.plain(SESSION), **odd})

    assert found is not None
    assert (found.max_minutes, found.server_pid, found.launched_server) == (0, None, False)


@pytest.mark.rule("Y38")
def test_progress_is_shown_no_more_often_than_it_can_be_read() -> None:
    throttle = Throttle()

    def shown(what: str, at: float) -> bool:
        return throttle.admits(what, Tick("boot", at))

    assert shown("a", 0.0)
    assert not shown("b", 0.7)
    assert shown("b", 0.8)
    assert not shown("b", 30.7)
    assert shown("b", 30.9)
    assert throttle.admits("b", Tick("another boot", 0.0))


@pytest.mark.rule("Y39")
def test_a_session_with_a_limit_lasts_no_longer() -> None:
    limited = attrs.evolve(SESSION, max_minutes=30, status=Status.RUNNING)
    half, late = NOW + timedelta(minutes=15), NOW + timedelta(hours=1)

    assert live_sessions.time_left(limited, half) == timedelta(minutes=15)
    assert live_sessions.time_left(limited, late) == timedelta(0)
    for other in (
        attrs.evolve(limited, max_minutes=0),
        attrs.evolve(limited, status=Status.COMPLETED),
        attrs.evolve(limited, started_at="yesterday"),
        attrs.evolve(limited, started_at="2030-01-01"),
    ):
        assert live_sessions.time_left(other, late) is None
