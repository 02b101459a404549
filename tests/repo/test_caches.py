"""One register of caches: `fast.forget` empties every cache of the package, and `fast.held` counts it."""

from __future__ import annotations

import ast

from tests.repo.repository_files import SOURCE, modules

MADE_ONCE = {
    "cli/client_table.py",
    "codec/schema/already_fits.py",  # Decoders, one for each subset of a target.
    "codec/wire_decoding_with_unknown_fields.py",  # Data about our own Structs.
    "convert/lines/formats/__init__.py",
    "convert/lines/formats/exchange.py",
    "convert/ray_engine.py",
    "dialects/__init__.py",
    "facts/profiles.py",  # The table of rows.
    "gateway/endpoints/page_files_and_facts.py",  # The files of the page.
    "gateway/exchange/upstream_headers_and_key.py",
    "lint/runner.py",
    "runtime/harmless_option_check.py",
    "runtime/sandboxes/__init__.py",
    "translate/stream.py",  # One import.
    "translate/with_fast_paths.py",  # One object for every pair of dialects.
}
"""Modules that make an object once in a process: a decoder, a table, a list of modules. The number of these objects
does not depend on documents, requests or the configuration."""
LIMITED = {
    "codec/cache_memory_budget.py",
    "codec/tool_names.py",  # Registered.
    "convert/workers.py",  # A queue of results, no cache.
    "fast/identical_requests.py",  # Parts of an entry, counted with the entry.
    "fast/prefix_memory.py",
    "fast/repeated_response_heads.py",  # Registered.
    "fast/request_envelope_memory.py",
    "gateway/endpoints/model_list.py",  # Answers of upstreams, which are valid for a time.
    "gateway/exchange/cached_upstream_plans.py",  # Parts of a plan, which is in a table of the register.
    "gateway/exchange/recent_exchanges.py",  # A record for the user, with a limit in the configuration.
}
"""Modules with collections of their own that lose entries when they are full."""
REGISTER = {"facts/__init__.py"}
"""The module that makes cached lookups of `functools`, and lists them."""


def test_every_cache_is_made_by_the_register() -> None:
    found = set()
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                if {"lru_cache", "cache"} & {alias.name for alias in node.names}:
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found - REGISTER <= MADE_ONCE
    assert found >= REGISTER


def test_every_table_with_a_limited_number_of_entries_is_in_the_register() -> None:
    found = set()
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "len(" in (test := ast.unparse(node.test)) and " >= " in test:
                body = " ".join(map(ast.unparse, node.body))
                if any(f".{word}(" in body for word in ("clear", "pop", "popitem", "popleft")):
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found == LIMITED
