"""What each route is asked and answers: a table beside those of the routes, row for row."""

from collections.abc import Mapping
from typing import Any

import attrs

from letagents.entrypoints.server.document.shapes import (
    ANYTHING,
    ANYTHING_OR_NULL,
    FLAG,
    FLAG_OR_NULL,
    INTEGER,
    INTEGER_OR_NULL,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    Schema,
    in_room,
    one_of,
    or_null,
    ref,
    several,
    shape,
)

JSON, EVENTS, PAGE = "application/json", "text/event-stream", "text/html"

_WHOLE: Schema = {"type": "string", "description": "a number above nothing, else the default"}
_LIMIT = {"limit": _WHOLE}
_CURSOR: Schema = {"type": "string", "pattern": "^msg_[1-9][0-9]{0,9}$"}


@attrs.frozen(kw_only=True)
class Operation:
    """What one route is asked, and what it answers where it does what it is asked.

    `acts` names who can act: a session (`worker`), or also the account itself (`person`).
    """

    answers: Mapping[int, Schema | None]
    query: Mapping[str, Schema] = attrs.field(factory=dict)
    body: Schema | None = None
    acts: str | None = None
    media: str = JSON
    open_to_all: bool = False
    refusals: tuple[int, ...] = ()
    """Besides those that every route has."""


def _reads(answer: Schema, **query: Schema) -> Operation:
    return Operation(answers={200: answer}, query=query)


def _does(
    answer: Schema,
    *statuses: int,
    acts: Any = "worker",
    needs: Any = (),
    **body: Schema,
) -> Operation:
    return Operation(
        answers=dict.fromkeys(statuses or (200,), answer),
        body={"type": "object", "properties": body, "required": list(needs)},
        acts=acts,
    )


Table = Mapping[tuple[str, str], Operation]

_STATE: Mapping[str, Schema] = {"status": TEXT, "version": TEXT, "error": TEXT}
_HEALTH = Operation(answers={200: shape(dict(_STATE)), 503: shape(dict(_STATE))}, open_to_all=True)

_WHO: Table = {
    ("GET", "/api/health"): _HEALTH,
    ("GET", "/healthz"): _HEALTH,
    ("GET", "/readyz"): _HEALTH,
    ("GET", "/openapi.json"): _reads(ANYTHING),
    ("GET", "/metrics"): Operation(answers={200: TEXT}, media="text/plain"),
    ("GET", "/sign-in"): Operation(
        answers={200: None, 303: None, 403: None},
        query={"code": TEXT},
        media=PAGE,
        open_to_all=True,
    ),
    ("POST", "/auth/logout"): Operation(answers={200: shape(success=FLAG)}, open_to_all=True),
    ("GET", "/auth/session"): Operation(
        answers={200: shape({"account": ref("Account")}, authenticated=FLAG)}, open_to_all=True
    ),
    ("POST", "/auth/device/start"): Operation(
        answers={
            201: shape(
                request_id=TEXT,
                user_code=TEXT,
                verification_uri=TEXT,
                expires_in=INTEGER,
                interval=INTEGER,
            )
        },
        open_to_all=True,
        refusals=(429,),
    ),
    ("GET", "/auth/device/poll/{request_id}"): Operation(
        answers={
            200: shape(
                {
                    "interval": INTEGER,
                    "expires_in": INTEGER,
                    "letagents_token": TEXT,
                    "owner_token_id": TEXT,
                    "oauth_token_expires_at": MOMENT_OR_NULL,
                    "account": ref("Account"),
                },
                status=TEXT,
            ),
            403: shape(status=TEXT),
            410: shape(status=TEXT),
        },
        open_to_all=True,
        refusals=(404, 429),
    ),
    ("POST", "/agents"): _does(
        ref("Agent"),
        201,
        acts=None,
        needs=("name",),
        name=TEXT,
        display_name=TEXT_OR_NULL,
        owner_label=TEXT_OR_NULL,
    ),
    ("GET", "/agents/me"): _reads(
        shape(
            account=shape(id=TEXT, login=TEXT, display_name=TEXT_OR_NULL),
            agents=several(ref("Agent")),
        )
    ),
}

