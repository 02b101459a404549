"""Owns the sound of an answer for Chat clients: `message.audio`, and `delta.audio` in streams.

The schema of an answer requires four fields there (openai 3.49.0, 2026-11). `data` is the upstream's sound. `id` is
computed from the sound. No later request can name the sound by this id. `expires_at` is the time of the answer, so
clients see that the id is no longer valid. `transcript` is empty: upstreams of other dialects send their words as text,
in `content`. The field has no media type: a client knows the format from its own request (`audio.format`).
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from typing import Any

from ...canon.parts import Media
from ...codec import json_text
from ...codec.call_ids import hashed_id
from ...context import Context
from . import wire

_RAW = re.compile(r"audio/(?:l16|pcm)\b", re.IGNORECASE)
"""Raw samples of 16 bits in one channel. Gemini sends the low byte first, which Chat calls `pcm16`."""
_RATE = re.compile(r"rate=(\d{1,6})")
# Used where the media type names no rate.
_DEFAULT_RATE = 24000
# `audio.format` is wav, aac, mp3, flac, opus or pcm16 (openai 3.51.0, 2026-11).
_FORMATS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/flac": "flac"}


def is_sound(media: Media) -> bool:
    """Whether the field can hold the media: the bytes of a sound."""
    return media.kind == "audio" and bool(media.data)


def write_sounds(sounds: list[Media], context: Context) -> dict[str, Any]:
    """The field of a message with the sounds of an answer. Raw samples of several parts are joined into one sound."""
    first = sounds[0]
    joined = [first.data]
    for sound in sounds[1:]:
        if sound.mime == first.mime and _RAW.match(sound.mime):
            joined.append(sound.data)
        else:
            context.lose("media.dropped", sound.at, f"{sound.mime}: a message has one sound")
    for sound in sounds:
        report_rest(sound, context)
    data = _whole(joined, first, context)
    return {"id": sound_id(first), "data": data, "expires_at": context.created, "transcript": ""}


def sound_id(sound: Media) -> str:
    """The id of a sound: the same for the same sound."""
    return hashed_id(f"{len(sound.data)}:{sound.data[:256]}", "audio_")


def report_rest(sound: Media, context: Context) -> None:
    """Report the properties of a sound that the field cannot hold."""
    if sound.seal is not None:
        context.lose("seal.dropped", sound.at)
    if sound.name:
        context.lose("media.name.dropped", sound.at, sound.name)


def report_format(sound: Media, context: Context) -> None:
    """Report a sound in another format than the client asked for."""
    requested = _requested_format(context)
    sent = _format_of(sound)
    if requested != sent or (sent == "pcm16" and _rate(sound) != _DEFAULT_RATE):
        context.lose(
            "media.retyped", sound.at, f"the sound is {sound.mime}, the client asked for {requested or 'nothing'}"
        )


def _whole(pieces: list[str], sound: Media, context: Context) -> str:
    """The data of a sound. Raw samples become a WAV file for a client that asked for a file. The samples do not change,
    and most players open a WAV file under any name.
    """
    requested = _requested_format(context)
    as_file = requested not in ("", "pcm16") and _format_of(sound) == "pcm16"
    if requested != "wav" or not as_file:
        report_format(sound, context)
    if not as_file and len(pieces) == 1:
        return pieces[0]
    try:
        samples = b"".join([base64.b64decode(piece, validate=True) for piece in pieces])
    # A broken piece cannot be decoded and joined. The text passes as it came, because a player may still read a part of
    # it.
    except binascii.Error:
        return "".join(pieces)
    return base64.b64encode(_wav_head(len(samples), _rate(sound)) + samples if as_file else samples).decode()


def _wav_head(size: int, rate: int) -> bytes:
    """The header of a WAV file with 16-bit samples in one channel."""
    # The sizes of a WAV file are fields of 32 bits.
    size = min(size, 0xFFFFFFFF - 36)
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", size
    )


def _rate(sound: Media) -> int:
    found = _RATE.search(sound.mime)
    return int(found[1]) if found else _DEFAULT_RATE


def _format_of(sound: Media) -> str:
    """Chat's word for the format of a sound."""
    if _RAW.match(sound.mime):
        return "pcm16"
    return _FORMATS.get(sound.mime.partition(";")[0], sound.mime)


def _requested_format(context: Context) -> str:
    """The format that the client asked for. "": the request is unknown, or asks for no sound."""
    extra = context.answers.extra if context.answers is not None else None
    wished = (extra or {}).get(wire.NAME, {}).get("audio")
    fields = json_text.plain(wished) if wished is not None else None
    found = fields.get("format") if isinstance(fields, dict) else None
    return found if isinstance(found, str) else ""
