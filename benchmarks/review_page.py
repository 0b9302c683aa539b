"""The review page, driven in headless chromium as a person would, against a project whose agents propose changes.

- *keys*: opened by the printed address; a change is approved by the keyboard, and undone;
- *parts*: one symbol of three is refused with a reason, and the rest approved under its new digest;
- *stale*: a file changes while its change is read; nothing can be pressed until it is planned anew;
- *tabs*: what is decided in one shows in the other, and who presses second is told;
- *alike*: changes of comments are listed, and approved by one decision, each by its own digest;
- *hostile*: source, reasons and names that look like markup, or reorder a line, are shown as they are;
- *busy*: while an approval runs tests, the page stays usable;
- *long*: a diff of 5,000 lines is all there, and can be used; *many*: 10,000 proposals, first paint and scrolling;
- *looks*: phone width, dark and light; nothing is wider than the screen, all text has the contrast that AA wants.

    python -m benchmarks.review_page [--only keys --only tabs …] [--pictures FOLDER] [--chromium PATH]

Needs chromium, and playwright. Each step prints what it saw; the exit status is 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from playwright.sync_api import Page, sync_playwright

from bae_source.adapters.cli.streams import visible
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from benchmarks.review_browser import CONTRAST, Bench, scrolled

FIRST_PAINT = 1.0
"""Seconds from the address to the first rows of 10,000."""
_ESCAPED = """
async (codes) => {
  const { visible } = await import('./text.js');
  return codes.map((code) => visible(String.fromCodePoint(code)));
}
"""
MANY = 10_000
LONG = 5_000
_SEND = '''\
def send(text, to, limit=LIMIT):
    """Send a text, and try again."""
    for attempt in range(limit):
        if _post(text, to):
            return True
        print(f"attempt {attempt} of {limit} failed")
    return False
'''
_HOSTILE = '''\
def page(name):
    """<img src=x onerror="document.title = 'owned'">"""
    kind = "user\u202e\u2066// admin\u2069\u2066"
    return f"<script>document.title = 'owned'</script><b>{name}</b>{kind}</code></div>"
'''
_SLOW = """\
import time

from app.core import greet


def test_slowly():
    time.sleep(6)
    assert greet("ana")
