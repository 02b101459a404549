"""The messages of faults. No message is empty. Each names the upstream and its status, and the gateway's own messages
name the next step.

An upstream's message stays unchanged, and the upstream's name and the status follow. Where an upstream sent no readable
message (no body, a web page, JSON without a message), our message states that.
"""

from __future__ import annotations

import html
import re

import msgspec

from ...canon.events import NO_MESSAGE, Fault
from ...errors import TransportError
from ...transport.retry_decision import no_answer

MAX_QUOTED = 300
"""Characters of an unreadable body that a message quotes."""
_ADVICE = {
    "connect": "Check the upstream's base_url, and that its host is up.",
    "timeout": "Send the request again, or raise bounds.first_byte, bounds.idle or bounds.total.",
    "closed": "Send the request again.",
    "upstream_bad": "Check that the upstream's base_url and dialect belong together.",
}
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})", re.IGNORECASE)
_TAG = re.compile(r"<(?:script|style)\b.*?(?:</(?:script|style)\s*>|\Z)|<[^>]*(?:>|\Z)", re.IGNORECASE | re.DOTALL)


def is_readable(fault: Fault) -> bool:
    """Whether an upstream's message is text for people."""
    words = fault.message.lstrip()
    return not words.startswith((NO_MESSAGE, "<", "{", "["))


def name_upstream(fault: Fault, upstream: str) -> Fault:
    """An upstream's fault with a message that names the upstream and the status."""
    words = fault.message.strip()
    if words.startswith(f"Upstream {upstream!r} "):
        return fault
    answered = f"Upstream {upstream!r} answered with status {fault.status}"
    if words.startswith(NO_MESSAGE):
        message = f"{answered} and no message."
    elif words.startswith("<"):
        page = _page_text(words)
        message = f"{answered} and a web page: {page}" if page else f"{answered} and a web page."
    elif words.startswith(("{", "[")):
        message = f"{answered} and no message: {_short(words)}"
    else:
        message = f"{words} (upstream {upstream!r}, status {fault.status})"
    return msgspec.structs.replace(fault, message=message)


def unanswered_request(error: TransportError, upstream: str) -> Fault:
    """The fault of an upstream that did not answer, or not completely."""
    fault = no_answer(error)
    message = f"Upstream {upstream!r} gave no complete answer: {error}. {_ADVICE.get(error.kind, '')}".rstrip()
    return msgspec.structs.replace(fault, message=message)


def redirect_answer(upstream: str, status: int, location: str) -> Fault:
    """The fault of an upstream that answered with a redirect. The gateway follows none, because the new host would get
    the key."""
    where = location or "no address"
    message = (
        f"Upstream {upstream!r} answered with status {status}, a redirect to {where}. Set its base_url to that host."
    )
    return Fault("upstream_bad", message, 502)


def unreadable_answer(upstream: str, status: int, dialect: str, problem: object, body: bytes) -> Fault:
    """The fault of a good status with a body that is empty or not in the upstream's dialect."""
    message = f"Upstream {upstream!r} answered with status {status}, but not in its dialect {dialect}: {problem}."
    text = body[: MAX_QUOTED * 40].decode("utf-8", "replace").strip()
    quoted = _page_text(text) if text.startswith("<") else _short(text)
    if quoted:
        message = f"{message} It sent: {quoted}"
    return Fault("upstream_bad", f"{message} Check the upstream's dialect and base_url.", 502)


def _page_text(page: str) -> str:
    """The message of a web page: its title, or else its text."""
    found = _TITLE.search(page)
    return _short(html.unescape(found[1] if found else _TAG.sub(" ", page)))


def _short(words: str) -> str:
    words = " ".join(words[: MAX_QUOTED * 4].split())
    return words if len(words) <= MAX_QUOTED else f"{words[:MAX_QUOTED]}..."
