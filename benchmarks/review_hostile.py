"""What has to be seen in a browser of the review page under attack: text that is markup, other pages, the token.

- *markup*: names, reasons, goals, files, refusals and errors that are markup, in every view: no element is made of it,
  nothing runs, no request leaves;
- *elsewhere*: a page of another origin, which has even learned the token, sends, frames, loads and opens;
- *token*: a browser that was started by the private file; where the token is then, and where it is not;
- *sinks*: what the policy of the page lets a script do, had one got in;
- *halves*: a proposer whose name is no text can be decided about.

    python -m benchmarks.review_hostile [--only markup …] [--pictures FOLDER] [--chromium PATH]

Needs chromium, and playwright. Each step prints what it saw; the exit status is 1 where one does not hold.
"""

from __future__ import annotations

import http.server
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from playwright.sync_api import BrowserContext, Error, Page

from bae_source.adapters.web.opening import opened
from benchmarks.review_browser import Bench
from benchmarks.review_page import main

MARKUP = "<img src=http://127.0.0.1:9/leak onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
BREAKS = "\"'></script></style></title><svg onload=alert(1)><iframe srcdoc='<script>alert(1)</script>'></iframe>"
LINK = (
    "<a href=javascript:alert(1)>x</a><base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example>"
)
_MADE = """
() => {
  const tags = 'img, iframe, object, embed, svg, base, meta, style, link, script, frame, video, audio, template, math';
  const found = [...document.body.querySelectorAll(tags)].map((each) => each.outerHTML.slice(0, 80));
  for (const each of document.querySelectorAll('*')) {
    for (const { name, value } of each.attributes) {
      const runs = name.startsWith('on') || /^\\s*(javascript|data):/i.test(value);
      if (runs) found.push(`${each.tagName} ${name}=${value}`);
    }
  }
  if (document.title.includes('owned') || window.owned) found.push('it ran');
  return [...found, ...(window.violations ?? [])];
}
"""
_VIOLATIONS = """
window.violations = [];
addEventListener('securitypolicyviolation', (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


class Watched:
    """What leaves a browser while pages are open, and what opens."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.origin, _, self.token = address.partition("#")
        self.left: list[str] = []
        self.dialogs: list[str] = []
        self.headers: list[dict[str, str]] = []
        context.add_init_script(_VIOLATIONS)
        context.on("request", self._sent)
        context.on("dialog", self._dialog)

    def _sent(self, request: Any) -> None:
        self.headers.append({"url": request.url, **request.headers})
        if not request.url.startswith(self.origin):
            self.left.append(request.url)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def found(self, page: Page) -> list[str]:
        """Return what was made, ran or left, which has to be nothing."""
        return [*page.evaluate(_MADE), *self.left, *self.dialogs]


def markup(bench: Bench) -> None:
    """Look at all views of what is nothing but markup."""
    name = "<b onclick=alert(1)>&lt;x&gt;"
    root = bench.project(
        name,
        **{
            "src/app/<img src=x onerror=alert(1)>.txt": "one\n",
            "src/app/web.py": f"def page():\n    return {BREAKS!r}\n",
        },
    )
    who = f"bot {LINK}"
    file = ":src/app/<img src=x onerror=alert(1)>.txt"
    edits = [
        {
            "do": "edit",
            "target": "app.web.page",
            "new_source": f"def page():\n    # {LINK}\n    return {MARKUP + BREAKS!r}\n",
        },
        {"do": "edit", "target": "app.core.LIMIT", "old": "3", "new": f"4  # {MARKUP}"},
    ]
    answer = bench.ours(
        root, "apply", "-", "--propose", MARKUP + LINK, "--goal", BREAKS, given=json.dumps(edits), who=who
    )
    both = re.findall(r"code_mod_[0-9a-f]{8}", answer)[0]
    there = bench.ours(root, "edit", file, "--old", "one", "--new", MARKUP, "--propose", BREAKS, who=MARKUP)
    odd = re.findall(r"code_mod_[0-9a-f]{8}", there)[0]
    print("  saw:", there.splitlines()[0][:100])
    with bench.page(root) as (first, address, context):
        first.close()
        watched = Watched(context, address)
        page = context.new_page()
        page.on("pageerror", lambda error: bench.check("no script fails", str(error), ""))
        page.goto(address)
        page.wait_for_selector(".option")
        bench.check("queue", watched.found(page), [])
        for task in (both, odd):
            page.evaluate(f"location.hash = '#/task/{task}'")
            page.wait_for_selector(".change-top h1")
            page.wait_for_selector(".section .fold, .empty")
            bench.check(f"{task}", watched.found(page), [])
            bench.check("its text is there", "<img src=" in page.locator("main").inner_text())
            for key in ("a", "r"):
                page.keyboard.press(key)
                page.wait_for_selector("dialog")
                bench.check(f"the question of {key}", watched.found(page), [])
                page.keyboard.press("Escape")
                page.wait_for_selector("dialog", state="detached")
        _look_at(page, both)
        page.get_by_label("Take app.core.LIMIT").uncheck()
        page.keyboard.press("r")
        page.wait_for_selector("dialog textarea")
        page.locator("dialog textarea").fill(MARKUP + BREAKS)
        page.wait_for_selector("dialog .rejects:enabled")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".taken")
        bench.check("a refused part, its reason and the notice", watched.found(page), [])
        page.keyboard.press("a")
        page.wait_for_selector("dialog .approves:enabled")
        page.keyboard.press("Enter")
        page.locator(".notice", has_text="Applied").first.wait_for()
        _look_at(page, both)
        page.wait_for_selector(".banner.holds")
        bench.check("what was applied", watched.found(page), [])
        for target in (
            "#/history",
            "#/ledger",
            f"#/task/{MARKUP}",
            f"#/group/{LINK}/{BREAKS}",
            f"#/{LINK}",
            "#/task/%00",
        ):
            page.evaluate(f"location.hash = {json.dumps(target)}")
            page.wait_for_timeout(400)
            bench.check(f"{target[:20]}", watched.found(page), [])
        for state in ("all", "applied"):
            page.evaluate("location.hash = '#/'")
            page.locator("select").first.select_option(state)
            page.wait_for_timeout(300)
            bench.check(f"queue of {state}", watched.found(page), [])
        urls = "".join(each["url"] + each.get("referer", "") for each in watched.headers)
        bench.check("the token is in no address and no referrer", watched.token in urls, False)


