"""Take a symbol out: with its decorators, its comments, and the blank lines that only it needed.

class C:                         class C:
a = 1                            a = 1
<- these blank lines go
# owned comment
@decorator
def f(self): ...

def g(): ...                     def g(): ...

A comment that speaks for the file, or for all that follows, stays; an owned one goes, and is named where it may speak
of the next statement, too. The string below an attribute goes as well, and is named where a blank line is above it.
"""

from __future__ import annotations

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Suite
from bae_source.syntax.outline.groups import check_left
from bae_source.syntax.outline.locate import (
    Group,
    comment_apart,
    group_span,
    is_at_head,
    on_one_line,
    owned_comment,
    shared_comment,
)
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.blank_lines import count, end_of_gap, start_of_gap
from bae_source.syntax.rewrite.splice import Splices
from bae_source.syntax.text.source import NEWLINE


def remove(tree: Tree, module: str, group: Group) -> tuple[Splices, list[Notice]]:
    """Plan to delete a symbol.

    Parameters:
        module: the module's name.

    Raises:
        Refused: `unsafe_change` if its statement binds other names too, or others of its name need it.
    """
    _refuse_shared(tree, group)
    check_left(tree, module, group, ())
    first = tree.outline.definitions[group.members[0]]
    suite = tree.outline.suites[first.suite]
    assert suite is not None
    if first.inline:
        splices = [_inline(tree, group, suite)]
    elif suite.size == len(group.members) and first.suite != 0:
        splices = [_emptied(tree, group)]
    else:
        splices = [_lines(tree, group, suite)]
    return splices, _notices(tree, group)


def lost_inside(tree: Tree, group: Group, new_source: str = "") -> list[Notice]:
    """Return notices about directives for all that follows that go, since they stand between a symbol's definitions.

    Parameters:
        new_source: what takes the place of the symbol.
    """
    found = [comment_apart(tree, index) for index in group.members[1:]]
    shown = [on_one_line(span.cut(tree.text)) for span in found if span]
    name, kept = group.qualname[-1].name, on_one_line(new_source)
    return [
        Notice("comment_gone", f"A directive for all that follows may have gone with {name}: {each}")
        for each in shown
        if each not in kept
    ]


def lost_comment(name: str, comment: str) -> Notice:
    """Return the notice about a comment that goes with a symbol and may be about the code below it, too."""
    return Notice(
        "comment_gone",
        f"The comment above {name} went with it, and may be about the code below as well: {on_one_line(comment)}",
    )


def _refuse_shared(tree: Tree, group: Group) -> None:
    name = group.qualname[-1].name
    others = sorted({n for index in group.members for n in tree.outline.definitions[index].names} - {name})
    if others:
        raise Refused(
            "unsafe_change",
            f"The statement that binds {name} binds {', '.join(others)} as well.",
            hints=[f"Edit {name} instead, giving a statement that binds only {', '.join(others)}."],
        )


def _lines(tree: Tree, group: Group, suite: Suite) -> tuple[Span, str]:
    """Cut whole lines, and the smaller of the gaps around them; at the end of a suite the gap above.

    At its start it is the gap below, unless a comment stays there, which that gap sets apart from what follows.
    """
    text = tree.text
    start, end = _with_comment(tree, group), group_span(tree.outline, group.members).end
    above, below = start_of_gap(text, start), end_of_gap(text, end)
    is_first = not tree.outline.definitions[group.members[0]].position and not comment_apart(tree, group.members[0])
    is_last = tree.outline.definitions[group.members[-1]].position == suite.size - 1
    if is_last:
        start = start if is_first else above
        if end == len(text) and not text.endswith(("\n", "\r")):
            start -= 2 if text.startswith("\r\n", start - 2) else min(start, 1)  # the file had no final newline
    elif is_first or count(text, above, start) >= count(text, end, below):
        end = below
    else:
        start = above
    return Span(start, end), ""


def _emptied(tree: Tree, group: Group) -> tuple[Span, str]:
    """Leave `pass` where nothing would be left."""
    first = tree.outline.definitions[group.members[0]]
    span = group_span(tree.outline, group.members)
    ended = span.cut(tree.text)
    bare = ended.rstrip("\r\n")
    last_newline = ended[len(bare) :]
    newline = "\r\n" if last_newline.startswith("\r\n") else last_newline[:1]
    return Span(_with_comment(tree, group), span.end), f"{first.indent}pass{newline}"


def _inline(tree: Tree, group: Group, suite: Suite) -> tuple[Span, str]:
    """Cut statements out of a shared line, with one of the semicolons beside them."""
    text = tree.text
    start = tree.outline.definitions[group.members[0]].span.start
    end = tree.outline.definitions[group.members[-1]].span.end
    if suite.size == len(group.members):
        return Span(start, end), "pass"
    behind = end
    while text[behind : behind + 1] in (" ", "\t"):
        behind += 1
    if text[behind : behind + 1] == ";" and end < suite.end:
        behind += 1
        while text[behind : behind + 1] in (" ", "\t"):
            behind += 1
        return Span(start, behind), ""
    before = len(text[:start].rstrip(" \t"))
    return Span(len(text[: before - 1].rstrip(" \t")) if text[before - 1] == ";" else start, end), ""


def _with_comment(tree: Tree, group: Group) -> int:
    comment = owned_comment(tree, group.members[0])
    return comment.start if comment else tree.outline.definitions[group.members[0]].span.start


def _notices(tree: Tree, group: Group) -> list[Notice]:
    outline, name = tree.outline, group.qualname[-1].name
    first = outline.definitions[group.members[0]]
    gone = len(outline.named(first.parent, name)) == len(group.members)
    notices = []
    if first.parent == MODULE and gone and name in (outline.exported or ()):
        notices.append(Notice("still_exported", f"{name} is still named in __all__."))
    if comment := shared_comment(tree, group.members):
        notices.append(lost_comment(name, comment))
    notices += lost_inside(tree, group)
    last = outline.definitions[group.members[-1]]
    if last.body is None and last.docstring:
        between = NEWLINE.split(tree.text[last.end : last.docstring.start])[1:-1]
        if not all(line.strip() for line in between):
            shown = on_one_line(last.docstring.cut(tree.text))
            notices.append(Notice("docstring_dropped", f"The string below {name} went with it: {shown}"))
    apart = comment_apart(tree, group.members[0])
    if apart and not is_at_head(outline, first):
        shown = on_one_line(apart.cut(tree.text))
        notices.append(Notice("comment_stays", f"A directive for all that follows stays where {name} was: {shown}"))
    return notices