_ROOM = "/rooms/{room_id:path}"
_MESSAGES = in_room(
    {"has_older": FLAG, "problem": ANYTHING}, messages=several(ref("Message")), has_more=FLAG
)
_ATTACHMENT = f"{_ROOM}/messages/{{message_id}}/attachments/{{attachment_id}}"
_HOST = dict.fromkeys(
    ("host_id", "host_kind", "host_label", "liveness_capability", "tool_bridge_id"), TEXT_OR_NULL
)
_PRESENT = _reads(in_room(presence=several(ref("Presence"))), scope=TEXT, **_LIMIT)

_GRANT = "/supervisor-host-grants/{grant_id}"
_MINT = (
    "generation",
    "room_id",
    "agent_key",
    "agent_instance_id",
    "display_name",
    "runtime",
    "ide_label",
)

_ROOMS: Table = {
    ("POST", "/projects"): _does(ref("Room"), 201, acts=None),
    ("GET", "/rooms"): _reads(shape(rooms=several(ref("Room")))),
    ("POST", f"{_ROOM}/join"): Operation(
        answers={200: ref("Room")}, query={"create": TEXT}, refusals=(429,)
    ),
    ("POST", f"{_ROOM}/presence"): _does(
        ref("Presence"),
        needs=("status",),
        status=TEXT,
        status_text=TEXT_OR_NULL,
        liveness_observation={"type": ["object", "null"], "properties": dict(_HOST)},
    ),
    ("PUT", f"{_ROOM}/agents/self/observation"): _does(
        in_room(first_message_id=TEXT, last_message_id=TEXT, recorded=FLAG),
        needs=("first_message_id", "last_message_id"),
        first_message_id=TEXT,
        last_message_id=TEXT,
    ),
    ("GET", f"{_ROOM}/presence"): _PRESENT,
    ("GET", f"/api{_ROOM}/presence"): _PRESENT,
    ("GET", f"{_ROOM}/participants"): _reads(
        in_room(participants=several(ref("Participant")), hidden_count=INTEGER), **_LIMIT
    ),
    ("POST", f"{_ROOM}/messages"): _does(
        {
            "allOf": [
                ref("Message"),
                shape({"mention_notices": several(ref("MentionNotice"))}),
            ]
        },
        201,
        acts="person",
        needs=("text",),
        text=TEXT,
        sender=TEXT_OR_NULL,
        reply_to=TEXT_OR_NULL,
        thread_root_id=TEXT_OR_NULL,
        attachments={"type": ["array", "null"], "items": shape(upload_id=TEXT)},
        client_message_id=TEXT_OR_NULL,
    ),
    ("GET", f"{_ROOM}/messages"): _reads(
        _MESSAGES, after=_CURSOR, before=TEXT, include_prompt_only=TEXT, **_LIMIT
    ),
    ("GET", f"{_ROOM}/messages/poll"): _reads(
        _MESSAGES, after=_CURSOR, timeout=_WHOLE, include_prompt_only=TEXT, **_LIMIT
    ),
    ("GET", f"{_ROOM}/messages/stream"): Operation(
        answers={200: ref("Event")},
        query={"after": _CURSOR, "event_cursor": TEXT, "include_prompt_only": TEXT},
        media=EVENTS,
    ),
    ("GET", f"{_ROOM}/messages/search"): _reads(
        in_room(hits=several(ref("Hit")), has_more=FLAG),
        words=TEXT,
        author=TEXT,
        thread=_CURSOR,
        since=MOMENT,
        until=MOMENT,
        before=_CURSOR,
        **_LIMIT,
    ),
    ("GET", f"{_ROOM}/messages/{{message_id}}"): _reads(
        in_room(message=ref("Message")), include_prompt_only=TEXT
    ),
    ("GET", f"{_ROOM}/messages/{{message_id}}/info"): _reads(
        in_room(message_id=TEXT, receipts=several(ref("Receipt")))
    ),
    ("PUT", f"{_ROOM}/messages/{{message_id}}/agent-receipts/self"): _does(
        in_room(message_id=TEXT, receipt=ref("Receipt")),
        needs=("receipt_state",),
        receipt_state=one_of("responding", "blocked", "acknowledged"),
    ),
    ("PATCH", _ROOM): _does(ref("Room"), acts="person", needs=("display_name",), display_name=TEXT),
    ("GET", f"{_ROOM}/messages/threads"): _reads(
        in_room(threads=several(ref("Thread")), has_more=FLAG, unread_thread_count=INTEGER),
        filter=one_of("all", "unread"),
        before=_CURSOR,
        **_LIMIT,
    ),
    ("PUT", f"{_ROOM}/messages/{{message_id}}/thread/read"): _does(
        in_room(thread=ref("Thread")), message_id=TEXT_OR_NULL
    ),
    ("GET", f"{_ROOM}/messages/{{message_id}}/thread"): _reads(
        in_room(
            root_message_id=TEXT,
            root=ref("Message"),
            messages=several(ref("Message")),
            has_more=FLAG,
        ),
        before=TEXT,
        **_LIMIT,
    ),
    ("POST", f"{_ROOM}/attachments"): _does(
        {"allOf": [ref("File"), shape(room_id=TEXT, upload_id=TEXT, expires_at=MOMENT)]},
        201,
        acts="person",
        needs=("filename", "content_base64"),
        filename=TEXT,
        content_type=TEXT_OR_NULL,
        content_base64=TEXT,
    ),
    ("GET", f"{_ATTACHMENT}/content"): _reads(
        in_room(message_id=TEXT, attachment=ref("File"), content_base64=TEXT)
    ),
    ("GET", _ATTACHMENT): Operation(answers={200: None}, media="application/octet-stream"),
    ("POST", f"{_ROOM}/agent-sessions"): _does(
        {
            "allOf": [
                ref("Session"),
                shape(
                    {"adopted_task_leases": several(ANYTHING), "generation": INTEGER},
                    session_token=TEXT,
                    worker_bearer=TEXT_OR_NULL,
                ),
            ]
        },
        201,
        acts=None,
        actor_key=TEXT,
        agent_instance_id=TEXT_OR_NULL,
        display_name=TEXT_OR_NULL,
        requested_base_display_name=TEXT_OR_NULL,
        session_kind=TEXT_OR_NULL,
        runtime=TEXT_OR_NULL,
        ide_label=TEXT_OR_NULL,
        repo_branch=TEXT_OR_NULL,
        registration_liveness={"type": ["object", "null"], "properties": dict(_HOST)},
        process_host_id=TEXT_OR_NULL,
        connection_token=TEXT_OR_NULL,
        replace_agent_session_id=TEXT_OR_NULL,
        replace_agent_session_token=TEXT_OR_NULL,
    ),
    ("POST", f"{_ROOM}/agent-sessions/{{session_id}}/disconnect"): _does(
        in_room(agent_session=ref("Session"), delivery_session=ANYTHING_OR_NULL), acts="person"
    ),
    ("POST", f"{_ROOM}/agent-sessions/{{session_id}}/native-activity"): _does(
        in_room(
            axis=one_of("execution_activity"),
            agent_session_id=TEXT,
            recorded=FLAG,
            sequence=INTEGER,
            status=TEXT,
            method=TEXT,
            observed_at=MOMENT,
        ),
        needs=("observed_at", "sequence", "method"),
        observed_at=MOMENT,
        sequence=INTEGER,
        method=TEXT,
        status=TEXT_OR_NULL,
    ),
    ("POST", f"{_ROOM}/agent-sessions/{{session_id}}/failures"): _does(
        in_room(message=ref("Message")),
        201,
        needs=("code",),
        code=one_of(
            "quota_exhausted",
            "authentication_required",
            "model_unavailable",
            "configuration_error",
            "provider_error",
        ),
        origin_event_id=TEXT_OR_NULL,
    ),
    ("POST", f"{_GRANT}/worker-sessions"): _does(
        {
            "allOf": [
                ref("Session"),
                shape(worker_bearer=TEXT, worker_bearer_id=TEXT, worker_bearer_expires_at=MOMENT),
            ]
        },
        201,
        acts=None,
        needs=_MINT,
        generation=INTEGER,
        **dict.fromkeys(_MINT[1:], TEXT),
    ),
    ("POST", f"{_GRANT}/worker-sessions/{{session_id}}/end"): _does(
        in_room(agent_session=ref("Session")),
        acts=None,
        needs=("generation",),
        generation=INTEGER,
        room_id=TEXT_OR_NULL,
    ),
    ("POST", f"{_GRANT}/renew"): _does(
        shape(grant_id=TEXT, supervisor_grant=TEXT, current_generation=INTEGER, expires_at=MOMENT),
        acts=None,
        needs=("generation",),
        generation=INTEGER,
        ttl_ms=INTEGER_OR_NULL,
        host_id=TEXT_OR_NULL,
        installation_id=TEXT_OR_NULL,
    ),
    ("GET", f"{_ROOM}/activity-history"): _reads(
        in_room(
            history=several({"allOf": [ref("Presence"), shape(ended_at=MOMENT_OR_NULL)]}),
            has_more=FLAG,
        ),
        before=TEXT,
        **_LIMIT,
    ),
    ("GET", f"{_ROOM}/agent-sessions/{{session_id}}/process"): Operation(
        answers={200: ref("Event")}, media=EVENTS, refusals=(410,)
    ),
    ("POST", f"{_ROOM}/agent-sessions/{{session_id}}/process/exit"): _does(
        shape(recorded=FLAG), process_connection_id=TEXT_OR_NULL
    ),
}

