"""The one thread that writes for a LocalRooms: posts that wait together share one transaction.

After several did, the next transaction waits a moment for as many: who has been answered speaks
again soon, and a transaction costs much more than a post in it. Who posts alone never waits.

Who asks waits on a future of its own event loop, so callers of several loops and threads may share
one writer. A turn whose caller has gone before it came is left out; one that has come is done.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, TypeVar

import attrs

from letagents.domain.errors import RoomsUnavailable
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId
from letagents.domain.messages import Draft, Message

T = TypeVar("T")

PATIENCE = 1.5
"""So many seconds the end waits for what is being done: another process may have the database."""
GATHERED = 0.002
"""So many seconds a transaction waits at most for each post that may come to share it."""
TOGETHER = 128
"""So many posts share one transaction at most."""


@attrs.frozen
class Post:
    """What somebody asked to be said."""

    room_id: RoomId
    draft: Draft
    fence: Fence


Outcome = Message | Exception


def closed() -> RoomsUnavailable:
    """Return the error for what is asked after the end."""
    return RoomsUnavailable("These rooms have been closed.", remedy="Open them again first.")


@attrs.frozen(eq=False)
class _Turn:
    work: Post | Callable[[], Any]
    loop: asyncio.AbstractEventLoop = attrs.field(factory=asyncio.get_running_loop)
    answer: asyncio.Future[Any] = attrs.field()

    @answer.default
    def _future(self) -> asyncio.Future[Any]:
        return self.loop.create_future()


def _is_post(turn: _Turn) -> bool:
    return isinstance(turn.work, Post)


_Settled = tuple[_Turn, Any]


@attrs.define(eq=False)
class Writer:
    """Does one thing after another, posts that wait together, and `tidy` when all were told."""

    _post_all: Callable[[Sequence[Post]], Sequence[Outcome]]
    _tidy: Callable[[], None]
    _queue: queue.SimpleQueue[_Turn | None] = attrs.field(factory=queue.SimpleQueue)
    _lock: threading.Lock = attrs.field(factory=threading.Lock)
    _thread: threading.Thread | None = None
    is_closed: bool = False
    _lately: int = 0

    async def post(self, post: Post) -> Message:
        """Return the message that `post` became."""
        said: Message = await self._ask(_Turn(post))
        return said

    async def do(self, work: Callable[[], T]) -> T:
        """Return what `work` returns."""
        done: T = await self._ask(_Turn(work))
        return done

    def hand(self, work: Callable[[], object]) -> None:
        """Do `work` in its turn, while nobody waits for it or is told what became of it."""
        with contextlib.suppress(RoomsUnavailable):
            self._start()
            self._queue.put(_Turn(work))

    async def _ask(self, turn: _Turn) -> Any:
        self._start()
        self._queue.put(turn)
        return await turn.answer

    def _start(self) -> None:
        if self._thread is not None and not self.is_closed:
            return
        with self._lock:
            if self.is_closed:
                raise closed()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="rooms-writer", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Do what was asked before, and no more; what takes too long is left to end by itself."""
        with self._lock:
            self.is_closed = True
            thread = self._thread
        if thread is not None:
            self._queue.put(None)
            thread.join(PATIENCE)

    def _run(self) -> None:
        while (turns := self._next()) is not None:
            for are_posts, group in groupby(turns, key=_is_post):
                together = list(group)
                if are_posts:
                    _tell(self._said(together))
                else:
                    for turn in together:
                        _tell([_done(turn)])
                self._tidy()

    def _next(self) -> list[_Turn] | None:
        """Return the turns that have come by now, or None if there will be no more."""
        turns = [self._queue.get()]
        self._await_as_many(turns)
        while turns[-1] is not None and len(turns) < TOGETHER and not self._queue.empty():
            turns.append(self._queue.get())
        wanted = [turn for turn in turns if turn is not None and not turn.answer.cancelled()]
        if turns[-1] is None and wanted:
            self._queue.put(None)
        return None if turns[-1] is None and not wanted else wanted

    def _await_as_many(self, turns: list[_Turn | None]) -> None:
        """Let as many come as posted together before: who was answered soon has more to say."""
        with contextlib.suppress(queue.Empty):
            while len(turns) < self._lately and turns[-1] is not None and _is_post(turns[-1]):
                turns.append(self._queue.get(timeout=GATHERED))

    def _said(self, turns: Sequence[_Turn]) -> Iterable[_Settled]:
        posts = [turn.work for turn in turns if isinstance(turn.work, Post)]
        self._lately = len(posts)
        try:
            outcomes = self._post_all(posts)
        except Exception as error:  # noqa: BLE001  # the thread goes on; each caller is told
            outcomes = [error] * len(posts)
        return zip(turns, outcomes, strict=True)


def _done(turn: _Turn) -> _Settled:
    assert callable(turn.work)  # noqa: S101  # for the type checker
    try:
        return turn, turn.work()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer to the caller
        return turn, error


def _tell(settled: Iterable[_Settled]) -> None:
    """Give each caller its answer, with one call to each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Settled]] = {}
    for turn, outcome in settled:
        by_loop.setdefault(turn.loop, []).append((turn, outcome))
    for loop, answers in by_loop.items():
        try:
            loop.call_soon_threadsafe(_answer, answers)
        except RuntimeError:
            continue  # a loop that has closed has nobody left to be told


def _answer(settled: Iterable[_Settled]) -> None:
    for turn, outcome in settled:
        if turn.answer.done():
            continue
        if isinstance(outcome, Exception):
            turn.answer.set_exception(outcome)
        else:
            turn.answer.set_result(outcome)
