"""Measures stalls: calls /healthz repeatedly on one connection and records the longest waits.

It is a separate process without other work. So the gateway or the machine causes each wait.
"""

from __future__ import annotations

import http.client
import json
import signal
import sys
import time
from urllib.parse import urlsplit

PAUSE = 0.05


def main() -> None:
    """Measure until interrupted, then print the figures in milliseconds."""
    # A shell starts background jobs with SIGINT ignored, and processes inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    address = urlsplit(sys.argv[1])
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    waits: list[float] = []
    print("ready", flush=True)
    try:
        while True:
            start = time.perf_counter()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            waits.append((time.perf_counter() - start) * 1000)
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        waits.sort()
        figures = {"longest": round(waits[-1], 1), "p99": round(waits[int(len(waits) * 0.99)], 1), "asked": len(waits)}
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
