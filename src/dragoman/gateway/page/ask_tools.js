// Owns the tools of the view Ask. Some run in the page; the result of any other is typed by the person.

const object = (properties, required = Object.keys(properties)) => ({type: "object", properties, required, additionalProperties: false});

export const TOOLS = [
  {name: "get_time", description: "The present time in a time zone.", schema: object({zone: {type: "string", description: "an IANA name such as Europe/Paris"}}),
    run: ({zone}) => new Date().toLocaleString("en-GB", {timeZone: zone, timeZoneName: "short"})},
  {name: "count_letters", description: "Count how often a letter occurs in a word.", schema: object({word: {type: "string"}, letter: {type: "string"}}),
    run: ({word, letter}) => String([...word.toLowerCase()].filter(one => one === letter.toLowerCase()).length)},
  {name: "get_weather", description: "The weather in a city.", schema: object({city: {type: "string"}}), sample: "18 degrees, light rain"},
  {name: "ask_person", description: "Ask the person in front of the screen a question.", schema: object({question: {type: "string"}}), sample: ""},
];

/** Questions to begin with, each with the tools that it needs. The rehearsal finds arguments that are named. */
export const QUESTIONS = [
  ["What is the weather in Paris?", ["get_weather"]],
  ["Count the letters: word: strawberry, letter: r", ["count_letters"]],
  ["What is the time in the zone: Europe/Paris?", ["get_time"]],
];

/** A tool as the Chat dialect declares it. */
export function declared({name, description, schema}) {
  return {type: "function", function: {name, description, parameters: schema}};
}

/** The result of a call: {text} if the page can run the tool, {sample} if the person has to type it. */
export function outcome(name, text) {
  const tool = TOOLS.find(one => one.name === name);
  if (!tool?.run) return {sample: tool?.sample ?? ""};
  try { return {text: tool.run(JSON.parse(text || "{}"))}; } catch (error) { return {text: `failed: ${error.message}`}; }
}
