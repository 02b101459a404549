// Owns the tool cycle as a ladder: who called what, what came back, and which id became which at the upstream.

import {h} from "./dom.js";
import {argumentsView, partView} from "./conversation.js";

/** Calls and results of a request and its answer, in order. `joined` names the ids that changed. */
export function ladderView(request, response, joined) {
  const renamed = new Map(joined.filter(one => one.ids).map(one => one.ids));
  const steps = [];
  const turns = [...(request?.turns ?? []), ...(response ? [{role: "assistant", parts: response.parts}] : [])];
  const results = new Map();
  for (const turn of turns) for (const part of turn.parts) if (part.part === "toolresult") results.set(part.call_id, part);
  for (const turn of turns) {
    for (const part of turn.parts) if (part.part === "toolcall") steps.push([part, results.get(part.id)]);
  }
  if (!steps.length) return h("p", {class: "dim"}, "No tool was called in this exchange.");
  return h("div", {class: "ladder"},
    h("div", {class: "rung heads"}, h("b", null, "model"), h("b", null, "client")),
    steps.map(([call, result]) => [
      h("div", {class: "rung"}, h("div", {class: "part call"}, h("div", {class: "kind"}, "call ", h("b", null, call.name)),
        h("div", {class: "dim"}, call.id, renamed.has(call.id) ? ` → ${renamed.get(call.id)} at the upstream` : ""),
        argumentsView(call.arguments)), h("div", {class: "arrow", "aria-label": "to the client"}, "→")),
      h("div", {class: "rung"}, h("div", {class: "arrow", "aria-label": "to the model"}, result ? "←" : "…"),
        result ? partView(result) : h("p", {class: "dim"}, "no result yet")),
    ]));
}