_TASK = f"{_ROOM}/tasks/{{task_id}}"
_APPROVED = {"board_intent_id": TEXT_OR_NULL, "board_approval_token": TEXT_OR_NULL}
_OF_LEASE = {"lease_id": TEXT_OR_NULL, "epoch": INTEGER_OR_NULL, "reason": TEXT_OR_NULL}
_TARGET = {
    "target_actor_key": TEXT_OR_NULL,
    "target_actor_instance_id": TEXT_OR_NULL,
    "target_agent_session_id": TEXT_OR_NULL,
}

_BOARD: Table = {
    ("GET", f"{_ROOM}/tasks"): _reads(
        in_room(tasks=several(ref("Task")), has_more=FLAG, active_locks=several(ref("Lock"))),
        status=TEXT,
        open=TEXT,
        after=TEXT,
        **_LIMIT,
    ),
    ("POST", f"{_ROOM}/tasks"): _does(
        ref("Task"),
        200,
        201,
        acts="person",
        needs=("title",),
        title=TEXT,
        description=TEXT_OR_NULL,
        source_message_id=TEXT_OR_NULL,
        client_task_id=TEXT_OR_NULL,
        **_APPROVED,
    ),
    ("GET", f"{_ROOM}/tasks/github-status"): _reads(
        in_room(
            is_connected=FLAG,
            note=TEXT,
            tasks=several(
                shape(
                    task_id=TEXT,
                    status=TEXT,
                    pr_url=TEXT_OR_NULL,
                    workflow_artifacts=several(ref("Artifact")),
                    updated_at=MOMENT,
                )
            ),
            has_more=FLAG,
        ),
        after=TEXT,
        **_LIMIT,
    ),
    ("GET", f"{_TASK}/history"): _reads(
        in_room(task=ref("Task"), events=several(ref("BoardEvent")), has_more=FLAG),
        after=_WHOLE,
        **_LIMIT,
    ),
    ("POST", f"{_TASK}/lease-action"): _does(
        ref("Moved"),
        acts="person",
        needs=("action",),
        action=one_of("release", "handoff"),
        **_OF_LEASE,
        **_TARGET,
        **_APPROVED,
    ),
    ("POST", f"{_TASK}/review-lease-action"): _does(
        ref("Moved"),
        acts="person",
        needs=("action",),
        action=one_of("claim", "assign", "release"),
        **_OF_LEASE,
        **_TARGET,
    ),
    ("POST", f"{_TASK}/review-verdict"): _does(
        in_room(task_id=TEXT, effect=shape(id=TEXT, state=TEXT), verdict=ANYTHING),
        acts="person",
        needs=("verdict", "idempotency_key", "expected_head_sha"),
        verdict=one_of("approve", "request_changes", "comment"),
        body=TEXT_OR_NULL,
        idempotency_key=TEXT,
        expected_head_sha=TEXT_OR_NULL,
        epoch=INTEGER_OR_NULL,
    ),
    ("POST", f"{_TASK}/stale-prompt-mute"): _does(ref("Task"), acts="person", muted=FLAG),
    ("GET", _TASK): _reads(ref("Task")),
    ("PATCH", _TASK): _does(
        ref("Task"),
        acts="person",
        status=TEXT_OR_NULL,
        assignee=TEXT_OR_NULL,
        assignee_agent_key=TEXT_OR_NULL,
        pr_url=TEXT_OR_NULL,
        workflow_artifacts={"type": ["array", "null"], "items": ref("Artifact")},
        epoch=INTEGER_OR_NULL,
        under=TEXT_OR_NULL,
        where={"type": ["array", "null"], "items": TEXT},
        **_APPROVED,
    ),
    ("POST", f"{_ROOM}/locks"): _does(
        in_room(lock=ref("Lock")),
        201,
        acts="person",
        task_id=TEXT_OR_NULL,
        reason=TEXT_OR_NULL,
        message=TEXT_OR_NULL,
    ),
    ("DELETE", f"{_ROOM}/locks/{{lock_id}}"): _does(in_room(lock=ref("Lock")), acts="person"),
    ("GET", f"{_ROOM}/path-claims"): _reads(
        in_room(claims=several(ref("PathClaim")), has_more=FLAG, last=INTEGER_OR_NULL),
        task_id=TEXT,
        path=TEXT,
        after=_WHOLE,
        **_LIMIT,
    ),
    ("POST", f"{_ROOM}/path-claims"): _does(
        in_room(claim=ref("PathClaim"), is_new=FLAG),
        200,
        201,
        needs=("task_id", "patterns", "repository"),
        task_id=TEXT,
        patterns=several(TEXT),
        repository=TEXT,
        mode=TEXT_OR_NULL,
        root=TEXT_OR_NULL,
        epoch=INTEGER_OR_NULL,
    ),
    ("DELETE", f"{_ROOM}/path-claims"): _does(
        in_room(claims=several(ref("PathClaim"))),
        needs=("task_id",),
        task_id=TEXT,
        claim_id=TEXT_OR_NULL,
        epoch=INTEGER_OR_NULL,
    ),
}

