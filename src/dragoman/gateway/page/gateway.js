// Owns the connection to the gateway: requests, the key, and the live stream. The key stays in this variable: it is in
// no address, no cookie and no storage, and ends with the page.

import {Frames} from "./frames.js";

let key = "";
let locked = null;

/** `show(message)` is called when the gateway wants a key; "" when none was sent yet. */
export function onLocked(show) { locked = show; }

export function setKey(value) { key = value; }
export function hasKey() { return key !== ""; }

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A request with the key. For 401 the login is shown, and Refused is thrown as for every other fault. */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers ?? {});
  if (key) headers.set("authorization", `Bearer ${key}`);
  let reply;
  try {
    reply = await fetch(path, {...options, headers, cache: "no-store", credentials: "omit", redirect: "error"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The gateway does not answer. Is it still running?");
  }
  if (reply.ok) return reply;
  const message = faultText(await reply.text(), reply.status);
  if (reply.status === 401) locked?.(key ? message : "");
  throw new Refused(reply.status, message);
}

export async function getJson(path) { return (await send(path)).json(); }

export async function postJson(path, value) {
  const options = {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(value)};
  return (await send(path, options)).json();
}

/** The words of a fault in any dialect. */
export function faultText(text, status) {
  try {
    const error = JSON.parse(text).error;
    return typeof error === "string" ? error : error.message ?? text;
  } catch {
    return text.slice(0, 500) || `status ${status}`;
  }
}

/** Read a body as text pieces. */
export async function readPieces(reply, take) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    await take(value);
  }
}

/** Follow the live stream for ever. `take(name, value)` gets each event, `state(on, message)` each change. */
export async function follow(take, state, signal) {
  let wait = 1000;
  while (!signal.aborted) {
    try {
      const reply = await send("/dragoman/live", {signal});
      const frames = new Frames();
      state(true, "");
      wait = 1000;
      await readPieces(reply, text => {
        for (const {event, data} of frames.feed(text)) take(event, JSON.parse(data));
      });
      state(false, "The gateway ended the stream. Trying again.");
    } catch (error) {
      if (signal.aborted) return;
      state(false, error.message);
      if (error.status === 401 || error.status === 403) return;
    }
    await new Promise(done => setTimeout(done, wait));
    wait = Math.min(wait * 2, 15_000);
  }
}
