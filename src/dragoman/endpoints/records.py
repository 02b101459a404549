"""The records of a dialect's endpoints: data and pure functions, no input or output.

A dialect fills in `Endpoints` in its `endpoints.py`. The gateway makes its table of endpoints from the records of all
dialects, the transport finds addresses and keys in the record of an upstream's dialect, and the agent, the conformance
kit and the command line read the rest. Every field has a default, so a dialect declares only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Raw, Struct

from ..canon.events import Fault
from ..canon.losses import Loss, Severity
from ..codec import json_text

Query = Mapping[str, Sequence[str]]
"""The values of a query, by name."""
Fields = dict[str, Raw]
"""The fields of a JSON object, each as it is written."""


# What clients ask.


class Call(Struct, frozen=True):
    """What a client wants, read from the address of its request."""

    verb: str
    """What answers: `generate`, or a name of `gateway/endpoints/other_requests.py`."""
    dialect: str
    """ "" for what belongs to the gateway itself."""
    model: str = ""
    """Where the address names it."""
    stream: bool | None = None
    """Where the address says it."""
    array: bool = False
    """The stream is one JSON array."""
    rest: str = ""
    """What else the address names."""
    unasked: bool = False
    """Silence about a stream asks for one. The table of endpoints sets it (`StreamForm.unasked`)."""


class Claim(Struct, frozen=True):
    """An address, or a family of addresses, that belongs to a dialect.

    Several dialects may claim one address. Then a header or a parameter of the query tells them apart, and one of them
    at most claims the address without one.
    """

    methods: tuple[str, ...]
    """Empty: any."""
    path: str
    """The whole address; with `read`: how the addresses of the family begin. The family with the longest of these is
    asked first."""
    call: Call | None = None
    """What the address means."""
    read: Callable[[str, Query, Callable[[str], str]], Call | None] | None = None
    """What one address of a family means, by its path (percent signs as they came), its query, and the function that
    decodes percent signs; None for an address that is none of the family."""
    verbs: tuple[str, ...] = ()
    """The verbs that `read` may give."""
    headers: tuple[str, ...] = ()
    """Headers that only clients of the dialect send to this address,"""
    query: tuple[str, ...] = ()
    """and parameters. One of either is enough."""
    alone: bool = False
    """No other dialect is asked for addresses that begin like this."""


class Served(Struct, frozen=True):
    """What the gateway serves to clients of a dialect."""

    claims: tuple[Claim, ...] = ()
    shown: tuple[str, ...] = ()
    """The endpoints as a person reads them."""
    near: tuple[str, ...] = ()
    """How unknown addresses begin that clients of the dialect have probably asked."""
    headers: tuple[str, ...] = ()
    """Headers that tell the same at any unknown address."""
    usual: bool = False
    """Whoever asks an unknown address without any sign probably speaks the dialect. One dialect says so."""
    before: tuple[str, ...] = ()
    """Words that people put in front of an address: `/openai/v1/chat/completions`."""
    bare: tuple[str, ...] = ()
    """How addresses begin that people write without their `/v1`."""
    wrong_method: int = 405
    """The status for an address that takes another method."""
    key_parameter: tuple[str, str] = ("", "")
    """The parameter of the query in which clients may show their key, and the header that means the same."""
    timed: bool = False
    """Clients read from the end of an answer how long it took (`gateway/http/ollama_timed_reply.py`)."""
    stored: bool = False
    """Requests name earlier answers by id (`gateway/exchange/response_continuation.py`)."""
    repeats_tools: bool = False
    """Answers repeat the tools of the request."""
    statuses: Mapping[str, int] = {}
    """Statuses for some codes of the gateway's own faults, where the status of the kind misleads clients."""
    refused: Callable[[Iterable[Loss]], Fault | None] | None = None
    """The fault for a request whose losses mean that no server here has what it refers to; None for any other."""


class HeaderRules(Struct, frozen=True):
    """Which headers cross between clients and upstreams. All names are in small letters."""

    family: str = ""
    """Dialects of one family share their headers; "" for a family of its own."""
    names: tuple[str, ...] = ()
    """Headers of requests that go to upstreams of the family,"""
    begins: tuple[str, ...] = ()
    """and how the names of more such headers begin."""
    never: tuple[str, ...] = ()
    """Those of them that stay here."""
    of_body: tuple[str, ...] = ()
    """Headers that describe the body: true only while the body is the client's own."""
    lost: Mapping[str, Severity] = {}
    """Headers whose loss is reported where another family's upstream is asked. The others say nothing that an upstream
    acts on."""
    acting: Mapping[str, tuple[str, ...]] = {}
    """Words in the values of headers that act without any field of the body: the loss of one is a warning."""
    answered: tuple[str, ...] = ()
    """Headers of answers that clients of the family get,"""
    answered_begins: tuple[str, ...] = ()
    """and how the names of more such headers begin."""
    ids: tuple[str, ...] = ()
    """Headers of answers that name the request."""
    request_id: str = ""
    """The header in which clients look for that name, beside x-request-id."""


