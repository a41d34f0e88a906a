"""Accounts, agents and their tokens as rows, and the statements that find and change them."""

from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select, update

from letagents.adapters.sql.account_tables import ACCOUNTS, AGENTS, MEMBERS, PROOFS, TOKENS
from letagents.adapters.sql.database import Row
from letagents.adapters.sql.tables import moment
from letagents.adapters.sql.upserts import put_statement
from letagents.domain.accounts import Account, Agent, TokenKind

_ACCOUNT = (
    ACCOUNTS.c.account_id,
    ACCOUNTS.c.login,
    ACCOUNTS.c.display_name,
    ACCOUNTS.c.provider,
    ACCOUNTS.c.provider_user_id,
    ACCOUNTS.c.avatar_url,
)
_AGENT = (
    AGENTS.c.agent_id,
    AGENTS.c.name,
    AGENTS.c.display_name,
    AGENTS.c.owner_id,
    AGENTS.c.owner_login,
    AGENTS.c.owner_label,
    AGENTS.c.created_at,
    AGENTS.c.updated_at,
)

BY_LOGIN = select(*_ACCOUNT).where(ACCOUNTS.c.login_key == bindparam("login_key"))
FROM_ELSEWHERE = select(*_ACCOUNT).where(
    ACCOUNTS.c.provider == bindparam("provider"),
    ACCOUNTS.c.provider_user_id == bindparam("provider_user_id"),
)
ALL = select(*_ACCOUNT, ACCOUNTS.c.created_at).order_by(ACCOUNTS.c.login_key)
PUT_ACCOUNT = insert(ACCOUNTS)
SHOWN_AS = (
    update(ACCOUNTS)
    .where(ACCOUNTS.c.account_id == bindparam("of_account"))
    .values(
        display_name=bindparam("display_name"),
        avatar_url=bindparam("avatar_url"),
        updated_at=bindparam("updated_at"),
    )
)

OF_TOKEN = (
    select(*_ACCOUNT, TOKENS.c.kind, TOKENS.c.expires_at, TOKENS.c.used_at)
    .join(TOKENS, TOKENS.c.account_id == ACCOUNTS.c.account_id)
    .where(TOKENS.c.digest == bindparam("digest"), TOKENS.c.revoked_at.is_(None))
)
GIVE = insert(TOKENS)
USED = (
    update(TOKENS)
    .where(TOKENS.c.digest == bindparam("of_digest"))
    .values(used_at=bindparam("used_at"))
)
PROLONG = (
    update(TOKENS)
    .where(TOKENS.c.digest == bindparam("of_digest"))
    .values(expires_at=bindparam("expires_at"))
)
END = (
    update(TOKENS)
    .where(TOKENS.c.digest == bindparam("of_digest"))
    .values(revoked_at=bindparam("revoked_at"))
)
END_ALL = (
    update(TOKENS)
    .where(TOKENS.c.account_id == bindparam("of_account"), TOKENS.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("revoked_at"))
)
OPEN_TOKENS = select(func.count()).where(
    TOKENS.c.account_id == bindparam("account_id"), TOKENS.c.revoked_at.is_(None)
)
TOKENS_HELD = select(
    TOKENS.c.account_id, TOKENS.c.kind, TOKENS.c.expires_at, TOKENS.c.revoked_at, TOKENS.c.used_at
)
SWEEP = delete(TOKENS).where(TOKENS.c.expires_at < bindparam("before"))

AGENT = select(*_AGENT).where(AGENTS.c.key == bindparam("key"))
AGENTS_OF = (
    select(*_AGENT).where(AGENTS.c.owner_id == bindparam("owner_id")).order_by(AGENTS.c.name)
)
PUT_AGENT = put_statement(AGENTS)

MEMBER = select(MEMBERS.c.is_admin, MEMBERS.c.entered_at).where(
    MEMBERS.c.room_id == bindparam("room_id"), MEMBERS.c.account_id == bindparam("account_id")
)
ADMINS = select(func.count()).where(
    MEMBERS.c.room_id == bindparam("room_id"), MEMBERS.c.is_admin.is_(True)
)
PUT_MEMBER = put_statement(MEMBERS)
ROOMS_OF = select(MEMBERS.c.room_id).where(MEMBERS.c.account_id == bindparam("account_id"))

PUT_PROOF = put_statement(PROOFS)


def account(row: Row) -> Account:
    """Return the account that the first columns of `row` spell."""
    account_id, login, display_name, provider, provider_user_id, avatar_url = row[:6]
    return Account(
        account_id=account_id,
        login=login,
        display_name=display_name,
        provider=provider,
        provider_user_id=provider_user_id,
        avatar_url=avatar_url,
    )


def agent(row: Row) -> Agent:
    """Return the agent that `row` spells."""
    agent_id, name, display_name, owner_id, owner_login, owner_label, created, updated = row
    return Agent(
        agent_id=agent_id,
        name=name,
        display_name=display_name,
        owner_id=owner_id,
        owner_login=owner_login,
        owner_label=owner_label,
        created_at=moment(created),
        updated_at=moment(updated),
    )


def kind_of(row: Row) -> tuple[TokenKind, int | None, Any]:
    """Return of a row of OF_TOKEN the kind of the token, when it ends and when it was used."""
    return TokenKind(row[6]), row[7], row[8]
