"""Beginning to serve: the machine's owner gets an account where nobody has one, and a way in."""

from datetime import timedelta

import attrs
import structlog

from letagents.domain import accounts, host_grants, names, serving
from letagents.domain.accounts import CODE_LASTS, SESSION_LASTS, Account, LoginTaken, TokenKind
from letagents.domain.host_grants import Given
from letagents.domain.serving import OwnSignIn
from letagents.ports.accounts import Accounts
from letagents.ports.ids import Ids
from letagents.ports.own_sign_ins import OwnSignIns
from letagents.ports.surroundings import Surroundings

log = structlog.get_logger()


@attrs.frozen
class Doorkeeper:
    """Makes accounts, gives them tokens, and lets their people in."""

    accounts: Accounts
    ids: Ids

    async def add(self, login: str, display_name: str | None = None) -> tuple[Account, str]:
        """Make an account; return it with its first token, which is shown nowhere again.

        Raises:
            Malformed: this is no login.
            LoginTaken: somebody has it.
        """
        login = accounts.checked_login(login)
        account = await self.accounts.add(login, display_name=display_name)
        log.info("account.added", account_id=account.account_id)
        return account, await self.token(account)

    async def token(self, account: Account) -> str:
        """Return a new token of the account."""
        return await self._given(account, TokenKind.OWNER)

    async def code(self, account: Account) -> str:
        """Return what a browser signs in with, once."""
        return await self._given(account, TokenKind.CODE)

    async def grant(self, account: Account, lasts: timedelta) -> tuple[Given, str]:
        """Return a new host grant of the account, and its secret, which is shown nowhere again."""
        secret = self.ids.token().value
        digest = accounts.digest(secret)
        await self.accounts.give(account, digest, TokenKind.GRANT, lasts=lasts)
        given = await self.accounts.grant(digest)
        if given is None:
            raise host_grants.no_grant()
        log.info("grant.given", account_id=account.account_id)
        return given, secret

    async def take_grant(self, grant_id: str) -> None:
        """End a host grant, and with it all that was opened by it.

        Raises:
            GrantRefused: there is none of that id.
        """
        digest = host_grants.digest_of(grant_id.strip()) or ""
        if await self.accounts.take(digest, TokenKind.GRANT) is None:
            raise host_grants.no_grant()

    async def let_in(self, code: str) -> tuple[Account, str] | None:
        """Return whose code it is, and a session for it; None for what is no code any more."""
        account = await self.accounts.take(accounts.digest(code), TokenKind.CODE)
        if account is None:
            return None
        return account, await self._given(account, TokenKind.SESSION)

    async def let_out(self, session: str) -> None:
        """End a browser's session."""
        await self.accounts.take(accounts.digest(session), TokenKind.SESSION)

    async def _given(self, account: Account, kind: TokenKind) -> str:
        token = self.ids.token().value
        lasts = {TokenKind.SESSION: SESSION_LASTS, TokenKind.CODE: CODE_LASTS}.get(kind)
        await self.accounts.give(account, accounts.digest(token), kind, lasts=lasts)
        return token


@attrs.frozen
class Owner:
    """The owner of the machine that a server runs on."""

    keeper: Doorkeeper
    sign_ins: OwnSignIns
    surroundings: Surroundings

    async def settle(self, url: str, database: str) -> Account | None:
        """Return the owner's account at the server, made if nobody has one there yet.

        Programs of this machine find its token from now on. None where others have accounts, and
        none of them is known here.
        """
        known = [one for one in await self.sign_ins.all() if one.database == database]
        for sign_in in known:
            digest = accounts.digest(sign_in.token)
            account = (await self.keeper.accounts.of_token(digest)).account
            if account is not None:
                await self.sign_ins.keep(attrs.evolve(sign_in, url=url))
                return account
        if await self.keeper.accounts.known():
            return None
        return await self._made(url, database)

    async def _made(self, url: str, database: str) -> Account | None:
        person = await self.surroundings.person() or "Owner"
        login = names.slug(person, "owner")[:60].strip("-")
        try:
            account, token = await self.keeper.add(
                "owner" if login == accounts.PEOPLE else login, person
            )
        except LoginTaken:
            return None  # another server has begun on the same database, a moment ago
        await self.sign_ins.keep(OwnSignIn(url, database, account.login, token))
        return account


async def check_reach(held: Accounts, host: str, *, insists: bool) -> None:
    """See that a server may be reached at `host`.

    Raises:
        Exposed: it may not.
    """
    has_accounts = bool(await held.known())
    serving.check_reach(host, has_accounts=has_accounts, insists=insists)
