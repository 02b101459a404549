"""Owns the message about a package that is not installed: the extra that has the package, and the command to install
it.

The command fits the way in which dragoman was installed: pip, pipx, `uv tool install` or `uvx`.
"""

from __future__ import annotations

import sys
from pathlib import Path

EXTRAS = {
    "aiohttp": "proxy",
    "google": "google",
    "jsonschema_rs": "ask",
    "mcp": "runtime",
    "opentelemetry": "otel",
    "prompt_toolkit": "ask",
    "requests": "google",
    "uvicorn": "runtime",
}
"""The smallest extra that adds each package."""
BASE = ("click", "httptools", "msgspec", "rich", "uvloop")


def advice(module: str) -> str:
    """The advice about a missing module; "" for a module that dragoman does not install."""
    package = module.partition(".")[0]
    if package in EXTRAS:
        return f"the package {package} is missing. Run: {install_command(EXTRAS[package])}"
    if package in BASE:
        return f"the package {package} is missing. Install dragoman again: {install_command('')}"
    return ""


def install_command(extra: str, prefix: Path | None = None) -> str:
    """The command that installs dragoman with an extra into the environment at `prefix` (by default, this one)."""
    where = prefix or Path(sys.prefix)
    name = f"'dragoman[{extra}]'" if extra else "dragoman"
    # uv and pipx leave these files in the environments that they make.
    if (where / "uv-receipt.toml").exists():
        return f"uv tool install --force {name}"
    if (where / "pipx_metadata.json").exists():
        return f"pipx install --force {name}"
    if "uv" in where.parts and any(part.startswith("archive-v") for part in where.parts):
        return f"uvx --from {name} dragoman"  # uvx makes an environment in the cache of uv for each call
    return f"pip install {name}"
