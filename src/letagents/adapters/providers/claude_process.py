"""The process of Claude Code: spoken to by lines, and asked about itself by them."""

import asyncio
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from letagents.adapters.providers.lines import LineProcess, LinesEnded

Raw = Mapping[str, Any]


@attrs.define(eq=False)
class ClaudeProcess(LineProcess):
    """A process that is also asked about itself."""

    _waiting: "dict[str, asyncio.Future[Raw]]" = attrs.field(factory=dict)
    _numbers: Iterator[int] = attrs.field(factory=lambda: itertools.count(1))

    async def ask(self, request: Raw) -> Raw:
        """Return the program's answer to a request about itself.

        Raises:
            LinesEnded: it gives none.
        """
        number = f"letagents-{next(self._numbers)}"
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self.say({"type": "control_request", "request_id": number, "request": request})
            told: Raw = await answer
        finally:
            self._waiting.pop(number, None)
        return told

    async def say(self, line: Raw) -> None:
        """Send a line. Raises: LinesEnded."""
        await self.send(json.dumps(line).encode() + b"\n")

    def heard(self, line: Raw) -> None:
        """Take a line."""
        if line.get("type") == "control_response":
            self._settle(line.get("response"))
        else:
            self.told(line)

    def silenced(self) -> None:
        """Tell those who wait for an answer that none comes."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(LinesEnded("its process has ended"))

    def _settle(self, response: object) -> None:
        if not isinstance(response, Mapping):
            return
        answer = self._waiting.get(str(response.get("request_id")))
        if answer is not None and not answer.done():
            told = response.get("response")
            answer.set_result(told if isinstance(told, Mapping) else {})
