"""Moves images of an assistant turn into the next user turn, for targets that accept images from users only.

Users often ask a model to change an image that it made. Chat and Messages refuse images in an assistant turn, so the
image moves to the beginning of the next user turn, after a line that names its author. An image moves only if the order
of the conversation stays legal: a user turn follows directly, and the assistant turn has no call that waits for a
result. The writer reports any other image as dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import msgspec

from ..canon.parts import Media, Opaque, Part, Text, ToolCall
from ..canon.turns import Turn
from ..context import Context
from .media import registered_media_type

_TAKEN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The image types that every target with image input accepts."""


def move_images(turns: tuple[Turn, ...], moves: Callable[[Media], bool], context: Context) -> tuple[Turn, ...]:
    """The turns, with images that the target cannot hold (`moves`) in the user turns. Returns `turns` itself if no
    image moves.
    """
    # A model without image input would refuse the moved image, too.
    if context.profile.media is not None and "image" not in context.profile.media:
        return turns
    out = list(turns)
    for number, (turn, following) in enumerate(pairwise(turns)):
        if turn.role != "assistant" or not _takes_images(following):
            continue
        # Results must follow the calls at once, so the next turn is a tool turn, and no user turn can hold the image.
        if any(isinstance(part, ToolCall) for part in turn.parts):
            continue
        left: list[Part] = []
        moved: list[Part] = []
        for part in turn.parts:
            if isinstance(part, Media) and _is_sendable(part) and moves(part):
                context.lose("media.moved", part.at, part.mime)
                # The text stays in place of the image, because some models refuse an assistant turn without content.
                left.append(Text(f"[{_type_of(part)}, attached to the next message]", at=part.at))
                moved += (Text(f"[{_type_of(part)} of the assistant's last message]", at=part.at), part)
            else:
                left.append(part)
        if moved:
            out[number] = msgspec.structs.replace(turn, parts=tuple(left))
            out[number + 1] = msgspec.structs.replace(following, parts=(*moved, *following.parts))
    return tuple(out) if any(new is not old for new, old in zip(out, turns, strict=True)) else turns


def _takes_images(turn: Turn) -> bool:
    """Whether a turn is a user turn. A whole message with a role that only its own dialect has does not count as
    one."""
    return turn.role == "user" and not any(type(part) is Opaque and part.at == turn.at for part in turn.parts)


def _is_sendable(media: Media) -> bool:
    if media.kind != "image":
        return False
    # A file id is known to its own upstream only, so only data and public addresses can move.
    return registered_media_type(media.mime) in _TAKEN if media.data else media.url.startswith(("https://", "http://"))


def _type_of(media: Media) -> str:
    return media.mime or media.kind
