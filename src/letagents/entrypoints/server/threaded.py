"""Messages with the threads that they are of in short. (Source: hosted-api 4.3, 4.4.)

Who looks without a session is told so wherever messages are given out. An agent, which makes
nothing of it, is told only where it reads a page, or one message: to count a thread takes time.
"""

from letagents.domain.messages import Message, Page
from letagents.entrypoints.server.calls import Call
from letagents.wire.http import messages as wire
from letagents.wire.http import threads as wire_threads
from letagents.wire.http.threads import Plain


async def page(call: Call, found: Page, *, may_lack_replies: bool) -> Plain:
    """Return the form of a page. Only where it `may_lack_replies`, more are looked for."""
    document = wire.plain_page(call.room_id, found)
    said = found.messages
    if not said or not (may_lack_replies or any(one.is_thread_reply for one in said)):
        return document
    if (threads := call.hosting.threads) is None:
        return document
    first, last, reader = said[0].id, said[-1].id, call.account.account_id
    summaries = await threads.around(call.room_id, first, last, reader)
    for one, shown in zip(said, document["messages"], strict=True):
        if (summary := summaries.get(one.thread_root)) is not None:
            shown["thread"] = wire_threads.plain(summary)
    return document


async def one(call: Call, said: Message, *, is_person: bool) -> Plain:
    """Return the form of a message that was said just now."""
    if not is_person:
        return wire.plain(said)
    shown: Plain = (await page(call, Page((said,)), may_lack_replies=False))["messages"][0]
    return shown
