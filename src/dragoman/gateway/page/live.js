// Owns the view Live: exchanges as they pass, search and filters, and the open exchange beside the list.

import {choices, h} from "./dom.js";
import {exchangePanel} from "./exchange.js";
import {firstSteps} from "./first_steps.js";
import {clock, dollars, duration, plural, tokens} from "./format.js";
import {getJson} from "./gateway.js";

const MOST = 2000;
const SHOWN = 200;
const RELOAD = 3000;
const RANGES = [["", "any time"], ["300", "5 minutes"], ["3600", "1 hour"], ["86400", "1 day"]];

/** The rows of all exchanges that this page knows, newest first. */
export const rows = new Map();
const listeners = new Set();
export function onRows(listener) { listeners.add(listener); }

export function takeRow(row) {
  if (!rows.has(row.id) && rows.size >= MOST) rows.delete(sorted().at(-1).id);
  rows.set(row.id, row);
  changed();
}

let waiting = false;
function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    listeners.forEach(listener => listener());
  });
}

export function sorted() { return [...rows.values()].sort((one, other) => other.began - one.began); }

/** A new stream names what is under way now. */
export function forgetRunning() {
  for (const [id, row] of rows) if (row.running) rows.delete(id);
}

export async function loadRows() {
  for (const row of (await getJson("/dragoman/exchanges")).exchanges) rows.set(row.id, row);
  changed();
}

const FILTERS = [["model", "model"], ["upstream", "upstream"], ["client", "client"], ["status", "status"], ["loss", "losses"]];
const VALUE = {
  model: row => row.model, upstream: row => row.upstream,
  client: row => row.agent ? `${row.dialect} · ${row.agent}` : row.dialect,
  status: row => row.running ? "running" : row.status >= 400 || row.error ? "failed" : "good",
  loss: row => row.severity || (row.losses ? "info" : "none"),
};

export class Live {
  #about;
  #open = "";
  #unfinished = false;
  #missed = 0;
  #timer = 0;

  constructor(about) {
    this.#about = about;
    this.search = h("input", {type: "search", placeholder: "search words, models, errors", "aria-label": "search", oninput: () => this.draw()});
    this.range = h("select", {"aria-label": "time range", onchange: () => this.draw()}, choices(RANGES, ""));
    this.filters = Object.fromEntries(FILTERS.map(([name, title]) => [name, h("select", {"aria-label": title, onchange: () => this.draw()})]));
    this.body = h("ol", {class: "rows", "aria-label": "exchanges"});
    this.message = h("p", {class: "dim", "aria-live": "polite"});
    this.panel = h("aside", {class: "beside", "aria-label": "open exchange", hidden: true});
    this.more = h("div", {class: "more", id: "filters"}, this.range, Object.values(this.filters));
    this.fold = h("button", {type: "button", class: "quiet fold-filters", "aria-expanded": "false", "aria-controls": "filters", onclick: () => {
      const shown = this.more.classList.toggle("shown");
      this.fold.setAttribute("aria-expanded", shown);
    }}, "Filters");
    this.first = firstSteps(about);
    this.heads = h("div", {class: "row-heads", "aria-hidden": "true"}, h("span"), h("span", null, "began"), h("span", null, "model, way"), h("span", null, "question, answer"),
      h("span", {class: "figures"}, ["status", "tokens", "cost", "time", "losses"].map((name, index) => h("span", {class: index === 2 ? "price" : null}, name))));
    this.list = h("div", {class: "list"}, h("h2", {class: "unseen"}, "Live"), h("div", {class: "bar filters"}, this.search, this.fold, this.more),
      this.message, this.first, this.heads, this.body);
    this.element = h("div", {class: "split"}, this.list, this.panel);
    onRows(() => { if (!this.element.hidden) this.draw(); });
  }

