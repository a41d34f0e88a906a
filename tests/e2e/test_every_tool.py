"""Every tool as a chat calls it over pipes: with what succeeds, held to the schema it declares."""

from pathlib import Path

import pytest
from tests.e2e.chats import ERAS, Plain, Served, checked
from tests.e2e.succeeding import ONLY_REFUSED, REFUSED_WITH, Story, made_in

from letagents.domain.surfaces import Caller
from letagents.entrypoints.mcp.surface import tools_of


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_does_what_it_is_for_or_is_known_to_have_nothing_to_do_here(
    era: str, tmp_path: Path
) -> None:
    with Served(tmp_path / "home", era) as process:

        def call(tool: str, arguments: Plain) -> Plain:
            result = process.call(tool, **arguments)
            assert result.get("success") is not False, (tool, result)
            return result

        called = Story(call, made_in(tmp_path)).play()
        told = {tool: process.call(tool, **REFUSED_WITH.get(tool, {})) for tool in ONLY_REFUSED}

    assert called | set(told) == {tool.name for tool in tools_of(Caller())}
    assert called & set(told) == set()
    assert all(checked(tool, one)["success"] is False for tool, one in told.items())
    assert all(one["error"] and one["hint"] for one in told.values())
