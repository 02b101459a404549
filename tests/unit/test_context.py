"""Context: the log of losses, and the fields that only the source dialect has."""

from __future__ import annotations

from msgspec import Raw

from dragoman.canon.losses import Loss
from dragoman.context import Context
from dragoman.facts.profile import DEFAULT_PROFILE, Profile


def test_a_loss_is_recorded_with_its_path() -> None:
    context = Context("anthropic", "gemini")
    context.lose("cache.dropped", ("system", 0), "ttl 1h")
    context.lose("field.dropped", severity="info")
    assert context.losses.all() == (
        Loss("cache.dropped", "dropped", "info", "/system/0", "ttl 1h"),
        Loss("field.dropped", "dropped", "info", ""),
    )


def test_paths_are_spelled_as_in_the_source() -> None:
    context = Context("gemini", "openai-chat")
    context.spelled = {("generationConfig",): "generation_config", ("generationConfig", "topK"): "top_k"}
    context.lose("sampling.dropped", ("generationConfig", "topK"))
    context.lose("sampling.dropped", ("generationConfig", "topP"))
    assert [loss.path for loss in context.losses.all()] == ["/generation_config/top_k", "/generation_config/topP"]


def test_kept_fields_become_losses_when_they_are_settled() -> None:
    context = Context("openai-chat", "gemini")
    extra = context.keep(("messages", 0), {"x": Raw(b"1"), "y": Raw(b"null"), "z": Raw(b"2")})
    assert extra == {"openai-chat": {"x": Raw(b"1"), "y": Raw(b"null"), "z": Raw(b"2")}}
    assert context.losses.all() == ()
    context.settle(frozenset({"z"}))
    context.settle(frozenset())
    assert context.losses.all() == (
        Loss("field.dropped", "dropped", "warning", "/messages/0/x"),
        Loss("field.dropped", "dropped", "info", "/messages/0/z"),
    )


def test_an_unknown_model_has_the_default_profile() -> None:
    assert Context("a", "b").profile is DEFAULT_PROFILE
    assert Context("a", "b", profile=Profile(thinks=False)).profile == Profile(thinks=False)
