"""What the rules say to plain words: sums, counts, lists, repetitions; else the words quoted back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext

from ..canon.tools import HostedTool, Tool
from .argument_extraction import quoted

OPENING = "Rehearsal (no model): "
"""With this every text of the rules begins."""

REFUSAL = "rehearse a refusal"
"""Words of the user at which the rules refuse."""

_MOST = 2000
"""Numbers counted, lines listed, words written."""
_QUOTE = 400
_NESTED = 40
"""Brackets in brackets."""

_COUNT = re.compile(r"\bcount\s+(?:from\s+(-?\d{1,9})\s+)?(?:up\s+)?to\s+(-?\d{1,9})", re.IGNORECASE)
_LIST = re.compile(
    r"\b(?:list|name|give me|suggest|write)\s+(?:me\s+)?"
    r"(\d{1,5}|two|three|four|five|six|seven|eight|nine|ten)"
    r"\s+(\w[\w -]{0,40}?)(?=[.?!,;:]|\s+(?:in|of|for|about|that|to|from|on)\b|$)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\b(\d{1,5})[\s-]words?\b", re.IGNORECASE)
_SAY = re.compile(
    r"\b(?:say|repeat|echo|output|print|(?:reply|respond|answer)(?:\s+(?:only|just|exactly))?\s+with)\b"
    r"(?:\s+(?:only|just|exactly|the|a|single|one|words?|phrase|text|string|following|after me|this|back)\b)*"
    r"\s*[:,]?\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_INSTRUCTION = re.compile(r"[\w\s,'’-]{0,60}\b(?:else|following|words?|phrase|only|exactly|text)\s*:\s*", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many (words|letters|characters|lines)\b", re.IGNORECASE)
_SUM = re.compile(r"(?<![\w.])[-(]?\d[\d\s.()+*/^%×÷x-]{1,200}")
_SPOKEN = (("plus", "+"), ("minus", "-"), ("times", "*"), ("multiplied by", "*"), ("divided by", "/"), ("over", "/"))
_MINE = re.compile(r"\bmy ([^\W\d_][\w -]{0,40}?) (?:is|are) ([^\n.,;!?]{1,200})", re.IGNORECASE)
_ASKS_MINE = re.compile(
    r"\bwh(?:at|o|ich)(?:'s|’s| is| are| was|s)? my ([^\W\d_][\w -]{0,40}?)(?: again)?\s*[?.!]*\s*$", re.IGNORECASE
)
_ASKS_SAID = re.compile(r"\bwhat did i (?:just )?(?:say|ask|tell|write)\b|\bremember\b.{0,40}\?", re.IGNORECASE)
_ASKS_TOOLS = re.compile(r"\b(?:what|which|list)\b.{0,30}\b(?:tools|functions)\b", re.IGNORECASE)
_HELLO = re.compile(r"\s*(?:hello|hi|hey|good (?:morning|day|evening))\b", re.IGNORECASE)
_DIGITS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_FILLER = ("this", "is", "a", "rehearsal", "and", "no", "model", "wrote", "these", "words", "they", "only", "fill",
           "the", "line")  # fmt: skip


def reply(text: str, earlier: Sequence[str], tools: Sequence[Tool | HostedTool]) -> str:
    """What is said to the user's words, without the opening. `earlier`: what the user said before."""
    rules: tuple[Callable[[], str], ...] = (
        lambda: _counted(text),
        lambda: _measured(text),
        lambda: _summed(text),
        lambda: _named(text, earlier),
        lambda: _recalled(text, earlier),
        lambda: _offered(text, tools),
        lambda: _written(text),
        lambda: _listed(text),
        lambda: _said(text),
    )
    for rule in rules:
        found = rule()
        if found:
            return found
    words = shortened(text)
    if not words:
        return "there were no words to answer."
    if _HELLO.match(text):
        return f"hello. You said: “{words}”. Ask for a sum, a count or a list, or declare a tool."
    return f"you said: “{words}”."


