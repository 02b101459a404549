"""Owns Profile: the settings that a model family takes and refuses. The rows are in `profiles.json`, the lookup is in
`profiles.py`.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Profile(Struct, frozen=True):
    """The settings that a model family takes and refuses. The defaults are those of an unknown model."""

    sampling: bool = True
    """The model takes temperature, top_p, top_k and penalties."""
    thinks: bool = True
    """The model takes a thinking or effort setting at all."""
    reasoning: bool = False
    """A reasoning model. It refuses sampling settings while it reasons, and its system role is `developer`."""
    efforts: tuple[str, ...] = ()
    """The effort words that the model takes. Empty: unknown, so any word is written."""
    effort_default: str = ""
    """The effort that applies if the request has none. Empty: unknown."""
    sampling_at_none: bool = False
    """The reasoning model takes temperature, top_p and log probabilities if the effort is none."""
    thinking: tuple[str, ...] = ()
    """The thinking modes that the model takes. Empty: unknown."""
    thinking_default: bool = False
    """The model thinks if the request has no thinking setting."""
    thinking_levels: tuple[str, ...] = ()
    thinking_budget: tuple[int, int] | None = None
    """The smallest and the largest budget, for models that take a budget."""
    thinking_off: bool = True
    forced_choice: Literal["ok", "refused", "without_thinking"] = "ok"
    prefill: bool = True
    system_turns: bool = False
    """The model takes system turns in mid-conversation."""
    max_tokens: int = 8192
    """The limit to write if the dialect demands one and the request has none."""
    seals: bool = False
    """Calls of the open step must carry their seal."""
    nested_media: bool = True
    """Media may be inside a tool result."""
    hosted_beside_functions: bool = True
    cache_marks: bool = False
    """The model takes explicit cache breakpoints on parts."""
    cache_control: bool = False
    """The model takes Anthropic's cache marks on parts (Chat Completions)."""
    chat_tools: Literal["ok", "effort_none", "refused"] = "ok"
    """Function tools on Chat Completions: accepted, accepted only without reasoning, or refused."""
    quiet_efforts: tuple[str, ...] = ()
    """The efforts with which thinking may be off, or on between tools only. Empty: any effort."""
    sampling_alone: bool = False
    """The model takes temperature or top_p, but not both."""
    sampling_fades: bool = False
    """Sampling settings are deprecated or without effect, but not refused."""
    tool_search: bool = False
    """The model takes deferred tools and tool search."""
    hosted_shell: bool = False
    """The model takes a shell in a container (Responses)."""
    image_generation: bool = False
    """The model takes the hosted tool that makes images (Responses)."""
    web_search_options: bool = False
    """The model searches the web by itself on Chat Completions."""
    format_beside_tools: bool = True
    """The model takes an output format together with tools."""
    seal_formats: tuple[str, ...] = ()
    """First characters of the formats of sealed reasoning that this family understands (OpenRouter's names). Empty:
    unknown.
    """
    system: bool = True
    """The model takes system text."""
    media: tuple[str, ...] | None = None
    """The kinds of media that the model takes (image, audio, video, document). None: unknown."""
    image_output: bool = False
    """Answers may hold texts and images that the model makes."""
    refuses: tuple[str, ...] = ()
    """Sampling settings that the model refuses or ignores, while it takes the others."""
    most_tokens: int | None = None
    """The largest token limit of an answer. None: unknown."""
    most_tokens_whole: int | None = None
    """The largest token limit of an answer that is not streamed, if that limit differs."""
    tells_in_thoughts: bool = False
    """The model reports progress between calls in its thoughts. The client sees these reports only if the request asks
    for thoughts.
    """
    bound_seals: bool = False
    """A seal of the model is valid only after the exact history in which it was made."""
    late_system: bool = True
    """System text is accepted in any message, and in several messages (Chat Completions)."""
    user_after_results: bool = True
    """A user message may directly follow tool results (Chat Completions)."""
    formats: bool = True
    """The model takes a JSON schema for the answer."""
    json_mode: bool = True
    """The model takes JSON output without a schema, in dialects that have this option."""
    validated: bool = True
    """The model takes the calling mode that enforces the schemas of all functions (Gemini)."""
    compacts: bool = False
    """The upstream replaces a long history by a summary if the request asks for it."""
    cached_content: bool = True
    """The name of content on the server may replace the beginning of a conversation (Gemini's cachedContent)."""


DEFAULT_PROFILE = Profile()
