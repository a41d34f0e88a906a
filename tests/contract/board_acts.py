"""What workers, the owner and time can do to the world of one task, each act by its name."""

import functools
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta

import attrs
from tests.contract.board_world import OWNER, TASK, WORKERS, Presence, State, World, asked_for

from letagents.domain.approvals import IntentStatus
from letagents.domain.board import Handoff, Query, Release, ReviewAssign, ReviewClaim, Target
from letagents.domain.errors import LetAgentsError
from letagents.domain.governance import Failover, ManagerMode
from letagents.domain.intents import (
    Action,
    Approval,
    action_of,
    change_payload,
    lease_payload,
)
from letagents.domain.tasks import Assignee, Patch, Proposal, Status
from letagents.domain.verdicts import Verdict, VerdictKind
from letagents.testing.contracts.room_callers import ROOM

TIME = -1
VERDICT = Verdict(kind=VerdictKind.COMMENT, head_sha="a" * 40, key="k")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
"""After an hour what is approved is not any more, terms are over and managers dead; after a day
nothing waits for a decision any more."""
ALL = ("assigned", "merged", "done", "cancelled", "accepted", "handoff", "release")
"""All that is asked for."""

Do = Callable[[World], Awaitable[object]]


@attrs.frozen
class Act:
    """Something that somebody does, or time."""

    name: str
    who: int
    do: Do
    needs: Presence = Presence.HERE
    is_fate: bool = False
    is_of_use: Callable[[State], bool] = lambda _state: True
    """Whether it is something else there than nothing, or than another act."""

    @property
    def is_call(self) -> bool:
        """Whether somebody who is there can do it on purpose, or it is waiting."""
        return self.needs is not Presence.DEAD and not self.is_fate

    def is_possible(self, state: State) -> bool:
        """Whether who does it can do anything of the kind."""
        if not self.is_of_use(state):
            return False
        if self.who not in WORKERS:
            return True
        return state.is_here(self.who) is (self.needs is Presence.HERE)


@attrs.frozen(kw_only=True)
class Plot:
    """What a walk is about: how the board is governed, and what happens in it."""

    mode: ManagerMode = ManagerMode.OFF
    failover: Failover = Failover.AUTO
    manager: int | None = None
    can_tell: bool = True
    passing: int | None = None
    mortal: tuple[int, ...] = ()
    """The workers that die, leave and come back."""
    reviews: bool = False
    locks: bool = False
    asks: tuple[str, ...] = ()
    """What is asked for: statuses, and `handoff` and `release` of a lease."""
    most_open: int = 1
    """So many intents are open at once."""
    moves: tuple[Status, ...] = tuple(Status)
    """Where workers move the task."""
    owner: tuple[Status, ...] = tuple(Status)
    """Where the owner moves the task."""
    owner_gives: bool = True
    """Whether the owner says who is on it."""
    managers: bool = False
    """Whether the owner changes who manages."""
    modes: bool = False
    """Whether the owner changes the mode."""


def acts_of(plot: Plot) -> list[Act]:
    """Return all that happens in a walk."""
    found = [*_owner_acts(plot), *_time_acts(plot)]
    for number in WORKERS:
        found += _work_acts(number, plot)
        if plot.reviews:
            found += _review_acts(number)
        if plot.asks:
            found += _asking_acts(number, plot)
            found += _deciding_acts(number, plot)
        if number in plot.mortal:
            found += _fates(number)
    return found


async def done(world: World, act: Act) -> bool:
    """Do it, from the process of who does it; whether it was not refused."""
    world.speaks(act.who)
    try:
        await act.do(world)
    except LetAgentsError:
        return False
    return True


# --- workers --------------------------------------------------------------------------------------


def _work_acts(number: int, plot: Plot) -> Iterator[Act]:
    who = f"worker {number}"
    for status in plot.moves:
        set_it = functools.partial(_change, number=number, patch=Patch(status=status))
        yield Act(f"{who} sets {status.value}", number, set_it)
    attach = functools.partial(_change, number=number, patch=Patch(pr_url="https://x/1"))
    yield Act(f"{who} attaches", number, attach)
    yield Act(f"{who} releases", number, functools.partial(_release, number=number))
    for to in WORKERS:
        hand = functools.partial(_hand_over, number=number, to=to)
        yield Act(f"{who} hands over to {to}", number, hand)


async def _change(world: World, number: int, patch: Patch) -> None:
    status = patch.status.value if patch.status else None
    approval = await _approval(world, number, status) if status else None
    fence = world.connections[number].fence
    await world.board.change(ROOM, TASK, patch, fence, approval=approval)


