"""JSON schemas of what tools return."""

from typing import Any

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer"}
STRINGS: Schema = {"type": "array", "items": STRING}
OBJECT: Schema = {"type": "object"}


def nullable(kind: Schema) -> Schema:
    """Return the schema of `kind` or null."""
    return {"anyOf": [kind, {"type": "null"}]}


def result(required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of an object with these properties; a result may say more."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


TEXT_OR_NULL = nullable(STRING)

IDENTITY = result(
    {
        "name": STRING,
        "display_name": STRING,
        "owner_label": STRING,
        "ide_label": STRING,
        "actor_label": STRING,
        "canonical_key": TEXT_OR_NULL,
        "source": STRING,
    }
)
SESSION = result(
    {
        "session_id": STRING,
        "room_id": STRING,
        "session_kind": STRING,
        "display_name": STRING,
        "actor_label": STRING,
        "agent_key": STRING,
        "created_at": STRING,
        "ended_at": TEXT_OR_NULL,
    }
)
MESSAGE = result(
    {
        "id": STRING,
        "sender": STRING,
        "text": STRING,
    },
    {
        "agent_identity": nullable(OBJECT),
        "source": TEXT_OR_NULL,
        "timestamp": STRING,
        "reply_to": nullable(OBJECT),
        "thread": OBJECT,
        "activation": OBJECT,
        "content_truncated": BOOLEAN,
    },
)
MESSAGES: Schema = {"type": "array", "items": MESSAGE}
ROOM: Schema = {
    "room_id": STRING,
    "code": TEXT_OR_NULL,
    "display_name": STRING,
    "is_local": BOOLEAN,
    "room_path": STRING,
    "room_url": TEXT_OR_NULL,
}
PROMPT: Schema = {"agent_prompt_kind": STRING, "agent_prompt": STRING}
