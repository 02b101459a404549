"""One register of caches: `fast.forget` empties every cache of the package, and `fast.held` counts it."""

from __future__ import annotations

import ast

from tests.repo.repository_files import SOURCE, modules

MADE_ONCE = {
    "cli/client_rows.py",
    "codec/schema/already_fits.py",  # decoders, one for each target's subset
    "codec/wire_decoding.py",  # shapes of our own Structs
    "convert/formats/__init__.py",
    "convert/formats/exchange.py",
    "convert/ray_engine.py",
    "dialects/__init__.py",
    "facts/profiles.py",  # the table of rows
    "gateway/endpoints/page.py",  # the files of the page
    "gateway/exchange/upstream_headers_and_key.py",
    "lint/runner.py",
    "runtime/harmless_options.py",
    "runtime/sandboxes/__init__.py",
    "translate/stream.py",  # one import
    "translate/with_fast_shortcuts.py",  # one for every two dialects
}
"""Modules that make an object once for the process: a decoder, a table, a list of modules. Nothing in a document, a
request or a configuration decides how many there are."""
REGISTER = {"facts/__init__.py"}
"""The module that makes cached lookups of `functools`, and lists them."""


def test_caches_are_made_by_the_register() -> None:
    found = set()
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                if {"lru_cache", "cache"} & {alias.name for alias in node.names}:
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found - REGISTER <= MADE_ONCE
    assert found >= REGISTER
