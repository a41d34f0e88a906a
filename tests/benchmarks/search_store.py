"""Searching a large room: the usual kinds of questions, each many times, in a room of many authors.

What is said is made of words as languages have them: a few are in every other message, most in none
but a few. One message in twenty is Chinese.
"""

import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
from tests.benchmarks.reporting import Row, percentile
from tests.benchmarks.rooms_store import IDS, INSERT, ROOM, Columns, bare, draft, entered, rooms_at

from letagents.adapters.rooms.local import LocalRooms
from letagents.domain.ids import MessageId
from letagents.domain.search import Query, asked
from letagents.domain.sessions import Connection

AUTHORS = 200
VOCABULARY = 20_000
BEGIN = 1_893_456_000_000_000
APART = 60_000_000
"""Microseconds between two messages."""


@attrs.define
class Speech:
    """Says the same things every time."""

    dice: random.Random = attrs.field(factory=lambda: random.Random(7))
    words: list[str] = attrs.field(init=False)
    weights: list[float] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = [
            "".join(self.dice.choices(letters, k=self.dice.randint(3, 10)))
            for _ in range(VOCABULARY)
        ]
        each = (1 / rank for rank in range(1, VOCABULARY + 1))
        self.weights = list(itertools.accumulate(each))

    def some(self, count: int) -> list[str]:
        """Return words, the common ones more often."""
        return self.dice.choices(self.words, cum_weights=self.weights, k=count)

    def text(self, number: int) -> str:
        """Return something to say."""
        if number % 20 == 0:
            return "".join(chr(0x4E00 + self.dice.randrange(2_000)) for _ in range(40))
        return " ".join(self.some(self.dice.randint(5, 25)))

    def message(self, number: int) -> Columns:
        """Return a message as the table holds it; every tenth is in a thread."""
        sender = f"Worker{number % AUTHORS} | Ada's agent | Claude Code"
        root = number - number % 10 if number % 10 and number > 10 else None
        return (
            str(ROOM), number, None, f"ada/{number % AUTHORS}", sender, self.text(number), "agent",
            None, BEGIN + number * APART, None, root, IDS.client_key().value,
        )  # fmt: skip


def a_search(home: Path, messages: int = 100_000, times: int = 60) -> list[Row]:
    """Searches of a hundred thousand messages by ten kinds of questions."""
    return asyncio.run(_measured(home / "rooms.db", messages, times))


async def _measured(place: Path, messages: int, times: int) -> list[Row]:
    speech = Speech()
    speaker = await _fill(place, speech, messages)
    before, rooms = _size(place), rooms_at(place)
    begin = time.perf_counter()
    await rooms.search(ROOM, asked(speech.words[0]))
    filled = time.perf_counter() - begin
    kinds = {
        name: await _spans(rooms, itertools.islice(queries(speech, messages), times))
        for name, queries in KINDS.items()
    }
    after_posts = await _after_posts(rooms, speaker, times)
    await rooms.aclose()
    texts = f"the room's file was {before / 1e6:.0f} MB, and is {_size(place) / 1e6:.0f} MB with it"
    return [
        _row(f"a search of {messages:,} messages, p95 ms", [*itertools.chain(*kinds.values())], 10),
        *(_row(f"  {name}, p95 ms", spans, 10) for name, spans in kinds.items()),
        _row("  one word, when another message has just been said, p95 ms", after_posts, 20),
        Row(f"the first search, which makes the index of {messages:,}, s", filled, 15, texts),
    ]


def _row(what: str, spans: Sequence[float], reach: float) -> Row:
    details = f"median {statistics.median(spans) * 1e3:.2f} ms, slowest {max(spans) * 1e3:.1f} ms"
    return Row(what, percentile(spans, 95) * 1e3, reach, details)


def _size(place: Path) -> int:
    return sum(file.stat().st_size for file in place.parent.glob("rooms.db*"))


async def _spans(rooms: LocalRooms, queries: Iterator[Query]) -> list[float]:
    """Return how long each search takes, as its caller sees it."""
    spans = []
    for query in queries:
        begin = time.perf_counter()
        await rooms.search(ROOM, query)
        spans.append(time.perf_counter() - begin)
    return spans


async def _after_posts(rooms: LocalRooms, speaker: Connection, times: int) -> list[float]:
    """Return the same for searches each of which finds the index one message behind."""
    spans = []
    for _ in range(times):
        await rooms.post(ROOM, draft(), speaker.fence)
        spans += await _spans(rooms, iter([asked("objects")]))
    return spans


async def _fill(place: Path, speech: Speech, messages: int) -> Connection:
    rooms = rooms_at(place)
    speaker = await entered(rooms)
    with bare(place) as other:
        other.connection.execute("BEGIN IMMEDIATE")
        every = (speech.message(number) for number in range(1, messages + 1))
        other.connection.executemany(INSERT, every)
        other.connection.execute("UPDATE rooms SET last_number = ?", (messages,))
        other.connection.execute("COMMIT")
        other.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await rooms.aclose()
    return speaker


# --- what is asked --------------------------------------------------------------------------------


def _common(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked(speech.dice.choice(speech.words[:30]))


def _rare(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked(speech.dice.choice(speech.words[5_000:]))


def _several(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked(" ".join(speech.some(3)), limit=50)


def _phrases(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked(f'"{" ".join(speech.dice.choices(speech.words[:100], k=2))}"')


def _by_author(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        [word] = speech.some(1)
        yield asked(word, author=f"Worker{speech.dice.randrange(AUTHORS)}")


def _in_threads(speech: Speech, messages: int) -> Iterator[Query]:
    while True:
        yield asked(speech.words[0], thread=MessageId(speech.dice.randint(1, messages)))


def _at_times(speech: Speech, messages: int) -> Iterator[Query]:
    while True:
        number = speech.dice.randrange(messages)
        since = datetime.fromtimestamp((BEGIN + number * APART) / 1e6, UTC)
        yield asked(speech.words[3], since=since, until=since + timedelta(hours=8))


def _chinese(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked("".join(chr(0x4E00 + speech.dice.randrange(2_000)) for _ in range(2)))


def _beginnings(speech: Speech, _messages: int) -> Iterator[Query]:
    while True:
        yield asked(f"{speech.dice.choice(speech.words)[:3]}*")


def _next_pages(speech: Speech, messages: int) -> Iterator[Query]:
    while True:
        query = asked(speech.dice.choice(speech.words[:100]))
        yield attrs.evolve(query, below=MessageId(speech.dice.randint(1, messages)))


KINDS: dict[str, Callable[[Speech, int], Iterator[Query]]] = {
    "a common word": _common,
    "a rare word": _rare,
    "three words": _several,
    "a phrase of common words": _phrases,
    "a word of one author": _by_author,
    "a word in a thread": _in_threads,
    "a word of a few hours": _at_times,
    "two signs of Chinese": _chinese,
    "words that begin so": _beginnings,
    "a page further down": _next_pages,
}

MEASURED: Sequence[Callable[[Path], list[Row]]] = (a_search,)
