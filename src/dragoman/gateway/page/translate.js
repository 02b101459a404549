// Owns the view Translate: a document that is pasted or dropped, in all dialects at once, with findings and losses.

import {choices, copyButton, h} from "./dom.js";
import {bytes, plural} from "./format.js";
import {isStream} from "./frames.js";
import {postJson} from "./gateway.js";
import {jsonView, note} from "./json_view.js";
import {JsonMistake, readJson} from "./json_text.js";
import {findingMark, lossMark, tally, worst} from "./marks.js";
import {SAMPLES} from "./samples.js";
import {sideBySide} from "./wire.js";

const WAIT = 350;

export class Translate {
  #timer = 0;
  #number = 0;
  #chosen = "";

  constructor(about) {
    this.about = about;
    this.input = h("textarea", {"aria-label": "document", spellcheck: "false", placeholder: "Paste or drop a request, an answer, a stream or a list of tools. Nothing leaves this machine.",
      oninput: () => this.#later(), ondragover: event => event.preventDefault(), ondrop: event => this.#drop(event)});
    this.kind = h("select", {"aria-label": "kind", onchange: () => this.run()},
      choices([["", "find the kind"], ["request", "request"], ["response", "answer"], ["stream", "stream"], ["tools", "tools"]], ""));
    this.source = h("select", {"aria-label": "dialect of the document", onchange: () => this.run()}, choices([["", "find the dialect"], ...about.dialects], ""));
    this.model = h("input", {"aria-label": "model at the target", placeholder: "model: unchanged", onchange: () => this.run()});
    this.message = h("p", {"aria-live": "polite", class: "reasons"});
    this.targets = h("div", {class: "targets", role: "group", "aria-label": "dialects"});
    this.result = h("div");
    const samples = Object.entries(SAMPLES).map(([kind, [title]]) => h("button", {type: "button", class: "quiet", onclick: () => this.sample(kind)}, title));
    this.element = h("div", {class: "page"}, h("h2", {class: "unseen"}, "Translate"),
      h("div", {class: "bar"}, h("span", {class: "dim"}, "sample:"), samples, h("span", {class: "spread"}), this.kind, this.source, this.model),
      this.input, this.message, this.targets, this.result);
  }

  sample(kind) {
    const [, dialect, text] = SAMPLES[kind];
    this.input.value = text;
    this.kind.value = this.source.value = "";
    if (kind === "tools") [this.kind.value, this.source.value] = [kind, dialect];  // a list alone names no dialect
    return this.run();
  }

  async #drop(event) {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    this.input.value = file ? await file.text() : event.dataTransfer.getData("text");
    this.kind.value = this.source.value = "";
    await this.run();
  }

  #later() {
    clearTimeout(this.#timer);
    this.kind.value = this.source.value = "";
    this.#timer = setTimeout(() => this.run(), WAIT);
  }

  async run() {
    const body = this.input.value, number = this.#number += 1;
    this.targets.replaceChildren();
    this.result.replaceChildren();
    if (!body.trim()) {
      this.message.textContent = "";
      return;
    }
    const mistake = jsonMistake(body);
    if (mistake) return this.#fail(`This is not valid JSON: ${mistake.message}.`);
    this.message.textContent = body.length > 100_000 ? `translating ${bytes(body.length)}…` : "translating…";
    try {
      const found = await postJson("/dragoman/translate", {body, kind: this.kind.value, source: this.source.value, model: this.model.value});
      if (number === this.#number) this.#show(body, found);
    } catch (error) {
      if (number === this.#number) this.#fail(error.message);
    }
  }

  #fail(message) {
    this.message.replaceChildren(h("span", {class: "error"}, message));
  }

  #show(body, {source, reasons, kind, findings, targets}) {
    const why = reasons.length ? `, because of ${reasons.join(", ")}` : "";
    this.message.replaceChildren(h("b", null, `${source} ${kind === "response" ? "answer" : kind}`), why,
      findings.length ? ` · ${plural(findings.length, "finding")} of lint` : " · no finding of lint");
    const names = Object.keys(targets);
    if (!names.includes(this.#chosen) || this.#chosen === source) this.#chosen = ["gemini", "anthropic", ...names].find(name => name !== source && names.includes(name));
    const buttons = names.map(name => {
      const {error, losses = []} = targets[name], marks = losses.map(lossMark);
      const words = error ? "refused" : marks.length ? tally(marks) : name === source ? "its own dialect" : "nothing lost";
      return h("button", {type: "button", class: `target ${error ? "error" : worst(marks) || "good"}`, "aria-pressed": name === this.#chosen,
        onclick: () => {
          this.#chosen = name;
          buttons.forEach((one, index) => one.setAttribute("aria-pressed", names[index] === name));
          this.#open(body, source, kind, findings, targets);
        }}, h("b", null, name), h("span", null, words));
    });
    this.targets.replaceChildren(...buttons);
    this.#open(body, source, kind, findings, targets);
  }

  #open(body, source, kind, findings, targets) {
    const {error, body: written = "", losses = [], joined = []} = targets[this.#chosen];
    const marks = [...findings.map(findingMark), ...losses.map(lossMark)];
    if (error) {
      this.result.replaceChildren(note({severity: "error", title: error}), jsonView(body, {marks: findings.map(findingMark), label: source}));
      return;
    }
    this.result.replaceChildren(
      h("div", {class: "bar"}, h("span", {class: "spread"}), copyButton(`Copy the ${this.#chosen} document`, () => written)),
      sideBySide({title: "source", text: body, dialect: source, marks}, {title: "target", text: written, dialect: this.#chosen}, joined));
  }
}

/** The mistake in a document that should be JSON; null for streams and good documents. */
function jsonMistake(body) {
  if (isStream(body)) return null;
  try { readJson(body); } catch (error) {
    if (error instanceof JsonMistake && !error.message.includes("too deeply")) return error;
  }
  return null;
}
