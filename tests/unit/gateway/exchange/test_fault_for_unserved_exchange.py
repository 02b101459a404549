"""The fault for an unknown model names the next steps: the variable to set, the full name, a route."""

from __future__ import annotations

import pytest

from dragoman.gateway.config import Config, Upstream, check_config
from dragoman.gateway.exchange.fault_for_unserved_exchange import no_model

OPENAI = {"mine": Upstream("openai-responses", key_env="OPENAI_API_KEY")}


@pytest.mark.parametrize(
    ("upstreams", "model", "step"),
    [
        ({}, "gpt-5", "Set OPENAI_API_KEY, or name the model as upstream/model (upstreams: rehearsal), or add a route"),
        ({}, "strange", "Name the model as upstream/model (upstreams: rehearsal), or add a route"),
        (OPENAI, "gpt-5", "Name the model as upstream/model (upstreams: mine), or add a route"),
    ],
    ids=["known variable", "unknown model", "variable in use"],
)
def test_the_fault_of_an_unknown_model_names_the_next_steps(
    upstreams: dict[str, Upstream], model: str, step: str
) -> None:
    fault = no_model(model, check_config(Config(upstreams=upstreams), "test"))
    assert fault.message == f"no upstream serves the model {model!r}. {step} (docs/how-to/run-the-gateway.md)."
    assert (fault.kind, fault.code, fault.param) == ("not_found", "model_not_found", "model")
