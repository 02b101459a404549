"""The work of `dragoman ask`: finds the conversation, the model and the tools, runs the loop, and shows and stores the
conversation."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click
import msgspec
from msgspec import Struct

from ..canon.parts import Part, Text
from ..canon.request import Format
from ..errors import ConfigError, DragomanError
from ..gateway.config import Config
from ..gateway.exchange.routes import Routes
from ..runtime.agent import Agent
from ..runtime.builtin_tools import endpoint_of
from ..runtime.builtin_tools import tools as builtin_tools
from ..runtime.conversation_store import ConversationStore, find
from ..runtime.edit_journal import EditJournal
from ..runtime.events import Content, Finished, Reason, RunEvent, ToolCallRequest
from ..runtime.loop import Limits
from ..runtime.open_telemetry import OpenTelemetry
from ..runtime.policy import Mode, Policy
from ..runtime.resumable_conversation import Session
from ..runtime.telemetry_events import JsonLinesFile, Telemetry
from ..runtime.tool_interface import Tool
from ..runtime.toolbox import Approve
from ..store import Store, StoreEntry
from ..store.sqlite_entry_store import SqliteStore, usual_file
from ..transport.search_service_config import SearchService
from ..transport.upstream_record_and_environment import REHEARSAL
from .answer_schema import AnswerSchema, read_schema
from .ask_output import Approver, JsonOutput, LastAnswer, TextOutput
from .attachments import read_attachment, takes_standard_input
from .config_lookup import user_config
from .environment_with_stored_keys import user_environment
from .loss_and_error_output import fail, silence_mcp_sdk_log
from .mcp_server_questions import ServerQuestions
from .model_aliases import model_of
from .prompt_templates import PromptTemplate, read_template
from .request_setting_options import own_options, read_pairs, settings_of

if TYPE_CHECKING:
    from ..runtime.mcp.config import ServerConfig

_ALLOWED = "policy"
_GOOD: frozenset[Reason] = frozenset({"stop", "refusal", "approval", "paused"})
_CANCELLED = 130
_NO_MODEL = """there is no model to ask yet, because no key is set. One of these is enough:

  dragoman login anthropic          store a key; also: openai, gemini, openrouter (dragoman login lists all)
  export OPENAI_API_KEY=...         or set the variable of a provider
  export OLLAMA_HOST=127.0.0.1      or use the models of Ollama on this machine

