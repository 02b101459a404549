// Owns the view of two documents side by side, with the places joined that hold the same thing.

import {h} from "./dom.js";
import {plural} from "./format.js";
import {isStream} from "./frames.js";
import {join, numbersAt} from "./connection_curves.js";
import {jsonView} from "./json_view.js";
import {framesView} from "./stream_steps.js";

/** Two bodies. `left` and `right`: {title, text, dialect, marks}; `joined`: [{from, to, what, ids}]. */
export function sideBySide(left, right, joined = []) {
  const box = h("div", {class: "sides"}, side(left, numbersAt(joined, "from")), side(right, numbersAt(joined, "to")));
  join(box, joined);
  const renamed = joined.filter(one => one.ids).length;
  const words = `${plural(joined.length, "place")} joined${renamed ? `, ${plural(renamed, "id")} changed` : ""}. `;
  return h("div", null, box, joined.length ? h("p", {class: "dim small"}, words,
    "The same number, and the line between them, mark the same thing on both sides.") : null);
}

function side({title, text, dialect, marks = []}, joins) {
  const body = isStream(text) ? framesView(text, dialect, marks, joins) : jsonView(text, {marks, joins, label: title});
  return h("section", {class: "side"}, h("h3", null, title, dialect ? h("span", {class: "dialect"}, dialect) : null), body);
}
