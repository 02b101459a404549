// Owns the panel of one exchange: its facts, and its views as conversation, wire, stream, tool cycle and headers.

import {conversationView} from "./conversation.js";
import {choices, copyButton, h, tabs} from "./dom.js";
import {clock, dollars, plural, tokens} from "./format.js";
import {isStream} from "./frames.js";
import {getJson, readPieces, send} from "./gateway.js";
import {toolCycleView} from "./tool_cycle.js";
import {lossMark, tally, worst} from "./marks.js";
import {asCase, asCurl, asPython, whyNot} from "./snippets.js";
import {stepsView} from "./stream_steps.js";
import {timeline} from "./timeline.js";
import {sideBySide} from "./wire.js";

let lastTab = "Conversation";

/** The panel of the exchange with this id. `about` has the upstreams to which it can be sent again. */
export async function exchangePanel(id, about) {
  const one = await getJson(`/dragoman/exchanges/${encodeURIComponent(id)}`);
  const marks = one.losses.map(lossMark);
  const panels = [
    ["Conversation", () => conversationView(one.canon, one.response)],
    ["Wire", () => wireView(one, marks)],
    ...(isStream(one.delivered) ? [["Stream", () => stepsView(one.delivered, one.dialect, upstreamStream(one))]] : []),
    ["Tool cycle", () => toolCycleView(one.canon, one.response, one.joined, {dialect: one.dialect, upstream: one.upstream_dialect})],
    ["Facts", () => factsView(one)],
  ];
  const {bar, shown} = tabs("views of the exchange", panels, lastTab, name => { lastTab = name; });
  const {buttons, result} = actions(one, about);
  return h("article", null, header(one, marks), h("div", {class: "over"}, bar, buttons), result, shown);
}

/** The upstream's stream behind the client's; null where there is none, or where both are the same bytes. */
function upstreamStream(one) {
  if (!isStream(one.answer) || one.answer === one.delivered) return null;
  return {text: one.answer, dialect: one.upstream_dialect, joined: one.joined_answer};
}

function header(one, marks) {
  const failed = one.status >= 400 || one.error;
  const upstream = one.upstream ? `${one.upstream} (${one.upstream_dialect})` : "no upstream";
  const facts = [
    ["client", one.dialect], ["upstream", upstream],
    ...(one.upstream_model && one.upstream_model !== one.model ? [["as", one.upstream_model]] : []),
    ["tokens", tokens(one.usage) || "not counted"], ["cost", one.cost === null ? "unknown" : dollars(one.cost)],
    ...(one.attempts > 1 ? [["attempts", one.attempts]] : []),
  ];
  return h("header", {class: "facts"}, h("h2", null, one.model || "(no model)"),
    h("span", {class: failed ? "badge error" : "badge good"}, one.status || "broken off"),
    marks.length ? h("span", {class: `tag ${worst(marks)}`, title: "The view Wire shows each loss at its line."}, `losses: ${tally(marks)}`) : null,
    h("span", {class: "dim"}, clock(one.began)),
    h("dl", {class: "inline"}, facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    one.error ? h("p", {class: "error"}, one.error) : null,
    one.note ? h("p", {class: "dim"}, one.note) : null,
    one.repairs.length ? h("p", null, plural(one.repairs.length, "repair"), ` of the history: ${one.repairs.map(it => it.name).join(", ")}`) : null,
    timeline(one.timing, one.stream_times));
}

function wireView(one, marks) {
  const inRequest = marks.filter(mark => mark.document === "request");
  const inAnswer = marks.filter(mark => mark.document !== "request");
  const upstream = one.upstream_dialect || "none";
  const box = h("div");
  const sent = one.sent || (upstream === "rehearsal" ? "" : one.sent);
  if (sent) {
    box.append(sideBySide({title: "request from the client", text: one.request, dialect: one.dialect, marks: inRequest},
      {title: "request to the upstream", text: sent, dialect: upstream}, one.joined));
  } else {
    box.append(h("p", {class: "dim"}, upstream === "rehearsal" ? "The built-in rehearsal answered. Nothing was sent to an upstream." : "Nothing was sent to an upstream."),
      sideBySide({title: "request from the client", text: one.request, dialect: one.dialect, marks: inRequest},
        {title: "answer to the client", text: one.delivered, dialect: one.dialect, marks: inAnswer}));
    return box;
  }
  box.append(sideBySide({title: "answer to the client", text: one.delivered, dialect: one.dialect},
    {title: "answer from the upstream", text: one.answer, dialect: upstream, marks: inAnswer}, one.joined_answer));
  return box;
}

function factsView(one) {
  const headers = (title, found) => h("section", null, h("h3", null, title), h("dl", {class: "table"},
    Object.entries(found).map(([name, value]) => [h("dt", null, name), h("dd", null, value)])));
  return h("div", null,
    h("p", null, h("span", {class: "dim"}, "id "), h("code", null, one.id), h("span", {class: "dim"}, " path "), h("code", null, one.path)),
    one.tries.length ? h("section", null, h("h3", null, "Attempts that failed"),
      h("ul", null, one.tries.map(it => h("li", null, `${it.upstream} ${it.model}: ${it.kind} ${it.status} ${it.message}`)))) : null,
    headers("Headers of the client", one.headers), headers("Headers of the upstream's answer", one.answer_headers));
}

function actions(one, about) {
  const cut = whyNot(one);
  const result = h("div", {"aria-live": "polite"});
  const chosen = h("select", {"aria-label": "upstream to send to"}, choices(about.upstreams.map(it => it.name), one.upstream));
  const again = h("button", {type: "button", disabled: cut !== "", title: cut || null, onclick: async () => {
    result.replaceChildren(h("p", {class: "dim"}, "sending…"));
    try {
      const [path, body] = aimed(one, chosen.value);
      const reply = await send(path, {method: "POST", headers: {"content-type": "application/json"}, body});
      await readPieces(reply, () => {});
      const id = reply.headers.get("dragoman-exchange");
      result.replaceChildren(h("p", null, "Answered: ", h("a", {href: `#live/${id}`}, "open the new exchange")));
    } catch (error) {
      result.replaceChildren(h("p", {class: "error"}, error.message));
    }
  }}, "Send again to");
  const copies = h("details", {class: "menu", ontoggle: () => {
    if (copies.open) addEventListener("click", event => { if (!copies.contains(event.target)) copies.open = false; }, {once: true});
  }, onkeydown: event => {
    if (event.key !== "Escape" || !copies.open) return;
    event.stopPropagation();
    copies.open = false;
  }}, h("summary", null, "Copy as"), h("div", {class: "box"},
    copyButton("curl", () => asCurl(one)), copyButton("Python", () => asPython(one)), copyButton("conformance case", () => asCase(one))));
  return {buttons: h("div", {class: "bar"}, copies, again, chosen), result};
}

/** Address and body of a request for another upstream: the model is named `upstream/model`, where its dialect names it. */
function aimed(one, upstream) {
  const plain = one.upstream && one.model.startsWith(`${one.upstream}/`) ? one.model.slice(one.upstream.length + 1) : one.model;
  const model = `${upstream}/${plain}`;
  const path = one.path.replace(/\/models\/[^:?]+/, `/models/${encodeURIComponent(model)}`);
  const body = JSON.parse(one.request);
  if ("model" in body) body.model = model;
  return [path, JSON.stringify(body)];
}
