"""Parameters that several tools take."""

from letagents.entrypoints.mcp.parameters import Parameter

# Every tool repeats these to every model: what they are is told once, by register_agent_session.
WORKER_ID = Parameter("worker_id", "string", "Your handle.", ceiling=200)
SESSION_ID = Parameter("agent_session_id", "string", ceiling=240)
ROOM_ID = Parameter("room_id", "string", ceiling=200)
EPOCH = Parameter("epoch", "integer", "Your lease's epoch: refused if it moved on.", minimum=0)
SENDER = Parameter("sender", "string", "Ignored.", ceiling=2048, blank=True, core=False)
CONVERSATION_ID = Parameter(
    "conversation_id", "string", "Ignored.", ceiling=200, blank=True, core=False
)
CLIENT_MESSAGE_ID = Parameter(
    "client_message_id", "string", "Sent again, it answers with the first message.", ceiling=200
)
