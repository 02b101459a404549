"""web_fetch and google_web_search, run by the upstream or by us, with sources. Private networks are never reached."""

from __future__ import annotations

import asyncio
import gzip
import os
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from dragoman.canon.parts import Citation, Text
from dragoman.canon.response import Response
from dragoman.context import Context
from dragoman.dialects import get
from dragoman.errors import TransportError
from dragoman.runtime import fetch, html_text
from dragoman.runtime.builtin_tools import SearchEndpoint, web_fetch
from dragoman.runtime.builtin_tools.google_web_search import GoogleWebSearch
from dragoman.runtime.cited_sources import with_citation_numbers
from dragoman.runtime.tool_interface import FetchedPage
from tests.unit.runtime.helpers import answer, environment_for, failure, run, text_of

HTML = b"""<html><head><title> A page </title><style>x{}</style><script>bad()</script></head><body><h1>Head</h1>
<p>One <b>two</b>&amp;three <a href="/x">link</a></p><ul><li>first<li>second</ul><pre>  a
    b</pre></body></html>"""


class ScriptedModel:
    """A model with one answer. It keeps its requests."""

    def __init__(self, gives: Response | Exception) -> None:
        self.gives = gives
        self.requests: list[tuple[str, tuple[str, ...]]] = []

    async def __call__(self, prompt: str, /, *, hosted: tuple[str, ...] = ()) -> Response:
        self.requests.append((prompt, hosted))
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


def site(**found: FetchedPage | Exception) -> Any:
    async def get(url: str) -> FetchedPage:
        gives = found.get(url.rpartition("/")[2].replace(".", "_"), FetchedPage(url, 404, "text/plain", b""))
        if isinstance(gives, Exception):
            raise gives
        return gives

    return get


# The upstream fetches the page.


def test_the_upstream_fetches_if_it_can(tmp_path: Path) -> None:
    text = Text("The page says hi.", citations=(Citation("https://a.example/x", "Title", start=0, end=17),))
    ask = ScriptedModel(answer(text))
    environment = environment_for(tmp_path, ask=ask, hosted=frozenset({"web_fetch"}), fetch=site())
    done = run("web_fetch", {"prompt": "Sum up https://a.example/x"}, environment)
    assert text_of(done) == "The page says hi.[1]\n\nSources:\n[1] Title (https://a.example/x)"
    assert ask.requests == [("Sum up https://a.example/x", ("web_fetch",))]


@pytest.mark.parametrize("gives", [TransportError("connect", "x"), answer("")], ids=["fault", "nothing"])
def test_without_a_result_of_the_upstream_we_fetch_the_page(tmp_path: Path, gives: Any) -> None:
    ask = ScriptedModel(gives)
    page = FetchedPage("https://a.example/page", 200, "text/html", HTML)
    environment = environment_for(tmp_path, ask=ask, hosted=frozenset({"web_fetch"}), fetch=site(page=page))
    done = run("web_fetch", {"prompt": "Sum up https://a.example/page."}, environment)
    assert len(ask.requests) == 2 and ask.requests[1][1] == () and "One two&three" in ask.requests[1][0]
    assert text_of(done).startswith("--- https://a.example/page ---\n# Head")


def test_without_a_model_the_result_is_the_text_of_the_page(tmp_path: Path) -> None:
    page = FetchedPage("https://a.example/page", 200, "text/html", HTML)
    done = run(
        "web_fetch",
        {"prompt": "https://a.example/page and https://a.example/none"},
        environment_for(tmp_path, fetch=site(page=page)),
    )
    assert text_of(done) == (
        "--- https://a.example/page ---\n# Head\n\nOne two&three [link](https://a.example/x)\n\n- first\n- second\n\n"
        "  a\n    b\n\nError fetching https://a.example/none: status 404\n\nSources:\n[1] A page (https://a.example/page)"
    )


