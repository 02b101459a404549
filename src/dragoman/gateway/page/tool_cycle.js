// Owns the view of the tool cycle: who called what, what came back, and which id became which at the upstream.

import {h} from "./dom.js";
import {argumentsView, partView} from "./conversation.js";
import {plural} from "./format.js";

/** Calls and results of a request and its answer, one row for each call. `joined` names the ids that changed. */
export function toolCycleView(request, response, joined, {dialect, upstream}) {
  const renamed = new Map(joined.filter(one => one.ids).map(one => one.ids));
  const turns = [...(request?.turns ?? []), ...(response ? [{role: "assistant", parts: response.parts}] : [])];
  const results = new Map();
  for (const turn of turns) for (const part of turn.parts) if (part.part === "toolresult") results.set(part.call_id, part);
  const steps = turns.map(turn => turn.parts.filter(part => part.part === "toolcall")).filter(calls => calls.length);
  if (!steps.length) return h("p", {class: "dim"}, "No tool was called in this exchange.");
  return h("div", {class: "tool-cycle"},
    h("div", {class: "call-row heads"}, h("b", null, "model", upstream ? h("span", {class: "dialect"}, upstream) : null), h("span"),
      h("b", null, "client", h("span", {class: "dialect"}, dialect))),
    steps.map((calls, index) => [
      h("p", {class: "dim step"}, `step ${index + 1}: ${plural(calls.length, "call")}${calls.length > 1 ? " at once" : ""}`),
      calls.map(call => callRow(call, results.get(call.id), renamed.get(call.id))),
    ]));
}

function callRow(call, result, other) {
  const failed = result?.is_error;
  return h("div", {class: "call-row"},
    h("div", {class: "part call"}, h("div", {class: "kind"}, "call ", h("b", null, call.name)), argumentsView(call.arguments)),
    h("div", {class: "rails"},
      h("div", {class: "rail to"}, h("code", null, other ?? call.id), other ? [" → ", h("code", null, call.id)] : null),
      h("div", {class: `rail from${failed ? " failed" : ""}${result ? "" : " open"}`}, result ? failed ? "failed" : "answered" : "no result yet")),
    result ? partView({...result, call_id: ""}) : h("div", {class: "part dim"}, "…"));
}
