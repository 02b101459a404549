"""The limits that the process of the gateway sets for itself."""

from __future__ import annotations

import subprocess
import sys

_CODE = """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
from dragoman.gateway.http.start_and_stop import _open_many
_open_many()
soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
print(soft == (65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)))
"""


def test_the_gateway_may_open_as_many_files_as_the_system_allows() -> None:
    received = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, timeout=60)
    assert (received.stdout.strip(), received.stderr) == ("True", "")
