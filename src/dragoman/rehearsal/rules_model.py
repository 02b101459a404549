"""Owns `rehearsal/rules`: an answer by fixed rules, from the request alone. README.md lists the rules."""

from __future__ import annotations

from typing import Any

from ..canon.events import Fault
from ..canon.parts import Media, Opaque, Part, Text, ToolCall, ToolResult
from ..canon.request import Format, Request
from ..canon.turns import Turn
from . import media_facts, planned_tool_calls, schema_check, text_replies, thinking, token_estimate
from .answer_composition import ComposedAnswer, cut_at_limits
from .argument_extraction import Extraction, json_values
from .conversation_view import ConversationView, fingerprint, read_conversation, result_text
from .planned_tool_calls import PlannedCall, encode
from .schema_instances import NOTHING, InstanceMaker

MODEL = "rehearsal/rules"

_MOST = 8000
"""Characters of a tool's result that the answer repeats."""
_ANSWERS = 128
_SPOKEN = frozenset({"answer", "response", "reply", "text", "message", "summary", "result", "content", "explanation"})
"""Properties of a wanted format that get the answer's words."""


def answer_by_rules(request: Request, model: str = MODEL) -> list[ComposedAnswer] | Fault:
    """The answers to a request, one for each of `n`; or a fault."""
    wrong = _request_fault(request)
    if wrong is not None:
        return wrong
    talk = read_conversation(request)
    planned = [] if _is_refused(talk) else planned_tool_calls.plan_calls(request, talk)
    number = max(1, request.settings.n or 1)
    return [_answer(request, talk, planned, model, place, number) for place in range(number)]


def _request_fault(request: Request) -> Fault | None:
    """The fault for a request that every upstream refuses."""
    if not any(turn.role in ("user", "tool", "assistant") and _has_known_part(turn) for turn in request.turns):
        return Fault("invalid_request", "rehearsal: there is no turn of the user to answer", 400)
    if not all(
        media_facts.is_legible(part) for turn in request.turns for part in turn.parts if isinstance(part, Media)
    ):
        return Fault("invalid_request", "rehearsal: the data of an image or a document is not base64", 400)
    number = request.settings.n
    if number is not None and not 1 <= number <= _ANSWERS:
        return Fault("invalid_request", f"rehearsal: 1 to {_ANSWERS} answers to one request", 400, param="n")
    choice = request.choice
    if planned_tool_calls.is_forced(choice) and not planned_tool_calls.usable_tools(request):
        named = f" named {', '.join(choice.names)}" if choice is not None and choice.names else ""
        return Fault("invalid_request", f"rehearsal: a call is demanded, and no tool{named} is declared", 400)
    return None


def _has_known_part(turn: Turn) -> bool:
    """Whether a turn has a part that its dialect knows."""
    return any(not isinstance(part, Opaque) for part in turn.parts)


def _is_refused(talk: ConversationView) -> bool:
    return text_replies.REFUSAL in talk.words.lower()


def _answer(
    request: Request, talk: ConversationView, planned: list[PlannedCall], model: str, number_of_call: int, number: int
) -> ComposedAnswer:
    settings = request.settings
    parts: list[Part] = []
    thought = thinking.thinks(settings)
    if thought:
        text = _thought(request, talk, planned)
        if settings.budget is not None and settings.budget > 0:
            text = "".join(token_estimate.split(text)[: settings.budget])
        parts.append(thinking.sealed_thought(text, model, shown=settings.thoughts is not False))
    if planned:
        print_ = fingerprint(request, str(number_of_call))
        parts += [call_part(one, print_, at, thought=thought) for at, one in enumerate(planned)]
    elif _is_refused(talk):
        parts.append(Text(f"{text_replies.OPENING}I refuse, as these words ask a rehearsal to.", refusal=True))
    elif settings.format is not None:
        parts.append(Text(_formatted_answer(settings.format, request, talk)))
    else:
        opening = text_replies.OPENING
        if number > 1:
            opening = f"{opening[:-2]}, answer {number_of_call + 1} of {number}: "
        text = opening + _words(talk)
        parts.append(Text(text.upper() if talk.capitals else text))
    return cut_at_limits(parts, settings)


