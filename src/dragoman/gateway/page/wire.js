// Owns the view of two documents side by side, with the places joined that hold the same thing.

import {h} from "./dom.js";
import {plural} from "./format.js";
import {isStream} from "./frames.js";
import {jsonView} from "./json_view.js";
import {framesView} from "./stream_steps.js";

/** Two bodies. `left` and `right`: {title, text, dialect, marks}; `joined`: [{from, to, what, ids}]. */
export function sideBySide(left, right, joined = []) {
  const numbers = {left: new Map(), right: new Map()};
  joined.forEach(({from, to}, index) => {
    if (!numbers.left.has(from)) numbers.left.set(from, index + 1);
    if (!numbers.right.has(to)) numbers.right.set(to, index + 1);
  });
  const box = h("div", {class: "sides"});
  const sides = {};
  const onjoin = (number, how, line) => {
    for (const found of box.querySelectorAll(`[data-join="${number}"]`)) {
      found.classList.toggle("lit", how !== "off");
      if (how === "go" && found !== line) found.scrollIntoView({block: "center"});
    }
  };
  sides.left = side(left, numbers.left, onjoin);
  sides.right = side(right, numbers.right, onjoin);
  const renamed = joined.filter(one => one.ids).length;
  const words = joined.length ? `${plural(joined.length, "place")} joined${renamed ? `, ${plural(renamed, "id")} changed` : ""}. ` : "";
  return h("div", null, words ? h("p", {class: "dim"}, words, "The same number marks the same thing on both sides.") : null,
    fill(box, sides.left, sides.right));
}

function fill(box, ...children) {
  box.append(...children);
  return box;
}

function side({title, text, dialect, marks = []}, joins, onjoin) {
  const body = isStream(text) ? framesView(text, dialect, marks) : jsonView(text, {marks, joins, onjoin, label: title});
  return h("section", {class: "side"}, h("h3", null, title, dialect ? h("span", {class: "dialect"}, dialect) : null), body);
}