async def _release(world: World, number: int) -> None:
    approval = await _approval(world, number, "release None")
    fence = world.connections[number].fence
    await world.board.lease_action(ROOM, TASK, Release(), fence, approval=approval)


async def _hand_over(world: World, number: int, to: int) -> None:
    approval = await _approval(world, number, f"handoff {world.key(to)}")
    action, fence = Handoff(target=Target(agent_key=world.key(to))), world.connections[number].fence
    await world.board.lease_action(ROOM, TASK, action, fence, approval=approval)


async def _approval(world: World, number: int, what: str) -> Approval | None:
    """Return the approval that a worker has for that."""
    for intent in await world.open_intents():
        is_own = intent.proposer is not None and intent.proposer.agent_key == world.key(number)
        if is_own and intent.status is IntentStatus.APPROVED and asked_for(intent) == what:
            return Approval(intent.intent_id)
    return None


def _review_acts(number: int) -> Iterator[Act]:
    who = f"worker {number}"

    async def review(world: World) -> None:
        await world.board.review_action(ROOM, TASK, ReviewClaim(), world.connections[number].fence)

    async def end_review(world: World) -> None:
        await world.board.review_action(ROOM, TASK, Release(), world.connections[number].fence)

    async def decide(world: World) -> None:
        await world.board.verdict(ROOM, TASK, VERDICT, world.connections[number].fence)

    yield Act(f"{who} reviews", number, review)
    yield Act(f"{who} ends the review", number, end_review)
    yield Act(f"{who} decides the review", number, decide)


def _asking_acts(number: int, plot: Plot) -> Iterator[Act]:
    who = f"worker {number}"

    def has_room(state: State) -> bool:
        return len(state.asked) < plot.most_open

    for what in plot.asks:
        if what == "handoff":
            for to in WORKERS:
                hand = functools.partial(_ask_for_lease, number=number, to=to)
                yield Act(f"{who} asks to hand to {to}", number, hand, is_of_use=has_room)
        elif what == "release":
            free = functools.partial(_ask_for_lease, number=number, to=None)
            yield Act(f"{who} asks to release", number, free, is_of_use=has_room)
        else:
            ask = functools.partial(_ask, number=number, status=what)
            yield Act(f"{who} asks for {what}", number, ask, is_of_use=has_room)


async def _ask(world: World, number: int, status: str) -> None:
    claimant = world.connections[number].session if status == "assigned" else None
    payload = change_payload(
        TASK,
        status=status,
        assignee=claimant.actor_label if claimant else None,
        assignee_agent_key=claimant.agent_key if claimant else None,
    )
    fence = world.connections[number].fence
    await world.governing.propose(ROOM, action_of(status), payload, fence=fence)


async def _ask_for_lease(world: World, number: int, to: int | None) -> None:
    key = world.key(to) if to else None
    payload = lease_payload(TASK, "handoff" if to else "release", target_actor_key=key)
    fence = world.connections[number].fence
    await world.governing.propose(ROOM, Action.TASK_OVERRIDE, payload, fence=fence)


def _deciding_acts(number: int, plot: Plot) -> Iterator[Act]:
    who = f"worker {number}" if number else "the owner"
    for place in range(plot.most_open):
        for approves in (True, False):
            yield Act(
                f"{who} {'approves' if approves else 'denies'} number {place + 1}",
                number,
                functools.partial(_decide, number=number, approves=approves, place=place),
                is_of_use=functools.partial(_has_pending, more_than=place),
            )


def _has_pending(state: State, more_than: int) -> bool:
    return sum(not one.is_approved for one in state.asked) > more_than


async def _decide(world: World, number: int, approves: bool, place: int) -> None:
    opened = await world.open_intents()
    pending = [one for one in opened if one.status is IntentStatus.PENDING]
    governing, intent_id = world.governing, pending[place].intent_id
    fence = world.connections[number].fence if number else None
    await (governing.approve if approves else governing.deny)(ROOM, intent_id, fence=fence)


# --- what becomes of workers ----------------------------------------------------------------------


def _fates(number: int) -> Iterator[Act]:
    who = f"worker {number}"

    async def die(world: World) -> None:
        world.machine.dead.add(str(world.machine.own))
        world.presence[number] = Presence.DEAD

    async def leave(world: World) -> None:
        await world.rooms.disconnect(ROOM, world.connections[number].fence)
        world.presence[number] = Presence.LEFT

    async def come_back(world: World) -> None:
        await world.arrive(number)

    yield Act(f"{who} dies", number, die, is_fate=True)
    yield Act(f"{who} leaves", number, leave, is_fate=True)
    yield Act(f"{who} comes back", number, come_back, Presence.DEAD)