To try everything without a key and without a model: --model rehearsal/rules"""


class AskOptions(Struct, frozen=True, kw_only=True):
    """The options of the command line."""

    prompt: tuple[str, ...]
    model: str
    template: str | None
    params: tuple[str, ...]
    file: Path | None
    options: tuple[str, ...]
    effort: str | None
    max_tokens: int | None
    tools: tuple[str, ...]
    no_tools: bool
    mcp: Path | None
    approve: Mode
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    hosted: tuple[str, ...] = ()
    binary: Literal["native", "summarise"] = "native"
    instructions: bool = True
    full_context: bool = False
    memory: Path | None = None
    sandbox: str
    media: tuple[str, ...]
    going_on: bool
    session: str | None
    folder: tuple[str, ...]
    system: str
    turns: int
    seconds: float
    budget_tokens: int
    tokens: int
    """The former name of `budget_tokens`."""
    telemetry: str | None
    as_json: bool = False
    usage: bool = False
    schema: str | None = None
    template_options: dict[str, Any] = {}
    """The settings of the template. The options of the command line win."""
    losses: bool
    no_store: bool

    @property
    def conversation_folder(self) -> str:
        """The folder that the conversation belongs to."""
        return str(Path(self.folder[0] if self.folder else ".").resolve())


def run(options: AskOptions) -> NoReturn:
    """Run the command, and exit with its code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal's encoding may lack a character
    template = template_of(options)
    asks_alone = template is not None and not template.needs_input()
    only_ask = options.prompt or options.media or options.as_json or options.schema or asks_alone
    if not only_ask and at_a_terminal() and sys.stdout.isatty():
        from .chat_run import run as chat  # prompt_toolkit takes a while to load

        chat(options)
    if template is not None and template.schema and options.schema is None:
        options = msgspec.structs.replace(options, schema=template.schema)
    output = _make_output(options)
    words = _prompt_text(options, output.say)
    if template is not None:
        if not words and not options.media and not asks_alone:
            raise click.UsageError("the template needs a prompt. Give one as an argument, or on standard input.")
        options, words = apply_template(options, template, words)
    if not words and not options.media and not (options.going_on or options.session):
        raise click.UsageError("there is no prompt. Give one as an argument, or on standard input.")
    try:
        store = None if options.no_store else open_store()
        keep = ConversationStore(store, options.conversation_folder, output.say)
        approve = Approver(output) if isinstance(output, TextOutput) and at_a_terminal() else None
        if approve is None and not options.deny and isinstance(output, TextOutput):
            output.when_denied = "--approve edits, --approve all or --allow permits calls without a question"
        schema = read_schema(options.schema) if options.schema is not None else None
        attached = [read_attachment(one) for one in options.media]
        agent = make_agent(options, store, keep, output, approve, schema.format if schema is not None else None)
    except DragomanError as error:
        fail(str(error), 2)
    if not words and not options.media and agent.session.step == "idle":
        raise click.UsageError("there is no prompt, and this conversation has no unfinished step. Give a prompt.")
    given = frozenset(agent.policy.allow)
    parts: list[Part] = [Text(words)] if words else []
    parts += attached
    try:
        good = asyncio.run(_run(agent, parts, output, schema))
    except (KeyboardInterrupt, asyncio.CancelledError):
        # The stored conversation must be complete enough to be continued.
        agent.session.interrupt()
        keep(agent.session)
        output.show_event(Finished("cancelled", agent.session.spent, cost=agent.session.cost))
        sys.exit(_CANCELLED)
    except ConfigError as error:
        fail(str(error), 2)
    finally:
        if store is not None:
            store_permissions(store, options.conversation_folder, agent.policy, given, output)
            store.close()
    sys.exit(0 if good else 1)


def template_of(options: AskOptions) -> PromptTemplate | None:
    """The template in the options. Exits where the template does not exist."""
    try:
        if options.template is not None:
            return read_template(options.template, os.environ)
        if options.params:
            raise ConfigError(
                "param", options.params[0], problem="only a template has variables. Name one: --template NAME"
            )
    except ConfigError as error:
        fail(str(error), 2)
    return None


def apply_template(options: AskOptions, template: PromptTemplate, words: str) -> tuple[AskOptions, str]:
    """The options completed by a template, and the prompt. Values of the command line win. Exits where a variable has
    no value."""
    try:
        prompt, system = template.fill(words, read_pairs(options.params, "param"))
    except ConfigError as error:
        fail(str(error), 2)
    offered = template.tools is not None and not options.tools
    return msgspec.structs.replace(
        options,
        model=options.model or template.model,
        system="\n\n".join([text for text in (system, options.system) if text]),
        tools=(template.tools or ()) if offered else options.tools,
        no_tools=options.no_tools or (offered and not template.tools),
        template_options=template.options,
    ), prompt


def _make_output(options: AskOptions) -> JsonOutput | TextOutput:
    if options.as_json:
        return JsonOutput(usage=options.usage)
    kind = TextOutput if options.schema is None else LastAnswer
    return kind(losses=options.losses, kept=not options.no_store, usage=options.usage)


def open_store() -> SqliteStore:
    """The user's store."""
    try:
        return SqliteStore(usual_file(os.environ))
    except ConfigError as error:
        fail(f"{error} (set DRAGOMAN_STORE to another file, or use --no-store)", 2)


