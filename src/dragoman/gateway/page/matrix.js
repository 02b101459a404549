// Owns the view Matrix: 49 pairs of dialects by feature, tried by this gateway, every cell explained in words.

import {choices, h} from "./dom.js";
import {plural} from "./format.js";
import {getJson} from "./gateway.js";
import {note} from "./json_view.js";
import {lossMark} from "./marks.js";

const SIGNS = {"": "✓", info: "✓", warning: "!", error: "✗"};
const WORDS = {
  "": "arrives complete", info: "arrives, with a note", warning: "arrives changed: model or client may behave differently",
  error: "is lost",
};

export class Matrix {
  constructor() {
    this.feature = h("select", {"aria-label": "feature", onchange: () => this.#draw()});
    this.table = h("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "matrix"});
    this.words = h("div", {class: "box", "aria-live": "polite"}, h("p", {class: "dim"}, "Choose a cell."));
    this.element = h("div", {class: "page"}, h("h2", {class: "unseen"}, "Matrix"), h("div", {class: "bar"}, h("label", null, "feature ", this.feature),
      h("span", {class: "legend"}, Object.keys(SIGNS).map(severity => h("span", {class: `cell ${severity || "good"}`}, `${SIGNS[severity]} ${WORDS[severity]}`)),
        h("span", {class: "cell none"}, "– the source dialect has no such thing"))), this.table, this.words);
  }

  async show() {
    if (this.data) return;
    this.table.replaceChildren(h("p", {class: "dim"}, "translating every feature between all dialects…"));
    try {
      this.data = await getJson("/dragoman/matrix");
    } catch (error) {
      this.table.replaceChildren(h("p", {class: "error"}, error.message));
      return;
    }
    this.feature.replaceChildren(...choices([["", "all features: how many arrive"], ...Object.entries(this.data.features)], ""));
    this.#draw();
  }

  #draw() {
    const {dialects} = this.data, feature = this.feature.value;
    const head = h("tr", null, h("th", {scope: "col"}, "from \\ to"), dialects.map(name => h("th", {scope: "col"}, name)));
    const body = dialects.map(source => h("tr", null, h("th", {scope: "row"}, source),
      dialects.map(target => h("td", null, this.#cell(feature, source, target)))));
    this.table.replaceChildren(h("table", {class: "matrix"}, h("thead", null, head), h("tbody", null, body)));
  }

  /** The features of one pair that the source has, each with its cell. */
  #pair(source, target) {
    return Object.keys(this.data.features).filter(name => this.data.cells[name][source]).map(name => [name, this.data.cells[name][source][target]]);
  }

  #cell(feature, source, target) {
    if (!feature) {
      const pair = this.#pair(source, target);
      const lost = pair.filter(([, cell]) => cell.severity === "error").length;
      const changed = pair.filter(([, cell]) => cell.severity === "warning").length;
      const severity = lost ? "error" : changed ? "warning" : "";
      return h("button", {type: "button", class: `cell ${severity || "good"}`, "aria-label": `${source} to ${target}: ${pair.length - lost - changed} of ${pair.length} features arrive`,
        onclick: () => this.#explainPair(source, target, pair)}, `${pair.length - lost - changed}/${pair.length}`);
    }
    const row = this.data.cells[feature][source];
    if (!row) return h("button", {type: "button", class: "cell none", "aria-label": `${source} has no such thing`, onclick: () => this.#say(`${source} itself has no place for this: ${this.data.features[feature]}.`)}, "–");
    const cell = row[target];
    return h("button", {type: "button", class: `cell ${cell.severity || "good"}`, "aria-label": `${source} to ${target}: ${WORDS[cell.severity]}`,
      onclick: () => this.#explain(feature, source, target, cell)}, SIGNS[cell.severity]);
  }

  #say(...words) { this.words.replaceChildren(...words.map(one => typeof one === "string" ? h("p", null, one) : one)); }

  #explain(feature, source, target, cell) {
    const title = `${this.data.features[feature]}, from ${source} to ${target}: ${WORDS[cell.severity]}.`;
    this.#say(h("h2", null, title), ...(cell.error ? [note({severity: "error", title: cell.error})] : []),
      ...cell.losses.map(lossMark).map(note));
  }

  #explainPair(source, target, pair) {
    const bad = pair.filter(([, cell]) => ["warning", "error"].includes(cell.severity));
    this.#say(h("h2", null, `From ${source} to ${target}: ${pair.length - bad.length} of ${plural(pair.length, "feature")} arrive.`),
      h("p", {class: "dim"}, `Complete or with a note: ${pair.filter(one => !bad.includes(one)).map(([name]) => name).join(", ")}.`),
      ...bad.map(([name, cell]) => h("div", null, h("p", null, h("b", null, this.data.features[name]), ` ${WORDS[cell.severity]}.`),
        cell.losses.filter(loss => loss.severity !== "info").map(lossMark).map(note))));
  }
}
