"""What agents in rooms on a server let be seen of their reasoning. (Source: hosted-api 3.10.)

Our own server goes on by itself with an agent's open trace. Of another's, it is remembered here
which trace a session opened last.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import attrs

from letagents.adapters.rooms.hosted.calls import Calls
from letagents.adapters.rooms.hosted.lacking import there
from letagents.adapters.rooms.hosted.meant import about as told_about
from letagents.adapters.rooms.hosted.projects import Absent
from letagents.domain.fencing import Fence
from letagents.domain.ids import RoomId, quoted
from letagents.domain.reasoning import (
    UNNAMED,
    ClosedReasoning,
    Reasoning,
    Subject,
    Trace,
    UnknownReasoning,
    Update,
)
from letagents.ports.clock import Clock
from letagents.wire import moments
from letagents.wire.http import credentials, rooms
from letagents.wire.http import reasoning as wire
from letagents.wire.http.places import part
from letagents.wire.http.reading import Fields

T = TypeVar("T")

WHAT = "traces of reasoning"
REMEMBERED = 1_000
"""Of so many sessions it is remembered which trace they opened."""


@attrs.define(eq=False)
class HostedReasonings:
    """The traces of rooms on one server, used by one account."""

    _calls: Calls
    _clock: Clock
    _opened: dict[tuple[str, str], str] = attrs.field(factory=dict)

    async def post(
        self,
        room_id: RoomId,
        said: Trace,
        fence: Fence,
        *,
        reasoning_id: str | None = None,
        about: Subject = UNNAMED,
    ) -> tuple[Reasoning, Update]:
        """Go on with a trace, or with the open one of who acts, or open one."""
        if reasoning_id is not None:
            path = f"{_one(room_id, reasoning_id)}/updates"
            return await _known(reasoning_id, self._send(path, room_id, said, fence, about))
        at = (str(room_id), str(fence.session_id))
        if (before := self._opened.get(at)) is not None:
            try:
                return await self.post(room_id, said, fence, reasoning_id=before, about=about)
            except (UnknownReasoning, ClosedReasoning):
                del self._opened[at]
        return await there(WHAT, self._send(_path(room_id), room_id, said, fence, about))

    async def _send(
        self, path: str, room_id: RoomId, said: Trace, fence: Fence, what: Subject
    ) -> tuple[Reasoning, Update]:
        def read(answer: Any) -> tuple[Reasoning, Update]:
            told = Fields(answer).document
            kept = wire.reasoning(told.get("session"))
            if not wire.is_ours(told.get("session")):
                self._remember((str(room_id), str(fence.session_id)), kept.reasoning_id)
            return kept, wire.update(told.get("update"))

        asked = wire.plain_trace(said) | wire.plain_subject(what) | credentials.in_body(fence)
        return await self._calls.send("POST", path, asked, read)

    def _remember(self, at: tuple[str, str], reasoning_id: str) -> None:
        if len(self._opened) >= REMEMBERED:
            self._opened.clear()
        self._opened[at] = reasoning_id

    async def traces(
        self,
        room_id: RoomId,
        *,
        is_open: bool | None = True,
        agent_key: str | None = None,
        task_id: str | None = None,
        limit: int = 50,
        viewer: Fence | None = None,
    ) -> tuple[Reasoning, ...]:
        """Return traces, the newest first."""
        asked = self._calls.get(
            _path(room_id),
            lambda answer: tuple(map(wire.reasoning, Fields(answer).list("sessions"))),
            query={
                "open": "true" if is_open else "false",
                "closed": "true" if is_open is False else None,
                "agent_key": agent_key,
                "task_id": task_id,
                "limit": limit,
            },
            headers=credentials.in_headers(viewer),
        )
        found = [one for one in await there(WHAT, asked) if _fits(one, is_open, agent_key)]
        return tuple(one for one in found if task_id in (None, one.task_id))

    async def trace(
        self, room_id: RoomId, reasoning_id: str, viewer: Fence | None = None
    ) -> Reasoning:
        """Return one trace."""
        found = self._calls.get(
            _one(room_id, reasoning_id),
            _of(reasoning_id),
            headers=credentials.in_headers(viewer),
        )
        return await _known(reasoning_id, found)

    async def updates(
        self, room_id: RoomId, reasoning_id: str, *, limit: int = 100, viewer: Fence | None = None
    ) -> tuple[Update, ...]:
        """Return the states that a trace had, the newest first."""
        found = self._calls.get(
            _one(room_id, reasoning_id),
            lambda answer: tuple(map(wire.update, Fields(answer).list("updates"))),
            query={"limit": limit},
            headers=credentials.in_headers(viewer),
        )
        return await _known(reasoning_id, found)

    async def relate(
        self, room_id: RoomId, reasoning_id: str, about: Subject, fence: Fence | None = None
    ) -> Reasoning:
        """Let a trace be about something else."""
        sent = self._calls.send(
            "PATCH",
            _one(room_id, reasoning_id),
            wire.plain_subject(about) | credentials.in_body_of_anybody(fence),
            _of(reasoning_id),
        )
        return await _known(reasoning_id, sent)

    async def close(
        self, room_id: RoomId, reasoning_id: str, fence: Fence | None = None
    ) -> Reasoning:
        """Close a trace."""
        asked = {"closed_at": moments.to_text(self._clock.now())}
        sent = self._calls.send(
            "PATCH",
            _one(room_id, reasoning_id),
            asked | credentials.in_body_of_anybody(fence),
            _of(reasoning_id),
        )
        return await _known(reasoning_id, sent)


def _fits(one: Reasoning, is_open: bool | None, agent_key: str | None) -> bool:
    """Whether a trace is asked for; a server may not know of all that can be asked."""
    by_agent = agent_key is None or one.agent_key == agent_key
    return by_agent and is_open in (None, one.closed_at is None)


def _path(room_id: RoomId) -> str:
    return f"{rooms.path(room_id)}/reasoning-sessions"


def _of(reasoning_id: str) -> Callable[[Any], Reasoning]:
    return told_about(
        reasoning_id,
        lambda trace: trace.reasoning_id,
        lambda answer: wire.reasoning(Fields(answer).document.get("session")),
    )


def _one(room_id: RoomId, reasoning_id: str) -> str:
    return f"{_path(room_id)}/{part(reasoning_id)}"


async def _known(reasoning_id: str, asked: Awaitable[T]) -> T:
    try:
        return await asked
    except Absent as error:
        raise UnknownReasoning(
            f"reasoning_id: this room has no trace {quoted(reasoning_id)}.",
            remedy="Call post_reasoning to open one.",
        ) from error