_DECIDES = _does(ref("Decided"), acts="person", reason=TEXT_OR_NULL)
_ONE_INTENT = f"{_ROOM}/board-intents/{{intent_id}}"

_GOVERNANCE: Table = {
    ("GET", f"{_ROOM}/board-settings"): _reads(
        in_room(
            settings=ref("BoardSettings"),
            active_manager=or_null("Manager"),
            pending_intent_count=INTEGER,
        )
    ),
    ("PATCH", f"{_ROOM}/board-settings"): _does(
        in_room(settings=ref("BoardSettings")),
        acts="person",
        manager_mode=TEXT_OR_NULL,
        manager_failover=TEXT_OR_NULL,
    ),
    ("GET", f"{_ROOM}/board-governance"): _reads(
        in_room(
            settings=ref("BoardSettings"),
            active_manager=or_null("Manager"),
            candidates=several(ref("Session")),
            pending_intents=several(ref("Intent")),
            pending_intent_count=INTEGER,
            audit=several(ref("GovernanceAct")),
            warnings=several(shape(code=TEXT, severity=TEXT)),
            capabilities=ANYTHING,
        )
    ),
    ("POST", f"{_ROOM}/board-managers"): _does(
        in_room(manager=ref("Manager")),
        201,
        acts=None,
        needs=("agent_session_id",),
        agent_session_id=TEXT,
        runtime_source=TEXT_OR_NULL,
    ),
    ("DELETE", f"{_ROOM}/board-managers/active"): _does(
        in_room(manager=or_null("Manager")), acts="person", reason=TEXT_OR_NULL
    ),
    ("GET", f"{_ROOM}/board-intents"): _reads(
        in_room(intents=several(ref("Intent")), has_more=FLAG), status=TEXT, after=TEXT, **_LIMIT
    ),
    ("POST", f"{_ROOM}/board-intents"): _does(
        in_room(intent=ref("Intent"), manager_notification=ref("Told"), is_needed=FLAG),
        201,
        acts="person",
        needs=("action_type", "payload"),
        action_type=TEXT,
        payload=ANYTHING,
        task_id=TEXT_OR_NULL,
    ),
    ("GET", _ONE_INTENT): _reads(in_room(intent=ref("Intent"))),
    ("POST", f"{_ONE_INTENT}/approve"): _DECIDES,
    ("POST", f"{_ONE_INTENT}/deny"): _DECIDES,
}

