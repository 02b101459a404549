"""The faults of one exchange's upstreams: read from answers, described for the client, without secrets.

An upstream may repeat a key in a message about that key, so each text of a fault is redacted.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ...canon.events import Fault
from ...dialects import get
from ...translate.result import Translation
from ...transport.http_client_interface import UpstreamAnswer
from ...transport.retry_decision import seconds_until_date
from ...transport.secret_redaction import Redactor
from ..services import Services
from . import upstream_fault_messages
from .cached_upstream_plans import UpstreamPlan
from .fault_reactions import KEY_REFUSED, Origin
from .gateway_secrets import passed_on
from .recent_exchanges import Exchange
from .routes import UpstreamChoice
from .secrets_in_passed_frames import SecretSearch
from .upstream_key_faults import key_refused, refuses_key


class UpstreamFaults:
    """Reads and describes the faults of one exchange."""

    __slots__ = ("_dialect", "_exchange", "_headers", "_services", "late", "origin", "verbatim")

    def __init__(self, services: Services, dialect: str, headers: Mapping[str, str], exchange: Exchange) -> None:
        """`dialect` and `headers` belong to the client."""
        self._services = services
        self._dialect = dialect
        self._headers = headers
        self._exchange = exchange
        self.origin: Origin = "upstream"
        """The origin of the last fault."""
        self.verbatim: tuple[Fault, bytes, int] | None = None
        """A fault, with the body and status that an upstream of the client's dialect sent."""
        self.late: Fault | None = None
        """The fault of an upstream that timed out. It is not tried again."""

    async def read(self, choice: UpstreamChoice, answer: UpstreamAnswer) -> Fault:
        """The fault in an upstream's answer with an error status."""
        bounds = self._services.config.bounds
        body = self.redactor().data(await answer.read(bounds.answer, bounds.idle))
        self._exchange.answered = body
        if answer.status < 400:
            return upstream_fault_messages.redirect_answer(choice.name, answer.status, answer.header("location"))
        fault = get(choice.upstream.dialect).read_fault(body, answer.status, dict(answer.headers))
        if fault.retry_after is None:
            seconds = seconds_until_date(answer.header("retry-after"), self._services.now())
            fault = fault if seconds is None else msgspec.structs.replace(fault, retry_after=seconds)
        verbatim = choice.upstream.dialect == self._dialect and upstream_fault_messages.is_readable(fault)
        fault = self.describe(fault, choice, body)
        if verbatim and fault.code != KEY_REFUSED and body.lstrip()[:1] == b"{":
            self.verbatim = (fault, body, answer.status)
        return fault

    def describe(self, fault: Fault, choice: UpstreamChoice, body: bytes = b"") -> Fault:
        """An upstream's fault with a message that names the upstream. A refusal of the gateway's key is replaced by
        another fault."""
        if self.origin == "upstream" and refuses_key(fault, body):
            return key_refused(fault, choice.name, choice.upstream)
        return upstream_fault_messages.name_upstream(fault, choice.name)

    def unreadable_answer(self, plan: UpstreamPlan, translation: Translation, problem: object, body: bytes) -> Fault:
        """The fault of a good status whose body is not in the upstream's dialect."""
        status = self._exchange.answer_status
        # Redact before the quotation is cut: half a secret would not be found afterwards.
        quoted = self.redactor().data(body)
        return upstream_fault_messages.unreadable_answer(plan.choice.name, status, translation.target, problem, quoted)

    def redactor(self) -> Redactor:
        """A redactor of all secrets that an upstream of this exchange may know."""
        services = self._services
        return services.redactor.with_secrets([*services.tokens.known(), *passed_on(services.config, self._headers)])

    def redact(self, fault: Fault) -> Fault:
        """An upstream's fault without secrets."""
        found = self.redactor().fault(fault)
        if found is not fault and fault is self.late:
            self.late = found
        if found is not fault and self.verbatim is not None and self.verbatim[0] is fault:
            self.verbatim = (found, self.verbatim[1], self.verbatim[2])
        return found

    def search_for_keys(self, plan: UpstreamPlan) -> SecretSearch:
        """A search for frames that may repeat a key which the upstream got."""
        services = self._services
        if plan.google:
            return plan.watch.with_secrets(services.tokens.known())
        if plan.origin == "client_key":
            return plan.watch.with_secrets(passed_on(services.config, self._headers))
        return plan.watch

    def redact_frames(self, frames: bytes) -> bytes:
        """Frames without secrets."""
        return self.redactor().data(frames)