def make_agent(
    options: AskOptions,
    store: Store | None,
    keep: ConversationStore,
    output: JsonOutput | TextOutput,
    approve: Approve | None,
    form: Format | None = None,
) -> Agent:
    """The agent for the options. `form` is the form of the answer."""
    session: Session | None = None
    if options.going_on or options.session:
        entry = find(store, options.session, options.conversation_folder) if store is not None else None
        if entry is None:
            which = f"conversation {options.session}" if options.session else "earlier conversation in this folder"
            fail(f"there is no {which}. `dragoman log` lists them all.", 2)
        session = keep.read(entry)
    if options.tokens:
        output.say("--tokens is called --budget-tokens now. The former name will be removed.")
    own = {"effort": options.effort, "max_tokens": options.max_tokens}
    named = {**options.template_options, **own_options(options.options, **own)}
    model = options.model
    if not model and (session is None or not session.model):
        usual = os.environ.get("DRAGOMAN_MODEL", "")
        # The agent itself reads DRAGOMAN_MODEL, but does not resolve aliases.
        model = usual if model_of(usual, os.environ) != usual else ""
    environment = user_environment()
    config = user_config(options.file, environment)
    upstreams = config.upstreams
    chosen = model or (session is not None and session.model) or environment.get("DRAGOMAN_MODEL")
    # The rehearsal answers only if the user has named it.
    if not chosen and all(one.dialect == REHEARSAL for one in upstreams.values()):
        fail(_NO_MODEL, 2)
    return Agent(
        _model_by_routes(model_of(model, os.environ), config),
        folder=options.folder or ".",
        tools=_tools(options.tools, options.no_tools, config.search, environment),
        mcp=_servers(options.mcp),
        policy=Policy(
            options.approve,
            [*dict.fromkeys([*_stored_permissions(store, options.conversation_folder), *options.allow])],
            [*options.deny],
        ),
        approve=approve,
        system=options.system,
        session=session,
        settings=settings_of(named, **own, format=form),
        limits=Limits(options.turns, options.seconds, options.budget_tokens or options.tokens),
        save=keep,
        journal=EditJournal(store) if store is not None else None,
        sandbox=options.sandbox,
        elicit=ServerQuestions(approve.say, approve.question) if isinstance(approve, Approver) else None,
        telemetry=_telemetry(options.telemetry),
        upstreams=upstreams,
        models=config.models,
        search=config.search,
        hosted=options.hosted,
        binary=options.binary,
        instructions=options.instructions,
        full_context=options.full_context,
        memory=options.memory,
        environment=environment,
    )


async def _run(agent: Agent, parts: list[Part], output: JsonOutput | TextOutput, schema: AnswerSchema | None) -> bool:
    """Whether the run ended well."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is not None and sys.platform != "win32":  # Like Ctrl-C: tools are stopped, and the history stays complete.
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP: then the run continues
                loop.add_signal_handler(number, task.cancel)
    async with agent:
        say_sandbox(agent, output.say)
        for status in agent.servers.status() if agent.servers is not None else ():
            if not status.connected:
                output.say(f"MCP server {status.name}: {status.failure}")
            for one in [one for one in status.skipped if not one.by_choice]:
                output.say(f"MCP server {status.name}: {one.name} is not offered: {one.why}")
        reason, text = await _show_run(agent.stream(parts) if parts else agent.resume(), output)
        if schema is None:
            return reason in _GOOD
        for again in (True, False):
            if reason != "stop":
                return False
            try:
                document = schema.read(text)
            except ValueError as error:
                output.say(
                    f"the answer does not fit the schema{', so the model is asked again' if again else ''}: {error}"
                )
                if again:
                    prompt = f"This answer cannot be used: {error}. Answer with the JSON alone."
                    reason, text = await _show_run(agent.stream(prompt), output)
            else:
                if isinstance(output, LastAnswer):
                    output.write_answer(document)
                return True
        return False


def say_sandbox(agent: Agent, say: Callable[[str], None]) -> None:
    """State that commands run without a sandbox, if the user wanted any working sandbox and none works."""
    if agent.sandbox is not None and agent.sandbox.why:
        say(f"commands run without a sandbox, because none works here ({agent.sandbox.why})")


async def _show_run(run: AsyncGenerator[RunEvent, None], output: JsonOutput | TextOutput) -> tuple[Reason, str]:
    """Show the events of a run. Gives its end, and the model's text after its last call."""
    reason: Reason = "stop"
    pieces: list[str] = []
    async with aclosing(run) as events:
        async for event in events:
            output.show_event(event)
            if isinstance(event, Finished):
                reason = event.finish_reason
            elif isinstance(event, Content):
                pieces.append(event.value)
            elif isinstance(event, ToolCallRequest):
                pieces.clear()
    return reason, "".join(pieces)


