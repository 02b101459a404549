// Owns the frame of the page: login, views and their addresses (#live, #ask, ...), theme, keyboard, and the live stream.

import {Ask} from "./ask.js";
import {h} from "./dom.js";
import {clientLines} from "./first_steps.js";
import {follow, getJson, hasKey, onLocked, setKey} from "./gateway.js";
import {Live, forgetRunning, loadRows, rows, takeRow} from "./live.js";
import {Matrix} from "./matrix.js";
import {Numbers} from "./numbers.js";
import {Translate} from "./translate.js";

const VIEWS = ["live", "ask", "translate", "matrix", "numbers"];
const $ = id => document.getElementById(id);
let views = null;
let stop = null;

onLocked(message => {
  stop?.abort();
  $("app").hidden = true;
  $("door").hidden = false;
  $("refused").textContent = message;
  $("key").focus();
});

$("unlock").addEventListener("submit", event => {
  event.preventDefault();
  setKey($("key").value.trim());
  $("key").value = "";
  start();
});

$("leave").addEventListener("click", () => {
  setKey("");
  location.reload();
});

async function start() {
  let about;
  try {
    about = await getJson("/dragoman/about");
  } catch (error) {
    if (error.status === 401) return;
    $("app").hidden = false;
    state(false, error.message);
    return;
  }
  $("door").hidden = true;
  $("app").hidden = false;
  $("leave").hidden = !hasKey();
  $("version").textContent = about.version;
  views = {live: new Live(about), ask: new Ask(about), translate: new Translate(about), matrix: new Matrix(), numbers: new Numbers(about)};
  $("views").replaceChildren(...VIEWS.map(name => views[name].element));
  connectDialog(about);
  route();
  rows.clear();
  stop = new AbortController();
  follow(take, state, stop.signal);
}

function take(name, value) {
  if (name === "row" || name === "begun") takeRow(value);
  else if (name === "missed") views.live.missed(value.count);
  else if (name === "hello") {
    $("sees").textContent = value.sees === "all" ? "" : "your own exchanges";
    forgetRunning();  // what passed between two streams is in the list
    loadRows().catch(error => { views.live.message.textContent = error.message; });
  }
}

function state(on, message) {
  $("state").textContent = on ? "live" : message;
  $("state").className = on ? "pill on" : "pill";
  $("state").title = message;
  if (!on && views) views.live.message.textContent = message;
}

/** Show the view that the address names. */
function route() {
  const [name, rest] = location.hash.slice(1).split("/");
  const chosen = VIEWS.includes(name) ? name : "live";
  for (const one of VIEWS) views[one].element.hidden = one !== chosen;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${chosen} · dragoman`;
  if (chosen === "live") views.live.open(/^ex_[0-9a-f]{32}$/.test(rest ?? "") ? rest : "");
  if (chosen === "translate" && !views.translate.input.value) views.translate.sample("request");
  views[chosen].show?.();
}
addEventListener("hashchange", () => { if (views) route(); });

function connectDialog({clients, upstreams}) {
  const serves = upstreams.map(({name, dialect, models}) => h("li", null, h("b", null, name), ` ${dialect}${models.length ? `: ${models.join(", ")}` : ""}`));
  $("clients").replaceChildren(...clientLines(clients), h("h2", null, "Upstreams"), h("ul", null, serves));
}
$("connect").addEventListener("click", () => $("dialog").showModal());
$("help").addEventListener("click", () => $("keys").showModal());
for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());

$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

addEventListener("keydown", event => {
  if (!views || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
  const live = !views.live.element.hidden;
  if (event.key === "Escape") {
    if (typing) document.activeElement.blur();
    else if (live) location.hash = "#live";
  } else if (!typing) {
    if (event.key === "/") { event.preventDefault(); location.hash = "#live"; views.live.search.focus(); }
    else if (live && (event.key === "j" || event.key === "k")) views.live.step(event.key === "j" ? 1 : -1);
    else if (event.key === "?") $("keys").showModal();
    else if (/^[1-5]$/.test(event.key)) location.hash = `#${VIEWS[Number(event.key) - 1]}`;
  }
});

start();
