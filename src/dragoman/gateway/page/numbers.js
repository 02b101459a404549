// Owns the view Numbers: requests, faults, losses, tokens, costs and times over time, by upstream and by key, and the health of
// the upstreams. Everything is counted from the exchanges that this page has seen, or that the gateway still keeps.

import {choices, h} from "./dom.js";
import {clock, count, dollars, duration, percentile, plural} from "./format.js";
import {getJson} from "./gateway.js";
import {onRows, sorted} from "./live.js";
import {plot} from "./plot.js";

const MOST_BUCKETS = 45, FEWEST_BUCKETS = 12;
const WIDTHS = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600];  // seconds

export class Numbers {
  constructor(about) {
    this.keeps = about.keeps;
    this.range = h("select", {"aria-label": "time range", onchange: () => this.draw()}, choices([["", "all that is kept"], ["900", "15 minutes"], ["3600", "1 hour"], ["86400", "1 day"]], ""));
    this.message = h("p", {class: "dim"});
    this.plots = h("div", {class: "plots"});
    this.tables = h("div", {class: "tables"});
    this.health = h("div");
    this.element = h("div", {class: "page"}, h("h2", {class: "unseen"}, "Numbers"), h("div", {class: "bar"}, this.range, this.message), this.plots, this.tables, this.health);
    onRows(() => { if (!this.element.hidden) this.draw(); });
  }

  async show() {
    this.draw();
    const {upstreams} = await getJson("/readyz").catch(() => ({upstreams: {}}));
    const unwell = Object.entries(upstreams);
    this.health.replaceChildren(h("h2", null, "Health of the upstreams"), unwell.length
      ? h("ul", null, unwell.map(([name, facts]) => h("li", null, h("b", null, name), ` ${Object.entries(facts).map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")}`)))
      : h("p", null, "No upstream is skipped now, because none has failed repeatedly."));
  }

  draw() {
    const since = Number(this.range.value), now = Date.now() / 1000;
    const rows = sorted().filter(row => !row.running && (!since || now - row.began <= since)).reverse();
    const covered = `The gateway keeps the last ${plural(this.keeps, "exchange")} in memory, and none over a restart; this page adds those that it has seen pass.`;
    this.message.textContent = `${rows.length ? `${plural(rows.length, "exchange")} since ${clock(rows[0].began)}` : "No exchanges yet"}. ${covered}`;
    if (!rows.length) {
      this.plots.replaceChildren();
      this.tables.replaceChildren();
      return;
    }
    this.#plots(rows);
    this.tables.replaceChildren(table("By upstream", rows, row => row.upstream || "none"), table("By model", rows, row => row.model || "none"),
      table("By key", rows, row => row.owner), table("By client", rows, row => row.agent || row.dialect));
  }

  #plots(rows) {
    const span = rows.at(-1).began - rows[0].began;
    const width = WIDTHS.find(one => span / one < MOST_BUCKETS - 1) ?? span / (MOST_BUCKETS - 1);
    const first = Math.floor(rows[0].began / width) * width;
    const parts = Array.from({length: Math.max(FEWEST_BUCKETS, Math.floor((rows.at(-1).began - first) / width) + 1)}, () => []);
    for (const row of rows) parts[Math.floor((row.began - first) / width)].push(row);
    const names = parts.map((_, index) => clock(first + index * width));
    const each = measure => parts.map(measure);
    const times = each(part => part.map(row => row.seconds).filter(one => one !== null).sort((a, b) => a - b));
    const firsts = each(part => part.filter(row => row.stream && row.first_byte).map(row => row.first_byte).sort((a, b) => a - b));
    const sum = (part, name) => part.reduce((total, row) => total + (row.usage?.[name] ?? 0), 0);
    const whole = value => count(Math.round(value));
    this.plots.replaceChildren(
      plot("Requests", names, [{name: "good", kind: "bar", class: "good", values: each(part => part.filter(isGood).length)},
        {name: "failed", kind: "bar", class: "error", values: each(part => part.filter(row => !isGood(row)).length)}], whole),
      plot("Time", names, [{name: "half are quicker", kind: "line", class: "accent", values: times.map(one => percentile(one, 0.5))},
        {name: "95 of 100 are quicker", kind: "line", class: "warning", values: times.map(one => percentile(one, 0.95))},
        {name: "first token, half", kind: "line", class: "info", values: firsts.map(one => percentile(one, 0.5))}], duration),
      plot("Tokens", names, [{name: "in", kind: "bar", class: "info", values: each(part => sum(part, "input"))},
        {name: "out", kind: "bar", class: "accent", values: each(part => sum(part, "output"))}], whole),
      ...rows.some(row => row.cost) ? [plot("Cost, where it is known", names, [{name: "US dollars", kind: "bar", class: "good", exact: true,
        values: each(part => part.reduce((total, row) => total + (row.cost ?? 0), 0))}], dollars)] : [],
      plot("Exchanges with losses", names, ["info", "warning", "error"].map(severity => ({name: severity, kind: "bar", class: severity,
        values: each(part => part.filter(row => row.severity === severity).length)})), whole));
  }
}

function isGood(row) { return row.status < 400 && row.status > 0 && !row.error; }

function table(title, rows, key) {
  const groups = grouped(rows, key);
  const body = [...groups].sort((one, other) => other[1].length - one[1].length).slice(0, 12).map(([name, part]) => {
    const times = part.map(row => row.seconds).filter(one => one !== null).sort((a, b) => a - b);
    const all = [part.length, part.filter(row => !isGood(row)).length, part.filter(row => ["warning", "error"].includes(row.severity)).length,
      count(part.reduce((total, row) => total + (row.usage?.input ?? 0), 0)), count(part.reduce((total, row) => total + (row.usage?.output ?? 0), 0)),
      cost(part), duration(percentile(times, 0.5)), duration(percentile(times, 0.95))];
    return h("tr", null, h("th", {scope: "row"}, name), all.map(one => h("td", null, one)));
  });
  const heads = ["requests", "failed", "grave losses", "tokens in", "tokens out", "cost", "p50", "p95"];
  return h("section", {class: "scroll", tabindex: "0", role: "region", "aria-label": title}, h("table", null, h("caption", null, title),
    h("thead", null, h("tr", null, h("td"), heads.map(one => h("th", {scope: "col"}, one)))), h("tbody", null, body)));
}

/** The sum of the costs that are known; "at least" where some are not. */
function cost(part) {
  const known = part.filter(row => row.cost !== null);
  if (!known.length) return dollars(null);
  return `${known.length < part.length ? "at least " : ""}${dollars(known.reduce((total, row) => total + row.cost, 0))}`;
}

function grouped(rows, key) {
  const found = new Map();
  for (const row of rows) {
    if (!found.has(key(row))) found.set(key(row), []);
    found.get(key(row)).push(row);
  }
  return found;
}
