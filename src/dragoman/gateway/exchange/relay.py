"""Runs one exchange: sends a client's request to an upstream, and the upstream's answer to the client.

The relay tries the places of a route in turn, as long as no byte has reached the client. The relay waits, retries,
gives up, and writes the fault in the client's dialect. It knows no dialect: the library translates.

In nearly every exchange the first place answers at the first attempt; then only `run`, `_ask` and `_try_once` are
called. `_retry` tries the same place again, and the end of `run` tries the next place. `fault_reactions.py` decides
after which faults this happens.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from ...canon.events import Fault
from ...canon.losses import Loss
from ...codec import json_text
from ...dialect.endpoints_record import EndpointCall
from ...dialects import get
from ...errors import ConfigError, FaultError, LossError, TransportError, WireError
from ...seals.vault import keep
from ...translate.errors_with_status_200 import has_answer
from ...translate.result import Translation
from ...translate.stream_passthrough import PassThrough
from ...transport.http_client_interface import Post, UpstreamAnswer, too_long
from ...transport.response_head_reader import NONE
from ...transport.retry_decision import seconds_before_retry
from ..config import REHEARSAL, Route
from ..http.recording_reply import RecordingReply
from ..http.server import ClientGone, IncomingRequest, ReplyWriter
from ..services import Services
from . import (
    exchange_work_in_child_process,
    forwarded_headers,
    rehearsal_upstream,
    stream_whole_conversion,
    upstream_fault_messages,
    upstream_headers_and_key,
)
from .answer_token_counts import tokens_in_fields
from .cached_upstream_plans import HOPS, INSTANCE, UpstreamPlan
from .child_process import VaultInChild, takes_long
from .client_request_and_translations import ClientRequest
from .client_stream_framing import media_type
from .failover_order_and_counted_failures import Failover
from .fault_for_unserved_exchange import (
    Refused,
    fault_reply,
    internal_error_message,
    no_model,
    not_translatable,
    own_request,
    unknown_path,
)
from .fault_reactions import TABLE
from .gateway_secrets import print_failure
from .memory_seal_vault import ClientVault
from .non_generation_upstream_calls import SideAnswer
from .non_generation_upstream_calls import ask_upstream as aside
from .recent_exchanges import Exchange, FailedAttempt, Recording, losses_header, repairs_header
from .routes import UpstreamChoice
from .seal_refusal_detection import refuses_seals
from .stream_reply import StreamReply, Translator
from .upstream_faults import UpstreamFaults
from .upstream_key_faults import key_missing

if TYPE_CHECKING:
    from .previous_responses_and_stored_answers import PreviousResponses

_STREAMED = [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")]

__all__ = ["Refused", "Relay", "fault_reply", "unknown_path"]


class Relay:
    """Runs one exchange."""

    __slots__ = (
        "_began",
        "_bounds",
        "_call",
        "_client",
        "_end",
        "_exchange",
        "_faults",
        "_heading",
        "_reply",
        "_request",
        "_services",
        "_stream_reply",
        "_vault",
        "_waited",
    )

    def __init__(
        self,
        services: Services,
        call: EndpointCall,
        request: IncomingRequest,
        reply: ReplyWriter,
        exchange: Exchange,
        earlier: PreviousResponses | None = None,
    ) -> None:
        """`earlier` holds the turns that the request refers to without containing them."""
        self._services = services
        self._call = call
        self._request = request
        self._reply = reply
        self._exchange = exchange
        self._faults = UpstreamFaults(services, call.dialect, request.headers, exchange)
        # The client's own part of the vault: no other client finds its seals.
        self._vault: ClientVault | VaultInChild = services.vault.vault_of_client(request.owner)
        self._client = ClientRequest(services, call, request.body, self._vault, earlier)
        self._bounds = bounds = services.config.bounds
        self._began = began = monotonic()
        self._end = began + bounds.total
        self._heading = NONE  # of the last answer
        self._stream_reply: StreamReply | None = None
        self._waited = 0.0  # seconds of all pauses

    async def run(self) -> None:
        """Serve the request. Raises Refused with the fault for the client, if nothing was sent yet."""
        await self._client.read_beginning()
        choices = self._choices()
        if self._exchange.stream:
            self._stream_reply = StreamReply(
                self._call, self._reply, self._bounds, self.headers, self._faults.redact_frames
            )
        # The fault for the client: the first one after which the client may try again, or else the first of all.
        reported: Fault | None = None
        passing = False  # the client may try again after it
        failover: Failover | None = None
        try:
            if len(choices) > 1:
                failover = Failover(choices, self._services.breakers, self._request.headers, self._request.body)
                choices = failover.order_choices(self._exchange.tries)
            for choice in choices:
                fault = await self._ask(choice)
                if fault is None:
                    if failover is not None and not self._exchange.error:
                        failover.note_success()
                    return
                row = TABLE[self._faults.origin, fault.kind]
                if failover is not None:
                    failover.note_failure(choice, fault, row)
                if reported is None or (row.retried and not passing):
                    reported = fault if row.sent_as == fault.kind else msgspec.structs.replace(fault, kind=row.sent_as)
                    passing = row.retried
                if self._reply.started or not row.next_place:
                    break
        except ClientGone:
            raise
        except Refused as refused:
            if not self._reply.started:
                raise
            reported = refused.fault
        # A mistake in the gateway: the client gets 500, the operator the traceback.
        except Exception as error:  # noqa: BLE001
            print_failure(error, self._services.redactor)
            reported = Fault("server", internal_error_message(error), 500, "gateway_failed")
        finally:
            if self._stream_reply is not None:
                self._stream_reply.stop()
        if reported is not None and not self._reply.ended:
            self._give_up(reported)

    def _give_up(self, fault: Fault) -> None:
        """End an exchange that no place served, with a fault: by an event if the client's stream has begun."""
        if self._stream_reply is None or not self._reply.started:
            raise (
                Refused(*self._faults.verbatim)
                if self._faults.verbatim and self._faults.verbatim[0] is fault
                else Refused(fault)
            )
        self._exchange.error = fault.message
        self._stream_reply.fail(fault, self._delivered_recording())

    def _choices(self) -> list[UpstreamChoice]:
        """The places that may serve the request, by the model in its path or its body."""
        call, exchange, request = self._call, self._exchange, self._request
        if HOPS in request.headers and INSTANCE in request.headers[HOPS]:
            raise Refused(own_request())
        model, stream = call.model, call.stream
        if not model or stream is None:
            head = self._client.routing_fields()
            model = model or head.model or ""
            if stream is None:
                stream = call.streams_by_default if head.stream is None else head.stream
        exchange.model, exchange.stream = model, stream
        services = self._services
        routes = services.routes
        _, choices = routes.found.get(model) or routes.find(model, services.draw)
        if not choices:
            raise Refused(no_model(model, services.config))
        return choices

    # One place.

    async def _ask(self, choice: UpstreamChoice) -> Fault | None:
        """Use one place; None when the client has its answer."""
        services, exchange, upstream = self._services, self._exchange, choice.upstream
        exchange.upstream = choice.name
        exchange.upstream_model = choice.model
        exchange.upstream_dialect = dialect = upstream.dialect
        if dialect == REHEARSAL:
            self._faults.origin = "upstream"
            return await self._rehearse(choice)
        request, plans, stream = self._request, services.plans, exchange.stream
        try:
            plan, post = plans.known.get((choice, stream, request.known)) or plans.find(
                choice, self._call.dialect, stream, request.headers, request.known
            )
        except WireError as error:  # the model's name does not fit into the upstream's address
            raise Refused(not_translatable(error)) from None
        self._faults.origin = plan.origin
        try:
            translation = await self._translate(plan)
            fault = await self._try_once(plan, translation, post)
            if fault is not None:
                fault = await self._retry(plan, translation, fault)
        except LossError as error:
            self._faults.origin = "place"
            return self._note_failure(choice, not_translatable(error))
        if services.breakers[choice.name].unwell and self._shows_well(fault):
            services.breakers[choice.name].note_success()
        return fault

    def _shows_well(self, fault: Fault | None) -> bool:
        """Whether the last attempt shows that the upstream works: a good answer, or a fault that the upstream did not
        cause."""
        if fault is None:
            return not self._exchange.error  # a stream that broke off proves nothing
        return (
            self._faults.origin in ("upstream", "client_key")
            and TABLE[self._faults.origin, fault.kind].breaker == "ignored"
        )

    async def _retry(self, plan: UpstreamPlan, translation: Translation, fault: Fault | None) -> Fault | None:
        """Try a place again after its fault, as long as that may help; None when the client has its answer."""
        choice, reply, attempt = plan.choice, self._reply, 0
        unsealed = False
        while fault is not None:
            fault = self._note_failure(choice, self._faults.redact(fault))
            if reply.ended:
                self._exchange.error = fault.message
                return None
            seconds = self._seconds_before_retry(choice.route, fault, attempt)
            if seconds is not None:
                self._waited += seconds
                await asyncio.sleep(seconds)
                if reply.started:
                    return fault
                attempt += 1
            else:
                mended = None if unsealed else await self._without_seals(plan, translation, fault)
                unsealed = unsealed or mended is not None
                mended = mended or await self._repair_after_refusal(plan, translation, fault)
                if mended is None:
                    return fault
                translation, attempt = mended, 0
            fault = await self._try_once(plan, translation)
        return None

    def _seconds_before_retry(self, route: Route, fault: Fault, attempt: int) -> float | None:
        """Seconds until the place is tried again. None: not again, because the client has a byte, the time is over, the
        fault is lasting, or the exchange would wait too long in all."""
        if self._reply.started or fault is self._faults.late or attempt >= route.retries:
            return None
        if not TABLE[self._faults.origin, fault.kind].retried:
            return None
        seconds = seconds_before_retry(fault, route.backoff, attempt)
        if self._waited + seconds > self._bounds.retry_wait or monotonic() + seconds >= self._end:
            return None
        return seconds

    async def _repair_after_refusal(
        self, plan: UpstreamPlan, translation: Translation, fault: Fault
    ) -> Translation | None:
        """The request with its history repaired, after the upstream refused the unchanged bytes; None when nothing
        needs a repair, or repairs are off."""
        if fault.kind != "invalid_request" or not plan.verbatim or plan.choice.route.repair != "report":
            return None
        if translation.repairs or self._reply.started:
            return None
        mended = await self._translate(plan, mend=True)
        return mended if mended.repairs else None

    async def _without_seals(self, plan: UpstreamPlan, translation: Translation, fault: Fault) -> Translation | None:
        """The request without seals, after the upstream has refused a seal; None for any other fault, and for a request
        without seals."""
        if self._reply.started or not refuses_seals(fault, self._exchange.answered):
            return None
        try:
            bare = await self._translate(plan, unsealed=True)
        except LossError:  # the route does not tolerate the loss: the upstream's fault stays
            return None
        return None if bare.body == translation.body else bare

    def _note_failure(self, choice: UpstreamChoice, fault: Fault) -> Fault:
        self._exchange.tries.append(FailedAttempt(choice.name, choice.model, fault.kind, fault.status, fault.message))
        return fault

    async def _rehearse(self, choice: UpstreamChoice) -> Fault | None:
        call, requested_model = self._call, self._exchange.model
        body = self._client.body_for(choice)
        request = rehearsal_upstream.admit(body, call, choice.model, requested_model)
        if isinstance(request, Fault):
            return request
        self._exchange.attempts += 1
        if self._stream_reply is not None:
            self._stream_reply.stop()
        streamed = self.headers(media_type(call.dialect, array=call.array))
        created = int(self._services.now())
        whole = self.headers("application/json")
        taped = RecordingReply(self._reply, self._delivered_recording())
        return await rehearsal_upstream.answer_rehearsal(
            request, call, requested_model, created, taped, whole, streamed, self._exchange.stream
        )

    async def _translate(self, plan: UpstreamPlan, *, mend: bool = False, unsealed: bool = False) -> Translation:
        """The request for one place, recorded in the exchange (`ClientRequest.translate`)."""
        client, model = self._client, self._exchange.model
        if client.in_child:
            translation = await client.translate_in_child(plan, model, mend=mend, unsealed=unsealed)
        else:
            translation = client.translate(plan, model, mend=mend, unsealed=unsealed)
        return self._record_translation(plan, translation)

    def _record_translation(self, plan: UpstreamPlan, translation: Translation) -> Translation:
        """Record the translated request in the exchange."""
        exchange, call = self._exchange, self._call
        if call.model:
            translation.requested_model = call.model
        exchange.losses = losses = translation.losses
        exchange.repairs = translation.repairs
        if losses and plan.refused is not None and (lost := plan.refused(losses)) is not None:
            raise Refused(lost)
        if plan.lost:
            exchange.losses += forwarded_headers.not_forwarded(translation.target, call.dialect, self._request.headers)
        exchange.sent, exchange.request_losses = translation.body, exchange.losses
        return translation

    # One attempt, and its answer.

    async def _try_once(self, plan: UpstreamPlan, translation: Translation, post: Post | None = None) -> Fault | None:
        """Use a place once; None when the client has its answer. `post` is the prepared request without its body, if
        there is one."""
        exchange, bounds, pool = self._exchange, self._bounds, self._services.pool
        exchange.attempts += 1
        answer: UpstreamAnswer | None = None
        try:
            if post is None:
                try:
                    token = await self._token(plan, translation) if plan.google else ""
                    post = plan.prepare_post(self._request.headers, token)
                except ConfigError as error:
                    self._faults.origin = "place"
                    return key_missing(plan.choice.name, error)
            if translation.headers:
                post = upstream_headers_and_key.with_headers(post, translation.headers)
            first, left = bounds.first_byte, self._end - monotonic()
            if left < first:
                first = left
                if left <= 0:
                    raise TransportError("timeout", too_long(bounds.total))
            answer = pool.begin(post, translation.body)
            if answer is not None:
                answer.limit_time(left, bounds.total)
                await answer.wait_for_head(first)
                if not answer.status:
                    answer.raise_if_not_repeatable()
                    answer = None
            if answer is None:
                within = self._end - monotonic(), bounds.total
                answer = await pool.request(
                    post.address, "POST", post.target, post.headers, translation.body, first_byte=first, within=within
                )
            now = monotonic()
            exchange.answer_after = now - self._began
            exchange.answer_status = status = answer.status
            exchange.answer_headers = self._heading = heading = answer.heading
            if exchange.tries:  # the answers of earlier attempts are not reported
                exchange.answered = exchange.delivered = None
            if status >= 300:
                return await self._faults.read(plan.choice, answer)
            streams = plan.stream
            if heading.values[heading.shape.kind] != plan.kind:  # the answer may have the other shape
                streams = plan.is_stream(answer)
            if streams and self._stream_reply is not None:
                translator = self._translator(plan, translation)
                answered, delivered = self._services.exchanges.recording(), Recording()
                exchange.answered, exchange.delivered = answered, delivered
                self._stream_reply.watch = (
                    self._faults.search_for_keys(plan) if type(translator) is PassThrough else None
                )
                fault = await self._stream_reply.relay(answer, translator, answered, delivered, plan.choice.name)
                exchange.losses += translator.losses
                exchange.note = translator.note
                return fault if fault is None else self._faults.describe(self._faults.redact(fault), plan.choice)
            body = answer.whole(bounds.answer)
            if body is None:
                body = await answer.read(bounds.answer, bounds.idle)
            exchange.answered = body
        except TransportError as error:
            fault = upstream_fault_messages.unanswered_request(error, plan.choice.name)
            if error.kind == "timeout":
                self._faults.late = fault
            return fault
        finally:
            if answer is not None and not answer.done:
                answer.close()
        return await self._send_whole_answer(plan, translation, body, streams)

    async def _token(self, plan: UpstreamPlan, translation: Translation) -> str:
        """The access token for a request. The request's body gets the project's name where it needs one."""
        services, upstream = self._services, plan.choice.upstream
        token = await services.tokens.get(upstream.credentials)
        if token and plan.project_form is not None:

            async def ask(method: str, path: str, sent: bytes) -> bytes:
                answer = await aside(services, upstream, method, path, {}, upstream.dialect, sent)
                return answer.body if isinstance(answer, SideAnswer) and answer.status == 200 else b""

            account = upstream.base_url + upstream.credentials
            body = await services.projects.with_project(account, translation.body, plan.project_form, ask)
            self._exchange.sent = translation.body = body
        return token

    def _translator(self, plan: UpstreamPlan, translation: Translation) -> Translator:
        if plan.same_dialect and not translation.wrapped:
            return PassThrough(translation.target, as_events=True)
        return plan.stream_translator(translation, int(self._services.now()), self._vault)

    async def _send_whole_answer(
        self, plan: UpstreamPlan, translation: Translation, body: bytes, streamed: bool
    ) -> Fault | None:
        """Send a whole answer to the client, in the shape that the client demanded; or return the fault in an answer
        with a good status. `streamed`: the answer came as a stream."""
        exchange, stream_reply = self._exchange, self._stream_reply
        try:
            if takes_long(body):
                found = await self._answer_apart(plan, translation, body, streamed)
            else:
                found = self._answer(plan, translation, body, streamed)
        except FaultError as error:
            exchange.losses += error.losses
            return self._faults.describe(self._faults.redact(error.fault), plan.choice, error.body)
        except WireError as error:
            return self._faults.unreadable_answer(plan, translation, error, body)
        except RecursionError:
            return self._faults.unreadable_answer(plan, translation, "the JSON is nested too deeply", body)
        if isinstance(found, str):
            return self._faults.unreadable_answer(plan, translation, found, body)
        written, losses = found
        if losses:
            exchange.losses += losses
        if stream_reply is not None:
            stream_reply.finish(written, self._delivered_recording())
        else:
            exchange.delivered = written
            self._reply.send(200, self.headers("application/json"), written)
        return None

    def _answer(
        self, plan: UpstreamPlan, translation: Translation, body: bytes, streamed: bool
    ) -> tuple[bytes, tuple[Loss, ...]] | str:
        """A whole answer in the client's dialect and shape, with its losses; or a text about the mistake in it."""
        first = body.lstrip()[:1]
        if streamed or (first == b"[" and stream_whole_conversion.comes_as_array(translation.target)):
            body = stream_whole_conversion.stream_to_whole(body, translation.target)
        elif first != b"{":
            return "the body is not a JSON object"
        if self._stream_reply is not None:
            return self._in_events(plan, translation, body)
        if plan.same_dialect and not translation.wrapped and (fields := json_text.document_fields(body)) is not None:
            self._exchange.tokens = tokens_in_fields(fields)
            return (body, ()) if has_answer(fields, body, get(translation.target)) else "the body is empty"
        answer = plan.translate_answer(body, translation, int(self._services.now()), self._vault)
        self._exchange.tokens = answer.tokens
        return answer.body, answer.losses

    async def _answer_apart(
        self, plan: UpstreamPlan, translation: Translation, body: bytes, streamed: bool
    ) -> tuple[bytes, tuple[Loss, ...]] | str:
        """`_answer` in a child process."""

        def work() -> tuple[bytes, tuple[Loss, ...], dict[str, str]] | str:
            self._vault = vault = VaultInChild(self._vault)
            found = self._answer(plan, translation, body, streamed)
            if isinstance(found, str):
                return found
            written, losses = found
            return (
                b"" if written is body else written,
                exchange_work_in_child_process.limit_losses(losses),
                vault.put_here,
            )

        found = await exchange_work_in_child_process.run_in_child(self._services.children, work)
        if isinstance(found, str):
            return found
        written, losses, kept = found
        for key, value in kept.items():  # another answer may have taken the key meanwhile
            keep(self._vault, key, value)
        return written or body, losses

    def _in_events(self, plan: UpstreamPlan, translation: Translation, body: bytes) -> tuple[bytes, tuple[Loss, ...]]:
        """A whole answer for a client that wants a stream."""
        client = self._call.dialect
        if not plan.same_dialect and stream_whole_conversion.has_broken_call(body, translation.target, client):
            # As a stream of the upstream's dialect, the answer would end with a token limit that the upstream never
            # reported.
            answer = plan.translate_answer(body, translation, int(self._services.now()), self._vault)
            return stream_whole_conversion.whole_to_stream(answer.body, client), answer.losses
        translator = self._translator(plan, translation)
        written = (
            translator.feed(stream_whole_conversion.whole_to_stream(body, translation.target)) + translator.close()
        )
        if translator.fault is not None:
            raise FaultError(translator.fault)
        return written, translator.losses

    # Answers to the client.

    def _delivered_recording(self) -> Recording:
        if not isinstance(self._exchange.delivered, Recording):
            self._exchange.delivered = self._services.exchanges.recording()
        return self._exchange.delivered

    def refuse(self, refused: Refused) -> None:
        """Send the fault that ends the exchange."""
        out = self.headers("application/json")
        known = dict(out)
        if not refused.fault.request_id:
            refused.fault = msgspec.structs.replace(refused.fault, request_id=known.get("x-request-id", ""))
        status, more, body = refused.reply(self._call.dialect)
        self._exchange.delivered = body
        self._reply.send(status, [*out, *[one for one in more if one[0] not in known]], body)

    def headers(self, kind: str) -> list[tuple[str, str]]:
        """The headers of an answer that is sent now."""
        exchange, dialect = self._exchange, self._call.dialect
        exchange.first_byte = monotonic() - self._began
        called = self._request.headers.get("x-request-id") or exchange.id
        own = [("content-type", kind), ("dragoman-exchange", exchange.id)]
        redactor = self._services.redactor
        out = forwarded_headers.to_client(dialect, exchange.upstream_dialect, self._heading, called, own, redactor)
        if exchange.stream:
            out += _STREAMED
        if exchange.losses:
            out.append(("dragoman-losses", losses_header(exchange.losses)))
        if exchange.repairs:
            out.append(("dragoman-repairs", repairs_header(exchange.repairs)))
        return out
