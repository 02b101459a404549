"""Owns the table of loss codes: meaning, effect, severity and example of each. `dragoman loss CODE` prints one."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Code(Struct, frozen=True, gc=False):
    """One kind of loss."""

    effect: Literal["dropped", "approximated", "invented"]
    severity: Literal["info", "warning", "error"]
    meaning: str
    example: str


def _d(severity: Literal["info", "warning", "error"], meaning: str, example: str) -> Code:
    return Code("dropped", severity, meaning, example)


def _a(severity: Literal["info", "warning", "error"], meaning: str, example: str) -> Code:
    return Code("approximated", severity, meaning, example)


def _i(severity: Literal["info", "warning", "error"], meaning: str, example: str) -> Code:
    return Code("invented", severity, meaning, example)


CODES: dict[str, Code] = {
    # fields
    "field.dropped": _d(
        "warning",
        "A field that only the source dialect knows was left out. The severity is info for figures, ids and echoes in "
        "an answer; padding and times are never a loss.",
        "openai-chat logit_bias to anthropic: Messages has no such control.",
    ),
    "model.invented": _i(
        "error",
        "The target needs a model name in the body and none was given; a placeholder was written.",
        "A Gemini request (its model is in the URL) to openai-chat without model=.",
    ),
    "metadata.dropped": _d(
        "info", "Request metadata has no place in the target.", "openai-chat metadata to anthropic."
    ),
    "user.dropped": _d(
        "info", "The end user's id has no place in the target.", "anthropic metadata.user_id to gemini."
    ),
    "tier.dropped": _d(
        "info", "The service tier has no counterpart in the target.", "anthropic service_tier standard_only to gemini."
    ),
    "header.dropped": _d(
        "warning",
        "A header that only upstreams of the client's own family read was not sent on.",
        "anthropic-beta: context-1m-2025-08-07 to a gemini upstream.",
    ),
    "state.dropped": _d(
        "error",
        "The request refers to state on the source's server; the target cannot see that state.",
        "openai-responses previous_response_id to anthropic: the earlier turns are missing.",
    ),
    # turns
    "system.demoted": _a(
        "warning",
        "System text in the middle of a conversation became a marked user text.",
        "An openai-chat developer message after the first user turn, sent to gemini.",
    ),
    "system.media.dropped": _d(
        "error", "The target's system prompt holds text only.", "An image in a system turn, sent to gemini."
    ),
    "name.dropped": _d(
        "info", "The target has no field for the author's name of a turn.", "openai-chat user name to anthropic."
    ),
    "order.approximated": _a(
        "info",
        "Text and calls of one turn changed places, since the target keeps them in separate fields.",
        "anthropic text after tool_use, sent to openai-chat.",
    ),
    "turn.dropped": _d(
        "info",
        "A turn was left out: the target cannot hold any of its parts.",
        "A turn made of hosted-tool blocks only.",
    ),
    "turn.invented": _i(
        "info",
        "The target needs a turn that the source did not have; a minimal turn was added.",
        "A Gemini history that begins with the model gets a user turn in front.",
    ),
    "prefill.trimmed": _a(
        "info",
        "White space at the end of the last assistant turn was removed: the target refuses such an ending.",
        'An openai-chat history that ends with the assistant\'s "The answer is ", sent to anthropic.',
    ),
    # parts
    "part.dropped": _d(
        "warning",
        "A part that only the source dialect knows was left out. In a request the severity is error: the part is "
        "something that the user gave.",
        "An openai-responses compaction item to gemini.",
    ),
    "part.as_text": _a(
        "warning",
        "A part that only the source dialect knows was written as the text in the part. In a request the severity is "
        "info: the model reads the same words.",
        "An anthropic search_result block to openai-chat.",
    ),
    "hosted.dropped": _d(
        "warning",
        "A call or result of a tool that the source's upstream ran itself was left out. The severity is error for a "
        "compaction in a request, which is the only record of the turns before it, and for a request for approval in "
        "an answer, because the upstream waits for the reply.",
        "anthropic server_tool_use and web_search_tool_result to openai-chat.",
    ),
    "hosted.mapped": _a(
        "info",
        "A call or result of a tool that the source's upstream ran itself was written in the target's form, without "
        "fields that the target lacks. In a history the severity is warning if the model misses a part of the result.",
        "anthropic web_search_tool_result to openai-responses: web_search_call has the addresses, not the titles.",
    ),
    "media.dropped": _d(
        "error", "The target cannot hold this kind of media.", "Audio in a Gemini turn, sent to anthropic."
    ),
    "media.summarised": _a(
        "warning",
        'Media became a short text, because binary="summarise" asks for it or nothing else is possible.',
        'An image in a tool result with binary="summarise".',
    ),
    "media.reference": _a(
        "warning",
        "A file id or address is passed on although the target's upstream may not be able to open it.",
        "An https image address sent to gemini as fileData.",
    ),
    "media.moved": _a(
        "warning",
        "An image of an assistant turn was moved to the next user turn, with a text that explains the move.",
        "An image that a Gemini model made, in a history sent to anthropic.",
    ),
    "media.retyped": _a(
        "info",
        "Media was written with another media type; the content is the same.",
        "A text/csv document to anthropic, which has text/plain.",
    ),
    "media.detail.dropped": _d(
        "info",
        "The target has no setting for the requested image resolution.",
        "openai-chat image detail low to anthropic.",
    ),
    "media.name.dropped": _d(
        "info", "The target has no field for the file name of media.", "openai-chat file.filename to gemini."
    ),
    "citation.dropped": _d(
        "warning",
        "A citation without a counterpart in the target was left out. In a request the severity is info: the text "
        "that was cited is there.",
        "anthropic char_location citations to openai-chat, which knows addresses only.",
    ),
    "citation.approximated": _a(
        "info",
        "A citation was written without some of its details.",
        "anthropic cited_text to openai-responses, which has positions instead.",
    ),
    "character.replaced": _a(
        "warning",
        "Half a character (a lone surrogate, which no UTF-8 text can hold) became U+FFFD.",
        'A tool result that an agent cut to "done \\ud83d", sent from openai-chat to anthropic.',
    ),
    "refusal.as_text": _a(
        "info", "A refusal part became plain text.", "openai-chat message.refusal in a history sent to gemini."
    ),
    # reasoning and seals
    "reasoning.dropped": _d(
        "warning",
        "Thinking text was left out: the target has no place for it, or the thinking comes from another upstream.",
        "anthropic thinking blocks in a history sent to openai-chat.",
    ),
    "reasoning.invented": _i(
        "warning",
        "The host demands thinking text beside calls, and the history has none; an empty text was written.",
        "A history from claude sent to deepseek: reasoning_content on every message with calls.",
    ),
    "seal.dropped": _d(
        "warning",
        "A seal (signature, encrypted reasoning) was not sent: only its origin may read it, or no field can hold it. "
        "In a request for another upstream the severity is info: that upstream cannot read the seal.",
        "Gemini thoughtSignature in a history sent to anthropic.",
    ),
    "seal.loosened": _a(
        "info",
        "The seals of this model are valid only if the history is unchanged. The request asks the upstream to drop "
        "seals that are no longer valid, instead of refusing the request.",
        "A history with thinking of claude-fable-5-1, sent back to it by an openai-responses client.",
    ),
    "seal.dummy": _i(
        "info",
        "The target demands a seal that does not exist; its documented dummy was written.",
        "A history from openai-chat sent to gemini-3: the first call of each open step.",
    ),
    # tools
    "tool.refused": _a(
        "error",
        "The model takes no function tools in the target dialect; the upstream will refuse the request.",
        "Tools for gpt-6-astra over openai-chat: they go through openai-responses only.",
    ),
    "tool.duplicate": _d(
        "warning",
        "A second tool of the same name was left out; the severity is info if both declarations are equal.",
        "openai-chat tools with two functions f, sent to anthropic.",
    ),
    "tool.hosted.dropped": _d(
        "warning",
        "A tool that the source's upstream runs itself is not offered to the target's model.",
        "openai-responses file_search to anthropic.",
    ),
    "tool.hosted.mapped": _a(
        "info",
        "A tool that the source's upstream runs itself became the target upstream's own tool of the same kind.",
        "anthropic web_search to gemini googleSearch: another index, other results.",
    ),
    "tool.hosted.option.dropped": _d(
        "warning",
        "An option of a hosted tool has no counterpart in the target's tool. The severity is info for a place, a size "
        "and a description, and error for the user's files.",
        "max_uses of an anthropic web_search to openai-responses.",
    ),
    "tool.hosted.as_function": _a(
        "warning",
        "The target's upstream has no such tool, so the model is offered a function instead. If the client can run the "
        "original tool, the client runs the function. Otherwise the caller that asked for stand-ins runs the function.",
        "anthropic web_search to ollama with stand_ins=True: the function google_web_search.",
    ),
    "tool.examples.as_text": _a(
        "info",
        "Examples of a tool's arguments are in the description of the tool.",
        "anthropic input_examples to openai-chat.",
    ),
    "tool.custom.wrapped": _a(
        "info",
        "A free-text tool became a function with one string, input; its grammar is in the description.",
        "openai-responses apply_patch to gemini.",
    ),
    "tool.namespace.prefixed": _a(
        "info",
        "A tool of a namespace got the namespace in front of its name.",
        "openai-responses namespace crm, tool get: crm__get.",
    ),
    "tool.deferred.expanded": _a("info", "A deferred tool is sent in full.", "anthropic defer_loading to gemini."),
    "tool.renamed": _a(
        "info",
        "A tool name that is illegal in the target was replaced, everywhere and reversibly.",
        "A name with dots and 80 characters sent to openai-chat.",
    ),
    "tool.strict.dropped": _d(
        "info",
        "The target does not enforce the schema of this tool's arguments.",
        "openai-chat strict:true to ollama, which has no strict mode.",
    ),
    "tool.strict.approximated": _a(
        "info",
        "The target enforces the schemas of all tools, strict or not; it has no mark for a single tool.",
        "Two openai-chat tools, one with strict:true, to gemini: the mode VALIDATED is for both.",
    ),
    "tool.output_schema.dropped": _d(
        "info",
        "The target has no field for the schema of a tool's results.",
        "gemini responseJsonSchema to openai-chat.",
    ),
    "tool.merged": _a(
        "info",
        "A tool that was added in mid-conversation is declared from the start.",
        "An openai-responses additional_tools item to anthropic.",
    ),
    "schema.keyword.dropped": _d(
        "info",
        "A schema keyword the target refuses was removed; if it is a constraint, the description states it.",
        "patternProperties to gemini.",
    ),
    "schema.rewritten": _a(
        "info",
        "A schema was written with other keywords of the same or a wider meaning.",
        'const "a" to enum ["a"] for gemini.',
    ),
    "schema.ref.inlined": _a(
        "info", "A $ref was replaced by the schema that it names.", "$ref #/$defs/node to ollama."
    ),
    "schema.ref.cut": _a(
        "warning",
        "A recursive or dangling $ref became a permissive schema.",
        "A tree node whose children are nodes, sent to a target without refs.",
    ),
    "schema.invalid": _a(
        "warning",
        "The schema cannot be used as tool parameters; a permissive one was written.",
        'parameters {"type":"string"} to anthropic.',
    ),
    # choice
    "choice.weakened": _a(
        "warning",
        "The model refuses a forced choice; a sentence in the system prompt asks for the call instead.",
        "tool_choice required to claude-opus-5.5.",
    ),
    "choice.dropped": _d(
        "warning", "The target has no such tool choice.", "A choice of a hosted tool the target lacks."
    ),
    "choice.by_filter": _a(
        "info",
        "A subset choice became a shorter tool list; a cached prompt prefix changes with it.",
        "openai-chat allowed_tools to anthropic.",
    ),
    "choice.none.by_omission": _a(
        "info",
        "The request forbids all calls, and the target has no setting for that: the tools are left out.",
        "tool_choice none to ollama.",
    ),
    "parallel.unenforced": _d(
        "warning",
        "The target has no switch against parallel calls; the model may make several.",
        "parallel_tool_calls:false to gemini.",
    ),
    # calls and results
    "call.id.rewritten": _a(
        "info",
        "A call id that is illegal in the target was replaced in the call and its result.",
        "fc.1:2 to anthropic.",
    ),
    "call.id.invented": _i(
        "info", "The source gave no call id; one was made from its position.", "A Gemini 2.5 functionCall."
    ),
    "call.name.invented": _i(
        "warning",
        "The target needs the tool's name in a result whose call is not in the history.",
        "An openai-chat tool message without its call, sent to gemini.",
    ),
    "call.truncated": _d(
        "error",
        "A call whose arguments break off, or are not a JSON object, was left out; the missing rest is never invented.",
        "Such a call in an answer to a gemini, code-assist, ollama or anthropic client, where a call is an object and "
        "clients run it; the last call of an answer that ended with its token limit, in a history translated with "
        'repair="report"; a '
        "call that Vertex streams in pieces, without its last one.",
    ),
    "call.custom.wrapped": _a(
        "info",
        "A free-text call in the history became a call with one string, input.",
        "custom_tool_call to anthropic.",
    ),
    "call.stand_in": _a(
        "warning",
        "The model called a function that stands for a tool which the source's upstream would have run; the client "
        "never declared the function. A program between client and upstream must run it, or report an unknown tool.",
        "google_web_search in an answer of openai-chat to an anthropic client that offered web_search.",
    ),
    "arguments.invalid": _a(
        "error",
        "The arguments of a call break off, or are not a JSON object. In a history they are written under __raw for a "
        "target that needs an object, else unchanged. An answer whose call breaks off ends like a cut answer.",
        'openai-chat arguments "{\\"a\\": " to anthropic.',
    ),
    "result.error.as_text": _a(
        "info",
        "The error flag of a result became text.",
        "anthropic is_error:true to openai-chat: the text begins with Error.",
    ),
    "result.structured.as_text": _a(
        "info", "A structured result became its JSON text.", 'gemini response {"n":1} to anthropic.'
    ),
    "result.media.moved": _a(
        "warning",
        "Media in a result moved to a user turn after the results.",
        "An anthropic tool_result with an image, sent to openai-chat.",
    ),
    "result.texts.joined": _a(
        "info",
        "Several texts of one result became one, with line breaks between.",
        "An anthropic tool_result with two text blocks, sent to gemini.",
    ),
    "result.duplicate": _d(
        "warning", "A second result for the same call was left out.", "Two tool messages with one tool_call_id."
    ),
    "result.invented": _i(
        "warning",
        "A call without a result got an empty one, marked as an error, because the target refuses open calls.",
        "A history that goes on after an unanswered call, sent to anthropic.",
    ),
    "result.orphaned": _a(
        "warning",
        "A result whose call is not in the history became a marked user text.",
        "A function_call_output after previous_response_id, sent to anthropic.",
    ),
    "result.moved": _a(
        "info",
        "Results were moved next to the calls they answer.",
        "A user text between two tool results, sent to anthropic.",
    ),
    # settings
    "sampling.dropped": _d(
        "info",
        "A sampling setting that the target or its model refuses was left out.",
        "temperature to claude-opus-4-7.",
    ),
    "sampling.clamped": _a(
        "info", "A sampling setting was moved into the target's range.", "temperature 1.7 to anthropic."
    ),
    "stop.dropped": _d("warning", "The target takes no stop sequences.", "openai-chat stop to openai-responses."),
    "stop.truncated": _d(
        "warning", "The request has more stop sequences than the target takes.", "Six sequences to openai-chat (4)."
    ),
    "limit.invented": _i(
        "info",
        "The target demands a token limit; its default was written.",
        "openai-chat without max_tokens to anthropic.",
    ),
    "limit.raised": _a(
        "info",
        "The token limit was raised: the thinking budget must be below it, or the target refuses so small a limit.",
        "budget 8192, max_tokens 1024; anthropic max_tokens 1 to openai-responses, which wants 16.",
    ),
    "limit.lowered": _a(
        "info",
        "The token limit was lowered to the largest limit that the model takes.",
        "anthropic max_tokens 32000 to gpt-4o, which takes 16384.",
    ),
    "effort.approximated": _a(
        "info", "Effort and budget were converted into each other.", "thinkingBudget 8192 to effort medium."
    ),
    "effort.dropped": _d("warning", "The target's model takes no effort setting.", "reasoning_effort to gemini-2.0."),
    "thoughts.dropped": _d(
        "info", "The target has no setting to show or hide thoughts.", "gemini includeThoughts to openai-chat."
    ),
    "thoughts.invented": _i(
        "info",
        "The model reports progress between calls in its thoughts only. The request now asks for visible thoughts.",
        "Tools for claude-opus-5-5 from openai-chat: display summarized.",
    ),
    "thoughts.approximated": _a(
        "info",
        "The request asks for visible thoughts; their requested length was left out.",
        "openai-responses reasoning.summary concise to gemini includeThoughts.",
    ),
    "compaction.approximated": _a(
        "info",
        "The upstream compacts the history at another number of tokens than the client requested.",
        "openai-responses compact_threshold 1000 to anthropic, which takes 50000 and more.",
    ),
    "compaction.dropped": _d(
        "warning",
        "The target's model does not compact a long history itself.",
        "anthropic compact_20260112 to gpt-4o on openai-responses.",
    ),
    "verbosity.dropped": _d("info", "The target has no verbosity setting.", "openai-chat verbosity low to gemini."),
    "format.dropped": _d(
        "warning", "The target has no such structured output.", "A response format the target does not know."
    ),
    "format.as_text": _a(
        "warning",
        "The request for JSON output became a sentence in the system prompt.",
        "response_format json_object to anthropic.",
    ),
    "format.strict.dropped": _d(
        "warning",
        "The target gets the schema of the answer, but does not enforce it.",
        "A Gemini responseJsonSchema with minLength to openai-chat: strict mode does not take it.",
    ),
    "format.detail.dropped": _d(
        "info", "A detail of the structured-output setting was left out.", "The schema's name, sent to anthropic."
    ),
    "n.dropped": _d("warning", "The target gives one answer only.", "n: 3 to anthropic."),
    "logprobs.dropped": _d("warning", "The target gives no log probabilities here.", "logprobs to anthropic."),
    "cache.dropped": _d("info", "The target has no such cache hint.", "anthropic cache_control to gemini."),
    "cache.approximated": _a(
        "info",
        "A cache hint was written with another lifetime or at another place.",
        "ttl 5m to openai-chat, which has 30m.",
    ),
    # answers
    "answer.dropped": _d(
        "warning", "A second, third ... answer was left out.", "An openai-chat answer with n 2 to anthropic."
    ),
    "answer.invented": _i(
        "warning",
        "A stream has an answer, or the end of an answer, that the upstream left out. Clients of the target need all "
        "answers in order, each with an end.",
        "A gemini stream with the candidates 0 and 2 to openai-chat: choice 1 is empty and ends with stop.",
    ),
    "stop.approximated": _a(
        "info",
        "The target has no exact word for the stop reason, or the source's stop reason is not the true one.",
        "anthropic pause_turn to openai-chat stop; tool_calls with a call that breaks off, sent as length.",
    ),
    "usage.dropped": _d(
        "info", "The target has no field for a usage figure.", "gemini toolUsePromptTokenCount details."
    ),
    "usage.approximated": _a(
        "info",
        "The figures of the source contradict each other; all are kept, although the target defines them differently.",
        "openai-chat prompt_tokens 347 with cached_tokens 403 to anthropic: both numbers are kept.",
    ),
    "usage.invented": _i(
        "info",
        "The target demands usage figures that the source did not give; zeros were written.",
        "A stream without usage.",
    ),
    "id.invented": _i(
        "info",
        "The target requires an id that the source does not have; the id was computed from the content.",
        "A Gemini answer without responseId; the prompt's id in a Code Assist envelope.",
    ),
    "id.dropped": _d("info", "The target has no field for the id of the answer.", "An openai-chat answer to ollama."),
    "record.id.invented": _i(
        "info",
        "The target's file format needs an id on each line, and the line had none. The id is made of the number of the "
        "file and of the line.",
        "Lines of openai-chat requests to anthropic-batch: custom_id 1-17.",
    ),
    "record.id.rewritten": _a(
        "warning",
        "The id of a line has characters or a length that the target's file format refuses. Results have the new id.",
        "The custom_id user@example.org to anthropic-batch, which takes letters, digits, _ and -.",
    ),
    "event.dropped": _d(
        "info", "A stream event that only the source dialect knows was left out.", "response.web_search_call.searching."
    ),
    "fault.approximated": _a(
        "info",
        "A fault was written with another status or type, because the target lacks the original one.",
        "409 to gemini ABORTED.",
    ),
}