def _look_at(page: Page, task: str) -> None:
    page.evaluate(f"location.hash = '#/task/{task}'")
    page.wait_for_selector(".section .fold")


@contextmanager
def _elsewhere(host: str) -> Iterator[tuple[str, list[str]]]:
    """Serve empty pages on another origin, and keep what is sent there."""
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><h1>Evil</h1>")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://{host}:{server.server_port}/", seen
        finally:
            server.shutdown()


_ATTACKS = """
async ([origin, token, task, digest]) => {
  const found = {};
  const path = `${origin}api/v1/tasks/${task}/approve`;
  const body = JSON.stringify({ digest, reason: '' });
  const answered = async (name, options, where = path) => {
    try {
      const answer = await fetch(where, options);
      found[name] = answer.type === 'opaque' ? 'opaque' : `answered ${answer.status}`;
    } catch { found[name] = 'refused'; }
  };
  const headers = { Authorization: `Bearer ${token}` };
  const own = { ...headers, 'Content-Type': 'application/json' };
  await answered('with the token', { method: 'POST', body, headers: own });
  await answered('simple', { method: 'POST', body, mode: 'no-cors', headers: { 'Content-Type': 'text/plain' } });
  await answered('reading', { headers }, `${origin}api/v1/tasks`);
  await answered('the page', { mode: 'no-cors' }, origin);
  found.beacon = String(navigator.sendBeacon(path, new Blob([body], { type: 'application/json' })));
  const loaded = (tag, attributes) => new Promise((done) => {
    const element = document.createElement(tag);
    element.onload = () => done('loaded');
    element.onerror = () => done('refused');
    Object.assign(element, attributes);
    document.body.append(element);
    setTimeout(() => done('nothing'), 3000);
  });
  found.script = await loaded('script', { src: `${origin}page.js`, type: 'module' });
  found.style = await loaded('link', { href: `${origin}page.css`, rel: 'stylesheet' });
  await loaded('iframe', { src: `${origin}#${token}`, id: 'frame' });
  const form = document.createElement('form');
  Object.assign(form, { action: path, method: 'POST', enctype: 'text/plain', target: 'out' });
  const sink = document.createElement('iframe');
  sink.name = 'out';
  const field = document.createElement('input');
  field.name = body.slice(0, -1) + ',"x":"';
  field.value = '"}';
  form.append(field);
  document.body.append(sink, form);
  form.submit();
  const other = open(`${origin}#${token}`);
  await new Promise((go) => setTimeout(go, 1500));
  found.opened = 'closed to it';
  try { if (other && !other.closed) found.opened = String(other.document.title); } catch { /* it is */ }
  return found;
}
"""


def elsewhere(bench: Bench) -> None:
    """Attack from another origin: of another site, and of this machine."""
    root = bench.project("elsewhere")
    task = bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "More.")
    digest = re.findall(r"digest: (\S+)", bench.ours(root, "show", task))[0]
    before = (root / "src/app/core.py").read_text()
    with bench.page(root) as (_, address, context):
        origin, _, token = address.partition("#")
        for host in ("127.0.0.1", "localhost"):
            with _elsewhere(host) as (evil, seen):
                page = context.new_page()
                page.goto(evil)
                found = page.evaluate(_ATTACKS, [origin, token, task, digest])
                print("  saw:", found)
                for name in ("with the token", "reading"):
                    bench.check(f"{host}: {name}", found[name], "refused")
                for name in ("script", "style"):
                    bench.check(f"{host}: {name}", found[name], "refused")
                bench.check(f"{host}: what it opened is closed to it", found["opened"], "closed to it")
                texts = []
                for frame in page.frames[1:]:
                    with suppress(Error):
                        texts.append(frame.evaluate("document.body ? document.body.innerText : ''"))
                bench.check(
                    f"{host}: no frame shows the page",
                    [each for each in texts if "LIMIT" in each or "Queue" in each],
                    [],
                )
                bench.check(
                    f"{host}: nothing was sent there", [each for each in seen if token in each or task in each], []
                )
                page.close()
        bench.check("nothing was decided", "waits for approval" in bench.ours(root, "show", task))
        bench.check("nothing was written", (root / "src/app/core.py").read_text(), before)


