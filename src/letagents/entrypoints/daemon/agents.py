"""What a person asks of a supervisor: which agents there are, and what is wanted of each.

(Source: supervisor 3.7, 6.4.)
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TypeVar

import attrs

from letagents.application.agents import agent_states
from letagents.application.agents.agent_states import Agent
from letagents.application.agents.household import Household
from letagents.domain.deeds import Doer
from letagents.domain.errors import Malformed
from letagents.domain.ids import RoomId
from letagents.domain.manifest import Admission, Delivery, Entry, TurnControl
from letagents.domain.open_models import PROVIDER, Endpoint, KeySource, ModelServer
from letagents.domain.recovery import Desired
from letagents.domain.surfaces import LOCAL_ROOMS
from letagents.domain.workplaces import Wish, Worktree
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import NotALine, Params, Request

_Word = TypeVar("_Word", bound=Enum)


@attrs.frozen
class Agents:
    """The methods about agents."""

    household: Household
    now: Callable[[], datetime]

    def table(self) -> Table:
        """Return the methods by their names."""
        return {
            wire.LIST_AGENTS: self._list,
            wire.PUT_AGENT: self._put,
            wire.WANT_AGENT: self._want,
            wire.REMOVE_AGENT: self._remove,
            wire.INSTALL_MODEL: self._install_model,
        }

    async def _list(self, _request: Request) -> object:
        found = await self.household.journal.look(agent_states.all_of)
        return [shown(agent) for agent in found]

    async def _put(self, request: Request) -> object:
        given = Params.of(request).value("entry")
        if not isinstance(given, Mapping):
            raise NotALine("manifest.put requires an entry.")
        params = Params(given)
        return await told(
            self.household,
            await self.household.add(self._entry(params), _wish(params), by=self._doer(request)),
        )

    def _entry(self, given: Params) -> Entry:
        return Entry(
            entry_id=given.text("id"),
            room_id=str(RoomId(given.text("room_id"))),
            display_name=given.text("display_name") or given.text("id"),
            provider=given.text("provider"),
            created_at=self.now(),
            desired=desired_of(given.text("desired_state") or Desired.RUNNING.value),
            delivery=_delivery(given.text("delivery_mode") or Delivery.INBOX.value),
            model=given.text("model") or None,
            charter=given.text("charter"),
            workspace=given.text("workspace_path") or None,
            api_url=given.text("api_url").rstrip("/") or LOCAL_ROOMS,
            model_server=_model_server(given),
        )

    async def _want(self, request: Request) -> object:
        params = Params.of(request)
        wanted = desired_of(params.text("desired_state"))
        by = self._doer(request)
        entry = await self.household.want(params.text("id"), wanted, by=by)
        return await told(self.household, entry)

    def _doer(self, request: Request) -> Doer:
        return callers.doer(request, self.now(), self.household.generation)

    async def _remove(self, request: Request) -> object:
        entry_id = Params.of(request).text("id")
        kept = await self.household.remove(entry_id, by=self._doer(request))
        told = None if kept is None else {"workspace_path": kept.folder, "why": kept.why}
        return {"removed": True, "id": entry_id, "kept": told}

    async def _install_model(self, request: Request) -> object:
        params = Params.of(request)
        key = params.value("api_key")
        if key is not None and (not isinstance(key, str) or not key.strip()):
            raise Malformed("A model's key is a text, or null.", remedy="Pass one of them.")
        endpoint = Endpoint.of(params.text("base_url"), params.text("model"), key)
        generation = params.number("daemon_generation")
        taken = await self.household.take_model(params.text("entry_id"), endpoint, generation)
        return {"status": "installed" if taken else "stale"}


def _model_server(given: Params) -> ModelServer | None:
    """Return where the agent's model is, and where its key is found."""
    address = given.text("base_url")
    key = KeySource.of(given.text("api_key_variable"), given.text("api_key_file"))
    if not address and key is None:
        return None
    if given.text("provider") != PROVIDER:
        raise Malformed(
            "Only agents of an open model have an address of it, and a key.",
            remedy=f"Leave it out, or name the provider {PROVIDER}.",
        )
    return ModelServer(Endpoint.of(address, given.text("model")).base_url, key)


