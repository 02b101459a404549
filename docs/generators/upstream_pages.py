"""Writes one page for each upstream: how to set it up, and where its host differs from its dialect."""

from __future__ import annotations

from typing import NamedTuple

from dragoman.dialects import get, names
from dragoman.facts import hosts
from dragoman.transport.upstream_record_and_environment import known_environments

from .host_facts import in_words
from .tables import cells, heading

TITLES = {
    "anthropic": "Anthropic",
    "azure": "Azure OpenAI",
    "cerebras": "Cerebras",
    "chatgpt": "ChatGPT (Codex login)",
    "code-assist": "Gemini Code Assist",
    "copilot": "GitHub Copilot",
    "crusoe": "Crusoe",
    "dashscope": "Alibaba Model Studio (Qwen)",
    "deepseek": "DeepSeek",
    "doubleword": "Doubleword",
    "fireworks": "Fireworks",
    "gemini": "Google Gemini and Vertex",
    "google": "Google's Chat Completions endpoint",
    "groq": "Groq",
    "huggingface": "Hugging Face",
    "llamacpp": "llama.cpp",
    "minimax": "MiniMax",
    "mistral": "Mistral",
    "mistralrs": "mistral.rs",
    "moonshot": "Moonshot (Kimi)",
    "nvidia": "NVIDIA",
    "ollama": "Ollama",
    "openai": "OpenAI",
    "openrouter": "OpenRouter",
    "perplexity": "Perplexity",
    "snowflake": "Snowflake Cortex",
    "together": "Together",
    "venice": "Venice",
    "vercel": "Vercel AI Gateway",
    "vllm": "vLLM",
    "xai": "xAI (Grok)",
    "zai": "Z.ai (GLM)",
}
"""Names for people. A host without an entry is shown by its short name."""


BASE_URLS = {
    "azure": "https://NAME.openai.azure.com/openai/v1",
    "cerebras": "https://api.cerebras.ai/v1",
    "dashscope": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "minimax": "https://api.minimax.io/v1",
    "mistral": "https://api.mistral.ai/v1",
    "moonshot": "https://api.moonshot.cn/v1",
    "nvidia": "https://integrate.api.nvidia.com/v1",
    "perplexity": "https://api.perplexity.ai",
    "together": "https://api.together.xyz/v1",
    "vercel": "https://ai-gateway.vercel.sh/v1",
    "xai": "https://api.x.ai/v1",
    "zai": "https://api.z.ai/api/paas/v4",
}
"""Addresses that the hosts publish (read 2026-11)."""


class _Upstream(NamedTuple):
    name: str
    dialect: str
    variables: tuple[str, ...]
    addresses: tuple[str, ...]
    """Host names, with * for any characters."""
    rows: tuple[hosts.HostRow, ...]
    """What is known about the host."""

    @property
    def title(self) -> str:
        return TITLES.get(self.name, self.name)


def upstream_names() -> list[str]:
    """The short names of all upstreams that have a page."""
    return sorted(_upstreams())


def upstream_pages() -> dict[str, str]:
    """The text of each page, by short name, and the list of them as `index`."""
    found = _upstreams()
    out = {name: _page(found[name]) for name in sorted(found)}
    lines = [f"- [{one.title}]({name}.md), dialect `{one.dialect}`" for name, one in sorted(found.items())]
    text = (
        "One page for each upstream that dragoman knows by name. Any other host that uses one of the dialects works\n"
        "too: give its address as `base_url`. [Hosts](../reference/hosts.md) has all facts in one table."
    )
    return {"index": "\n".join(["# Upstreams", "", text, "", *lines, ""]), **out}


