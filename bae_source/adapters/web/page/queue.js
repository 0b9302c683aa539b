// The queue: what waits, the riskiest first, with what is safe and alike in one row. Of ten thousand rows those are in the
// document that are seen.

import { read } from "./api.js";
import { ask, carryOut, notice, underWay } from "./deciding.js";
import { age, counted, el, fill, lasting, line, listed, put } from "./text.js";

const BEYOND = 8; // rows above and below what is seen
const AT_ONCE = 100; // rows that are read first
const MOST = 50; // of a group, in one decision
export const STATES = { waiting: "Waiting", applied: "Applied", rejected: "Rejected", expired: "Expired", all: "All" };
const WORDS = { awaiting_approval: "", approved: "approved, being made", applied: "applied", rejected: "rejected", stale: "stale", failed: "failed", expired: "expired" };
const ALIKE = {
  comments: "only touch comments and docstrings",
  texts: "only change texts",
  tests: "only add tests",
};
const RESULTS = { passed: "✓", failed: "✗", failed_before: "✗", not_run: "–" };

let tasks = [];
let version = 0;

/** Return what was read of a proposal last. */
export function known(task) {
  return tasks.find((each) => each.task_id === task);
}

/** Return the proposal before or after one, in the order of the queue; undefined where there is none. */
export function beside(task, step) {
  const at = tasks.findIndex((each) => each.task_id === task);
  return at < 0 ? undefined : tasks[at + step];
}

/** Return rows: proposals, and groups of those that are safe, alike, and by the same proposer. */
function grouped(found) {
  const groups = new Map();
  for (const each of found) {
    if (!each.kind || each.state !== "awaiting_approval") continue;
    const name = `${each.kind} ${each.who}`;
    if (!groups.has(name)) groups.set(name, { kind: each.kind, who: each.who, members: [] });
    groups.get(name).members.push(each);
  }
  const rows = [];
  const done = new Set();
  for (const each of found) {
    const name = each.kind && each.state === "awaiting_approval" ? `${each.kind} ${each.who}` : "";
    const group = groups.get(name);
    if (!group || group.members.length < 2) rows.push(each);
    else if (!done.has(name)) {
      done.add(name);
      rows.push(group);
    }
  }
  return rows;
}

function groupWords(group) {
  return `${counted(group.members.length, "change")} of low risk that ${ALIKE[group.kind] ?? "are alike"}`;
}

