"""Who a client is before it registers anything: its owner, its scope, and its own name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import attrs

from letagents.domain import identity
from letagents.domain.errors import AccountUnverified
from letagents.domain.hints import Hints
from letagents.domain.identity import Identity, Owner
from letagents.domain.local_state import Account, account, ensure_host_id, is_unverified
from letagents.ports.clock import Clock
from letagents.ports.state import StateStore
from letagents.ports.surroundings import Surroundings

UNSET_API = "http://localhost:3001"
"""What a scope holds where no server is set, so that older handles stay valid. (mcp-tools 2.1.)"""

Machine = Callable[[], Sequence[str]]
"""Returns what tells this machine, and the person on it, from others."""

CONVERSATIONS = 20


class Registry(Protocol):
    """Knows whose account this client acts for, at the server of its rooms."""

    async def account(self) -> Account | None:
        """Return whose it is, as far as it can be told."""
        ...

    async def verified(self) -> Account | None:
        """Return whose it is; None if it is nobody's.

        Raises:
            AccountUnverified: it is somebody's, and it cannot be told now whose.
        """
        ...


@attrs.define
class Chat:
    """One client's own facts. `instance` is made anew for each client; `program` is told by it."""

    state: StateStore
    surroundings: Surroundings
    clock: Clock
    hints: Hints
    instance: str
    api_url: str | None = None
    program: str | None = None
    chosen_name: str | None = None
    machine: Machine | None = None
    """Tells what this machine is called; None where no room is told."""
    directory: Registry | None = None
    """Who is signed in at the server of the rooms; None where they are on this machine."""
    _person: str | None = None
    _host: str | None = None
    _conversations: dict[str, str] = attrs.field(factory=dict)

    async def owner(self) -> Owner:
        """Return on whose behalf this client acts (O1)."""
        known = await self.account()
        was_set = self.hints.owner_label
        if known is not None:
            label = identity.owner_label(was_set, known.display_name, known.login)
            return Owner(label, login=known.login)
        return Owner(identity.owner_label(was_set or await self._local_person()))

    async def account(self) -> Account | None:
        """Return who is signed in, as far as it can be told now."""
        if self.directory is not None:
            return await self.directory.account()
        return account(await self.state.read(), now=self.clock.now())

    async def scope(self) -> str:
        """Return what a worker belongs to: the server and the account. (Source: mcp-tools 11.1.)

        Raises:
            AccountUnverified: somebody is signed in, and it is not known who.
        """
        if self.directory is not None:
            await self.directory.verified()
        elif is_unverified(await self.state.read(), now=self.clock.now()):
            raise AccountUnverified
        return f"{self.api_url or UNSET_API}\n{(await self.owner()).account}"

    async def process_host(self) -> str | None:
        """Return the name by which rooms know that two processes are on one machine."""
        if self.machine is not None and self._host is None:
            from letagents.domain import presence

            fresh = f"host_{self.instance.replace('-', '')}"
            host_id = await self.state.transact(lambda state: ensure_host_id(state, fresh))
            self._host = presence.host_name([host_id, *self.machine()])
        return self._host

    async def identity(self, conversation: str | None = None) -> Identity:
        """Return who this client is where it shows no session (O2)."""
        hints = self.hints
        name = self._conversations.get(conversation or "", self.chosen_name)
        if name is not None:
            hints = attrs.evolve(hints, name=name, display_name=name)
        return identity.of_process(
            hints, await self.owner(), instance=self.instance, client=self.program
        )

    async def named_in(self, conversation: str, name: str) -> Identity:
        """Name one conversation of this client, for as long as it is among the last twenty."""
        self._conversations.pop(conversation, None)
        self._conversations[conversation] = name
        while len(self._conversations) > CONVERSATIONS:
            del self._conversations[next(iter(self._conversations))]
        return await self.identity(conversation)

    async def auth(self) -> dict[str, object] | None:
        """Return how this client is signed in, without any secret; None if it is not."""
        state = await self.state.read()
        known = account(state, now=self.clock.now())
        stored = state.extra.get("auth")
        if known is None or not isinstance(stored, Mapping):
            return None
        return {
            "source": "local_state",
            "expires_at": stored.get("expires_at"),
            "account": {
                "id": known.id,
                "login": known.login,
                "display_name": known.display_name,
            },
        }

    @property
    def ide_label(self) -> str:
        """What the client's program is called."""
        return identity.ide_label(self.hints, self.program)

    @property
    def runtime(self) -> str:
        """The key of the client's program."""
        return identity.runtime(self.hints, self.program)

    async def _local_person(self) -> str:
        if self._person is None:
            self._person = await self.surroundings.person() or ""
        return self._person
