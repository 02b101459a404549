"""The register of loss codes: every code is explained and well formed. `tests/repo/test_losses.py` finds their uses."""

from __future__ import annotations

import re

from dragoman.canon.loss_codes import CODES


def test_codes_are_words_with_dots() -> None:
    assert [code for code in CODES if not re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", code)] == []


def test_every_code_is_explained() -> None:
    unexplained = [
        code
        for code, known in CODES.items()
        if not (known.meaning.endswith(".") and known.meaning[0].isupper() and len(known.example) > 9)
    ]
    assert unexplained == []


def test_an_effect_named_in_the_code_is_the_registered_one() -> None:
    named = {code: known.effect for code, known in CODES.items() if code.rpartition(".")[2] in ("dropped", "invented")}
    assert {code: effect for code, effect in named.items() if code.rpartition(".")[2] != effect} == {}