def token(bench: Bench) -> None:
    """Start a browser by the file that leads to the page."""
    root = bench.project("token")
    bench.proposes(root, "app.core.LIMIT", "LIMIT = 5\n", "More.")
    home = Path(bench.environment["HOME"])
    with bench.page(root) as (first, address, context):
        first.close()
        watched = Watched(context, address)
        with patch.dict(os.environ, {"HOME": str(home), "BROWSER": "/bin/true"}), opened(address):
            [leads] = home.glob("bae-source-review-*.html")
            page = context.new_page()
            page.goto(leads.as_uri())
            page.wait_for_selector(".option")
        bench.check("the file is gone", [*home.glob("bae-source-review-*")], [])
        where = page.evaluate(
            """() => ({
              address: location.href, title: document.title, referrer: document.referrer, cookie: document.cookie,
              kept: JSON.stringify(localStorage), text: document.documentElement.outerHTML, name: window.name,
              state: JSON.stringify(history.state),
            })"""
        )
        bench.check("the token is not in", [name for name, text in where.items() if watched.token in text], [])
        bench.check("it is in this tab alone", page.evaluate("JSON.stringify(sessionStorage)").count(watched.token), 1)
        other = context.new_page()
        other.goto(watched.origin)
        other.wait_for_selector(".outside h1")
        bench.check("another tab has none", other.evaluate("sessionStorage.length"), 0)
        sent = [
            each for each in watched.headers if watched.token in each["url"].partition("#")[0] + each.get("referer", "")
        ]
        bench.check("no request line or referrer has it", sent, [])
        page.evaluate("sessionStorage.setItem('token', 'x'.repeat(43)); location.reload()")
        page.wait_for_selector(".outside h1")
        bench.check("a wrong one shows nothing", "LIMIT" in page.locator("body").inner_text(), False)


_SINKS = """
() => new Promise((done) => setTimeout(() => {
  const found = {};
  const tried = (name, does) => { try { does(); found[name] = 'done'; } catch { found[name] = 'refused'; } };
  tried('innerHTML', () => { document.createElement('p').innerHTML = '<b>x</b>'; });
  tried('eval', () => (0, eval)('window.owned = 1'));
  tried('Function', () => new Function('window.owned = 1')());
  tried('policy', () => trustedTypes.createPolicy('default', { createHTML: (text) => text }));
  tried('worker', () => new Worker('page.js'));
  tried('script', () => {
    const one = document.createElement('script');
    one.text = 'window.owned = 1';
    document.body.append(one);
  });
  const style = document.createElement('style');
  style.textContent = 'body { display: none }';
  document.body.append(style);
  found.style = getComputedStyle(document.body).display === 'none' ? 'done' : 'refused';
  style.remove();
  found.owned = window.owned ? 'done' : 'refused';
  done(found);
}))
"""


_SUBMITS = """
(url) => {
  const one = document.createElement('form');
  one.action = url;
  document.body.append(one);
  one.submit();
}
"""


def sinks(bench: Bench) -> None:
    """Do as a script would that had got in."""
    root = bench.project("sinks")
    with bench.page(root) as (first, address, context):
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(".empty:visible")
        first.close()
        found = page.evaluate(_SINKS)
        bench.check("each is refused", [name for name, came in found.items() if came != "refused"], [])
        with _elsewhere("127.0.0.1") as (evil, seen):
            page.evaluate("(url) => fetch(url, { mode: 'no-cors' }).catch(() => 0)", evil)
            page.evaluate("(url) => { const one = new Image(); one.src = url; }", evil)
            page.evaluate(_SUBMITS, evil)
            page.wait_for_timeout(500)
            bench.check("nothing leaves", seen, [])


def halves(bench: Bench) -> None:
    """Open what a proposer whose name is no text has proposed."""
    root = bench.project("halves")
    who = os.fsdecode(b"bot\xff")
    for name, words in (("send", "Send it."), ("greet", "Greet them.")):
        source = (root / "src/app/core.py").read_text()
        found = re.search(rf"def {name}.*?(?=\n\n\n|\Z)", source, re.S)
        assert found is not None
        bench.proposes(root, f"app.core.{name}", re.sub('""".*?"""', f'"""{words}"""', found[0]), "words", who=who)
    with bench.page(root) as (page, _, _):
        page.wait_for_selector(".option")
        page.click(".option")
        page.wait_for_selector(".member")
        bench.check("both are listed", page.locator(".member").count(), 2)
        print("  saw:", page.locator("h1").inner_text())


STEPS: dict[str, Callable[[Bench], None]] = {
    "markup": markup,
    "elsewhere": elsewhere,
    "token": token,
    "sinks": sinks,
    "halves": halves,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], STEPS, __doc__))
