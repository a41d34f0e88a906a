"""Which tools each kind of process offers.

(Source: mcp-tools 3.) A profile says what a process is for. The table below names tools; whether
this version has them all is the entry points' matter.

U1   A process offers the tools of the table that its profile has, in the table's order, no others.
U2   `complete_room_turn` is offered where a room turn's provider is cursor, and nowhere else.
U3   A room turn in the local rooms of its supervisor offers only what has a local operation.
U4   No profile offers a tool for renting agents.
U5   A tool that the table does not call a reading one counts as a change.
U6   The core set is part of the full one, in every profile.
"""

import enum

import attrs

LOCAL_ROOMS = "letagents-local://rooms"
"""The address of the rooms that a supervisor keeps on this machine."""


class Profile(enum.Enum):
    """What a process is for."""

    SUPERVISED_ROOM_TURN = "supervised_room_turn"
    SUPERVISED_MCP_POLLING = "supervised_mcp_polling"
    AUTONOMOUS_MCP_WORKER = "autonomous_mcp_worker"
    INTERACTIVE_DESKTOP = "interactive_desktop"

    @property
    def is_independent(self) -> bool:
        """Whether nobody supervises it."""
        return self in INDEPENDENT


class Toolset(enum.Enum):
    """How many of the tools are wanted."""

    FULL = "full"
    CORE = "core"


_TURN, _POLL = Profile.SUPERVISED_ROOM_TURN, Profile.SUPERVISED_MCP_POLLING
INDEPENDENT = frozenset({Profile.AUTONOMOUS_MCP_WORKER, Profile.INTERACTIVE_DESKTOP})
EVERYBODY = frozenset(Profile)
WAITERS = EVERYBODY - {_TURN}


@attrs.frozen
class Caller:
    """What a process is told of itself."""

    profile: Profile = Profile.AUTONOMOUS_MCP_WORKER
    bounded: bool = False
    provider: str | None = None
    has_bearer: bool = False
    has_owner_token: bool = False
    api_url: str | None = None
    toolset: Toolset = Toolset.FULL
    is_afar: bool = False
    """Whether it serves who is on another machine."""

    @property
    def is_in_local_turn(self) -> bool:
        """Whether it is a room turn in the local rooms of its supervisor."""
        return self.profile is _TURN and self.api_url == LOCAL_ROOMS


@attrs.frozen
class Offer:
    """One tool: who is offered it, and what it is to them.

    `local` says that it has an operation in a supervisor's local rooms; `owners` begins the
    sentence with which it is refused to those who are not. `afar` says what to do instead where
    the caller is on another machine than the tool needs.
    """

    name: str
    to: frozenset[Profile] = EVERYBODY
    reads: bool = False
    core: bool = False
    local: bool = False
    provider: str | None = None
    owners: str | None = None
    afar: str | None = None


_ONBOARDING = "This owner-auth onboarding tool"
_CODEX = "Local Codex session orchestration"
_OWN_REMOTE = (
    "Look yourself: `git remote get-url origin` in your checkout, then join_room(name=...) with "
    "host/owner/repository."
)
_OWN_FILE = (
    'Write .letagents.json in your checkout yourself, {"room": "..."}; then join_room(name=...).'
)
_SIGNED_IN = (
    "You are signed in by the token that your client shows with each call; to change who you are, "
    "your user sets another one in the client's configuration."
)
_OWN_CODEX = "Ask your user to start Codex there, with this server among its MCP servers."
_OWN_COMMIT = "Say with send_message what was changed, and in which commit."
_ALONE = INDEPENDENT

