// Owns the marks of losses and findings at lines: the event, its meaning, and advice.

export function lossMark(loss) {
  return {
    path: loss.path, severity: loss.severity, code: loss.code, effect: loss.effect, document: loss.document,
    title: `${loss.code} · ${loss.effect}${loss.detail ? `: ${loss.detail}` : ""}`,
    text: loss.meaning, advice: loss.severity === "info" ? "" : loss.advice,
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
