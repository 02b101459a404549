// Owns the forms of figures for people: durations, counts, sizes, costs, clock times.

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds === 0) return "0";
  if (seconds < 0.0095) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function count(number) {
  if (number === null || number === undefined) return "";
  if (number < 1000) return String(number);
  return number < 999_500 ? `${(number / 1000).toFixed(number < 10_000 ? 1 : 0)}k` : `${(number / 1e6).toFixed(1)}M`;
}

export function bytes(number) {
  if (number < 1024) return `${number} bytes`;
  return number < 1024 * 1024 ? `${(number / 1024).toFixed(1)} KB` : `${(number / 1024 / 1024).toFixed(1)} MB`;
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit"});
}

/** Tokens of an exchange: in and out, or nothing where they are not known. */
export function tokens(usage) {
  if (!usage) return "";
  const about = usage.estimated ? "~" : "";
  return `${count(usage.input) || "?"} → ${about}${count(usage.output) || "?"}`;
}

/** A cost in US dollars. "$ ?": unknown. */
export function dollars(cost) {
  if (cost === null || cost === undefined) return "$ ?";
  return cost >= 1 || cost === 0 ? `$${cost.toFixed(2)}` : `$${cost.toFixed(4)}`;
}

export function plural(number, word, many = `${word}s`) {
  return `${number} ${number === 1 ? word : many}`;
}

/** The value below which a part of the sorted values lies. */
export function percentile(sorted, part) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] : null;
}
