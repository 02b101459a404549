// Owns the first steps of the view Live, before the first exchange: the settings of a client, and a sample request.

import {copyButton, h, tabs} from "./dom.js";
import {readPieces, send} from "./gateway.js";
import {CYCLE} from "./samples.js";

/** The lines that point clients at this gateway, one tab for each client. */
export function clientLines(clients) {
  const panels = clients.map(({client, line}) => [client, () => h("div", null, h("pre", null, line), copyButton("Copy", () => line))]);
  const {bar, shown} = tabs("clients", panels);
  return [bar, shown];
}

/** The first steps. `about`: the facts about this gateway. */
export function firstSteps(about) {
  const message = h("p", {class: "dim", "aria-live": "polite"});
  const button = h("button", {type: "button", class: "main", onclick: async () => {
    message.textContent = "sending…";
    try {
      const body = JSON.stringify({...CYCLE, model: "rehearsal/rules", stream: true});
      const reply = await send("/v1/messages", {method: "POST", headers: {"content-type": "application/json"}, body});
      const id = reply.headers.get("dragoman-exchange");
      await readPieces(reply, () => {});
      location.hash = `#live/${id}`;
    } catch (error) {
      message.replaceChildren(h("span", {class: "error"}, error.message));
    }
  }}, "Send a sample request");
  return h("div", {class: "first"},
    h("section", {class: "box"}, h("h2", null, "No exchanges yet"),
      h("p", null, "Every request that passes through this gateway appears here, with the client's request, the upstream's request, and the losses."),
      h("div", {class: "bar"}, button, h("a", {href: "#ask"}, "Ask a model"), h("a", {href: "#translate"}, "Translate a document")),
      h("p", {class: "dim"}, "The sample is one tool cycle. The built-in rehearsal answers it: no model, no key, no cost."), message),
    h("section", {class: "box"}, h("h2", null, "Connect a client to this gateway"), clientLines(about.clients)));
}
