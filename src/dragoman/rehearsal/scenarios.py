"""Owns the built-in scripts: `rehearsal/<name>` plays one without a file."""

from __future__ import annotations

from typing import Any

from .script import (
    Script,
    ScriptedCall,
    ScriptedFault,
    ScriptedHostedPart,
    ScriptedText,
    ScriptedThought,
    ScriptedUsage,
    Step,
)
from .text_replies import OPENING

_RESULTS = Step(after="results", parts=(ScriptedText(f"{OPENING}the results are here, and the scenario ends."),))
_LONG = OPENING + "".join([f"This is sentence {number} of a long answer. " for number in range(1, 301)]).strip()
_SHORT = ScriptedText(f"{OPENING}this is the whole answer of the scenario.")
_QUERY = {"query": "what a dragoman was"}
_SEARCH = "srvtoolu_rehearsal"
_FOUND = {"type": "web_search_result", "url": "https://example.com/", "title": "Dragomans", "encrypted_content": "cg=="}


def _script(name: str, about: str, *steps: Step) -> Script:
    return Script(steps, name, about)


def _failing_script(name: str, about: str, trouble: ScriptedFault) -> Script:
    return Script((Step(fault=trouble),), name, about)


def _hosted(dialect: str, **value: Any) -> ScriptedHostedPart:
    return ScriptedHostedPart(dialect, value["type"], value)


_ALL = (
    _script(
        "one-call",
        "One call of the first declared tool; after its result a text.",
        _RESULTS,
        Step(parts=(ScriptedCall(tool=0),)),
    ),
    _script(
        "parallel-calls",
        "Two calls in one step, of the first two declared tools (twice of the only one); after the results a text.",
        _RESULTS,
        Step(parts=(ScriptedCall(tool=0), ScriptedCall(tool=1))),
    ),
    _script(
        "text-and-calls",
        "A text, then two calls; after the results a text.",
        _RESULTS,
        Step(parts=(ScriptedText(f"{OPENING}I look it up."), ScriptedCall(tool=0), ScriptedCall(tool=1))),
    ),
    _script(
        "thinking",
        "A sealed thought, then a text.",
        Step(parts=(ScriptedThought("First I think. This is a rehearsal, so there is little to think about."), _SHORT)),
    ),
    _script(
        "thinking-calls",
        "A sealed thought and a call; after its result another sealed thought and a text.",
        Step(after="results", parts=(ScriptedThought("The result is here."), _SHORT)),
        Step(parts=(ScriptedThought("I need a tool for this."), ScriptedCall(tool=0))),
    ),
    _script(
        "hidden-thinking",
        "A thought whose words are only in its seal, then a text.",
        Step(parts=(ScriptedThought("Nobody is shown this.", shown=False), _SHORT)),
    ),
    _script(
        "refusal",
        "The model says no.",
        Step(parts=(ScriptedText(f"{OPENING}I refuse, as the scenario demands.", refusal=True),)),
    ),
    _script(
        "content-filter",
        "The answer is stopped by a filter.",
        Step(parts=(ScriptedText(f"{OPENING}this answer was"),), stop="content_filter"),
    ),
    _script(
        "truncation",
        "A long text that breaks off after 40 tokens: the reason is length.",
        Step(parts=(ScriptedText(_LONG),), truncate=40),
    ),
    _script(
        "truncated-call",
        "A call whose arguments break off: the reason is length.",
        Step(parts=(ScriptedCall(name="unfinished", arguments='{"path": "/a/b", "text": "half of'),), stop="length"),
    ),
    _script("empty", "An answer without a part.", Step()),
    _script("long-text", "300 sentences.", Step(parts=(ScriptedText(_LONG),))),
    _script(
        "slow-stream", "A short text with a fifth of a second before every event.", Step(parts=(_SHORT,), pace=0.2)
    ),
    _script("slow-start", "Three seconds of silence, then a short text.", Step(parts=(_SHORT,), delay=3.0)),
    _script(
        "broken-stream",
        "The stream ends after six events, in the middle of a text.",
        Step(parts=(ScriptedText(_LONG),), break_after=6),
    ),
    _script(
        "fault-in-stream",
        "After six events the upstream is overloaded.",
        Step(parts=(ScriptedText(_LONG),), fault=ScriptedFault("overloaded", after=6)),
    ),
    _failing_script("rate-limit", "429, with two seconds to wait.", ScriptedFault("rate_limit", retry_after=2.0)),
    _failing_script("overloaded", "The upstream is overloaded: 529.", ScriptedFault("overloaded", status=529)),
    _failing_script("server-error", "500.", ScriptedFault("server")),
    _failing_script("timeout", "504.", ScriptedFault("timeout")),
    _failing_script("auth", "401.", ScriptedFault("auth")),
    _failing_script(
        "context-too-long", "The request is longer than the model takes: 400.", ScriptedFault("context_too_long")
    ),
    _script(
        "hosted-search",
        "The traces of a web search that the upstream ran itself, as the Messages and the Responses dialect show them.",
        Step(
            parts=(
                _hosted("anthropic", type="server_tool_use", id=_SEARCH, name="web_search", input=_QUERY),
                _hosted("anthropic", type="web_search_tool_result", tool_use_id=_SEARCH, content=[_FOUND]),
                _hosted(
                    "openai-responses",
                    type="web_search_call",
                    id="ws_rehearsal",
                    status="completed",
                    action={"type": "search", **_QUERY},
                ),
                ScriptedText(f"{OPENING}a dragoman was an interpreter."),
            )
        ),
    ),
    _script(
        "cached",
        "A text, with usage figures of a cache.",
        Step(
            parts=(_SHORT,), usage=ScriptedUsage(input=2048, output=12, cache_read=1024, cache_write=512, reasoning=0)
        ),
    ),
)

SCENARIOS: dict[str, Script] = {script.name: script for script in _ALL}
"""The built-in scripts by name."""
