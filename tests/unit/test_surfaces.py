"""Which tools each kind of process offers."""

import itertools

import pytest

from letagents.domain.surfaces import (
    BY_NAME,
    LOCAL_ROOMS,
    OFFERS,
    Caller,
    Profile,
    Toolset,
    offered,
    reads,
)

TURN = Profile.SUPERVISED_ROOM_TURN
POLL = Profile.SUPERVISED_MCP_POLLING
ALONE = (Profile.AUTONOMOUS_MCP_WORKER, Profile.INTERACTIVE_DESKTOP)
CODEX = Caller(profile=TURN, bounded=True, provider="codex", api_url="https://rooms.example")
EVERY = [
    Caller(profile=profile, provider=provider, api_url=api_url, toolset=toolset)
    for profile, provider, api_url, toolset in itertools.product(
        Profile, (None, "cursor", "codex"), (None, LOCAL_ROOMS), Toolset
    )
]


@pytest.mark.rule("U1")
@pytest.mark.parametrize("caller", EVERY)
def test_whatever_is_offered_is_in_the_table_s_order(caller: Caller) -> None:
    order = [offer.name for offer in OFFERS]

    names = offered(caller)

    assert list(names) == [name for name in order if name in names]


@pytest.mark.rule("U1")
def test_a_room_turn_takes_part_and_manages_nothing_of_its_own() -> None:
    names = set(offered(CODEX))

    assert {"read_messages", "get_board", "claim_task", "publish_room_artifact"} <= names
    assert {"send_message", "join_room", "set_reply_thread"} <= names
    assert not names & {
        *("wait_for_messages", "register_agent_session", "disconnect_agent_session"),
        *("start_local_codex_session", "start_device_auth", "get_onboarding_status"),
        *("resume_room_session", "begin_workspace_capture", "complete_room_turn"),
    }


@pytest.mark.rule("U1")
def test_polling_is_a_room_turn_s_tools_with_waiting_instead_of_threads() -> None:
    polling = set(offered(Caller(profile=POLL, provider="codex")))

    assert polling == set(offered(CODEX)) - {"set_reply_thread"} | {"wait_for_messages"}


@pytest.mark.rule("U1")
@pytest.mark.parametrize("profile", ALONE)
def test_who_is_not_supervised_is_offered_all_but_a_turn_s_own_tools(profile: Profile) -> None:
    every = [offer.name for offer in OFFERS]

    names = offered(Caller(profile=profile, provider="cursor"))

    assert set(every) - set(names) == {"set_reply_thread", "complete_room_turn"}


@pytest.mark.rule("U2")
@pytest.mark.parametrize("provider", ["cursor", "codex", "claude-code", "open-model", None])
@pytest.mark.parametrize("profile", Profile)
def test_only_cursor_completes_a_room_turn_by_a_call(profile: Profile, provider: str) -> None:
    names = offered(Caller(profile=profile, provider=provider))

    assert ("complete_room_turn" in names) == (profile is TURN and provider == "cursor")


@pytest.mark.rule("U3")
@pytest.mark.parametrize("provider", ["cursor", "codex", "claude-code"])
def test_a_turn_in_local_rooms_has_what_works_there(provider: str) -> None:
    names = set(offered(Caller(profile=TURN, provider=provider, api_url=LOCAL_ROOMS)))

    assert names - {"complete_room_turn"} == {
        *("get_current_room", "read_messages", "send_message", "send_thread_message"),
        *("post_status", "post_reasoning", "get_board", "add_task", "claim_task"),
        *("complete_task", "update_task", "release_task_lease", "handoff_task_lease"),
        *("claim_task_review", "get_room_artifacts", "publish_room_artifact"),
        "set_reply_thread",
    }


@pytest.mark.rule("U3")
def test_the_local_rooms_of_a_supervisor_narrow_nobody_else() -> None:
    for profile in (*ALONE, POLL):
        here = Caller(profile=profile, api_url=LOCAL_ROOMS)

        assert offered(here) == offered(Caller(profile=profile))


@pytest.mark.rule("U4")
@pytest.mark.parametrize("caller", EVERY)
def test_nobody_is_offered_agents_for_rent(caller: Caller) -> None:
    assert [name for name in offered(caller) if name.startswith("rental")] == []


@pytest.mark.rule("U5")
def test_what_is_not_known_to_read_counts_as_a_change() -> None:
    changes = ("add_wake_rule", "cancel_wake_rule", "set_reply_thread", "rental_search", "nonsense")

    assert [name for name in changes if reads(name)] == []


@pytest.mark.rule("U5")
def test_these_tools_read_and_no_others() -> None:
    assert {name for name in BY_NAME if reads(name)} == {
        *("get_current_room", "check_repo", "check_repo_visibility", "read_messages"),
        *("wait_for_messages", "get_board", "get_board_settings", "get_room_memory"),
        *("get_human_requests", "get_room_guidelines", "get_room_artifacts", "get_room_events"),
        *("list_board_intents", "get_onboarding_status", "status_local_codex_session"),
        *("list_wake_rules", "search_messages", "list_path_claims"),
    }


@pytest.mark.rule("U6")
@pytest.mark.parametrize("profile", Profile)
def test_the_core_is_part_of_the_whole(profile: Profile) -> None:
    core = set(offered(Caller(profile=profile, toolset=Toolset.CORE)))

    assert core <= set(offered(Caller(profile=profile)))
    assert {"join_room", "send_message", "get_board", "claim_task", "complete_task"} <= core


@pytest.mark.rule("U6")
def test_the_core_is_about_a_dozen_tools() -> None:
    assert offered(Caller(toolset=Toolset.CORE)) == (
        *("join_room", "register_agent_session", "disconnect_agent_session", "get_current_room"),
        *("add_task", "get_board", "claim_task", "update_task", "complete_task"),
        *("claim_task_review", "release_task_lease"),
        *("send_message", "read_messages", "wait_for_messages", "search_messages"),
    )