OFFERS = (
    Offer("create_room"),
    Offer("create_project"),
    Offer("join_room", core=True),
    Offer("join_code"),
    Offer("join_project"),
    Offer("register_agent_session", _ALONE, core=True),
    Offer("disconnect_agent_session", _ALONE, core=True),
    Offer("start_local_codex_session", _ALONE, owners=_CODEX, afar=_OWN_CODEX),
    Offer("status_local_codex_session", _ALONE, reads=True, owners=_CODEX, afar=_OWN_CODEX),
    Offer("stop_local_codex_session", _ALONE, owners=_CODEX, afar=_OWN_CODEX),
    Offer("get_current_room", reads=True, core=True, local=True),
    Offer("check_repo", reads=True, afar=_OWN_REMOTE),
    Offer("get_room_memory", reads=True),
    Offer("remember_room_fact"),
    Offer("request_human_input"),
    Offer("get_human_requests", reads=True),
    Offer("get_room_guidelines", reads=True),
    Offer("add_wake_rule"),
    Offer("list_wake_rules", reads=True),
    Offer("cancel_wake_rule"),
    Offer("post_status", local=True),
    Offer("post_reasoning", local=True),
    Offer("begin_workspace_capture", _ALONE, afar=_OWN_COMMIT),
    Offer("publish_workspace_capture", _ALONE, afar=_OWN_COMMIT),
    Offer("add_task", core=True, local=True),
    Offer("get_board", reads=True, core=True, local=True),
    Offer("get_board_settings", reads=True),
    Offer("set_board_manager_mode"),
    Offer("assign_board_manager"),
    Offer("release_board_manager"),
    Offer("register_board_intent"),
    Offer("register_task_create_intent"),
    Offer("register_task_claim_intent"),
    Offer("register_task_close_intent"),
    Offer("register_task_lease_action_intent"),
    Offer("list_board_intents", reads=True),
    Offer("approve_board_intent"),
    Offer("deny_board_intent"),
    Offer("get_room_events", reads=True),
    Offer("get_room_artifacts", reads=True, local=True),
    Offer("publish_room_artifact", local=True),
    Offer("claim_task", core=True, local=True),
    Offer("update_task", core=True, local=True),
    Offer("complete_task", core=True, local=True),
    Offer("claim_task_review", core=True, local=True),
    Offer("release_task_review"),
    Offer("release_task_lease", core=True, local=True),
    Offer("handoff_task_lease", local=True),
    Offer("submit_review_verdict"),
    Offer("claim_paths"),
    Offer("release_paths"),
    Offer("list_path_claims", reads=True),
    Offer("initialize_repo", afar=_OWN_FILE),
    Offer("send_message", core=True, local=True),
    Offer("send_thread_message", local=True),
    Offer("read_messages", reads=True, core=True, local=True),
    Offer("wait_for_messages", WAITERS, reads=True, core=True),
    Offer("search_messages", reads=True, core=True),
    Offer("set_reply_thread", frozenset({_TURN}), local=True),
    Offer("complete_room_turn", frozenset({_TURN}), local=True, provider="cursor"),
    Offer("start_device_auth", _ALONE, owners=_ONBOARDING, afar=_SIGNED_IN),
    Offer("poll_device_auth", _ALONE, owners=_ONBOARDING, afar=_SIGNED_IN),
    Offer("clear_saved_auth", _ALONE, owners=_ONBOARDING, afar=_SIGNED_IN),
    Offer("get_onboarding_status", _ALONE, reads=True, owners=_ONBOARDING, afar=_SIGNED_IN),
    Offer("set_agent_name", _ALONE, owners=_ONBOARDING),
    Offer("resume_room_session", _ALONE),
    Offer("check_repo_visibility", reads=True, afar=_OWN_REMOTE),
)
"""Every tool that there is, in the order in which they are listed."""

BY_NAME = {offer.name: offer for offer in OFFERS}


def offered(caller: Caller) -> tuple[str, ...]:
    """Return the names of the tools that `caller` offers, in order."""
    return tuple(offer.name for offer in OFFERS if _is_offered(offer, caller))


def _is_offered(offer: Offer, caller: Caller) -> bool:
    return (
        caller.profile in offer.to
        and (offer.provider is None or offer.provider == caller.provider)
        and (offer.local or not caller.is_in_local_turn)
        and (offer.core or caller.toolset is Toolset.FULL)
    )


def reads(name: str) -> bool:
    """Whether a tool only reads; one that nobody knows counts as a change."""
    offer = BY_NAME.get(name)
    return offer is not None and offer.reads
