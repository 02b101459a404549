"""Context: what is known and written down while one document crosses from one dialect to another.

Readers and writers get it as their last argument. It holds the loss log, the facts about the target's model, and the
tables by which an answer finds its way back (renamed tools, wrapped custom tools).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct, field

from .canon.history_requirements import AnswerPlaces
from .canon.loss_severity import field_severity
from .canon.losses import Losses, Severity
from .canon.parts import Extra, Path
from .canon.request import Request
from .canon.response import Stop
from .canon.tools import HostedTool, Tool
from .canon.turns import Turn


class HalfCharacters(Protocol):
    """Knows the halves of characters in the frames of a stream."""

    def marked(self, data: bytes) -> bytes:
        """A frame that the decoder refused, as a decoder takes it."""
        ...


class Resolver(Protocol):
    """Knows the conversations that a server holds. The store itself is the caller's."""

    def __call__(self, name: str, /) -> Request | Sequence[Turn | Mapping[str, Any]] | None:
        """The conversation that an id stands for (such as a `previous_response_id`), its answer included: in canon, or
        as items of the source's dialect. None: it is not known."""
        ...


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


class Host(Struct, frozen=True):
    """Where an upstream differs from the one whose dialect it speaks. The defaults are those of that one."""

    name: str = ""
    """What it is called in the loss report and in the origin of seals."""
    fields: dict[str, bool | str] = {}
    """Fields of a request: False: refused or without effect; a word: what it is called here; True: taken after all.
    `messages[].name` stands for a field of every message, `tools[].custom` for a kind of tool, `content[].image_url`
    for a kind of part, `response_format.json_schema` for a kind of format, `response_format.json_schema.strict` for a
    field of that, `include[].reasoning.encrypted_content` for a word in a list of words."""
    roles: dict[str, str] = {}
    """Roles of messages that go by another name."""
    id_pattern: str = ""
    """What call ids must be like; others are replaced by `id_length` characters of their hash."""
    id_length: int = 20
    reasoning: str = ""
    """The field of a message in which it thinks; `thinking`: parts of the content."""
    echo: bool = False
    """It takes that field back. Else thoughts never go to it."""
    demanded: bool = False
    """It wants the field on every message of the assistant's where there are calls, as long as the model thinks."""
    blank: str = ""
    """What the field holds there where nothing was thought."""
    forced_choice: Literal["ok", "refused", "without_thinking"] = "ok"
    switch: dict[str, dict[str, Any]] = {}
    """Fields by which thinking is turned `off` and `on` in place of an effort."""
    null_content: bool = True
    """A message with nothing but calls may have no content; else it is an empty text."""
    empty_content: bool = True
    """Its content may be an empty text; else it has none."""
    late_system: bool = True
    """System text is taken in any message, and in several; else in the first only."""
    prefix: str = ""
    """The field that says of a last message of the assistant's that the answer goes on from it."""
    text_lists: bool = True
    """Several texts may be a list of parts; else they are one string."""


DEFAULT_PROFILE = Profile()
ANSWER = ""
"""Stands for the answer itself where tools are named: no tool has an empty name."""


class Context(Struct, eq=False):
    """One translation under way."""

    source: str
    target: str
    model: str = ""
    """The model name to write; "" means the one the source names."""
    profile: Profile = DEFAULT_PROFILE
    binary: Literal["native", "summarise"] = "native"
    answers: Request | None = None
    """On the way back: the request this answers, in canon."""
    created: int = 0
    """Unix time to write where the target wants one and the source has none. Passed in: there is no clock here."""
    losses: Losses = field(default_factory=Losses)
    kept: list[tuple[Path, dict[str, Raw]]] = []
    headers: dict[str, str] = {}
    """Headers without which the upstream refuses what was written."""
    renamed: dict[str, tuple[str, str]] = {}
    """Tool names as sent -> (namespace, name) as the client wrote them."""
    custom: set[str] = set()
    """Tool names as sent whose calls wrap free text."""
    absent: dict[str, Any] = {}
    """Shapes of arguments, by the tool's name as sent, and of the answer (""), in which null stands for an absent
    property (`codec/schema/strict_subset.py`)."""
    stand_ins: dict[str, str] = {}
    """Functions that stand for hosted tools, which the client does not know: name -> family."""
    spelled: dict[Path, str | int] = {}
    """Places whose last step is spelled otherwise in the source (such as snake_case keys)."""
    moved: dict[Path, Path] = {}
    """Places in what was read that stand elsewhere in the source (the address of a toolset's MCP server)."""
    ends: AnswerPlaces = AnswerPlaces()
    """On the way back: where the source says how its answers ended."""
    scored: bool = False
    """On the way back: both sides have a place for the log probabilities of tokens."""
    resolver: Resolver | None = None
    """Who knows what the source's server holds."""
    stands: bool = False
    """Functions may stand for hosted tools that the target does not have: the caller runs them."""
    facts: Any = None
    """What is known of its turns: a HistoryFacts (`codec/history_facts.py`)."""
    called: tuple[frozenset[str], ...] | None = None
    """The ids of all calls in the history, each once; None: some have none, or the same."""
    offered: tuple[Tool | HostedTool, ...] = ()
    """The tools that the request offers to the upstream, where its history holds searches for tools."""
    host: Host | None = None
    """Where the upstream differs from its dialect; None: nothing is known of it."""
    gated: bool = False
    """The request was written for another model of the same dialect: the facts about the model apply all the same."""
    unsealed: bool = False
    """The upstream has refused a seal of this history: the history is sent without seals."""
    suited: bool = False
    """Something was changed for the host's sake."""
    half_characters: HalfCharacters | None = None
    """In streams: who joins halves of characters (`codec/surrogates/streams.py`)."""
    within: Path = ()
    """Where the document that is being read stands in the source's envelope, if it has one."""

    def gates(self, dialect: str) -> bool:
        """Whether a writer of `dialect` holds a request to the facts about the model. What comes from that dialect for
        the model that it names is the client's own affair."""
        return self.gated or self.source != dialect

    def lose(self, code: str, at: Path = (), detail: str = "", severity: Severity | None = None) -> None:
        """Write down a loss. `at` is where it stands in the source."""
        if self.moved:
            at = next((self.moved[at[:i]] + at[i:] for i in range(len(at), 0, -1) if at[:i] in self.moved), at)
        if self.spelled:
            at = tuple([self.spelled.get(at[: i + 1], step) for i, step in enumerate(at)])
        if self.within:
            at = self.within + at
        self.losses.add(code, at, detail, severity)

    def stopped(self, stop: Stop, number: int = 0) -> Path:
        """Where the source says why its answer of that number ended: the answer itself, where it does not say."""
        return stop.at or self.ends.answer(number) + (self.ends.stop if stop.reason != "unknown" else ())

    def keep(self, at: Path, fields: dict[str, Raw]) -> Extra:
        """Keep fields only the source dialect knows. Unless the target is its kin they become losses at the end."""
        self.kept.append((at, fields))
        return {self.source: fields}

    def settle(self, noise: frozenset[str]) -> None:
        """The target does not understand the source's extras: each kept field that means something is a loss."""
        for at, fields in self.kept:
            for name, value in fields.items():
                self.lose_field(at, name, value, noise)
        self.kept.clear()

    def lose_field(self, at: Path, name: str, value: Raw, noise: frozenset[str]) -> None:
        """Write down that a field which only the source dialect knows is left out, unless it means nothing."""
        severity = field_severity(at, name, bytes(value), quiet=name in noise, answer=bool(self.ends.stop))
        if severity is not None:
            self.lose("field.dropped", (*at, name), severity=severity)
