"""The public words outside of Python that docs/releasing.md promises: codes, commands, configuration keys, variables.

Add a new word here together with its code. To remove or rename a word breaks scripts and files: first read the policy
in docs/releasing.md. The ids of the lint rules are the names of the files in `tests/lint/fixtures`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import get_args

import click
import msgspec
import pytest

from dragoman.canon.events import FaultKind
from dragoman.canon.loss_codes import CODES
from dragoman.canon.repair_codes import REPAIRS
from dragoman.cli.main import main
from tests.repo.repository_files import ROOT, SOURCE

LOSS_CODES = """
    field.dropped model.invented metadata.dropped user.dropped tier.dropped header.dropped state.dropped system.demoted
    system.media.dropped name.dropped order.approximated turn.dropped turn.invented prefill.trimmed part.dropped
    part.as_text hosted.dropped hosted.mapped media.dropped media.summarised media.reference media.moved media.retyped
    media.detail.dropped media.name.dropped citation.dropped citation.approximated character.replaced refusal.as_text
    reasoning.dropped reasoning.invented seal.dropped seal.loosened seal.dummy tool.refused tool.duplicate
    tool.hosted.dropped tool.hosted.mapped tool.hosted.option.dropped tool.hosted.as_function tool.examples.as_text
    tool.custom.wrapped tool.namespace.prefixed tool.deferred.expanded tool.renamed tool.strict.dropped
    tool.strict.approximated tool.output_schema.dropped tool.merged schema.keyword.dropped schema.rewritten
    schema.ref.inlined schema.ref.cut schema.invalid choice.weakened choice.dropped choice.by_filter
    choice.none.by_omission parallel.unenforced call.id.rewritten call.id.invented call.name.invented call.truncated
    call.custom.wrapped call.stand_in arguments.invalid result.error.as_text result.structured.as_text
    result.media.moved result.texts.joined result.duplicate result.invented result.orphaned result.moved
    sampling.dropped sampling.clamped stop.dropped stop.truncated limit.invented limit.raised limit.lowered
    effort.approximated effort.dropped thoughts.dropped thoughts.invented thoughts.approximated
    compaction.approximated compaction.dropped verbosity.dropped format.dropped format.as_text format.strict.dropped
    format.detail.dropped n.dropped logprobs.dropped cache.dropped cache.approximated answer.dropped stop.approximated
    usage.dropped usage.approximated usage.invented id.invented id.dropped record.id.invented record.id.rewritten
    event.dropped fault.approximated
"""
FAULT_KINDS = """
    invalid_request context_too_long auth billing permission not_found conflict too_large unprocessable rate_limit
    cancelled server upstream_bad overloaded timeout
"""
REPAIR_CODES = """
    duplicate-id duplicate-result empty-part empty-turn interleaved-text orphan-call orphan-result result-kind
    result-out-of-order split-results stranded-thinking thinking-out-of-place truncated-call unsealed-thinking
    wrong-alternation
