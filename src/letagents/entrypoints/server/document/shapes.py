"""What the answers of the server look like, as schemas. Fields may be added to any of them."""

from typing import Any

Schema = dict[str, Any]


def _or_null(kind: str) -> Schema:
    return {"type": [kind, "null"]}


TEXT: Schema = {"type": "string"}
TEXT_OR_NULL = _or_null("string")
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NULL = _or_null("number")
INTEGER: Schema = {"type": "integer"}
INTEGER_OR_NULL = _or_null("integer")
FLAG: Schema = {"type": "boolean"}
FLAG_OR_NULL = _or_null("boolean")
MOMENT: Schema = {"type": "string", "format": "date-time"}
MOMENT_OR_NULL: Schema = {"type": ["string", "null"], "format": "date-time"}
ANYTHING: Schema = {"type": "object"}
ANYTHING_OR_NULL = _or_null("object")
NULL: Schema = {"type": "null"}


def one_of(*words: str) -> Schema:
    """Return what is one of some words."""
    return {"type": "string", "enum": list(words)}


def several(of: Schema) -> Schema:
    """Return a list."""
    return {"type": "array", "items": of}


def ref(name: str) -> Schema:
    """Return a shape that has a name."""
    return {"$ref": f"#/components/schemas/{name}"}


def or_null(name: str) -> Schema:
    """Return a shape that has a name, or nothing."""
    return {"anyOf": [ref(name), NULL]}


def shape(_perhaps: Schema | None = None, /, **fields: Schema) -> Schema:
    """Return an object that has all of `fields`, and those of `_perhaps` where it has them."""
    properties = {**fields, **(_perhaps or {})}
    return {"type": "object", "required": list(fields), "properties": properties}


def in_room(_perhaps: Schema | None = None, /, **fields: Schema) -> Schema:
    """Return an object that says of which room it is."""
    return shape(_perhaps, room_id=TEXT, **fields)


_TICK = shape(boot=TEXT, seconds=NUMBER)
_TICK_OR_NULL: Schema = {"anyOf": [_TICK, NULL]}
_TOLD = shape(
    {"target_manager_agent_session_id": TEXT_OR_NULL, "target_agent_session_id": TEXT_OR_NULL},
    delivered=FLAG,
    message_id=TEXT_OR_NULL,
)

