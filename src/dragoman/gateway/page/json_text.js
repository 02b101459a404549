// Owns the reading of JSON for display. Unlike JSON.parse it keeps numbers as they were written, keeps names that occur
// twice, and gives the line and the column of a mistake.

export class JsonMistake extends Error {
  constructor(what, text, at) {
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    super(`${what} in line ${line}, column ${column}`);
    this.line = line;
    this.column = column;
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const WORD = /true|false|null/y;
const DEEPEST = 200;

/** A tree of nodes: {type: object|array|string|number|word, items: [[name, node]], value, raw}. */
export function readJson(text) {
  let at = 0;
  function skip() {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  }
  function take(pattern) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return null;
    at = pattern.lastIndex;
    return found[0];
  }
  function fail(what) { throw new JsonMistake(what, text, at); }
  function string() {
    const raw = take(STRING);
    if (raw === null) fail(at >= text.length ? "the text ends too early" : "a text in quotes is expected");
    try { return JSON.parse(raw); } catch { return fail("an escape that JSON does not know"); }
  }
  function list(close, depth, named) {
    const items = [];
    at += 1;
    skip();
    if (text[at] === close) { at += 1; return items; }
    for (;;) {
      let name = items.length;
      if (named) {
        name = string();
        skip();
        if (text[at] !== ":") fail("a colon is expected");
        at += 1;
      }
      items.push([name, value(depth + 1)]);
      skip();
      if (text[at] === ",") { at += 1; skip(); continue; }
      if (text[at] !== close) fail(at >= text.length ? "the text ends too early" : `a comma or ${close} is expected`);
      at += 1;
      return items;
    }
  }
  function value(depth) {
    if (depth > DEEPEST) fail("the JSON is nested too deeply to be shown");
    skip();
    const first = text[at];
    if (first === "{") return {type: "object", items: list("}", depth, true)};
    if (first === "[") return {type: "array", items: list("]", depth, false)};
    if (first === '"') return {type: "string", value: string()};
    const number = take(NUMBER);
    if (number !== null) return {type: "number", raw: number};
    const word = take(WORD);
    if (word !== null) return {type: "word", raw: word};
    return fail(at >= text.length ? "the text ends too early" : `${JSON.stringify(first)} is not expected`);
  }
  const root = value(0);
  skip();
  if (at < text.length) fail("there is more text after the end");
  return root;
}

/** The JSON pointer of a child. */
export function pointerTo(pointer, name) {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
