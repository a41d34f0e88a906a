"""Chats over HTTP, as the SDK's client holds them, wherever the server runs."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import attrs
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from tests.e2e.chats import ERAS, Plain, checked, text_of
from tests.e2e.shell import PATIENCE


@attrs.frozen
class HttpChat:
    """One chat's client, and the notices that it got."""

    client: Client
    notices: list[str] = attrs.field(factory=list)
    _noted: anyio.Condition = attrs.field(factory=anyio.Condition)

    async def told(self, count: int) -> None:
        """Return once so many notices came."""
        with anyio.fail_after(PATIENCE):
            async with self._noted:
                while len(self.notices) < count:
                    await self._noted.wait()

    async def note(self, message: object) -> None:
        """Keep a notice."""
        async with self._noted:
            self.notices.append(str(getattr(message, "method", message)))
            self._noted.notify_all()

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
    url: str, token: str, era: str = ERAS[0], program: str = "claude-code"
) -> AsyncIterator[HttpChat]:
    """Open a chat of whoever has `token`."""
    chat: HttpChat | None = None

    async def noted(message: object) -> None:
        if chat is not None:
            await chat.note(message)

    shown = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=shown, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(
            transport,
            mode="legacy" if era == ERAS[0] else "auto",
            client_info=Implementation(name=program, version="1"),
            message_handler=noted,
        ) as client:
            assert client.protocol_version == era
            chat = HttpChat(client)
            yield chat
