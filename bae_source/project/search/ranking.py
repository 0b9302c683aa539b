"""The rank of symbols by how well they fit some words.

Each symbol is a document of five fields; BM25F adds up how often a word occurs in each, by the field's weight and
against its usual length, and lets a word count the more the fewer symbols have it:

    score = sqrt(coverage) * place * sum over words of  idf * tf / (k1 + tf)
    tf    = sum over fields of  weight * count / (1 - b + b * length / usual length)
    idf   = ln(1 + (documents - having + 0.5) / (having + 0.5))

`coverage` is the share of the words that it has, by their idf; `place` is less for tests, which mention everything. A
word inside a longer one (`safestring`, `authentication`) counts for a third.

Source of the formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). The
usual lengths are constants, so that the order of two symbols does not depend on files that have nothing to do with the
words.

Invariants:
- the order depends on the documents and the words alone; of equal scores the smaller address comes first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from bae_source.project.search.words import SHORTEST_PIECE, words_in

_K1 = 1.5
_INSIDE = 0.3
_IN_TESTS = 0.5


class Field(Struct, frozen=True):
    """One part of a document.

    Parameters:
        name: as answers tell it.
        weight: how much a word counts in it.
        length: how many words it usually has.
        bound: how much of the length is taken into account: BM25's b.
        compound: whether words may hide inside others without a mark.
    """

    name: str
    weight: float
    length: float
    bound: float
    compound: bool = False


FIELDS = (
    Field("name", 6.0, 2.0, 0.6, compound=True),
    Field("path", 2.0, 5.0, 0.4, compound=True),
    Field("summary", 3.0, 8.0, 0.5),
    Field("docstring", 1.0, 40.0, 0.6),
    Field("comments", 0.8, 15.0, 0.5),
)


class Document(Struct, frozen=True, kw_only=True):
    """One symbol or module.

    Parameters:
        address: canonical.
        kind: `module`, `class`, `function`, `method`, `assignment` or `type alias`.
        module: where it stands.
        line: where it begins.
        about: the first line of its docstring.
        texts: the text of each of `FIELDS`.
        in_tests: whether it stands in a test.
    """

    address: str
    kind: str
    module: str
    line: int
    about: str
    texts: tuple[str, ...]
    in_tests: bool


class Ranked(Struct, frozen=True, kw_only=True):
    """A symbol that was found.

    Parameters:
        address: canonical.
        kind: `module`, `class`, `function`, `method`, `assignment` or `type alias`.
        module: where it stands.
        line: where it begins, from 1.
        about: the first line of its docstring.
        score: the more the better; comparable within one answer only.
        why: the fields that hold some of the words, and which.
    """

    address: str
    kind: str
    module: str
    line: int
    about: str
    score: float
    why: tuple[tuple[str, tuple[str, ...]], ...]


class _Weighed(Struct, frozen=True):
    document: Document
    frequencies: tuple[float, ...]
    why: tuple[tuple[str, tuple[str, ...]], ...]


def ranked(documents: Sequence[Document], words: Sequence[str], total: int) -> list[Ranked]:
    """Return the documents that hold one of the words, the best first.

    Parameters:
        total: how many documents there are, with those that hold none.
    """
    weighed = [each for document in documents if any((each := _weigh(document, words)).frequencies)]
    weights = [_idf(total, sum(1 for each in weighed if each.frequencies[n])) for n in range(len(words))]
    found = [_ranked(each, weights) for each in weighed]
    return sorted(found, key=lambda each: (-each.score, each.address))


def _idf(documents: int, having: int) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def _ranked(weighed: _Weighed, weights: Sequence[float]) -> Ranked:
    document = weighed.document
    pairs = list(zip(weights, weighed.frequencies, strict=True))
    score = sum(weight * tf / (_K1 + tf) for weight, tf in pairs)
    coverage = sum(weight for weight, tf in pairs if tf) / sum(weights)
    place = _IN_TESTS if document.in_tests else 1.0
    return Ranked(
        address=document.address,
        kind=document.kind,
        module=document.module,
        line=document.line,
        about=document.about,
        score=round(score * math.sqrt(coverage) * place, 6),
        why=weighed.why,
    )


def _weigh(document: Document, words: Sequence[str]) -> _Weighed:
    frequencies = [0.0] * len(words)
    why: list[tuple[str, tuple[str, ...]]] = []
    for field, text in zip(FIELDS, document.texts, strict=True):
        lower = text.lower()
        if not text or not any(word in lower for word in words):
            continue
        tokens = Counter(words_in(text))
        norm = 1 - field.bound + field.bound * tokens.total() / field.length
        matched: list[str] = []
        for number, word in enumerate(words):
            count = tokens[word] + _INSIDE * _inside(tokens, word, field)
            if count:
                frequencies[number] += field.weight * count / norm
                matched.append(word)
        if matched:
            why.append((field.name, tuple(matched)))
    return _Weighed(document, tuple(frequencies), tuple(why))


def _inside(tokens: Counter[str], word: str, field: Field) -> int:
    """Return how many longer words a word is a part of: the beginning, or anywhere where nothing takes words apart."""
    if len(word) < SHORTEST_PIECE:
        return 0
    found = [token for token in tokens if word in token and token != word]
    return sum(tokens[token] for token in found if field.compound or token.startswith(word))
