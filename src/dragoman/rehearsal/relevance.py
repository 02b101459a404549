"""How much the user's words speak of a tool: by its name, by its description, by what it is for."""

from __future__ import annotations

import re

from msgspec import Struct

from ..canon.tools import Tool
from . import schema_check
from .argument_extraction import hint_of, masked, words_of

NAMED = 10
"""From this score on a word of the tool's name was said."""

_VERBS = frozenset(
    {
        "get",
        "list",
        "show",
        "find",
        "search",
        "fetch",
        "read",
        "write",
        "create",
        "delete",
        "remove",
        "update",
        "set",
        "run",
        "add",
        "make",
        "send",
        "call",
        "check",
        "lookup",
        "look",
        "do",
        "use",
        "open",
        "save",
        "load",
        "ask",
        "tell",
        "give",
        "execute",
    }
)
_EMPTY = frozenset(
    {
        "the",
        "a",
        "an",
        "of",
        "to",
        "for",
        "tool",
        "function",
        "api",
        "my",
        "your",
        "and",
        "or",
        "with",
        "in",
        "on",
        "by",
        "from",
        "at",
        "is",
        "are",
        "be",
        "it",
        "this",
        "that",
        "these",
        "those",
        "as",
        "all",
        "any",
        "some",
        "given",
        "can",
        "will",
        "which",
        "when",
        "where",
        "what",
        "how",
        "returns",
        "return",
        "value",
        "information",
        "data",
        "about",
        "into",
        "specified",
        "provided",
        "used",
        "using",
        "input",
        "output",
        "result",
        "results",
        "optional",
        "required",
        "string",
        "number",
    }
)
_WORD = re.compile(r"[^\W\d_]+")
_ASKS = re.compile(r"\?|\b(?:what|which|who|how|when|where|please|now)\b", re.IGNORECASE)
_SIGNS = (
    (r"\d\s*\+\s*-?\d|\d\s+plus\s+\d", "add sum plus"),
    (r"\d\s+-\s+\d|\d\s+minus\s+\d", "subtract minus"),
    (r"\d\s*[*×x]\s*\d|\d\s+times\s+\d", "multiply times"),
    (r"\d\s*[/÷]\s*\d", "divide"),
)
"""Sums, and the words for them that a tool may be called by."""


class Heard(Struct):
    """Words, and what of them can name a tool: not what stands in quotes, in blocks and in JSON."""

    text: str
    covered: str
    stems: frozenset[str]


def hear(text: str, covered: str | None = None) -> Heard:
    """Listen to some words."""
    covered = masked(text) if covered is None else covered
    said = {_stem(word) for word in _WORD.findall(covered)}
    for sign, words in _SIGNS:
        if re.search(sign, covered):
            said |= {_stem(word) for word in words.split()}
    return Heard(text, covered, frozenset(said))


def _stem(word: str) -> str:
    word = word.lower()
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


_VERB_STEMS = frozenset([_stem(word) for word in _VERBS])
_RUNS = frozenset({"run", "execut", "exec"})
_IGNORED = frozenset([_stem(word) for word in (*_VERBS, *_EMPTY, "user")])


def is_named(tool: Tool, heard: Heard) -> bool:
    """Whether the tool's whole name was said; a name of several words may stand in quotes."""
    text = heard.text if len(words_of(tool.name)) > 1 else heard.covered
    return re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", text, re.IGNORECASE) is not None


def plainly(tool: Tool, heard: Heard) -> int:
    """The score by the name alone, for a tool that needs no argument: only its name can tell that it is meant."""
    spoken, hits = _hits(tool, heard)
    if is_named(tool, heard):
        return NAMED * len(spoken) + 5
    nouns = [word for word in spoken if word not in _VERBS]
    meant = [word for word in hits if word in nouns] if nouns else hits
    asked = bool(_VERB_STEMS & heard.stems) or len(hits) > 1 or _ASKS.search(heard.covered) is not None
    return NAMED * len(meant) if 2 * len(hits) >= len(spoken) and asked else 0


def score(tool: Tool, heard: Heard) -> int:
    """How much the words speak of a tool; 0: not at all."""
    root = schema_check.read(tool.schema).root
    declared = list(schema_check.properties(root)) if isinstance(root, dict) else []
    if is_named(tool, heard) or not (tool.custom or declared):
        return plainly(tool, heard)
    _, hits = _hits(tool, heard)
    described = {_stem(word) for word in _WORD.findall(tool.description[:1000]) if len(word) > 3} - _IGNORED
    runs = any(hint_of(name) == "command" for name in declared) and bool(_RUNS & heard.stems)
    return NAMED * (len(hits) + runs) + min(5, len(described & heard.stems))


def _hits(tool: Tool, heard: Heard) -> tuple[list[str], list[str]]:
    """The words of the tool's name that mean something, and those of them that were said."""
    spoken = [word for word in words_of(tool.name) if word not in _EMPTY]
    return spoken, [word for word in spoken if _stem(word) in heard.stems]
