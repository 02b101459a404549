"""Profile: what a model family takes and refuses. The rows are in `profiles.json`, the lookup is in `profiles.py`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Profile(Struct, frozen=True):
    """What a model family takes and refuses. The defaults are those of a model nothing is known about."""

    sampling: bool = True
    """temperature, top_p, top_k (and penalties) are taken."""
    thinks: bool = True
    """The model takes a thinking or effort setting at all."""
    reasoning: bool = False
    """A reasoning model: sampling is refused while it reasons, `developer` is its system role."""
    efforts: tuple[str, ...] = ()
    """Effort words the model takes; empty: unknown, write any."""
    effort_default: str = ""
    """The effort that counts where none is asked for; empty: unknown."""
    sampling_at_none: bool = False
    """A reasoning model that takes temperature, top_p and log probabilities while its effort is none."""
    thinking: tuple[str, ...] = ()
    """Thinking modes the model takes; empty: unknown."""
    thinking_default: bool = False
    """The model thinks when nothing is said."""
    thinking_levels: tuple[str, ...] = ()
    thinking_budget: tuple[int, int] | None = None
    """Smallest and largest budget, for models steered by a budget."""
    thinking_off: bool = True
    forced_choice: Literal["ok", "refused", "without_thinking"] = "ok"
    prefill: bool = True
    system_turns: bool = False
    """System turns in mid-conversation are taken."""
    max_tokens: int = 8192
    """The limit to write where one is demanded and none was given."""
    seals: bool = False
    """Calls in the open step must carry their seal."""
    nested_media: bool = True
    """Media may stand inside a tool result."""
    hosted_beside_functions: bool = True
    cache_marks: bool = False
    """Explicit cache breakpoints on parts are taken."""
    cache_control: bool = False
    """Anthropic's cache marks on parts are taken (on Chat Completions)."""
    chat_tools: Literal["ok", "effort_none", "refused"] = "ok"
    """Function tools on Chat Completions: taken, only without reasoning, or not at all."""
    quiet_efforts: tuple[str, ...] = ()
    """Efforts beside which thinking may be off, or only between tools; empty: any."""
    sampling_alone: bool = False
    """Of temperature and top_p only one is taken."""
    sampling_fades: bool = False
    """Sampling settings are deprecated or without effect, but not refused."""
    tool_search: bool = False
    """Deferred tools and the search for them are taken."""
    hosted_shell: bool = False
    """A shell in a container is taken (on Responses)."""
    image_generation: bool = False
    """The hosted tool that makes images is taken (on Responses)."""
    web_search_options: bool = False
    """Chat Completions with a search of its own."""
    format_beside_tools: bool = True
    """An output format may be asked for together with tools."""
    seal_formats: tuple[str, ...] = ()
    """How the formats of sealed reasoning begin that this family understands (OpenRouter's words); empty: unknown."""
    system: bool = True
    """There is a role, or a field, for system text."""
    media: tuple[str, ...] | None = None
    """Kinds of media the model takes (image, audio, video, document); None: unknown."""
    image_output: bool = False
    """Answers may hold texts and images that the model makes."""
    refuses: tuple[str, ...] = ()
    """Sampling settings that the model refuses or ignores, while it takes the others."""
    most_tokens: int | None = None
    """The largest limit that an answer may have; None: unknown."""
    most_tokens_whole: int | None = None
    """The same for an answer that is not streamed, where it is another."""
    tells_in_thoughts: bool = False
    """What it says between calls it thinks: nobody sees that unless thoughts are shown."""
    bound_seals: bool = False
    """Its seals hold only behind the very history they were made in."""
    late_system: bool = True
    """System text is taken in any message, and in several (on Chat Completions)."""
    user_after_results: bool = True
    """The user may speak right after results (on Chat Completions)."""
    formats: bool = True
    """A JSON schema for the answer is taken."""
    json_mode: bool = True
    """JSON without a schema may be asked for (where the dialect has a word for that)."""
    validated: bool = True
    """There is a mode of calling that holds the arguments of all functions to their schemas (on Gemini)."""
    compacts: bool = False
    """The upstream replaces a long history by a summary where the request asks for it."""
    cached_content: bool = True
    """What the server holds under a name may stand for the beginning of a conversation."""


DEFAULT_PROFILE = Profile()
