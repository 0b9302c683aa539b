"""The text of patches read, and their hunks fitted into texts."""

from __future__ import annotations

import pytest

from bae_source.errors import RequestError
from bae_source.syntax.patches.editing import edits
from bae_source.syntax.patches.fitting import Applied, Fit, Misfit, fitted
from bae_source.syntax.patches.patch import Hunk
from bae_source.syntax.patches.reading import is_patch, read_patch
from bae_source.syntax.patches.view import View

TEXT = "import os\n\n\ndef f():\n    a = 1\n    return a\n\n\ndef g():\n    a = 2\n    return a\n"


def hunks(body: str) -> tuple[Hunk, ...]:
    return read_patch(f"--- a/x.py\n+++ b/x.py\n{body}")[0].hunks


def applied(text: str, body: str, *, known: bool | None = None) -> str | list[str]:
    """Return the text with the hunks, or the reasons why they do not fit."""
    return applied_bytes(text.encode(), body, known=known).decode()


def applied_bytes(content: bytes, body: str, *, known: bool | None = None) -> bytes:
    view = View(content, hunks(body), python=False)
    found = fitted(view, hunks(body), known=known)
    misfits = [each.reason for each in found if isinstance(each, Misfit)]
    if misfits:
        return "\n".join(misfits).encode()
    position, pieces = 0, []
    for edit in edits(view, [each for each in found if isinstance(each, Fit)]):
        assert content[edit.start : edit.end] == edit.old
        pieces += [content[position : edit.start], edit.new]
        position = edit.end
    return b"".join([*pieces, content[position:]])


@pytest.mark.parametrize(
    "text",
    [
        "diff --git a/x b/x\n",
        "--- a/x\n+++ b/x\n",
        "*** Begin Patch\n",
        "\n*** Begin Patch\n",
        "Index: x.py\n",
        "From 0123456789012345678901234567890123456789 Mon Sep 17\n",
        "```diff\n--- a/x\n",
        "apply_patch <<'EOF'\n",
    ],
)
def test_a_patch_is_known_by_its_first_line(text: str) -> None:
    assert is_patch(text)
    assert not is_patch(f'[{{"do": "edit"}}]\n{text}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "diff --git a/x.py b/y.py\nsimilarity index 100%\nrename from x.py\nrename to y.py\n",
            ("rename", "x.py", "y.py"),
        ),
        ("diff --git a/x.py b/y.py\ncopy from x.py\ncopy to y.py\n", ("copy", "x.py", "y.py")),
        ("diff --git a/my x b/my x\nnew file mode 100644\nindex 0000000..e69de29\n", ("create", None, "b/my x")),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n", ("delete", "a/x", None)),
        ('diff --git "a/\\303\\251" "b/\\303\\251"\nold mode 100644\nnew mode 100755\n', ("change", "a/é", "b/é")),
        ("--- x.py\t2026-01-01 10:00:00\n+++ x.py\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n", ("change", "x.py", "x.py")),
        ("--- /dev/null\n+++ b/x.py\n@@ -0,0 +1 @@\n+b\n", ("create", None, "b/x.py")),
        ("Index: x\n=======\n--- x\t(revision 1)\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", ("delete", "x", None)),
        ("*** Begin Patch\n*** Delete File: x\n*** End Patch", ("delete", "x", None)),
        ("*** Begin Patch\n*** Update File: x\n*** Move to: y\n*** End Patch\n", ("rename", "x", "y")),
        ("cat <<EOF\n*** Begin Patch\n*** Add File: x\n+a\n+\n+b\n*** End Patch\nEOF\n", ("create", None, "x")),
    ],
)
def test_what_becomes_of_a_file_is_read(text: str, expected: tuple[str, str | None, str | None]) -> None:
    (section,) = read_patch(text)
    assert (section.action, section.old, section.new) == expected


def test_prose_around_and_between_files_is_passed_over() -> None:
    text = (
        "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n\n- a list\n+ more\n---\n"
        " x | 2 +-\n\ndiff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ head\n a\n"
        "-b\n+c\n-- \n2.39.5\n\n"
    )
    sections = read_patch(text + text.replace(" x", " y").replace("a/x", "a/y").replace("b/x", "b/y"))
    assert [(each.new, each.series, len(each.hunks[0].lines)) for each in sections] == [("b/x", 1, 3), ("b/y", 2, 3)]