def test_if_no_page_was_fetched_the_call_fails(tmp_path: Path) -> None:
    environment = environment_for(
        tmp_path, fetch=site(a=fetch.FetchError("refused"), b=FetchedPage("", 200, "image/png", b""))
    )
    done = run("web_fetch", {"prompt": "https://x.example/a https://x.example/b"}, environment)
    assert failure(done) == "web_fetch_failed"
    assert text_of(done) == (
        "Error fetching https://x.example/a: refused\nError fetching https://x.example/b: it is image/png, not text"
    )


def test_prompts_without_valid_addresses_are_refused(tmp_path: Path) -> None:
    for prompt in ("nothing", "ftp://x", "http://", " ".join(f"http://x/{n}" for n in range(21))):
        assert failure(run("web_fetch", {"prompt": prompt}, tmp_path)) == "invalid_tool_params"


def test_addresses_are_found_in_a_prompt() -> None:
    prompt = 'See (https://a.example/x), <http://b.example/y?q=1&r=2>. "HTTPS://C.example" and https://a.example/x!'
    assert web_fetch.urls(prompt) == ["https://a.example/x", "http://b.example/y?q=1&r=2", "HTTPS://C.example"]
    prompt = "(see https://a.example/wiki/A_(b)) and [https://b.example/c]. https://c.example/d_(e)/f"
    assert web_fetch.urls(prompt) == [
        "https://a.example/wiki/A_(b)",
        "https://b.example/c",
        "https://c.example/d_(e)/f",
    ]


@pytest.mark.parametrize(
    ("url", "then"),
    [
        ("https://github.com/u/r/blob/main/a/b.py", "https://raw.githubusercontent.com/u/r/main/a/b.py"),
        ("https://github.com/u/r", "https://github.com/u/r"),
        ("https://github.com/u/r/tree/main", "https://github.com/u/r/tree/main"),
        ("https://evil.example/github.com/u/r/blob/m/x", "https://evil.example/github.com/u/r/blob/m/x"),
    ],
)
def test_for_a_github_page_of_a_file_the_file_is_fetched(url: str, then: str) -> None:
    assert web_fetch.raw_file_url(url) == then


def test_a_confirmation_shows_the_addresses(tmp_path: Path) -> None:
    tool = web_fetch.WebFetch()
    confirmation = asyncio.run(tool.confirm({"prompt": "x https://github.com/u/r/blob/m/f"}, environment_for(tmp_path)))
    assert confirmation is not None and confirmation.urls == ("https://raw.githubusercontent.com/u/r/m/f",)


def test_long_pages_are_cut_with_a_note(tmp_path: Path) -> None:
    page = FetchedPage("", 200, "text/plain", b"x" * 200_000)
    text = text_of(run("web_fetch", {"prompt": "https://x.example/a"}, environment_for(tmp_path, fetch=site(a=page))))
    assert "[100000 characters left out]" in text and text.count("x") < 100_100


# Search.

GROUNDED = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Zürich is größer. Bern is not."}]},
            "finishReason": "STOP",
            "groundingMetadata": {
                "groundingChunks": [
                    {"web": {"uri": "https://a.example", "title": "A"}},
                    {"web": {"uri": "https://b.example", "title": "B"}},
                    {"web": {"uri": "https://c.example"}},
                ],
                "groundingSupports": [
                    {"segment": {"startIndex": 0, "endIndex": 20}, "groundingChunkIndices": [1, 0]},
                    {"segment": {"startIndex": 21, "endIndex": 33}, "groundingChunkIndices": [1]},
                ],
            },
        }
    ]
}


def test_citations_are_placed_by_their_byte_indices(tmp_path: Path) -> None:
    response = get("gemini").read_response(msgspec.json.encode(GROUNDED), Context("gemini", "gemini"))
    environment = environment_for(tmp_path, ask=ScriptedModel(response), hosted=frozenset({"web_search"}))
    assert text_of(run("google_web_search", {"query": "kubernetes"}, environment)) == (
        'Web search results for "kubernetes":\nZürich is größer.[1][2] Bern is not.[2]\n\nSources:\n'
        "[1] A (https://a.example)\n[2] B (https://b.example)\n[3] Untitled (https://c.example)"
    )