# --- the owner ------------------------------------------------------------------------------------


def _owner_acts(plot: Plot) -> Iterator[Act]:
    for status in plot.owner:
        yield _owners(f"sets {status.value}", _patched(Patch(status=status)))
    yield _owners("releases", _leased(Release()))
    if plot.owner_gives:
        yield _owners("takes it", _patched(Patch(assignee=Assignee("Ada"))))
        for number in WORKERS:
            yield _owners(f"gives it to {number}", functools.partial(_give, number=number))
            yield _owners(f"hands it to {number}", functools.partial(_hand, number=number))
    if plot.reviews:
        for number in WORKERS:
            yield _owners(f"lets {number} review", functools.partial(_assign_review, number=number))
        yield _owners("ends the review", _end_review)
    if plot.locks:
        yield Act("the owner locks", OWNER, _lock, is_of_use=lambda one: not one.is_locked)
        yield Act("the owner unlocks", OWNER, _unlock, is_of_use=lambda one: one.is_locked)
    yield from _governing_acts(plot)


def _governing_acts(plot: Plot) -> Iterator[Act]:
    if plot.asks:
        yield from _deciding_acts(OWNER, plot)
    if plot.managers:
        yield from _managing_acts()
    if plot.modes:
        for mode in ManagerMode:
            yield _owners(f"sets mode {mode.value}", functools.partial(_set_mode, mode=mode))


def _owners(name: str, do: Do) -> Act:
    return Act(f"the owner {name}", OWNER, do)


def _patched(patch: Patch) -> Do:
    return lambda world: world.board.change(ROOM, TASK, patch)


def _leased(action: Release | Handoff) -> Do:
    return lambda world: world.board.lease_action(ROOM, TASK, action)


async def _give(world: World, number: int) -> None:
    task = (await world.board.task(ROOM, TASK)).task
    moves = task.status is Status.ACCEPTED
    patch = Patch(
        status=Status.ASSIGNED if moves else None,
        assignee=Assignee.of(world.connections[number].session),
    )
    await world.board.change(ROOM, TASK, patch)


async def _hand(world: World, number: int) -> None:
    action = Handoff(target=Target(agent_key=world.key(number)))
    await world.board.lease_action(ROOM, TASK, action)


async def _assign_review(world: World, number: int) -> None:
    action = ReviewAssign(target=Target(agent_key=world.key(number)))
    await world.board.review_action(ROOM, TASK, action)


async def _end_review(world: World) -> None:
    await world.board.review_action(ROOM, TASK, Release())


async def _lock(world: World) -> None:
    await world.board.lock(ROOM, TASK)


async def _unlock(world: World) -> None:
    for lock in (await world.board.task(ROOM, TASK)).locks:
        await world.board.unlock(ROOM, lock.lock_id)


def _managing_acts() -> Iterator[Act]:
    for number in WORKERS:
        yield _owners(f"lets {number} manage", functools.partial(let_manage, number=number))
    yield _owners("releases the manager", _release_manager)


async def let_manage(world: World, number: int) -> None:
    """Let that worker manage the board."""
    session_id = world.connections[number].session.session_id
    await world.governing.assign_manager(ROOM, session_id)


async def _release_manager(world: World) -> None:
    await world.governing.release_manager(ROOM)


async def _set_mode(world: World, mode: ManagerMode) -> None:
    await world.governing.set_mode(ROOM, mode)


async def propose(world: World, number: int) -> None:
    """Put the task on the board."""
    world.speaks(number)
    await world.board.propose(ROOM, Proposal(title="Mend"), world.connections[number].fence)


# --- time -----------------------------------------------------------------------------------------


def _time_acts(plot: Plot) -> Iterator[Act]:
    async def look(world: World) -> None:
        await world.board.tasks(ROOM, Query())

    yield Act("an hour passes", TIME, _passing(HOUR))
    yield Act("somebody looks", TIME, look, is_of_use=lambda one: bool(one.due))
    if plot.asks:
        waits = functools.partial(_has_pending, more_than=0)
        yield Act("a day passes", TIME, _passing(DAY), is_of_use=waits)


def _passing(span: timedelta) -> Do:
    async def passing(world: World) -> None:
        world.clock.pass_by(span)

    return passing