def _model_by_routes(model: str, config: Config) -> str:
    """The model for a name, found as in the gateway: by the routes, or else by its own name."""
    if not model:
        return ""
    choices = Routes(config).find(model, lambda weights: 0)[1]
    if not choices:
        return model
    first = choices[0]
    return first.model if first.upstream.dialect == REHEARSAL else f"{first.name}/{first.model}"


def at_a_terminal() -> bool:
    """Whether a person can type."""
    return sys.stdin is not None and sys.stdin.isatty()  # a service has no standard input at all


def _prompt_text(options: AskOptions, say: Callable[[str], None]) -> str:
    """The prompt: the arguments, and standard input if it is not a terminal, not closed and not attached."""
    arguments = " ".join(options.prompt)
    if takes_standard_input(options.media):
        return arguments
    typed = "" if arguments == "-" else arguments
    piped = ""
    if sys.stdin is not None and (arguments == "-" or not at_a_terminal()):
        piped = sys.stdin.buffer.read().decode(errors="surrogateescape")
    text = "\n\n".join([one for one in (typed, piped.strip("\n")) if one])
    decodable = text.encode(errors="surrogateescape").decode(errors="replace")
    if decodable != text:
        say(
            "some bytes of the prompt are not UTF-8, and were replaced by \ufffd."
            " Use --attach to send a file unchanged."
        )
    return decodable


def _tools(
    names: tuple[str, ...], none: bool, service: SearchService | None, environment: Mapping[str, str]
) -> tuple[Tool, ...] | None:
    if none:
        return ()
    if not names:
        return None
    search = endpoint_of(service, environment) if service is not None else None
    known = {tool.name: tool for tool in builtin_tools(search=search)}
    wanted = [*dict.fromkeys([name.strip() for name in ",".join(names).split(",") if name.strip()])]
    for name in wanted:
        if name not in known:
            raise ConfigError("tool", name, tuple(known))
    return tuple([known[name] for name in wanted])


def _servers(file: Path | None) -> dict[str, ServerConfig]:
    if file is None:
        return {}
    from ..runtime.mcp.config import load as load_servers

    silence_mcp_sdk_log()
    return load_servers(file, os.environ)


def _telemetry(where: str | None) -> Telemetry | None:
    if not where:
        return None
    return OpenTelemetry() if where == "otel" else JsonLinesFile(Path(where))


def _stored_permissions(store: Store | None, folder: str) -> list[str]:
    kept = store.get(_ALLOWED, folder) if store is not None else None
    return msgspec.json.decode(kept.body, type=list[str]) if kept is not None else []


def store_permissions(
    store: Store, folder: str, policy: Policy, given: frozenset[str], output: JsonOutput | TextOutput
) -> None:
    """Store the permissions that the user granted for good in this run. Permissions for this run only are not
    stored."""
    new = [entry for entry in policy.allow if entry not in given]
    if new:
        try:
            store.put(StoreEntry(_ALLOWED, folder, msgspec.json.encode([*_stored_permissions(store, folder), *new])))
        except ConfigError as error:
            output.say(f"your lasting permissions could not be stored: {error}")
