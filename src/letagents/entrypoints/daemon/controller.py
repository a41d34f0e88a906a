"""What a program asks that looks after all agents: how they are, and changes of what is kept.

(Source: supervisor 3.3, 3.7.)
"""

import signal
from collections.abc import Mapping
from datetime import timedelta

import anyio
import attrs

from letagents.application.agents import entries
from letagents.application.agents.household import Household
from letagents.application.agents.supervising import Supervising
from letagents.domain import generations, manifest
from letagents.domain.deeds import Doer
from letagents.domain.errors import Malformed, NotAvailable
from letagents.domain.ingress import Ingress
from letagents.domain.manifest import Entry, Execution
from letagents.entrypoints.daemon import callers, words
from letagents.entrypoints.daemon.agents import desired_of, shown, told
from letagents.entrypoints.daemon.inspector import event_shown, wait_of
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import NotALine, Params, Request

ADMITTED_WITHIN = 40.0
"""Seconds in which an agent's room has to tell where it ends."""
_NEWEST = 50
"""So many events of an agent are told with its attempt."""


@attrs.frozen
class Controller:
    """The methods of who looks after all agents."""

    household: Household
    sessions: Supervising

    def table(self) -> Table:
        """Return the methods by their names."""
        return {
            wire.WATCH_AGENTS: self._watch,
            wire.WANT_IF: self._want_if,
            wire.NAME_AGENT: self._name,
            wire.APPEND_ACTIVITY: self._append,
            wire.READ_ATTEMPT: self._attempt,
            wire.BEGIN_INGRESS: self._begin,
        }

    async def _watch(self, request: Request) -> object:
        params, own = Params.of(request), self.sessions.hold.generation
        is_ours = params.number("after_daemon_generation") == own
        known = params.number("after_sequence") if is_ours else 0
        states = await self.sessions.journal.agents_after(known, wait_of(params))
        return {
            "daemon_generation": own,
            "sequence": states.sequence,
            "entries": [shown(agent) for agent in states.agents],
        }

    async def _want_if(self, request: Request) -> object:
        params = Params.of(request)
        expected = desired_of(params.text("expected_desired_state"))
        wanted = desired_of(params.text("desired_state"))
        entry, is_so = await self.household.want_if(
            params.text("id"), wanted, expected, by=self._doer(request)
        )
        return {"applied": is_so, "entry": await told(self.household, entry)}

    async def _name(self, request: Request) -> object:
        params = Params.of(request)
        name = params.text("display_name")
        by = self._doer(request)
        renamed = await self.household.rename(params.text("id"), name, by=by)
        return await told(self.household, renamed)

    def _doer(self, request: Request) -> Doer:
        return callers.doer(request, self.sessions.clock.now(), self.sessions.hold.generation)

    async def _append(self, request: Request) -> object:
        params = Params.of(request)
        entry = await self._entry(params)
        given = params.value("event")
        if not isinstance(given, Mapping):
            raise NotALine("manifest.append_activity requires an event.")
        event = Params(given)
        kind = (event.text("method") or event.text("kind")).strip()
        if not kind:
            raise Malformed("An event has a kind.", remedy="Say which method or kind it is of.")
        self.sessions.feeds.of(entry.entry_id).tell(kind[:100], event.text("summary"))
        return {"appended": True}

    async def _attempt(self, request: Request) -> object:
        entry_id = Params.of(request).text("id")
        entry, ingress = await self.sessions.journal.look(
            lambda journal: (entries.known(journal, entry_id), journal.ingress(entry_id))
        )
        events = await self.sessions.feeds.of(entry_id).after(0, timedelta())
        processes = [*entry.earlier, *([entry.execution] if entry.execution is not None else [])]
        ended = [one for one in processes if one.is_over]
        return {
            "entry_id": entry.entry_id,
            "work_attempt_id": entry.work_attempt_id or None,
            "workspace_path": entry.workspace,
            "last_terminal": _end_shown(ended[-1]) if ended else None,
            "restart_count": entry.restarts,
            "execution_generations": [_execution_shown(one) for one in processes],
            "checkpoints": _checkpoints(entry, ingress),
            "activity": [event_shown(one) for one in events[-_NEWEST:]],
        }

    async def _begin(self, request: Request) -> object:
        params = Params.of(request)
        entry_id = params.text("entry_id")
        known = await entries.find(self.sessions.journal, entry_id)
        generation, own = params.number("daemon_generation"), self.sessions.hold.generation
        if known is None or not generations.is_current(generation, own):
            return {"status": "stale", "last_observed_message_id": None}
        text = _initial(params)
        if text is not None:
            manifest.check_handed(known)
        there, is_new = await self._admitted(entry_id)
        if text is not None:
            await self.household.tell_at_once(entry_id, words.initial(entry_id, text))
        cursor = str(there.cursor) if there.cursor is not None else None
        status = "bootstrapped" if is_new else "existing"
        return {"status": status, "last_observed_message_id": cursor}

    async def _admitted(self, entry_id: str) -> tuple[Ingress, bool]:
        with anyio.move_on_after(ADMITTED_WITHIN):
            return await self.household.admit(entry_id)
        raise NotAvailable(
            f"The agent's room did not answer within {ADMITTED_WITHIN:.0f} seconds.",
            remedy="Ask again: where the agent begins is set once.",
        )

    async def _entry(self, params: Params) -> Entry:
        entry_id = params.text("id")
        return await entries.look(self.sessions.journal, entry_id)


def _initial(params: Params) -> str | None:
    """Return what an agent is to be told at its beginning; None for nothing."""
    text = params.value("initial_message")
    if text is not None and (not isinstance(text, str) or not text.strip()):
        raise Malformed("An initial message is a text, or null.", remedy="Pass one of them.")
    return text


def _execution_shown(execution: Execution) -> dict[str, object]:
    return {
        "execution_generation_id": execution.execution_id,
        "work_attempt_id": execution.work_attempt_id,
        "started_at": to_text(execution.started_at),
        "generation": execution.generation,
        "terminal": _end_shown(execution) if execution.is_over else None,
    }


def _end_shown(execution: Execution) -> dict[str, object]:
    ended_at, ending = execution.ended_at, execution.ending
    return {
        "execution_generation_id": execution.execution_id,
        "ended_at": to_text(ended_at) if ended_at is not None else None,
        **_exit_shown(execution.exit_code),
        "stdio_tail": execution.tail,
        "terminal_cause": ending.value if ending is not None else None,
        "generation": execution.generation,
    }


def _exit_shown(code: int | None) -> dict[str, object]:
    """Return with which code or by which signal a process ended, as far as that is known."""
    if code is None or code >= 0:
        return {"exit_code": code, "signal": None}
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return {"exit_code": None, "signal": name}


def _checkpoints(entry: Entry, ingress: Ingress | None) -> list[dict[str, object]]:
    """Return up to where its conversation and its room have come: the newest alone is kept."""
    cursor = ingress.cursor if ingress is not None else None
    if cursor is None and entry.continuation_id is None:
        return []
    return [
        {
            "room_cursor": str(cursor) if cursor is not None else None,
            "provider_continuation_id": entry.continuation_id,
        }
    ]
