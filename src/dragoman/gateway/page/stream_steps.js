// Owns the views of a stream: the list of its frames, and the frames one by one with the answer as it is after each.

import {h} from "./dom.js";
import {plural} from "./format.js";
import {allFrames} from "./frames.js";
import {frameKey, framesBehind} from "./connection_curves.js";
import {jsonView, note} from "./json_view.js";
import {Answer} from "./stream_reader.js";

const SHOWN = 300;
const PACE = 120;

/** The frames of a stream as a list; each opens as JSON. `joins`: the numbers of the parts that a frame belongs to. */
export function framesView(text, dialect, marks = [], joins = new Map()) {
  const frames = allFrames(text), answer = new Answer(dialect);
  const box = h("div", {class: "json frames", role: "region", tabindex: "0", "aria-label": `${dialect} stream`},
    marks.map(note));
  frames.slice(0, SHOWN).forEach((frame, index) => {
    answer.feed(frame);
    const opened = h("div"), numbers = joins.get(frameKey(index));
    const line = h("details", {"data-at": frameKey(index), "data-join": numbers?.join(" "), ontoggle: () => {
      if (line.open && !opened.firstChild) opened.append(jsonView(frame.data, {label: `frame ${index + 1}`}));
    }}, h("summary", null, h("span", {class: "dim"}, `${index + 1} `), frame.event ? h("b", null, `${frame.event} `) : null,
      brought(answer, frame), numbers ? h("span", {class: "chip"}, numbers.join(" ")) : null), opened);
    box.append(line);
  });
  if (frames.length > SHOWN) box.append(h("p", {class: "dim"}, `${plural(frames.length - SHOWN, "more frame")} not listed.`));
  return box;
}

/** What a frame adds to the answer, in short; else the frame itself. */
function brought(answer, frame) {
  const added = answer.added.filter(one => one.text || one.name);
  if (!added.length) return h("span", {class: "dim"}, frame.data.slice(0, 160));
  return added.map(({kind, name, text}) => h("span", {class: `brought ${kind}`},
    kind === "call" ? `${name ?? ""}${name ? "(" : ""}${text ?? ""} ` : JSON.stringify(text)));
}

/**
 * A stream that is stepped through, or played. `behind`: {text, dialect, joined} of the upstream's stream: its frames that
 * brought the same characters are shown with each frame.
 */
export function stepsView(text, dialect, behind) {
  const frames = allFrames(text);
  if (!frames.length) return h("p", {class: "dim"}, "No frames were kept.");
  const sources = behind ? allFrames(behind.text) : [];
  const name = h("output", {class: "dim"});
  const raw = h("div"), from = h("div"), shown = h("div", {class: "turns"});
  let timer = 0;
  const slider = h("input", {type: "range", min: 1, max: frames.length, value: frames.length, "aria-label": "frame",
    oninput: () => { stop(); show(Number(slider.value)); }});
  const step = by => () => { stop(); show(Math.min(frames.length, Math.max(1, Number(slider.value) + by))); };
  const play = h("button", {type: "button", class: "main", onclick: () => timer ? stop() : run()}, "Play");
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }
  function run() {
    if (Number(slider.value) === frames.length) show(1);
    play.textContent = "Pause";
    timer = setInterval(() => {
      const next = Number(slider.value) + 1;
      if (next > frames.length || !play.isConnected) stop();
      else show(next);
    }, PACE);
  }
  function show(number) {
    slider.value = number;
    const frame = frames[number - 1];
    name.textContent = `frame ${number} of ${frames.length}${frame.event ? ` · ${frame.event}` : ""}`;
    raw.replaceChildren(jsonView(frame.data, {label: "frame"}));
    const sent = behind ? framesBehind(behind.joined, number - 1) : [];
    from.replaceChildren(...sent.slice(0, 3).map(one => jsonView(sources[one]?.data ?? "", {label: `frame ${one + 1} of the upstream`})));
    if (behind && !sent.length) from.append(h("p", {class: "dim"}, "No frame of the upstream has the text of this frame."));
    heading.textContent = sent.length ? `the upstream's ${sent.length > 1 ? "frames" : "frame"} ${sent.map(one => one + 1).join(", ")}` : "the upstream's frame";
    const answer = new Answer(dialect);
    frames.slice(0, number).forEach(one => answer.feed(one));
    shown.replaceChildren(...answerParts(answer));
  }
  const heading = h("span");
  show(1);
  return h("div", null,
    h("div", {class: "bar"}, play, h("button", {type: "button", onclick: step(-1), "aria-label": "frame before"}, "←"), slider,
      h("button", {type: "button", onclick: step(1), "aria-label": "next frame"}, "→"), name),
    h("section", {class: "so-far"}, h("h3", null, "the answer so far"), shown),
    h("div", {class: "sides"}, h("section", {class: "side"}, h("h3", null, "this frame", h("span", {class: "dialect"}, dialect)), raw),
      behind ? h("section", {class: "side"}, h("h3", null, heading, h("span", {class: "dialect"}, behind.dialect)), from) : null));
}

/** The parts of an answer that is being read. */
export function answerParts(answer) {
  const found = answer.parts.map(part => h("div", {class: `part ${part.kind}`},
    part.kind === "text" ? null : h("div", {class: "kind"}, part.kind, part.name ? h("span", {class: "dim"}, ` ${part.name} · ${part.id}`) : null),
    part.kind === "call" || part.kind === "raw" ? h("pre", null, part.text) : part.text));
  if (answer.fault) found.push(h("p", {class: "error", role: "alert"}, answer.fault));
  return found.length ? found : [h("p", {class: "dim"}, "nothing yet")];
}
