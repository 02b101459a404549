// Owns the view of a conversation: turns of canon, each part in its own colour (system, user, thought, call, result).

import {h} from "./dom.js";
import {plural} from "./format.js";

const LONG = 4000;
const FIRST_TURNS = 60;

/** Turns of a request, then its answer. */
export function conversationView(request, response) {
  const box = h("div", {class: "turns"});
  const turns = [...(request?.turns ?? [])];
  if (response) turns.push({role: "assistant", parts: response.parts, answer: true});
  if (!turns.length) {
    return h("p", {class: "dim"}, "The request cannot be shown as a conversation: it is not a valid document of its dialect, or it was too long and only a part was kept.");
  }
  const tools = request?.tools ?? [];
  if (tools.length) {
    box.append(h("details", {class: "turn tools"}, h("summary", null, plural(tools.length, "tool"), " offered: ",
      tools.map(one => one.name ?? one.kind).join(", ")),
      tools.map(one => h("div", {class: "part"}, h("b", null, one.name ?? one.kind), " ", one.description ?? ""))));
  }
  const hidden = Math.max(0, turns.length - FIRST_TURNS);
  if (hidden) {
    const more = h("button", {type: "button", class: "quiet", onclick: () => more.replaceWith(...turns.slice(0, hidden).map(turnView))},
      `show the ${plural(hidden, "earlier turn")}`);
    box.append(more);
  }
  box.append(...turns.slice(hidden).map(turnView));
  if (response?.stop?.reason) box.append(h("p", {class: "dim"}, `The answer ended: ${response.stop.reason.replaceAll("_", " ")}.`));
  return box;
}

function turnView({role, parts, answer}) {
  return h("section", {class: `turn ${role}${answer ? " answer" : ""}`}, h("h3", null, answer ? "answer" : role),
    parts.map(one => partView(one)));
}

/** One part, with the name of its kind. */
export function partView(part) {
  const kind = part.part;
  if (kind === "text") return h("div", {class: "part text"}, long(part.text));
  if (kind === "reasoning") return titled("thought", part.seal ? "sealed" : "", long(part.text || "(sealed: only its origin can read it)"));
  if (kind === "toolcall") return titled("call", `${part.name} · ${part.id}`, argumentsView(part.arguments));
  if (kind === "toolresult") {
    const inner = (part.parts ?? []).map(partView);
    return titled(part.is_error ? "result failed" : "result", [part.name, part.call_id].filter(Boolean).join(" · "), inner);
  }
  if (kind === "media") return titled("media", `${part.kind} ${part.mime ?? ""}`, part.url || part.file || size(part.data));
  return titled("other", part.kind ?? kind, h("pre", null, JSON.stringify(part.value ?? part, null, 2)));
}

function titled(kind, title, ...inner) {
  return h("div", {class: `part ${kind}`}, h("div", {class: "kind"}, kind, title ? h("span", {class: "dim"}, ` ${title}`) : null), inner);
}

/** Arguments of a call, one line for each. */
export function argumentsView(text) {
  let value;
  try { value = JSON.parse(text || "{}"); } catch { return h("pre", null, text); }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return h("pre", null, text);
  const rows = Object.entries(value);
  if (!rows.length) return h("span", {class: "dim"}, "no arguments");
  return h("dl", null, rows.map(([name, one]) => [h("dt", null, name),
    h("dd", null, long(typeof one === "string" ? one : JSON.stringify(one)))]));
}

function long(text) {
  if (text.length <= LONG) return text;
  const span = h("span", null, `${text.slice(0, LONG)}…`);
  const more = h("button", {type: "button", class: "quiet", onclick: () => {
    span.textContent = text;
    more.remove();
  }}, `show all ${text.length} characters`);
  return [span, " ", more];
}

function size(data) { return data ? `${Math.round(data.length * 0.75 / 1024)} KB of data` : ""; }
