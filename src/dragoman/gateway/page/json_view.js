// Owns the view of one document: JSON folded and coloured, marks at the lines they belong to, joined places numbered.
// Lines are made when they are unfolded, so a document of megabytes opens at once.

import {h} from "./dom.js";
import {plural} from "./format.js";
import {pointerTo, readJson} from "./json_text.js";

const FIRST_LINES = 350;
const FIRST_ITEMS = 100;
const LONG = 1500;

/**
 * `marks`: [{path, severity, title, text}]; `joins`: Map from pointer to the numbers of the joined places there. A text
 * that is not JSON is shown as it is, with the mistake.
 */
export function jsonView(text, {marks = [], joins = new Map(), label = "document"} = {}) {
  const box = h("div", {class: "json", role: "region", "aria-label": label, tabindex: "0"});
  let root;
  try {
    root = readJson(text);
  } catch (mistake) {
    const notes = marks.map(note);
    box.append(...notes, h("p", {class: "dim"}, text.trim() ? `This is not a complete JSON document: ${mistake.message}.` : "Empty."),
      h("pre", null, text.length > 60_000 ? `${text.slice(0, 60_000)}…` : text));
    return box;
  }
  const view = new View(marks, joins);
  box.append(...view.homeless(root), view.node(root, "", null, true));
  return box;
}

class View {
  constructor(marks, joins) {
    this.marks = marks;
    this.joins = joins;
    this.left = FIRST_LINES;
    this.above = new Set();
  }

  /** Notes whose place is the whole document, or is not in the document. */
  homeless(root) {
    this.placed = new Map();
    const rest = [];
    for (const mark of this.marks) {
      const path = nearest(root, mark.path);
      if (path === "" || path === null) rest.push(note(mark));
      else this.placed.set(path, [...(this.placed.get(path) ?? []), mark]);
    }
    for (const path of [...this.placed.keys(), ...this.joins.keys()]) {
      for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1)) this.above.add(path.slice(0, cut));
    }
    return rest;
  }

  node(node, pointer, name, last) {
    this.left -= 1;
    const inner = node.items;
    if (!inner) return this.line(pointer, [label(name), leaf(node), last ? "" : ","]);
    const [open, close] = node.type === "object" ? "{}" : "[]";
    const end = last ? close : `${close},`;
    if (!inner.length) return this.line(pointer, [label(name), open + end]);
    const isOpen = this.left > 0 && (this.left > inner.length || pointer === "" || this.above.has(pointer));
    return this.folded(node, pointer, name, {open, close, end}, isOpen);
  }

  folded(node, pointer, name, {open, close, end}, isOpen) {
    const words = plural(node.items.length, node.type === "object" ? "field" : "item");
    const body = h("div", {class: "in"});
    const tail = h("div", {class: "ln"}, end);
    const preview = h("span", {class: "dim"}, ` ${words} `, end);
    const toggle = h("button", {type: "button", class: "fold", "aria-label": `${name ?? "document"}: ${words}`,
      onclick: () => set(!shown)});
    let shown = false, made = false;
    const set = on => {
      shown = on;
      if (on && !made) {
        made = true;
        if (this.left < 60) this.left = 60;
        this.fill(body, node, pointer, 0);
      }
      toggle.setAttribute("aria-expanded", on);
      body.hidden = tail.hidden = !on;
      preview.hidden = on;
    };
    const box = h("div", null, this.line(pointer, [toggle, label(name), open, preview]), body, tail);
    set(isOpen);
    return box;
  }

  fill(body, node, pointer, from) {
    const until = Math.min(from + FIRST_ITEMS, node.items.length);
    for (let i = from; i < until; i += 1) {
      const [name, child] = node.items[i];
      const at = pointerTo(pointer, name);
      body.append(this.node(child, at, node.type === "object" ? name : null, i === node.items.length - 1));
    }
    if (until < node.items.length) {
      const more = h("button", {type: "button", class: "quiet", onclick: () => {
        more.remove();
        this.left = 60;
        this.fill(body, node, pointer, until);
      }}, `show more (${node.items.length - until} left)`);
      body.append(more);
    }
  }

  line(pointer, parts) {
    const joined = this.joins.get(pointer);
    const marks = this.placed.get(pointer) ?? [];
    const line = h("div", {class: "ln", "data-at": pointer}, parts);
    if (joined !== undefined) {
      line.classList.add("joined");
      line.dataset.join = joined.join(" ");
      line.append(h("button", {type: "button", class: "chip", "aria-label": `joined place ${joined[0]}: go to the other side`}, joined[0]));
    }
    if (!marks.length) return line;
    const worst = ["error", "warning", "info"].find(one => marks.some(mark => mark.severity === one)) ?? "info";
    line.classList.add("marked", worst);
    return h("div", null, line, marks.map(note));
  }
}

/** A note under a line: what happened here, what it means, what to do. */
export function note({severity, title, text, advice}) {
  return h("details", {class: `note ${severity}`, open: severity !== "info"},
    h("summary", null, h("span", {class: "tag"}, severity), " ", title),
    text ? h("p", null, text) : null, advice ? h("p", null, advice) : null);
}

function label(name) {
  return name === null ? null : [h("span", {class: "key"}, JSON.stringify(name)), ": "];
}

function leaf(node) {
  if (node.type !== "string") return h("span", {class: node.type}, node.raw);
  const written = JSON.stringify(node.value);
  if (written.length <= LONG) return h("span", {class: "string"}, written);
  const span = h("span", {class: "string"}, `${written.slice(0, LONG)}…`);
  const more = h("button", {type: "button", class: "quiet", onclick: () => {
    span.textContent = written;
    more.remove();
  }}, `show all ${written.length} characters`);
  return [span, more];
}

/** The longest beginning of a pointer that the document has; null where the document has not even the first step. */
function nearest(root, pointer) {
  let node = root, found = "";
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = node.items?.find(([one]) => String(one) === name);
    if (!next) return found === "" ? null : found;
    node = next[1];
    found = `${found}/${step}`;
  }
  return found;
}