/** Return the view of the queue. */
export function queueView(main, remembered) {
  let rows = [];
  let at = Math.max(0, remembered.at ?? 0);
  const drawnRows = new Map();
  const space = el("div", { class: "space" });
  const list = el("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Proposals, the riskiest first", id: "list" }, space);
  const state = el("select", { id: "state", "aria-label": "State", change: () => show(true) }, Object.entries(STATES).map(([value, text]) => el("option", { value }, text)));
  state.value = remembered.state ?? "waiting";
  const filter = el("input", { id: "filter", type: "search", placeholder: "Filter: name, person, goal …", "aria-label": "Filter", autocomplete: "off", spellcheck: "false", input: () => arrange() });
  filter.value = remembered.filter ?? "";
  const total = el("p", { class: "total", role: "status" });
  const warnings = el("div", {});
  const nothing = el("p", { class: "empty", hidden: true });
  fill(
    main,
    el("div", { class: "queue" }, el("div", { class: "bar" }, el("h1", {}, "Queue"), total, state, filter), warnings, el("div", { class: "heads", "aria-hidden": "true" }, ["Risk", "Change", "Touches", "Checks", "Age"].map((text) => el("span", {}, text))), list, nothing),
  );
  let height = 0;

  function measure() {
    height = parseFloat(getComputedStyle(list).getPropertyValue("--row-height")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    drawnRows.forEach((row) => row.remove());
    drawnRows.clear();
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / height) - BEYOND);
    const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + BEYOND);
    for (const [index, row] of drawnRows) {
      if (index >= first && index < last) continue;
      row.remove();
      drawnRows.delete(index);
    }
    for (let index = first; index < last; index += 1) {
      if (drawnRows.has(index)) continue;
      const row = option(rows[index], index);
      drawnRows.set(index, row);
      space.append(row);
    }
  }

  function option(found, index) {
    const row = found.members ? groupRow(found) : taskRow(found);
    row.id = `row-${index}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", rows.length);
    row.setAttribute("aria-posinset", index + 1);
    row.setAttribute("aria-selected", String(index === at));
    row.style.top = `${index * height}px`;
    row.addEventListener("click", () => {
      select(index);
      view.open();
    });
    return row;
  }

  function select(index, isSeen = true) {
    drawnRows.get(at)?.setAttribute("aria-selected", "false");
    at = Math.min(Math.max(0, index), Math.max(0, rows.length - 1));
    remembered.at = at;
    if (isSeen) {
      const top = at * height;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
    }
    draw();
    drawnRows.get(at)?.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", `row-${at}`);
  }

  function arrange() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    remembered.filter = filter.value;
    const chosen = rows[at];
    const wanted = words.length ? tasks.filter((each) => words.every((word) => hay(each).includes(word))) : tasks;
    rows = state.value === "waiting" ? grouped(wanted) : wanted;
    space.style.height = `${rows.length * height}px`;
    list.style.maxHeight = `${rows.length * height + 1}px`;
    drawnRows.forEach((row) => row.remove());
    drawnRows.clear();
    const same = chosen && rows.findIndex((each) => (chosen.members ? each.members && each.kind === chosen.kind && each.who === chosen.who : each.task_id === chosen.task_id));
    list.hidden = rows.length === 0;
    nothing.hidden = rows.length > 0;
    fill(nothing, words.length ? "Nothing matches." : state.value === "waiting" ? "Nothing waits. What agents propose appears here by itself." : "There is nothing.");
    fill(total, words.length ? `${counted(wanted.length, "proposal")} of ${tasks.length.toLocaleString("en")}` : counted(tasks.length, "proposal"));
    select(same >= 0 ? same : at, false);
  }

  async function show(isOther = false) {
    remembered.state = state.value;
    const wanted = (version += 1);
    try {
      if (isOther || !tasks.length) {
        const first = await read(`tasks?state=${state.value}&limit=${AT_ONCE}`);
        if (wanted !== version) return;
        tasks = first.tasks;
        arrange();
        if (first.tasks.length < AT_ONCE) return settle(first);
      }
      const found = await read(`tasks?state=${state.value}`);
      if (wanted !== version) return;
      tasks = found.tasks;
      arrange();
      settle(found);
    } catch (error) {
      fill(nothing, error.message);
      nothing.hidden = false;
    }
  }

  function settle(found) {
    fill(warnings, found.warnings.map((text) => el("p", { class: "banner warns" }, text)));
    dispatchEvent(new CustomEvent("counted", { detail: found.counts }));
  }

  let isAsked = false;
  list.addEventListener("scroll", () => {
    remembered.top = list.scrollTop;
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  }, { passive: true });
  const resized = new ResizeObserver(() => measure());
  resized.observe(list);
  const ticking = setInterval(() => measure(), 60000); // the ages
  list.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: Math.floor(list.clientHeight / height), PageUp: -Math.floor(list.clientHeight / height), Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    select(Number.isFinite(steps[event.key]) ? at + steps[event.key] : steps[event.key] < 0 ? 0 : rows.length - 1);
  });

  const view = {
    name: "queue",
    move: (step) => {
      list.focus({ preventScroll: true });
      select(at + step);
    },
    open: () => {
      const row = rows[at];
      if (row) location.hash = row.members ? `#/group/${encodeURIComponent(row.kind)}/${encodeURIComponent(row.who)}` : `#/task/${encodeURIComponent(row.task_id)}`;
    },
    approve: () => view.open(), // what was not read is not approved
    reject: () => view.open(),
    refresh: () => show(),
    find: () => filter.focus(),
    focus: () => list.focus({ preventScroll: true }),
    close: () => {
      resized.disconnect();
      clearInterval(ticking);
    },
  };
  measure();
  if (tasks.length && remembered.read === state.value) arrange();
  else tasks = [];
  remembered.read = state.value;
  list.scrollTop = remembered.top ?? 0;
  view.ready = show();
  return view;
}

function hay(each) {
  each.hay ??= [each.task_id, each.who, each.reason, each.goal, each.summary, each.risk, ...each.names].join(" ").toLowerCase();
  return each.hay;
}

function risk(level) {
  const name = ["low", "medium", "high"].includes(level) ? level : "high";
  return el("span", { class: `risk ${name}` }, el("span", { class: "unseen" }, "Risk: "), name);
}

