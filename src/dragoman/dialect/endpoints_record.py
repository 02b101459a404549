"""The records of a dialect's endpoints: data and pure functions, no input or output.

A dialect fills in `Endpoints` in its `endpoints.py`. The gateway makes its table of endpoints from the records of all
dialects. The transport finds addresses and keys in the record of an upstream's dialect. The agent, the conformance kit
and the command line read the rest. Every field has a default, so a dialect declares only its differences.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct

from ..canon.events import Fault
from ..canon.losses import Loss, Severity
from ..canon.request import Settings
from ..codec import json_text

Query = Mapping[str, Sequence[str]]
"""The values of a query, by name."""
Fields = dict[str, Raw]
"""The fields of a JSON object, each as written."""


# Endpoints for clients.


class EndpointCall(Struct, frozen=True):
    """What a client wants, read from the address of its request."""

    verb: str
    """The handler: `generate`, or a name of `gateway/endpoints/non_generation_handlers.py`."""
    dialect: str
    """"" for an endpoint of the gateway itself."""
    model: str = ""
    """The model, where the address names it."""
    stream: bool | None = None
    """Whether the answer is streamed, where the address decides that."""
    array: bool = False
    """The stream is one JSON array."""
    rest: str = ""
    """Other values in the address."""
    streams_by_default: bool = False
    """A request without a stream field asks for a stream. The table of endpoints takes the value from `StreamForm`."""


class Claim(Struct, frozen=True):
    """An address, or a family of addresses, that belongs to a dialect.

    Several dialects may claim one address. Then a header or a query parameter decides, and at most one of them claims
    the address without such a sign.
    """

    methods: tuple[str, ...]
    """Empty: any method."""
    path: str
    """The whole address; with `read`: the beginning of all addresses of the family. The family with the longest
    beginning is tried first."""
    call: EndpointCall | None = None
    """The call for the whole address."""
    read: Callable[[str, Query, Callable[[str], str]], EndpointCall | None] | None = None
    """The call for one address of a family. Its arguments are the path (with percent signs as sent), the query, and the
    function that decodes percent signs. None for an address outside the family."""
    verbs: tuple[str, ...] = ()
    """The verbs that `read` may return."""
    headers: tuple[str, ...] = ()
    """Headers that only clients of the dialect send to this address. One of them, or one parameter of `query`, is
    enough."""
    query: tuple[str, ...] = ()
    """Query parameters that only clients of the dialect send to this address."""
    alone: bool = False
    """No other dialect is tried for addresses with this beginning."""


class Served(Struct, frozen=True):
    """The endpoints that the gateway serves to clients of a dialect."""

    claims: tuple[Claim, ...] = ()
    shown: tuple[str, ...] = ()
    """The endpoints as text for people."""
    near: tuple[str, ...] = ()
    """Beginnings of unknown addresses that probably come from clients of the dialect."""
    headers: tuple[str, ...] = ()
    """Headers that show a client of the dialect at any unknown address."""
    usual: bool = False
    """A client at an unknown address, without any sign, probably uses this dialect. Only one dialect may set this."""
    before: tuple[str, ...] = ()
    """Words that people put in front of an address: `/openai/v1/chat/completions`."""
    bare: tuple[str, ...] = ()
    """Beginnings of addresses that people write without their `/v1`."""
    wrong_method: int = 405
    """The status for an address that takes another method."""
    key_parameter: tuple[str, str] = ("", "")
    """The query parameter in which clients may send their key, and the header with the same meaning."""
    timed: Callable[[bytes, int, int | None], bytes] | None = None
    """An answer with durations, for clients that read durations from the end of an answer. Its arguments are the whole
    answer or a piece of a stream, and two durations in nanoseconds: from the request until now, and from the request
    until the first piece (None: the answer is whole). A piece that does not end the answer stays unchanged."""
    stored: bool = False
    """Requests may name earlier answers by id (`gateway/exchange/previous_responses_and_stored_answers.py`)."""
    repeats_tools: bool = False
    """Answers repeat the tools of the request."""
    statuses: Mapping[str, int] = {}
    """Statuses for some codes of the gateway's own faults, where the usual status of the kind misleads clients."""
    session: Callable[[str, dict[str, Any], Callable[[], list[str]]], dict[str, Any] | Fault] | None = None
    """The answer to a call by which a client sets up its session (verb `session`), where no upstream has the same
    dialect. Its arguments are the call (`EndpointCall.rest`), the fields of the body, and the function that lists the
    names of the served models."""
    refused: Callable[[Iterable[Loss]], Fault | None] | None = None
    """The fault for a request that refers to data which no server here has, judged by its losses; None for any other
    request."""


