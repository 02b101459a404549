// Owns the copies of an exchange: the request as curl, as Python, and as a conformance case.

function quoted(text) { return `'${text.replaceAll("'", `'\\''`)}'`; }

export function asCurl(one) {
  const key = "authorization" in one.headers || "x-api-key" in one.headers ? ` \\\n  -H "authorization: Bearer $KEY"` : "";
  return `curl -sN ${quoted(location.origin + one.path)} \\\n  -H 'content-type: application/json'${key}${versions(one)} \\\n  --data-binary ${quoted(one.request)}\n`;
}

function versions({headers}) {
  return Object.entries(headers).filter(([name]) => /^(?:anthropic|openai)-/.test(name))
    .map(([name, value]) => ` \\\n  -H ${quoted(`${name}: ${value}`)}`).join("");
}

/** A Python text literal that holds any text. */
function literal(text) {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function asPython(one) {
  const kept = Object.entries(one.headers).filter(([name]) => /^(?:anthropic|openai)-/.test(name));
  const headers = ["\"content-type\": \"application/json\"", ...kept.map(([name, value]) => `${literal(name)}: ${literal(value)}`)];
  return `import urllib.request

body = ${literal(one.request)}
headers = {${headers.join(", ")}}  # add your key, if the gateway wants one
request = urllib.request.Request(${literal(location.origin + one.path)}, body.encode(), headers)
with urllib.request.urlopen(request) as answer:
    for line in answer:
        print(line.decode(), end="")
`;
}

/** A case of the conformance suite. The person writes the requirement; the facts hold what this exchange showed. */
export function asCase(one) {
  let input = one.request;
  try { input = JSON.parse(one.request); } catch { /* a broken document stays as text */ }
  const to = one.upstream_dialect === "rehearsal" ? one.dialect : one.upstream_dialect;
  const letters = one.id.slice(3, 11).replace(/\d/g, digit => "ghijklmnop"[digit]);  // ids of cases have no digits
  const found = {
    id: `mine.${letters}.${one.dialect}-to-${to}`, topic: "mine",
    requirement: "Replace this sentence by the rule that must hold for this request.",
    source: [{page: `exchange ${one.id} of a gateway`, section: "request", evidence: "R", date: new Date(one.began * 1000).toISOString().slice(0, 10)}],
    kind: "request", from: one.dialect, to, model: one.upstream_model || one.model, input,
    expect: [{lint: "clean"}, ...one.losses.map(({code, path, severity}) => ({loss: code, path, severity}))],
  };
  return `${JSON.stringify(found, null, 2)}\n`;
}

/** Why a body cannot be sent again as it was; "" if it can. */
export function whyNot(one) {
  if (one.cut) return "The body was too long, so only a part was kept.";
  try { JSON.parse(one.request); } catch { return "The body is not JSON."; }
  return "";
}
