// Owns the view Ask: a question to any model in any dialect. The conversation is kept as Chat messages; the gateway
// writes each request in the chosen dialect, and the answer is read as it streams.

import {QUESTIONS, TOOLS, declared, outcome} from "./ask_tools.js";
import {choices, h} from "./dom.js";
import {exchangePanel} from "./exchange.js";
import {duration, tokens} from "./format.js";
import {Frames} from "./frames.js";
import {getJson, postJson, readPieces, send} from "./gateway.js";
import {answerParts} from "./stream_steps.js";
import {Answer} from "./stream_reader.js";

export class Ask {
  #messages = [];
  #about;
  #stop = null;

  constructor(about) {
    this.#about = about;
    this.words = h("textarea", {"aria-label": "question", rows: 2, placeholder: "Ask any model", onkeydown: event => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.submit();
      }
    }});
    this.models = h("datalist", {id: "models"});
    this.model = h("input", {"aria-label": "model", list: "models", value: "rehearsal/rules"});
    this.dialect = h("select", {"aria-label": "dialect of the request"}, choices(about.dialects, "anthropic"));
    this.tools = TOOLS.map(tool => h("input", {type: "checkbox", value: tool.name}));
    this.turns = h("div", {class: "turns", "aria-live": "polite"});
    this.panel = h("aside", {class: "beside", "aria-label": "wire of the turn", hidden: true});
    this.button = h("button", {type: "submit", class: "main"}, "Ask");
    const form = h("form", {class: "box", onsubmit: event => { event.preventDefault(); this.submit(); }}, this.words,
      h("div", {class: "bar settings"}, h("label", null, "model ", this.model), this.models, h("label", null, "dialect ", this.dialect),
        h("button", {type: "button", class: "quiet", onclick: () => this.clear()}, "New conversation"), this.button),
      h("fieldset", {class: "bar"}, h("legend", {class: "dim"}, "tools"), this.tools.map((box, index) => h("label", {title: TOOLS[index].description}, box, ` ${TOOLS[index].name}`))));
    this.ideas = h("div", {class: "bar ideas"}, h("span", {class: "dim"}, "Try"), QUESTIONS.map(([words, tools]) => h("button", {type: "button", onclick: () => {
      TOOLS.forEach((tool, index) => { this.tools[index].checked ||= tools.includes(tool.name); });
      this.words.value = words;
      this.submit();
    }}, words)));
    this.element = h("div", {class: "split"}, h("div", {class: "list"}, h("h2", {class: "unseen"}, "Ask"), form, this.ideas, this.turns), this.panel);
    this.#listModels();
  }

  async #listModels() {
    const found = await getJson("/v1/models").catch(() => ({data: []}));
    this.models.replaceChildren(...found.data.map(one => h("option", {value: one.id})));
  }

  clear() {
    this.#stop?.abort();
    this.#messages = [];
    this.turns.replaceChildren();
    this.ideas.hidden = false;
    this.#close();
    this.words.focus();
  }

  submit() {
    if (this.#stop) {
      this.#stop.abort();
      return;
    }
    const words = this.words.value.trim();
    if (!words) return;
    this.words.value = "";
    this.ideas.hidden = true;
    this.#messages.push({role: "user", content: words});
    this.turns.append(h("section", {class: "turn user"}, h("h3", null, "you"), h("div", {class: "part text"}, words)));
    this.#answer();
  }

  async #answer() {
    const stop = this.#stop = new AbortController();
    const shown = h("div"), foot = h("div", {class: "bar dim"}, "asking…");
    const turn = h("section", {class: "turn assistant"}, h("h3", null, this.model.value), shown, foot);
    this.turns.append(turn);
    this.button.textContent = "Stop";
    const dialect = this.dialect.value, answer = new Answer(dialect), began = performance.now();
    let first = null, id = "";
    try {
      const {path, body} = await this.#written(dialect);
      const reply = await send(path, {method: "POST", headers: {"content-type": "application/json"}, body, signal: stop.signal});
      id = reply.headers.get("dragoman-exchange") ?? "";
      const frames = new Frames();
      await readPieces(reply, text => {
        first ??= performance.now() - began;
        frames.feed(text).forEach(frame => answer.feed(frame));
        shown.replaceChildren(...answerParts(answer));
      });
      frames.close().forEach(frame => answer.feed(frame));
    } catch (error) {
      answer.fault = error.name === "AbortError" ? "stopped" : error.message;
    }
    shown.replaceChildren(...answerParts(answer));
    this.#stop = null;
    this.button.textContent = "Ask";
    this.#foot(foot, dialect, answer, first, performance.now() - began, id);
    if (answer.fault || !answer.known) return;
    this.#remember(answer, turn);
  }

  /** Address and body of the next request, written by the gateway in the chosen dialect. */
  async #written(dialect) {
    const model = this.model.value.trim();
    const offered = TOOLS.filter((_, index) => this.tools[index].checked).map(declared);
    const request = {model, messages: this.#messages, stream: true, ...(offered.length ? {tools: offered} : {})};
    const {body} = await postJson("/dragoman/translate", {body: JSON.stringify(request), source: "openai-chat", target: dialect, kind: "request", stream: true});
    return {path: this.#about.paths[dialect][1].replace("{model}", encodeURIComponent(model)), body};
  }

  #foot(foot, dialect, answer, first, total, id) {
    const facts = [dialect, tokens(answer.usage), first === null ? "" : `first token after ${duration(first / 1000)}`, `end after ${duration(total / 1000)}`, answer.stop];
    foot.replaceChildren(h("span", null, facts.filter(Boolean).join(" · ")));
    if (id) foot.append(h("button", {type: "button", class: "quiet", onclick: () => this.#open(id)}, "wire"));
  }

  #remember(answer, turn) {
    const text = answer.parts.filter(one => one.kind === "text").map(one => one.text).join("");
    const calls = answer.parts.filter(one => one.kind === "call");
    calls.forEach((call, index) => { call.id ||= `call_${this.#messages.length}_${index}`; });
    const called = calls.map(({id, name, text: given}) => ({id, type: "function", function: {name, arguments: given || "{}"}}));
    this.#messages.push({role: "assistant", content: text || null, ...(called.length ? {tool_calls: called} : {})});
    if (calls.length) this.#results(calls, turn);
  }

  /** A form with a result for each call. Calls that the page can run are answered at once. */
  #results(calls, turn) {
    const found = calls.map(call => ({call, ...outcome(call.name, call.text)}));
    const boxes = found.map(({call, text, sample}) => h("input", {"aria-label": `result of ${call.name}`, value: text ?? sample ?? "", readonly: text !== undefined}));
    const form = h("form", {class: "results", onsubmit: event => {
      event.preventDefault();
      calls.forEach((call, index) => this.#messages.push({role: "tool", tool_call_id: call.id, content: boxes[index].value}));
      const done = calls.map((call, index) => h("div", {class: "part result"}, h("div", {class: "kind"}, "result ", h("span", {class: "dim"}, call.name)), boxes[index].value));
      form.replaceWith(...done);
      this.#answer();
    }}, found.map(({call}, index) => h("label", null, `result of ${call.name} `, boxes[index])), h("button", {class: "main"}, "Send results"));
    turn.append(form);
    if (found.every(one => one.text !== undefined)) form.requestSubmit();
  }

  async #open(id) {
    this.panel.hidden = false;
    this.element.classList.add("opened");
    const close = h("button", {type: "button", class: "close", "aria-label": "close the wire", onclick: () => this.#close()}, "×");
    try {
      this.panel.replaceChildren(close, await exchangePanel(id, this.#about));
    } catch (error) {
      this.panel.replaceChildren(close, h("p", {class: "error"}, error.message));
    }
  }

  #close() {
    this.panel.hidden = true;
    this.element.classList.remove("opened");
  }
}