class HeaderRules(Struct, frozen=True):
    """Which headers are forwarded between clients and upstreams. All names are in lower case."""

    family: str = ""
    """Dialects of one family share their headers; "" for a family of its own."""
    names: tuple[str, ...] = ()
    """Headers of requests that go to upstreams of the family."""
    begins: tuple[str, ...] = ()
    """Beginnings of the names of further such headers."""
    never: tuple[str, ...] = ()
    """Exceptions: headers that are never forwarded."""
    of_body: tuple[str, ...] = ()
    """Headers that describe the body. They are forwarded only with the client's own body."""
    lost: Mapping[str, Severity] = {}
    """Headers whose loss is reported where the upstream belongs to another family. All other headers change nothing at
    an upstream."""
    acting: Mapping[str, tuple[str, ...]] = {}
    """Words in header values that change an answer without any field of the body. Their loss is a warning."""
    answered: tuple[str, ...] = ()
    """Headers of answers that clients of the family get."""
    answered_begins: tuple[str, ...] = ()
    """Beginnings of the names of further such headers."""
    ids: tuple[str, ...] = ()
    """Headers of answers that hold the id of the request."""
    request_id: str = ""
    """The header in which clients look for that id, besides x-request-id."""


class OfferedModel(Struct, frozen=True):
    """A model that can be requested."""

    name: str
    upstream: str
    title: str = ""
    context: int | None = None
    """Tokens that the model accepts."""
    output: int | None = None
    """Tokens that the model writes at most."""
    shape: ModelLists | None = None
    listed: dict[str, Any] | None = None
    """The row of the upstream's own list, in the shape above."""


def openai_model(model: OfferedModel, publisher: str) -> dict[str, Any]:
    """One model, in the form of OpenAI's list, which most hosts use."""
    return {"id": model.name, "object": "model", "created": CREATED, "owned_by": model.upstream}