class Model(Struct, frozen=True):
    """A model that can be asked for."""

    name: str
    upstream: str
    title: str = ""
    context: int | None = None
    """Tokens that it takes."""
    output: int | None = None
    """Tokens that it gives."""
    shape: ModelLists | None = None
    said: dict[str, Any] | None = None
    """How its upstream lists it, in the shape above."""


def openai_model(model: Model, publisher: str) -> dict[str, Any]:
    """One model as most hosts list it."""
    return {"id": model.name, "object": "model", "created": CREATED, "owned_by": model.upstream}


def openai_models(entries: list[dict[str, Any]], publisher: str) -> dict[str, Any]:
    """A list of models as most hosts write it."""
    return {"object": "list", "data": entries}


def model_id(model: Model, publisher: str) -> dict[str, Any]:
    """The fields with the name under which a model can be asked for."""
    return {"id": model.name}


CREATED = 1767225600
"""When models were made, of which nobody has said it: 2026-01-01."""
CREATED_DAY = "2026-01-01T00:00:00+00:00"


class ModelLists(Struct, frozen=True, eq=False):
    """How models are listed. `publisher` is the part of an address that names one; "" elsewhere."""

    path: str = ""
    """Where upstreams list their models; "" where they do not."""
    project_path: str = ""
    """The same for an upstream with a Google Cloud project."""
    entry: Callable[[Model, str], dict[str, Any]] = openai_model
    """One model."""
    named: Callable[[Model, str], dict[str, Any]] = model_id
    """The fields with its name, written over those that its upstream wrote."""
    listed: Callable[[list[dict[str, Any]], str], dict[str, Any]] = openai_models
    """The list of all."""
    own_name: Callable[[str], str] = str
    """The name by which an upstream's model is asked for, from the name in its list."""
    details: Callable[[Model], dict[str, Any]] | None = None
    """All about one model, where clients ask for that at an address of its own."""


OPENAI_LISTS = ModelLists("/v1/models")


def count_request(fields: Fields, model: str) -> tuple[bytes | None, str]:
    """The request to be counted, as it would be asked (None: as it is), and its model."""
    named = json_text.plain(fields["model"]) if "model" in fields else ""
    return None, model or (named if isinstance(named, str) else "")


def count_renamed(fields: Fields, model: str) -> dict[str, Any]:
    return {**fields, "model": model}


def count_written(tokens: int) -> dict[str, Any]:
    return {"input_tokens": tokens}


class TokenCounts(Struct, frozen=True):
    """How tokens are counted."""

    path: str = ""
    """Where upstreams count, with {model} where they name it there; "" where they do not."""
    request: Callable[[Fields, str], tuple[bytes | None, str]] = count_request
    """What a client wants counted, from the fields of its body and the model of its address: the request as it would be
    asked (None: the body as it is), and its model."""
    renamed: Callable[[Fields, str], dict[str, Any]] = count_renamed
    """A client's own request to count, with the model's name at the upstream."""
    taken: Callable[[Fields, str, str], dict[str, Any]] | None = None
    """A request as the counting endpoint takes it: from its fields, its model and the Google Cloud project. None: all
    fields are taken."""
    written: Callable[[int], dict[str, Any]] = count_written
    """A count, as clients read it."""
    total: tuple[str, ...] = ("input_tokens", "totalTokens")
    """The fields in which upstreams write it."""


def ask_stream(fields: Fields, stream: bool) -> dict[str, Any]:
    return {**fields, "stream": stream}


class StreamForm(Struct, frozen=True):
    """What is particular about streams."""

    unasked: bool = False
    """A request that says nothing of a stream wants one."""
    heartbeat: bytes | None = None
    """What clients take as a sign of life and nothing else; None: a comment, where the framing has comments."""
    marks: tuple[bytes, ...] = (b"\n\n",)
    """Each usual event has one of these, once,"""
    line_ends: int = 0
    """and so many ends of lines. 0: no event is known to be usual."""
    asking: Callable[[Fields, bool], dict[str, Any]] = ask_stream
    """A request that asks for a stream, or for none."""


