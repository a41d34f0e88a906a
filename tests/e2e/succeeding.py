"""Calls of every tool that succeed in a local room, in an order in which each finds what it needs.

Whoever plays them brings a way to call: over pipes, or through the inspector.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

Plain = dict[str, Any]
Call = Callable[[str, Plain], Plain]
"""Return what a tool that is called with such arguments returns, having succeeded."""

ONLY_REFUSED = {
    "start_local_codex_session": "Codex is not installed",
    "status_local_codex_session": "there is no live session",
    "stop_local_codex_session": "there is no live session",
    "begin_workspace_capture": "only a server keeps captured workspaces",
    "publish_workspace_capture": "only a server keeps captured workspaces",
    "start_device_auth": "there is no server to sign in at",
    "poll_device_auth": "there is no server to sign in at",
}
"""Tools that can do nothing in a local room, and why; they answer with a result that says so."""

REFUSED_WITH: dict[str, Plain] = {
    "start_local_codex_session": {"room": "workshop"},
    "begin_workspace_capture": {"room_id": "workshop"},
    "publish_workspace_capture": {
        "room_id": "workshop",
        "capture_id": "capture_1",
        "summary": "what was changed",
    },
}
"""What some of them are called with."""


def made_in(folder: Path) -> Path:
    """Return a repository, made there."""
    subprocess.run(["git", "init", "-q", str(folder / "repository")], check=True)
    return folder / "repository"


@attrs.define
class Story:
    """Two workers of one process in the room of a repository, who call every tool."""

    call: Call
    repository: Path
    called: set[str] = attrs.field(factory=set)
    ada: Plain = attrs.field(factory=dict)
    bob: Plain = attrs.field(factory=dict)

    def play(self) -> set[str]:
        """Call them all; return which were called."""
        self._rooms()
        self._talk()
        self._memory()
        self._work()
        self._review()
        self._govern()
        self._leave()
        return self.called

    def _do(self, tool: str, *, by: Plain | None = None, **arguments: object) -> Plain:
        self.called.add(tool)
        who = {"worker_id": by["worker_id"]} if by else {}
        return self.call(tool, {**who, **arguments})

    def _rooms(self) -> None:
        one, other = self._do("create_room"), self._do("create_project")
        self._do("join_code", code=one["code"])
        self._do("join_project", code=other["code"])
        self._do("join_room", name="workshop")
        self.ada, self.bob = (
            self._do(
                "register_agent_session",
                registration_key=name,
                display_name=name,
                room_id="workshop",
            )
            for name in ("Ada", "Bob")
        )
        self._do("resume_room_session", by=self.ada, room_id="workshop")
        self._do("get_current_room")
        for tool in ("check_repo", "check_repo_visibility", "get_onboarding_status"):
            self._do(tool, cwd=str(self.repository))
        self._do("initialize_repo", cwd=str(self.repository), room="workshop")
        self._do("clear_saved_auth")

    def _talk(self) -> None:
        said = self._do("send_message", by=self.ada, text="The roof leaks")
        self._do("send_thread_message", by=self.bob, text="Where?", thread_parent_id=said["id"])
        self._do("read_messages", by=self.ada)
        self._do("wait_for_messages", by=self.ada, after_message_id=said["id"], timeout=1000)
        self._do("search_messages", by=self.ada, words="roof")
        self._do("post_status", by=self.ada, status="looking")
        self._do("post_reasoning", by=self.ada, summary="It leaks where it was mended")

    def _memory(self) -> None:
        said = {"title": "The roof", "body": "It is of slate"}
        self._do("remember_room_fact", by=self.ada, client_id="fact-0001", category="term", **said)
        self._do("get_room_memory", by=self.bob)
        asked = {"client_id": "request-0001", "category": "question", **said}
        self._do("request_human_input", by=self.ada, **asked)
        self._do("get_human_requests", by=self.bob)
        self._do("get_room_guidelines", by=self.bob)
        after = {"after_ms": 60_000}
        rule = self._do("add_wake_rule", by=self.ada, event="timer", arguments=after)
        self._do("list_wake_rules", by=self.ada)
        self._do("cancel_wake_rule", by=self.ada, rule_id=_id_in(rule, "wake_"))

    def _work(self) -> None:
        for title in ("Mend the roof", "Oil the gate"):
            task_id = _id_in(self._do("add_task", by=self.ada, title=title), "task_")
            self._do("update_task", by=self.ada, task_id=task_id, status="accepted")
        self._do("claim_task", by=self.ada, task_id="task_1")
        self._do("get_board", by=self.ada)
        self._do("claim_paths", by=self.ada, task_id="task_1", patterns=["roof/**"])
        self._do("list_path_claims", by=self.bob)
        self._do("release_paths", by=self.ada, task_id="task_1")
        branch = {"provider": "github", "kind": "branch", "ref": "roof", "url": "https://a.b/c"}
        self._do("publish_room_artifact", by=self.ada, artifact=branch, task_id="task_1")
        self._do("get_room_artifacts", by=self.bob)
        self._do("get_room_events", by=self.bob)

    def _review(self) -> None:
        self._do("complete_task", by=self.ada, task_id="task_1")
        self._do("claim_task_review", by=self.bob, task_id="task_1")
        verdict = {"expected_head_sha": "0" * 40, "idempotency_key": "verdict-1"}
        self._do(
            "submit_review_verdict", by=self.bob, task_id="task_1", verdict="comment", **verdict
        )
        self._do("release_task_review", by=self.bob, task_id="task_1")
        to = self.bob["agent_session"]["agent_key"]
        self._do("handoff_task_lease", by=self.ada, task_id="task_1", target_agent_key=to)
        self._do("release_task_lease", by=self.bob, task_id="task_1")
        self._do("claim_task", by=self.ada, task_id="task_1")

    def _govern(self) -> None:
        self._do("get_board_settings", by=self.ada)
        self._do("set_board_manager_mode", by=self.ada, manager_mode="intent_required")
        session = self.bob["agent_session"]["session_id"]
        self._do("assign_board_manager", by=self.ada, agent_session_id=session)
        ask = self.ada
        made = self._do("register_task_create_intent", by=ask, title="Sweep the yard")
        self._do("approve_board_intent", by=self.bob, intent_id=_id_in(made, "intent_"))
        claim = self._do("register_task_claim_intent", by=ask, task_id="task_2")
        self._do("deny_board_intent", by=self.bob, intent_id=_id_in(claim, "intent_"))
        self._do("register_task_close_intent", by=ask, task_id="task_2", status="cancelled")
        self._do("register_task_lease_action_intent", by=ask, task_id="task_1", action="release")
        payload = {"task_id": "task_3", "status": "accepted"}
        self._do("register_board_intent", by=ask, action_type="task_override", payload=payload)
        self._do("list_board_intents", by=self.bob)
        self._do("release_board_manager", by=self.ada)

    def _leave(self) -> None:
        self._do("set_agent_name", name="Ada")
        for one in (self.bob, self.ada):
            self._do("disconnect_agent_session", by=one, room_id="workshop")


def _id_in(result: object, prefix: str) -> str:
    """Return the first id of that kind in a result."""
    if isinstance(result, str) and result.startswith(prefix):
        return result
    parts = list(result.values()) if isinstance(result, dict) else result
    if not isinstance(parts, list):
        return ""
    return next((found for one in parts if (found := _id_in(one, prefix))), "")
