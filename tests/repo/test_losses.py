"""Every loss code that is used is registered, and every registered code is used."""

from __future__ import annotations

import ast
import re

from dragoman.canon import loss_codes
from dragoman.canon.loss_codes import CODES
from tests.repo.repository_files import SOURCE, modules

CODE = re.compile(r"[a-z_]+(\.[a-z_]+)+")


def _reported() -> dict[str, str]:
    """Every code in a report of a loss, with its place. The code may be chosen by a condition."""
    found: dict[str, str] = {}
    for path, tree in modules(SOURCE):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "lose":
                for inner in ast.walk(node.args[0]):
                    if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and CODE.fullmatch(inner.value):
                        found[inner.value] = f"{path.name}:{node.lineno}"
    return found


def _mentioned() -> set[str]:
    """Every text constant in the sources, except in the register."""
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


def test_every_text_that_looks_like_a_code_is_registered() -> None:
    # Codes are also in tables and in the changes of the schema adapter.
    families = {code.partition(".")[0] for code in CODES} - {"response", "model", "name", "n", "id"}
    codelike = {text for text in _mentioned() if CODE.fullmatch(text) and text.partition(".")[0] in families}
    # These texts look like codes: one option of openai-responses, the kinds of OpenRouter's details, and two fields of
    # telemetry.
    kinds = {"reasoning.text", "reasoning.summary", "reasoning.encrypted", "reasoning.server_tool_call"}
    fields = {"event.name", "event.timestamp"}
    assert codelike - set(CODES) == {"reasoning.encrypted_content", *kinds, *fields}


def test_every_registered_code_is_used() -> None:
    assert set(CODES) - _mentioned() == set()


def test_every_code_has_a_meaning_and_an_example() -> None:
    for code, entry in CODES.items():
        assert CODE.fullmatch(code), code
        assert entry.meaning.endswith(".") or entry.meaning.endswith("?"), code
        assert len(entry.example) > 10, code