def test_citations_of_other_dialects_are_numbered() -> None:
    one = Text("One.", citations=(Citation("u1", "T1", start=0, end=4), Citation("u2", "T2")))
    two = Text(" Two.", citations=(Citation("u3", "T3", start=1, end=5), Citation("u1", "T1", start=1, end=5)))
    text, sources = with_citation_numbers(answer(one, two))
    assert text == "One.[1] Two.[1][3]"
    assert [source.url for source in sources] == ["u1", "u2", "u3"]


def test_missing_results_and_missing_searches_are_reported(tmp_path: Path) -> None:
    environment = environment_for(tmp_path, ask=ScriptedModel(answer("  ")), hosted=frozenset({"web_search"}))
    assert (
        text_of(run("google_web_search", {"query": "x"}, environment))
        == 'No search results or information found for query: "x"'
    )
    assert failure(run("google_web_search", {"query": "x"}, tmp_path)) == "web_search_failed"
    assert (
        failure(run("google_web_search", {"query": "x"}, environment_for(tmp_path, ask=ScriptedModel(answer("y")))))
        == "web_search_failed"
    )
    assert failure(run("google_web_search", {"query": " "}, environment)) == "invalid_tool_params"
    broken = environment_for(
        tmp_path, ask=ScriptedModel(TransportError("connect", "gone")), hosted=frozenset({"web_search"})
    )
    assert failure(run("google_web_search", {"query": "x"}, broken)) == "execution_failed"


# The fetcher with a real server.