function taskRow(found) {
  const state = underWay(found.task_id) ? "being carried out" : (WORDS[found.state] ?? found.state);
  return el(
    "div",
    { class: "option" },
    el("span", { class: "at-risk" }, risk(found.risk)),
    el(
      "span",
      { class: "what" },
      el("span", { class: "summary" }, state && el("span", { class: `state ${found.state}` }, state), " ", line(found.summary)),
      el("span", { class: "why" }, el("b", {}, line(found.who)), found.goal && el("span", { class: "goal" }, line(found.goal)), found.reason ? el("q", {}, line(found.reason)) : el("i", {}, "no reason given")),
    ),
    el("span", { class: "touches" }, el("span", { class: "names" }, found.names.length ? listed(found.names, 2, found.symbols) : counted(found.files, "file")), size(found)),
    el("span", { class: "checks" }, glance(found.checks)),
    el("span", { class: "age" }, age(found.at)),
  );
}

function size(found) {
  return el("span", { class: "size" }, el("span", {}, counted(found.symbols, "symbol")), el("span", { class: "plus" }, `+${found.added}`), el("span", { class: "minus" }, `−${found.removed}`));
}

/** Return checks in a few characters. */
export function glance(checks) {
  const entries = Object.entries(checks);
  if (!entries.length) return el("span", { class: "none" }, "none ran");
  return entries.map(([name, result]) => el("span", { class: `check ${result}` }, el("span", { "aria-hidden": "true" }, RESULTS[result] ?? "?"), ` ${line(name)}`, el("span", { class: "unseen" }, ` ${result} `)));
}

function groupRow(group) {
  const { members } = group;
  const sum = (name) => members.reduce((all, each) => all + each[name], 0);
  return el(
    "div",
    { class: "option group" },
    el("span", { class: "at-risk" }, risk("low")),
    el("span", { class: "what" }, el("span", { class: "summary" }, groupWords(group)), el("span", { class: "why" }, el("b", {}, line(group.who)), el("span", {}, "one decision, after you have seen the list"))),
    el("span", { class: "touches" }, el("span", { class: "names" }, listed(members.flatMap((each) => each.names), 2, sum("symbols"))), size({ symbols: sum("symbols"), added: sum("added"), removed: sum("removed") })),
    el("span", { class: "checks" }, glance(members.reduce((all, each) => ({ ...all, ...each.checks }), {}))),
    el("span", { class: "age" }, age(members[0].at)),
  );
}

