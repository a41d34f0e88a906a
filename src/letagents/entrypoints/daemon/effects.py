"""What agents ask about their effects, and a person about those that are uncertain.

(Source: supervisor 3.4, 5.5.)
"""

from collections.abc import Mapping
from functools import partial

import attrs

from letagents.application.agents import turn_instructions
from letagents.application.agents.effect_runs import EffectRuns
from letagents.application.agents.effect_steps import Asked, Told
from letagents.application.agents.supervised_effects import SupervisedEffects
from letagents.application.agents.supervising import Supervising
from letagents.domain.effect_authority import Coordinates
from letagents.domain.effects import Answer, Effect, EffectRefused
from letagents.entrypoints.daemon import callers
from letagents.entrypoints.daemon.table import Method, Table
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import NotALine, Params, Request


@attrs.frozen
class Effects:
    """The methods about effects."""

    effects: SupervisedEffects
    sessions: Supervising

    def table(self) -> Table:
        """Return the methods by their names; calls are done only where that is possible."""
        table: dict[str, Method] = {
            wire.PREPARE: self._prepare,
            wire.COMPLETE: self._complete,
            wire.LIST_EFFECTS: self._list_effects,
            wire.SETTLE_EFFECT: self._settle_effect,
        }
        if self.effects.runs is not None:
            table[wire.EXECUTE] = partial(self._execute, self.effects.runs)
        return table

    async def _prepare(self, request: Request) -> object:
        params = Params.of(request)
        asked = _asked(params)
        told = await self.effects.prepare(
            _coordinates(params), asked, is_change=params.flag("mutation")
        )
        if told.answer is Answer.FAILED:
            raise _failed(told)
        return {"room_id": told.room_id, **_told(told)}

    async def _execute(self, runs: EffectRuns, request: Request) -> object:
        params = Params.of(request)
        for name in ("entry_id", "work_attempt_id", "execution_generation_id", "mcp_request_id"):
            params.exact(name)
        params.exact("tool_name")
        params.exact_number("daemon_generation")
        told = await runs.execute(_coordinates(params), _asked(params))
        if told.answer is Answer.FAILED:
            raise _failed(told)
        return {"state": "completed", "room_id": told.room_id, "result": _result(told)}

    async def _list_effects(self, request: Request) -> object:
        entry_id = Params.of(request).text("entry_id") or None
        return [_shown(one) for one in await self.effects.uncertain(entry_id)]

    async def _settle_effect(self, request: Request) -> object:
        params = Params.of(request)
        happened = params.value("happened")
        if not isinstance(happened, bool):
            raise NotALine("effects.settle requires whether it happened.")
        by = callers.doer(request, self.sessions.clock.now(), self.sessions.hold.generation)
        return _shown(await self.effects.settle(params.text("effect_id"), happened=happened, by=by))

    async def _complete(self, request: Request) -> object:
        params = Params.of(request)
        result, error = params.value("result"), params.text("error") or None
        await self.effects.complete(
            _coordinates(params),
            params.text("effect_id"),
            result=wire.canonical(result) if result is not None else None,
            error=error,
        )
        return {"completed": True}


def _shown(effect: Effect) -> dict[str, object]:
    return {
        "effect_id": effect.effect_id,
        "entry_id": effect.key.entry_id,
        "room_id": effect.request.room_id,
        "provider_turn_id": effect.key.turn_id,
        "tool_name": effect.request.tool,
        "input": wire.parsed(effect.request.text),
        "state": effect.state.value,
        "error": effect.error,
        "created_at": to_text(effect.created_at),
        "updated_at": to_text(effect.updated_at),
    }


def _coordinates(params: Params) -> Coordinates:
    return Coordinates(
        entry_id=params.text("entry_id"),
        work_attempt_id=params.text("work_attempt_id"),
        execution_id=params.text("execution_generation_id"),
        generation=params.number("daemon_generation"),
        turn_id=params.text("provider_turn_id") or None,
    )


def _asked(params: Params) -> Asked:
    given = params.value("input")
    arguments = given if isinstance(given, Mapping) else {}
    text = wire.canonical(arguments)
    return Asked(params.text("mcp_request_id"), params.text("tool_name"), arguments, text)


def _failed(told: Told) -> EffectRefused:
    return EffectRefused(
        told.effect.error or "The tool failed.", remedy="Call it again under another request."
    )


def _told(told: Told) -> dict[str, object]:
    effect, request = told.effect, told.effect.request
    if told.answer is Answer.COMPLETED:
        return {"state": "completed", "result": _result(told)}
    if told.answer is Answer.UNCERTAIN:
        return {
            "state": "uncertain",
            "effect_id": effect.effect_id,
            "mutation": request.is_change,
            "error": effect.error,
        }
    said: dict[str, object] = {
        "state": "prepared",
        "effect_id": effect.effect_id,
        "action": told.answer.value,
    }
    if told.answer is Answer.FINAL_ANSWER:
        return {**said, "source_message_id": told.message_id}
    if told.answer is Answer.ROOM_MOVE:
        return {**said, "destination_room": request.destination}
    return {**said, "mutation": request.is_change}


def _result(told: Told) -> object:
    """Return the result of what was done, or what is to be done in its place."""
    if told.answer is Answer.COMPLETED:
        return wire.parsed(told.effect.result or "null")
    return instruction_for(told)


def instruction_for(told: Told) -> dict[str, object]:
    """Return the result that tells a model what to do in the place of what it called."""
    effect = told.effect
    if told.answer is Answer.UNCERTAIN:
        return turn_instructions.uncertain(effect.effect_id, effect.error)
    if told.answer is Answer.ROOM_MOVE:
        return turn_instructions.move(effect.request.destination, told.provider)
    return turn_instructions.final_answer(told.message_id, told.provider)
