"""Owns the question which tool the user's words mean: by the words of its name and of its required parameters."""

from __future__ import annotations

import re

from msgspec import Struct

from ..canon.tools import Tool
from . import schema_check
from .argument_extraction import mask_quotes, words_of

_COMMON_VERBS = (
    "get list show find search fetch read write create delete remove update set run add make send call check look do "
    "use open save load ask tell give execute"
)
_VERBS = frozenset(_COMMON_VERBS.split())
"""Verbs that occur in many tool names. They show that something is asked for, not which tool is meant."""
_FILLERS = "the a an of to for tool function my your and or with in on by from at is are be it this that"
_EMPTY = frozenset(_FILLERS.split())
_WORD = re.compile(r"[^\W\d_]+")
_ASKS = re.compile(r"\?|\b(?:what|which|who|how|please|now)\b", re.IGNORECASE)
# More than all single words together.
_WHOLE_NAME = 100


class RelevantWords(Struct):
    """A text of the user, and the words in it that can mean a tool: none from quotes, code blocks and JSON."""

    text: str
    covered: str
    """The text with quotes, code blocks and JSON masked; as long as the text."""
    stems: frozenset[str]


def words_in(text: str, covered: str | None = None) -> RelevantWords:
    """The words of a text."""
    covered = mask_quotes(text) if covered is None else covered
    return RelevantWords(text, covered, frozenset([_stem(word) for word in _WORD.findall(covered)]))


def _stem(word: str) -> str:
    word = word.lower()
    # Rough stems are enough, because both sides are cut in the same way.
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


_VERB_STEMS = frozenset([_stem(word) for word in _VERBS])


def is_named(tool: Tool, words: RelevantWords) -> bool:
    """Whether the tool's whole name is in the words. A name of several words may be in quotes."""
    text = words.text if len(words_of(tool.name)) > 1 else words.covered
    return re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", text, re.IGNORECASE) is not None


def score(tool: Tool, words: RelevantWords) -> int:
    """How much the words mean a tool. 0: not at all."""
    if is_named(tool, words):
        return _WHOLE_NAME
    root = schema_check.read(tool.schema).root
    required = schema_check.names(root, "required") if isinstance(root, dict) else []
    own = [word for word in words_of(tool.name) if word not in _EMPTY]
    found = [word for word in own if _stem(word) in words.stems]
    if not required and not tool.custom:
        # No argument confirms such a call, so its name must: all of the name but its verbs, in a question or an order.
        nouns = [word for word in own if word not in _VERBS] or own
        asks = bool(_VERB_STEMS & words.stems) or len(found) > 1 or _ASKS.search(words.covered) is not None
        return len(found) if asks and set(nouns) <= set(found) else 0
    needed = {_stem(word) for name in required for word in words_of(name)} - {_stem(word) for word in own}
    return 2 * len(found) + len(needed & words.stems)
