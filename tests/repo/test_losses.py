"""Every loss code that is used is registered, and every registered code is used."""

from __future__ import annotations

import ast
import re

from dragoman.canon import loss_codes
from dragoman.canon.loss_codes import CODES
from tests.repo.repository_files import SOURCE, modules

CODE = re.compile(r"[a-z_]+(\.[a-z_]+)+")


def _reported() -> dict[str, str]:
    """Every text that stands as a code in a report of a loss -> where. A code may be chosen by a condition."""
    found: dict[str, str] = {}
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "lose":
                for inner in ast.walk(node.args[0]):
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and CODE.fullmatch(inner.value):
                        found[inner.value] = f"{path.name}:{node.lineno}"
    return found


def _mentioned() -> set[str]:
    """Every text constant in the sources but the register's own."""
    return {
        node.value
        for path, tree in modules(SOURCE)
        if str(path) != loss_codes.__file__
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_reported_code_is_registered() -> None:
    reported = _reported()
    assert len(reported) > 20
    assert {code: where for code, where in reported.items() if code not in CODES} == {}


def test_every_text_that_looks_like_a_code_is_one() -> None:
    # Codes also travel in tables and in the changes of the schema adapter.
    families = {code.partition(".")[0] for code in CODES} - {"response", "model", "name", "n", "id"}
    looks = {text for text in _mentioned() if CODE.fullmatch(text) and text.partition(".")[0] in families}
    # One wish of openai-responses happens to be spelled like a code, so are the kinds of OpenRouter's details, and two
    # fields of telemetry.
    kinds = {"reasoning.text", "reasoning.summary", "reasoning.encrypted", "reasoning.server_tool_call"}
    fields = {"event.name", "event.timestamp"}
    assert looks - set(CODES) == {"reasoning.encrypted_content", *kinds, *fields}


def test_every_registered_code_is_used() -> None:
    assert set(CODES) - _mentioned() == set()


def test_every_code_says_what_it_means_with_an_example() -> None:
    for code, entry in CODES.items():
        assert CODE.fullmatch(code), code
        assert entry.meaning.endswith(".") or entry.meaning.endswith("?"), code
        assert len(entry.example) > 10, code
