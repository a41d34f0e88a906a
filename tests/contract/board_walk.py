"""Walking through all that can become of one task, and back to where it is to come to."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping

import attrs
from tests.contract.board_acts import Act, Plot, acts_of, done, let_manage, propose
from tests.contract.board_world import OWNER, State, World, begun, twin

from letagents.testing.contracts.room_callers import ROOM

Goal = Callable[[State], bool]


@attrs.frozen
class Walk:
    """Where each act leads from each state that can be reached."""

    acts: Mapping[str, Act]
    ways: dict[State, dict[str, State]]
    others: dict[State, World]
    """Of states that were reached in more ways than one, how they were reached last."""

    def stuck(self, goal: Goal, *, who: Collection[int]) -> list[State]:
        """Return the states from which those of `who` that are there do not get to the goal.

        They act and nobody else does; with `TIME` among them, they wait as well.
        """
        found = deque(state for state in self.ways if goal(state))
        good = set(found)
        before = self._before(who)
        while found:
            for state in before.get(found.popleft(), ()):
                if state not in good:
                    good.add(state)
                    found.append(state)
        return [state for state in self.ways if state not in good]

    def _before(self, who: Collection[int]) -> dict[State, list[State]]:
        found: dict[State, list[State]] = {}
        calls = {name for name, act in self.acts.items() if act.who in who and act.is_call}
        for state, ways in self.ways.items():
            for name, after in ways.items():
                if name in calls and after != state:
                    found.setdefault(after, []).append(state)
        return found


async def _begin(plot: Plot) -> World:
    world = await begun(can_tell=plot.can_tell, passing=plot.passing)
    await propose(world, 1)
    if plot.manager is not None:
        await let_manage(world, plot.manager)
    world.speaks(OWNER)
    await world.governing.set_mode(ROOM, plot.mode, plot.failover)
    return world


async def _explored(plot: Plot, *, remembers: bool) -> Walk:
    walk = Walk({act.name: act for act in acts_of(plot)}, {}, {})
    first = await _begin(plot)
    waiting = deque([(await first.state(), first)])
    known = {waiting[0][0]}
    while waiting:
        state, world = waiting.popleft()
        walk.ways[state] = {}
        async for name, reached, after in _steps(walk, state, world):
            walk.ways[state][name] = reached
            if reached not in known:
                known.add(reached)
                waiting.append((reached, after))
            elif remembers and reached != state:
                walk.others[reached] = after
    return walk


async def _steps(walk: Walk, state: State, world: World) -> AsyncIterator[tuple[str, State, World]]:
    """Return what comes of each act that is not refused; what was refused has changed nothing."""
    after = twin(world)
    for name, act in walk.acts.items():
        if act.is_possible(state) and await done(after, act):
            yield name, await after.state(), after
            after = twin(world)


def walked(plot: Plot, *, remembers: bool = False) -> Walk:
    """Return all that a plot can come to; `remembers` what `unlike` needs."""
    return asyncio.run(_explored(plot, remembers=remembers))


async def _unlike(walk: Walk) -> AsyncIterator[str]:
    for state, world in walk.others.items():
        ways = {name: reached async for name, reached, _ in _steps(walk, state, world)}
        for name in ways.keys() | walk.ways[state].keys():
            if ways.get(name) != walk.ways[state].get(name):
                yield f"{name}, in {state}"


def unlike(walk: Walk) -> list[str]:
    """Return what comes of one thing in one state and another where it was reached otherwise.

    Were there any, states would be told apart too little, and ways might be missed.
    """

    async def found() -> list[str]:
        return [one async for one in _unlike(walk)]

    return asyncio.run(found())