def shortened(text: str, most: int = _QUOTE) -> str:
    """The text on one line, cut in the middle when it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most * 3 // 4]} … {line[-most // 4 :]}"


def _counted(text: str) -> str:
    match = _COUNT.search(text)
    if match is None:
        return ""
    first, last = int(match[1] or 1), int(match[2])
    step = 1 if last >= first else -1
    numbers = range(first, last + step, step)
    more = "" if len(numbers) <= _MOST else " …"
    return ", ".join([str(number) for number in numbers[:_MOST]]) + more


def _measured(text: str) -> str:
    match = _HOW_MANY.search(text)
    if match is None:
        return ""
    found = quoted(text)
    about = found[0] if found else text[match.end() :].partition(":")[2].strip()
    if not about:
        return ""
    what = match[1].lower()
    sizes = {
        "words": len(about.split()),
        "letters": sum([sign.isalpha() for sign in about]),
        "characters": len(about),
        "lines": len(about.splitlines()),
    }
    return f"“{shortened(about, 80)}” has {sizes[what]} {what}."


def _summed(text: str) -> str:
    spoken = text
    for word, sign in _SPOKEN:
        spoken = re.sub(rf"(?<=[\d)])\s+{word}\s+(?=[-\d(])", f" {sign} ", spoken, flags=re.IGNORECASE)
    for match in _SUM.finditer(spoken):
        asked = match[0].strip().rstrip(".x-+*/ (")
        asked += ")" if asked.count("(") > asked.count(")") and match[0].strip().endswith(")") else ""
        if re.fullmatch(r"[\d.\s]*|\d+(?:-\d+){1,3}|[\d\s./]*/[\d\s./]*/[\d\s./]*", asked):
            continue  # a number, a date, a range
        value = evaluate(asked)
        if value is not None:
            return f"{asked} = {value}"
    return ""


def _named(text: str, earlier: Sequence[str]) -> str:
    """What the user said of something of theirs."""
    asked = _ASKS_MINE.search(text)
    if asked is None:
        return ""
    what = " ".join(asked[1].lower().split())
    for said in (text[: asked.start()], *reversed(earlier)):
        for match in _MINE.finditer(said):
            if " ".join(match[1].lower().split()) == what:
                return f"your {what} is {match[2].strip()}; you said so."
    return f"you have not told your {what}."


def _recalled(text: str, earlier: Sequence[str]) -> str:
    """What the user said before, when that is asked for."""
    if not earlier or not _ASKS_SAID.search(text):
        return ""
    noted = [said for said in earlier if "remember" in said.lower()]
    return f"you said before: “{shortened((noted or list(earlier))[-1])}”."


def _offered(text: str, tools: Sequence[Tool | HostedTool]) -> str:
    if not _ASKS_TOOLS.search(text):
        return ""
    names = [tool.name for tool in tools if isinstance(tool, Tool)]
    return f"these tools are declared: {', '.join(names)}." if names else "no tools are declared."


def _listed(text: str) -> str:
    match = _LIST.search(text)
    if match is None:
        return ""
    number = _DIGITS.get(match[1].lower()) or int(match[1])
    what = match[2].strip()
    lines = [f"{place}. {what}, number {place}" for place in range(1, min(number, _MOST) + 1)]
    return "\n".join([f"a list of {len(lines)}:", *lines])


def _written(text: str) -> str:
    match = _WORDS.search(text)
    if match is None or not re.search(r"\b(?:write|tell|story|poem|essay|text|summary)\b", text, re.IGNORECASE):
        return ""
    number = min(int(match[1]), _MOST)
    return " ".join([_FILLER[place % len(_FILLER)] for place in range(number)]) + "."


def _said(text: str) -> str:
    match = _SAY.search(text)
    if match is None:
        return ""
    found = quoted(match[1])
    if found:
        return found[0]
    told = match[1].strip()
    behind = _INSTRUCTION.match(told)
    told = told[behind.end() :] if behind is not None else told
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n", told)[0].strip()


class _NoSum(Exception):
    """The text is no sum, or one without a result."""


def evaluate(text: str) -> str | None:
    """The result of a sum in figures, + - * / % ^ and brackets; None when it is none."""
    tokens = re.findall(r"\d+(?:\.\d+)?|\.\d+|\*\*|[-+*/%^()×÷x]|\S", text)
    if len(tokens) > 200:
        return None
    with localcontext() as context:
        context.prec = 40
        try:
            reader = _Sum(tokens)
            value = reader.whole()
        except (_NoSum, ArithmeticError):
            return None
    if not value.is_finite() or abs(value) >= Decimal(10) ** 30:
        return None
    whole = value.to_integral_value()
    return str(int(whole)) if value == whole else f"{round(value, 12):f}".rstrip("0").rstrip(".")


class _Sum:
    """Reads a sum by precedence."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._deep = 0

    def whole(self) -> Decimal:
        value = self._terms()
        if self._at < len(self._tokens):
            raise _NoSum
        return value

    def _next(self, *signs: str) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        if token and token in signs:
            self._at += 1
            return token
        return ""

    def _terms(self) -> Decimal:
        value = self._factors()
        while sign := self._next("+", "-"):
            other = self._factors()
            value = value + other if sign == "+" else value - other
        return value

    def _factors(self) -> Decimal:
        value = self._power()
        while sign := self._next("*", "/", "%", "×", "÷", "x"):
            other = self._power()
            if sign in ("*", "×", "x"):
                value *= other
            else:
                value = value % other if sign == "%" else value / other
        return value

    def _power(self) -> Decimal:
        value = self._atom()
        if self._next("^", "**"):
            other = self._power()
            if abs(other) > 200:
                raise _NoSum
            value = value**other
        return value

    def _atom(self) -> Decimal:
        if self._next("-"):
            return -self._inside(self._atom)
        if self._next("("):
            value = self._inside(self._terms)
            if not self._next(")"):
                raise _NoSum
            return value
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        if not token[:1].isdigit() and not token.startswith("."):
            raise _NoSum
        self._at += 1
        return Decimal(token)

    def _inside(self, read: Callable[[], Decimal]) -> Decimal:
        self._deep += 1
        if self._deep > _NESTED:
            raise _NoSum
        value = read()
        self._deep -= 1
        return value