# What upstreams are asked.


class Environment(Struct, frozen=True):
    """An upstream that variables of the environment name."""

    name: str
    keys: tuple[str, ...] = ()
    """Variables with its key. Without any, the address is enough."""
    addresses: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    """Models (with * for anything) that go there."""
    usual_model: str = ""
    """The model to ask when the upstream is all that is known."""
    order: int = 100
    """Of several upstreams the one with the least order is asked first."""
    address: Callable[[str], str] = str
    """The base address, from the value of a variable."""


def same_path(path: str, project: str, location: str) -> str:
    return path


class UpstreamForm(Struct, frozen=True):
    """How an upstream of a dialect is addressed."""

    base_url: str = ""
    """The address of the provider's own host; "" where there is none."""
    auth: str = "bearer"
    """How an upstream is shown the key: bearer, google, none, or the header that holds it."""
    environment: tuple[Environment, ...] = ()
    project_base: Callable[[str], str] | None = None
    """The base address by location, for an upstream with a Google Cloud project."""
    project_auth: str = ""
    """How such an upstream without a key is shown who asks; "" like any other."""
    located: Callable[[str, str, str], str] = same_path
    """A path for a Google Cloud project and a location."""
    with_project: Callable[[bytes, str], bytes] | None = None
    """A request that names the Google Cloud project, where requests have a place for it."""
    finds_project: bool = False
    """The upstream says which project belongs to an account (`transport/code_assist_projects.py`)."""


class RehearsalForm(Struct, frozen=True):
    """What the rehearsal heeds when it plays an upstream of a dialect."""

    least_tokens: int | None = None
    """The smallest limit of tokens; None: no limit, or one below zero, has a meaning."""
    passed_over: tuple[str, ...] = ()
    """Fields that upstreams do not know, and pass over."""
    quiet: bool = False
    """Thoughts are shown only to clients which ask for them."""


class AgentForm(Struct, frozen=True):
    """What the agent heeds when it writes requests in a dialect."""

    limited: bool = False
    """A request must say how long its answer may be."""
    thinks_unasked: bool = False
    """A model that thinks shows it unasked, and one that does not refuses to be asked."""
    parts_beside_results: bool = False
    """What a tool returns in several parts stands beside its result, which says that it succeeded."""


# How clients are set up, and what they do.


class SetupLine(Struct, frozen=True):
    """The exact line that points a client at a gateway."""

    name: str
    line: Callable[[str, str, str], str]
    """From the gateway's address, the key ("any" where clients need none), and the option that names a model."""
    order: int = 100
    """Of all lines the one with the least order comes first."""
    usual_model: str = ""
    """The model that the client asks for by itself,"""
    model_option: str = ""
    """and the option that names another one."""


Json = Any


def is_error_frame(frame: dict[str, Any]) -> bool:
    """Whether a frame says that the answer failed, in the words of most dialects."""
    inner = frame.get("response")
    return (
        bool(frame.get("error"))
        or frame.get("type") in ("error", "response.failed")
        or (isinstance(inner, dict) and bool(inner.get("error")))
    )


class Client(Struct, frozen=True):
    """A client of a dialect, as its documentation has it: for judging what others write.

    Nothing here uses the dialect's own readers and writers, which are judged.
    """

    tools: str
    """Where a request has its tools, as a path of the conformance kit,"""
    tool_names: str
    """and where the names of the functions stand that it declares."""
    said: Callable[[dict[str, Any], str], dict[str, Any]]
    """A request with one more turn of the user."""
    answered: Callable[[dict[str, Any], Json, list[Json], bool], dict[str, Any]]
    """The next request: the one before, the answer to it, and one output for each call in the answer. The flag is for a
    client that keeps only fields which the dialect's documentation knows."""
    fold: Callable[[list[dict[str, Any]], Callable[[str], Json]], Json]
    """The answer that the frames of a stream amount to. The function reads the joined pieces of a call's arguments."""
    ends_well: Callable[[list[dict[str, Any]], bool, bool], bool]
    """Whether the frames have a good end: the frames, whether a fault is among them, and whether [DONE] is."""
    is_fault: Callable[[dict[str, Any]], bool] = is_error_frame
    """Whether a frame says that the answer failed."""


class Endpoints(Struct, frozen=True, kw_only=True):
    """How a dialect is served, asked and judged."""

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
    client: Callable[[], Client] | None = None
    """The client that the conformance kit plays."""
