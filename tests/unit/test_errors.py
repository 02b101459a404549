"""Exceptions name the mistake, its path, the expected value and the valid values."""

from __future__ import annotations

import pytest

from dragoman.canon.events import Fault
from dragoman.canon.losses import Loss
from dragoman.errors import ConfigError, DragomanError, FaultError, LossError, WireError


def _loss(n: int) -> Loss:
    return Loss("n.dropped", "dropped", "warning", f"/n/{n}")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (WireError("gemini", "/contents/0", "array", "str"), "not gemini at /contents/0: expected array, got str"),
        (WireError("gemini", "", "valid JSON", "it is empty"), "not valid JSON: it is empty"),
        (LossError("info", (_loss(1),)), "1 losses beyond tolerance 'info': n.dropped at /n/1"),
        (
            LossError("info", (Loss("n.dropped", "dropped", "warning", ""), *[_loss(n) for n in range(6)])),
            "7 losses beyond tolerance 'info': n.dropped at /; n.dropped at /n/0; n.dropped at /n/1;"
            " n.dropped at /n/2; n.dropped at /n/3 and 2 more",
        ),
        (FaultError(Fault("overloaded", "later", 503), b"{}"), "overloaded (503): later"),
        (ConfigError("dialect", "chat", ("anthropic", "gemini")), "unknown dialect 'chat'; valid: anthropic, gemini"),
        (ConfigError("dialect", "chat"), "unknown dialect 'chat'"),
        (ConfigError("tool", "look", problem="there is one already"), "tool 'look': there is one already"),
        (
            ConfigError("dialect", "antropic", ("anthropic", "gemini")),
            "unknown dialect 'antropic'; did you mean anthropic? (valid: anthropic, gemini)",
        ),
        (
            ConfigError("dialect", "claude", ("anthropic", "gemini"), meant="anthropic"),
            "unknown dialect 'claude'; did you mean anthropic? (valid: anthropic, gemini)",
        ),
        (ConfigError("model", "", ("a/MODEL",), "none is named"), "model: none is named; valid: a/MODEL"),
    ],
)
def test_messages(error: DragomanError, message: str) -> None:
    assert str(error) == message


def test_errors_have_their_details_as_attributes() -> None:
    wire = WireError("gemini", "/a", "x", "y")
    assert (wire.dialect, wire.path, wire.expected, wire.got) == ("gemini", "/a", "x", "y")
    loss = LossError("warning", (_loss(1),))
    assert (loss.tolerance, loss.losses) == ("warning", (_loss(1),))
    fault = FaultError(Fault("auth", "no"), b"body")
    assert (fault.fault, fault.body) == (Fault("auth", "no"), b"body")
    config = ConfigError("option", "a", ("b",))
    assert (config.what, config.got, config.valid) == ("option", "a", ("b",))
