"""The gateway's own page, and the endpoints that the page uses: what is served, a translation to try, recent
exchanges."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ... import __version__
from ...codec import json_text
from ...dialects import installed
from ...errors import DragomanError
from ...translate import StreamTranslator, translate_request, translate_response, translate_tools
from ...translate.detect import detect
from ..config import Config
from ..http.server import IncomingRequest
from .client_setup import client_lines

MAX_TRIED = 1024 * 1024
"""Bytes of a payload to try. The page is for a look, not for work, and other clients wait meanwhile."""

Answer = tuple[int, list[tuple[str, str]], bytes]

_JSON = [("content-type", "application/json")]
_HTML = [
    ("content-type", "text/html; charset=utf-8"),
    ("cache-control", "no-cache"),
    # The page loads nothing from other servers, and shows texts that others wrote.
    ("content-security-policy", "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; "
     "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
]  # fmt: skip


NESTED = "the JSON is nested too deeply"


class _Tried(Struct):
    """A translation that the page requests."""

    body: str
    target: str
    source: str = ""
    kind: Literal["request", "response", "stream", "tools"] = "request"
    model: str = ""


_tried = msgspec.json.Decoder(_Tried).decode


@cache
def _page() -> bytes:
    return files("dragoman.gateway").joinpath("page/index.html").read_bytes()


def answer(what: str, request: IncomingRequest, config: Config) -> Answer:
    """The page, or the data that the page requests."""
    if what == "translate":
        return translate(request.body)
    if what == "about":
        return about(config, f"http://{request.headers.get('host', 'HOST')}")
    return 200, _HTML, _page()


def about(config: Config, base: str) -> Answer:
    """The dialects, the upstreams, and the lines that point clients at this gateway."""
    upstreams = [
        {"name": name, "dialect": upstream.dialect, "models": list(upstream.models)}
        for name, upstream in config.upstreams.items()
    ]
    facts = {
        "version": __version__,
        "dialects": list(installed()),
        "upstreams": upstreams,
        "clients": [{"client": client.strip(), "line": line} for client, line in client_lines(config, base)],
    }
    return 200, _JSON, json_text.encode(facts)


def translate(body: bytes) -> Answer:
    """A payload in another dialect, with its losses."""
    if len(body) > MAX_TRIED:
        return _refused(
            413, f"the page translates at most {MAX_TRIED} bytes; the command `dragoman translate` has no limit"
        )
    try:
        tried = _tried(body)
        return 200, _JSON, json_text.encode(_translated(tried))
    except msgspec.DecodeError as error:
        return _refused(400, str(error))
    except DragomanError as error:
        return _refused(400, str(error))
    except RecursionError:
        return _refused(400, NESTED)


def _translated(tried: _Tried) -> dict[str, Any]:
    source = tried.source or detect(tried.body)[0]
    target, model = tried.target, tried.model or None
    if tried.kind == "stream":
        stream = StreamTranslator(source=source, target=target)
        written = stream.feed(tried.body.encode()) + stream.close()
        return {"source": source, "body": written.decode("utf-8", "replace"), "losses": stream.losses}
    if tried.kind == "request":
        done = translate_request(tried.body, source=source, target=target, model=model)
    elif tried.kind == "response":
        done = translate_response(tried.body, source=source, target=target)
    else:
        done = translate_tools(tried.body, source=source, target=target, model=model)
    shown = msgspec.json.format(done.body, indent=2).decode("utf-8", "replace")
    return {"source": source, "body": shown, "losses": done.losses}


def _refused(status: int, why: str) -> Answer:
    return status, _JSON, json_text.encode({"error": {"message": why}})
