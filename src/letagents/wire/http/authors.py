"""Who did something to what a room remembers, over HTTP and back. (Source: hosted-api 3.13.)"""

from typing import Any

from letagents.domain.authors import Author
from letagents.wire.http.reading import Fields, Unreadable

Plain = dict[str, Any]


def author(fields: Fields, name: str) -> Author:
    """Return who a field names; a server that tells a name and no more, tells of a human being.

    Raises:
        Unreadable: it names nobody.
    """
    told = fields.document.get(name)
    if isinstance(told, str):
        return Author(told, told, "human")
    if (who := fields.part(name)) is None:
        raise Unreadable(f"{name} is left out")
    return Author(who.text("id"), who.text("label"), who.text("kind"))
