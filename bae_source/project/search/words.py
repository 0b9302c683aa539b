"""Words as a search compares them: taken apart, in lower case, and without their endings.

    parseHTTPDate, parse_http_date     parse http date
    queries, query                     quer
    cached, caching, cache             cach
    string, class                      string class: what would be left is no stem

Endings are taken off as lightly as that (plural, -ing, -ed, final e and y), after Harman's "How effective is
suffixing?" (1991): names in code are short, and a stronger stemmer makes strangers of them equal.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_VOWEL = re.compile(r"[aeiouy]")
_STOP = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "if",
     "in", "into", "is", "it", "its", "not", "of", "on", "or", "so", "that", "the", "then", "there", "this", "to",
     "was", "what", "when", "where", "which", "will", "with")
)  # fmt: skip
SHORTEST_PIECE = 4
"""Letters that a word must have to be searched for inside longer ones."""


def words_in(text: str) -> list[str]:
    """Return the stems of all words of a name or a text, in order."""
    return [stem(part.lower()) for part in _PART.findall(text)]


def query_words(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the stems to look for, each with the word as it was given; what says nothing is left out if others do."""
    parts = [part.lower() for text in texts for part in _PART.findall(text)]
    telling = [part for part in parts if part not in _STOP] or parts
    found: dict[str, str] = {}
    for part in telling:
        found.setdefault(stem(part), part)
    return found


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return a word, in lower case, without its ending: always the beginning of the word itself."""
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] if word.endswith("ies") and len(word) > 5 else word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest) and not word.endswith("eed"):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if len(word) > 4 and word[-1] in "ey" and word[-2] not in "aeiou" else word
