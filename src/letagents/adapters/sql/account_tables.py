"""The tables in which a server keeps who may use it; those of rooms are beside them."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table

from letagents.adapters.sql.tables import METADATA, TEXT, partial_index

ACCOUNTS = Table(
    "accounts",
    METADATA,
    Column("account_id", TEXT, primary_key=True),
    Column("login", TEXT, nullable=False),
    Column("login_key", TEXT, nullable=False, unique=True),
    Column("display_name", TEXT),
    Column("provider", TEXT, nullable=False),
    Column("provider_user_id", TEXT),
    Column("avatar_url", TEXT),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)
partial_index(
    "accounts_elsewhere",
    ACCOUNTS.c.provider,
    ACCOUNTS.c.provider_user_id,
    where=ACCOUNTS.c.provider_user_id.is_not(None),
    unique=True,
)

TOKENS = Table(
    "account_tokens",
    METADATA,
    Column("digest", TEXT, primary_key=True),
    Column("account_id", TEXT, ForeignKey("accounts.account_id"), nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("used_at", BigInteger),
    Column("revoked_at", BigInteger),
)
"""Of a token only its digest is here. `used_at` lags behind: see adapters/accounts/sql.py."""
Index("account_tokens_by_account", TOKENS.c.account_id)

AGENTS = Table(
    "agents",
    METADATA,
    Column("key", TEXT, primary_key=True),
    Column("agent_id", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    Column("display_name", TEXT, nullable=False),
    Column("owner_id", TEXT, ForeignKey("accounts.account_id"), nullable=False),
    Column("owner_login", TEXT, nullable=False),
    Column("owner_label", TEXT, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)
Index("agents_by_owner", AGENTS.c.owner_id)

MEMBERS = Table(
    "room_members",
    METADATA,
    Column("room_id", TEXT, primary_key=True),
    Column("account_id", TEXT, ForeignKey("accounts.account_id"), primary_key=True),
    Column("is_admin", Boolean, nullable=False),
    Column("entered_at", BigInteger, nullable=False),
)
"""Which accounts have entered a room, and which of them may do what its admins may."""
partial_index("room_members_admins", MEMBERS.c.room_id, where=MEMBERS.c.is_admin)

Index("room_members_by_account", MEMBERS.c.account_id)

PROOFS = Table(
    "server_proofs",
    METADATA,
    Column("proof", TEXT, primary_key=True),
    Column("written_at", BigInteger, nullable=False),
)
"""One row, which is written anew to see whether anything can be."""

STATES = Table(
    "account_states",
    METADATA,
    Column("account_id", TEXT, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("document", TEXT, nullable=False),
)
"""What a server remembers for those who call it without a process of their own: their workers,
and the secrets of the connections that it holds for them. `number` counts how often it changed."""

OF_ACCOUNTS = (ACCOUNTS, TOKENS, AGENTS, MEMBERS, PROOFS, STATES)
