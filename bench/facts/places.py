"""Owns the list of facts that a target has no place for: no translator can carry them to this target. Each has a
reason.

A fact of this list still counts as approximated or declared. The command prints its share separately, so that the
remaining losses are work to do. The READMEs of the dialects hold the evidence for most rows. Rows that use the text of
a loss trust the report of the library: they are no proof that a model refuses the value.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .compare import Judged

_CHAT, _RESPONSES, _ANTHROPIC, _OLLAMA = "openai-chat", "openai-responses", "anthropic", "ollama"
_GOOGLE = ("gemini", "code-assist")
_OPENAI = (_CHAT, _RESPONSES)
_NO_SEARCH_FOR_TOOLS = (_CHAT, *_GOOGLE, _OLLAMA)
_ANY: tuple[str, ...] = ()


class Row(NamedTuple):
    """Facts without a place: by their kind, the target, and words in the text of the loss."""

    kinds: tuple[str, ...]
    targets: tuple[str, ...]
    why: str
    loss_text: str = ""
    """A pattern in the code and detail of the loss, as `code detail`."""
    value: str = ""
    """A pattern with which the value of the fact must begin."""


ROWS = (
    Row(("seal", "hosted.seal", "citation.seal"), _ANY, "a seal is bound to the upstream that made it"),
    Row(("state",), _ANY, "state that is stored at another upstream cannot be used"),
    Row(("cache",), (*_GOOGLE, _OLLAMA), "no cache marks in a request"),
    Row(("cache",), _OPENAI, "marks are on input parts, not on tools and calls", r"cache\.dropped on a "),
    Row(("cache",), _OPENAI, "marks are for gpt-5.6 and later, and for Claude on Chat", r"cache\.dropped $"),
    Row(("setting.cache_key",), (*_GOOGLE, _ANTHROPIC, _OLLAMA), "no such field"),
    Row(("setting.stop", "setting.n"), (_RESPONSES,), "no such field"),
    Row(("setting.seed",), (_RESPONSES, _ANTHROPIC), "no such field"),
    Row(("setting.n",), (_ANTHROPIC, _OLLAMA, "openrouter"), "one answer to a request"),
    Row(("setting.logprobs", "setting.top_logprobs"), (_ANTHROPIC,), "no log probabilities"),
    Row(("setting.top_k",), _OPENAI, "no such field"),
    Row(("setting.min_p",), (*_OPENAI, _ANTHROPIC, *_GOOGLE), "no such field"),
    Row(("setting.presence_penalty", "setting.frequency_penalty"), (_RESPONSES, _ANTHROPIC), "no such field"),
    Row(("setting.parallel",), (*_GOOGLE, _OLLAMA), "no such field"),
    Row(("setting.budget",), (*_OPENAI, _OLLAMA), "effort is a word, not a number"),
    Row(
        ("setting.effort", "setting.budget", "setting.thinking"),
        _ANY,
        "the model has no such effort",
        r"effort\.approximated .* is sent|effort\.approximated none is sent: with tools",
    ),
    Row(
        ("setting.effort", "setting.budget", "setting.thinking"),
        _ANY,
        "the values that the model accepts are unknown",
        r"effort\.dropped .*(?:not known|does not think|takes no effort)",
    ),
    Row(("setting.verbosity",), (_ANTHROPIC, *_GOOGLE, _OLLAMA), "no such field"),
    Row(("setting.user",), (*_GOOGLE, _OLLAMA), "no such field"),
    Row(("setting.metadata",), (*_GOOGLE, _ANTHROPIC, _OLLAMA), "no such field"),
    Row(("setting.tier",), (_OLLAMA,), "no such field"),
    Row(("setting.tier",), (*_GOOGLE, _ANTHROPIC), "no such tier", r"tier\.dropped (?:flex|priority|scale|default)"),
    Row(("setting.thoughts",), (_CHAT, _OLLAMA), "thoughts are shown or hidden by the host"),
    Row(("setting.compaction",), (_CHAT, *_GOOGLE, _OLLAMA), "no history is compacted"),
    Row(("setting",), _ANY, "the model refuses the setting", r"(?:sampling|logprobs|stop)\.dropped"),
    Row(("setting.limit",), _ANY, "the model's or the server's limit", r"limit\.(?:raised|lowered)"),
    Row(("format.name", "format.description"), (_ANTHROPIC, *_GOOGLE, _OLLAMA), "a format has no name"),
    Row(("format",), _ANY, "the model takes no such format", r"format\.as_text|schema\.keyword"),
    Row(("tool.strict",), (_OLLAMA,), "no schema of a tool is enforced"),
    Row(("choice",), (_OLLAMA,), "no tool choice"),
    Row(("tool.schema",), (*_GOOGLE, _OLLAMA), "the server's schema has no such word", r"schema\.keyword\.dropped"),
    Row(("tool.option",), _NO_SEARCH_FOR_TOOLS, "no search for tools", r"tool\.deferred|hosted\.dropped tool_search"),
    Row(
        ("tool.hosted", "hosted"),
        (_CHAT, _OLLAMA),
        "the upstream runs no such tool",
        r"hosted\.(?:dropped|as_function)",
    ),
    Row(
        ("tool.hosted", "hosted"),
        (_RESPONSES, _ANTHROPIC, *_GOOGLE, "openrouter"),
        "the upstream runs no tool of that family",
        r"hosted\.(?:dropped|as_function) (?:advisor|computer|image_generation|file_?search|memory|text_editor|bash"
        r"|local_shell|apply_patch|google_?maps|retrieval|enterprise|mcp|tool_search|skills|shell|url_?context|web_fetch)",
    ),
    Row(
        ("tool.hosted.option",),
        _GOOGLE,
        "the search has no such option",
        r"tool\.hosted\.option\.dropped (?:max_uses|enabled|allowed_domains|city|country|region|timezone|context_size)",
    ),
    Row(
        ("tool.hosted",),
        ("openrouter",),
        "Chat at OpenRouter runs no programs",
        r"hosted\.dropped code_?(?:exec|inter)",
    ),
    Row(
        ("tool.option", "tool.hosted"), _ANY, "nothing finds deferred tools", r"there is no tool search|not be deferred"
    ),
    Row(("media",), _ANY, "the upstream takes no such media", r"media\.dropped (?:audio|video)"),
    Row(("media",), (_OLLAMA,), "a message holds images only", r"media\.dropped"),
    Row(("media",), _ANY, "a file of another provider", value=r"file[+/]|assistant\+|gs:|https://generativelanguage\."),
    Row(("media.name",), _GOOGLE, "a part has no name on this API"),
    Row(("media.detail",), (_ANTHROPIC, _OLLAMA), "no detail of single parts"),
    Row(("media.detail",), _GOOGLE, "models before Gemini 3 have no detail of single parts", r"media\.detail\.dropped"),
    Row(("thought",), (_CHAT, _RESPONSES, _ANTHROPIC, *_GOOGLE), "a thought goes back only under its upstream's seal"),
    Row(("citation",), _ANY, "a history has no citations of another upstream's pages", r"citation\.dropped"),
    Row(("author",), (_ANTHROPIC, *_GOOGLE, _RESPONSES), "a turn has no name"),
    Row(("result",), _ANY, "its call is stored at another upstream", r"result\.orphaned"),
    Row(("call.id", "result.call"), _ANY, "ids have another form, and a length", r"call\.id\.rewritten"),
    # answers
    Row(("id",), (_OLLAMA,), "an answer has no id"),
    Row(("usage.reasoning", "usage.cached", "usage.cache_write"), (_OLLAMA,), "an answer has two counts"),
    Row(("usage.cache_write",), _GOOGLE, "no count of tokens that were written to a cache"),
    Row(("logprob",), (_ANTHROPIC,), "no log probabilities"),
    Row(("citation",), (_OLLAMA,), "an answer has no searches and no citations", r"(?:hosted|citation)\.dropped"),
    Row(
        ("citation.title", "hosted"),
        (_RESPONSES,),
        "a search has only the URLs of the pages",
        r"hosted\.mapped .*only the addresses",
    ),
    Row(("citation.quote",), _ANY, "a citation has no quoted words", r"citation\.approximated the quoted text"),
)


def no_place(judged: Judged, target: str) -> str:
    """Return the reason why the target has no place for a missing fact; "" if it has one."""
    loss = judged.loss
    loss_text = f"{loss.code} {loss.detail}" if loss is not None else ""
    for row in ROWS:
        if row.targets and target not in row.targets:
            continue
        if not any(judged.fact.kind == kind or judged.fact.kind.startswith(f"{kind}.") for kind in row.kinds):
            continue
        if re.search(row.loss_text, loss_text) and re.match(row.value, judged.fact.value):
            return row.why
    return ""
