"""What a supervisor is asked, method by method: parameters to values, and answers back.

(Source: supervisor 3.) Parameters are read leniently, as other programs send them; what is missing
is blank, and refused by the rule that needs it.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import attrs

from letagents.application import turn_instructions
from letagents.application.effect_runs import EffectRuns
from letagents.application.effect_steps import Asked, Told
from letagents.application.supervised_effects import SupervisedEffects
from letagents.application.supervising import Supervising
from letagents.domain.bindings import BindingRefused, Claim, Lent
from letagents.domain.effect_authority import Coordinates
from letagents.domain.effects import Answer, Effect, EffectRefused
from letagents.domain.ids import Token
from letagents.wire import supervisor as wire
from letagents.wire.moments import to_text
from letagents.wire.supervisor import NotALine, Params, Request

Result = object
_CAPABILITIES = {
    "room_delivery_retry": wire.RETRY_MESSAGE,
    "room_delivery_skip": wire.SKIP_MESSAGE,
    "agent_inspector_detail_v1": wire.INSPECT_AGENT,
    "agent_activity_stream_v1": wire.WATCH_AGENT,
    "agent_room_move_v1": wire.COMMIT_MOVE,
    "agent_state_subscription_v1": wire.WATCH_AGENTS,
    "custodialPollingV1": wire.AUTHORIZE,
    "custodialPollingOffersV1": wire.AUTHORIZE,
}
Method = Callable[[Request], Awaitable[Result]]


@attrs.frozen
class Identity:
    """What a supervisor says of itself."""

    implementation: str
    environment_fingerprint: str | None = None
    compatibility_fingerprint: str | None = None


@attrs.define(eq=False)
class Methods:
    """Everything that a supervisor does when it is asked."""

    sessions: Supervising
    effects: SupervisedEffects
    identity: Identity
    more: Mapping[str, Method] = attrs.field(factory=dict)
    _table: Mapping[str, Method] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        table: dict[str, Method] = {
            wire.NEGOTIATE: self._status,
            wire.STATUS: self._status,
            wire.PREPARE_HANDOFF: self._hand_over,
            wire.BIND: self._bind,
            wire.VERIFY: self._verify,
            wire.BORROW: self._borrow,
            wire.INSTALL: self._install,
            wire.CHECKPOINT: self._checkpoint,
            wire.PREPARE: self._prepare,
            wire.COMPLETE: self._complete,
            wire.LIST_EFFECTS: self._list_effects,
            wire.SETTLE_EFFECT: self._settle_effect,
        }
        if self.effects.runs is not None:
            table[wire.EXECUTE] = partial(self._execute, self.effects.runs)
        self._table = {**self.more, **table}

    def named(self, method: str) -> Method | None:
        """Return a method, or None if there is none of that name."""
        return self._table.get(method)

    async def _status(self, _request: Request) -> Result:
        return {
            "healthy": True,
            "protocol_version": wire.VERSION,
            "implementation_version": self.identity.implementation,
            "runtime_environment_fingerprint": self.identity.environment_fingerprint,
            "compatibility_fingerprint": self.identity.compatibility_fingerprint,
            "capabilities": {
                **{flag: name in self._table for flag, name in _CAPABILITIES.items()},
            },
            "generation": self.sessions.hold.generation,
            "pid": os.getpid(),
            "started_at": to_text(self.sessions.started_at),
            "recovery_diagnostics": [],
        }

    async def _hand_over(self, _request: Request) -> Result:
        return {"accepted": True, "generation": self.sessions.hold.generation}

    async def _bind(self, request: Request) -> Result:
        params = Params.of(request)
        claim, token = claim_of(params), _token(params)
        await self.sessions.check(claim)
        if token is None:
            raise BindingRefused(
                "Worker session token is not valid.", remedy="Register the session again."
            )
        await self.sessions.bind(claim, token)
        return {"bound": True, **_of_session(params)}

    async def _verify(self, request: Request) -> Result:
        params = Params.of(request)
        await self.sessions.verify(claim_of(params), _token(params))
        return {"verified": True, **_of_session(params)}

    async def _borrow(self, request: Request) -> Result:
        params = Params.of(request)
        generation, turn_id = params.number("daemon_generation"), params.text("provider_turn_id")
        lent, token = await self.sessions.lend(claim_of(params), generation, turn_id or None)
        if lent is Lent.AVAILABLE and token is not None:
            return {"status": lent.value, "credential": token.value}
        return {"status": lent.value}

    async def _install(self, request: Request) -> Result:
        params = Params.of(request)
        generation = params.number("daemon_generation")
        claim, token = claim_of(params), _token(params)
        is_there = token is not None and await self.sessions.install(claim, generation, token)
        return {"status": "installed" if is_there else "stale"}

    async def _checkpoint(self, request: Request) -> Result:
        params = Params.of(request)
        there = await self.sessions.checkpoint(claim_of(params), params.text("room_cursor"))
        return {
            "checkpointed": True,
            "entry_id": params.text("entry_id"),
            "room_cursor": str(there),
        }

    async def _prepare(self, request: Request) -> Result:
        params = Params.of(request)
        asked = _asked(params)
        told = await self.effects.prepare(
            _coordinates(params), asked, is_change=params.flag("mutation")
        )
        if told.answer is Answer.FAILED:
            raise _failed(told)
        return {"room_id": told.room_id, **_told(told)}

    async def _execute(self, runs: EffectRuns, request: Request) -> Result:
        params = Params.of(request)
        for name in ("entry_id", "work_attempt_id", "execution_generation_id", "mcp_request_id"):
            params.exact(name)
        params.exact("tool_name")
        params.exact_number("daemon_generation")
        told = await runs.execute(_coordinates(params), _asked(params))
        if told.answer is Answer.FAILED:
            raise _failed(told)
        return {"state": "completed", "room_id": told.room_id, "result": _result(told)}

    async def _list_effects(self, request: Request) -> Result:
        entry_id = Params.of(request).text("entry_id") or None
        return [_shown(one) for one in await self.effects.uncertain(entry_id)]

    async def _settle_effect(self, request: Request) -> Result:
        params = Params.of(request)
        happened = params.value("happened")
        if not isinstance(happened, bool):
            raise NotALine("effects.settle requires whether it happened.")
        return _shown(await self.effects.settle(params.text("effect_id"), happened=happened))

    async def _complete(self, request: Request) -> Result:
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


def claim_of(params: Params) -> Claim:
    """Return which session of which entry a request says that it is about."""
    return Claim(
        entry_id=params.text("entry_id"),
        room_id=params.text("room_id"),
        work_attempt_id=params.text("work_attempt_id"),
        execution_id=params.text("execution_generation_id"),
        session_id=params.text("agent_session_id"),
        api_url=params.text("api_url"),
    )


def _token(params: Params) -> Token | None:
    text = params.text("agent_session_token")
    return Token(text) if Token.fits(text) else None


def _of_session(params: Params) -> dict[str, object]:
    names = ("entry_id", "agent_session_id")
    return {name: params.text(name) for name in names}


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
