"""The rows of `profiles.json` against the model names in the recordings.

Each row matches the models that it is about, and later rows do not hide an earlier row."""

from __future__ import annotations

from collections import defaultdict

import msgspec
import pytest

from dragoman.context import Context
from dragoman.dialects import get
from dragoman.facts import profiles
from dragoman.facts.profile import DEFAULT_PROFILE, Profile
from dragoman.translate import model_change_within_dialect
from tests.oracles import exchanges

KNOWN = {
    "anthropic": ("claude-3", "claude-haiku", "claude-sonnet", "claude-opus", "claude-fable", "claude-mythos"),
    "openai-chat": ("gpt-", "o1", "o3", "o4", "grok-", "deepseek-", "mistral-", "ministral-"),
    "openai-responses": ("gpt-", "o1", "o3", "o4", "grok-"),
    "gemini": ("gemini-1", "gemini-2", "gemini-3", "gemini-4", "gemini-flash", "gemma"),
    "ollama": ("gemma3", "llama3", "gpt-oss"),
    "openrouter": ("claude-", "gpt-", "gemini-", "o3", "o4", "grok-"),
}
"""How the names of models begin that some row is about, after any prefix."""
STRANGE = ("nonexistent", "invalid", "not-exist", "deepseek-r1", "deepseek-v9")


def models(dialect: str) -> set[str]:
    return {model for record in exchanges.records(dialect) if (model := exchanges.model_of(record))}


@pytest.mark.parametrize("dialect", KNOWN)
def test_the_families_in_the_recordings_are_known(dialect: str) -> None:
    found = 0
    for model in models(dialect):
        bare = model.rpartition("/")[2].lower()
        if bare.startswith(KNOWN[dialect]) and not any(word in bare for word in STRANGE):
            assert profiles.lookup(dialect, model) != DEFAULT_PROFILE, model
            found += 1
    assert found > 1


def test_later_rows_do_not_hide_a_fact_of_an_earlier_row() -> None:
    for row in profiles.rows():
        names = [pattern.replace("*", end) for pattern in row.match for end in ("", "x")]
        for dialect in row.dialects:
            names += [model for model in models(dialect) if dialect in KNOWN] if dialect in KNOWN else []
            for fact, value in row.facts.items():
                wanted = getattr(msgspec.convert({fact: value}, Profile), fact)
                stands = [name for name in names if getattr(profiles.lookup(dialect, name), fact) == wanted]
                assert stands, (dialect, row.match, fact)


def test_every_pattern_adds_a_name_to_its_row() -> None:
    """A pattern that another pattern of the same row covers is useless."""
    for row in profiles.rows():
        for i, pattern in enumerate(row.match):
            others = [other for j, other in enumerate(row.match) if j != i and other.endswith("*")]
            covering = [other for other in others if pattern.startswith(other[:-1])]
            assert not covering, (row.match, pattern)


def test_recorded_refusals_are_facts() -> None:
    """The recordings have requests that one model refuses and others accept. The profiles have these refusals as
    facts."""
    gates: dict[str, set[str]] = defaultdict(set)
    for record in exchanges.recorded("openai-chat"):
        text = msgspec.json.encode(record.response).decode() if record.status == 400 else ""
        model = exchanges.model_of(record) or ""
        if "Unsupported parameter: 'stop'" in text:
            assert "stop" in profiles.lookup("openai-chat", model).refuses, record.id
            gates["stop"].add(model)
        if "does not support 'system'" in text or "does not support 'developer'" in text:
            assert profiles.lookup("openai-chat", model).system is False, record.id
            gates["system"].add(model)
        if "Logprobs are not enabled" in text:
            assert "logprobs" in profiles.lookup("openai-chat", model).refuses, record.id
            gates["logprobs"].add(model)
        if "expected to be either text or image_url" in text or "unknown variant" in text:
            assert profiles.lookup("openai-chat", model).media is not None, record.id
            gates["media"].add(model)
    assert set(gates) == {"stop", "system", "logprobs", "media"}


VERTEX = "aiplatform.googleapis.com"
WEAKER = {
    # Gemini 3 takes a budget from old clients; Google advises levels.
    "gemini-a97d2c214620": "effort.approximated",
    "openrouter-e34680b260b0": "sampling.dropped",  # accepted, but without effect
    "openrouter-250a683a75a5": "sampling.dropped",
}
"""Records whose row allows less than the model accepted, and the loss: the documentation advises against the
setting."""


def left_out(record: exchanges.Record, model: str) -> set[str]:
    """Return the codes of losses that the model's row causes in a recorded request, and the default profile does
    not."""
    dialect, body = get(record.dialect), msgspec.json.encode(record.request)
    unknown = model_change_within_dialect._written(body, dialect, model, DEFAULT_PROFILE)[2].losses.all()
    known = model_change_within_dialect._written(body, dialect, model, profiles.lookup(record.dialect, model))[
        2
    ].losses.all()
    unknown_losses = {(loss.code, loss.path) for loss in unknown}
    return {loss.code for loss in known if (loss.code, loss.path) not in unknown_losses}


@pytest.mark.parametrize("dialect", KNOWN)
def test_no_row_drops_a_setting_that_its_model_accepted(dialect: str) -> None:
    """A recorded status 200 proves that the model accepts a setting."""
    wrong: list[str] = []
    seen: set[str] = set()
    for record in exchanges.records(dialect):
        model = exchanges.model_of(record) or ""
        if record.request is None or record.status != 200 or not record.ok:
            continue
        lost = left_out(record, model)
        if lost and (record.provider or "").endswith(VERTEX):
            lost -= {"sampling.dropped", "logprobs.dropped"}  # Vertex accepts more than the Developer API
        if exchanges.base_id(record.id) in WEAKER:
            assert lost == {WEAKER[exchanges.base_id(record.id)]}, record.id
        elif lost:
            wrong.append(f"{record.id} {model}: {sorted(lost)}")
        seen.add(model)
    assert not wrong, "\n".join(wrong)
    assert len(seen) > 3


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_models_that_think_by_default_have_this_fact(dialect: str) -> None:
    """The recordings have answers with thoughts to requests without a thinking setting."""
    wrong: set[str] = set()
    for record in exchanges.records(dialect):
        model = exchanges.model_of(record) or ""
        known = profiles.lookup(dialect, model)
        if known in (DEFAULT_PROFILE, Profile(cache_control=True)):
            continue  # the profile has no facts about thoughts
        if record.request is None or not record.ok or "reasoning" not in record.features:
            continue
        settings = get(dialect).read_request(msgspec.json.encode(record.request), Context(dialect, dialect)).settings
        unasked = known.thinking_default or known.effort_default not in ("", "none") or known.reasoning
        if (
            settings.effort is None
            and settings.budget is None
            and settings.thoughts is None
            and known.thinks
            and not unasked
        ):
            wrong.add(model)
    assert wrong == set()
