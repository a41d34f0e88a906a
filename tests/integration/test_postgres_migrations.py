"""What earlier forms of ours left in a PostgreSQL is brought forward with all that is in it."""

from pathlib import Path

import psycopg
import pytest
from tests.integration.postgres_processes import rooms_in
from tests.integration.test_migrations import FORMS
from tests.own_postgres import plain

from letagents.adapters.nudges.none import NoNudges
from letagents.adapters.sql import migrations
from letagents.domain.messages import Latest
from letagents.testing.contracts.room_callers import BOB, ROOM, arrival, draft

pytestmark = pytest.mark.anyio

_COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name
FROM information_schema.columns WHERE table_schema = current_schema()
"""
_INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()"
_ANEW = "DROP SCHEMA blank CASCADE; CREATE SCHEMA blank"

Found = set[tuple[object, ...]]


@pytest.mark.parametrize(
    "form", sorted(FORMS.glob("postgresql_*.sql")), ids=lambda file: str(file.stem)
)
async def test_what_was_said_is_there_and_the_tables_are_as_if_made_anew(
    form: Path, blank_postgres: str
) -> None:
    execute(blank_postgres, form.read_text("utf-8"))
    rooms = rooms_in(blank_postgres, NoNudges(), process=2)
    (before,) = (await rooms.read(ROOM, Latest(10))).messages
    speaker = await rooms.connect(ROOM, arrival(BOB, 77))
    after = await rooms.post(ROOM, draft("after"), speaker.fence)
    await rooms.aclose()
    grown = shape(blank_postgres)
    execute(blank_postgres, _ANEW)
    anew = rooms_in(blank_postgres, NoNudges())
    await anew.join(ROOM)
    await anew.aclose()

    assert (before.text, after.id.number) == ("before", 2)
    assert grown == shape(blank_postgres)
    assert grown[2] == {(migrations.VERSION,)}


def execute(place: str, text: str) -> None:
    with psycopg.connect(plain(place), autocommit=True) as connection:
        connection.execute(text.encode())


def shape(place: str) -> tuple[Found, Found, Found]:
    """Return which columns and indexes there are, and the number of the form."""
    with psycopg.connect(plain(place), autocommit=True) as connection:
        asked = (_COLUMNS, _INDEXES, "SELECT number FROM letagents_form")
        columns, indexes, number = (set(connection.execute(one.encode())) for one in asked)
    return columns, indexes, number
