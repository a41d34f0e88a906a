"""Names for those who bring none: two words that a seed decides, the same every time.

N10  One seed gives one codename, on every machine; the next index gives another.
N11  No two codenames are the same name to a room, and none holds a blank or a hyphen.
N12  A suggested codename is one whose key nobody holds; there is none only when all are held.
N13  A taken name is replaced by a codename, the same for the same agent, and never by a number.
"""

import hashlib
from collections.abc import Collection

import attrs

from letagents.domain import names

# A name is an index into this list: words may be added at its end, and never moved.
_LINES = """
amber alder almond arbor aspen aurora azure basil beech birch bloom bramble breeze briar bronze
cactus chalk cherry cliff clover cobalt coral cove crane crimson cypress daisy drift dusk eagle elm
fawn finch flint frost gale garnet geyser glacier hazel heather heron holly iris jasmine kestrel
lark laurel lilac marble mesa mint mist monsoon myrtle nectar nettle oasis ocean ochre onyx orchid
osprey pebble petal plover plum pollen poplar poppy prairie quail quartz rain rapids robin rowan
ruby russet saffron sand sienna slate sleet snow sorrel spruce steppe sunset swan tansy teal tern
thistle thunder topaz tulip tundra umber violet walnut wren
"""
WORDS = tuple(_LINES.split())
SPACE = len(WORDS) ** 2


@attrs.frozen
class Codename:
    """A name made of two words: `display_name` to show, `name` in lower case."""

    display_name: str
    name: str


def codename_at(index: int) -> Codename:
    """Return the codename at `index`, counted round and round in both directions."""
    first, second = divmod(index % SPACE, len(WORDS))
    shown = WORDS[first].capitalize() + WORDS[second].capitalize()
    return Codename(shown, names.base_name(shown))


def seed_index(seed: str) -> int:
    """Return where in the list of codenames `seed` points."""
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % SPACE


def codename(seed: str, offset: int = 0) -> Codename:
    """Return the codename of `seed`, or the one `offset` places after it."""
    return codename_at(seed_index(seed) + offset)


def free_codename(seed: str, taken: Collection[str]) -> Codename | None:
    """Return the first codename from that of `seed` on whose key is not among `taken`."""
    held, start = frozenset(taken), seed_index(seed)
    candidates = (codename_at(start + offset) for offset in range(SPACE))
    return next((one for one in candidates if names.name_key(one.display_name) not in held), None)


def replacement_name(agent_key: str, taken: Collection[str]) -> str | None:
    """Return the display name for an agent whose own is among the name keys `taken`.

    Its seeds reach most codenames but not all; the rest is looked through before giving up.
    """
    held = frozenset(taken)
    candidates = (codename(f"{agent_key}:{count}") for count in range(1, SPACE + 1))
    found = next((one for one in candidates if one.name not in held), None)
    found = found or free_codename(agent_key, held)
    return found.display_name if found else None