class Handler(BaseHTTPRequestHandler):
    seen: list[str] = []
    keys: list[str | None] = []

    def do_GET(self) -> None:
        Handler.seen.append(self.path)
        Handler.keys.append(self.headers.get("x-key"))
        name, _, rest = self.path.lstrip("/").partition("?")
        if name == "redirect":
            self.send_response(302)
            self.send_header("Location", rest)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if name == "slow":
            threading.Event().wait(1)
        body = {
            "html": HTML,
            "big": b"x" * 100_000,
            "gzip": gzip.compress(b"y" * 1000),
            "bomb": gzip.compress(b"z" * 10**7),
            "cut-gzip": gzip.compress(os.urandom(1000))[:-200],
        }
        body["search"] = msgspec.json.encode(
            {"results": [{"title": "T", "url": "https://t.example", "content": f"found {rest}"}]}
        )
        data = body.get(name, b"hello")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=latin-1" if name == "html" else "text/plain")
        if name in ("gzip", "bomb", "cut-gzip"):
            self.send_header("Content-Encoding", "gzip")
        if name in ("chunked", "cut-chunked"):
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"3\r\nabc\r\n" if name == "cut-chunked" else b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            self.close_connection = True
            return
        if name != "closed":
            self.send_header("Content-Length", str(len(data) + 10 * (name == "cut")))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = name in ("closed", "cut")

    def log_message(self, format: str, *args: Any) -> None:
        return

    protocol_version = "HTTP/1.1"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of a client that closes the connection early."""


@contextmanager
def serving(authority: trustme.CA | None = None) -> Iterator[int]:
    httpd = Server(("127.0.0.1", 0), Handler)
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("public.example").configure_cert(context)
        httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
    thread.start()
    yield httpd.server_address[1]
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with serving() as port:
        yield port


def anywhere(address: str) -> bool:
    return True


def get_page(url: str, **more: Any) -> FetchedPage:
    return asyncio.run(fetch.fetch(url, **{"public": anywhere, **more}))


def test_pages_are_fetched(server: int) -> None:
    page = get_page(f"http://127.0.0.1:{server}/html")
    assert (page.status, page.mime, page.charset, page.body) == (200, "text/html", "latin-1", HTML)
    assert html_text.read_page(page) is not None
    assert get_page(f"http://127.0.0.1:{server}/gzip").body == b"y" * 1000
    assert get_page(f"http://127.0.0.1:{server}/chunked").body == b"abcde"
    page = get_page(f"http://127.0.0.1:{server}/redirect?/redirect?/a%20b")
    assert page.body == b"hello" and page.url == f"http://127.0.0.1:{server}/a%20b"


def test_size_time_and_redirects_are_bounded(server: int) -> None:
    with pytest.raises(fetch.FetchError, match="longer than 1000 bytes"):
        get_page(f"http://127.0.0.1:{server}/big", limit=1000)
    with pytest.raises(fetch.FetchError, match="longer than 100000 bytes"):
        get_page(f"http://127.0.0.1:{server}/bomb", limit=100_000)
    with pytest.raises(fetch.FetchError, match=r"within 0\.2 seconds"):
        get_page(f"http://127.0.0.1:{server}/slow", seconds=0.2)

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    round_and_round = f"http://x.example:{server}/redirect?" + "/redirect?" * 8 + "/end"
    with pytest.raises(fetch.FetchError, match="more than 5 times"):
        get_page(round_and_round, resolve=resolve)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "240.0.0.1", "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1", "fec0::1", "192.0.0.8", "192.88.99.1", "::7f00:1",
        "::ffff:0:7f00:1", "64:ff9b:1::1",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public(address: str) -> None:
    assert not fetch.is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses_are_public(address: str) -> None:
    assert fetch.is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "127.1", "[::ffff:7f00:1]"]
)
def test_no_request_reaches_a_private_address(server: int, host: str, tmp_path: Path) -> None:
    Handler.seen.clear()
    done = run("web_fetch", {"prompt": f"http://{host}:{server}/private"}, tmp_path)
    assert failure(done) == "web_fetch_failed"
    assert "not on the public internet" in text_of(done) or "was not found" in text_of(done)
    assert Handler.seen == []


def test_a_name_is_resolved_once_and_every_redirect_is_checked(server: int) -> None:
    lookups: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        lookups.append(host)
        return {"public.example": ["127.0.0.1"], "mixed.example": ["127.0.0.1", "10.0.0.1"]}.get(host, ["10.0.0.1"])

    def loopback_is_public(address: str) -> bool:
        return address == "127.0.0.1"

    Handler.seen.clear()
    base = f"http://public.example:{server}"
    page = get_page(f"{base}/a", resolve=resolve, public=loopback_is_public)
    assert page.body == b"hello" and lookups == ["public.example"]
    for inner in (f"http://private.example:{server}/secret", f"//mixed.example:{server}/secret"):
        with pytest.raises(fetch.FetchError, match=r"10\.0\.0\.1, which is not on the public internet"):
            get_page(f"{base}/redirect?{inner}", resolve=resolve, public=loopback_is_public)
    with pytest.raises(fetch.FetchError, match="not an address of the web"):
        get_page(f"{base}/redirect?file:///etc/passwd", resolve=resolve, public=loopback_is_public)
    assert not any("secret" in path for path in Handler.seen if not path.startswith("/redirect"))


@pytest.mark.parametrize(
    "url", ["http://u:p@x.example/", "file:///x", "http://x.example:99999/", "http:///x", "http://[::1"]
)
def test_invalid_addresses_are_refused(url: str) -> None:
    with pytest.raises(fetch.FetchError):
        get_page(url)


def test_the_certificate_must_belong_to_the_requested_name() -> None:
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    with serving(authority) as port:
        assert get_page(f"https://public.example:{port}/a", resolve=resolve, tls=trusting).body == b"hello"
        with pytest.raises(fetch.FetchError, match="certificate"):
            get_page(f"https://other.example:{port}/a", resolve=resolve, tls=trusting)
        with pytest.raises(fetch.FetchError, match="certificate"):
            get_page(f"https://public.example:{port}/a", resolve=resolve)


def test_if_an_address_fails_the_next_address_is_tried(server: int) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "::1", "127.0.0.1"]

    assert get_page(f"http://x.example:{server}/a", resolve=resolve).body == b"hello"


def test_a_refused_connection_is_an_error() -> None:
    with pytest.raises(fetch.FetchError, match=r"http://127\.0\.0\.1:1/"):
        get_page("http://127.0.0.1:1/")


def test_a_configured_search_endpoint_is_used(server: int, tmp_path: Path) -> None:
    tool = GoogleWebSearch(SearchEndpoint(f"http://127.0.0.1:{server}/search?{{query}}"))
    assert text_of(run("google_web_search", {"query": "a b"}, tmp_path, tool=tool)) == (
        'Web search results for "a b":\nT: found a%20b[1]\n\nSources:\n[1] T (https://t.example)'
    )
    broken = GoogleWebSearch(SearchEndpoint(f"http://127.0.0.1:{server}/text"))
    assert failure(run("google_web_search", {"query": "x"}, tmp_path, tool=broken)) == "web_search_failed"


def test_an_incomplete_answer_is_an_error(server: int) -> None:
    for name in ("cut", "cut-chunked", "cut-gzip"):
        with pytest.raises(fetch.FetchError, match="before the answer was complete"):
            get_page(f"http://127.0.0.1:{server}/{name}")
    assert get_page(f"http://127.0.0.1:{server}/closed").body == b"hello"


def test_headers_are_not_sent_to_the_host_of_a_redirect(server: int) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    for target, keys in (("/end", ["k", "k"]), (f"http://other.example:{server}/end", ["k", None])):
        Handler.keys.clear()
        url = f"http://mine.example:{server}/redirect?{target}"
        assert get_page(url, resolve=resolve, headers={"x-key": "k"}).body == b"hello"
        assert Handler.keys == keys


def test_addresses_may_contain_any_letters(server: int) -> None:
    Handler.seen.clear()
    get_page(f"http://127.0.0.1:{server}/Zürich%20(a)?q=ä b".replace(" b", "+b"))
    assert Handler.seen == ["/Z%C3%BCrich%20(a)?q=%C3%A4+b"]


# Hostile pages.


@pytest.mark.parametrize("charset", ["idna", "undefined", "punycode", "hex", "unicode_escape", "\0", "none", "x" * 999])
def test_an_unusable_encoding_does_not_break_the_result(tmp_path: Path, charset: str) -> None:
    bad = FetchedPage("https://x.example/a", 200, "text/plain", b"words \\ud800 \xff", charset)
    good = FetchedPage("https://x.example/b", 200, "text/plain", b"good")
    done = run(
        "web_fetch",
        {"prompt": "https://x.example/a https://x.example/b"},
        environment_for(tmp_path, fetch=site(a=bad, b=good)),
    )
    assert "words" in text_of(done) and "good" in text_of(done)
    assert msgspec.json.encode(done.result)


@pytest.mark.parametrize(
    "piece",
    [
        "<a<",
        "<a ",
        "<a b='",
        '<a b="',
        "<!",
        "<!--",
        "</",
        "<?",
        "<svg>",
        "<title>",
        "&#",
        "<a href=x>w",
        "<b ='x",
        "< ",
    ],
)
def test_no_page_takes_long_to_parse(piece: str) -> None:
    """The parser of the standard library needed ten seconds for a quarter of the first page, and more than three
    minutes for the second page."""
    _, words = html_text.from_html("begin " + piece * 150_000 + "</a>" * 1000)
    assert words.startswith("begin")


def test_markup_is_read_as_browsers_read_it() -> None:
    html = (
        "<!DOCTYPE html><!-- <p>no --><TITLE>A &amp;\n B</title><script>if (a<b) '</p>'</SCRIPT ><style>x</style>"
        "<p title='>' class=a>1 < 2 &lt; 3 &#x41;&#99999999999999;&#" + "9" * 5000 + ";</p><svg><p>no</p></svg><svg/>"
        '<a class=b HREF = "/x?a=1&amp;b=2">in <b>bold</b></a><a name=y>none</a><textarea><p>text</textarea>'
        "<a href=/z>last</a><p unfinished"
    )
    title, words = html_text.from_html(html, "https://x.example/")
    assert title == "A & B"
    assert words == (
        "1 < 2 < 3 A\ufffd\ufffd\n\n[in bold](https://x.example/x?a=1&b=2)none<p>text[last](https://x.example/z)"
    )