  /** Rows were left out. The gateway may still keep them, so the list is loaded again, not more than every few seconds. */
  missed(number) {
    this.#missed += number;
    this.draw();
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#missed = 0;
      loadRows().catch(error => { this.message.textContent = error.message; });
    }, RELOAD);
  }

  draw() {
    const all = sorted();
    if (this.#unfinished && !rows.get(this.#open)?.running) {
      this.open(this.#open);
      return;
    }
    this.#offer(all);
    const found = all.filter(row => this.#fits(row));
    const focused = document.activeElement?.closest?.(".rows li")?.dataset.id;
    this.body.replaceChildren(...found.slice(0, SHOWN).map(row => this.#row(row)));
    if (focused) this.body.querySelector(`[data-id="${CSS.escape(focused)}"] button`)?.focus();
    const words = [];
    this.first.hidden = all.length > 0;
    this.heads.hidden = !found.length;
    const chosen = [this.range, ...Object.values(this.filters)].filter(select => select.value).length;
    this.fold.textContent = chosen ? `Filters (${chosen})` : "Filters";
    if (all.length) words.push(found.length === all.length ? plural(all.length, "exchange") : `${found.length} of ${plural(all.length, "exchange")}`);
    if (found.length > SHOWN) words.push(`the newest ${SHOWN} are listed`);
    if (this.#missed) words.push(`${this.#missed} passed too fast to be shown`);
    this.message.textContent = words.join(" · ");
  }

  #offer(all) {
    for (const [name, title] of FILTERS) {
      const select = this.filters[name], now = select.value;
      const values = [...new Set(all.map(VALUE[name]))].filter(Boolean).sort();
      const wanted = JSON.stringify(values);
      if (select.dataset.values === wanted) continue;
      select.dataset.values = wanted;
      select.replaceChildren(...choices([["", `any ${title}`], ...values], values.includes(now) ? now : ""));
    }
  }

  #fits(row) {
    const since = Number(this.range.value);
    if (since && Date.now() / 1000 - row.began > since) return false;
    for (const [name] of FILTERS) if (this.filters[name].value && VALUE[name](row) !== this.filters[name].value) return false;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return true;
    const text = [row.words, row.answer, row.model, row.upstream, row.upstream_model, row.dialect, row.error, row.agent, row.id, row.status]
      .join(" ").toLowerCase();
    return words.every(word => text.includes(word));
  }

  #row(row) {
    const failed = row.status >= 400 || (row.error && !row.running);
    const state = row.running ? "running" : failed ? "error" : row.severity === "error" ? "warning" : row.severity || "good";
    const usage = tokens(row.usage);
    const words = row.words || (row.status >= 400 ? "" : h("span", {class: "dim"}, "(no words)"));
    return h("li", {"data-id": row.id, class: row.id === this.#open ? "open" : null},
      h("button", {type: "button", class: `row ${state}`, "aria-pressed": row.id === this.#open, onclick: () => { location.hash = `#live/${row.id}`; }},
        h("span", {class: "dot", title: state}), h("span", {class: "when"}, clock(row.began)),
        h("span", {class: "who"}, h("b", {title: row.model}, row.model || "(no model)"), h("span", {class: "dim"}, `${row.dialect} → ${row.upstream || "nowhere"}`)),
        h("span", {class: "words"}, h("span", {title: row.words || null}, words),
          row.error ? h("span", {class: "error"}, row.error) : h("span", {class: "dim"}, row.answer || "")),
        h("span", {class: "figures"}, h("span", {class: row.running ? "status" : failed ? "status error" : "status"}, row.running ? "running…" : row.status || "cut"),
          h("span", {title: "tokens in and out", class: "tokens"}, usage),
          row.running ? null : h("span", {title: row.cost === null ? "cost: unknown" : "cost", class: "dim price"}, dollars(row.cost)),
          h("span", {title: row.first_byte ? `first byte after ${duration(row.first_byte)}` : null}, duration(row.seconds)),
          row.losses ? h("span", {class: `tag ${row.severity}`}, plural(row.losses, "loss", "losses")) : null)));
  }

  /** Open one exchange beside the list; "" closes it. */
  async open(id) {
    this.#open = id;
    this.#unfinished = Boolean(rows.get(id)?.running);
    this.panel.hidden = !id;
    this.element.classList.toggle("opened", Boolean(id));
    this.draw();
    if (!id) return;
    this.panel.replaceChildren(h("p", {class: "dim"}, "loading…"));
    let inner;
    try {
      inner = this.#unfinished ? h("p", {class: "dim"}, "This exchange has not ended yet. It opens after its end.")
        : await exchangePanel(id, this.#about);
    } catch (error) {
      const gone = error.status === 404 ? "The gateway no longer keeps this exchange." : error.message;
      inner = h("p", {class: "error"}, gone);
    }
    if (this.#open !== id) return;
    this.panel.replaceChildren(h("button", {type: "button", class: "close", "aria-label": "close the exchange", onclick: () => { location.hash = "#live"; }}, "×"), inner);
  }

  /** j and k, or the arrows, walk through the list. */
  step(by) {
    const items = [...this.body.children];
    if (!items.length) return;
    // The address changes at once, the open exchange only with the event that follows: two quick keys make two steps.
    const now = items.findIndex(one => location.hash === `#live/${one.dataset.id}`);
    const next = items[Math.min(items.length - 1, Math.max(0, now + by))];
    location.hash = `#live/${next.dataset.id}`;
    next.scrollIntoView({block: "nearest"});
  }
}
