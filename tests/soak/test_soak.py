"""Tests of the soak: a short run passes, and its checks find mistakes."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from tests.soak.__main__ import Processes, soak
from tests.soak.conversations import Outcome, Talk
from tests.soak.upstream import Upstream
from tests.soak.upstream_behaviours import SCENES, order, read_order


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the soak reads memory and open files from /proc")
def test_a_short_run_is_green(tmp_path: Path) -> None:
    with Processes(tmp_path) as processes:
        result = asyncio.run(soak(processes, 5.0, 6, 7, quiet=True, large=False))
    # Memory has not settled after a few seconds, so only the long run judges it.
    assert [one for one in result.findings if not one.startswith("memory")] == []
    assert result.figures["exchanges"] > 20


def test_a_scene_order_is_found_in_any_bytes() -> None:
    assert read_order(f"{{{order('same.a.b.1', 'cut', 3)}".encode()) == ("same.a.b.1", "cut", 3)
    assert read_order(b"{}") is None


def test_a_seal_of_another_conversation_is_found() -> None:
    upstream = Upstream()
    seal = upstream._seal("anthropic", "m", f"{1:032x}", "same.a.b.1")
    upstream._check("same.a.b.1", seal.data.encode())
    assert upstream.report()["mixed"] == []
    upstream._check("same.a.b.2", seal.data.encode())
    assert upstream.report()["mixed"] == ["same.a.b.2 brought what was made for same.a.b.1"]


def test_a_lost_seal_is_found() -> None:
    upstream = Upstream()
    upstream._last["distinct.a.b.1"] = (f"{1:032x}",)
    upstream._check("distinct.a.b.1", b"{}")
    assert upstream.report()["lost"] == {"a.b": 1}


@pytest.mark.parametrize(
    ("scene", "outcome", "wrong"),
    [
        ("text", Outcome("fault", 503, b'{"error":{"message":"no"}}'), "ended with fault"),
        ("cut", Outcome("answer", 200, b"", streamed=True), "ended with answer"),
        ("cut", Outcome("cut", 200, b"", streamed=True), "ended with cut"),
        ("empty-504", Outcome("fault", 504, b'{"error":{"message":""}}'), "without a message"),
        ("busy", Outcome("fault", 500, b'{"error":{"message":"no"}}'), "status 500"),
        ("text", Outcome("answer", 200, b"{}"), "words are missing"),
        ("text", Outcome("hang"), "hang"),
        ("text", Outcome("answer", 200, b"Answer 1."), ""),
    ],
)
def test_wrong_endings_are_found(scene: str, outcome: Outcome, wrong: str) -> None:
    talk = Talk("", "key", "distinct.openai-chat.gemini.1", "openai-chat", "gemini", random.Random(1))
    found = talk.judge(scene, SCENES[scene], outcome)
    assert wrong in found if wrong else not found
