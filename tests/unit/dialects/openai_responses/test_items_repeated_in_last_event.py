"""Items repeated in `response.completed`: a difference to `response.output_item.done` is reported."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dragoman


def _message(text: str, item_id: str = "msg_1", **fields: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "status": "completed", "role": "assistant", "content": content, **fields}


def _reported(done: list[Any], repeated: list[Any]) -> list[str]:
    """The paths of values that differ in the last event. Items are objects or JSON texts."""
    texts = [[one if isinstance(one, str) else json.dumps(one) for one in items] for items in (done, repeated)]
    frames = ['{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}']
    frames += [
        f'{{"type":"response.output_item.done","output_index":{i},"item":{item}}}' for i, item in enumerate(texts[0])
    ]
    output = ",".join(texts[1])
    answer = f'{{"id":"resp_1","model":"m","status":"completed","output":[{output}]}}'
    frames.append(f'{{"type":"response.completed","response":{answer}}}')
    stream = dragoman.StreamTranslator(source="openai-responses", target="anthropic")
    written = stream.feed("".join([f"data: {frame}\n\n" for frame in frames]).encode()) + stream.close()
    assert b"message_stop" in written
    return [loss.path for loss in stream.losses if loss.code == "event.dropped"]


def test_an_equal_item_is_not_reported() -> None:
    assert _reported([_message("he")], [_message("he")]) == []
    assert _reported([_message("he")], [json.dumps(_message("he"), indent=1).replace("\n", "")]) == []


@pytest.mark.parametrize(
    ("repeated", "path"),
    [
        (_message("hello"), "/output/0/content/0/text"),
        (_message("he", phase="final"), "/output/0/phase"),
        (_message("he", content=[]), "/output/0/content"),
        (json.dumps(_message("he")).replace('he"', 'he\\ud83d"'), "/output/0/content/0/text"),
    ],
)
def test_a_value_that_differs_is_reported(repeated: Any, path: str) -> None:
    assert _reported([_message("he")], [repeated]) == [path]


def test_half_a_character_in_both_is_reported_once() -> None:
    half = json.dumps(_message("he")).replace('he"', 'he\\ud83d"')
    assert _reported([half], [half]) == []


def test_new_encryption_and_empty_values_are_no_difference() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"}
    assert (
        _reported([thought], [{**thought, "encrypted_content": "BBBB", "content": None, "status": "completed"}]) == []
    )


def test_items_in_another_order_are_found_by_their_id() -> None:
    first, second = _message("he"), _message("you", "msg_2")
    assert _reported([first, second], [second, first]) == []
    assert _reported([first, second], [_message("yo", "msg_2"), first]) == ["/output/0/content/0/text"]


def test_many_differences_are_summed_up() -> None:
    fields = {f"field_{i}": i for i in range(20)}
    assert len(_reported([_message("he")], [_message("he", **fields)])) == 9
