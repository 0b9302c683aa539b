"""Words and ranking: how names are taken apart, what a stem is, and what counts more than what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.project.search.ranking import Document, Ranked, ranked
from bae_source.project.search.words import query_words, stem, words_in


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parse_http_date", ["pars", "http", "date"]),
        ("parseHTTPDate", ["pars", "http", "date"]),
        ("HTTPServer2", ["http", "server", "2"]),
        ("__init__", ["init"]),
        ("utf8_to_ascii", ["utf", "8", "to", "ascii"]),
        ("größe Ärger naïve", ["größ", "ärger", "naïv"]),
        ("x", ["x"]),
        ("", []),
    ],
)
def test_a_name_is_taken_apart(name: str, words: list[str]) -> None:
    assert words_in(name) == words


@pytest.mark.parametrize(
    "alike",
    [("query", "queries"), ("cache", "cached", "caching", "caches"), ("map", "mapped", "mapping", "maps"),
     ("mail", "mails", "mailed", "mailing"), ("class", "class"), ("parse", "parsing", "parsed")],
)  # fmt: skip
def test_forms_of_a_word_have_one_stem(alike: tuple[str, ...]) -> None:
    assert len({stem(word) for word in alike}) == 1


@pytest.mark.parametrize("word", ["string", "class", "status", "speed", "this", "use", "bus", "need", "thing"])
def test_what_is_no_ending_stays(word: str) -> None:
    assert stem(word) == word


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_stem_is_the_beginning_of_its_word(text: str) -> None:
    for word in words_in(text):
        assert word in text.lower()


def test_words_to_look_for_come_once_each_in_their_order() -> None:
    assert query_words(("send mails", "mail")) == {"send": "send", "mail": "mails"}
    assert query_words(("how to send",)) == {"send": "send"}
    assert query_words(("how to",)) == {"how": "how", "to": "to"}
    assert query_words(("!", "")) == {}


def test_a_word_counts_inside_a_longer_one_from_four_letters_on() -> None:
    assert order([document("a", name="safestring"), document("b", name="offset")], "safe") == ["a"]
    assert order([document("a", name="safestring"), document("b", name="offset")], "set") == []
    assert order([document("a", name="emails"), document("b", name="mail")], "mail") == ["b", "a"]


def test_in_a_text_only_the_beginning_of_a_longer_word_counts() -> None:
    documents = [document("a", summary="authentication"), document("b", summary="unauthorized")]
    assert order(documents, "auth") == ["a"]


def document(address: str, name: str = "", summary: str = "", rest: str = "", *, in_tests: bool = False) -> Document:
    return Document(
        address=address,
        kind="function",
        module="m",
        line=1,
        about=summary,
        texts=(name, "", summary, rest, ""),
        in_tests=in_tests,
    )


def order(documents: list[Document], *words: str) -> list[str]:
    found: list[Ranked] = ranked(documents, words, len(documents))
    return [each.address for each in found]


def test_a_name_counts_more_than_a_summary_and_that_more_than_the_rest() -> None:
    documents = [document("c", rest="send"), document("b", summary="send"), document("a", name="send"), document("d")]
    assert order(documents, "send") == ["a", "b", "c"]


def test_having_all_words_counts_more_than_having_one_often() -> None:
    documents = [document("one", name="send send send"), document("both", name="send mail")]
    assert order(documents, "send", "mail") == ["both", "one"]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    documents = [document(f"common{n}", name="send") for n in range(9)] + [document("rare", name="zebra")]
    assert order(documents, "send", "zebra")[0] == "rare"


def test_short_texts_count_more_than_long_ones() -> None:
    documents = [document("long", summary="send " + "other " * 60), document("short", summary="send it")]
    assert order(documents, "send") == ["short", "long"]


def test_tests_count_less() -> None:
    assert order([document("a", name="send", in_tests=True), document("b", name="send")], "send") == ["b", "a"]


def test_equal_scores_are_in_the_order_of_the_addresses_whatever_order_they_came_in() -> None:
    documents = [document(name, name="send") for name in "cabd"]
    assert order(documents, "send") == order(documents[::-1], "send") == ["a", "b", "c", "d"]
