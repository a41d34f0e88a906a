"""Accounts in the database of a server's rooms, in tables beside theirs.

What is asked with every request is remembered for FORGOTTEN, so that it costs nothing; who revokes
a token in another process is heard of after that. When a token was used last is written down no
more often than USED_EVERY, and after the answer.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Protocol, TypeVar

import attrs
import structlog

from letagents.adapters.accounts import rows
from letagents.adapters.accounts.lately import Lately
from letagents.adapters.accounts.memory import taken
from letagents.adapters.sql.database import Row, Unit
from letagents.adapters.sql.tables import moment, written
from letagents.domain import accounts, host_grants
from letagents.domain.accounts import (
    NOBODY,
    Account,
    Agent,
    Known,
    Principal,
    Role,
    TokenKind,
)
from letagents.domain.errors import LetAgentsError, Malformed
from letagents.domain.host_grants import Given
from letagents.domain.ids import RoomId
from letagents.ports.accounts import FORGOTTEN
from letagents.ports.clock import Clock
from letagents.ports.ids import Ids

log = structlog.get_logger()
T = TypeVar("T")

USED_EVERY = timedelta(minutes=10)
HELD = "accounts"
"""What is held by whoever writes here: rules that read first are then still right."""


class Store(Protocol):
    """Does work in transactions, and tells its failures in our own words."""

    def read(self, work: Callable[[Unit], T]) -> T:
        """Return what `work` finds."""
        ...

    def write(self, work: Callable[[Unit], T], *held: str) -> T:
        """Return what `work` returns once what it did is kept."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...