_RECORDS = in_room({"tasks": several(ANYTHING)}, records=several(ref("Record")), truncated=FLAG)
_RECORD = in_room(record=ref("Record"))
_SAID = {
    "category": TEXT_OR_NULL,
    "title": TEXT_OR_NULL,
    "body": TEXT_OR_NULL,
    "recommendation": TEXT_OR_NULL,
    "unblocks": TEXT_OR_NULL,
    "source_url": TEXT_OR_NULL,
    "source_message_id": TEXT_OR_NULL,
}


def _kept(section: str) -> Table:
    one = f"{_ROOM}/{section}/{{record_id}}"
    return {
        ("GET", f"{one}/history"): _reads(_RECORDS, **_LIMIT),
        ("PATCH", one): _does(
            _RECORD,
            acts="person",
            needs=("expected_version",),
            expected_version=INTEGER,
            archived=FLAG_OR_NULL,
            **_SAID,
        ),
        ("GET", f"{_ROOM}/{section}"): _reads(_RECORDS, after=TEXT, tasks=TEXT, **_LIMIT),
        ("POST", f"{_ROOM}/{section}"): _does(
            _RECORD, 201, acts="person", needs=("client_id",), client_id=TEXT, **_SAID
        ),
    }


_TRACE = dict.fromkeys(
    ("summary", "goal", "checking", "hypothesis", "blocker", "next_action", "milestone", "status"),
    TEXT_OR_NULL,
) | {
    "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "task_id": TEXT_OR_NULL,
    "anchor_message_id": TEXT_OR_NULL,
}
_STATE_OF_TRACE = in_room(session=ref("Reasoning"), update=ref("ReasoningUpdate"))
_TRACES = f"{_ROOM}/reasoning-sessions"
_ASKED_TRACES = {"actor_label": TEXT, "agent_key": TEXT, "task_id": TEXT, "open": TEXT}
_LIST_OF_TRACES = _reads(in_room(sessions=several(ref("Reasoning"))), **_ASKED_TRACES, **_LIMIT)
_HAPPENED = _reads(
    in_room(
        github_room_id=TEXT,
        events=several(ref("RepositoryEvent")),
        has_more=FLAG,
        note=TEXT_OR_NULL,
    ),
    event_type=TEXT,
    object_id=TEXT,
    actor=TEXT,
    since=MOMENT,
    until=MOMENT,
    after=TEXT,
    **_LIMIT,
)
_RULE: dict[str, Any] = in_room({"created": FLAG}, rule=ref("WakeRule"))