PEOPLE = {
    "Account": shape(
        id=TEXT,
        provider=TEXT,
        provider_user_id=TEXT_OR_NULL,
        login=TEXT,
        display_name=TEXT_OR_NULL,
        avatar_url=TEXT_OR_NULL,
    ),
    "Agent": shape(
        id=TEXT,
        canonical_key=TEXT,
        name=TEXT,
        display_name=TEXT,
        owner_account_id=TEXT,
        owner_login=TEXT,
        owner_label=TEXT,
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    "Session": shape(
        {"assigned_base_display_name": TEXT_OR_NULL},
        session_id=TEXT,
        room_id=TEXT,
        session_kind=one_of("worker", "controller", "person"),
        runtime=TEXT,
        host_id=TEXT_OR_NULL,
        host_kind=TEXT_OR_NULL,
        host_label=TEXT_OR_NULL,
        liveness_capability=TEXT_OR_NULL,
        tool_bridge_id=TEXT_OR_NULL,
        actor_label=TEXT,
        agent_key=TEXT,
        agent_instance_id=TEXT_OR_NULL,
        display_name=TEXT,
        owner_label=TEXT,
        ide_label=TEXT,
        repo_branch=TEXT_OR_NULL,
        created_at=MOMENT,
        updated_at=MOMENT,
        last_seen_at=MOMENT,
        ended_at=MOMENT_OR_NULL,
    ),
    "Presence": shape(
        room_id=TEXT,
        actor_label=TEXT,
        agent_key=TEXT,
        agent_instance_id=TEXT_OR_NULL,
        agent_session_id=TEXT,
        session_kind=TEXT,
        runtime=TEXT,
        display_name=TEXT,
        owner_label=TEXT,
        ide_label=TEXT,
        repo_branch=TEXT_OR_NULL,
        status=one_of("idle", "working", "reviewing", "blocked"),
        status_text=TEXT_OR_NULL,
        last_heartbeat_at=MOMENT,
        created_at=MOMENT,
        updated_at=MOMENT,
        freshness=one_of("active", "stale"),
        activity_state=TEXT,
        source_flags=several(TEXT),
        liveness_observation=ANYTHING_OR_NULL,
    ),
    "Participant": shape(
        room_id=TEXT,
        participant_key=TEXT,
        kind=one_of("human", "agent"),
        actor_label=TEXT,
        agent_key=TEXT_OR_NULL,
        github_login=TEXT_OR_NULL,
        display_name=TEXT,
        owner_label=TEXT,
        ide_label=TEXT,
        hidden_at=MOMENT_OR_NULL,
        hidden_by=TEXT_OR_NULL,
        last_seen_at=MOMENT,
        last_room_activity_at=MOMENT,
        last_live_heartbeat_at=MOMENT,
        activity_state=TEXT,
        source_flags=several(TEXT),
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    "Author": shape(id=TEXT, label=TEXT, kind=TEXT),
    "Event": shape({"event": TEXT, "id": TEXT}, data=TEXT),
}

ROOMS = {
    "Problem": shape(
        {
            "code": TEXT,
            "problem": shape(code=TEXT, happened=TEXT, remedy=TEXT, kind=TEXT),
        },
        error=TEXT,
    ),
    "Room": shape(
        {"id": TEXT, "role": one_of("admin", "participant", "anonymous"), "authenticated": FLAG},
        room_id=TEXT,
        name=TEXT_OR_NULL,
        display_name=TEXT,
        code=TEXT_OR_NULL,
        kind=one_of("main", "focus"),
        attachments_enabled=FLAG,
        created_at=MOMENT,
        git_room=ANYTHING_OR_NULL,
        parent_room_id=TEXT_OR_NULL,
        focus_key=TEXT_OR_NULL,
        source_task_id=TEXT_OR_NULL,
        focus_status={"enum": ["active", "concluded", None]},
        focus_parent_visibility=TEXT_OR_NULL,
        focus_activity_scope=TEXT_OR_NULL,
        focus_github_event_routing=TEXT_OR_NULL,
        focus_settings=ANYTHING_OR_NULL,
        focus_archived_at=MOMENT_OR_NULL,
        concluded_at=MOMENT_OR_NULL,
        conclusion_summary=TEXT_OR_NULL,
        conclusion_details=ANYTHING_OR_NULL,
    ),
    "Quote": shape(id=TEXT, sender=TEXT, text=TEXT, source=TEXT_OR_NULL, timestamp=MOMENT),
    "Thread": shape(
        root_message_id=TEXT,
        reply_count=INTEGER,
        unread_count=INTEGER,
        has_unread=FLAG,
        latest_reply=ANYTHING_OR_NULL,
        participants=several(
            shape(
                sender=TEXT,
                source=TEXT_OR_NULL,
                message_count=INTEGER,
                latest_message_id=TEXT,
            )
        ),
        participant_count=INTEGER,
        participants_truncated=FLAG,
        last_read_message_id=TEXT_OR_NULL,
    ),
    "Message": shape(
        {
            "room_id": TEXT,
            "activation": shape(
                for_current_agent=shape(
                    decision=one_of("activate", "silent", "unclear"), reason=TEXT, addressed=FLAG
                )
            ),
        },
        id=TEXT,
        client_message_id=TEXT_OR_NULL,
        agent_identity=ANYTHING_OR_NULL,
        sender=TEXT,
        text=TEXT,
        agent_prompt_kind=TEXT_OR_NULL,
        source=TEXT_OR_NULL,
        timestamp=MOMENT,
        thread_root_id=TEXT,
        thread_reply_to_id=TEXT_OR_NULL,
        thread=or_null("Thread"),
        reply_to=or_null("Quote"),
        attachments=several({"allOf": [ref("File"), shape(download_url=TEXT)]}),
    ),
    "File": shape(
        {"id": TEXT},
        filename=TEXT,
        file_name=TEXT,
        content_type=TEXT,
        mime_type=TEXT,
        byte_size=INTEGER,
        size_bytes=INTEGER,
    ),
    "Receipt": shape(
        message_id=TEXT,
        agent_session_id=TEXT,
        agent_key=TEXT,
        actor_label=TEXT,
        activation_reason=TEXT,
        receipt_state=one_of("queued", "responding", "blocked", "acknowledged", "unavailable"),
        created_at=MOMENT,
        updated_at=MOMENT,
    ),
    "MentionNotice": shape(
        reason=one_of("ambiguous"),
        handle=TEXT,
        candidates=several(
            shape(mention=TEXT, agent_key=TEXT, display_name=TEXT, actor_label=TEXT)
        ),
    ),
    "Hit": shape(id=TEXT, sender=TEXT, timestamp=MOMENT, thread_root_id=TEXT, snippet=TEXT),
}

BOARD = {
    "Artifact": shape(
        {"id": TEXT, "number": INTEGER, "title": TEXT, "url": TEXT, "ref": TEXT, "state": TEXT},
        provider=TEXT,
        kind=TEXT,
    ),
    "Task": shape(
        {
            "room_id": TEXT,
            "active_leases": several(ref("Lease")),
            "active_locks": several(ref("Lock")),
            "stale_prompt_state": shape(
                is_stale=FLAG,
                reason=TEXT_OR_NULL,
                stale_for_ms=INTEGER_OR_NULL,
                muted=FLAG,
                muted_by=TEXT_OR_NULL,
                muted_at=MOMENT_OR_NULL,
            ),
            "idempotent": FLAG,
        },
        id=TEXT,
        title=TEXT,
        description=TEXT_OR_NULL,
        status=TEXT,
        assignee=TEXT_OR_NULL,
        assignee_agent_key=TEXT_OR_NULL,
        created_by=TEXT,
        source_message_id=TEXT_OR_NULL,
        pr_url=TEXT_OR_NULL,
        workflow_artifacts=several(ref("Artifact")),
        workflow_refs=several(ANYTHING),
        created_at=MOMENT,
        updated_at=MOMENT,
        revision=INTEGER,
    ),
    "Lease": shape(
        {
            "is_held": FLAG,
            "holder_is_there": FLAG_OR_NULL,
            "holder_has_left": FLAG,
            "silent_seconds": NUMBER,
        },
        id=TEXT,
        room_id=TEXT,
        task_id=TEXT,
        kind=TEXT,
        status=TEXT,
        agent_key=TEXT,
        agent_instance_id=TEXT_OR_NULL,
        agent_session_id=TEXT,
        actor_label=TEXT,
        epoch=INTEGER,
        branch_ref=TEXT_OR_NULL,
        pr_url=TEXT_OR_NULL,
        output_intent=TEXT_OR_NULL,
        expires_at=MOMENT_OR_NULL,
        last_heartbeat_at=MOMENT,
        revoked_reason=TEXT_OR_NULL,
        created_by=TEXT,
        created_at=MOMENT,
        updated_at=MOMENT,
        renewed=_TICK,
        term_seconds=NUMBER_OR_NULL,
    ),
    "Lock": shape(
        id=TEXT,
        room_id=TEXT,
        task_id=TEXT_OR_NULL,
        scope=one_of("room", "task"),
        reason=TEXT,
        message=TEXT_OR_NULL,
        created_by=TEXT,
        created_at=MOMENT,
        cleared_by=TEXT_OR_NULL,
        cleared_at=MOMENT_OR_NULL,
    ),
    "BoardEvent": shape(
        number=INTEGER,
        task_id=TEXT,
        event_type=TEXT,
        created_at=MOMENT,
        actor_label=TEXT,
        actor_key=TEXT_OR_NULL,
        decision=TEXT,
        from_status=TEXT_OR_NULL,
        to_status=TEXT_OR_NULL,
        reason=TEXT_OR_NULL,
        lease_id=TEXT_OR_NULL,
        epoch=INTEGER_OR_NULL,
        detail=TEXT_OR_NULL,
    ),
    "Moved": in_room(
        {"new_lease": or_null("Lease"), "lease": or_null("Lease")},
        action=TEXT,
        task=ref("Task"),
        released_lease=or_null("Lease"),
    ),
    "PathClaim": shape(
        {"is_held": FLAG},
        id=TEXT,
        task_id=TEXT,
        agent_key=TEXT,
        repository=TEXT,
        patterns=several(TEXT),
        mode=TEXT,
        root=TEXT_OR_NULL,
    ),
}

GOVERNANCE = {
    "BoardSettings": in_room(
        manager_mode=one_of("off", "manager_optional", "intent_required"),
        manager_failover=one_of("off", "announce", "auto"),
        stall_nudged_at=MOMENT_OR_NULL,
        updated_by=TEXT_OR_NULL,
        created_at=MOMENT_OR_NULL,
        updated_at=MOMENT_OR_NULL,
        revision=INTEGER,
    ),
    "Manager": in_room(
        id=TEXT,
        agent_session_id=TEXT,
        agent_key=TEXT,
        actor_label=TEXT,
        runtime_source=TEXT,
        assigned_by=TEXT,
        status=one_of("active", "released"),
        last_heartbeat_at=MOMENT_OR_NULL,
        released_by=TEXT_OR_NULL,
        release_reason=TEXT_OR_NULL,
        released_at=MOMENT_OR_NULL,
        created_at=MOMENT,
        updated_at=MOMENT,
        assigned=_TICK,
        outages=INTEGER,
        is_away=FLAG,
    ),
    "GovernanceAct": in_room(
        id=TEXT,
        event_type=TEXT,
        decision=one_of("allow", "deny", "record"),
        actor_label=TEXT,
        actor_key=TEXT_OR_NULL,
        reason=TEXT_OR_NULL,
        task_id=TEXT_OR_NULL,
        metadata=ANYTHING,
        created_at=MOMENT,
    ),
    "Intent": in_room(
        id=TEXT,
        task_id=TEXT_OR_NULL,
        action_type=TEXT,
        payload=ANYTHING,
        payload_hash=TEXT,
        status=TEXT,
        proposer_actor_label=TEXT_OR_NULL,
        proposer_actor_key=TEXT_OR_NULL,
        proposer_actor_instance_id=TEXT_OR_NULL,
        proposer_agent_session_id=TEXT_OR_NULL,
        decision_by=TEXT_OR_NULL,
        decision_reason=TEXT_OR_NULL,
        decided_at=MOMENT_OR_NULL,
        expires_at=MOMENT,
        escalated_at=MOMENT_OR_NULL,
        auto_approved=FLAG,
        created_at=MOMENT,
        updated_at=MOMENT,
        counted_from=_TICK_OR_NULL,
    ),
    "Told": _TOLD,
    "Decided": in_room(
        {
            "approval_token": TEXT,
            "result": shape({"requires_follow_up": FLAG, "task": ref("Task")}, kind=TEXT),
        },
        intent=ref("Intent"),
        proposer_notification=ref("Told"),
    ),
}

MEMORY = {
    "Record": in_room(
        {"agent_session_id": TEXT_OR_NULL, "number": INTEGER},
        id=TEXT,
        type=one_of("memory", "attention"),
        category=TEXT,
        title=TEXT,
        body=TEXT,
        recommendation=TEXT_OR_NULL,
        unblocks=TEXT_OR_NULL,
        source_url=TEXT_OR_NULL,
        source_message_id=TEXT_OR_NULL,
        version=INTEGER,
        author=ref("Author"),
        updated_by=ref("Author"),
        created_at=MOMENT,
        updated_at=MOMENT,
        archived=FLAG,
        response={"anyOf": [shape(body=TEXT, actor=ref("Author"), at=MOMENT), NULL]},
    ),
    "Guidelines": in_room(
        guidelines=TEXT_OR_NULL,
        updated_by=TEXT_OR_NULL,
        updated_at=MOMENT_OR_NULL,
        inherited_from_room_id=TEXT_OR_NULL,
        max_bytes=INTEGER,
        token_budget=INTEGER,
        note=TEXT,
        agent_reply_order=one_of("parallel", "sequential"),
        can_manage=FLAG,
    ),
    "EventFilter": in_room(
        kinds=several(TEXT),
        available_kinds=several(TEXT),
        updated_by=TEXT_OR_NULL,
        updated_at=MOMENT_OR_NULL,
        can_manage=FLAG,
    ),
    "SharedArtifact": in_room(
        identity_key=TEXT,
        provider=TEXT,
        kind=TEXT,
        artifact_id=TEXT_OR_NULL,
        artifact_number=INTEGER_OR_NULL,
        title=TEXT_OR_NULL,
        url=TEXT_OR_NULL,
        ref=TEXT_OR_NULL,
        state=TEXT_OR_NULL,
        detail=TEXT_OR_NULL,
        source=TEXT,
        first_seen_at=MOMENT,
        updated_at=MOMENT,
        linked_task_ids=several(TEXT),
    ),
    "RepositoryEvent": shape(
        id=TEXT,
        event_type=TEXT,
        action=TEXT_OR_NULL,
        title=TEXT_OR_NULL,
        state=TEXT_OR_NULL,
        actor_login=TEXT_OR_NULL,
        created_at=MOMENT,
    ),
    "Reasoning": in_room(
        id=TEXT,
        task_id=TEXT_OR_NULL,
        anchor_message_id=TEXT_OR_NULL,
        actor_label=TEXT,
        agent_key=TEXT,
        status=TEXT_OR_NULL,
        summary=TEXT,
        latest_payload=ANYTHING,
        created_at=MOMENT,
        updated_at=MOMENT,
        closed_at=MOMENT_OR_NULL,
    ),
    "ReasoningUpdate": in_room(
        id=TEXT,
        session_id=TEXT,
        actor_label=TEXT,
        status=TEXT_OR_NULL,
        summary=TEXT,
        milestone=TEXT_OR_NULL,
        payload=ANYTHING,
        created_at=MOMENT,
    ),
    "WakeRule": in_room(
        id=TEXT,
        event=TEXT,
        arguments=ANYTHING,
        note=TEXT_OR_NULL,
        repeat=FLAG,
        status=TEXT,
        agent_key=TEXT,
        actor_label=TEXT,
        created_at=MOMENT,
        expires_at=MOMENT,
        due_at=MOMENT_OR_NULL,
        fired_at=MOMENT_OR_NULL,
        fired_count=INTEGER,
        ended_at=MOMENT_OR_NULL,
    ),
}

SHAPES: dict[str, Schema] = {**ROOMS, **PEOPLE, **BOARD, **GOVERNANCE, **MEMORY}