/** Return the view of changes that one decision approves, each by its own digest. */
export function groupView(main, kind, who, { drawDiff, leave }) {
  let members = [];
  let chosen = new Set();
  let isFrozen = false;
  const title = el("h1", { tabindex: "-1" });
  const list = el("ol", { class: "members" });
  const words = el("p", { class: "words" });
  const newer = el("p", { class: "banner", role: "status", hidden: true });
  const button = el("button", { type: "button", class: "decides approves", disabled: true, click: () => view.approve() });
  fill(main, el("div", { class: "page whole" }, el("p", { class: "crumbs" }, el("a", { href: "#/" }, "‹ Queue")), title, el("p", { class: "aside" }, "Each is approved by its own digest, which is that of what is listed here. Untick what you would rather look at by itself."), newer, list, el("div", { class: "actions" }, words, button)));

  function settle() {
    const count = chosen.size;
    fill(button, `Approve these ${count}`);
    button.disabled = count === 0;
    fill(words, `Approves exactly these ${counted(count, "change")}, each by its own digest, nothing else, each once.`);
  }

  function member(each) {
    const box = el("input", { type: "checkbox", id: `take-${each.task_id}`, checked: true, change: () => {
      if (box.checked) chosen.add(each.task_id);
      else chosen.delete(each.task_id);
      settle();
    } });
    const diff = el("div", { class: "inner", hidden: true });
    const fold = el("button", { type: "button", class: "quiet", "aria-expanded": "false", click: async () => {
      diff.hidden = !diff.hidden;
      fold.setAttribute("aria-expanded", String(!diff.hidden));
      if (!diff.hidden && !diff.firstChild) await drawDiff(diff, each);
    } }, "Diff");
    return el("li", { id: `member-${each.task_id}` }, el("div", { class: "member" }, box, el("label", { for: box.id }, el("span", { class: "summary" }, line(each.summary)), el("span", { class: "why" }, el("span", { class: "names" }, listed(each.names, 3, each.symbols)), each.reason && el("q", {}, line(each.reason)))), size(each), el("span", { class: "checks" }, glance(each.checks)), el("code", { class: "digest", title: each.digest }, each.digest.slice(0, 8)), el("a", { href: `#/task/${encodeURIComponent(each.task_id)}` }, "Open"), fold), diff);
  }

  function make(wanted) {
    let [done, later, not] = [0, 0, 0];
    wanted.forEach((each, index) => {
      const end = () => {
        if (index < wanted.length - 1) return;
        const rest = later ? ` ${counted(later, "more", "more")} change a file that was changed before them; planned anew, ${later === 1 ? "it waits" : "they wait"} for you again.` : "";
        notice(`${counted(done, "change")} applied.${rest}${not ? ` ${not} could not be made.` : ""}`, { isError: not > 0 });
      };
      carryOut({
        label: `Approving ${index + 1} of ${wanted.length}: ${each.task_id}`,
        task: each.task_id,
        path: `tasks/${encodeURIComponent(each.task_id)}/approve`,
        body: { digest: each.digest, reason: `one of ${wanted.length} that ${ALIKE[kind] ?? "are alike"}` },
        done: () => {
          done += 1;
          end();
        },
        failed: (error) => {
          if (error.code === "stale") later += 1;
          else not += 1;
          if (error.code !== "stale") notice(error.message, { hints: error.hints, isError: true, task: each.task_id });
          end();
        },
      });
    });
    leave();
  }

  const view = {
    name: "group",
    move: (step) => {
      const boxes = [...list.querySelectorAll("input")];
      const now = boxes.indexOf(document.activeElement);
      boxes[Math.min(Math.max(0, now + step), boxes.length - 1)]?.focus();
    },
    open: () => document.activeElement?.closest("li")?.querySelector("button")?.click(),
    approve: () => {
      if (button.disabled) return;
      const wanted = members.filter((each) => chosen.has(each.task_id));
      ask({
        title: `Approve ${counted(wanted.length, "change")} that ${ALIKE[kind] ?? "are alike"}`,
        content: el("div", { class: "scope" }, el("p", { class: "words" }, words.textContent), el("ul", { class: "names" }, wanted.map((each) => el("li", {}, line(each.summary), " ", el("code", { class: "digest" }, each.digest.slice(0, 8))))), el("p", { class: "aside" }, "One whose file has changed by then, also by another one of these, is not made: it is planned anew, and waits for you again.")),
        button: `Approve these ${wanted.length}`,
        kind: "approves",
        decide: () => make(wanted),
      });
    },
    refresh: async () => {
      const found = await read("tasks?state=waiting");
      const all = found.tasks.filter((each) => each.kind === kind && each.who === who && each.state === "awaiting_approval");
      if (isFrozen) {
        const digests = new Map(all.map((each) => [each.task_id, each.digest]));
        for (const each of members) {
          if (digests.get(each.task_id) === each.digest) continue;
          chosen.delete(each.task_id);
          const item = document.getElementById(`member-${each.task_id}`);
          if (item && !item.classList.contains("over")) {
            item.classList.add("over");
            const box = item.querySelector("input");
            box.checked = false;
            box.disabled = true;
            item.querySelector(".summary").append(" — decided, or planned anew, meanwhile");
          }
        }
        const fresh = all.filter((each) => !members.some((one) => one.task_id === each.task_id)).length;
        newer.hidden = fresh === 0 || members.length === MOST;
        fill(newer, `${counted(fresh, "more", "more")} came since this list was drawn. `, el("button", { type: "button", click: () => { isFrozen = false; view.refresh(); } }, "List anew"));
        settle();
        return;
      }
      members = all.slice(0, MOST);
      chosen = new Set(members.map((each) => each.task_id));
      isFrozen = true;
      newer.hidden = true;
      const rest = all.length - members.length;
      fill(title, `${counted(members.length, "change")} of low risk that ${ALIKE[kind] ?? "are alike"}, by ${line(who)}`, rest > 0 && ` (the first of ${all.length})`);
      fill(list, members.map(member));
      settle();
    },
    focus: () => title.focus(),
    close: () => {},
  };
  view.ready = view.refresh();
  return view;
}