@attrs.define(eq=False)
class SqlAccounts:
    """All accounts of a server."""

    _store: Store
    _clock: Clock
    _ids: Ids
    _tokens: Lately[str, Principal] = attrs.field(init=False)
    _agents: Lately[str, Agent] = attrs.field(init=False)
    _admins: Lately[tuple[str, str], bool] = attrs.field(init=False)
    _grants: Lately[str, Given] = attrs.field(init=False)
    _threads: ThreadPoolExecutor = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens, self._agents, self._admins, self._grants = (
            Lately(self._clock, FORGOTTEN),
            Lately(self._clock, FORGOTTEN),
            Lately(self._clock, FORGOTTEN),
            Lately(self._clock, FORGOTTEN),
        )
        self._threads = ThreadPoolExecutor(3, thread_name_prefix="accounts")

    async def aclose(self) -> None:
        """Do what was asked before, and close the database."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._threads.shutdown()
        self._store.close()

    async def _read(self, work: Callable[[Unit], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._store.read, work)

    async def _write(self, work: Callable[[Unit], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: self._store.write(work, HELD))

    # --- accounts ------------------------------------------------------------------------------

    async def add(self, login: str, *, display_name: str | None = None) -> Account:
        """Make an account."""
        made = Account(account_id=self._ids.uuid(), login=login, display_name=display_name)

        def add(unit: Unit) -> Account:
            if unit.row(rows.BY_LOGIN, login_key=accounts.login_key(login)) is not None:
                raise taken(login)
            return self._put(unit, made)

        return await self._write(add)

    def _put(self, unit: Unit, made: Account) -> Account:
        now = written(self._clock.now())
        facts = attrs.asdict(made) | {"created_at": now, "updated_at": now}
        unit.change(rows.PUT_ACCOUNT, facts | {"login_key": accounts.login_key(made.login)})
        return made

    async def admit(self, comer: Account) -> Account:
        """Return the account of who comes from another service, made or as it is there now."""

        def admit(unit: Unit) -> Account:
            who = {"provider": comer.provider, "provider_user_id": comer.provider_user_id}
            known = unit.row(rows.FROM_ELSEWHERE, **who)
            return self._admitted(unit, comer) if known is None else self._shown(unit, comer, known)

        account = await self._write(admit)
        self._tokens.forget()
        return account

    def _admitted(self, unit: Unit, comer: Account) -> Account:
        login = next(
            name
            for name in accounts.logins_for(comer)
            if unit.row(rows.BY_LOGIN, login_key=accounts.login_key(name)) is None
        )
        return self._put(unit, attrs.evolve(comer, account_id=self._ids.uuid(), login=login))

    def _shown(self, unit: Unit, comer: Account, known: Row) -> Account:
        account = attrs.evolve(
            rows.account(known), display_name=comer.display_name, avatar_url=comer.avatar_url
        )
        facts = {
            "of_account": account.account_id,
            "display_name": account.display_name,
            "avatar_url": account.avatar_url,
            "updated_at": written(self._clock.now()),
        }
        unit.change(rows.SHOWN_AS, facts)
        return account

    async def of_login(self, login: str) -> Account | None:
        """Return the account of that login."""
        return await self._read(lambda unit: _named(unit, login))

    async def known(self) -> tuple[Known, ...]:
        """Return the accounts, by their logins."""
        return await self._read(self._known)

    def _known(self, unit: Unit) -> tuple[Known, ...]:
        now, held = written(self._clock.now()), unit.rows(rows.TOKENS_HELD)
        found = []
        for row in unit.rows(rows.ALL):
            account = rows.account(row)
            own = [one for one in held if one[0] == account.account_id]
            usable = [one for one in own if _is_usable(one, now)]
            used = max((one[4] for one in own if one[4] is not None), default=None)
            last = moment(used) if used is not None else None
            found.append(Known(account, moment(row[6]), len(usable), last))
        return tuple(found)

    async def revoke(self, account: Account) -> int:
        """End all of the account's tokens; return how many there were."""

        def revoke(unit: Unit) -> int:
            (count,) = unit.row(rows.OPEN_TOKENS, account_id=account.account_id) or (0,)
            now = written(self._clock.now())
            unit.change(rows.END_ALL, {"of_account": account.account_id, "revoked_at": now})
            return int(count)

        ended = await self._write(revoke)
        self._tokens.forget()
        self._grants.forget()
        return ended

    # --- tokens --------------------------------------------------------------------------------

    async def of_token(self, digest: str) -> Principal:
        """Return whose token of this digest is and of which kind; nobody's if it is unknown."""
        lately = self._tokens.get(digest)
        if lately is not None:
            return lately
        row = await self._read(lambda unit: unit.row(rows.OF_TOKEN, digest=digest))
        return self._tokens.note(digest, self._principal(digest, row))

    def _principal(self, digest: str, row: Row | None) -> Principal:
        now = written(self._clock.now())
        if row is None:
            return NOBODY
        kind, expires_at, used_at = rows.kind_of(row)
        if kind in accounts.SHOW_NOBODY or (expires_at is not None and expires_at <= now):
            return NOBODY
        if used_at is None or now - used_at >= USED_EVERY // timedelta(microseconds=1):
            self._threads.submit(self._note_use, digest, now)
        return Principal(rows.account(row), kind)

    def _note_use(self, digest: str, now: int) -> None:
        facts = {"of_digest": digest, "used_at": now}
        try:
            self._store.write(lambda unit: unit.change(rows.USED, facts), HELD)
        except LetAgentsError as error:
            log.warning("token.use_unnoted", code=error.code)

    async def give(
        self, account: Account, digest: str, kind: TokenKind, *, lasts: timedelta | None = None
    ) -> None:
        """Let the token of this digest be the account's from now on."""
        now = self._clock.now()
        facts = {
            "digest": digest,
            "account_id": account.account_id,
            "kind": kind.value,
            "created_at": written(now),
            "expires_at": written(now + lasts) if lasts is not None else None,
            "used_at": None,
            "revoked_at": None,
        }

        def give(unit: Unit) -> None:
            unit.change(rows.SWEEP, {"before": written(now)})
            unit.change(rows.GIVE, facts)

        await self._write(give)
        self._tokens.forget()

    async def take(self, digest: str, kind: TokenKind) -> Account | None:
        """End the token, and return whose it was; None if it was of no use any more."""
        now = written(self._clock.now())

        def take(unit: Unit) -> Account | None:
            row = unit.row(rows.OF_TOKEN, digest=digest)
            if row is None or rows.kind_of(row)[0] is not kind:
                return None
            unit.change(rows.END, {"of_digest": digest, "revoked_at": now})
            expires_at = rows.kind_of(row)[1]
            return rows.account(row) if expires_at is None or expires_at > now else None

        account = await self._write(take)
        self._tokens.forget()
        self._grants.forget()
        return account

    async def grant(self, digest: str) -> Given | None:
        """Return the host grant whose secret has this digest; None if it is of no use any more."""
        lately = self._grants.get(digest)
        if lately is None:
            found = await self._read(lambda unit: self._granted(unit, digest))
            lately = self._grants.note(digest, found) if found is not None else None
        return lately if lately is not None and lately.expires_at > self._clock.now() else None

    def _granted(self, unit: Unit, digest: str) -> Given | None:
        row = unit.row(rows.OF_TOKEN, digest=digest)
        if row is None:
            return None
        (kind, expires_at, _), owner = rows.kind_of(row), rows.account(row)
        if kind is not TokenKind.GRANT or expires_at is None:
            return None
        if expires_at <= written(self._clock.now()):
            return None
        grant_id = host_grants.id_of(digest)
        return Given(grant_id, owner.account_id, owner.login, moment(expires_at))

    async def prolong(self, digest: str, lasts: timedelta) -> Given | None:
        """Let a host grant last so long from now on; None if it was of no use any more."""
        until = written(self._clock.now() + lasts)

        def prolong(unit: Unit) -> Given | None:
            if self._granted(unit, digest) is None:
                return None
            unit.change(rows.PROLONG, {"of_digest": digest, "expires_at": until})
            return self._granted(unit, digest)

        given = await self._write(prolong)
        self._grants.forget()
        return given

    # --- agents --------------------------------------------------------------------------------

    async def register_agent(
        self,
        account: Account,
        name: str,
        *,
        display_name: str | None = None,
        owner_label: str | None = None,
    ) -> Agent:
        """Return the account's agent of that name, made or with these labels from now on."""
        now, key = self._clock.now(), f"{account.login}/{name}"

        def register(unit: Unit) -> Agent:
            row = unit.row(rows.AGENT, key=key)
            before = rows.agent(row) if row is not None else None
            if before is not None and before.owner_id != account.account_id:
                raise _conflict()
            made = Agent(
                agent_id=before.agent_id if before else f"agent_{self._ids.uuid()}",
                name=name,
                display_name=display_name or name,
                owner_id=account.account_id,
                owner_login=account.login,
                owner_label=owner_label or account.label,
                created_at=before.created_at if before else now,
                updated_at=now,
            )
            unit.change(rows.PUT_AGENT, _agent_facts(made))
            return made

        return self._agents.note(key, await self._write(register))

    async def agent(self, key: str) -> Agent | None:
        """Return the agent of that key."""
        if (lately := self._agents.get(key)) is not None:
            return lately
        row = await self._read(lambda unit: unit.row(rows.AGENT, key=key))
        return self._agents.note(key, rows.agent(row)) if row is not None else None

    async def agents_of(self, account: Account) -> tuple[Agent, ...]:
        """Return the account's agents, by their names."""
        owner_id = account.account_id
        found = await self._read(lambda unit: unit.rows(rows.AGENTS_OF, owner_id=owner_id))
        return tuple(map(rows.agent, found))

    # --- rooms ---------------------------------------------------------------------------------

    async def enter(self, account: Account, room_id: RoomId) -> Role:
        """Note that the account has entered the room, and return what it is there."""
        now = written(self._clock.now())
        who = {"room_id": str(room_id), "account_id": account.account_id}

        def enter(unit: Unit) -> Role:
            before = unit.row(rows.MEMBER, **who)
            (admins,) = unit.row(rows.ADMINS, room_id=str(room_id)) or (0,)
            role = accounts.role_on_entering(
                is_admin=before is not None and bool(before[0]), has_admins=bool(admins)
            )
            facts = {
                "is_admin": role is Role.ADMIN,
                "entered_at": now if before is None else before[1],
            }
            unit.change(rows.PUT_MEMBER, who | facts)
            return role

        role = await self._write(enter)
        self._admins.forget()
        return role

    async def role(self, account: Account, room_id: RoomId) -> Role | None:
        """Return what the account is in the room; None if it never entered it."""
        return await self._read(lambda unit: _role(unit, account.account_id, room_id))

    async def entered(self, account: Account) -> frozenset[RoomId]:
        """Return the rooms that the account has entered."""
        who = account.account_id
        found = await self._read(lambda unit: unit.rows(rows.ROOMS_OF, account_id=who))
        return frozenset(RoomId(row[0]) for row in found)

    async def prove(self) -> None:
        """Write something, so that it is on the disk. Raises: as any writing."""
        facts = {"proof": HELD, "written_at": written(self._clock.now())}
        await self._write(lambda unit: unit.change(rows.PUT_PROOF, facts))

    def is_admin(self, agent_key: str, room_id: RoomId) -> bool:
        """Whether whoever speaks under that key is an admin of the room."""
        asked = (agent_key, str(room_id))
        lately = self._admins.get(asked)
        if lately is not None:
            return lately
        found = self._store.read(lambda unit: _is_admin(unit, agent_key, room_id))
        return self._admins.note(asked, found)