_FILTER = ref("EventFilter")
_ORDERS = one_of("parallel", "sequential")
_ORDER_OF_REPLIES = in_room(agent_reply_order=_ORDERS, can_manage=FLAG)

_MEMORY: Table = {
    ("GET", f"{_ROOM}/github-event-filter"): _reads(_FILTER),
    ("PUT", f"{_ROOM}/github-event-filter"): _does(
        _FILTER, acts="person", needs=("kinds",), kinds=several(TEXT)
    ),
    **_kept("memory"),
    **_kept("attention"),
    ("POST", f"{_ROOM}/attention/{{record_id}}/respond"): _does(
        _RECORD, acts="person", needs=("body",), body=TEXT
    ),
    ("GET", f"{_ROOM}/agent-guidelines"): _reads(ref("Guidelines")),
    ("PUT", f"{_ROOM}/agent-guidelines"): _does(
        ref("Guidelines"), acts="person", needs=("guidelines",), guidelines=TEXT
    ),
    ("GET", f"{_ROOM}/agent-reply-order"): _reads(_ORDER_OF_REPLIES),
    ("PUT", f"{_ROOM}/agent-reply-order"): _does(
        ref("Guidelines"),
        acts="person",
        needs=("agent_reply_order",),
        agent_reply_order=_ORDERS,
    ),
    ("GET", f"{_ROOM}/artifacts"): _reads(
        in_room(artifacts=several(ref("SharedArtifact")), has_more=FLAG),
        task_id=TEXT,
        after=TEXT,
        **_LIMIT,
    ),
    ("POST", f"{_ROOM}/artifacts"): _does(
        in_room(artifact=ref("SharedArtifact")),
        acts="person",
        artifact={"anyOf": [ref("Artifact"), {"type": "null"}]},
        task_id=TEXT_OR_NULL,
        linked_task_ids={"type": ["array", "null"], "items": TEXT},
    ),
    ("GET", f"{_ROOM}/events"): _HAPPENED,
    ("GET", f"/api{_ROOM}/events"): _HAPPENED,
    ("GET", f"{_ROOM}/reasoning"): _LIST_OF_TRACES,
    ("GET", _TRACES): _LIST_OF_TRACES,
    ("POST", _TRACES): _does(_STATE_OF_TRACE, 201, **_TRACE),
    ("POST", f"{_TRACES}/{{reasoning_id}}/updates"): _does(_STATE_OF_TRACE, 201, **_TRACE),
    ("GET", f"{_TRACES}/{{reasoning_id}}"): _reads(
        in_room(session=ref("Reasoning"), updates=several(ref("ReasoningUpdate"))), **_LIMIT
    ),
    ("PATCH", f"{_TRACES}/{{reasoning_id}}"): _does(
        in_room(session=ref("Reasoning")),
        acts="person",
        task_id=TEXT_OR_NULL,
        anchor_message_id=TEXT_OR_NULL,
        closed_at=TEXT_OR_NULL,
    ),
    ("GET", f"{_ROOM}/wake-rules"): _reads(
        in_room(active=several(ref("WakeRule")), recent=several(ref("WakeRule"))), agent_key=TEXT
    ),
    ("POST", f"{_ROOM}/wake-rules"): _does(
        _RULE,
        200,
        201,
        needs=("event",),
        event=TEXT,
        arguments=ANYTHING,
        note=TEXT_OR_NULL,
        repeat=FLAG_OR_NULL,
        expires_at=TEXT_OR_NULL,
    ),
    ("POST", f"{_ROOM}/wake-rules/{{rule_id}}/cancel"): _does(_RULE, acts="person"),
}

