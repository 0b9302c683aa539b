// One proposal: what it changes, by symbol; what the engine found out; what its proposer claims; and the decision.

import { pathOf, read } from "./api.js";
import { askApprove, askExpire, askReject, askUndo, disarm, dismiss, renew, scope, underWay } from "./deciding.js";
import { lines } from "./diff.js";
import { mark, marked } from "./marks.js";
import { beside } from "./queue.js";
import { ago, counted, el, fill, lasting, line, listed } from "./text.js";

const OPEN_LINES = 2000; // lines that are open at first; the sections behind them are folded, and there
const LONG = 400; // lines of a section that is folded at first
const CLAIM = 600; // characters of a claim that are open at first
const STATES = {
  awaiting_approval: "waits",
  approved: "approved, not made yet",
  applied: "applied",
  rejected: "rejected",
  stale: "stale",
  failed: "failed",
  expired: "expired",
};
const RESULTS = { passed: "passed", failed: "failed", failed_before: "failed without the change, too", not_run: "not run" };
const SPLIT = "split";

function isSplit() {
  return localStorage.getItem(SPLIT) === "yes" && matchMedia("(min-width: 48rem)").matches;
}

/** Put the diff of a proposal into an element, to be read alone. */
export async function diffInto(place, entry) {
  const task = await read(pathOf(entry.task_id));
  if (task.digest !== entry.digest || task.stale) return fill(place, el("p", { class: "banner warns" }, "Files have changed since; open it to see what it comes to now."));
  return fill(place, task.files.map((file) => [el("p", { class: "file" }, line(file.name)), file.sections.map((each) => [el("p", { class: "symbol" }, line(each.symbol)), lines(each.rows, false)])]));
}

