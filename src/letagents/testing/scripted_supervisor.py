"""A supervisor that plays what a test tells it: no socket, no journal on a disk, no process.

    house = ScriptedHouse("workshop", "msg_7")
    house.play("execute", refused("Supervisor handoff has fenced new daemon mutations."))
    supervisor = house.supervisor()

Nothing told, it does everything right, by the rules of the domain. `plays` says what the next calls
of a method come to instead, one each: an error to raise, or what is returned.
"""

import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import attrs

from letagents.domain import bindings, effects
from letagents.domain.bindings import Binding, BindingRefused, Claim, Lent, Place
from letagents.domain.effects import Answer, Effect, EffectRefused, Key, State, Turn
from letagents.domain.errors import LetAgentsError
from letagents.domain.fencing import same
from letagents.domain.ids import Credential, Token
from letagents.domain.supervised import (
    DEFERRED,
    STALE,
    Answered,
    AnswerWithTurn,
    Borrowed,
    Bound,
    Call,
    DoIt,
    MayBeDone,
    MoveAfterTurn,
    OwnSession,
    SupervisorRefused,
    SupervisorSilent,
    SupervisorUnavailable,
    Told,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
API = "https://letagents.example"
ENTRY, ATTEMPT, EXECUTION, TURN = "e1", "w1", "x1", "t1"
UNIDENTIFIED = (
    "The exact server-issued worker identity is unavailable for this supervised tool execution."
)
NOT_BOUND = "Worker session verification does not match the active supervised binding."
_REMEDY = "Do as its supervisor says."

Does = Callable[[Call], Awaitable[object]]
"""Does a call; returns the whole result of the tool, or raises."""


def refused(happened: str, remedy: str = _REMEDY) -> SupervisorRefused:
    """Return a refusal in those words."""
    return SupervisorRefused(happened, remedy=remedy)


def unavailable() -> SupervisorUnavailable:
    """Return what is raised where there is no supervisor."""
    return SupervisorUnavailable("The supervisor cannot be reached.", remedy="Wait.")


def silent() -> SupervisorSilent:
    """Return what is raised where there is no answer."""
    return SupervisorSilent("Supervisor connection closed before a response.", remedy="Look.")


@attrs.define(eq=False)
class ScriptedHouse:
    """A supervisor, and its agent in that room, whose turn about that message has begun.

    `does` does the agent's calls; without it they are left to the agent's own process.
    """

    room_id: str
    message_id: str
    does: Does | None = None
    plays: dict[str, deque[object]] = attrs.field(factory=dict)
    asked: Counter[str] = attrs.field(factory=Counter)
    """How often each method was called."""
    is_there: bool = True
    generation: int = 1
    binding: Binding | None = None
    done: dict[str, Effect] = attrs.field(factory=dict)
    """The calls of the turn, by their request ids."""
    _secret: Token | None = attrs.field(default=None, repr=False)

    def supervisor(self) -> "ScriptedSupervisor":
        """Return what one process of the agent sees of it."""
        return ScriptedSupervisor(self)

    def play(self, method: str, *what: object) -> None:
        """Have the next calls of a method come to that: what is an error is raised."""
        self.plays.setdefault(method, deque()).extend(what)

    def take_over(self) -> None:
        """Let another supervisor take over, with nothing but what was written down."""
        self.generation += 1
        self._secret = None
        for request_id, effect in self.done.items():
            self.done[request_id] = effects.after_crash(effect, now=NOW)

    def played(self, method: str) -> object:
        """Return what a call is told to come to; None if nothing is told."""
        self.asked[method] += 1
        told = self.plays.get(method)
        if told:
            what = told.popleft()
            if isinstance(what, LetAgentsError):
                raise what
            return what
        if not self.is_there:
            raise unavailable()
        return None

    @property
    def place(self) -> Place:
        """Where the agent is."""
        return Place(ENTRY, self.room_id, ATTEMPT, EXECUTION)

    def bind(self, claim: Claim, token: Token) -> None:
        """Keep which session the agent has."""
        bindings.check(claim, self.place)
        known = self.binding
        shows_same = self._secret is not None and same(self._secret, token)
        highest = known.epoch if known is not None else 0
        self.binding = bindings.bind(
            claim, known, shows_same_secret=shows_same, highest=highest, now=NOW
        )
        self._secret = token

    def holds(self, claim: Claim, token: Token) -> bool:
        """Whether that session is bound, under that secret."""
        known, held = self.binding, self._secret
        is_its = known is not None and bindings.is_of(known, claim)
        return is_its and held is not None and same(held, token)

    def lent(self, claim: Claim) -> tuple[Lent, Token | None]:
        """Return what a session is lent."""
        lent = bindings.lending(
            claim,
            self.place,
            self.binding,
            generation=self.generation,
            own=self.generation,
            has_secret=self._secret is not None,
        )
        return lent, self._secret

    @property
    def is_identified(self) -> bool:
        """Whether a call can be done for the agent."""
        return self.binding is not None and self._secret is not None

    def prepared(self, call: Call) -> effects.Prepared:
        """Write a call down, and say what is to become of it."""
        text = json.dumps(call.arguments, sort_keys=True)
        request = effects.request(self.room_id, call.tool, call.arguments, text)
        key = Key(ENTRY, EXECUTION, TURN, call.request_id)
        fresh = Effect(f"effect-{call.request_id}", key, request, State.PREPARED, NOW, NOW)
        turn = Turn(self.room_id, self.message_id)
        told = effects.prepare(self.done.get(call.request_id), fresh, turn, now=NOW)
        self.done[call.request_id] = told.effect
        return told

    def settle(self, effect_id: str, *, result: object = None, error: str | None = None) -> Effect:
        """Write down what became of a call."""
        known = next((one for one in self.done.values() if one.effect_id == effect_id), None)
        if known is None:
            raise refused("The supervised effect does not belong to the exact active turn.")
        if error is not None:
            left = effects.failed(known, error, now=NOW)
        else:
            left = effects.completed(known, json.dumps(result), now=NOW)
        self.done[known.key.request_id] = left
        return left


@attrs.frozen(eq=False)
class ScriptedSupervisor:
    """What one process of the agent sees."""

    house: ScriptedHouse
    _bound_to: set[tuple[int, OwnSession]] = attrs.field(factory=set)

    async def bind(self, session: OwnSession, *, is_known: bool = False) -> Bound:
        """Bind the session; one that was bound is only verified. Raises: as Supervisor."""
        told = self.house.played("bind")
        if isinstance(told, Bound):
            return told
        was_bound = any(one == session for _, one in self._bound_to)
        if is_known and was_bound and not self.house.holds(_claim(session), session.token):
            self._bound_to.clear()
            raise refused(NOT_BOUND)
        try:
            self.house.bind(_claim(session), session.token)
        except BindingRefused as error:
            raise refused(error.happened, error.remedy) from error
        self._bound_to.add((self.house.generation, session))
        return Bound(is_supervised=True)

    async def borrow(self, session: OwnSession) -> Borrowed:
        """Return the credential for one request."""
        try:
            told = self.house.played("borrow")
        except (SupervisorRefused, SupervisorSilent, SupervisorUnavailable):
            return STALE
        if isinstance(told, Borrowed):
            return told
        lent, token = self.house.lent(_claim(session))
        if lent is Lent.AVAILABLE and token is not None:
            return Borrowed(Credential(token.value))
        return DEFERRED if lent is Lent.DEFERRED else STALE

    async def checkpoint(self, session: OwnSession, cursor: str) -> None:
        """Write the cursor down."""
        to, known = bindings.cursor(cursor), self.house.binding
        if self.house.is_there and to is not None and known is not None:
            self.house.binding = bindings.advanced(known, to, now=NOW)

    async def execute(self, call: Call) -> Answered | None:
        """Do a call, or say that the agent's process is to. Raises: as Supervisor."""
        played = self.house.played("execute")
        if isinstance(played, Answered):
            return played
        does = self.house.does
        if does is None:
            return None
        if not self.house.is_identified:
            raise refused(UNIDENTIFIED)
        told = self._prepared(call)
        if told.answer is not Answer.EXECUTE:
            return Answered(self.house.room_id, _result(told))
        result = await does(call)
        self.house.settle(told.effect.effect_id, result=result)
        return Answered(self.house.room_id, result)

    async def prepare(self, call: Call) -> Told:
        """Say what is to be done about a call. Raises: as Supervisor."""
        played = self.house.played("prepare")
        if isinstance(played, Answered | MayBeDone | DoIt | AnswerWithTurn | MoveAfterTurn):
            return played
        told, room_id = self._prepared(call), self.house.room_id
        effect = told.effect
        match told.answer:
            case Answer.COMPLETED:
                return Answered(room_id, _result(told))
            case Answer.UNCERTAIN:
                return MayBeDone(room_id, effect.effect_id, effect.error or effects.UNKNOWN)
            case Answer.FINAL_ANSWER:
                return AnswerWithTurn(room_id, effect.effect_id, self.house.message_id)
            case Answer.ROOM_MOVE:
                destination = effect.request.destination or ""
                return MoveAfterTurn(room_id, effect.effect_id, destination)
        return DoIt(room_id, effect.effect_id)

    def _prepared(self, call: Call) -> effects.Prepared:
        try:
            told = self.house.prepared(call)
        except EffectRefused as error:
            raise refused(error.happened, error.remedy) from error
        if told.answer is Answer.FAILED:
            raise refused(told.effect.error or "The tool failed.")
        return told

    async def complete(
        self, effect_id: str, *, result: object = None, error: str | None = None
    ) -> None:
        """Write down what became of a call. Raises: as Supervisor."""
        self.house.played("complete")
        self.house.settle(effect_id, result=result, error=error)


def _claim(session: OwnSession) -> Claim:
    return Claim(ENTRY, session.room_id, ATTEMPT, EXECUTION, session.session_id, API)


def _result(told: effects.Prepared) -> object:
    if told.answer is Answer.COMPLETED:
        return json.loads(told.effect.result or "null")
    code = {
        Answer.UNCERTAIN: "SUPERVISED_EFFECT_OUTCOME_UNCERTAIN",
        Answer.ROOM_MOVE: "ROOM_MOVE_PREPARED",
    }.get(told.answer, "USE_FINAL_ANSWER")
    said = {"code": code, "effect_id": told.effect.effect_id}
    return {
        "content": [{"type": "text", "text": json.dumps(said)}],
        "structuredContent": said,
    }
