// Owns the view of a stream: its frames one by one, and the answer as it stands after each of them.

import {h} from "./dom.js";
import {plural} from "./format.js";
import {allFrames} from "./frames.js";
import {jsonView, note} from "./json_view.js";
import {Answer} from "./stream_reader.js";

const SHOWN = 300;

/** The frames of a stream as a list; each opens as JSON. */
export function framesView(text, dialect, marks = []) {
  const frames = allFrames(text);
  const box = h("div", {class: "json frames", role: "region", tabindex: "0", "aria-label": `${dialect} stream`},
    marks.map(note));
  frames.slice(0, SHOWN).forEach((frame, index) => {
    const opened = h("div");
    const line = h("details", {ontoggle: () => {
      if (line.open && !opened.firstChild) opened.append(jsonView(frame.data, {label: `frame ${index + 1}`}));
    }}, h("summary", null, h("span", {class: "dim"}, `${index + 1} `), frame.event ? h("b", null, `${frame.event} `) : null,
      h("span", null, frame.data.slice(0, 160))), opened);
    box.append(line);
  });
  if (frames.length > SHOWN) box.append(h("p", {class: "dim"}, `${plural(frames.length - SHOWN, "more frame")} not listed.`));
  return box;
}

/** A stream that is stepped through. `times`: [[seconds, bytes]] of the pieces, or null. */
export function stepsView(text, dialect) {
  const frames = allFrames(text);
  if (!frames.length) return h("p", {class: "dim"}, "No frames were kept.");
  const name = h("output", {class: "dim"});
  const raw = h("div");
  const shown = h("div", {class: "turns"});
  const slider = h("input", {type: "range", min: 1, max: frames.length, value: frames.length, "aria-label": "frame",
    oninput: () => show(Number(slider.value))});
  const step = by => () => show(Math.min(frames.length, Math.max(1, Number(slider.value) + by)));
  function show(number) {
    slider.value = number;
    const frame = frames[number - 1];
    name.textContent = `frame ${number} of ${frames.length}${frame.event ? ` · ${frame.event}` : ""}`;
    raw.replaceChildren(jsonView(frame.data, {label: "frame"}));
    const answer = new Answer(dialect);
    frames.slice(0, number).forEach(one => answer.feed(one));
    shown.replaceChildren(...answerParts(answer));
  }
  show(1);
  return h("div", null,
    h("div", {class: "bar"}, h("button", {type: "button", onclick: step(-1), "aria-label": "frame before"}, "←"), slider,
      h("button", {type: "button", onclick: step(1), "aria-label": "next frame"}, "→"), name),
    h("div", {class: "sides"}, h("section", {class: "side"}, h("h3", null, "this frame"), raw),
      h("section", {class: "side"}, h("h3", null, "the answer so far"), shown)));
}

/** The parts of an answer that is being read. */
export function answerParts(answer) {
  const found = answer.parts.map(part => h("div", {class: `part ${part.kind}`},
    part.kind === "text" ? null : h("div", {class: "kind"}, part.kind, part.name ? h("span", {class: "dim"}, ` ${part.name} · ${part.id}`) : null),
    part.kind === "call" ? h("pre", null, part.text) : part.text));
  if (answer.fault) found.push(h("p", {class: "error", role: "alert"}, answer.fault));
  return found.length ? found : [h("p", {class: "dim"}, "nothing yet")];
}