def _wish(given: Params) -> Wish | None:
    repository = given.text("source_repo_path")
    if not repository:
        return None
    if not Path(repository).is_absolute():
        raise Malformed("A repository is named by its whole path.", remedy="Pass that.")
    return Wish(repository, given.text("branch") or None, given.text("base") or None)


def desired_of(text: str) -> Desired:
    """Return what is wanted of an agent by that word. Raises: Malformed."""
    return _meant(Desired, text, "No such state can be wanted of an agent.")


def _delivery(text: str) -> Delivery:
    return _meant(Delivery, text, "An agent comes to its messages in no such way.")


def _meant(kind: type[_Word], text: str, otherwise: str) -> _Word:
    """Return which of its kind a word means.

    Raises:
        Malformed: none.
    """
    try:
        return kind(text)
    except ValueError:
        named = ", ".join(one.value for one in kind)
        raise Malformed(otherwise, remedy=f"Name one of {named}.") from None


async def told(household: Household, entry: Entry) -> dict[str, object]:
    """Return an agent that was changed as people and programs see it."""
    return shown(await household.journal.look(lambda one: agent_states.agent(one, entry)))


def shown(agent: Agent) -> dict[str, object]:
    """Return an agent as people and programs see it."""
    entry = agent.entry
    return {
        "id": entry.entry_id,
        "room_id": entry.room_id,
        "api_url": entry.api_url,
        "display_name": entry.display_name,
        "provider": entry.provider,
        "model": entry.model,
        "charter": entry.charter,
        "desired_state": entry.desired.value,
        "observed_state": agent.state.value,
        "condition": _condition(entry),
        "last_error": entry.last_error,
        "created_at": to_text(entry.created_at),
        "workspace_path": entry.workspace,
        **_of_worktree(entry.worktree),
        **_of_model(entry.model_server),
        "work_attempt_id": entry.work_attempt_id or None,
        "provider_ref": _process_of(entry),
        "delivery_mode": entry.delivery.value,
        "turn_control": control_shown(entry.control) if entry.control is not None else None,
    }


def _process_of(entry: Entry) -> dict[str, object] | None:
    """Return which process an agent has, and by what it is known."""
    execution = entry.execution
    if execution is None or execution.is_over:
        return None
    process = execution.process
    there = (
        None
        if process is None
        else {
            "kind": process.kind,
            "url": process.url,
            "pid": process.pid,
            "processIdentity": process.birth,
        }
    )
    return {
        "work_attempt_id": execution.work_attempt_id,
        "provider_continuation_id": entry.continuation_id,
        "execution_generation_id": execution.execution_id,
        "provider_connection": there,
    }


def control_shown(control: TurnControl) -> dict[str, object]:
    """Return what is known of a stopped turn, as people and programs see it."""
    return {
        "action_id": control.action_id,
        "work_attempt_id": control.work_attempt_id,
        "execution_generation_id": control.execution_id,
        "inbox_item_id": control.item_id,
        "provider_turn_id": control.turn_id,
        "has_correction": control.correction is not None,
        "status": control.status.value,
        "capability": "native_interrupt",
        "interrupted": control.interrupted,
        "error": control.error,
        "recorded_at": to_text(control.recorded_at),
        "updated_at": to_text(control.updated_at),
    }


def _of_worktree(worktree: Worktree | None) -> dict[str, object]:
    if worktree is None:
        return {"source_repo_path": None}
    return {
        "source_repo_path": worktree.repository,
        "branch": worktree.branch,
        "resolved_revision": worktree.revision,
        "source_repo_had_changes": worktree.was_dirty,
    }


def _of_model(server: ModelServer | None) -> dict[str, object]:
    if server is None:
        return {}
    return {"base_url": server.base_url, "api_key_from": str(server.key) if server.key else None}


def _condition(entry: Entry) -> str:
    if entry.admission is Admission.BLOCKED:
        return Admission.BLOCKED.value
    return "quarantined" if entry.history.is_quarantined else "none"
