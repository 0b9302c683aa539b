// The lines of a section, inline or side by side. All of them come into the document, the first ones at once and the rest
// while nothing else is to do, so that a long one can be read, searched and left at any time.

import { el, shown } from "./text.js";

const CHUNK = 80;
const AT_ONCE = 3;
const KIND = /^[a-z]$/;
const NAMES = { "+": "added", "-": "removed", " ": "same" };

/** Return an element with the lines of a section. */
export function lines(rows, isSplit) {
  const body = el("div", { class: isSplit ? "lines split" : "lines" });
  const words = emphasis(rows);
  const units = isSplit ? paired(rows) : rows;
  const draw = isSplit ? (pair) => side(pair, words) : (row) => inline(row, words);
  let at = 0;
  const next = () => {
    const chunk = el("div", { class: "chunk" });
    for (const unit of units.slice(at, at + CHUNK)) chunk.append(draw(unit));
    at += CHUNK;
    body.append(chunk);
    return at < units.length;
  };
  for (let chunk = 0; chunk < AT_ONCE && at < units.length; chunk += 1) next();
  if (at < units.length) later(() => body.isConnected && next());
  return body;
}

const waiting = [];

/** Do something again and again while nothing else is to do, until it returns false. */
function later(step) {
  waiting.push(step);
  if (waiting.length === 1) idle();
}

function idle() {
  const pause = globalThis.requestIdleCallback ?? ((go) => setTimeout(() => go({ timeRemaining: () => 8 }), 16));
  pause((deadline) => {
    do {
      if (!waiting[0]()) waiting.shift();
    } while (waiting.length && deadline.timeRemaining() > 4);
    if (waiting.length) idle();
  }, { timeout: 200 });
}

function inline(row, words) {
  const [mark, old, now] = row;
  return el(
    "div",
    { class: `row ${NAMES[mark]}` },
    el("span", { class: "number" }, number(old)),
    el("span", { class: "number" }, number(now)),
    el("span", { class: "mark" }, mark),
    code(row, words),
  );
}

function side([left, right], words) {
  return el("div", { class: "row" }, half(left, 1, words), half(right, 2, words));
}

function half(row, at, words) {
  if (!row) return el("div", { class: "half none" });
  return el(
    "div",
    { class: `half ${NAMES[row[0]]}` },
    el("span", { class: "number" }, number(row[at])),
    el("span", { class: "mark" }, row[0]),
    code(row, words),
  );
}

function number(value) {
  return value === null ? "" : String(value);
}

/** Return the text of a line, in pieces of one kind, with the part that differs from its other side marked. */
function code(row, words) {
  const cell = document.createElement("code");
  const [from, to] = words.get(row) ?? [0, 0];
  let at = 0;
  for (const [kind, text] of row[3]) {
    for (const [start, end, isMarked] of cuts(at, at + text.length, from, to)) {
      const nodes = shown(text.slice(start - at, end - at));
      const name = `${KIND.test(kind) ? `kind-${kind}` : ""}${isMarked ? " differs" : ""}`;
      if (!name) {
        cell.append(...nodes);
        continue;
      }
      const piece = document.createElement("span");
      piece.className = name;
      piece.append(...nodes);
      cell.append(piece);
    }
    at += text.length;
  }
  return cell;
}

function cuts(start, end, from, to) {
  if (to <= start || from >= end || from === to) return [[start, end, false]];
  const found = [
    [start, Math.max(start, from), false],
    [Math.max(start, from), Math.min(end, to), true],
    [Math.min(end, to), end, false],
  ];
  return found.filter(([first, last]) => first < last);
}

/** Return each run of lines that go, and of those that come in their place. */
function* runs(rows) {
  let at = 0;
  while (at < rows.length) {
    const gone = [];
    const come = [];
    while (at < rows.length && rows[at][0] === "-") gone.push(rows[at++]);
    while (at < rows.length && rows[at][0] === "+") come.push(rows[at++]);
    if (gone.length || come.length) yield [gone, come];
    else yield [[rows[at]], [rows[at++]]];
  }
}

function paired(rows) {
  const found = [];
  for (const [left, right] of runs(rows)) {
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) found.push([left[at], right[at]]);
  }
  return found;
}

/** Return, by line, from where to where it differs from the line in whose place it comes, or that comes in its place. */
function emphasis(rows) {
  const found = new Map();
  for (const [gone, come] of runs(rows)) {
    if (gone.length !== come.length || gone[0] === come[0]) continue;
    gone.forEach((old, at) => {
      const [a, b] = [whole(old), whole(come[at])];
      const most = Math.min(a.length, b.length);
      let head = 0;
      while (head < most && a[head] === b[head]) head += 1;
      let tail = 0;
      while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
      if ((head + tail) * 3 < most) return;
      found.set(old, [head, a.length - tail]);
      found.set(come[at], [head, b.length - tail]);
    });
  }
  return found;
}

function whole(row) {
  return row[3].map(([, text]) => text).join("");
}
