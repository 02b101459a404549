"""Measures the memory of the library after many different conversations: resident memory and the budget.

python -m bench.remembered --conversations 5400
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import dragoman
from dragoman.codec import cache_memory_budget

SOURCES = ("anthropic", "gemini", "openai-chat", "openai-responses")
TARGETS = ("gemini", "openai-chat", "openai-responses", "ollama", "openrouter", "code-assist", "anthropic")


def resident() -> int:
    """Resident MiB of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


def conversation(number: int, steps: int, more: bool) -> bytes:
    """An agent's conversation of about 37 KB, different from all others; `more`: with its next turn."""
    messages: list[Any] = [{"role": "user", "content": f"task {number} " * 20}]
    for i in range(steps):
        name = f"t{number}_{i}"
        call = {"type": "tool_use", "id": name, "name": "read_file", "input": {"path": f"/a/{number}/{i}"}}
        block = {"type": "text", "text": f"conversation {number} step {i} " * 6}
        result = {"type": "tool_result", "tool_use_id": name, "content": f"line {number}\n" * 40}
        messages += [{"role": "assistant", "content": [block, call]}, {"role": "user", "content": [result]}]
    messages.append({"role": "user", "content": "go"})
    if more:
        messages += [{"role": "assistant", "content": "ok"}, {"role": "user", "content": "and"}]
    system = f"You are agent {number}. " * 300
    return json.dumps({"model": "m", "max_tokens": 9, "system": system, "messages": messages}).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=5400)
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    dragoman.translate_request(conversation(0, 3, False), source="anthropic", target="gemini")
    print(f"at start: {resident()} MiB, {cache_memory_budget.held() / 2**20:.1f} MiB remembered")
    marks = {given.conversations * part // 6 for part in range(1, 7)}
    for number in range(1, given.conversations + 1):
        source, target = SOURCES[number % len(SOURCES)], TARGETS[number % len(TARGETS)]
        for more in (False, True):
            body = conversation(number, given.steps, more)
            if source != "anthropic":
                body = dragoman.translate_request(body, source="anthropic", target=source).body
            dragoman.translate_request(body, source=source, target=target, model=f"m{number % 3}")
        if number in marks:
            print(f"{number} conversations: {resident()} MiB, {cache_memory_budget.held() / 2**20:.1f} MiB remembered")


if __name__ == "__main__":
    main()
