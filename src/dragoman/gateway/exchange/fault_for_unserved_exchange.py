"""Writes the fault for an exchange that no upstream has served, in the client's dialect."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from ...canon.events import Fault
from ...codec.json_error_location import json_mistake
from ...dialects import endpoints, get
from ...errors import LossError, RepairError, WireError
from ...transport.upstream_record_and_environment import variable_for_model
from ..config import REHEARSAL, Config


class Refused(Exception):
    """The exchange ends with a fault for the client."""

    def __init__(self, fault: Fault, body: bytes = b"", status: int = 0) -> None:
        """`body` and `status`: the unchanged answer of an upstream of the client's dialect."""
        self.fault = fault
        self.body = body
        self.status = status
        super().__init__(fault.message)

    def reply(self, dialect: str) -> tuple[int, list[tuple[str, str]], bytes]:
        """Status, headers and body for the client."""
        status, headers, body = fault_reply(dialect, self.fault)
        return (self.status, headers, self.body) if self.body else (status, headers, body)


def too_deep() -> Fault:
    """The fault for a request whose JSON is too deep for our decoders and writers."""
    return Fault("invalid_request", "the JSON of the request is nested too deeply", 400)


def not_json(body: bytes) -> Fault | None:
    """The fault for a request body that is not a JSON object, with the line and column of the mistake; None for
    others."""
    # Checked first: compressed bytes would be reported as broken JSON.
    if body.startswith(_COMPRESSED):
        why = "The request body is compressed. Send it as plain JSON, without content-encoding."
        return Fault("invalid_request", why, 400, "invalid_json")
    if not body.strip():
        return Fault("invalid_request", "The request body is empty. Send a JSON object.", 400, "invalid_json")
    try:
        _skimmed(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = f"The request body is not valid JSON: {json_mistake(body, str(error))}."
        return Fault("invalid_request", why, 400, "invalid_json")
    except RecursionError:
        return too_deep()
    if not body.lstrip().startswith(b"{"):
        why = "The request body is JSON, but not an object. Send a JSON object: {...}."
        return Fault("invalid_request", why, 400, "invalid_json")
    return None


_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""The first bytes of gzip and zstd."""
_skimmed = msgspec.json.Decoder(Raw).decode


def not_translatable(error: WireError | LossError | RepairError) -> Fault:
    """The fault for a request that cannot be translated: the problem, and its place."""
    if isinstance(error, WireError):
        return Fault("invalid_request", str(error), 400, param=dotted_path(error.path))
    if isinstance(error, LossError):
        why = f"{error}. Leave these fields out, or raise the route's tolerance."
        return Fault("invalid_request", why, 400, error.losses[0].code, dotted_path(error.losses[0].path))
    why = f"{error}. Mend the history, or set the route's repair to 'report'."
    return Fault("invalid_request", why, 400, error.repairs[0].name, dotted_path(error.repairs[0].path))


def dotted_path(path: str) -> str:
    """A place in the form that faults use: `messages[0].content` for the pointer `/messages/0/content`."""
    # The escapes of a JSON pointer (RFC 6901, 4, April 2013).
    steps = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    return "".join([f"[{step}]" if step.isdigit() else f".{step}" for step in steps]).lstrip(".")


def own_request() -> Fault:
    """The fault for a request that this gateway has sent to itself."""
    why = "the request comes from this gateway itself: the base_url of an upstream points here. Change that base_url."
    return Fault("invalid_request", why, 400, "loop")


def no_model(model: str, config: Config) -> Fault:
    """The fault for a request whose model no upstream serves, or that names no model."""
    known = ", ".join([name for name in config.upstreams if name != REHEARSAL]) or REHEARSAL
    if not model:
        return Fault("invalid_request", "the request names no model. Set `model`.", 400, "model_required", "model")
    steps = [f"name the model as upstream/model (upstreams: {known})", "add a route (docs/how-to/run-the-gateway.md)"]
    variable = variable_for_model(model)
    if variable and all(upstream.key_env != variable for upstream in config.upstreams.values()):
        steps.insert(0, f"set {variable}")
    advice = ", or ".join(steps)
    why = f"no upstream serves the model {model!r}. {advice[0].upper()}{advice[1:]}."
    return Fault("not_found", why, 404, "model_not_found", "model")


def internal_error_message(error: Exception) -> str:
    """The message for a mistake in the gateway itself."""
    return f"the gateway failed: {type(error).__name__}. Its standard error has the traceback."


def fault_reply(dialect: str, fault: Fault) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and body of a fault, in the client's dialect."""
    body, status, headers = get(dialect).write_fault(fault)
    if fault.code:
        status = endpoints(dialect).served.statuses.get(fault.code, status)
    return status, [("content-type", "application/json"), *headers.items()], body


def unknown_path(path: str) -> dict[str, Any]:
    """The body of an answer to an unknown path of the gateway itself."""
    # One message for an unknown id and for another client's id: a client must not learn which ids exist.
    return {"error": {"message": f"nothing is stored at {path}, or it belongs to another client", "type": "not_found"}}
