"""Threads in short, as a server gives them out. (Source: hosted-api 4.4.)"""

from typing import Any

from letagents.domain.ids import MessageId, RoomId
from letagents.domain.messages import Message
from letagents.domain.threads import VOICES, Summary, Threads
from letagents.wire import moments

Plain = dict[str, Any]


def plain(thread: Summary) -> Plain:
    """Return the form of a thread in short."""
    voices = thread.voices[:VOICES]
    return {
        "root_message_id": str(thread.root),
        "reply_count": thread.replies,
        "unread_count": thread.unread,
        "has_unread": thread.unread > 0,
        "latest_reply": thread.latest and _plain_reply(thread.latest),
        "participants": [
            {
                "sender": one.sender,
                "source": one.source,
                "message_count": one.messages,
                "latest_message_id": str(MessageId(one.latest)),
            }
            for one in voices
        ],
        "participant_count": len(thread.voices),
        "participants_truncated": len(voices) < len(thread.voices),
        "last_read_message_id": str(MessageId(thread.read_to)) if thread.read_to else None,
    }


def _plain_reply(said: Message) -> Plain:
    return {
        "id": str(said.id),
        "sender": said.sender,
        "text": said.text,
        "source": said.source,
        "timestamp": moments.to_text(said.said_at),
        "agent_identity": None,
    }


def plain_page(found: Threads, room_id: RoomId) -> Plain:
    """Return the form of a page of threads."""
    return {
        "room_id": str(room_id),
        "threads": [plain(one) for one in found.threads],
        "has_more": found.more,
        "unread_thread_count": found.unread,
    }