_FOCUS = f"{_ROOM}/focus/{{key}}"
_OPENED = in_room({"task_id": TEXT}, created=FLAG, focus_room=ref("Room"))
_FOCUS_ROOMS: Table = {
    ("GET", f"{_ROOM}/focus-rooms"): _reads(in_room(focus_rooms=several(ref("Room")))),
    ("POST", f"{_ROOM}/focus-rooms"): _does(
        _OPENED, 201, acts="person", needs=("title",), title=TEXT, display_name=TEXT_OR_NULL
    ),
    ("POST", f"{_TASK}/focus-room"): _does(
        _OPENED, 200, 201, acts="person", display_name=TEXT_OR_NULL
    ),
    ("GET", _FOCUS): _reads(ref("Room")),
    ("PATCH", f"{_FOCUS}/settings"): _does(
        ref("Room"),
        acts="person",
        parent_visibility=TEXT_OR_NULL,
        activity_scope=TEXT_OR_NULL,
        github_event_routing=TEXT_OR_NULL,
    ),
    ("POST", f"{_FOCUS}/conclude"): _does(
        in_room(focus_key=TEXT, shared=FLAG, message=or_null("Message"), focus_room=ref("Room")),
        acts="person",
        needs=("summary",),
        summary=TEXT,
        conclusion_details=ANYTHING_OR_NULL,
    ),
}

_PROJECT = "/projects/{room_id:path}"
_A_PROJECT = shape(id=TEXT, code=TEXT_OR_NULL, name=TEXT_OR_NULL, display_name=TEXT)
_ALSO_OF_PROJECTS = {f"{_ROOM}/messages", f"{_ROOM}/messages/poll", f"{_ROOM}/messages/stream"}
_ALSO_OF_PROJECTS |= {f"{_ROOM}/tasks", _TASK}

_OLDER: Table = {
    ("GET", "/projects"): _reads(shape(projects=several(shape(id=TEXT, display_name=TEXT)))),
    ("GET", "/projects/join/{code}"): Operation(answers={200: _A_PROJECT}, refusals=(429,)),
    ("POST", "/projects/room/{name:path}"): Operation(
        answers={200: _A_PROJECT, 201: _A_PROJECT}, refusals=(429,)
    ),
    ("GET", f"{_PROJECT}/access"): _reads(
        shape(
            project_id=TEXT,
            room_type=one_of("discoverable", "invite"),
            authenticated=FLAG,
            role=TEXT,
            account=ANYTHING_OR_NULL,
        )
    ),
    **{
        (method, path.replace(_ROOM, _PROJECT)): operation
        for (method, path), operation in {**_ROOMS, **_BOARD}.items()
        if path in _ALSO_OF_PROJECTS
    },
}

OPERATIONS: Table = {**_WHO, **_ROOMS, **_BOARD, **_GOVERNANCE, **_MEMORY, **_FOCUS_ROOMS, **_OLDER}