def call_part(planned: PlannedCall, fingerprint: str, number_of_call: int, *, thought: bool) -> ToolCall:
    """A planned call as a part. Its id depends on the conversation and on the place of the call."""
    tool = planned.tool
    prefix = thinking.MARK if thought else "call_r"
    return ToolCall(
        f"{prefix}{fingerprint[:18]}{number_of_call:02d}", tool.name, planned.arguments, tool.custom, tool.namespace
    )


def _words(talk: ConversationView) -> str:
    if talk.results:
        return "\n".join([_result(result, talk) for result in talk.results])
    shown = _media_description(talk.media)
    if shown and not talk.words:
        return shown
    reply = text_replies.reply(talk.words, talk.earlier)
    return f"{shown} {reply[:1].upper()}{reply[1:]}" if shown else reply


def _media_description(media: list[Media]) -> str:
    return f"I was shown {'; '.join([media_facts.describe(one) for one in media])}." if media else ""


def _result(result: ToolResult, talk: ConversationView) -> str:
    text = result_text(result)
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]} … {text[-_MOST // 2 :]}"
    shown = "; ".join([media_facts.describe(part) for part in result.parts if isinstance(part, Media)])
    both = "\n".join([one for one in (text, f"I was shown {shown}." if shown else "") if one]) or "nothing"
    return f"{talk.tool_name(result)} {'failed' if result.is_error else 'answered'}: {both}"


def _thought(request: Request, talk: ConversationView, planned: list[PlannedCall]) -> str:
    """The thought: the input, and the next step."""
    out = ["This is a rehearsal: rules, no model."]
    if talk.results:
        names = ", ".join(dict.fromkeys([talk.tool_name(result) for result in talk.results]))
        out.append(f"Results came from {names}.")
    else:
        out.append(f"The user says: “{text_replies.shorten(talk.words, 200)}”.")
    if planned:
        out.append(f"I call {', '.join([one.tool.name for one in planned])}.")
    elif planned_tool_calls.usable_tools(request) and not talk.results:
        out.append("No declared tool has all its arguments in these words.")
    else:
        out.append("I answer in words.")
    return " ".join(out)


def _schema_in_words(request: Request) -> str | None:
    """A JSON Schema in the words of the system or the user: clients that ask for any JSON show it there."""
    for turn in request.turns:
        for part in turn.parts if turn.role != "assistant" else ():
            if isinstance(part, Text) and '"properties"' in part.text:
                for start, end, value in json_values(part.text):
                    if isinstance(value, dict) and "properties" in value:
                        return part.text[start:end]
    return None


def _formatted_answer(wanted: Format, request: Request, talk: ConversationView) -> str:
    """JSON in the wanted format: values from the words and the results, all others from the schema."""
    words = _words(talk)
    schema = wanted.schema if wanted.kind == "schema" else _schema_in_words(request)
    if schema is None:
        return encode({"rehearsal": True, "reply": words})
    document = schema_check.read(schema)
    extraction = Extraction(document, "\n".join([talk.words, *[result_text(result) for result in talk.results]]))

    def wanted_value(name: str, schema: dict[str, Any]) -> list[Any]:
        found = extraction.find(name, schema, required=True) if name else []
        return [*found, words] if name.lower() in _SPOKEN else found

    given = extraction.whole()
    if given is not None:
        return encode(given)
    # A wanted value may leave no value that fits, and so may an optional property. Each attempt drops one of them.
    for maker in (
        InstanceMaker(document, wanted_value, full=True),
        InstanceMaker(document, wanted_value),
        InstanceMaker(document),
    ):
        made = maker.make()
        if made is not NOTHING:
            return encode(made)
    return encode({})
