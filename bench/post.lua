-- Owns what wrk sends: one body (BENCH_BODY names the file) with headers (BENCH_HEADERS, one a line), and its result.
local file = assert(io.open(os.getenv("BENCH_BODY"), "rb"))
wrk.method, wrk.body = "POST", file:read("*a")
file:close()
for name, value in os.getenv("BENCH_HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do
  wrk.headers[name] = value
end

function done(summary, latency)
  local e = summary.errors
  local form = '\n@{"requests":%d,"us":%d,"failed":%d,"p50":%.1f,"p99":%.1f}\n'
  local failed = e.connect + e.read + e.write + e.timeout + e.status
  io.write(form:format(summary.requests, summary.duration, failed, latency:percentile(50), latency:percentile(99)))
end