def test_a_line_that_looks_like_a_header_is_a_hunks_own_if_that_counts_it() -> None:
    (section,) = read_patch("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\n d\n")
    assert [(line.mark, line.text) for line in section.hunks[0].lines][1:3] == [("-", "-- b"), ("+", "++ c")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "The patch is empty"),
        ("hello\n- world\n", "no file is named"),
        ("--- a/x\n+++ b/x\n", "no hunk follows"),
        ("@@ -1 +1 @@\n-a\n+b\n", "no file is named above"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "no lines"),
        ("--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n-b\n+c\nd\n-e\n+f\n", "Line 7 of the patch: 'd' has no mark"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\nd\n-e\n+f\n", "Line 7 of the patch: 'd' has no mark"),
        ("--- a/x\n+++ b/x\n@@@ -1 -1 +1 @@@\n--a\n++b\n", "diff of a merge"),
        ("diff --cc x\nindex 1,2..3\n", "diff of a merge"),
        ("*** x\n--- y\n***************\n*** 1 ****\n", "context diff"),
        ("diff --git a/x b/x\nindex 1234567..89abcde\nGIT binary patch\nliteral 0\n", "binary"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary"),
        ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n", "symbolic link"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\0\n", "NUL"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n", "other lines follow it"),
        ("*** Begin Patch\n*** Update File: x\n@@\n-a\n+b\n", "ends without *** End Patch"),
        ("*** Begin Patch\n*** Add File: x\n+a\nb\n*** End Patch\n", "does not begin with +"),
        ("*** Begin Patch\n*** Change File: x\n*** End Patch\n", "none of Add File"),
        ("*** Begin Patch\n*** Update File: x\n*** End Patch\n", "no hunk follows"),
    ],
)
def test_what_is_no_whole_patch_is_refused(text: str, why: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_patch(text)
    assert why in caught.value.message
    assert "nothing was changed" in caught.value.message


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("@@ -5 +5 @@\n-    a = 1\n+    a = 3\n", TEXT.replace("1", "3")),
        ("@@ -90,9 +91,7 @@\n def f():\n-    a = 1\n+    a = 3\n", TEXT.replace("1", "3")),
        ("@@ @@\n def f():\n-    a = 1\n+    a = 3\n", TEXT.replace("1", "3")),
        ("@@ def g():\n-    return a\n+    return 5\n", TEXT[:-2] + "5\n"),
        ("@@ -70,2 +70,2 @@ def g():\n     a = 2\n-    return a\n+    return 5\n", TEXT[:-2] + "5\n"),
        ("@@ @@\n def f():  \n-    a = 1\t\n+    a = 3\n", TEXT.replace("1", "3")),
        (
            "@@ @@\n-a = 1\n-return a\n+if a:\n+    return 3\n",
            TEXT.replace("    a = 1\n    return a", "    if a:\n        return 3"),
        ),
        ("@@ @@\n     def f():\n-        a = 1\n+        a = 3\n", TEXT.replace("1", "3")),
        ("@@ -3,5 +3,5 @@\n # gone\n \n def f():\n-    a = 1\n+    a = 3\n     return a\n \n", TEXT.replace("1", "3")),
        ("@@ def g():\n+    b = 1\n", TEXT.replace("def g():\n", "def g():\n    b = 1\n")),
    ],
    ids=["named", "elsewhere", "no-numbers", "anchor", "heading", "spaces", "deeper", "less-deep", "context", "below"],
)
def test_a_hunk_is_taken_where_it_fits_at_one_place(body: str, expected: str) -> None:
    assert applied(TEXT, body) == expected


