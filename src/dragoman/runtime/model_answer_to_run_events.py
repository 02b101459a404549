"""Owns one request to a model: it collects the answer, and yields the events of the run meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import TypeVar

from ..canon.events import Event, Fault, PartDelta, PartEnd, PartStart
from ..canon.fold_and_unfold import fold
from ..canon.loss_codes import CODES
from ..canon.losses import Loss
from ..canon.parts import HostedCall, HostedResult, Part, Reasoning, Text, ToolCall
from ..canon.request import Request
from ..canon.response import Response, Usage
from ..canon.tools import HostedTool
from ..canon.turns import Turn
from ..codec import json_text
from ..errors import FaultError
from .events import Content, Thought, WebSearchBegin, WebSearchEnd, thoughts
from .loop_detection import RepeatedText
from .model_interface import Model

T = TypeVar("T")

_HOSTED = {"web_search": "googleSearch", "web_fetch": "urlContext"}
"""Families of hosted tools, each with its declaration in the dialect where the tool has no options. The translation
turns the declaration into the model's own tool."""


class OutOfTime(Exception):
    """The run has reached its time limit."""


async def wait_until(work: Awaitable[T], deadline: float | None) -> T:
    """The result of `work`. OutOfTime: the deadline, by the event loop's clock, has passed, and `work` was
    cancelled."""
    if deadline is None:
        return await work
    try:
        async with asyncio.timeout_at(deadline):
            return await work
    except TimeoutError:
        raise OutOfTime from None


class AnswerInProgress:
    """An answer in progress. After the last event there is a response or a fault, or `chanting` is set."""

    def __init__(self) -> None:
        self.text = ""
        self.fault: Fault | None = None
        self.response: Response | None = None
        self.chanting = False
        """The answer was stopped, because the model repeated itself."""
        self._cut: set[int] = set()
        self._numbers: list[int] = []

    async def events(
        self, source: AsyncGenerator[Event, None], deadline: float | None = None
    ) -> AsyncGenerator[Thought | Content | WebSearchBegin | WebSearchEnd, None]:
        """The events of the answer, as they arrive."""
        searches: dict[str, str] = {}
        gathered: list[Event] = []
        kinds: dict[int, Part] = {}
        pieces: dict[int, list[str]] = {}
        chant = RepeatedText()
        async with aclosing(source) as events:
            while True:
                event = await wait_until(anext(events, None), deadline)
                if event is None:
                    break
                if isinstance(event, Fault):
                    self.fault = event
                    return
                gathered.append(event)
                # Only the first of several answers belongs to the conversation.
                if isinstance(event, PartStart) and not event.answer:
                    kinds[event.index] = event.part
                    self._numbers.append(event.index)
                    for search in _search_events(event.part, searches):
                        yield search
                elif isinstance(event, PartDelta) and event.text:
                    part = kinds.get(event.index)
                    if isinstance(part, Text):
                        self.text += event.text
                        yield Content(event.text)
                        if chant.feed(event.text):
                            self.chanting = True
                            return
                    elif isinstance(part, Reasoning):
                        pieces.setdefault(event.index, []).append(event.text)
                elif isinstance(event, PartEnd):
                    if event.cut:
                        self._cut.add(event.index)
                    for thought in thoughts("".join(pieces.pop(event.index, []))):
                        yield thought
        # A search without a result ends with the answer.
        for id, query in searches.items():
            yield WebSearchEnd(id, query)
        folded = fold(gathered)
        assert isinstance(folded, Response)
        self.response = folded

    def whole(self) -> tuple[tuple[Part, ...], list[ToolCall]]:
        """The parts of the answer without the calls that break off, and these calls."""
        assert self.response is not None
        parts: list[Part] = []
        cut: list[ToolCall] = []
        for number, part in zip(self._numbers, self.response.parts, strict=True):
            if isinstance(part, ToolCall) and (number in self._cut or self._breaks_off(part)):
                cut.append(part)
            else:
                parts.append(part)
        return tuple(parts), cut

    def _breaks_off(self, call: ToolCall) -> bool:
        ended = self.response is not None and self.response.stop.reason in ("length", "context_full")
        return ended and not call.custom and json_text.breaks_off(call.arguments)


def _search_events(part: Part, searches: dict[str, str]) -> Iterator[WebSearchBegin | WebSearchEnd]:
    """The events of a web search that the upstream runs. `searches` has the queries of the searches under way."""
    if isinstance(part, HostedCall) and part.family == "web_search":
        searches[part.id] = _query(part.arguments)
        yield WebSearchBegin(part.id)
    elif isinstance(part, HostedResult) and part.call_id in searches:
        yield WebSearchEnd(part.call_id, searches.pop(part.call_id))


def _query(arguments: str) -> str:
    try:
        found = json_text.decode(arguments.encode())
    except (ValueError, RecursionError):
        return ""
    words = found.get("query") or found.get("queries") if isinstance(found, dict) else ""
    return words if isinstance(words, str) else ", ".join([one for one in words or () if isinstance(one, str)])


def cut_call_losses(calls: list[ToolCall]) -> Iterator[Loss]:
    """The losses for calls that broke off."""
    known = CODES["call.truncated"]
    for call in calls:
        yield Loss("call.truncated", known.effect, known.severity, "", f"call {call.id} of {call.name}")


async def whole_answer(model: Model, request: Request, lost: list[Loss], deadline: float | None = None) -> Response:
    """The whole answer, without events. FaultError: there is no answer."""
    answer = AnswerInProgress()
    async with aclosing(answer.events(model.ask(request, lost.extend), deadline)) as events:
        async for _ in events:
            pass
    if answer.fault is not None:
        raise FaultError(answer.fault)
    if answer.response is None:
        raise FaultError(Fault("upstream_bad", "the model repeats itself", 502))
    return answer.response


def hosted_tools(families: Iterable[str]) -> tuple[HostedTool, ...]:
    """The declarations of hosted tools."""
    words = [_HOSTED[family] for family in families]
    return tuple([HostedTool("gemini", word, json_text.raw({word: {}})) for word in words])


class SideQuestion:
    """A model for questions of tools (`ModelAsker`): outside the conversation, with hosted tools of its upstream."""

    def __init__(self, answers: Callable[[Request], Awaitable[Response]], spend: Callable[[Usage], None]) -> None:
        self._answers, self._spend = answers, spend

    async def __call__(self, prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Response:
        request = Request((Turn("user", (Text(prompt),)),), tools=hosted_tools(hosted), stream=True)
        response = await self._answers(request)
        if response.usage is not None:
            self._spend(response.usage)
        return response
