// Owns the cutting of a stream into frames: server-sent events, or JSON lines. Knows no dialect.

export class Frames {
  #rest = "";

  /** The frames that a piece of text completes: {event, data}. */
  feed(text) {
    this.#rest += text;
    const found = [];
    for (;;) {
      const lines = this.#rest.trimStart().startsWith("{");
      const cut = lines ? /\r?\n/.exec(this.#rest) : /\r?\n\r?\n/.exec(this.#rest);
      if (!cut) return found;
      const one = this.#rest.slice(0, cut.index);
      this.#rest = this.#rest.slice(cut.index + cut[0].length);
      const frame = read(one);
      if (frame) found.push(frame);
    }
  }

  /** The last frame, if the stream ended without a line break. */
  close() {
    const frame = read(this.#rest);
    this.#rest = "";
    return frame ? [frame] : [];
  }
}

function read(text) {
  if (!text.trim()) return null;
  if (text.trimStart().startsWith("{")) return {event: "", data: text.trim()};
  let event = "";
  const data = [];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length || event ? {event, data: data.join("\n")} : null;
}

/** All frames of a whole stream. */
export function allFrames(text) {
  const frames = new Frames();
  return [...frames.feed(text), ...frames.close()];
}

/** Whether a text is a stream and no single document. */
export function isStream(text) {
  return /^\s*(?:data:|event:|:)/.test(text) || /^\s*\{.*\}\r?\n\s*\{/.test(text.slice(0, 4000));
}
