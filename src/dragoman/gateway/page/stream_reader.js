// Owns the reading of streamed answers for display: frames of any built-in dialect become parts (text, thought, call).
// The gateway itself reads streams strictly; this reader shows what it understands and leaves out the rest.
// Frames of any other dialect are shown as they are.

/**
 * Grows with each frame. `parts`: {kind: text|thought|call, text, name, id}; `usage`, `stop` and `fault` as they come.
 * Without a reader for the dialect the only part has the kind `raw`: all frames as they are.
 */
export class Answer {
  parts = [];
  usage = null;
  stop = "";
  fault = "";
  /** What the last frame added: {kind, text, name}. */
  added = [];
  #calls = new Map();

  constructor(dialect) {
    this.read = READERS[dialect];
  }

  /** Whether the frames of the dialect are read. */
  get known() { return this.read !== undefined; }

  feed({data}) {
    this.added = [];
    if (!data || data === "[DONE]") return;
    if (!this.known) {
      if (!this.parts.length) this.parts.push({kind: "raw", name: "frames as they are", id: "this page has no reader for the dialect", text: ""});
      this.parts[0].text += `${data}\n`;
      return;
    }
    let frame;
    try { frame = JSON.parse(data); } catch { return; }
    if (frame.error && frame.type !== "response.created") {
      this.fault = typeof frame.error === "string" ? frame.error : frame.error.message ?? JSON.stringify(frame.error);
      return;
    }
    this.read(this, frame);
  }

  add(kind, text) {
    if (!text) return;
    this.added.push({kind, text});
    const last = this.parts.at(-1);
    if (last?.kind === kind && kind !== "call") last.text += text;
    else this.parts.push({kind, text});
  }

  call(key, name, id, text) {
    this.added.push({kind: "call", name, text});
    let part = this.#calls.get(key);
    if (!part) {
      part = {kind: "call", name: "", id: "", text: ""};
      this.#calls.set(key, part);
      this.parts.push(part);
    }
    part.name += name ?? "";
    part.id ||= id ?? "";
    part.text += text ?? "";
  }

  used(input, output) {
    if (input === undefined && output === undefined) return;
    this.usage = {input: input ?? this.usage?.input, output: output ?? this.usage?.output};
  }
}

function chat(answer, frame) {
  const choice = frame.choices?.[0];
  const delta = choice?.delta ?? choice?.message ?? {};
  answer.add("thought", delta.reasoning_content ?? delta.reasoning);
  answer.add("text", delta.content ?? delta.refusal);
  (delta.tool_calls ?? []).forEach((one, number) =>
    answer.call(one.index ?? number, one.function?.name, one.id, one.function?.arguments));
  if (choice?.finish_reason) answer.stop = choice.finish_reason;
  answer.used(frame.usage?.prompt_tokens, frame.usage?.completion_tokens);
}

function anthropic(answer, frame) {
  const block = frame.content_block ?? {}, delta = frame.delta ?? {};
  if (frame.type === "content_block_start") {
    if (block.type === "tool_use") answer.call(frame.index, block.name, block.id, "");
    answer.add(block.type === "thinking" ? "thought" : "text", block.thinking ?? block.text);
  } else if (frame.type === "content_block_delta") {
    answer.add("text", delta.text);
    answer.add("thought", delta.thinking);
    if (delta.partial_json) answer.call(frame.index, "", "", delta.partial_json);
  }
  if (delta.stop_reason) answer.stop = delta.stop_reason;
  const usage = frame.message?.usage ?? frame.usage;
  answer.used(usage?.input_tokens, usage?.output_tokens);
}

function responses(answer, frame) {
  if (frame.type === "response.output_text.delta" || frame.type === "response.refusal.delta") answer.add("text", frame.delta);
  else if (/^response\.reasoning.*\.delta$/.test(frame.type ?? "")) answer.add("thought", frame.delta);
  else if (frame.type === "response.output_item.added" && frame.item?.type === "function_call") {
    answer.call(frame.output_index, frame.item.name, frame.item.call_id, "");
  } else if (frame.type === "response.function_call_arguments.delta") answer.call(frame.output_index, "", "", frame.delta);
  else if (frame.type === "response.failed") answer.fault = frame.response?.error?.message ?? "the response failed";
  if (frame.response?.usage) answer.used(frame.response.usage.input_tokens, frame.response.usage.output_tokens);
  if (/^response\.(?:completed|incomplete)$/.test(frame.type ?? "")) answer.stop = frame.response?.status ?? "";
}

function gemini(answer, frame) {
  const inner = frame.response ?? frame;
  const candidate = inner.candidates?.[0];
  for (const part of candidate?.content?.parts ?? []) {
    if (part.text) answer.add(part.thought ? "thought" : "text", part.text);
    if (part.functionCall) {
      const {name, id, args} = part.functionCall;
      answer.call(`${answer.parts.length} ${name}`, name, id, JSON.stringify(args ?? {}));
    }
  }
  if (candidate?.finishReason) answer.stop = candidate.finishReason;
  answer.used(inner.usageMetadata?.promptTokenCount, inner.usageMetadata?.candidatesTokenCount);
}

function ollama(answer, frame) {
  answer.add("thought", frame.message?.thinking);
  answer.add("text", frame.message?.content);
  for (const {id, function: called} of frame.message?.tool_calls ?? []) {
    answer.call(`${answer.parts.length} ${called.name}`, called.name, id, JSON.stringify(called.arguments ?? {}));
  }
  if (frame.done) {
    answer.stop = frame.done_reason ?? "stop";
    answer.used(frame.prompt_eval_count, frame.eval_count);
  }
}

const READERS = {
  "openai-chat": chat, openrouter: chat, anthropic, "openai-responses": responses, gemini, "code-assist": gemini, ollama,
};