def _upstreams() -> dict[str, _Upstream]:
    found: dict[str, _Upstream] = {}
    rows = hosts.rows()
    for row in rows:
        if row.names:
            name, dialect = row.names[0], row.dialects[0] if row.dialects else "openai-chat"
            about = tuple([one for one in rows if name in (*one.names, *one.of)])
            found[name] = _Upstream(name, dialect, (), row.match, about)
    for dialect, usual in known_environments():
        if dialect not in names():
            continue  # a dialect of another package that happens to be installed here
        before = found.get(usual.name)
        about = before.rows if before is not None and dialect == before.dialect else ()
        found[usual.name] = _Upstream(usual.name, dialect, usual.keys or usual.addresses, (), about)
    found["code-assist"] = _Upstream("code-assist", "code-assist", (), (), ())
    return found


def _page(upstream: _Upstream) -> str:
    out = [f"# {upstream.title}", ""]
    page = f"[{upstream.dialect}](../dialects/{upstream.dialect}.md)"
    out += [f"{upstream.title} uses the dialect {page} ({get(upstream.dialect).title}).", ""]
    out += _setup(upstream)
    out += _models(upstream)
    out += _differences(upstream)
    out.append(
        "See also: [routes and fallbacks](../how-to/run-the-gateway.md), [settings](../reference/configuration.md)."
    )
    return "\n".join(out) + "\n"


def _setup(upstream: _Upstream) -> list[str]:
    out = ["## Set up", ""]
    if upstream.variables:
        value = "..." if upstream.variables[0].endswith("KEY") else "http://127.0.0.1:11434"
        out += ["Set one variable, and start the gateway:", "", "```sh"]
        out += [f"{upstream.variables[0]}={value} dragoman serve", "```", ""]
        if len(upstream.variables) > 1:
            out += [f"`{'`, `'.join(upstream.variables[1:])}` works too.", ""]
        out += ["The same in a configuration file:", ""]
    variable = upstream.variables[0] if upstream.variables else f"{upstream.name.upper().replace('-', '_')}_API_KEY"
    out += ["```toml", f"[upstreams.{upstream.name}]", f'dialect = "{upstream.dialect}"']
    if upstream.dialect == "code-assist":
        out += ['auth = "google"']
    elif upstream.variables and not upstream.variables[0].endswith("KEY"):
        out += ['base_url = "http://127.0.0.1:11434"', 'auth = "none"']
    elif upstream.variables:
        out += [f'key_env = "{variable}"']
    else:
        out += [_base_url(upstream)]
        out += [f'host = "{upstream.name}"'] if not upstream.addresses else []
        out += [f'key_env = "{variable}"']
    out += ["```", "", f"Clients name a model as `{upstream.name}/MODEL`. `dragoman models` lists the models.", ""]
    return out


def _base_url(upstream: _Upstream) -> str:
    if upstream.name in BASE_URLS:
        return f'base_url = "{BASE_URLS[upstream.name]}"'
    if not upstream.addresses:
        return 'base_url = "http://127.0.0.1:8000/v1"   # the address of your server'
    host = upstream.addresses[0].replace("*", "NAME")
    return f'base_url = "https://{host}/..."   # the path is in the documentation of the host'


def _models(upstream: _Upstream) -> list[str]:
    usual = [one for dialect, one in known_environments() if one.name == upstream.name and dialect == upstream.dialect]
    patterns = [pattern for one in usual for pattern in one.models]
    if not patterns:
        return []
    return [f"Models that go here by their own names: `{'`, `'.join(patterns)}`.", ""]


def _differences(upstream: _Upstream) -> list[str]:
    if not upstream.rows:
        return []
    out = ["## Where the host differs from its dialect", ""]
    out += [
        "The translation obeys these facts, and reports each field that it leaves out. A mark such as `[D]` names the"
    ]
    out += ["[kind of the source](../how-to/model-gates.md#what-a-row-rests-on).", ""]
    out += heading("Models", "Facts", "Source", "Date")
    for row in upstream.rows:
        out.append(cells(", ".join(row.models) or "all", in_words(row.facts), row.source, row.date))
    return [*out, ""]
