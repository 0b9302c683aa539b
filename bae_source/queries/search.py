"""Search names, docstrings and comments for words."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import RequestError
from bae_source.model.call import call_of
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.search.answer import answer_of, closer_look
from bae_source.project.search.ranking import Ranked
from bae_source.project.search.scope import scope_of
from bae_source.project.search.symbols import find_words
from bae_source.project.search.words import query_words
from bae_source.project.workspace import Workspace

_MOST_WORDS = 30


class Search(Request, frozen=True, kw_only=True):
    """Search names, docstrings and comments for words, and show the best symbols and why.

    Names are taken apart (parseHTTPDate, parse_http_date), and endings such as the plural's do not matter. Every word
    that a symbol has counts, in its name the most; words that few symbols have count more.
    """

    verb: ClassVar[str] = "search"
    lists_addresses: ClassVar[bool] = True
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it when you know what code is about, and not what it is called."
    examples: ClassVar[tuple[str, ...]] = (
        "search parse http date",
        'search "retry on timeout" --scope app.net --limit 5',
    )

    words: Annotated[tuple[str, ...], described("Words to search for.", starred=True)]
    scope: Annotated[
        str | None, described("Dotted name to search in: a package, module, class or function.", placed=True)
    ] = None
    limit: Annotated[int, described("At most that many symbols.", ge=1, le=1000)] = 10

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        words = query_words(self.words)
        if not words or len(words) > _MOST_WORDS:
            problem = "There is no word to look for." if not words else f"More than {_MOST_WORDS} words say nothing."
            raise RequestError("invalid_arguments", problem, hints=["Give a few words, such as parse http date."])
        found = find_words(workspace, scope_of(workspace, self.scope), tuple(words))
        shown = found.symbols[: self.limit]
        more = len(found.symbols) - len(shown)
        actions = [closer_look(each.module, each.address, each.kind) for each in shown[:1]]
        actions += [call_of(replace(self, limit=2 * self.limit))] if more else []
        return answer_of([_drawn(symbol, words) for symbol in shown], shown, found.notices, next_actions=actions)


def _drawn(symbol: Ranked, words: dict[str, str]) -> str:
    about = f" — {symbol.about}" if symbol.about else ""
    why = "; ".join(f"{field}: {', '.join(words[stem] for stem in stems)}" for field, stems in symbol.why)
    return f"{symbol.address}{about}  ({why})"