@pytest.mark.parametrize(
    ("body", "known", "why"),
    [
        ("@@ @@\n-    return a\n+    return 5\n", None, "its old lines stand at several places"),
        ("@@ -6 +6 @@\n-    return a\n+    return 5\n", False, "its old lines stand at several places"),
        ("@@ @@\n-    a = 7\n+    a = 3\n", None, "its old lines are not there"),
        ("@@ -5,0 +6 @@\n+    b = 1\n", None, "it has no line of context"),
        ("@@ -2 +1,0 @@\n-\n", None, "all its old lines are blank"),
        ("@@ def h():\n+    b = 1\n", None, "its @@ line is not there"),
        ("@@ def g():\n-    a = 1\n+    a = 3\n", None, "its old lines stand elsewhere than below its @@ line"),
        (
            "@@ -5,2 +5,2 @@\n-    a = 1\n-        return a\n+    b\n",
            None,
            "its old lines stand there with other indent",
        ),
        ("@@ -10,2 +10,2 @@\n     a = 2\n-    b\n+    return a  \n", None, "its old lines are not there"),
        (
            "@@ -10,2 +10,2 @@\n     a = 2\n-    b\n+    return a\n\\ No newline at end of file\n",
            None,
            "its old lines are not there",
        ),
    ],
)
def test_a_hunk_that_may_be_meant_elsewhere_is_not_taken(body: str, known: bool | None, why: str) -> None:
    assert applied(TEXT, body, known=known).startswith(why)  # type: ignore[union-attr]


def test_a_named_line_counts_if_the_file_is_the_one_that_the_diff_was_made_for() -> None:
    body = "@@ -11 +11 @@\n-    return a\n+    return 5\n"
    assert applied(TEXT, body, known=True) == applied(TEXT, body) == TEXT[:-2] + "5\n"
    assert applied(TEXT, "@@ -5,0 +6 @@\n+    b = 1\n", known=True) == TEXT.replace("1\n", "1\n    b = 1\n")


def test_hunks_that_change_the_same_lines_are_refused() -> None:
    body = "@@ -5 +5 @@\n-    a = 1\n+    a = 3\n@@ -4,2 +4,2 @@\n def f():\n-    a = 1\n+    a = 4\n"
    assert applied(TEXT, body) == "it changes the same lines as hunk 1"


@pytest.mark.parametrize(
    "body",
    [
        "@@ -5 +5 @@\n-    a = 0\n+    a = 1\n",
        "@@ @@\n def f():\n+    a = 1\n     return a\n",
        "@@ -10,2 +10,2 @@\n-    a = 2  \n+    a = 2\n     return a\n",
        "@@ -4,2 +4,2 @@\n def f():\n-  a = 1\n+    a = 1\n",
        "@@ -1,3 +1,2 @@\n import os\n-import sys\n \n \n def f():\n",
    ],
)
def test_a_hunk_whose_new_lines_stand_there_is_applied_already(body: str) -> None:
    (found,) = fitted(View(TEXT.encode(), hunks(body), python=True), hunks(body), known=None)
    assert isinstance(found, Applied)


@pytest.mark.parametrize(
    ("content", "body", "expected"),
    [
        (b"a\r\nb\r\nc\r\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", b"a\r\nx\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "@@ -1,3 +1,3 @@\n a\r\n-b\r\n+x\n c\r\n", b"a\r\nx\nc\r\n"),
        (b"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\r\n-b\r\n+x\r\n c\n", b"a\nx\nc\n"),
        (b"\xef\xbb\xbfa\nb\n", "@@ -1,2 +1,2 @@\n-a\n+x\n b\n", b"\xef\xbb\xbfx\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", "@@ -1,2 +1,2 @@\n-\ufeffa\n+x\n b\n", b"x\nb\n"),
        (b"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+x\n", b"a\nx\n"),
        (b"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", b"a\nb"),
        (b"a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", b"a\nb\nc\n"),
        (b"a\x0cb\x0b\nc\xe2\x80\xa8d\n", "@@ -2 +2 @@\n-c\u2028d\n+e\n", b"a\x0cb\x0b\ne\n"),
        ("ä\nb\n".encode("latin-1"), "@@ -1,2 +1,2 @@\n-ä\n+ö\n b\n", "ö\nb\n".encode("latin-1")),
        ("ä\nb\n".encode("latin-1"), "@@ -1,2 +1,2 @@\n-\udce4\n+\udcf6\n b\n", "ö\nb\n".encode("latin-1")),
        (b"", "@@ -0,0 +1 @@\n+a\n", b"a\n"),
    ],
)
def test_line_ends_marks_and_encodings_stay(content: bytes, body: str, expected: bytes) -> None:
    assert applied_bytes(content, body) == expected


def test_a_large_text_is_searched_in_a_moment() -> None:
    text = "x = 1\n" * 200_000 + "y = 2\n"
    body = "@@ @@\n" + " x = 1\n" * 2_000 + "-y = 2\n+y = 3\n"
    assert applied(text, body) == text.replace("2", "3")
