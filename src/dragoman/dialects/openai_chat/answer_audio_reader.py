"""Reads the sound of an answer (`message.audio`). For every other dialect the transcript is the text of the answer.

An audio answer has no `content`: its words are in `audio.transcript`, its sound in `audio.data` (openai 3.49.0).
Streams have both in pieces. Answers of Gemini may hold sound. Answers of Messages, Responses and Ollama cannot, so the
loss of the sound is reported. `answer_audio_writer.py` writes the field.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from ...canon.parts import Media, Opaque, Part, Path, Text, ToolCall
from ...codec import json_text
from ...context import Context
from . import wire

AUDIO = "audio"
"""The field of a message or a delta, and the kind of an Opaque part that holds a delta's field for related dialects."""
_HOLDS_SOUND = frozenset({"gemini", "code-assist"})
"""Dialects whose answers may hold sound."""
_BEGINNINGS = {
    "UklGR": "audio/wav",
    "SUQz": "audio/mpeg",
    "T2dn": "audio/ogg",
    "ZkxhQ": "audio/flac",
    **dict.fromkeys([f"//{letter}" for letter in "stuvMNOPIJKLopqr"], "audio/mpeg"),
}
"""The first characters of base64 sound files; an MP3 frame begins with the bytes FF FB, FF F3, FF F2 or FF FA. Anything
else is raw: 24,000 samples a second, 16 bits, one channel.
"""
_RAW = "audio/L16;rate=24000"


def with_transcript(audio: Raw, parts: list[Part], at: Path, context: Context, *, request: bool = False) -> list[Part]:
    """The parts of a message with the transcript of its sound, before any calls. The sound itself is added if the
    target can hold sound, or if there is no transcript. `at`: the path of the message. In a history only the transcript
    is kept: nothing shows that an upstream accepts the assistant's sound.
    """
    at = (*at, "audio")
    fields = _members(audio)
    if not fields and bytes(audio) not in (b"null", b"{}"):
        context.lose("field.dropped", at)
    words, data = fields.pop("transcript", None), fields.pop("data", None)
    found: list[Part] = []
    if isinstance(words, str) and words:
        found.append(Text(words, at=(*at, "transcript")))
    if isinstance(data, str) and data:
        # Without a transcript the answer holds only the sound. The target's writer reports a sound that it cannot
        # write.
        if not found or (context.target in _HOLDS_SOUND and not request):
            found.append(Media("audio", mime_of(data), data, at=(*at, "data")))
        else:
            context.lose("media.summarised", (*at, "data"), "the transcript is sent in place of the sound")
    _report_rest(fields, at, context)
    # Calls end a turn in every dialect, so the words of the sound come before them.
    first = next((i for i, part in enumerate(parts) if type(part) is ToolCall), len(parts))
    return [*parts[:first], *found, *parts[first:]]


class StreamedSound:
    """The sound of one streamed answer: raw samples (`pcm16`). Each piece is separate base64."""

    __slots__ = ("_mime",)

    def __init__(self) -> None:
        self._mime = ""

    def read(self, audio: Raw, at: Path, context: Context) -> tuple[str, Media | Opaque | None]:
        """The transcript in one piece of the sound, and the piece itself if the target can hold sound. Related dialects
        get the field unchanged. `at`: the path of the delta.
        """
        at = (*at, AUDIO)
        fields = _members(audio)
        if not becomes_words(context):
            return "", Opaque(wire.NAME, AUDIO, audio, at=at) if fields else None
        words, data = fields.pop("transcript", None), fields.pop("data", None)
        sound: Media | None = None
        if isinstance(data, str) and data:
            # Only the first piece of a sound can show its format: later pieces begin in the middle of the data.
            self._mime = self._mime or mime_of(data)
            if context.target in _HOLDS_SOUND:
                sound = Media("audio", self._mime, data, at=(*at, "data"))
            else:
                context.lose("media.summarised", (*at, "data"), "the transcript is sent in place of the sound")
        _report_rest(fields, at, context)
        return words if isinstance(words, str) else "", sound


def _members(audio: Raw) -> dict[str, Any]:
    found = json_text.plain(audio)
    return found if isinstance(found, dict) else {}


def _report_rest(fields: dict[str, Any], at: Path, context: Context) -> None:
    """Report the other fields of the sound, such as the id under which the upstream stores it."""
    for name, value in fields.items():
        # The id of a sound is valid at OpenAI only, until `expires_at` (openai 3.49.0, 2026-11): no other upstream can
        # use it.
        if value not in (None, "", 0):
            known = name in ("id", "expires_at")
            context.lose("field.dropped", (*at, name), severity="info" if known else None)


def mime_of(data: str) -> str:
    """The media type that the first bytes of a sound show."""
    return next((mime for head, mime in _BEGINNINGS.items() if data.startswith(head)), _RAW)


def has_audio_content(audio: Raw, *, request: bool = False) -> bool:
    """Whether a field holds a transcript, or in an answer a sound. A history usually names a sound by id only."""
    fields = _members(audio)
    return bool(fields.get("transcript") or (fields.get("data") and not request))


def is_empty(audio: Raw) -> bool:
    """Whether all members of the field are empty, as some hosts write it (recorded: Snowflake)."""
    fields = json_text.plain(audio)
    return isinstance(fields, dict) and not any(fields.values())


def becomes_words(context: Context) -> bool:
    """Whether the sound of an answer becomes text. Related dialects have the same field."""
    return context.target not in wire.KIN
