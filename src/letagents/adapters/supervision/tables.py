"""The tables in which a supervisor keeps its journal, in a SQLite file of its own.

Each row holds a value as JSON, and beside it the facts by which it is found. Effects and items lie
in the order of their coming.
"""

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, Table, Text

METADATA = MetaData()
VERSION = 2
"""The number of this form, which the head of the file has. (2: `deeds`.)"""

FENCE = Table(
    "fence",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("generation", Integer, nullable=False),
)
"""One row: the generation of the newest supervisor, which alone may write."""

ENTRIES = Table(
    "entries",
    METADATA,
    Column("entry_id", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

BINDINGS = Table(
    "bindings",
    METADATA,
    Column("entry_id", Text, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("value", Text),
)
"""`value` is null where an agent is bound no more; its epoch stays."""

INGRESS = Table(
    "ingress",
    METADATA,
    Column("entry_id", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

ITEMS = Table(
    "items",
    METADATA,
    Column("item_id", Text, primary_key=True),
    Column("entry_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("is_over", Boolean, nullable=False),
    Column("value", Text, nullable=False),
)
Index("items_in_order", ITEMS.c.entry_id, ITEMS.c.sequence, unique=True)
Index("items_open", ITEMS.c.entry_id, ITEMS.c.sequence, sqlite_where=ITEMS.c.is_over.is_(False))

EFFECTS = Table(
    "effects",
    METADATA,
    Column("effect_id", Text, primary_key=True),
    Column("entry_id", Text, nullable=False),
    Column("execution_id", Text, nullable=False),
    Column("turn_id", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("is_settled", Boolean, nullable=False),
    Column("request_bytes", Integer, nullable=False),
    Column("result_bytes", Integer, nullable=False),
    Column("value", Text, nullable=False),
)
Index(
    "effects_by_request",
    EFFECTS.c.entry_id,
    EFFECTS.c.turn_id,
    EFFECTS.c.request_id,
    EFFECTS.c.execution_id,
    unique=True,
)
Index("effects_open", EFFECTS.c.entry_id, sqlite_where=EFFECTS.c.is_settled.is_(False))

DEEDS = Table(
    "deeds",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("entry_id", Text, nullable=False),
    Column("value", Text, nullable=False),
)
Index("deeds_of_agent", DEEDS.c.entry_id, DEEDS.c.number)
