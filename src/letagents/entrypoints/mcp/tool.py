"""What a tool is: a row of the table from which the server lists, checks and runs them."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, Protocol, TypeVar

import attrs

from letagents.entrypoints.mcp.parameters import Parameter

S = TypeVar("S")

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Progress(Protocol):
    """Tells the caller how far its call is; says nothing where the caller did not ask."""

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


Arguments = Mapping[str, object]

Run = Callable[[S, Arguments, Progress], Awaitable[dict[str, object]]]
"""What a tool does, given the session, its checked arguments and a way to tell its progress."""


@attrs.frozen(kw_only=True)
class Tool(Generic[S]):
    """One thing that a model can call.

    `result` is the JSON schema of what `run` returns. `open_world` says that the result carries
    words of others than the caller. `run` gets only arguments that its parameters allow.
    """

    name: str = attrs.field()
    purpose: str
    parameters: tuple[Parameter, ...] = attrs.field(default=())
    result: Mapping[str, object] = attrs.field()
    read_only: bool
    idempotent: bool
    open_world: bool
    destructive: bool = False
    run: Run[S]

    @name.validator
    def _check_name(self, _field: object, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name a tool")

    @parameters.validator
    def _check_parameters(self, _field: object, parameters: tuple[Parameter, ...]) -> None:
        names = [parameter.name for parameter in parameters]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name} names a parameter twice: {names}")

    @result.validator
    def _check_result(self, _field: object, result: Mapping[str, object]) -> None:
        if result.get("type") != "object":
            raise ValueError(f"the result of {self.name} is not declared as an object")
