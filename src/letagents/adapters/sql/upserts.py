"""Inserting what may be there already, in the one form that SQLite and PostgreSQL share.

SQLAlchemy has it in each dialect's own part only, and none is to be loaded for another's sake.
"""

from collections.abc import Sequence

from sqlalchemy import Column, Table, TextClause, text


def put_statement(table: Table) -> TextClause:
    """Return the statement that puts a row in the place of the one with its primary key."""
    names = [column.name for column in table.primary_key]
    others = [column.name for column in table.c if column.name not in names]
    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in others)
    return text(f"{_insert(table)} ON CONFLICT ({_listed(names)}) DO UPDATE SET {changes}")


def add_statement(table: Table, *key: Column[str]) -> TextClause:
    """Return the statement that adds a row unless one has its `key`.

    The last column of `key` may be empty; then its row has none. A unique index says the same.
    """
    names = [column.name for column in key]
    target = f'({_listed(names)}) WHERE "{names[-1]}" IS NOT NULL'
    return text(f"{_insert(table)} ON CONFLICT {target} DO NOTHING")


def _insert(table: Table) -> str:
    names = [column.name for column in table.c]
    values = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table.name} ({_listed(names)}) VALUES ({values})"  # noqa: S608  # our own


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
