// Text, and elements that hold it. No text of a project is ever markup: it becomes text nodes here, and nowhere else.
//
//   el("p", { class: "claim" }, "by ", name)      a string is shown with its control characters as escapes

// as the terminal shows them (`adapters/cli/streams.visible`), and what else has no shape: zero-width characters and tags
const HIDDEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Cs}]/gu;
const BREAKS = /[\t\n]/g;
const SHORT = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function escaped(character) {
  if (SHORT[character]) return SHORT[character];
  const code = character.codePointAt(0);
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Return text with each character that has no shape, or that reorders a line, written as an escape. */
export function visible(text) {
  return text.replace(HIDDEN, escaped);
}

/** Return text for one line: line ends and tabs are written as escapes, too. */
export function line(text) {
  return visible(text).replace(BREAKS, escaped);
}

/** Return the nodes that show text; escapes are told from what is spelled alike. */
export function shown(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > at) nodes.push(document.createTextNode(text.slice(at, found.index)));
    const mark = document.createElement("span");
    mark.className = "hidden-character";
    mark.textContent = escaped(found[0]);
    nodes.push(mark);
    at = found.index + found[0].length;
  }
  if (at < text.length) nodes.push(document.createTextNode(at ? text.slice(at) : text));
  return nodes;
}

/** Return an element. Functions listen, true and false set what has no value, and strings become text. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : line(String(value)));
  }
  put(element, ...children);
  return element;
}

/** Append to an element. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    if (child instanceof Node) element.append(child);
    else element.append(...shown(String(child)));
  }
  return element;
}

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

const NUMBERS = new Intl.NumberFormat("en");

/** Return a number with its noun. */
export function counted(number, noun, several = `${noun}s`) {
  return `${NUMBERS.format(number)} ${number === 1 ? noun : several}`;
}

/** Return names in a row, of many the first ones. */
export function listed(names, most = 3, all = names.length) {
  const some = names.slice(0, most).map(line);
  return all > some.length ? `${some.join(", ")} and ${NUMBERS.format(all - some.length)} more` : some.join(", ");
}

/** Return how long some seconds are. */
export function lasting(seconds) {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** Return an element that says how long ago something was. */
export function age(at) {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return el("span", {}, line(at));
  const seconds = (Date.now() - then) / 1000;
  return time(at, then, seconds < 60 ? "now" : lasting(seconds));
}

/** Return an element that says when something was, in a sentence. */
export function ago(at) {
  const then = Date.parse(at);
  if (Number.isNaN(then)) return el("span", {}, line(at));
  const seconds = (Date.now() - then) / 1000;
  return time(at, then, seconds < 60 ? "just now" : `${lasting(seconds)} ago`);
}

function time(at, then, text) {
  return el("time", { datetime: at, title: new Date(then).toLocaleString() }, text);
}
