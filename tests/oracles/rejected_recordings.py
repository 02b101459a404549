"""Owns the list of real recordings that the judges reject: record ids by kind, under the reason. The list only shrinks.

A judge that accepted these recordings would accept the same mistakes from the writers of the library. So the judges
keep rejecting them, and this list names them.
"""

from __future__ import annotations

_INTEGER_ENUMS = "enum values as integers, which protobuf's JSON form allows and we never write"
_NEWER_THAN_SCHEMA = "beta tools and blocks newer than the stored Anthropic schema"
_WEB_SEARCH_SOURCE = "a web search source of type api and a search item added without its action: not in the SDK types"

REJECTED: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("openai-chat", "request"): {
        "image_url as a bare string, taken by one early vision model": ("openai-chat-2859ce5151ab",),
    },
    ("openai-chat", "response"): {
        "finish_details instead of finish_reason, from the same early vision model": ("openai-chat-2859ce5151ab",),
    },
    ("openai-responses", "request"): {
        "a replayed reasoning item without id": ("openai-responses-2132a93c7332",),
        "sources null in a replayed web search": ("openai-responses-1cb87f22873c",),
        "an image generation call replayed as a bare reference": ("openai-responses-14b0481f553a",),
    },
    ("openai-responses", "response"): {
        "a compatible local server, recorded under the provider's host": (
            "openai-responses-c1cc93a7f7c8",
            "openai-responses-e23d10f128f2",
        ),
        _WEB_SEARCH_SOURCE: ("openai-responses-2d509fbff5df",),
    },
    ("openai-responses", "stream"): {
        "older than sequence_number and logprobs in events": ("openai-responses-f48de2f3b897",),
        _WEB_SEARCH_SOURCE: ("openai-responses-00b42117bcba", "openai-responses-e6bdc80690bd"),
        "the provider left two listings of MCP tools without their done event": ("openai-responses-140e56c3d2ae",),
    },
    ("openai-responses", "fault"): {
        "a status beside the error, which no published type has": ("openai-responses-798a36ce8617",),
    },
    ("anthropic", "request"): {
        _NEWER_THAN_SCHEMA: (
            "anthropic-9f27fd870fde",
            "anthropic-80024f3a8a15",
            "anthropic-cb0bb4ac8558",
            "anthropic-d93df10d02d9",
            "anthropic-8bc7479b7534",
            "anthropic-47a070d03cf8",
            "anthropic-1f3d199b1f30",
            "anthropic-0977debfd20f",
            "anthropic-852a54366b91",
            "anthropic-8e61f64255cd",
        ),
    },
    ("anthropic", "response"): {
        "abort_reason in a code execution result: not in the SDK types": ("anthropic-95e2709c9d54",),
    },
    ("anthropic", "stream"): {
        "older than the empty signature in the start of a thinking block": ("anthropic-c470fe97c064",),
    },
    ("gemini", "request"): {
        _INTEGER_ENUMS: (
            "gemini-8936301b64cb",
            "gemini-82dfc3d09388",
            "gemini-022ebec9c1db",
            "gemini-1c5b5b075724",
            "gemini-1f14f1509df5",
            "gemini-75f01f77a459",
            "gemini-7134de31cbc0",
        ),
        "a function calling mode in lower case": ("gemini-24fae5e1b88b", "gemini-351b77bd027e"),
        "a part without any data field": ("gemini-81cbf7fc6573", "gemini-a7adb5ea4f9f"),
        "parts of the system instruction as one object, which protobuf's JSON form allows for lists": (
            "gemini-2bea670a2a0f",
            "gemini-6c0eb85eb2d9",
            "gemini-41c388ced182",
            "gemini-1e8df64e3725",
            "gemini-0d9c4784b1fd",
            "gemini-ce5327021ad6",
            "gemini-4fb8d9c0f79b",
        ),
    },
    ("gemini", "response"): {
        _INTEGER_ENUMS: (
            "gemini-6a2c626327e7",
            "gemini-8936301b64cb",
            "gemini-81a4ca1612a4",
            "gemini-ab7d105c27de",
            "gemini-0103fb058400",
            "gemini-9a212eefaa55",
            "gemini-82dfc3d09388",
            "gemini-022ebec9c1db",
            "gemini-1c5b5b075724",
            "gemini-75f01f77a459",
            "gemini-7134de31cbc0",
        ),
    },
    ("gemini", "stream"): {
        _INTEGER_ENUMS: ("gemini-1f14f1509df5",),
        "a finishReason in the middle, before the answer goes on with executed code": ("gemini-de3f252b78ca",),
    },
}

# Streams that the SDK itself cannot fold.
SDK_FAILS: dict[str, str] = {
    "openai-chat-c8c2dcb35500": "the server reports an error inside the stream",
    "openai-responses-c8f688bd3ef5": "several streams in one file, so the response id changes",
}


def rejected(dialect: str, kind: str) -> set[str]:
    """Ids of real recordings of this kind (request, response, stream, fault) that the judges reject."""
    return {record for records in REJECTED.get((dialect, kind), {}).values() for record in records}
