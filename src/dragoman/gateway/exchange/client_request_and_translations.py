"""The request of one client: the fields that routing needs, and its translation for each place of a route.

Most requests are translated at once. A large one is translated in a child process (`in_child`). A client that got a
fault often sends the same bytes again, so the translations of such a request are remembered.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from ... import fast
from ...codec.packed_seals import is_marked
from ...dialect.endpoints_record import EndpointCall
from ...errors import RepairError, WireError
from ...fast.continued_requests import Known
from ...fast.identical_requests import IdenticalRequest, IdenticalRequests
from ...translate.request import Options, Peek, peek
from ...translate.result import Translation
from ...translate.with_fast_paths import known_beginning, translate_with
from ..services import Services
from . import exchange_work_in_child_process, stream_whole_conversion, upstream_headers_and_key
from .cached_upstream_plans import UpstreamPlan
from .child_process import LARGE, SMALL, VaultInChild, takes_long
from .fault_for_unserved_exchange import Refused, not_json, not_translatable, too_deep
from .memory_seal_vault import ClientVault
from .routes import UpstreamChoice

if TYPE_CHECKING:
    from .previous_responses_and_stored_answers import PreviousResponses

_REPEATED = IdenticalRequests[Peek, Translation]()


class ClientRequest:
    """The request of one exchange."""

    __slots__ = ("_body", "_call", "_earlier", "_head", "_known", "_repeated", "_services", "_vault", "in_child")

    def __init__(
        self,
        services: Services,
        call: EndpointCall,
        body: bytes,
        vault: ClientVault | VaultInChild,
        earlier: PreviousResponses | None,
    ) -> None:
        """`vault` is the client's own. `earlier` holds the turns that the request refers to without containing them."""
        self._services = services
        self._call = call
        self._body = body
        self._vault = vault
        self._earlier = earlier
        self._head: Peek | None = None  # None: the fields are not read yet, or the body is not a request
        self._known: Known | None = None  # the remembered beginning of a conversation that continues
        self._repeated: IdenticalRequest[Peek, Translation] | None = None  # the memory of a request that came before
        self.in_child = False
        """The request is translated in a child."""

    async def read_beginning(self) -> None:
        """Find out how the request is translated. Raises Refused for a large body that is not JSON."""
        body = self._body
        if not takes_long(body):
            if self._earlier is None and fast.enabled():
                self._repeated = _REPEATED.find(body, self._call.dialect)
        elif not self._continues_known_beginning():
            self.in_child = True
            self._head = await exchange_work_in_child_process.run_in_child(self._services.children, partial(peek, body))
            if self._head is None:
                broken = await exchange_work_in_child_process.run_in_child(
                    self._services.children, partial(not_json, body)
                )
                if broken is not None:
                    raise Refused(broken)

    def _continues_known_beginning(self) -> bool:
        """Whether a large request is small except for a beginning that is remembered."""
        if len(self._body) > LARGE:
            return False
        self._known = known = known_beginning(self._body, self._call.dialect)
        return known is not None and known.unread <= SMALL

    def body_for(self, choice: UpstreamChoice) -> bytes:
        """The body for one place, with the earlier turns that it refers to."""
        return self._body if self._earlier is None else self._earlier.body_for(choice)

    def routing_fields(self) -> Peek:
        """The fields of the body that routing needs. Raises Refused for a body that is not JSON."""
        repeated = self._repeated
        if repeated is not None and repeated.head is not None:
            self._head = repeated.head
            return repeated.head
        if self._known is None and not self.in_child:
            self._known = known_beginning(self._body, self._call.dialect)
        known = self._known
        if known is not None and known.envelope is not None:
            self._head = Peek(known.envelope.request.model, known.envelope.request.stream)
        elif not self.in_child:
            self._head = peek(self._body)
            if self._head is None and (broken := not_json(self._body)) is not None:
                raise Refused(broken)
        if self._head is None:
            return Peek()  # the dialect's reader will report the mistake and its place
        if repeated is not None:
            repeated.head = self._head
        return self._head

    def translate(self, plan: UpstreamPlan, model: str, *, mend: bool = False, unsealed: bool = False) -> Translation:
        """The request for one place. Within one dialect the bytes pass unchanged. `mend`: a broken history is repaired.
        `unsealed`: seals are removed. `model`: the model that the client named."""
        try:
            return self._translate_for_plan(plan, model, mend=mend, unsealed=unsealed)
        except (WireError, RepairError) as error:
            raise Refused(not_json(self._body) or not_translatable(error)) from None
        except RecursionError:
            raise Refused(too_deep()) from None

    async def translate_in_child(
        self, plan: UpstreamPlan, model: str, *, mend: bool = False, unsealed: bool = False
    ) -> Translation:
        """`translate` in a child process."""
        body = self._body

        def work() -> exchange_work_in_child_process.CompactTranslation:
            translation = self._translate_for_plan(plan, model, mend=mend, unsealed=unsealed)
            if translation.body is body:
                translation.body = b""  # the gateway has these bytes already
            return exchange_work_in_child_process.compact_translation(translation)

        try:
            translation = exchange_work_in_child_process.expand_translation(
                await exchange_work_in_child_process.run_in_child(self._services.children, work)
            )
        except (WireError, RepairError) as error:
            raise Refused(not_translatable(error)) from None
        except RecursionError:
            raise Refused(too_deep()) from None
        translation.body = translation.body or body
        return translation

    def _translate_for_plan(self, plan: UpstreamPlan, model: str, *, mend: bool, unsealed: bool) -> Translation:
        if mend or unsealed or self._earlier is not None:
            translation = self._translate_repaired_or_continued(plan, model, mend=mend, unsealed=unsealed)
        else:
            translation = self._translate_alone(plan, model)
        if translation.stream not in plan.stream_values:
            translation.body = stream_whole_conversion.with_stream_demand(
                translation.body, translation.target, stream=plan.stream
            )
        if plan.enveloped:
            translation.body = upstream_headers_and_key.with_cloud_project(plan.choice.upstream, translation.body)
        return translation

    def _translate_alone(self, plan: UpstreamPlan, model: str) -> Translation:
        """The translation of a request by itself."""
        repeated, options = self._repeated, plan.options
        vault = self._vault.if_filled() if options.keeps else None
        if repeated is None:
            return self._translate_anew(plan, model, vault)
        translation = repeated.get((options, model))
        # The vault may have got a seal for the conversation. Only bytes that pass unchanged (`request` is None) need
        # no search.
        if translation is None or not (vault is None or translation.request is None):
            translation = self._translate_anew(plan, model, vault)
            if vault is None or translation.request is None:
                keep_translation(repeated, options, model, translation)
        return translation

    def _translate_anew(self, plan: UpstreamPlan, model: str, vault: ClientVault | VaultInChild | None) -> Translation:
        if plan.skip_read and self._head is not None:
            passed = self._pass_unchanged(plan, self._head, model)
            if passed is not None:
                return passed
        return translate_with(self._body, plan.options, vault, model, self._known)

    def _translate_repaired_or_continued(
        self, plan: UpstreamPlan, model: str, *, mend: bool, unsealed: bool
    ) -> Translation:
        """The translation of a request that was refused, or that refers to earlier turns."""
        if mend:
            options = msgspec.structs.replace(plan.options, repair="report")
        else:
            resolver = None if plan.same_dialect else self._earlier
            options = msgspec.structs.replace(plan.options, resolver=resolver, unsealed=unsealed)
        return translate_with(self.body_for(plan.choice), options, self._vault.if_filled(), model)

    def _pass_unchanged(self, plan: UpstreamPlan, head: Peek, model: str) -> Translation | None:
        """The client's own bytes, if they can be sent unchanged. Seals under our mark go only to a dragoman gateway,
        which understands them; the headers of its answers identify it."""
        translation = plan.pass_unread(self._body, head, model)
        marked = translation is None and is_marked(self._body)
        if marked and self._services.exchanges.is_answered_by_us(plan.choice.name):
            translation = plan.pass_unread(self._body, head, model, marked=True)
        return translation


def keep_translation(
    repeated: IdenticalRequest[Peek, Translation], options: Options, model: str, made: Translation
) -> None:
    """Remember the translation of a repeated request. `made` contains no data from a vault. The translation is not kept
    if it depends on other data than the bytes and the options, or if it may contain seals of ours."""
    if options.vault is None and options.resolver is None and not is_marked(repeated.document):
        made.losses  # noqa: B018 (the losses are computed now, once for all copies)
        repeated.put((options, model), made)
