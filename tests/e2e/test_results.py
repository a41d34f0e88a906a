"""Results as they leave the server: none is larger than a result may be."""

from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client
from tests.e2e.chats import ERAS, text_of

from letagents.domain.bounds import RESULT_LIMIT
from letagents.entrypoints.mcp.opening import Opening
from letagents.entrypoints.mcp.server import build_server
from letagents.entrypoints.mcp.tool import Progress, Tool
from letagents.wire.bounds import size, utf8_size


def saying(result: dict[str, object]) -> Tool[None]:
    async def run(_: None, _arguments: Mapping[str, object], _progress: Progress) -> Any:
        return result

    return Tool(
        name="say",
        purpose="Say it.",
        result={"type": "object"},
        read_only=True,
        idempotent=True,
        open_world=False,
        run=run,
    )


@pytest.mark.rule("Z1")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "text", ["x" * 50_000, "🙂" * 10_001, '"' * 20_001], ids=["ascii", "wide", "escaped"]
)
async def test_a_result_too_large_is_cut_and_says_so(text: str, era: str) -> None:
    server = build_server(
        [saying({"record": {"id": "fact_1", "body": text}})], Opening.of(None), version="1"
    )
    async with Client(server, mode="legacy" if era == ERAS[0] else "auto") as client:
        result = await client.call_tool("say", {})
    record = (result.structured_content or {})["record"]

    assert (result.structured_content or {})["content_truncated"] is True
    assert record["id"] == "fact_1"
    assert text.startswith(record["body"])
    assert RESULT_LIMIT - 10 < size(result.structured_content) <= RESULT_LIMIT
    assert utf8_size(text_of(result)) <= RESULT_LIMIT


@pytest.mark.rule("Z1")
async def test_a_result_that_just_fits_is_left_alone() -> None:
    whole: dict[str, object] = {"body": ""}
    whole["body"] = "x" * (RESULT_LIMIT - size(whole))
    async with Client(
        build_server([saying(whole)], Opening.of(None), version="1"), mode="legacy"
    ) as client:
        result = await client.call_tool("say", {})

    assert size(whole) == RESULT_LIMIT
    assert result.structured_content == whole
