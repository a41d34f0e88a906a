"""Chats over HTTP, as the SDK's client holds them, with a server that runs as a process."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from tests.e2e.chats import ERAS, Plain, checked, text_of
from tests.e2e.served import Server
from tests.e2e.shell import PATIENCE


@attrs.frozen
class HttpChat:
    """One chat's client, and the notices that it got."""

    client: Client
    notices: list[str] = attrs.field(factory=list)

    async def call(self, tool: str, **arguments: object) -> Plain:
        """Return what a call that succeeds returns."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        assert json.loads(text_of(result)) == result.structured_content
        return checked(tool, dict(result.structured_content or {}))

    async def refused(self, tool: str, **arguments: object) -> str:
        """Return what the model is told of a call that is refused."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, text_of(result)
        return text_of(result)

    async def instead(self, tool: str, **arguments: object) -> Plain:
        """Return what a call returns that is answered by what to do instead."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, text_of(result)
        return dict(result.structured_content or {})


@asynccontextmanager
async def chatting(
    server: Server, token: str, era: str = ERAS[0], program: str = "claude-code"
) -> AsyncIterator[HttpChat]:
    """Open a chat of whoever has `token`."""
    notices: list[str] = []

    async def noted(message: object) -> None:
        notices.append(str(getattr(message, "method", message)))

    shown = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=shown, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(
            transport,
            mode="legacy" if era == ERAS[0] else "auto",
            client_info=Implementation(name=program, version="1"),
            message_handler=noted,
        ) as client:
            assert client.protocol_version == era
            yield HttpChat(client, notices)
