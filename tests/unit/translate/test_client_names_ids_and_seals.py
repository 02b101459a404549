"""Answers: decisions that are made once for all answers of a pair of dialects, and the bounds of their cache."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from bench import payloads

import dragoman
from dragoman.codec import cache_memory_budget, json_text
from dragoman.dialects import get
from dragoman.errors import ConfigError
from dragoman.seals.vault import MemoryVault
from dragoman.translate import client_names_ids_and_seals, with_fast_paths

GEMINI, ANTHROPIC = get("gemini"), get("anthropic")


class _Vault(MemoryVault):
    pass


def test_a_plan_has_the_vault_of_its_caller() -> None:
    first, second = _Vault(), _Vault()
    for vault in (first, second, first):
        plan = client_names_ids_and_seals.seal_plan(GEMINI, ANTHROPIC, None, "auto", vault, None)
        assert plan is not None
        assert plan.vault is vault
        assert plan.way == "thoughts"
    without = client_names_ids_and_seals.seal_plan(GEMINI, ANTHROPIC, None, "auto", None, None)
    assert without is not None
    assert without.vault is None


def test_a_cached_plan_does_not_keep_a_vault_alive() -> None:
    vault = _Vault()
    gone = weakref.ref(vault)
    assert client_names_ids_and_seals.seal_plan(GEMINI, ANTHROPIC, None, "vault", vault, None) is not None
    del vault
    gc.collect()
    assert gone() is None


def test_a_missing_vault_is_refused_every_time() -> None:
    for _ in range(2):
        with pytest.raises(ConfigError):
            client_names_ids_and_seals.seal_plan(GEMINI, ANTHROPIC, None, "vault", None, None)


def _completion(**more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Hi."}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "model": "m", "choices": [choice], "usage": usage, **more}


def _losses_of(**more: Any) -> list[tuple[str, str]]:
    made = dragoman.translate_response(_completion(**more), source="openai-chat", target="anthropic")
    return [(loss.severity, loss.path) for loss in made.losses]


def test_the_losses_of_an_answer_follow_its_own_fields() -> None:
    for _ in range(2):
        assert _losses_of() == []
        assert _losses_of(service_tier="default", system_fingerprint=None) == []  # Messages has the tier `standard`
        assert _losses_of(service_tier="flex") == [("info", "/service_tier")]
        assert [path for _, path in _losses_of(system_fingerprint="fp", service_tier="x")] == [
            "/service_tier",
            "/system_fingerprint",
        ]
        assert _losses_of(prompt_filter_results=[], system_fingerprint="") == []
        assert [path for _, path in _losses_of(prompt_filter_results=[{}])] == ["/prompt_filter_results"]


def test_the_cache_of_fields_is_bounded() -> None:
    """The cache is bounded by number and by size: an answer with more items than usual takes the full path."""
    fast = get("openai-responses").fast
    assert fast is not None
    assert fast.read_plain is not None
    read = fast.read_plain
    whole = json_text.decode(payloads.response("openai-responses"))
    call = whole["output"][-1]
    for many, short in ((64, True), (65, False)):
        whole["output"] = [call | {"call_id": f"c{i}"} for i in range(many)]
        body = json_text.encode(whole)
        assert (read(body, 0, None) is not None) is short
        made = dragoman.translate_response(body, source="openai-responses", target="anthropic")
        assert [loss.path for loss in made.losses].count(f"/output/{many - 1}/id") == 1
    known: Any = with_fast_paths._dropped
    entries = known.cache_clear.__self__
    assert entries
    cache_memory_budget.forget()
    assert not entries


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_an_invalid_number_in_an_echo_is_a_loss(target: str) -> None:
    """JSON decoders refuse `1e999`. Decoding the echo made the answer fail when its losses were read."""
    body = payloads.response("openai-responses").replace(b'"verbosity": "medium"', b'"verbosity": 1e999')
    made = dragoman.translate_response(body, source="openai-responses", target=target)
    assert "/text" in [loss.path for loss in made.losses]
    assert made.json()
