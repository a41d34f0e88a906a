"""GitHub, GitLab and Bitbucket, asked over the web as a stranger would."""

from typing import TYPE_CHECKING

import anyio
import attrs
import orjson

from letagents.domain.forges import Answer, Question

if TYPE_CHECKING:
    import httpx

LIMIT = 10.0
"""Seconds that an answer may take. (Source: mcp-tools 8.2.)"""

REACHED = 3.0
"""Seconds that reaching them may take: who is offline is not kept waiting."""

_LARGEST = 1_000_000
_HEADERS = {"User-Agent": "letagents-mcp/1.0", "Accept": "application/json"}


@attrs.define
class WebForges:
    """Their interfaces, each at its address."""

    github: str = "https://api.github.com"
    gitlab: str = "https://gitlab.com"
    bitbucket: str = "https://api.bitbucket.org"
    limit: float = LIMIT

    async def ask(self, question: Question) -> Answer | None:
        """Return what the provider answers; None where none comes in time."""
        import httpx

        address = getattr(self, question.provider) + question.path
        try:
            with anyio.move_on_after(self.limit):
                span = httpx.Timeout(self.limit, connect=min(REACHED, self.limit))
                # Nothing of the environment: it could name a proxy with a password.
                async with httpx.AsyncClient(trust_env=False, timeout=span) as client:
                    return await _answer(client, address)
        except (httpx.HTTPError, httpx.InvalidURL, OSError):
            return None
        return None


async def _answer(client: "httpx.AsyncClient", address: str) -> Answer:
    async with client.stream("GET", address, headers=_HEADERS) as response:
        body = b""
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _LARGEST:
                return Answer(response.status_code)
        return Answer(response.status_code, _content(body))


def _content(body: bytes) -> dict[str, object]:
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}
