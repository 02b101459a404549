// Owns the curves between two documents side by side: each joins the places of the same value, with a light on both ends
// while the pointer or the focus is on one of them.

import {svg} from "./dom.js";

/** The key of a place: a JSON pointer, or the number of a frame. */
export function frameKey(number) { return `#${number}`; }

/** For one side of the joined rows: which numbers are at which place. */
export function numbersAt(rows, side) {
  const found = new Map();
  rows.forEach((row, index) => {
    const keys = typeof row[side] === "string" ? [row[side]] : row[side].map(([frame]) => frameKey(frame));
    for (const key of keys) found.set(key, [...(found.get(key) ?? []), index + 1]);
  });
  return found;
}

/** Pairs of places of one row. Frames of two streams are paired where they bring the same characters. */
function pairs({from, to}) {
  const first = place => typeof place === "string" ? place : frameKey((place.find(([, start, end]) => start < end) ?? place[0])[0]);
  if (typeof from === "string" || typeof to === "string" || length(from) !== length(to)) return [[first(from), first(to)]];
  const found = [], left = from.filter(full), right = to.filter(full);
  for (let i = 0, k = 0; i < left.length && k < right.length;) {
    found.push([frameKey(left[i][0]), frameKey(right[k][0])]);
    if (left[i][2] <= right[k][2]) i += 1; else k += 1;
    while (i < left.length && k < right.length && left[i][1] >= right[k][2]) k += 1;
  }
  return found.length ? found : [[first(from), first(to)]];
}

function full([, start, end]) { return start < end; }
function length(frames) { return Math.max(0, ...frames.map(([, , end]) => end)); }

/** The frames of the other stream that bring the characters of a frame. */
export function framesBehind(rows, frame) {
  const found = new Set();
  for (const row of rows) {
    if (typeof row.from === "string" || typeof row.to === "string") continue;
    for (const [from, to] of pairs(row)) if (from === frameKey(frame)) found.add(Number(to.slice(1)));
  }
  return [...found].sort((one, other) => one - other);
}

/** Draw the curves between both sides of `box`, and keep them right while the sides scroll, fold and are pointed at. */
export function join(box, rows) {
  const all = rows.flatMap((row, index) => pairs(row).map(([from, to]) => ({number: index + 1, what: row.what, from, to})));
  if (!all.length) return;
  const picture = svg("svg", {class: "curves", "aria-hidden": "true"});
  box.append(picture);
  const sides = [...box.querySelectorAll(":scope > .side")];
  let lit = new Set(), waiting = false;

  function draw() {
    waiting = false;
    const area = box.getBoundingClientRect();
    if (!area.width || getComputedStyle(picture).display === "none") return;
    const [left, right] = sides.map(ends);
    const frame = sides.map(side => side.querySelector(".json").getBoundingClientRect());
    const x = frame[0].right - area.left, to = frame[1].left - area.left, half = (x + to) / 2;
    picture.replaceChildren(...all.flatMap(row => {
      const one = left.get(row.from), other = right.get(row.to);
      if (!one || !other || (one.away && other.away)) return [];
      const y = one.y - area.top, end = other.y - area.top;
      const state = `${lit.has(row) ? " lit" : ""}${one.away || other.away ? " away" : ""}`;
      return svg("path", {d: `M${x} ${y} C${half} ${y} ${half} ${end} ${to} ${end}`, class: row.what + state});
    }));
  }
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  }
  function light(line) {
    const side = line ? sides.findIndex(one => one.contains(line)) : -1;
    const key = line?.dataset.at;
    const numbers = new Set(line?.dataset.join.split(" "));
    lit = new Set(all.filter(row => key === (side ? row.to : row.from)));
    for (const [index, one] of sides.entries()) {
      const ends = new Set([...lit].map(row => index ? row.to : row.from));
      for (const found of one.querySelectorAll("[data-join]")) {
        const kin = found.dataset.join.split(" ").some(number => numbers.has(number));
        found.classList.toggle("lit", found === line || ends.has(found.dataset.at));
        found.classList.toggle("kin", kin);
      }
    }
    later();
  }
  const over = event => light(event.target.closest("[data-join]"));
  box.addEventListener("pointerover", over);
  box.addEventListener("pointerleave", () => light(null));
  box.addEventListener("focusin", over);
  box.addEventListener("click", event => {
    later();
    const chip = event.target.closest("button.chip");
    if (!chip) return;
    const line = chip.closest("[data-join]"), other = sides.find(side => !side.contains(line));
    const there = other?.querySelector(`[data-join~="${CSS.escape(line.dataset.join.split(" ")[0])}"]`);
    there?.scrollIntoView({block: "center"});
  });
  box.addEventListener("scroll", later, true);
  box.addEventListener("toggle", later, true);
  new ResizeObserver(later).observe(box);
}

/** Where the joined lines of a side are now, by their keys. A line outside of the visible part is `away`. */
function ends(side) {
  const view = side.querySelector(".json").getBoundingClientRect(), found = new Map();
  for (const line of side.querySelectorAll("[data-join]")) {
    const place = line.getBoundingClientRect();
    if (!place.height || found.has(line.dataset.at)) continue;
    const y = place.top + Math.min(place.height, 24) / 2;
    const seen = Math.min(view.bottom - 4, Math.max(view.top + 4, y));
    found.set(line.dataset.at, {y: seen, away: seen !== y});
  }
  return found;
}