/** Return the view of one proposal. */
export function changeView(main, id, leave) {
  let task = null;
  let asked = ""; // the state in which a question was asked
  let seen = null; // digests of sections that were shown before it was planned anew
  let current = 0;
  const refused = new Set();
  const folded = new Map(); // by digest, where the person said so
  const fresh = new Set();
  const top = el("div", { class: "change-top" });
  const side = el("aside", { class: "facts", "aria-label": "Facts and claims" });
  const body = el("div", { class: "files" });
  const tools = el("div", { class: "tools" });
  const bar = el("div", { class: "actions", role: "region", "aria-label": "Decision" });
  fill(main, el("div", { class: "change" }, top, el("div", { class: "columns" }, el("div", { class: "diff" }, tools, body), side), bar));

  const sections = () => task.files.flatMap((file) => file.sections);
  const isAll = () => refused.size > 0 && sections().every((each) => refused.has(each.symbol));
  const isOpen = () => ["awaiting_approval", "stale", "failed"].includes(task.state);
  const unreviewed = () => {
    const marks = marked(task.task_id);
    return sections().filter((each) => !marks.has(each.digest)).length;
  };

  function drawTop() {
    const state = task.stale && task.state === "awaiting_approval" ? "stale" : task.state;
    const heading = el("h1", { tabindex: "-1" }, line(task.summary));
    const before = top.querySelector("h1") === document.activeElement;
    fill(
      top,
      el(
        "p",
        { class: "crumbs" },
        el("a", { href: "#/" }, "‹ Queue"),
        el("span", { class: "steps" }, [-1, 1].map((step) => {
          const other = beside(task.task_id, step);
          return other && el("a", { href: `#/task/${encodeURIComponent(other.task_id)}`, title: step < 0 ? "Previous proposal ([)" : "Next proposal (])" }, step < 0 ? "previous" : "next");
        })),
      ),
      heading,
      el(
        "p",
        { class: "line" },
        el("span", { class: `risk ${["low", "medium", "high"].includes(task.risk.level) ? task.risk.level : "high"}` }, `${line(task.risk.level)} risk`),
        el("span", { class: `state ${state}` }, STATES[state] ?? line(state)),
        el("span", {}, "by ", el("b", {}, line(task.who))),
        el("span", {}, "proposed ", ago(task.at)),
        el("span", {}, counted(task.symbols.length, "symbol"), " in ", counted(task.files.length, "file")),
        el("span", { class: "plus" }, `+${task.risk.counts.lines_added ?? 0}`),
        el("span", { class: "minus" }, `−${task.risk.counts.lines_removed ?? 0}`),
        el("code", { class: "digest", title: `digest ${task.digest}` }, task.digest.slice(0, 12)),
      ),
      banner(),
    );
    if (before) heading.focus();
  }

  function banner() {
    const making = underWay(task.task_id);
    const by = task.decided_by ? ` by ${line(task.decided_by)}` : "";
    const why = task.decision ? `: ${line(task.decision)}` : ".";
    const at = task.decided_at && [" ", ago(task.decided_at)];
    if (making) return el("p", { class: "banner works", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), `${making.label}. Its checks run; it shows here when it is done.`);
    if (task.state === "approved") return el("p", { class: "banner works", role: "status" }, `Approved${by}`, at, ". It is being made: its checks run. ", el("button", { type: "button", class: "plain", click: () => question(() => askApprove(task, unreviewed())) }, "Carry on, if that was interrupted"));
    if (task.state === "applied") return el("p", { class: "banner holds", role: "status" }, `Applied as ${task.operation_id}, approved${by}`, at, task.decision && why, " ", el("button", { type: "button", class: "plain", click: () => view.undo() }, "Undo"));
    if (task.state === "rejected") return el("p", { class: "banner broken", role: "status" }, `Rejected${by}`, at, why);
    if (task.state === "expired") return el("p", { class: "banner", role: "status" }, `Expired${by}`, at, why);
    if (task.state === "failed") return el("p", { class: "banner broken", role: "alert" }, el("b", {}, "Approved, and failed; nothing was written. "), line(task.note), " ", anew());
    if (task.stale) return el("p", { class: "banner warns", role: "alert" }, el("b", {}, "Stale: files have changed since it was planned. "), "It cannot be approved as it stands. ", task.state === "stale" && task.note && line(task.note), " ", anew());
    return task.note && el("p", { class: "banner", role: "status" }, line(task.note), fresh.size > 0 && ` ${counted(fresh.size, "section")} changed since you read it.`);
  }

  function anew() {
    return el("button", { type: "button", click: () => view.renew() }, "Plan anew");
  }

  function drawSide() {
    fill(side, claim(), risks(), checks(), waits(), parts(), contents());
  }

  function claim() {
    const text = task.reason || "No reason was given.";
    const words = el("p", { class: "prose" }, text.slice(0, CLAIM));
    const rest = text.length > CLAIM && el("button", { type: "button", class: "plain", click: () => fill(words, text) && rest.remove() }, `Show all ${text.length.toLocaleString("en")} characters`);
    return el("section", { class: "claim" }, el("h2", {}, `Claimed by ${line(task.who)}, not checked`), words, rest, task.goal && el("p", { class: "aside" }, "Goal: ", el("span", { class: "goal" }, line(task.goal))));
  }

  function risks() {
    return el("section", {}, el("h2", {}, `Risk: ${line(task.risk.level)}`), task.risk.reasons.length ? el("ul", {}, task.risk.reasons.map((each) => el("li", {}, line(each)))) : el("p", { class: "aside" }, "Nothing was found that could break."));
  }

  function checks() {
    if (!task.checks.length) return el("section", {}, el("h2", {}, "Checks"), el("p", { class: "warns" }, "None ran."));
    return el(
      "section",
      { class: "receipts" },
      el("h2", {}, "Checks"),
      el("ul", {}, task.checks.map((each) => el(
        "li",
        { class: `receipt ${each.stale ? "old" : each.result}` },
        el("span", { class: "check" }, el("b", {}, line(each.name)), " ", el("span", { class: "result" }, RESULTS[each.result] ?? line(each.result)), each.stale && [" ", el("span", { class: "state stale" }, "stale")]),
        each.detail && el("span", { class: "aside" }, line(each.detail)),
        el("span", { class: "aside" }, `${lasting(each.seconds)}, `, ago(task.planned_at), each.digest && [", of ", el("code", { title: each.digest }, each.digest.slice(0, 8))]),
      ))),
    );
  }

  function waits() {
    const notes = [...task.waits_for.map((each) => `Waits because of ${line(each)}`), ...task.warnings.map(line)];
    if (task.state === "awaiting_approval" && task.expires) notes.push(`Expires ${task.expires.slice(0, 10)}`);
    return notes.length > 0 && el("section", {}, el("h2", {}, "Notes"), el("ul", {}, notes.map((each) => el("li", {}, each))));
  }

  function parts() {
    return task.refused.length > 0 && el("section", { class: "taken" }, el("h2", {}, "Taken out"), el("ul", {}, task.refused.map((each) => el("li", {}, el("b", {}, line(each.symbol)), ` by ${line(each.by)}: `, line(each.reason)))));
  }

  function contents() {
    const marks = marked(task.task_id);
    return sections().length > 1 && el("section", { class: "contents" }, el("h2", {}, "Sections"), el("ol", {}, sections().map((each, index) => el("li", {}, el("button", { type: "button", class: "link", click: () => focus(index) }, line(each.symbol)), el("span", { class: "aside" }, marks.has(each.digest) ? " reviewed" : "")))));
  }

  function drawTools() {
    const done = sections().length - unreviewed();
    const split = el("button", { type: "button", class: "plain wide-only", "aria-pressed": String(isSplit()), "aria-keyshortcuts": "s", click: () => view.split() }, "Side by side");
    fill(tools, el("span", { role: "status" }, `Reviewed ${done} of ${counted(sections().length, "section")}`), el("span", { class: "buttons" }, el("button", { type: "button", class: "plain", click: () => foldAll(true) }, "Fold all"), el("button", { type: "button", class: "plain", click: () => foldAll(false) }, "Unfold all"), split));
  }

  function question(ask) {
    asked = task.state;
    ask();
  }

  function foldAll(isFolded) {
    for (const each of sections()) folded.set(each.digest, isFolded);
    drawFiles();
  }

  function drawFiles() {
    const marks = marked(task.task_id);
    let [index, total] = [0, 0];
    fill(body, task.files.map((file) => el(
      "section",
      { class: "file", "aria-label": `File ${file.name}` },
      el("p", { class: "file-name" }, el("span", {}, line(file.name)), file.what !== "changed" && el("span", { class: `state ${file.what}` }, line(file.what)), el("span", { class: "path" }, file.origin && `${line(file.origin)} → `, line(file.path)), file.note && el("span", { class: "aside" }, line(file.note))),
      file.sections.map((each) => {
        const isFolded = folded.get(each.digest) ?? (marks.has(each.digest) || each.rows.length > LONG || total > OPEN_LINES);
        if (!isFolded) total += each.rows.length;
        return section(each, index++, isFolded, marks.has(each.digest));
      }),
    )));
    if (!task.files.length) fill(body, el("p", { class: "empty" }, "No file changes."));
  }

  function section(each, index, isFolded, isReviewed) {
    const place = el("div", { class: "section-body", id: `body-${index}`, hidden: isFolded });
    const fill_ = () => place.firstChild || place.append(lines(each.rows, isSplit()));
    const name = line(each.symbol);
    const fold = el("button", { type: "button", class: "fold", id: `section-${index}`, "aria-expanded": String(!isFolded), "aria-controls": place.id, focus: () => (current = index), click: () => {
      const hide = !place.hidden;
      folded.set(each.digest, hide);
      if (!hide) fill_();
      place.hidden = hide;
      fold.setAttribute("aria-expanded", String(!hide));
    } }, el("span", { class: "symbol" }, name), el("span", { class: "aside" }, counted(each.rows.length, "line")), el("span", { class: "plus" }, `+${each.added}`), el("span", { class: "minus" }, `−${each.removed}`), fresh.has(each.digest) && el("span", { class: "state stale" }, "changed since"));
    const take = isOpen() && el("label", { class: "take" }, el("input", { type: "checkbox", checked: !refused.has(each.symbol), "aria-label": `Take ${name}`, change: (event) => toggle(each.symbol, event.target.checked) }), refused.has(each.symbol) ? "refused" : "take");
    const review = el("label", { class: "reviewed" }, el("input", { type: "checkbox", checked: isReviewed, "aria-label": `Reviewed ${name}`, change: (event) => review_(index, event.target.checked) }), "reviewed");
    const known = el("div", { class: "known", hidden: true });
    const who = el("button", { type: "button", class: "quiet", "aria-expanded": "false", click: () => references(each.symbol, known, who) }, "who uses it");
    if (!isFolded) fill_();
    return el("article", { class: `section${refused.has(each.symbol) ? " refused" : ""}${isReviewed ? " done" : ""}`, "aria-label": name }, el("header", {}, fold, el("span", { class: "section-tools" }, who, review, take)), known, place);
  }

  async function references(symbol, place, button) {
    place.hidden = !place.hidden;
    button.setAttribute("aria-expanded", String(!place.hidden));
    if (place.hidden || place.firstChild) return;
    fill(place, el("p", { class: "aside" }, "Looking …"));
    try {
      const found = await read(`symbols?name=${encodeURIComponent(symbol)}`);
      const places = found.places;
      const calls = places.filter((each) => each.kind === "call").length;
      fill(
        place,
        el("p", {}, found.public === null ? "" : el("b", {}, found.public ? "Public. " : "Private. "), places.length ? `${counted(places.length, "reference")}, ${counted(calls, "call")}` : "No reference in the project", !found.complete && " (not all of the project could be looked into)", ", as its files are now."),
        el("ul", {}, places.slice(0, 200).map((each) => el("li", {}, el("span", { class: "names" }, `${line(each.symbol)}:${each.line}`), " ", line(each.kind), each.certainty !== "sure" && el("span", { class: "aside" }, ` ${line(each.certainty)}${each.reason ? `: ${line(each.reason)}` : ""}`)))),
        places.length > 200 && el("p", { class: "aside" }, `and ${places.length - 200} more`),
      );
    } catch (error) {
      fill(place, el("p", { class: "aside" }, error.message, " It may be new with this change."));
    }
  }

  function toggle(symbol, isTaken) {
    if (isTaken) refused.delete(symbol);
    else refused.add(symbol);
    redraw();
  }

  function review_(index, isReviewed) {
    const { digest } = sections()[index];
    mark(task.task_id, digest, isReviewed);
    folded.set(digest, isReviewed);
    redraw();
  }

  /** Draw sections and the bar anew, and keep what has the focus and where the page stands. */
  function redraw() {
    const focused = document.activeElement;
    const article = focused?.closest?.("article");
    const at = article ? [...body.querySelectorAll("article")].indexOf(article) : -1;
    const label = focused?.getAttribute?.("aria-label") ?? focused?.id;
    const top_ = document.documentElement.scrollTop;
    drawFiles();
    drawTools();
    drawSide();
    drawBar();
    document.documentElement.scrollTop = top_;
    if (at < 0) return;
    const now = body.querySelectorAll("article")[at];
    const again = [...(now?.querySelectorAll("button, input") ?? [])].find((each) => (each.getAttribute("aria-label") ?? each.id) === label);
    (again ?? now?.querySelector("button"))?.focus({ preventScroll: true });
  }

  function drawBar() {
    const making = underWay(task.task_id);
    if (!isOpen() || making) {
      bar.hidden = true;
      return;
    }
    bar.hidden = false;
    const some = refused.size > 0;
    const isStale = task.stale;
    const words = some && isAll() ? "Refuses all of it: the whole proposal is rejected." : some ? `Refuses ${listed([...refused])}; the rest is planned anew, and waits for you.` : isStale ? (task.state === "failed" ? "Cannot be approved as it stands: it failed." : "Cannot be approved: files have changed since it was planned.") : scope(task);
    fill(
      bar,
      el("p", { class: "words", id: "scope" }, words),
      el(
        "p",
        { class: "buttons" },
        some
          ? el("button", { type: "button", class: "decides rejects", click: () => view.reject() }, `Refuse ${counted(refused.size, "symbol")} …`)
          : isStale
            ? el("button", { type: "button", class: "decides", click: () => view.renew() }, "Plan anew")
            : el("button", { type: "button", class: "decides approves", "aria-describedby": "scope", "aria-keyshortcuts": "a", click: () => view.approve() }, "Approve …"),
        some ? el("button", { type: "button", class: "plain", click: () => { refused.clear(); redraw(); } }, "Take all") : el("button", { type: "button", class: "plain", "aria-keyshortcuts": "r", click: () => view.reject() }, "Reject …"),
        !some && el("button", { type: "button", class: "plain", click: () => question(() => askExpire(task, leave)) }, "Let it expire …"),
      ),
    );
  }

  function focus(index) {
    const last = sections().length - 1;
    current = Math.min(Math.max(0, index), last);
    const button = document.getElementById(`section-${current}`);
    button?.focus({ preventScroll: true });
    button?.closest("article").scrollIntoView({ block: "start" });
  }

  const view = {
    name: "change",
    move: (step) => focus(document.activeElement?.closest("article") ? current + step : step > 0 ? current : current - 1),
    open: () => document.getElementById(`section-${current}`)?.click(),
    approve: () => {
      if (!task || !isOpen() || underWay(task.task_id)) return;
      if (refused.size) return view.reject();
      if (task.stale) return document.querySelector(".banner button")?.focus();
      question(() => askApprove(task, unreviewed(), leave));
    },
    reject: () => {
      if (!task || !isOpen() || underWay(task.task_id)) return;
      const chosen = isAll() ? [] : [...refused];
      question(() => askReject(task, chosen, chosen.length ? () => redraw() : leave));
    },
    take: () => {
      const { symbol } = sections()[current] ?? {};
      if (symbol && isOpen()) toggle(symbol, refused.has(symbol));
    },
    review: () => sections()[current] && review_(current, !marked(task.task_id).has(sections()[current].digest)),
    split: () => {
      localStorage.setItem(SPLIT, isSplit() ? "no" : "yes");
      redraw();
    },
    renew: () => {
      if (task && task.stale && !underWay(task.task_id)) renew(task);
      refreshSoon();
    },
    undo: () => {
      if (!task?.operation_id || task.state !== "applied") return false;
      askUndo(task.operation_id, task.summary);
      return true;
    },
    beside: (step) => {
      const other = task && beside(task.task_id, step);
      if (other) location.hash = `#/task/${encodeURIComponent(other.task_id)}`;
    },
    refresh: async () => {
      const found = await read(pathOf(id));
      if (!main.contains(top)) return;
      const before = task;
      const isFirst = before === null;
      const isOther = !isFirst && before.digest !== found.digest;
      if (isOther) {
        seen = new Set(sections().map((each) => each.digest));
        fresh.clear();
        refused.clear();
        for (const file of found.files) for (const each of file.sections) if (!seen.has(each.digest)) fresh.add(each.digest);
      }
      task = found;
      const symbols = new Set(sections().map((each) => each.symbol));
      for (const each of refused) if (!symbols.has(each)) refused.delete(each);
      drawTop();
      const same = !isFirst && JSON.stringify([before.files, isOpenState(before.state)]) === JSON.stringify([found.files, isOpenState(found.state)]);
      if (same) {
        drawTools();
        drawSide();
        drawBar();
      } else redraw();
      disarm(task.task_id, task.digest, closedWhy());
    },
    focus: () => top.querySelector("h1")?.focus(),
    close: () => removeEventListener("storage", stored),
  };

  function isOpenState(state) {
    return ["awaiting_approval", "stale", "failed"].includes(state);
  }

  /** Say why the question that is open can no longer be answered; "" where it can. */
  function closedWhy() {
    if (task.state === asked && task.state === "approved") return "";
    const by = task.decided_by ? ` by ${line(task.decided_by)}` : "";
    if (task.state === "approved" || task.state === "applied") return `It was approved${by} meanwhile; nothing is left to decide.`;
    if (!isOpenState(task.state)) return `It is ${STATES[task.state] ?? task.state}${by} meanwhile; nothing is left to decide.`;
    return task.stale ? "Files have changed meanwhile, so this is stale; it has to be planned anew." : "";
  }

  function refreshSoon() {
    if (!task) return;
    drawTop();
    drawBar();
  }

  function stored(event) {
    if (event.key?.startsWith("reviewed:") && task) redraw();
  }

  addEventListener("storage", stored);
  dismiss(id); // what the page says by itself
  view.ready = view.refresh().then(() => view.focus());
  return view;
}
