// Owns the samples of the view Translate: one request, answer, stream and list of tools, written by hand.

const SCHEMA = {
  type: "object",
  properties: {city: {type: "string"}, day: {oneOf: [{const: "today"}, {type: "string", format: "date"}]}},
  required: ["city"], additionalProperties: false,
};
const TOOLS = [{name: "get_weather", description: "The weather in a city.", input_schema: SCHEMA}];
const pretty = value => JSON.stringify(value, null, 2);

const CALLS = [
  {type: "tool_use", id: "toolu_1", name: "get_weather", input: {city: "Paris"}},
  {type: "tool_use", id: "toolu_2", name: "get_weather", input: {city: "Brest"}}];
const QUESTION = {role: "user", content: "Is it raining in Paris or in Brest?"};
const RESULTS = {role: "user", content: [
  {type: "tool_result", tool_use_id: "toolu_1", content: "dry"},
  {type: "tool_result", tool_use_id: "toolu_2", is_error: true, content: "station offline"}]};

/** A tool cycle for the rehearsal, which refuses seals that it did not make. */
export const CYCLE = {max_tokens: 1024, system: "Be brief.", tools: TOOLS, messages: [QUESTION, {role: "assistant", content: CALLS}, RESULTS]};

const REQUEST = {
  model: "claude-opus-5", max_tokens: 1024, thinking: {type: "adaptive"}, top_k: 40,
  system: [{type: "text", text: "Be brief.", cache_control: {type: "ephemeral"}}],
  tools: TOOLS,
  messages: [QUESTION,
    {role: "assistant", content: [{type: "thinking", thinking: "Two cities, two calls.", signature: "c2VhbA=="}, ...CALLS]}, RESULTS],
};

const ANSWER = {
  id: "chatcmpl-1", object: "chat.completion", created: 1794000000, model: "gpt-5.2",
  choices: [{index: 0, finish_reason: "tool_calls", message: {role: "assistant", content: "I look at both cities.", refusal: null,
    tool_calls: [{id: "call_a", type: "function", function: {name: "get_weather", arguments: "{\"city\":\"Paris\"}"}},
      {id: "call_b", type: "function", function: {name: "get_weather", arguments: "{\"city\":\"Brest\"}"}}]}}],
  usage: {prompt_tokens: 84, completion_tokens: 41, total_tokens: 125},
};

const FRAMES = [
  {candidates: [{content: {role: "model", parts: [{text: "Both cities, ", thought: true}]}, index: 0}], modelVersion: "gemini-3-pro", responseId: "r1"},
  {candidates: [{content: {role: "model", parts: [{text: "It is dry "}]}, index: 0}], modelVersion: "gemini-3-pro", responseId: "r1"},
  {candidates: [{content: {role: "model", parts: [{text: "in Paris."}]}, index: 0}], modelVersion: "gemini-3-pro", responseId: "r1"},
  {candidates: [{content: {role: "model", parts: [{functionCall: {name: "get_weather", args: {city: "Brest"}}}]}, finishReason: "STOP", index: 0}],
    usageMetadata: {promptTokenCount: 60, candidatesTokenCount: 18, totalTokenCount: 78}, modelVersion: "gemini-3-pro", responseId: "r1"},
];

/** For each kind: its title, the dialect, and the text. */
export const SAMPLES = {
  request: ["request", "anthropic", pretty(REQUEST)],
  response: ["answer", "openai-chat", pretty(ANSWER)],
  stream: ["stream", "gemini", FRAMES.map(one => `data: ${JSON.stringify(one)}\n\n`).join("")],
  tools: ["tools", "anthropic", pretty(TOOLS)],
};
