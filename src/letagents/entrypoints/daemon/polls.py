"""The method by which agents that poll by themselves are admitted. (Source: supervisor 3.5.)"""

import attrs

from letagents.application.agents.polls import Polls, Release, Told
from letagents.domain import bindings, custody
from letagents.domain.custody import CONTRACT, WAIT, Invocation, Offer
from letagents.domain.ids import MessageId
from letagents.entrypoints.daemon.bindings import claim_of
from letagents.entrypoints.daemon.table import Table
from letagents.wire import supervisor as wire
from letagents.wire.supervisor import Params, Request

_CURSOR = "Custodial polling cursor must be a string or null."
_INEXACT = (
    "Custodial polling requires an exact invocation and BEFORE receipt; upgrade the MCP runtime."
)


@attrs.frozen
class PollMethods:
    """The method about polls."""

    polls: Polls

    def table(self) -> Table:
        """Return it by its name."""
        return {wire.AUTHORIZE: self._authorize}

    async def _authorize(self, request: Request) -> object:
        params = Params.of(request)
        if params.text("contract") != CONTRACT:
            raise custody.refused("Custodial polling authority is stale or unsupported.")
        claim, generation = claim_of(params), params.number("daemon_generation")
        phase, is_wait = params.text("phase"), params.text("tool_name") == WAIT
        if phase == "before":
            invocation = _invocation(params) if is_wait else None
            told = await self.polls.before(claim, generation, invocation)
        elif phase == "release":
            told = await self.polls.release(claim, generation, _release(params, is_wait=is_wait))
        else:
            raise custody.refused("Custodial polling authority is stale or unsupported.")
        return _said(told, is_wait=is_wait)


def _invocation(params: Params) -> Invocation:
    cursor = params.value("room_cursor")
    if not isinstance(cursor, str | None):
        raise custody.refused(_CURSOR)
    return Invocation(_process_id(params), _request_id(params), cursor)


def _process_id(params: Params) -> str:
    process_id = params.text("process_incarnation_id")
    custody.check_process(process_id)
    return process_id


def _request_id(params: Params) -> str | int:
    given = params.value("mcp_request_id")
    if isinstance(given, str) and given:
        return given
    whole = wire.whole(given)
    if whole is None:
        raise custody.refused(_INEXACT)
    return whole


def _release(params: Params, *, is_wait: bool) -> Release:
    revision = params.number("expected_configuration_revision")
    if not is_wait:
        return Release(revision)
    request = wire.canonical(_request_id(params))
    offer = Offer(
        _process_id(params),
        request,
        _message(params, "input_cursor"),
        _message(params, "offered_frontier"),
    )
    epoch = params.number("expected_binding_epoch")
    return Release(revision, params.text("expected_activation_id"), epoch, offer)


def _message(params: Params, name: str) -> MessageId:
    found = bindings.cursor(params.text(name))
    if found is None:
        raise custody.refused(_CURSOR)
    return found


def _said(told: Told, *, is_wait: bool) -> dict[str, object]:
    cursor = told.binding.cursor
    said: dict[str, object] = {
        "status": "authorized",
        "contract": CONTRACT,
        "room_id": told.binding.room_id,
        "agent_session_id": told.binding.session_id,
        "room_cursor": str(cursor) if cursor is not None else None,
        "configuration_revision": told.polling.revision,
    }
    if is_wait:
        said |= {"activation_id": told.polling.activation_id, "binding_epoch": told.binding.epoch}
    return said
