"""Owns the advice for each loss: what a caller can do about it. A row applies to its code, or to all codes of its
group."""

from __future__ import annotations

_ADVICE = {
    "answer": "Ask for one answer at a time, or send the request once for each.",
    "arguments": "Do not run the call. Ask the model again.",
    "cache": "Nothing has to be done: caching changes cost and speed, not the answer.",
    "call": "Nothing has to be done: the translation of the answer gives each call its own name and id back.",
    "call.stand_in": "Run the function yourself, or leave out stand_ins.",
    "call.truncated": "Do not run the call. Ask again, with a larger token limit if the limit was reached.",
    "character": "Check the client: it sends characters that are not Unicode.",
    "choice": "Name the wanted tool in the prompt, or choose an upstream whose dialect has this control.",
    "citation": "Read the sources in the text of the answer, or use an upstream of the client's dialect.",
    "compaction": "Shorten the history yourself, or use an upstream that compacts.",
    "effort": "Choose a model with this level of reasoning, or leave the setting out.",
    "event": "Nothing has to be done, unless the client waits for this event.",
    "fault": "Read the message: the status or the type is the nearest that the dialect has.",
    "field": "Leave the field out, or choose an upstream whose dialect has it.",
    "format": "Check the answer against the schema yourself, or choose an upstream that enforces the format.",
    "header": "Nothing has to be done, unless the request needs the feature that the header enables.",
    "hosted": "Run the tool yourself as a function, or use an upstream that runs it.",
    "id": "Nothing has to be done, unless something outside of the conversation refers to the id.",
    "limit": "Set the token limit yourself, to a number that the model takes.",
    "logprobs": "Choose an upstream that gives log probabilities, or leave the setting out.",
    "media": "Send the media in a form that the target takes (inline, another type), or choose another model.",
    "metadata": "Nothing has to be done: the model does not see metadata.",
    "model": "Name the model: pass model= to the translation.",
    "n": "Send the request once for each wanted answer.",
    "name": "Put the name into the text, if the model has to know it.",
    "order": "Nothing has to be done: all parts are there, in another order.",
    "parallel": "Accept several calls in one answer, or choose an upstream that has the setting.",
    "part": "Send the content as text or in another form, or choose an upstream whose dialect has it.",
    "prefill": "Do not end the request with the assistant's words, or choose a model that continues them.",
    "reasoning": "Nothing has to be done: the model thinks again. Stay on one upstream to keep its thoughts.",
    "record.id.invented": "Give each line an id of your own, if results have to be matched with other data.",
    "record.id.rewritten": "Use ids of letters, digits, - and _, with at most 64 characters.",
    "refusal": "Read the text of the answer: it is the refusal.",
    "result": "Repair the history with dragoman.repair, so that each call has one result behind it.",
    "result.error.*": "Nothing has to be done: the text states that the call failed.",
    "result.media.*": "Nothing has to be done: the media follow the result.",
    "result.structured.*": "Nothing has to be done: the text is the same JSON.",
    "result.texts.*": "Nothing has to be done: the text is the same.",
    "sampling": "Leave the setting out, or choose a model that takes it.",
    "schema": "Write the schema with the keywords that the target takes. `dragoman lint --kind tools` names them.",
    "seal": "Nothing has to be done: a seal is of use to its own provider only. Stay on one upstream to use it.",
    "state": "Send the whole conversation, or pass resolver= to the translation.",
    "stop": "Cut the answer yourself, or use fewer or shorter stop sequences.",
    "system": "Put the instructions at the beginning of the conversation.",
    "thoughts": "Leave the setting out, or choose a model that shows its thoughts.",
    "tier": "Choose the tier at the upstream itself.",
    "tool": "Declare the tool in the form that the target takes. `dragoman lint --kind tools` names what it refuses.",
    "tool.custom.*": "Nothing has to be done: calls come back as free text.",
    "tool.hosted.*": "Offer a function of your own for it, pass stand_ins=True, or use an upstream that runs the tool.",
    "tool.namespace.*": "Nothing has to be done: calls come back with their own names.",
    "tool.renamed": "Nothing has to be done: calls come back with their own names.",
    "turn": "Repair the history with dragoman.repair.",
    "usage": "Count with the figures that are there, or ask the upstream for its own count.",
    "user": "Nothing has to be done: the model does not see the id.",
    "verbosity": "Ask for the wanted length in the prompt.",
}


def advice_for(code: str) -> str:
    """What a caller can do about a loss with this code."""
    return _ADVICE[row_for(code)]


def row_for(code: str) -> str:
    """The name of the row for a code: the code itself, else the nearest group above it."""
    group = code
    while group and code not in _ADVICE:
        group = group.rpartition(".")[0]
        code = f"{group}.*" if "." in group else group
    return code
