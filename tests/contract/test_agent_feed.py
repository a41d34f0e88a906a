"""What agents do is told as it happens, and to who comes later what is left of it."""

import asyncio
from datetime import timedelta

import pytest

from letagents.application.agents.agent_feed import KEPT, Feed, Feeds
from letagents.testing.determinism import ManualClock

pytestmark = pytest.mark.anyio
AT_ONCE, LONG = timedelta(0), timedelta(seconds=30)


async def test_who_waits_hears_of_it_and_who_comes_later_too() -> None:
    feed = Feed(ManualClock())
    waiting = asyncio.create_task(feed.after(0, LONG))
    await asyncio.sleep(0)
    feed.tell("turn.began", "first")
    (heard,) = await waiting
    feed.tell("turn.ended", "second")

    assert (heard.sequence, heard.summary) == (1, "first")
    assert [one.summary for one in await feed.after(0, AT_ONCE)] == ["first", "second"]
    assert [one.summary for one in await feed.after(1, AT_ONCE)] == ["second"]
    assert await feed.after(2, AT_ONCE) == ()
    assert len(await feed.after(99, AT_ONCE)) == 2, "the number is another supervisor's"


async def test_only_the_last_is_kept() -> None:
    feed = Feed(ManualClock())
    for number in range(KEPT + 3):
        feed.tell("doing", f"{number}" * 9000)

    kept = await feed.after(0, AT_ONCE)
    assert (len(kept), kept[0].sequence) == (KEPT, 4)
    assert len(kept[0].summary) == 2000


async def test_nobody_waits_for_a_supervisor_that_ends() -> None:
    feeds = Feeds(ManualClock())
    waiting = asyncio.create_task(feeds.of("ada").after(0, LONG))
    await asyncio.sleep(0)
    feeds.end()

    assert await waiting == []
    assert await feeds.of("ada").after(0, LONG) == []
    assert await feeds.of("bob").after(0, LONG) == [], "who asks later waits for nothing either"
