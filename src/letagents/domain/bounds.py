"""How much one result holds, and what is left out of it.

Z1  A result holds at most 40,000 bytes, as compact JSON in UTF-8.
Z2  What does not fit is left out at one end, in one piece, so that one cursor finds all of it.
Z3  An item too large for any result is given cut, so that who reads on always gets further.
Z4  A text is cut between its characters; its pieces, read in order, are the whole of it.
"""

from collections.abc import Callable, Iterable

RESULT_LIMIT = 40_000
ITEMS_LIMIT = 36_000
"""Bytes of the items of a list; the rest is for what stands around them."""


def fitting(sizes: Iterable[int], limit: int = ITEMS_LIMIT) -> int:
    """Return how many items of these sizes, from the first on, fit as a list into `limit`."""
    count, room = 0, limit - len("[]")
    for size in sizes:
        room -= size + (len(",") if count else 0)
        if room < 0:
            break
        count += 1
    return count


def longest(text: str, fits: Callable[[str], bool]) -> str:
    """Return the longest beginning of `text` that `fits`, and one character at least."""
    return text[: largest(1, len(text), lambda length: fits(text[:length]))]


def largest(least: int, most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from `least` to `most` that `fits`; `least` if none does."""
    if least >= most or fits(most):
        return max(least, most)
    while most - least > 1:
        middle = (least + most) // 2
        if fits(middle):
            least = middle
        else:
            most = middle
    return least
