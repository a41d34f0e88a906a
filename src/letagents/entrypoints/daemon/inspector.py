"""What is seen of one agent, and what a person does about a message that it is stuck with.

(Source: supervisor 3.7.)
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import attrs

from letagents.application.agents import deeds, entries, inspecting
from letagents.application.agents.agent_feed import Event
from letagents.application.agents.agent_states import Agent
from letagents.application.agents.household import Household
from letagents.application.agents.inspecting import Detail
from letagents.application.agents.supervising import Supervising
from letagents.domain import agent_states
from letagents.domain.deeds import KEPT, Deed
from letagents.domain.inbox import Item
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.agents import shown
from letagents.entrypoints.daemon.bindings import claim_of
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import Params, Request

LONGEST_WAIT = timedelta(seconds=55)
_USUAL_WAIT = timedelta(seconds=25)


@attrs.frozen
class Inspector:
    """The methods about one agent."""

    household: Household
    sessions: Supervising

    def table(self) -> Table:
        """Return the methods by their names."""
        return {
            wire.INSPECT_AGENT: self._inspect,
            wire.WATCH_AGENT: self._watch,
            wire.RETRY_MESSAGE: self._retry,
            wire.SKIP_MESSAGE: self._skip,
            wire.LIST_DEEDS: self._deeds,
        }

    async def _inspect(self, request: Request) -> object:
        params = Params.of(request)
        found = await inspecting.detail(self.sessions.journal, params.text("entry_id"))
        message_id = params.text("source_message_id")
        items = [one for one in found.items if not message_id or one.message_id == message_id]
        return {
            **_detail(found),
            "daemon_generation": self.sessions.hold.generation,
            "items": [_item(one) for one in items],
        }

    async def _watch(self, request: Request) -> object:
        params = Params.of(request)
        entry_id = params.text("entry_id")
        await entries.look(self.sessions.journal, entry_id)
        feed = self.sessions.feeds.of(entry_id)
        sequence = max(0, params.number("after_sequence"))
        events = await feed.after(sequence, wait_of(params))
        return {
            "daemon_generation": self.sessions.hold.generation,
            "sequence": events[-1].sequence if events else sequence,
            "events": [event_shown(one) for one in events],
        }

    async def _deeds(self, request: Request) -> object:
        params = Params.of(request)
        entry_id, most = params.text("entry_id") or None, params.number("limit")
        most = min(most, KEPT) if most > 0 else KEPT
        found = await deeds.newest(self.sessions.journal, entry_id, most)
        return [_deed(one) for one in found]

    async def _retry(self, request: Request) -> object:
        return await self._changed(request, inspecting.retry)

    async def _skip(self, request: Request) -> object:
        return await self._changed(request, inspecting.skip)

    async def _changed(self, request: Request, change: Callable[..., Awaitable[Item]]) -> object:
        params = Params.of(request)
        by = callers.doer(request, self.sessions.clock.now(), self.sessions.hold.generation)
        claim, message_id = claim_of(params), params.text("source_message_id")
        generation, own = params.number("daemon_generation"), self.sessions.hold.generation
        await change(self.sessions.journal, claim, generation, message_id, own=own, by=by)
        self.household.look_again(claim.entry_id)
        return {"accepted": True}


def wait_of(params: Params) -> timedelta:
    """Return how long news are waited for."""
    if params.value("wait_ms") is None:
        return _USUAL_WAIT
    return min(timedelta(milliseconds=max(0, params.number("wait_ms"))), LONGEST_WAIT)


def _deed(deed: Deed) -> dict[str, object]:
    return {
        "at": to_text(deed.at),
        "entry_id": deed.entry_id,
        "act": deed.act.value,
        "detail": deed.detail,
        "by": deed.by,
        "generation": deed.generation,
    }


def _detail(found: Detail) -> dict[str, object]:
    entry, binding = found.entry, found.binding
    execution = entry.execution
    process = execution.process if execution is not None and not execution.is_over else None
    return {
        "agent": shown(Agent(entry, agent_states.of(entry, found.first))),
        "process_id": process.pid if process is not None else None,
        "provider_continuation_id": entry.continuation_id,
        "execution_generation_id": execution.execution_id if execution is not None else None,
        "route": None
        if binding is None
        else {
            "room_id": binding.room_id,
            "work_attempt_id": binding.work_attempt_id,
            "execution_generation_id": binding.execution_id,
            "agent_session_id": binding.session_id,
        },
        "room_cursor": _cursor(found),
        "waiting": len(found.unfinished),
        "uncertain_effects": [
            {"effect_id": one.effect_id, "tool_name": one.request.tool} for one in found.uncertain
        ],
    }


def _cursor(found: Detail) -> str | None:
    there = found.ingress
    return str(there.cursor) if there is not None and there.cursor is not None else None


def _item(item: Item) -> dict[str, object]:
    outcome = item.outcome
    return {
        "inbox_item_id": item.item_id,
        "source_message_id": item.message_id,
        "state": item.stage.value,
        "attempt_count": item.attempts,
        "provider_turn_id": item.turn.turn_id if item.turn is not None else None,
        "outcome": outcome.how.value if outcome is not None else None,
        "published_message_id": item.published_as,
        "last_error": item.trouble,
        "may_be_skipped": not item.is_over and not item.may_have_begun,
        "timeline": [
            {"phase": one.phase.value, "observed_at": to_text(one.at), "detail": one.detail}
            for one in item.events
        ],
    }


def event_shown(event: Event) -> dict[str, object]:
    """Return an event as people and programs see it."""
    return {
        "sequence": event.sequence,
        "observed_at": to_text(event.at),
        "kind": event.kind,
        "summary": event.summary,
    }