def openai_models(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    """A list of models, in the form of OpenAI's list, which most hosts use."""
    return {"object": "list", "data": entries}


def model_id(model: OfferedModel, publisher: str) -> dict[str, Any]:
    """The fields with the name under which a model can be requested."""
    return {"id": model.name}


CREATED = 1767225600
"""The date of models whose date is not known: 2026-01-01."""
CREATED_DAY = "2026-01-01T00:00:00+00:00"


class ModelLists(Struct, frozen=True, eq=False):
    """How models are listed. `publisher` is the part of an address that names one; "" elsewhere."""

    path: str = ""
    """The path at which upstreams list their models; "" where they do not."""
    project_path: str = ""
    """The same for an upstream with a Google Cloud project."""
    entry: Callable[[OfferedModel, str], dict[str, Any]] = openai_model
    """One model."""
    named: Callable[[OfferedModel, str], dict[str, Any]] = model_id
    """The fields with the model's name. They replace the fields that its upstream wrote."""
    listed: Callable[[list[dict[str, Any]], str], dict[str, Any]] = openai_models
    """The list of all models."""
    own_name: Callable[[str], str] = str
    """The name under which an upstream's model is requested, from the name in the upstream's list."""
    details: Callable[[OfferedModel], dict[str, Any]] | None = None
    """All details of one model, where clients have an address for that."""


OPENAI_LISTS = ModelLists("/v1/models")


def count_request(fields: Fields, model: str) -> tuple[bytes | None, str]:
    """The request to be counted (None: the body itself), and its model."""
    named = json_text.plain(fields["model"]) if "model" in fields else ""
    return None, model or (named if isinstance(named, str) else "")


def count_renamed(fields: Fields, model: str) -> dict[str, Any]:
    """A request to count, with the model's name at the upstream."""
    return {**fields, "model": model}


def count_written(tokens: int) -> dict[str, Any]:
    """A count in the form of OpenAI and Anthropic."""
    return {"input_tokens": tokens}


class TokenCounts(Struct, frozen=True):
    """How tokens are counted."""

    path: str = ""
    """The path of the upstream's counting endpoint, with {model} where the path names the model; "" where there is
    none."""
    request: Callable[[Fields, str], tuple[bytes | None, str]] = count_request
    """The request that a client wants counted, from the fields of its body and the model of its address: the whole
    request (None: the body itself), and its model."""
    renamed: Callable[[Fields, str], dict[str, Any]] = count_renamed
    """A client's own request to count, with the model's name at the upstream."""
    taken: Callable[[Fields, str, str], dict[str, Any]] | None = None
    """A request in the form that the counting endpoint takes, from its fields, its model and the Google Cloud project.
    None: all fields are taken."""
    written: Callable[[int], dict[str, Any]] = count_written
    """A count in the form that clients read."""
    total: tuple[str, ...] = ("input_tokens", "totalTokens")
    """The fields in which upstreams write the count."""


def ask_stream(fields: Fields, stream: bool) -> dict[str, Any]:
    """A request with the field `stream` set."""
    return {**fields, "stream": stream}


class StreamForm(Struct, frozen=True):
    """The special features of a dialect's streams."""

    streams_by_default: bool = False
    """A request without a stream field asks for a stream."""
    heartbeat: bytes | None = None
    """Bytes that clients ignore, for keep-alives; None: a comment, where the framing has comments."""
    marks: tuple[bytes, ...] = (b"\n\n",)
    """Each usual event has exactly one of these."""
    line_ends: int = 0
    """Number of line ends in a usual event; 0: no event counts as usual."""
    asking: Callable[[Fields, bool], dict[str, Any]] = ask_stream
    """A request that asks for a stream, or for a whole answer."""


# Requests to upstreams.


class Environment(Struct, frozen=True):
    """An upstream that environment variables name."""

    name: str
    keys: tuple[str, ...] = ()
    """Variables with the key. If there are none, the address is enough."""
    addresses: tuple[str, ...] = ()
    """Variables with the address."""
    models: tuple[str, ...] = ()
    """Models (with * for any characters) that go to this upstream."""
    usual_model: str = ""
    """The model to use when only the upstream is known."""
    order: int = 100
    """Of several upstreams the one with the least order is tried first."""
    address: Callable[[str], str] = str
    """The base address, from the value of a variable."""


def same_path(path: str, project: str, location: str) -> str:
    """The path unchanged."""
    return path


class ProjectQuestion(Struct, frozen=True):
    """One request of the search for an account's project."""

    method: str
    path: str
    body: bytes = b""
    pauses: bool = False
    """The caller waits before this request: an operation is polled."""


ProjectSearch = Generator[ProjectQuestion, bytes, str]
"""The search for an account's Google Cloud project. Each question gets the upstream's answer (b"" for an answer without
success). The result is the project; "" where none is found."""


class UpstreamForm(Struct, frozen=True):
    """How an upstream of a dialect is addressed."""

    base_url: str = ""
    """The address of the provider's own host; "" where there is none."""
    auth: str = "bearer"
    """How an upstream gets the key: bearer, google, none, or the name of the header that holds the key."""
    environment: tuple[Environment, ...] = ()
    project_base: Callable[[str], str] | None = None
    """The base address by location, for an upstream with a Google Cloud project."""
    project_auth: str = ""
    """The way of authentication for such an upstream without a key; "": the same as for any other."""
    located: Callable[[str, str, str], str] = same_path
    """A path for a Google Cloud project and a location."""
    with_project: Callable[[bytes, str], bytes] | None = None
    """A request that names the Google Cloud project, where requests have a field for it."""
    project_search: Callable[[bytes], ProjectSearch | None] | None = None
    """The search for the project of an account, from the request, where the upstream has calls for that. None: the
    request names a project."""


class RehearsalForm(Struct, frozen=True):
    """The rules for the rehearsal in place of an upstream of a dialect."""

    least_tokens: int | None = None
    """The smallest token limit that is valid; None: any value is."""
    passed_over: tuple[str, ...] = ()
    """Fields that upstreams do not know and ignore."""
    quiet: bool = False
    """Reasoning is shown only to clients that ask for it."""


class WindowForm(Struct, frozen=True):
    """How an upstream is asked for the window of a model, and how a request sets the window."""

    path: str
    asked: Callable[[str], dict[str, Any]]
    """The body of the question, from the model's name."""
    read: Callable[[dict[str, Any]], int | None]
    """The window in tokens, from the upstream's answer. None: the answer does not state it."""
    field: str
    """The field of a request that sets the window, as the path of an extra."""


class AgentForm(Struct, frozen=True):
    """The rules for the agent's requests in a dialect."""

    limited: bool = False
    """A request must have a token limit."""
    thinks_by_default: bool = False
    """A reasoning model shows its reasoning by default, and a model without reasoning refuses the setting."""
    parts_beside_results: bool = False
    """Parts that a tool returns are sent beside the tool's result, which only reports success."""
    window: WindowForm | None = None
    """None: every model has one window, which no request changes."""
    headers: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None
    """Headers of the agent's own requests, from the headers of the upstream's configuration. The latter win; an empty
    one takes a header away."""
    session: Callable[[str, int], dict[str, str]] | None = None
    """Fields that name the conversation and the prompt, as paths of extras, from the id of the conversation and the
    number of the prompt."""
    budget_settings: Settings | None = None
    """Settings for models that take a thinking budget, where the user chose none of them."""


# Setup of clients, and their behaviour.


class SetupLine(Struct, frozen=True):
    """The exact line that points a client at a gateway."""

    name: str
    line: Callable[[str, str, str], str]
    """Makes the line from the gateway's address, the key ("any" where clients need none), and the option that names a
    model."""
    order: int = 100
    """The line with the least order comes first."""
    usual_model: str = ""
    """The model that the client uses by default."""
    model_option: str = ""
    """The option that names another model."""


Json = Any


def is_error_frame(frame: dict[str, Any]) -> bool:
    """Whether a frame reports a failed answer, in the form of most dialects."""
    inner: json_text.JsonValue = frame.get("response")
    return (
        bool(frame.get("error"))
        or frame.get("type") in ("error", "response.failed")
        or (isinstance(inner, dict) and bool(inner.get("error")))
    )


class ReferenceClient(Struct, frozen=True):
    """A client of a dialect, written from the dialect's documentation, for judging other translators.

    A client does not use the dialect's own readers and writers, because they are judged too.
    """

    tools: str
    """The path of the tools in a request, in the notation of the conformance kit."""
    tool_names: str
    """The path of the names of the declared functions."""
    with_user_turn: Callable[[dict[str, Any], str], dict[str, Any]]
    """A request with one more turn of the user."""
    answered: Callable[[dict[str, Any], Json, list[Json], bool], dict[str, Any]]
    """The next request, from the request before, its answer, and one output for each call in the answer. The flag is
    for a client that keeps only fields which the dialect's documentation knows."""
    fold: Callable[[list[dict[str, Any]], Callable[[str], Json]], Json]
    """The answer in the frames of a stream. The function reads the joined pieces of a call's arguments."""
    ends_well: Callable[[list[dict[str, Any]], bool, bool], bool]
    """Whether the frames end properly. Its arguments are the frames, whether a fault is among them, and whether [DONE]
    is."""
    is_fault: Callable[[dict[str, Any]], bool] = is_error_frame
    """Whether a frame reports a failed answer."""


class Endpoints(Struct, frozen=True, kw_only=True):
    """How a dialect is served, requested and judged."""

    served: Served = Served()
    headers: HeaderRules = HeaderRules()
    models: ModelLists = ModelLists()
    counts: TokenCounts = TokenCounts()
    stream: StreamForm = StreamForm()
    upstream: UpstreamForm = UpstreamForm()
    rehearsal: RehearsalForm = RehearsalForm()
    agent: AgentForm = AgentForm()
    setup: tuple[SetupLine, ...] = ()
    example_model: str = "some-model"
    """A model for examples."""
    client: Callable[[], ReferenceClient] | None = None
    """The client that the conformance kit plays."""
