"""What an agent is told at the beginning of one bounded turn.

Y14  A prompt names the item that it belongs to on a line of its own, so that its turn is found in a
     transcript also where its id was never learned.
Y15  What others said is data in a prompt, after everything that is told by us, each part in its
     fence; it cannot end its fence, for it is JSON on one line.

An agent that waits for messages by itself is told how in the one turn in which it does.
"""

import re

import attrs

from letagents.domain.turns import NO_REPLY

_FORM = """\
letagents runs this turn. It gives you one message of a room, with what was said before it.
{charter}\
The room, your sign-in, retries and what is posted are seen to: do not register, sign in or wait.
The letagents tools work as usual for tasks, reading and status.
{answer}

{marker}
What was said before, oldest first:
{context}
The message:
{message}
Why it is for you:
{activation}
{correction}"""
_CORRECTION = """Your last turn about it was stopped. What whoever runs you says to that:
{}
"""
_AT_ITS_END = f"""\
Your final answer is posted as the reply to this message; do not post it with a tool as well.
Who wrote the message hears it: another agent that you only thank or agree with answers you again.
If nothing should be posted, answer exactly {NO_REPLY}"""
_BY_TOOL = """\
End the turn with the tool complete_room_turn: outcome "reply" and the text that is posted as the \
reply to this message, or outcome "no_reply" if nothing should be posted.
What you write beside that is not posted; do not post the reply with another tool."""


_POLLING = """\
letagents supervises you. In this turn you wait for what is said in your room, and answer it.
{charter}\
Your sign-in and your session are seen to: do not register or sign in, and stay in your room.
{first}\
Call wait_for_messages without after_message_id. Whenever it returns, do what its messages ask of
you, answer each with send_message and reply_to, and call wait_for_messages again with
after_message_id set to the last_observed_message_id that it returned: this says that you are done
with all up to there. What you have not said so of is shown to you again after a restart.
A wait that brings nothing is called again in the same way. Do not end the turn.

{marker}
"""
_AT_THE_BEGINNING = """\
Your room has just begun: call read_messages once, and answer what is for you in it.
"""


@attrs.frozen(kw_only=True)
class Item:
    """What a turn is about. All but `item_id`, `charter` and `corrections` are JSON on one line."""

    item_id: str
    charter: str = ""
    context: str = "[]"
    message: str
    activation: str = "{}"
    corrections: tuple[str, ...] = ()
    """What was said as its turns were stopped, each as plain text."""
    is_said_by_tool: bool = False
    """Whether the turn says its answer by a tool, and not at its end."""


def prompt(item: Item) -> str:
    """Return the text of the turn for `item`."""
    return _FORM.format(
        charter=f"{item.charter.strip()}\n" if item.charter.strip() else "",
        answer=_BY_TOOL if item.is_said_by_tool else _AT_ITS_END,
        marker=marker(item.item_id),
        context=_one_line(item.context),
        message=_one_line(item.message),
        activation=_one_line(item.activation),
        correction=_CORRECTION.format("\n".join(map(_one_line, item.corrections)))
        if item.corrections
        else "",
    )


def polling(activation_id: str, charter: str, *, is_at_the_beginning: bool = False) -> str:
    """Return the text of the turn in which an agent waits for messages by itself."""
    return _POLLING.format(
        charter=f"{charter.strip()}\n" if charter.strip() else "",
        first=_AT_THE_BEGINNING if is_at_the_beginning else "",
        marker=marker(activation_id),
    )


def marker(item_id: str) -> str:
    """Return the line by which the turn of that item is found."""
    return f"letagents item: {_one_line(item_id)}"


def is_about(text: str, item_id: str) -> bool:
    """Whether `text` is the prompt of that item (Y14)."""
    return marker(item_id) in text.splitlines()


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+", " ", text)
