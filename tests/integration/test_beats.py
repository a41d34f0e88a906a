"""When connections that are silent are told to give a sign: together, and each once in a round."""

import anyio
import pytest

from letagents.application.server.beats import PARTS, Beats

pytestmark = pytest.mark.anyio

SOON = 30


async def beaten(beats: Beats, times: int, beaten: list[str], name: str = "one") -> None:
    """Join, and write down that many beats."""
    with beats.joined() as beat:
        for _ in range(times):
            await beat()
            beaten.append(name)


def runs(beats: Beats) -> bool:
    """Whether its timer does."""
    return beats._timer is not None


async def test_who_joined_in_the_same_moment_is_told_together_and_of_each_round() -> None:
    beats, told = Beats(every=0.03), list[str]()

    with anyio.fail_after(SOON):
        async with anyio.create_task_group() as running:
            for name in ("one", "two", "three"):
                running.start_soon(beaten, beats, 3, told, name)

    assert told == ["one", "two", "three"] * 3


async def test_the_first_beat_of_who_joins_comes_after_a_round() -> None:
    beats, late, early = Beats(every=1_000.0), list[str](), list[str]()

    async def pass_by(parts: int) -> None:
        for _ in range(parts):
            beats._beat()
        await anyio.wait_all_tasks_blocked()

    async with anyio.create_task_group() as running:
        running.start_soon(beaten, beats, 9, early)
        await pass_by(0)
        await pass_by(PARTS // 3)
        running.start_soon(beaten, beats, 9, late)
        await pass_by(0)
        await pass_by(PARTS - PARTS // 3)
        assert (early, late) == (["one"], [])
        await pass_by(PARTS // 3)
        assert (early, late) == (["one"], ["one"])
        running.cancel_scope.cancel()


async def test_nothing_goes_on_when_nobody_has_joined() -> None:
    beats, told = Beats(every=0.03), list[str]()
    with beats.joined(), beats.joined():
        assert runs(beats)
    assert not runs(beats)

    with anyio.fail_after(SOON):
        await beaten(beats, 1, told)
    assert (told, runs(beats)) == (["one"], False)
