// Owns the time line of one exchange: until the upstream's head, until the first byte for the client, until the end.

import {h, svg} from "./dom.js";
import {duration, plural} from "./format.js";

/** `timing`: {answer, first_byte, total} in seconds; `times`: [[seconds since the head, bytes]] of a stream, or null. */
export function timeline({answer, first_byte: first, total}, times) {
  if (!total) return null;
  const width = 600, x = seconds => Math.min(width, width * seconds / total);
  const begin = first ?? answer ?? total;
  const picture = svg("svg", {viewBox: `0 0 ${width} 26`, class: "timeline", role: "img", preserveAspectRatio: "none",
    "aria-label": `first byte after ${duration(begin)}, end after ${duration(total)}`},
    svg("rect", {x: 0, y: 9, width: x(begin), height: 8, class: "wait"}),
    svg("rect", {x: x(begin), y: 9, width: Math.max(1, width - x(begin)), height: 8, class: "flow"}));
  const head = answer ?? begin;
  for (const [seconds] of (times ?? []).slice(0, 600)) {
    picture.append(svg("line", {x1: x(head + seconds), x2: x(head + seconds), y1: 3, y2: 23, class: "tick"}));
  }
  const words = [
    answer !== null && answer !== undefined ? `upstream answered after ${duration(answer)}` : "",
    `first token after ${duration(begin)}`, `end after ${duration(total)}`,
    times ? plural(times.length, "piece") : "",
  ].filter(Boolean).join(" · ");
  return h("figure", {class: "times"}, picture, h("figcaption", {class: "dim"}, words));
}
