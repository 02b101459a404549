"""The MCP conformance suite, if it is installed (docs/how-to/mcp.md).

Our server is tested with each frozen set of requirements. Our client is tested with the scenarios for tools, questions
to the user, and logins.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.mcp_servers.processes import ROOT, started

FOLDER = Path(os.environ.get("MCP_CONFORMANCE") or ROOT / "build" / "mcp-conformance")
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
OWN_NODE = FOLDER / "node_modules" / "node" / "bin" / "node"
PROGRAM = [sys.executable, "-m", "tests.e2e.mcp_servers.conformance_suite"]
BASELINE = Path(__file__).parent / "mcp_servers" / "expected-failures.yml"

CLIENT = [
    ("2025-11-25", "initialize"),
    ("2025-11-25", "tools_call"),
    ("2025-11-25", "sse-retry"),
    ("2025-11-25", "json-schema-2020-12-preservation"),
    ("2026-07-28", "tools_call"),
    ("2026-07-28", "request-metadata"),
    ("2026-07-28", "http-standard-headers"),
    ("2026-07-28", "http-custom-headers"),
    ("2026-07-28", "http-invalid-tool-headers"),
    ("2026-07-28", "json-schema-ref-no-deref"),
    ("2026-07-28", "json-schema-2020-12-preservation"),
    ("2025-11-25", "elicitation-sep1034-client-defaults"),
    ("2026-07-28", "sep-2322-client-request-state"),
    ("2025-03-26", "auth/2025-03-26-oauth-metadata-backcompat"),
    ("2025-03-26", "auth/2025-03-26-oauth-endpoint-fallback"),
    *[
        (version, f"auth/{name}")
        for version in ("2025-11-25", "2026-07-28")
        for name in (
            *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "pre-registration"),
            *("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
            *("scope-step-up", "scope-retry-limit"),
            *("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"),
        )
    ],
    *[
        ("2026-07-28", f"auth/{name}")
        for name in (
            *("resource-mismatch", "offline-access-scope", "offline-access-not-supported"),
            *("authorization-server-migration", "metadata-issuer-mismatch", "iss-supported", "iss-not-advertised"),
            *("iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized"),
        )
    ],
]
"""`auth/basic-cimd` is left out. It needs a client id that is a web address, and dragoman has no such page."""

pytestmark = pytest.mark.skipif(not SUITE.exists(), reason=f"the MCP conformance suite is not installed in {FOLDER}")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    node = str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node")
    assert node is not None
    return subprocess.run([node, str(SUITE), *arguments], capture_output=True, text=True, timeout=300, cwd=ROOT)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_our_server_passes_the_suite(revision: str, tmp_path: Path) -> None:
    with started(*PROGRAM) as (_, address):
        done = run(
            *("server", "--url", address, "--requirements", revision),
            *("--expected-failures", str(BASELINE), "--output-dir", str(tmp_path)),
        )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize(("version", "scenario"), CLIENT)
def test_our_client_passes_the_suite(version: str, scenario: str, tmp_path: Path) -> None:
    done = run(
        *("client", "--command", " ".join(PROGRAM), "--scenario", scenario),
        *("--spec-version", version, "--output-dir", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
