"""How a text is read as words, so that what is searched for is found however it was written.

V1  A text is read as words of letters and digits, in which case, accents and width do not count.
V2  A script that is written without spaces is read sign by sign, so any part of a run is found.
V5  A word counts by its first 64 characters.
"""

import re
import unicodedata

WORD_LENGTH = 64

_ALONE = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u2190-\u2bff\U0001f000-\U0001faff"  # arrows, symbols, emoji
    "\u2e80-\u2fdf\u3005-\u3007\u3041-\u312f\u31f0-\u31ff"  # radicals, kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
    "\uac00-\ud7a3"  # Korean has spaces, and joins its particles to words
)
_VOWEL_SIGNS = "\u0900-\u0963\u0966-\u0dff"
"""Scripts of India, whose vowels are marks: parts of a word that Python does not count as such."""
_WORD = re.compile(rf"[{_ALONE}]|(?:[^\W_{_ALONE}]++|[{_VOWEL_SIGNS}]++)++")
_SIGN = re.compile(f"[{_ALONE}]")
_ASCII_WORD = re.compile(r"[a-z0-9]+")

_UNSEEN = frozenset("\u00ad\u0640") | set(map(chr, range(0xFE00, 0xFE10)))
_KEPT = 20_000


class _Folding(dict[int, str]):
    """What each character is read as; learnt when it is first met."""

    def __missing__(self, number: int) -> str:
        plain = unicodedata.normalize("NFKD", chr(number))
        bare = "".join(sign for sign in plain if not _is_accent(sign))
        read = unicodedata.normalize("NFC", bare).casefold()
        if len(self) < _KEPT:
            self[number] = read
        return read


def _is_accent(sign: str) -> bool:
    """Whether `sign` only says how a letter sounds. The marks of Indian and Thai vowels are more.

    Unicode's classes 10 to 35 are the points of Hebrew and Arabic, 200 and above are accents.
    """
    kind = unicodedata.combining(sign)
    return kind >= 200 or 10 <= kind <= 35 or sign in _UNSEEN


_FOLDING = _Folding()


def folded(text: str) -> str:
    """Return `text` without what does not count in a word."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).translate(_FOLDING)


def words(text: str) -> list[str]:
    """Return the words of `text`, in the form in which they are compared."""
    plain = folded(text)
    return [word[:WORD_LENGTH] for word in _pattern(plain).findall(plain)]


def reads_by_sign(word: str) -> bool:
    """Whether a word is one sign of a script that is read sign by sign: any ending fits it."""
    return _SIGN.fullmatch(word) is not None


def start_of_word(text: str, number: int) -> int:
    """Return where a word of `text` begins, the first being number 0; 0 if there is no such."""
    plain = folded(text)
    for at, word in enumerate(_pattern(plain).finditer(plain)):
        if at == number:
            return _unfolded(text, word.start())
    return 0


def _pattern(plain: str) -> re.Pattern[str]:
    return _ASCII_WORD if plain.isascii() else _WORD


def _unfolded(text: str, at: int) -> int:
    """Return where in `text` that stands which is at `at` when it is folded."""
    start, end = 0, len(text)
    while end - start > 1:
        middle = (start + end) // 2
        length = len(folded(text[start:middle]))
        if at < length:
            end = middle
        else:
            start, at = middle, at - length
    return start


def readable(text: str) -> str:
    """Return the words of `text` with one space between them: what an index is given to read."""
    return " ".join(words(text))