def _named(unit: Unit, login: str) -> Account | None:
    row = unit.row(rows.BY_LOGIN, login_key=accounts.login_key(login))
    return rows.account(row) if row is not None else None


def _is_usable(row: Row, now: int) -> bool:
    _, kind, expires_at, revoked_at, _ = row
    is_over = revoked_at is not None or (expires_at is not None and expires_at <= now)
    return kind == TokenKind.OWNER.value and not is_over


def _role(unit: Unit, account_id: str, room_id: RoomId) -> Role | None:
    row = unit.row(rows.MEMBER, room_id=str(room_id), account_id=account_id)
    if row is None:
        return None
    return Role.ADMIN if row[0] else Role.PARTICIPANT


def _is_admin(unit: Unit, agent_key: str, room_id: RoomId) -> bool:
    owner_id = _owner_of(unit, agent_key)
    return owner_id is not None and _role(unit, owner_id, room_id) is Role.ADMIN


def _owner_of(unit: Unit, agent_key: str) -> str | None:
    row = unit.row(rows.AGENT, key=agent_key)
    if row is not None:
        return rows.agent(row).owner_id
    login = accounts.login_of_person(agent_key)
    person = _named(unit, login) if login is not None else None
    return person.account_id if person is not None else None


def _agent_facts(agent: Agent) -> dict[str, object]:
    facts = attrs.asdict(agent) | {"key": agent.key}
    times = {"created_at": written(agent.created_at), "updated_at": written(agent.updated_at)}
    return facts | times


def _conflict() -> Malformed:
    return Malformed(
        "Agent key conflicts with an existing owner identity.", remedy="Choose another name."
    )
