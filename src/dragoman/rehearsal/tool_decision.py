"""Which tools the rules call, and with what: one that the user's words name and whose required arguments they hold."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct

from ..canon.parts import ToolCall
from ..canon.request import Request
from ..canon.tools import Choice, Tool
from ..codec.schema.source_document import Document
from . import pattern_samples, schema_check
from .argument_extraction import Extraction, quoted, words_of
from .conversation_view import Conversation
from .relevance import NAMED, Heard, hear, is_named, plainly, score
from .schema_check import Json
from .schema_instances import NOTHING, Maker

MOST = 8
"""Calls in one step."""

_BREAK = re.compile(
    r"(?<=[.!?])\s{1,9}|\n{1,9}|;|,?\s{1,9}(?:and then|and also|and|then|also|plus)\s|,\s", re.IGNORECASE
)
_COLON = re.compile(r":\s*(.+)", re.DOTALL)


_FORBIDDEN = re.compile(
    r"\b(?:do not|don't|don’t|never|without) (?:call|use|using|calling)(?: any| a| the)? (?:tool|function)s?\b",
    re.IGNORECASE,
)


class Planned(Struct):
    """A call that is going to be made: a tool and its arguments as text."""

    tool: Tool
    arguments: str


def usable(request: Request, words: str = "") -> list[Tool]:
    """The tools that may be called, by the request's choice. Deferred ones only when they are demanded or named."""
    tools = [tool for tool in request.tools if isinstance(tool, Tool)]
    choice = request.choice
    if choice is not None and choice.mode == "none":
        return []
    if choice is not None and choice.names:
        return [tool for tool in tools if tool.name in choice.names]
    if forced(choice) or not any(tool.deferred for tool in tools):
        return tools
    heard = hear(words)
    return [tool for tool in tools if not tool.deferred or is_named(tool, heard)]


def forced(choice: Choice | None) -> bool:
    """Whether there has to be a call."""
    return choice is not None and choice.mode in ("required", "one")


def plan(request: Request, talk: Conversation) -> list[Planned]:
    """The calls of this step; none when no tool is named or an argument is missing, unless one is forced."""
    tools = usable(request, talk.words)
    if not tools:
        return []
    found = [one for one in _asked_for(tools, talk.words) if not _was_made(one, talk.made)]
    if any(result.is_error for result in talk.results) or _FORBIDDEN.search(talk.words):
        found = []
    if not found and forced(request.choice):
        found = [_made_up(_likeliest(tools, talk.words), talk.words)]
    return found[: 1 if request.settings.parallel is False else MOST]


def _was_made(planned: Planned, made: list[ToolCall]) -> bool:
    return any(call.name == planned.tool.name and _value(call.arguments) == _value(planned.arguments) for call in made)


def _value(arguments: str) -> Json:
    try:
        return msgspec.json.decode(arguments) if arguments.strip() else {}
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return arguments


def _asked_for(tools: list[Tool], text: str) -> list[Planned]:
    """The calls that the words ask for, in their order."""
    if not text:
        return []
    whole = hear(text)
    out: list[Planned] = []
    for piece in _pieces(tools, whole):
        # "the weather and the time in Paris": what one piece lacks may stand in another.
        found = _called(tools, piece) or _called(_meant(tools, piece), whole)
        out += [one for one in found if one not in out]
    return out or _called(tools, whole)


def _pieces(tools: list[Tool], whole: Heard) -> list[Heard]:
    """The words in pieces, each of which speaks of a tool: a new one begins where one is named again."""
    text, covered = whole.text, whole.covered
    starts = [0]
    breaks = [(match.start(), match.end()) for match in _BREAK.finditer(covered)]
    for number, (_, begin) in enumerate(breaks[:100]):
        end = breaks[number + 1][0] if number + 1 < len(breaks) else len(text)
        if _meant(tools, hear(text[begin:end], covered[begin:end])):
            starts.append(begin)
    ends = [*starts[1:], len(text)]
    return [hear(text[start:end], covered[start:end]) for start, end in zip(starts, ends, strict=True)]


def _meant(tools: list[Tool], heard: Heard) -> list[Tool]:
    """The tool that the words name, if they name one."""
    scores = [score(tool, heard) for tool in tools]
    most = max(scores)
    return [tools[scores.index(most)]] if most >= NAMED else []


def _called(tools: list[Tool], heard: Heard) -> list[Planned]:
    """The calls of the tool that the words speak of most, if they hold its arguments; else of one not far behind."""
    scored = [(found, tool) for tool in tools if (found := score(tool, heard)) > 0]
    most = max([found for found, _ in scored], default=0)
    for _, tool in sorted([pair for pair in scored if 2 * pair[0] > most], key=lambda pair: -pair[0]):
        calls = _free_text(tool, heard.text) if tool.custom else _arguments(tool, heard)
        if calls:
            return calls
    return []


