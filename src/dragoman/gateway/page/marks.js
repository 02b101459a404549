// Owns how losses and findings become marks at lines: what happened, its meaning, and advice by the kind of loss.

const ADVICE = [
  [/^seal\./, "Ask the same upstream again and its own seals go back to it. For another upstream nothing is to be done."],
  [/^(?:reasoning|thought)/, "Keep the conversation on one upstream if the model needs its earlier thoughts."],
  [/^media\./, "Send the content in a form that the target takes: as data, as another type, or as text."],
  [/^(?:schema|tool)\./, "Simplify the schema, or state the rule in the description of the tool."],
  [/^(?:choice|parallel)/, "State the wish in the system text, and check the calls of the answer."],
  [/^(?:sampling|stop|n\.|logprobs)/, "Leave the setting out for this target, or choose an upstream that has it."],
  [/^(?:limit|id|model)\./, "Set the value yourself if the default does not suit you."],
  [/^hosted/, "Declare a function of your own in place of the hosted tool."],
  [/^field\./, "The field is known to the source dialect only. Leave it out, or route to an upstream of that dialect."],
];

export function lossMark(loss) {
  const advice = loss.advice ?? ADVICE.find(([pattern]) => pattern.test(loss.code))?.[1] ?? "";
  return {
    path: loss.path, severity: loss.severity, code: loss.code, effect: loss.effect,
    title: `${loss.code} · ${loss.effect}${loss.detail ? `: ${loss.detail}` : ""}`,
    text: loss.meaning ?? "", advice: loss.severity === "info" ? "" : advice,
  };
}

export function findingMark(finding) {
  return {path: finding.path, severity: finding.severity, title: `${finding.rule} · ${finding.message}`, text: finding.fix ?? ""};
}

export const RANK = {error: 3, warning: 2, info: 1, "": 0};

export function worst(marks) {
  return marks.reduce((found, one) => RANK[one.severity] > RANK[found] ? one.severity : found, "");
}

/** The counts by severity, as words: "1 error, 2 warnings". */
export function tally(marks) {
  const parts = ["error", "warning", "info"].map(severity => {
    const number = marks.filter(one => one.severity === severity).length;
    return number ? `${number} ${severity}${severity !== "info" && number > 1 ? "s" : ""}` : "";
  });
  return parts.filter(Boolean).join(", ");
}