"""

COMMANDS = {
    "alias list": "",
    "alias remove": "",
    "alias set": "",
    "alias": "",
    "ask": (
        "--allow --approve --attach --binary --budget-tokens --config --continue --deny --effort --folder"
        " --full-context --hosted --image --instructions --json --losses --max-tokens --mcp --memory --model"
        " --no-instructions --no-store --no-tools --option --param --sandbox --schema --seconds --session --system"
        " --telemetry --template --tool --tools --turns --usage -c -m -o -p -t"
    ),
    "chat": (
        "--allow --approve --attach --binary --budget-tokens --config --continue --deny --effort --folder"
        " --full-context --hosted --image --instructions --losses --max-tokens --mcp --memory --model"
        " --no-instructions --no-store --no-tools --option --param --sandbox --seconds --session --system"
        " --telemetry --template --tool --tools --turns -c -m -o -p -t"
    ),
    "completion": "",
    "config check": "",
    "config init": "--force",
    "config show": "--all",
    "config trust": "--list --remove",
    "config": "",
    "conform": (
        "--base-url --dialect --expected-failures --format --key-env --list --model --suite --timeout --upstream"
        " --upstream-port"
    ),
    "connect": "--gateway --key-env --model --undo --write -m",
    "convert": (
        "--bad-lines --chunk-size --dry-run --engine --force --formats --from --jobs --kind --max-line --model"
        " --output --quiet --report --strict --to --tolerance --work-folder -o"
    ),
    "demo": "--conversation --width",
    "dialects": "",
    "doctor": "--config --offline",
    "forget": "--yes",
    "lint": "--dialect --fix --format --kind --model --rule-set",
    "log": "--forget --here --json --losses --model --most --to",
    "login": "--config --no-browser",
    "logout": "--config",
    "loss": "",
    "matrix": "--html --markdown --width",
    "mcp call": "--config --json --mcp",
    "mcp list": "--config --gate --json --mcp",
    "mcp login": "--config --mcp --no-browser",
    "mcp logout": "--config --mcp",
    "mcp prompt": "--config --json --mcp",
    "mcp prompts": "--config --json --mcp",
    "mcp read": "--config --json --mcp",
    "mcp resources": "--config --json --mcp",
    "mcp serve": "--allow --http --key-env --port --root --tool",
    "mcp": "",
    "models": "--config --json",
    "repair": "--check --dialect --list --model --repairs",
    "rule": "",
    "run": "--config --gateway --losses --model --no-check -m",
    "serve": "--config --dialect --host --log --port --upstream --upstream-key-env --workers",
    "show": "--width",
    "template edit": "",
    "template list": "",
    "template remove": "",
    "template save": "--force --model --no-tools --option --param --schema --system --tool -m -o -p",
    "template show": "",
    "template": "",
    "translate": "--binary --from --host --kind --losses --model --repair --stand-ins --status --stream --strict --to",
    "undo": "",
}
"""The options of each command."""

KEYS = {
    "dragoman.gateway.config.Config": "bounds client environment listen log models routes search upstreams",
    "dragoman.gateway.config.Listen": "admin_key_env drain grace host hosts key_env origins port workers",
    "dragoman.gateway.config.Bounds": (
        "answer body concurrent connect exchange_bytes exchanges first_byte head idle keep_alive patience request"
        " requests retry_wait stored_bytes total translation_memory vault_bytes"
    ),
    "dragoman.gateway.config.Route": (
        "backoff binary client_key match repair retries same_account seals stand_ins to tolerance"
    ),
    "dragoman.gateway.config.Target": "model upstream weight",
    "dragoman.gateway.config.Upstream": (
        "auth base_url client_id_env client_secret_env credentials dialect headers host key_env list_models"
        " location models project rest stream trip"
    ),
    "dragoman.transport.search_service_config.SearchService": "key_env kind url",
    "dragoman.facts.windows_and_prices.WindowAndPrices": (
        "cache_read_price cache_write_price context input_price long_input_price long_output_price long_prompt"
        " output output_price"
    ),
    "dragoman.runtime.mcp.config.ServerConfig": (
        "args command cwd disabled env excludeTools headers includeTools oauth samplingTokens schemaGate timeout"
        " trust url"
    ),
    "dragoman.runtime.mcp.config.OAuthConfig": "clientId clientSecret redirectPort scope",
}
"""The keys of each table of `dragoman.toml`, and of a server in `.mcp.json`."""

VARIABLES = """
    DRAGOMAN_BASE_URL DRAGOMAN_CONFIG DRAGOMAN_FAST DRAGOMAN_GATEWAY_KEY DRAGOMAN_MCP DRAGOMAN_MEMORY DRAGOMAN_MODEL
    DRAGOMAN_STORE
"""
INTERNAL_VARIABLES = "DRAGOMAN_COMMAND DRAGOMAN_COMPLETE DRAGOMAN_GIVEN_KEY DRAGOMAN_KEY DRAGOMAN_SESSION_KEY"
HEADERS = "dragoman-estimate dragoman-exchange dragoman-losses dragoman-repairs"

POLICY = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")


def test_codes_stay() -> None:
    assert set(LOSS_CODES.split()) - set(CODES) == set()
    assert set(REPAIR_CODES.split()) - set(REPAIRS) == set()
    assert set(FAULT_KINDS.split()) - set(get_args(FaultKind)) == set()


def test_commands_and_options_stay() -> None:
    actual = dict(_commands(main, ()))
    assert {words for words in COMMANDS if words not in actual} == set()
    missing = {words: set(options.split()) - actual[words] for words, options in COMMANDS.items()}
    assert {words: options for words, options in missing.items() if options} == {}


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, set[str]]]:
    """Every command with its options."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    yield " ".join(path), {name for one in options for name in (*one.opts, *one.secondary_opts)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _commands(inner, (*path, name))


@pytest.mark.parametrize("name", KEYS)
def test_configuration_keys_stay(name: str) -> None:
    module, _, own = name.rpartition(".")
    fields = msgspec.structs.fields(getattr(import_module(module), own))
    assert set(KEYS[name].split()) - {field.encode_name for field in fields} == set()
    # A new key needs a default: a file without the key is still accepted.
    assert [field.name for field in fields if field.required and field.encode_name not in KEYS[name].split()] == []


def test_environment_variables_stay_and_are_in_the_policy() -> None:
    texts = [path.read_text(encoding="utf-8") for end in ("py", "toml") for path in SOURCE.rglob(f"*.{end}")]
    used = {name for text in texts for name in re.findall(r"\bDRAGOMAN_[A-Z][A-Z_]*[A-Z]\b", text)}
    assert used - set(INTERNAL_VARIABLES.split()) == set(VARIABLES.split())
    assert set(re.findall(r"`(DRAGOMAN_[A-Z_]*[A-Z])`", POLICY)) == set(VARIABLES.split())


def test_headers_stay_and_are_in_the_policy() -> None:
    texts = "".join([path.read_text(encoding="utf-8") for path in (SOURCE / "gateway").rglob("*.py")])
    assert [name for name in HEADERS.split() if f'"{name}"' not in texts] == []
    assert set(re.findall(r"`(dragoman-[a-z]+)`", POLICY)) == set(HEADERS.split())
