"""The gateway's own page: its files, and the facts about this gateway that the page shows first."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ... import __version__
from ...codec import json_text
from ...dialects import get, installed
from ..config import Config
from .client_setup_lines import client_lines

Answer = tuple[int, list[tuple[str, str]], bytes]

_JSON = [("content-type", "application/json")]
_KINDS = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
_FILE = re.compile(r"[a-z_]{1,40}\.(js|css)")
# The page loads nothing from other servers, and shows texts that others wrote. In browsers with trusted types, every
# attempt to read markup or script from a text is an error (W3C Trusted Types, February 2026).
_POLICY = (
    "default-src 'none'; connect-src 'self'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_SAFE = [
    ("cache-control", "no-cache"),
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
]


def page_file(name: str) -> Answer | None:
    """A file of the page; "page" for the page itself. None: there is no such file."""
    name = "index.html" if name in ("", "page") else name.removeprefix("page/")
    if name != "index.html" and _FILE.fullmatch(name) is None:
        return None
    content = _files().get(name)
    return None if content is None else (200, [("content-type", _KINDS[name.rpartition(".")[2]]), *_SAFE], content)


@cache
def _files() -> dict[str, bytes]:
    """The files of the page by their names. A cache by the requested name would grow with every wrong name."""
    return {file.name: file.read_bytes() for file in files("dragoman.gateway").joinpath("page").iterdir()}


def _clients(config: Config, base: str) -> list[dict[str, str]]:
    """The lines that point clients at this gateway. A second way of a client is marked by a number."""
    out: list[dict[str, str]] = []
    for client, line in client_lines(config, base):
        name = client.strip()
        out.append({"client": f"{out[-1]['client']} (2)" if name == "or" else name, "line": line})
    return out


def page_facts(config: Config, base: str) -> Answer:
    """The dialects with their addresses, the upstreams, and the lines that point clients at this gateway."""
    upstreams = [
        {"name": name, "dialect": upstream.dialect, "models": list(upstream.models)}
        for name, upstream in config.upstreams.items()
    ]
    facts = {
        "version": __version__,
        "dialects": list(installed()),
        "titles": {name: get(name).title for name in installed()},
        "paths": {name: [get(name).upstream_paths.path, get(name).upstream_paths.stream_path] for name in installed()},
        "upstreams": upstreams,
        "clients": _clients(config, base),
        "keeps": config.bounds.exchanges,
    }
    return 200, _JSON, json_text.encode(facts)
