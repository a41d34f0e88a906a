"""A task always has a way forward: every state that any order of calls reaches is walked from."""

import attrs
import pytest
from tests.contract.board_acts import TIME, Plot
from tests.contract.board_walk import Goal, Walk, walked
from tests.contract.board_world import OWNER, WORKERS, Presence, State

from letagents.domain.governance import Failover, ManagerMode
from letagents.domain.tasks import WORKING, Status

S = Status
WITH_APPROVAL = Plot(
    asks=("assigned", "accepted"),
    moves=(S.ACCEPTED, S.ASSIGNED),
    owner=(S.CANCELLED,),
    owner_gives=False,
)


def with_approval(**facts: object) -> Plot:
    """Return a plot in which agents ask, as far as it takes to have a task from its beginning."""
    return attrs.evolve(WITH_APPROVAL, **facts)  # type: ignore[arg-type]  # the facts of a plot


OPTIONAL, REQUIRED = ManagerMode.MANAGER_OPTIONAL, ManagerMode.INTENT_REQUIRED
PLOTS = {
    "a worker dies, leaves and comes back": Plot(mortal=(1,)),
    "reviews and locks": Plot(reviews=True, locks=True),
    "holders of whom nothing is known": Plot(can_tell=False, mortal=(1,), owner_gives=False),
    "a passing chat": Plot(passing=1, mortal=(1,)),
    "leases are asked for": with_approval(asks=("handoff", "release"), mortal=(1,)),
    "a manager, where one counts": with_approval(
        mode=OPTIONAL, manager=2, mortal=(2,), failover=Failover.OFF
    ),
    "a manager who is announced to be away": with_approval(
        mode=REQUIRED, manager=2, mortal=(2,), failover=Failover.ANNOUNCE
    ),
    "a manager who is succeeded": with_approval(mode=REQUIRED, manager=2, mortal=(2,)),
    "nobody manages": with_approval(mode=REQUIRED),
}


def has_a_way(walk: Walk, plot: Plot) -> None:
    """See that from each state of a walk somebody gets the task closed, and somebody has it."""
    assert walk.stuck(lambda state: state.is_closed, who={OWNER}) == []
    # Whoever is there has it with the owner's word, though the other never calls again. Time takes
    # away what the other has asked for, of which there is only so much at once in a walk.
    with_owner = {OWNER, TIME} if plot.asks else {OWNER}
    for number in WORKERS:
        stuck = walk.stuck(had_by(number), who={*with_owner, number})
        assert [state for state in stuck if state.is_here(number)] == []

    # Without the owner all that they need is time, but where the owner was asked to decide.
    alone = {*WORKERS, TIME}
    left = walk.stuck(lambda state: state.is_closed or state.is_claimable, who=alone)
    assert [one for one in left if one.are_here() and not needs_the_owner(one, plot)] == []
    left = walk.stuck(lambda state: any(map(state.is_had_by, WORKERS)), who=alone)
    free = [one for one in left if not one.is_locked and not needs_the_owner(one, plot)]
    assert [one for one in free if one.are_here()] == []


def had_by(number: int) -> Goal:
    """Return whether that worker has the task, as a goal."""
    return lambda state: state.is_had_by(number)


def needs_the_owner(state: State, plot: Plot) -> bool:
    """Whether agents have to be allowed what they do, and nobody but the owner is there to."""
    manages = state.manager is not None and state.is_here(state.manager)
    is_succeeded = state.manager is not None and plot.failover is Failover.AUTO
    return state.mode is REQUIRED and not manages and not is_succeeded


def was_walked(walk: Walk, plot: Plot) -> None:
    """See that what the plot is about has come about."""
    seen = set(walk.ways)
    asked = {one for state in seen for one in state.asked}
    statuses = set(plot.moves) - (set() if plot.reviews else {Status.MERGED})
    assert {state.status for state in seen} >= statuses
    assert {state.is_locked for state in seen} == {False, plot.locks}
    assert any(state.review for state in seen) is plot.reviews
    for number in WORKERS:
        fates = set(Presence) if number in plot.mortal else {Presence.HERE}
        assert {state.presence[number - 1] for state in seen} == fates
        if plot.asks:
            assert {one.is_approved for one in asked if one.by == number} == {True, False}


@pytest.mark.rule("B7", "T1", "T7", "T8", "T20", "T21", "L15", "P36")
@pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)
def test_from_wherever_a_task_stands_those_who_are_there_get_it_closed_or_claimable(
    plot: Plot,
) -> None:
    walk = walked(plot)

    was_walked(walk, plot)
    has_a_way(walk, plot)


def test_what_is_free_is_claimed_with_one_call_where_nothing_has_to_be_approved() -> None:
    walk = walked(Plot(mortal=(1,)))
    free = [
        state
        for state in walk.ways
        if state.is_claimable
        or (state.status in WORKING and state.work and not state.work.is_held)
        or (state.status in WORKING and not state.work and state.assignee == 1 and is_dead(state))
    ]

    assert len(free) > 10
    assert [one for one in free if not walk.ways[one]["worker 2 sets assigned"].is_had_by(2)] == []


def is_dead(state: State) -> bool:
    return state.presence[0] is Presence.DEAD
