"""Messages as a hosted room gives them out, and back. (Source: hosted-api 4.3.)

Beside the fields of that page, a message says which session said it also where that is a person's,
and a quotation whose words it shows: both are needed to tell for whom a message is. Who said it is
told in the answer, and nowhere else, which of its mentions woke nobody.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from letagents.domain.activation import Activation, Decision, Reason
from letagents.domain.ids import MessageId, RoomId, SessionId
from letagents.domain.messages import Attachment, Message, Page, Quote
from letagents.wire import moments, notices
from letagents.wire.http import problems
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]


def plain(said: Message) -> Plain:
    """Return the form of a message."""
    return {
        "id": str(said.id),
        "client_message_id": None,
        "agent_identity": _author(said.sender, said.agent_key, said.session_id),
        "agent_session_id": said.session_id and str(said.session_id),
        "sender": said.sender,
        "text": said.text,
        "agent_prompt_kind": said.prompt_kind,
        "source": said.source,
        "timestamp": moments.to_text(said.said_at),
        "thread_root_id": str(said.thread_root),
        "thread_reply_to_id": said.reply_to and str(said.reply_to.id),
        "thread": None,
        "reply_to": said.reply_to and _plain_quote(said.reply_to),
        "attachments": _plain_files(said),
    } | _plain_activation(said.activation)


def _plain_files(said: Message) -> list[Plain]:
    if not said.attachments:
        return []
    from letagents.wire.http import attachments  # few messages have any

    return attachments.plain(said.attachments, said.room_id, said.id)


def _files(fields: Fields) -> tuple[Attachment, ...]:
    if not fields.document.get("attachments"):
        return ()
    from letagents.wire.http import attachments

    return attachments.read(fields)


def _author(sender: str, agent_key: str | None, session_id: SessionId | None) -> Plain | None:
    if agent_key is None:
        return None
    shown = session_id and str(session_id)
    return {"actor_label": sender, "agent_key": agent_key, "agent_session_id": shown}


def _plain_quote(quoted: Quote) -> Plain:
    return {
        "id": str(quoted.id),
        "sender": quoted.sender,
        "text": quoted.text,
        "source": quoted.source,
        "timestamp": moments.to_text(quoted.said_at),
        "agent_identity": _author(quoted.sender, quoted.agent_key, quoted.session_id),
        "agent_session_id": quoted.session_id and str(quoted.session_id),
    }


def _plain_activation(activation: Activation | None) -> Plain:
    if activation is None:
        return {}
    told = {
        "decision": activation.decision.value,
        "reason": activation.reason.value,
        "addressed": activation.addressed,
    }
    return {"activation": {"for_current_agent": told}}


def message(document: object, room_id: RoomId) -> Message:
    """Return the message that `document` spells.

    Raises:
        Unreadable: it spells none.
    """
    fields = Fields(document)
    message_id = fields.parsed("id", MessageId.parse)
    reply = fields.part("reply_to")
    return Message(
        room_id=room_id,
        id=message_id,
        sender=fields.text("sender"),
        agent_key=_agent_key(fields),
        session_id=_session_id(fields),
        text=fields.text("text"),
        source=fields.text_or_none("source"),
        said_at=fields.moment("timestamp"),
        thread_root=fields.parsed_or_none("thread_root_id", MessageId.parse) or message_id,
        reply_to=_quote(reply) if reply else None,
        prompt_kind=fields.text_or_none("agent_prompt_kind"),
        activation=_activation(fields),
        mention_notices=notices.read(fields.document),
        attachments=_files(fields),
    )


def page(document: object, room_id: RoomId, after: MessageId | None = None) -> Page:
    """Return the page that `document` spells, of what was said `after` a message.

    Raises:
        Unreadable: it spells none, or a message twice or out of its place.
    """
    fields = Fields(document)
    said = tuple(message(one, room_id) for one in fields.list("messages"))
    numbers = [one.id.number for one in said]
    if any(
        later <= earlier for earlier, later in pairwise([after.number if after else 0, *numbers])
    ):
        raise Unreadable("messages are not those that follow each other")
    return Page(said, more=fields.flag("has_more"))


def polled(document: object, room_id: RoomId, after: MessageId | None = None) -> Page:
    """Return the page that a poll brought.

    Raises:
        Unreadable: as `page`.
        LetAgentsError: what happened meanwhile, where the server says so.
    """
    if (error := problems.error(document)) is not None:
        raise error
    return page(document, room_id, after)


def plain_page(room_id: RoomId, found: Page) -> Plain:
    """Return the form of a page."""
    said = [plain(one) for one in found.messages]
    return {"room_id": str(room_id), "messages": said, "has_more": found.more}


def _quote(fields: Fields) -> Quote:
    return Quote(
        id=fields.parsed("id", MessageId.parse),
        sender=fields.text("sender"),
        text=fields.text("text"),
        source=fields.text_or_none("source"),
        said_at=fields.moment("timestamp"),
        agent_key=_agent_key(fields),
        session_id=_session_id(fields),
    )


def _agent_key(fields: Fields) -> str | None:
    author = fields.part("agent_identity")
    return author.text_or_none("agent_key") if author else None


def _session_id(fields: Fields) -> SessionId | None:
    author = fields.part("agent_identity")
    shown = fields.text_or_none("agent_session_id")
    if shown is None and author is not None:
        shown = author.text_or_none("agent_session_id")
    return SessionId(shown) if shown is not None and SessionId.fits(shown) else None


def _activation(fields: Fields) -> Activation | None:
    """Return what a room says of whom it is for; words that it may have added since say nothing."""
    said = fields.part("activation")
    told = said.part("for_current_agent") if said else None
    return _of(told.document) if told else None


def _of(told: Mapping[str, object]) -> Activation | None:
    try:
        return Activation(Decision(told.get("decision")), Reason(told.get("reason")))
    except ValueError:
        return None
