"""What may be asked for, word for word."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letagents.domain import intents
from letagents.domain.errors import Malformed
from letagents.domain.intents import (
    Action,
    asking,
    change_payload,
    checked_payload,
    create_payload,
    lease_payload,
    payload_hash,
    using,
    words,
)

CLAIM = change_payload("task_3", status="assigned", assignee="Ada", assignee_agent_key="ada/a")
HANDOFF = lease_payload("task_3", "handoff", lease_id="lease_1", target_actor_key="ada/b")


@pytest.mark.rule("P10")
def test_a_payload_has_exactly_its_fields_and_no_blanks_at_its_ends() -> None:
    assert create_payload("  Oil the gate ", " ", " msg_3 ") == {
        "title": "Oil the gate",
        "description": None,
        "source_message_id": "msg_3",
    }
    assert list(CLAIM) == ["task_id", "status", "assignee", "assignee_agent_key", "pr_url"]
    assert list(HANDOFF) == [
        "task_id",
        "action",
        "lease_id",
        "target_actor_key",
        "target_agent_session_id",
    ]
    assert checked_payload(Action.TASK_OVERRIDE, HANDOFF) == HANDOFF


@pytest.mark.rule("P10")
@pytest.mark.parametrize(
    ("action", "given", "named"),
    [
        (Action.TASK_CREATE, {}, "payload.title"),
        (Action.TASK_CREATE, {"title": " "}, "payload.title"),
        (Action.TASK_CREATE, {"title": 1}, "payload.title"),
        (Action.TASK_CREATE, {"title": "x" * 301}, "payload.title"),
        (Action.TASK_CREATE, {"title": "x", "status": "done"}, "payload.status"),
        (Action.TASK_CREATE, {"title": "x", "source_message_id": "1"}, "payload.source_message_id"),
        (Action.TASK_CLAIM, {"status": "assigned"}, "payload.task_id"),
        (Action.TASK_CLAIM, {"task_id": "3", "status": "assigned"}, "payload.task_id"),
        (Action.TASK_CLAIM, {"task_id": "task_3", "status": "done"}, "payload.status"),
        (Action.TASK_CLOSE, {"task_id": "task_3"}, "payload.status"),
        (Action.TASK_CLOSE, {"task_id": "task_3", "action": "release"}, "payload.action"),
        (Action.TASK_OVERRIDE, {"task_id": "task_3", "action": "steal"}, "payload.action"),
        (
            Action.TASK_OVERRIDE,
            {"task_id": "task_3", "action": "handoff"},
            "payload.target_actor_key",
        ),
        (Action.TASK_UPDATE, {"task_id": "task_3", "status": "gone"}, "payload.status"),
        (Action.TASK_UPDATE, {"task_id": "task_3", "x\x1b": "y"}, "payload."),
    ],
)
def test_what_has_not_the_form_of_its_kind_is_refused_by_the_name_of_its_field(
    action: Action, given: dict[str, object], named: str
) -> None:
    with pytest.raises(Malformed) as refused:
        checked_payload(action, given)

    assert refused.value.happened.startswith(named)
    assert "\x1b" not in str(refused.value)


@pytest.mark.rule("P11")
@given(
    st.dictionaries(
        st.sampled_from(["title", "description", "task_id"]),
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    )
)
def test_a_hash_is_that_of_the_json_that_every_program_writes(
    payload: dict[str, str | None],
) -> None:
    spelt = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert payload_hash(payload) == hashlib.sha256(spelt.encode()).hexdigest()
    assert payload_hash(dict(reversed(payload.items()))) == payload_hash(payload)


def test_what_is_asked_for_is_told_in_words_that_mention_nobody() -> None:
    assert words(Action.TASK_CLAIM, CLAIM) == "claim task_3"
    assert words(Action.TASK_OVERRIDE, HANDOFF) == "hand task_3 over to ada/b"
    long = create_payload(f"Tell\n@everyone {'x' * 200}")
    told = words(Action.TASK_CREATE, long)
    assert told.startswith("create the task “Tell @ everyone xx")
    assert len(told) < 110
    release = lease_payload("task_3", "release")
    assert words(Action.TASK_OVERRIDE, release) == "release the lease of task_3"
    closing = change_payload("task_3", status="done")
    assert words(Action.TASK_CLOSE, closing) == "set task_3 to done"
    assert words(Action.TASK_UPDATE, change_payload("task_3")) == "change task_3"


@pytest.mark.parametrize(
    ("action", "payload", "asks", "uses"),
    [
        (
            Action.TASK_CREATE,
            create_payload("Tabs"),
            "register_task_create_intent(title='Tabs')",
            "add_task(title='Tabs', board_intent_id='intent_1')",
        ),
        (
            Action.TASK_CLAIM,
            CLAIM,
            "register_task_claim_intent(task_id='task_3')",
            "claim_task(task_id='task_3', board_intent_id='intent_1')",
        ),
        (
            Action.TASK_CLOSE,
            change_payload("task_3", status="done", pr_url="https://x/1"),
            "register_task_close_intent(task_id='task_3', status='done', pr_url='https://x/1')",
            (
                "update_task(task_id='task_3', status='done', pr_url='https://x/1', "
                "board_intent_id='intent_1')"
            ),
        ),
        (
            Action.TASK_OVERRIDE,
            HANDOFF,
            (
                "register_task_lease_action_intent(task_id='task_3', action='handoff', "
                "lease_id='lease_1', target_agent_key='ada/b')"
            ),
            (
                "handoff_task_lease(task_id='task_3', lease_id='lease_1', "
                "target_agent_key='ada/b', board_intent_id='intent_1')"
            ),
        ),
        (
            Action.TASK_OVERRIDE,
            lease_payload("task_3", "release"),
            "register_task_lease_action_intent(task_id='task_3', action='release')",
            "release_task_lease(task_id='task_3', board_intent_id='intent_1')",
        ),
        (
            Action.TASK_OVERRIDE,
            change_payload("task_3", status="accepted"),
            (
                "register_board_intent(action_type='task_override', "
                "payload={'task_id': 'task_3', 'status': 'accepted'})"
            ),
            "update_task(task_id='task_3', status='accepted', board_intent_id='intent_1')",
        ),
    ],
)
def test_the_calls_that_ask_and_that_use_are_those_of_the_tools(
    action: Action, payload: intents.Payload, asks: str, uses: str
) -> None:
    assert asking(action, payload) == asks
    assert using(action, payload, "intent_1") == uses


def test_a_token_never_prints_itself() -> None:
    token = intents.ApprovalToken("s" * 43)

    assert "sss" not in f"{token} {token!r} {intents.Approval('intent_1', token)}"
    with pytest.raises(Malformed) as refused:
        intents.ApprovalToken("a secret")
    assert "a secret" not in str(refused.value)