"""
_LEAKS = """
document.title.includes('owned') || document.querySelectorAll('#main script, #main img, #main b b').length > 0
"""


def _open(page: Page, task: str) -> None:
    page.evaluate(f"location.hash = '#/task/{task}'")
    page.wait_for_selector(".change-top h1")
    page.wait_for_function(f"() => document.querySelector('.digest') && location.hash.endsWith('{task}')")


def _approve(page: Page) -> None:
    """Approve what is shown, by the keyboard."""
    page.keyboard.press("a")
    page.wait_for_selector("dialog .approves:enabled")
    page.keyboard.press("Enter")


def _notice(page: Page, text: str) -> str:
    """Wait for a message, and return it."""
    place = page.locator(".notice", has_text=text).first
    place.wait_for()
    return place.locator("p").first.inner_text()


def _reviewed(page: Page) -> str:
    """Return how much of what is shown is marked as reviewed."""
    return page.locator(".tools [role=status]").inner_text()


def keys(bench: Bench) -> None:
    """Approve and undo by the keyboard."""
    root = bench.project("keys")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few.")
    with bench.page(root) as (page, address, _):
        page.wait_for_selector(".option")
        there = page.evaluate("location.href")
        bench.check("the token leaves the address bar", there, f"{address.partition('#')[0]}#/")
        page.keyboard.press("?")
        bench.check("the keys are told", page.locator("dialog .keys dt").count() >= 10)
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("o")
        page.wait_for_selector(".section .symbol")
        bench.check("a symbol heads it", page.locator(".section .symbol").all_inner_texts(), ["app.core.LIMIT"])
        page.keyboard.press("a")
        words = page.locator("dialog .words").inner_text()
        bench.check("the scope is in words", words, "Approves exactly this: 1 symbol in 1 file, nothing else, once.")
        page.keyboard.press("Escape")
        bench.check("Escape decides nothing", "LIMIT = 3" in (root / "src/app/core.py").read_text())
        _approve(page)
        print("  saw:", _notice(page, "Applied"))
        bench.check("it is made", "LIMIT = 5" in (root / "src/app/core.py").read_text())
        page.wait_for_selector(".empty:visible")
        page.keyboard.press("u")
        page.wait_for_selector("dialog .rejects:enabled")
        page.keyboard.press("Enter")
        print("  saw:", _notice(page, "Undid"))
        bench.check("it is undone", "LIMIT = 3" in (root / "src/app/core.py").read_text())
        page.click("nav a[data-view=ledger]")
        page.wait_for_selector(".banner.holds")
        bench.check("the chain holds", page.locator(".entry").count() >= 3)
        page.click("nav a[data-view=history]")
        page.wait_for_selector(".operation")
        bench.check("the history has both", page.locator(".operation").count(), 2)
        page.reload()
        page.wait_for_selector(".operation")
        bench.check("a reload keeps the tab's token", page.locator(".operation").count(), 2)


def without_token(bench: Bench) -> None:
    """Open the page without the token."""
    root = bench.project("outside")
    with bench.page(root) as (_, address, context):
        page = context.browser.new_context().new_page() if context.browser else context.new_page()
        page.goto(address.partition("#")[0])
        page.wait_for_selector(".outside h1")
        print("  saw:", page.locator("h1").inner_text())
        bench.check("nothing of the project is shown", root.name in page.locator("body").inner_text(), False)


def parts(bench: Bench) -> None:
    """Refuse one symbol of three."""
    root = bench.project("parts")
    edits = (("LIMIT", "3", "9"), ("_post", "bool(text) and bool(to)", "bool(text and to)"), ("greet", "Hello", "Hi"))
    requests = json.dumps([{"do": "edit", "target": f"app.core.{n}", "old": old, "new": new} for n, old, new in edits])
    answer = bench.ours(root, "apply", "-", "--propose", "three at once", given=requests)
    task = re.findall(r"code_mod_[0-9a-f]{8}", answer)[0]
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, task)
        page.wait_for_selector(".section")
        bench.check("three symbols", page.locator(".section").count(), 3)
        before = page.locator(".change-top .digest").inner_text()
        for name in ("app.core._post", "app.core.greet"):
            page.get_by_label(f"Reviewed {name}").check()
        page.get_by_label("Take app.core.LIMIT").uncheck()
        bench.check("nothing can be approved with it", page.locator(".actions .approves").count(), 0)
        page.keyboard.press("r")
        page.wait_for_selector("dialog textarea")
        bench.check("a reason is needed", page.locator("dialog .rejects").is_disabled())
        page.keyboard.type("It stays at 3.")
        page.wait_for_selector("dialog .rejects:enabled")
        page.keyboard.press("Control+Enter")
        print("  saw:", _notice(page, "Took app.core.LIMIT out"))
        page.wait_for_function("() => document.querySelectorAll('.section').length === 2")
        bench.check("the rest has another digest", page.locator(".change-top .digest").inner_text() != before)
        bench.check("what was reviewed still is", _reviewed(page), "Reviewed 2 of 2 sections")
        bench.check("the refusal is shown", "It stays at 3." in page.locator(".taken").inner_text())
        _approve(page)
        _notice(page, "Applied")
        text = (root / "src/app/core.py").read_text()
        made = [each in text for each in ("LIMIT = 3", "text and to", "Hi {name}")]
        bench.check("two are made, and one is not", made, [True] * 3)
        bench.check("the proposer is told why", "It stays at 3." in bench.ours(root, "wait", task, "--seconds", "1"))


def stale(bench: Bench) -> None:
    """Have a file change while its change is read."""
    root = bench.project("stale")
    task = bench.proposes(root, "app.core.send", _SEND, "Retry.")
    core = root / "src/app/core.py"
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, task)
        page.get_by_label("Reviewed app.core.send").check()
        page.keyboard.press("a")
        page.wait_for_selector("dialog .approves:enabled")
        core.write_text(core.read_text().replace("PAUSE = 1", "PAUSE = 2"))
        page.wait_for_selector("dialog .problem:not(:empty)")
        print("  saw:", page.locator("dialog .problem").inner_text())
        bench.check("the button is off", page.locator("dialog .approves").is_disabled())
        page.keyboard.press("Escape")
        bench.check("the page says so, too", "Stale" in page.locator(".banner").inner_text())
        bench.check("there is nothing to approve by", page.locator(".actions .approves").count(), 0)
        bench.check("the receipts are old", page.locator(".receipt.old").count() >= 1)
        page.keyboard.press("p")
        page.wait_for_selector(".actions .approves")
        bench.check("what did not change is reviewed still", _reviewed(page), "Reviewed 1 of 1 section")
        core.write_text(core.read_text().replace("    return False", "    return None"))
        page.wait_for_selector(".banner.warns")
        page.click(".actions button:has-text('Plan anew')")
        page.wait_for_selector(".actions .approves")
        bench.check("what changed since is not", page.locator(".state.stale:has-text('changed since')").count(), 1)
        bench.check("nor marked", _reviewed(page), "Reviewed 0 of 1 section")
        _approve(page)
        _notice(page, "Applied")
        bench.check("both are in the file", all(each in core.read_text() for each in ("PAUSE = 2", "limit=LIMIT")))


def tabs(bench: Bench) -> None:
    """Decide in one tab what another one shows."""
    root = bench.project("tabs")
    task = bench.proposes(root, "app.core.LIMIT", "LIMIT = 6\n", "More.")
    with bench.page(root) as (page, address, context):
        other = bench.tab(context, address)
        for each in (page, other):
            each.wait_for_selector(".option")
            _open(each, task)
        other.keyboard.press("a")
        other.wait_for_selector("dialog .approves:enabled")
        _approve(page)
        other.wait_for_selector("dialog .problem:not(:empty)")
        print("  saw:", other.locator("dialog .problem").inner_text())
        bench.check("the second cannot press", other.locator("dialog .approves").is_disabled())
        other.keyboard.press("Escape")
        other.wait_for_selector(".banner.holds")
        print("  saw:", other.locator(".banner").inner_text())
        again = other.evaluate(
            """async (task) => {
              const token = sessionStorage.getItem('token');
              const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
              const body = JSON.stringify({ digest: 'x', reason: '' });
              const answer = await fetch(`api/v1/tasks/${task}/approve`, { method: 'POST', body, headers });
              return [answer.status, (await answer.json()).error.code];
            }""",
            task,
        )
        bench.check("a press that comes second is refused", again, [409, "proposal_closed"])
        history = bench.ours(root, "history", "--json")
        bench.check("it was made once", history.count("Edited app.core.LIMIT"), 1)


def alike(bench: Bench) -> None:
    """Approve changes of comments by one decision; one of three is of a file that another one changes first."""
    function = 'def {0}():\n    """{1}"""\n    return 1\n'
    modules = {name: f'"""A module."""\n\n\n{function.format(name, "Do.")}' for name in ("one", "two")}
    root = bench.project("alike", **{f"src/app/{name}.py": text for name, text in modules.items()})
    for module, name in (("one", "one"), ("two", "two")):
        bench.proposes(root, f"app.{module}.{name}", function.format(name, "Do what is to be done."), "clearer words")
    bench.proposes(root, "app.one@docstring", '"""One."""\n', "clearer words")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 7\n", "More.")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option.group")
        risks = page.locator(".option .risk").evaluate_all("all => all.map((each) => each.lastChild.data)")
        bench.check("three that are alike are one row, the riskier first", risks, ["medium", "low"])
        print("  saw:", page.locator(".option.group .summary").inner_text())
        page.click(".option.group")
        page.wait_for_selector(".member")
        bench.check("each is listed", page.locator(".member").count(), 3)
        page.locator(".member button").first.click()
        page.wait_for_selector(".inner .row")
        bench.picture(page, "alike")
        page.keyboard.press("a")
        page.wait_for_selector("dialog .approves:enabled")
        print("  saw:", page.locator("dialog .words").inner_text())
        page.keyboard.press("Enter")
        print("  saw:", _notice(page, "applied"))
        texts = [(root / f"src/app/{name}.py").read_text() for name in ("one", "two", "core")]
        made = ["to be done" in texts[0], "One." in texts[0], "to be done" in texts[1], "LIMIT = 3" in texts[2]]
        bench.check("two are made; what they made stale is not, nor anything else", made, [True, False, True, True])
        page.wait_for_function("() => document.querySelectorAll('.option').length === 2")


def hostile(bench: Bench) -> None:
    """Show what looks like markup, or reorders a line."""
    root = bench.project("hostile", **{"src/app/web.py": "def page(name):\n    return name\n"})
    reason = "<img src=x onerror=\"document.title='owned'\"> \u202eevil\u202c Verified: all checks passed."
    task = bench.proposes(root, "app.web.page", _HOSTILE, reason, who="<b>bot</b>")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        bench.check("the queue shows it as text", "<img src=x" in page.locator(".option q").inner_text())
        bench.check("and the override as an escape", "\\u202e" in page.locator(".option q").inner_text())
        _open(page, task)
        page.wait_for_selector(".row")
        code = page.locator(".section-body").inner_text()
        bench.check("source is text", "<script>document.title = 'owned'</script><b>{name}</b>" in code)
        bench.check("overrides in source are marked", page.locator(".section .hidden-character").count(), 4)
        bench.check("the claim is one", "Claimed by <b>bot</b>, not checked" in page.locator(".claim").inner_text())
        codes = [code for code in range(0x110000) if visible(chr(code)) != chr(code)]
        shown = page.evaluate(_ESCAPED, codes)
        bench.check(
            f"{len(codes):,} characters are escaped as a terminal has them", shown, [visible(chr(c)) for c in codes]
        )
        bench.check("nothing of it was run, or became markup", page.evaluate(_LEAKS), False)
        bench.picture(page, "hostile")


def busy(bench: Bench) -> None:
    """Read on while an approval runs tests."""
    root = bench.project("busy", **{"tests/test_core.py": _SLOW})
    greet = 'def greet(name):\n    return send(f"Hi {name}", name)\n'
    first = bench.proposes(root, "app.core.greet", greet, "shorter", "--verify", "tests")
    second = bench.proposes(root, "app.core.LIMIT", "LIMIT = 8\n", "More.")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        _open(page, first)
        _approve(page)
        page.wait_for_selector(".running:visible")
        _open(page, second)
        begun = time.perf_counter()
        page.get_by_label("Reviewed app.core.LIMIT").check()
        page.keyboard.press("s")
        page.wait_for_selector(".lines.split, .section.done")
        bench.check("another change is read meanwhile", time.perf_counter() - begun < 2)
        bench.check("and what runs is shown", page.locator(".running").is_visible())
        print("  saw:", page.locator(".running").inner_text().replace("\n", " "))
        page.evaluate(f"location.hash = '#/task/{first}'")
        page.wait_for_selector(".banner.works")
        print("  saw:", page.locator(".banner").inner_text())
        page.wait_for_selector(".banner.holds")
        bench.check("it ends by itself", page.locator(".running").is_visible(), False)


def long(bench: Bench) -> None:
    """Read a diff of thousands of lines."""
    root = bench.project("long")
    rows = "".join(f"    table[{number}] = compute({number}, 'row <{number}>')\n" for number in range(LONG - 3))
    task = bench.proposes(root, "app.core.greet", f"def greet(table, compute):\n{rows}    return table\n", "a table")
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        begun = time.perf_counter()
        _open(page, task)
        page.wait_for_selector(".section .fold")
        print(f"  saw: the headings after {time.perf_counter() - begun:.2f} s")
        sections = page.locator(".section .fold[aria-expanded=false]")
        bench.check("the long one is folded, and there", sections.count() >= 1)
        begun = time.perf_counter()
        sections.first.click()
        page.wait_for_selector(".section-body .row")
        taken = time.perf_counter() - begun
        bench.check(f"it opens at once ({taken:.2f} s)", taken < 1)
        page.keyboard.press("v")
        page.keyboard.press("v")
        page.wait_for_function(f"() => document.querySelectorAll('.row.added').length >= {LONG - 3}")
        print(f"  saw: all lines, after {time.perf_counter() - begun:.1f} s")
        scrolled(bench, page, "")
        begun = time.perf_counter()
        page.keyboard.press("s")
        page.wait_for_selector(".lines.split .row")
        bench.check(f"side by side ({time.perf_counter() - begun:.2f} s)", time.perf_counter() - begun < 2)


def many(bench: Bench) -> None:
    """Show ten thousand proposals."""
    root = bench.project("many")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few when the server restarts.")
    bench.proposes(root, "app.core.send", _SEND, "Retry as often as the caller wants.")
    plans = Plans(StateFolders(root, UserState(bench.environment)))
    patterns = [plans.get(each.id) for each in plans.listed()]
    begun = time.perf_counter()
    made = [_alike(patterns[number % len(patterns)], number) for number in range(MANY - len(patterns))]

    def adding(connection: Any) -> None:
        for each in made:
            plans.insert(connection, each)  # one by one, each on the disk, takes minutes

    plans._file.write(adding)  # noqa: SLF001
    print(f"  {MANY:,} proposals are there after {time.perf_counter() - begun:.0f} s")
    with bench.page(root) as (page, address, context):
        page.wait_for_selector(".option")
        everything = f"() => document.querySelector('.total').textContent.includes('{MANY:,}')"
        page.wait_for_function(everything)
        taken = []
        for _ in range(5):
            other = context.new_page()
            begun = time.perf_counter()
            other.goto(address)
            other.wait_for_selector(".option")
            taken.append(time.perf_counter() - begun)
            other.wait_for_function(everything)
            other.close()
        middle = sorted(taken)[2]
        bench.check(f"first paint: {middle:.2f} s (of 5: {min(taken):.2f} to {max(taken):.2f})", middle < FIRST_PAINT)
        bench.check("no row is missing on the way", scrolled(bench, page, "list")["empty"], 0)
        bench.check("few rows are in the document", page.locator(".option").count() < 80)
        page.keyboard.press("/")
        begun = time.perf_counter()
        page.keyboard.type("translator")
        page.wait_for_function("() => document.querySelector('.total').textContent.includes(' of ')")
        print(f"  saw: {page.locator('.total').inner_text()} after {time.perf_counter() - begun:.2f} s")
        bench.picture(page, "many")


def _alike(pattern: Proposal, number: int) -> Proposal:
    """Return a proposal like another one, by one of three, of one of three levels."""
    risk = replace(pattern.risk, level=("low", "medium", "high", "low")[number % 4])
    who = ("bot", "mender", "translator")[number % 3]
    return replace(pattern, id=f"code_mod_{number:08x}", who=who, risk=risk, digest=f"{number:064x}")


def appearance(bench: Bench) -> None:
    """Look at widths, colours and contrast."""
    root = bench.project("looks")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "Three attempts are too few when the mail server restarts.")
    greet = 'def greet(name, language):\n    """Greet someone."""\n    return send(f"Hello {name}", name)\n'
    bench.proposes(root, "app.core.greet", greet, "Greetings are to be translated.", who="translator")
    for name, text in (("send", "Send a text to someone."), ("greet", "Greet someone by name.")):
        bench.proposes(root, f"app.core.{name}@docstring", f'"""{text}"""\n', "Say it in full.", who="scribe")
    reason = "Retry as often as the caller wants; the mail team asked for it."
    task = bench.proposes(root, "app.core.send", _SEND, reason)
    for scheme in ("light", "dark"):
        for width, height in ((1280, 800), (390, 844)):
            name = f"{scheme} {width}"
            with bench.page(root, color_scheme=scheme, viewport={"width": width, "height": height}) as (page, _, _):
                page.wait_for_selector(".option")
                for view in ("queue", "change", "refused", "question", "ledger"):
                    if view == "change":
                        _open(page, task)
                        page.wait_for_selector(".row")
                    elif view == "refused":
                        page.keyboard.press("x")
                        page.wait_for_selector(".section.refused")
                    elif view == "question":
                        page.keyboard.press("x")
                        page.keyboard.press("a")
                        page.wait_for_selector("dialog .approves:enabled")
                    elif view == "ledger":
                        page.keyboard.press("Escape")
                        page.evaluate("location.hash = '#/ledger'")
                        page.wait_for_selector(".entry")
                    bench.picture(page, f"{view}-{width}-{scheme}")
                    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    bench.check(f"{name}, {view}: nothing is wider than the screen", wide <= 0)
                    bench.check(f"{name}, {view}: contrast", page.evaluate(CONTRAST), [])


STEPS: dict[str, Callable[[Bench], None]] = {
    "keys": keys,
    "outside": without_token,
    "parts": parts,
    "stale": stale,
    "tabs": tabs,
    "alike": alike,
    "hostile": hostile,
    "busy": busy,
    "long": long,
    "looks": appearance,
    "many": many,
}


def main(
    arguments: Sequence[str], steps: Mapping[str, Callable[[Bench], None]] = STEPS, about: str | None = __doc__
) -> int:
    """Take steps, and return the exit status."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--only", action="append", choices=steps, default=[])
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    given = parser.parse_args(arguments)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        bench = Bench(Path(os.path.realpath(folder)), browser, given.pictures)
        for name in given.only or steps:
            print(name)
            try:
                steps[name](bench)
            except Exception as error:  # noqa: BLE001 - the other steps are taken all the same
                bench.check(f"{name} ends", f"{type(error).__name__}: {error}", "")
        browser.close()
    print("all holds" if not bench.differ else f"{bench.differ} differ")
    return 1 if bench.differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
