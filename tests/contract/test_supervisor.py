"""Every adapter of a supervisor, as its agents see it, keeps the promises of the port."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contract.supervised import CountingTools, socket_world

from letagents.adapters.supervisor.none import NoSupervisor
from letagents.domain.errors import NotAvailable
from letagents.domain.supervised import NOT_SUPERVISED
from letagents.testing.contracts.supervisor import SESSION, SupervisorContract, World, change


@pytest.mark.rule("J60")
@pytest.mark.anyio
async def test_who_is_not_supervised_is_told_so() -> None:
    nobody = NoSupervisor()
    await nobody.checkpoint(SESSION, "msg_1")

    assert not (await nobody.bind(SESSION)).is_supervised
    assert await nobody.borrow(SESSION) == NOT_SUPERVISED
    assert not NOT_SUPERVISED.is_supervised
    for asking in (nobody.execute(change()), nobody.prepare(change()), nobody.complete("e")):
        with pytest.raises(NotAvailable):
            await asking


class TestSocket(SupervisorContract):
    @pytest.fixture(params=["executes", "leaves it to us"])
    async def world(
        self, anyio_backend: str, request: pytest.FixtureRequest, tmp_path: Path
    ) -> AsyncIterator[World]:
        tools = CountingTools() if request.param == "executes" else None
        async with socket_world(tmp_path / "h", tools) as world:
            yield world