def _free_text(tool: Tool, text: str) -> list[Planned]:
    """What a custom tool is to get: what stands in quotes or in a block, or behind a colon."""
    behind = _COLON.search(text)
    for given in (*quoted(text), *([behind[1].strip()] if behind is not None else [])):
        if given and _speaks(tool, given):
            return [Planned(tool, given)]
    return []


def _speaks(tool: Tool, text: str) -> bool:
    grammar = tool.grammar
    return grammar is None or grammar.syntax != "regex" or pattern_samples.matches(rf"^(?:{grammar.definition})$", text)


def document_of(tool: Tool) -> Document:
    """The schema of a tool's arguments, which are an object whatever else it says."""
    root = schema_check.read(tool.schema).root
    if not isinstance(root, dict):
        return Document({"type": "object"})
    return Document(root if "type" in root else {"type": "object", **root})


def _arguments(tool: Tool, heard: Heard) -> list[Planned]:
    """The arguments that stand in the words: one set, or several where they name several things; none if one lacks."""
    document = document_of(tool)
    extraction = Extraction(document, heard.text, words_of(tool.name))
    whole = extraction.whole()
    if whole is not None:
        return [Planned(tool, encoded(whole))]
    root = extraction.plain(document.root)
    declared, required = schema_check.properties(root), schema_check.names(root, "required")
    found: dict[str, list[Json]] = {}
    silent = 0
    # Where nothing is required, one argument is enough to tell that the tool is meant.
    for name in required or declared:
        inner = declared.get(name, {})
        values = extraction.find(name, inner, required=True)
        if not values and name in required:
            values = _unsaid(inner, document)
            silent += 1
            if not values:
                return []
        if values:
            found[name] = values
    if silent == len(found) and not plainly(tool, heard):
        return []
    others = {
        name: values[0]
        for name, inner in declared.items()
        if required and name not in required and (values := extraction.find(name, inner, required=False))
    }
    fans = {name for name in found if extraction.fans(name, declared.get(name, {}))}
    out: list[Planned] = []
    fits = schema_check.Fit(document)
    for chosen in _sets(found, fans):
        both = {**chosen, **others}
        value = {name: both[name] for name in (*declared, *required) if name in both}
        if fits(value, document.root):
            out.append(Planned(tool, encoded(value)))
    return out


def _unsaid(schema: Json, document: Document) -> list[Json]:
    """What a required argument is when nothing is said of it, by its own schema: its default, or null."""
    if not isinstance(schema, dict):
        return []
    given = [schema["default"]] if "default" in schema else [None]
    return [value for value in given if schema_check.Fit(document)(value, schema)]


def _sets(found: dict[str, list[Json]], fans: set[str]) -> list[dict[str, Json]]:
    """One set of arguments, or one for each value of the parameter that has several."""
    alike: dict[str, list[str]] = {}
    for name, values in found.items():
        alike.setdefault(encoded(values), []).append(name)
    chosen = {name: values[0] for name, values in found.items()}
    shared = False
    for names in alike.values():
        values = found[names[0]]
        if len(names) > 1 and len(values) >= len(names):
            # Two parameters that look for the same kind of thing: each gets its own, in the order of the words.
            chosen.update(zip(names, values, strict=False))
            shared = True
    several = [name for name in found if name in fans and len(found[name]) > 1]
    if shared or not several:
        return [chosen]
    length = min([len(found[name]) for name in several])
    return [{**chosen, **{name: found[name][place] for name in several}} for place in range(min(length, MOST))]


def encoded(value: Json) -> str:
    """A value as JSON text."""
    return msgspec.json.encode(value).decode()


def _likeliest(tools: list[Tool], text: str) -> Tool:
    heard = hear(text)
    return max(tools, key=lambda tool: score(tool, heard))


def _made_up(tool: Tool, text: str) -> Planned:
    """A call that has to be: what the words do not hold comes from the schema."""
    return Planned(tool, filled(tool, text))


def filled(tool: Tool, text: str) -> str:
    """Arguments legal by the tool's schema, from the words as far as they go."""
    if tool.custom:
        found = _free_text(tool, text)
        if found:
            return found[0].arguments
        if tool.grammar is not None and tool.grammar.syntax == "regex":
            return pattern_samples.sample(rf"^(?:{tool.grammar.definition})$") or text
        return text or "rehearsal"
    document = document_of(tool)
    extraction = Extraction(document, text, words_of(tool.name))

    def wish(name: str, schema: dict[str, Json]) -> list[Json]:
        return extraction.find(name, schema, required=True) if name else []

    made = Maker(document, wish).make()
    if made is NOTHING or not isinstance(made, dict):
        made = Maker(document).make()
    return encoded(made) if isinstance(made, dict) else "{}"
