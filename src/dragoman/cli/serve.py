"""`dragoman serve`: the gateway, from a file, from the environment, or for one upstream."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import msgspec

from ..dialects import names
from ..errors import ConfigError
from ..gateway.config import REHEARSAL, Config, checked, load, one_upstream

_USUAL_FILE = Path("dragoman.toml")


@click.command()
@click.option(
    "--config", "file", type=click.Path(path_type=Path), help="Configuration file (dragoman.toml if there is one)."
)
@click.option("--host", help="Address to listen on; anything but loopback lets others in.")
@click.option("--port", type=int, help="Port to listen on; 0 lets the system choose.")
@click.option("--workers", type=int, help="Processes that share the port.")
@click.option("--upstream", metavar="URL", help="Send every model to this one upstream.")
@click.option("--dialect", metavar="D", help="The dialect of --upstream.")
@click.option(
    "--upstream-key-env", metavar="VAR", default="", help="Variable with its key; else the client's key goes on."
)
def serve(
    file: Path | None,
    host: str | None,
    port: int | None,
    workers: int | None,
    upstream: str | None,
    dialect: str | None,
    upstream_key_env: str,
) -> None:
    """Run the gateway: any client in, any upstream out.

    Without a file the upstreams are those whose keys stand in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY,
    GEMINI_API_KEY, OPENROUTER_API_KEY, OLLAMA_HOST); without any of them everything is answered by the rehearsal.
    SIGHUP reads the configuration again, SIGTERM lets exchanges under way finish.
    """
    if bool(upstream) != bool(dialect):
        raise click.UsageError("--upstream and --dialect go together")
    found = file if file is not None else _USUAL_FILE if _USUAL_FILE.exists() and not upstream else None

    def read() -> Config:
        if upstream and dialect:
            if dialect not in names():
                raise ConfigError("dialect", dialect, names())
            config = checked(one_upstream(upstream, dialect, upstream_key_env), "the command line")
        else:
            config = load(found, os.environ)
        given = {"host": host, "port": port, "workers": workers}
        told = {name: value for name, value in given.items() if value is not None}
        return msgspec.structs.replace(config, listen=msgspec.structs.replace(config.listen, **told))

    try:
        from ..gateway.run import serve as run
    except ModuleNotFoundError as error:
        raise click.ClickException(f"the gateway needs {error.name}: pip install 'dragoman[gateway]'") from None
    try:
        sys.exit(run(read, os.environ, announce))
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"cannot listen: {error.strerror or error}") from None


def announce(config: Config, port: int) -> None:
    """What is served, and the exact lines that point clients at it."""
    host = "127.0.0.1" if config.listen.host in ("0.0.0.0", "::") else config.listen.host
    base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    click.echo(f"dragoman listens on {base}")
    for name, upstream in config.upstreams.items():
        if name != REHEARSAL or "*" in upstream.models:
            models = ", ".join(upstream.models) or f"{name}/MODEL"
            where = upstream.base_url or "built in: no model, deterministic answers"
            click.echo(f"  {name}: {upstream.dialect} at {where}, for {models}")
    click.echo("Point clients at it:")
    click.echo(f"  Claude Code   ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN=any claude")
    codex = f'model_providers.dragoman={{name="dragoman",base_url="{base}/v1",wire_api="responses"}}'
    click.echo(f"  Codex         codex -c '{codex}' -c model_provider=dragoman")
    click.echo(f"  Gemini CLI    GOOGLE_GEMINI_BASE_URL={base} GEMINI_API_KEY=any gemini")
    click.echo(f'  openai        OpenAI(base_url="{base}/v1", api_key="any")')
    click.echo(f'  anthropic     Anthropic(base_url="{base}", api_key="any")')
    click.echo(f'  google-genai  genai.Client(api_key="any", http_options={{"base_url": "{base}"}})')
    click.echo(f"  ollama        OLLAMA_HOST={base}")
