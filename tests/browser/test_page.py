"""The gateway's page in a real browser: live exchanges, translations, questions, the key, hostile texts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from tests.browser.chromium import MISSING, Watched
from tests.browser.gateway_with_traffic import CYCLE, ask, chat, claude
from tests.e2e.gateway_process import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

DIALECTS = ("anthropic", "code-assist", "gemini", "ollama", "openai-chat", "openai-responses", "openrouter")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def watched(browser: Browser, base: str) -> Iterator[Watched]:
    """A page that must not report a problem and must not send requests to another server."""
    found = Watched(browser)
    yield found
    found.close()
    assert found.problems == []
    assert [address for address in found.asked if not address.startswith((base, "data:"))] == []


def live(watched: Watched, base: str) -> Page:
    page = watched.open(f"{base}/")
    page.wait_for_selector(".pill.on")
    return page


def row_of(page: Page, exchange: str) -> Any:
    """The row of an ended exchange."""
    return page.locator(f'.rows li[data-id="{exchange}"] button:not(.running)')


def test_an_exchange_appears_live_and_opens_beside_the_list(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, exchange = ask(base, *claude("google/rehearsal/rules", CYCLE, stream=True))
    row = row_of(page, exchange)
    row.wait_for()
    words = row.inner_text()
    assert "google/rehearsal/rules" in words
    assert "Is it raining in Paris or in Brest?" in words
    assert "get_weather answered: dry" in words
    assert re.search(r"\d+ → \d+", words)
    assert re.search(r"\d ms|\d s", words)
    row.click()
    opened = page.locator(".beside article")
    opened.wait_for()
    assert page.locator(".rows").is_visible()
    kinds = page.locator(".beside .kind").all_inner_texts()
    assert [kind.split()[0] for kind in kinds] == ["call", "call", "result", "result"]
    assert "first token after" in page.locator(".beside figcaption").inner_text()


def test_both_sides_are_linked_and_a_loss_is_shown_at_its_line(watched: Watched, base: str) -> None:
    page = live(watched, base)
    body = claude("local/rehearsal/rules", CYCLE, tool_choice={"type": "any"})
    _, exchange = ask(base, *body)
    page.goto(f"{base}/#live/{exchange}")
    page.get_by_role("tab", name="Wire").click()
    sides = page.locator(".sides").first.locator(".side")
    assert "toolu_paris" in sides.nth(0).inner_text()
    assert '"tool_calls"' in sides.nth(1).inner_text()
    marked = sides.nth(0).locator(".ln.marked.warning")
    assert marked.get_attribute("data-at").startswith("/tool_choice")
    note = marked.locator("xpath=following-sibling::details[1]")
    assert "choice.dropped" in note.inner_text()
    assert "Name the wanted tool in the prompt" in note.inner_text()
    number = sides.nth(0).locator('[data-at="/messages/1/content/1"]').get_attribute("data-join")
    other = sides.nth(1).locator(f'[data-join="{number}"]')
    sides.nth(0).locator(f'[data-join="{number}"]').hover()
    assert "lit" in other.get_attribute("class")
    assert page.locator(".curves path.lit").count() == 1
    assert sides.nth(0).locator(".note", has_text="id.invented").count() == 0
    answer = page.locator(".sides").nth(1)
    assert answer.locator(".note", has_text="id.invented").count() == 1, "the gateway made the id of the answer"
    page.get_by_role("tab", name="Tool cycle").click()
    assert page.locator(".call-row .call").count() == 2


def test_a_stream_can_be_shown_event_by_event(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, exchange = ask(base, *claude("gpt/rehearsal/rules", CYCLE, stream=True))
    page.goto(f"{base}/#live/{exchange}")
    page.get_by_role("tab", name="Stream").click()
    assert "frame 1 of" in page.locator("output").inner_text()
    assert "message_start" in page.locator("output").inner_text()
    so_far = page.locator(".so-far .turns")
    before = so_far.inner_text()
    for _ in range(4):
        page.get_by_role("button", name="next frame").click()
    assert so_far.inner_text() != before
    assert "Rehearsal" in so_far.inner_text()
    assert re.search(r"the upstream's frame \d+", page.locator(".side h3").nth(1).inner_text())
    assert '"delta"' in page.locator(".side").nth(1).inner_text()
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector("output:has-text('message_stop')")
    assert "station offline" in so_far.inner_text()


def test_frames_with_the_same_words_are_linked_in_both_streams(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, exchange = ask(base, *claude("google/rehearsal/rules", CYCLE, stream=True))
    page.goto(f"{base}/#live/{exchange}")
    page.get_by_role("tab", name="Wire").click()
    answer = page.locator(".sides").nth(1)
    client_side, upstream_side = answer.locator(".side").nth(0), answer.locator(".side").nth(1)
    frame = client_side.locator("details", has_text="content_block_delta").nth(2)
    words = frame.locator(".brought").inner_text()
    frame.hover()
    lit = upstream_side.locator("details.lit")
    assert lit.count() == 1
    assert lit.locator(".brought").inner_text() == words
    assert answer.locator("path.lit").count() == 1
    assert upstream_side.locator("details.kin").count() > 3


def test_a_new_user_sends_a_sample_request_and_sees_the_exchange(browser: Browser, tmp_path: Path) -> None:
    with served("", tmp_path) as address:
        watched = Watched(browser)
        page = watched.open(f"{address}/")
        page.get_by_role("button", name="Send a sample request").click()
        page.locator(".beside article").wait_for()
        page.get_by_role("tab", name="Tool cycle").click()
        assert page.locator(".call-row .rail.from").all_inner_texts() == ["answered", "failed"]
        page.goto(f"{address}/#numbers")
        page.wait_for_selector("p:has-text('keeps the last 100 exchanges in memory, and none over a restart')")
        watched.close()
        assert watched.problems == []


def test_a_known_cost_is_shown(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, priced = ask(base, *chat("claude/rehearsal/rules", "What does it cost?"))
    _, unknown = ask(base, *chat("google/rehearsal/rules", "What does it cost?"))
    row_of(page, unknown).wait_for()
    cost = row_of(page, priced).locator(".price").inner_text()
    assert re.fullmatch(r"\$0\.0\d*[1-9]\d*", cost)
    assert row_of(page, unknown).locator(".price").inner_text() == "$ ?"
    row_of(page, priced).click()
    facts = page.locator(".beside dl.inline")
    facts.wait_for()
    assert cost in facts.inner_text()
    page.goto(f"{base}/#numbers")
    table = page.get_by_role("region", name="By upstream")
    cells = {
        name: table.locator("tr", has_text=name).locator("td").nth(5).inner_text() for name in ("claude", "google")
    }
    assert cells["claude"].startswith(("$0.", "at least $0."))
    assert cells["google"] == "$ ?"


def test_search_and_filters_select_rows(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, good = ask(base, *chat("rehearsal/rules", "zebra crossing"))
    status, bad = ask(base, *chat("claude/rehearsal/overloaded", "zebra lost"))
    assert status >= 500
    row_of(page, bad).wait_for()
    page.get_by_label("search").fill("zebra")
    assert page.locator(".rows li").count() == 2
    page.get_by_label("status").select_option("failed")
    assert [row.get_attribute("data-id") for row in page.locator(".rows li").all()] == [bad]
    assert "overloaded" in row_of(page, bad).inner_text()
    page.get_by_label("status").select_option("good")
    page.get_by_label("upstream", exact=True).select_option("rehearsal")
    assert [row.get_attribute("data-id") for row in page.locator(".rows li").all()] == [good]


def test_an_exchange_can_be_repeated_on_another_upstream(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, exchange = ask(base, *chat("google/rehearsal/rules", "Once more"))
    page.goto(f"{base}/#live/{exchange}")
    page.get_by_label("upstream to send to").select_option("claude")
    page.get_by_role("button", name="Send again to").click()
    page.get_by_role("link", name="open the new exchange").click()
    page.locator(".beside h2", has_text="claude/rehearsal/rules").wait_for()


def test_texts_of_clients_and_upstreams_are_never_markup(watched: Watched, base: str) -> None:
    page = live(watched, base)
    tool = {"name": "w", "description": HOSTILE, "input_schema": {"type": "object", "properties": {HOSTILE: {}}}}
    messages = [{"role": "user", "content": HOSTILE}]
    _, exchange = ask(base, *claude("gpt/rehearsal/rules", messages, tools=[tool], system=HOSTILE))
    _, refused = ask(base, *chat(HOSTILE, HOSTILE), headers={"user-agent": HOSTILE})
    row_of(page, exchange).wait_for()
    for one, names in ((exchange, ("Conversation", "Wire")), (refused, ("Conversation", "Wire", "Facts"))):
        page.goto(f"{base}/#live/{one}")
        page.locator(".beside code, .beside article").first.wait_for()
        for name in names:
            page.get_by_role("tab", name=name).click()
            assert HOSTILE.split(">")[0] in page.locator(".beside:visible").inner_text()
    page.goto(f"{base}/#translate")
    page.get_by_role("textbox", name="document").fill(
        json.dumps({"model": HOSTILE, "messages": messages, HOSTILE: HOSTILE})
    )
    page.wait_for_selector(".target")
    page.goto(f"{base}/#numbers")
    page.wait_for_selector(".plot")
    assert page.locator("img, script:not([src])").count() == 0


def test_a_long_request_is_shown_with_a_note_that_it_was_cut(watched: Watched, base: str) -> None:
    page = live(watched, base)
    _, exchange = ask(base, *chat("google/rehearsal/rules", "many words " * 200_000))
    row_of(page, exchange).click()
    page.locator(".beside article").wait_for()
    page.get_by_role("tab", name="Wire").click()
    assert "not a complete JSON document" in page.locator(".side").first.inner_text()
    assert page.get_by_role("button", name="Send again to").is_disabled()


def test_two_megabytes_are_translated_and_shown(watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#translate")
    page.wait_for_selector(".target")
    messages = [{"role": "user", "content": f"{number} {'word ' * 100}"} for number in range(4000)]
    page.get_by_role("textbox", name="document").fill(json.dumps({"model": "m", "messages": messages}))
    page.wait_for_selector(".reasons:has-text('openai-chat request')", timeout=40_000)
    assert page.locator(".target").count() == 7
    assert page.locator(".ln").count() < 1500
    page.get_by_role("button", name=re.compile("show more")).first.click()


def test_any_document_is_translated_to_all_dialects_with_reasons(watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#translate")
    for sample, words in (("answer", "openai-chat answer"), ("stream", "gemini stream"), ("tools", "anthropic tools")):
        page.get_by_role("button", name=sample, exact=True).click()
        page.wait_for_selector(f".reasons:has-text('{words}')")
        assert page.locator(".target").count() == 7
    page.get_by_role("textbox", name="document").fill('{"contents": [{"parts": [{"text": "hi"}]}],\n "x": }')
    page.wait_for_selector(".reasons .error")
    assert "line 2, column 7" in page.locator(".reasons").inner_text()
    page.get_by_role("textbox", name="document").fill('{"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}')
    page.wait_for_selector(".reasons:has-text('gemini request')")
    assert "because of contents[], contents[].parts" in page.locator(".reasons").inner_text()
    page.locator(".target", has_text="ollama").click()
    assert page.locator(".target", has_text="ollama").get_attribute("aria-pressed") == "true"
    assert '"messages"' in page.locator(".side").nth(1).inner_text()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_question_can_be_sent_in_any_dialect_with_tool_results(dialect: str, watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#ask")
    page.get_by_label("dialect of the request").select_option(dialect)
    page.get_by_role("combobox", name="model").fill("claude/rehearsal/rules")
    page.get_by_label("count_letters").check()
    page.get_by_label("question").fill("count_letters word: strawberry, letter: r")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn.assistant:nth-of-type(3) button:has-text('wire')")
    assert page.locator(".part.call").count() == 1
    assert page.locator(".part.result").inner_text().endswith("3")
    assert "count_letters answered: 3" in page.locator(".turn.assistant").last.inner_text()
    page.locator(".turn.assistant").last.get_by_role("button", name="wire").click()
    page.locator(".beside article").wait_for()
    assert f"client{dialect}" in page.locator(".beside dl.inline").inner_text().replace("\n", "")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_every_example_question_leads_to_a_call(number: int, watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#ask")
    page.locator(".ideas button").nth(number).click()
    page.locator(".part.call").wait_for()
    assert not page.locator(".ideas").is_visible()
    page.get_by_role("button", name="New conversation").click()
    assert page.locator(".ideas").is_visible()


def test_a_question_that_fails_shows_why(watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#ask")
    page.get_by_role("combobox", name="model").fill("nobody/knows")
    page.get_by_label("question").fill("Hello")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn .error")
    assert "nobody/knows" in page.locator(".turn .error").inner_text()


def test_every_cell_of_the_matrix_is_explained(watched: Watched, base: str) -> None:
    page = watched.open(f"{base}/#matrix")
    page.wait_for_selector(".matrix")
    assert page.locator(".matrix td").count() == 49
    page.get_by_label("feature", exact=True).select_option("image link")
    page.get_by_label("openai-chat to ollama").click()
    assert "is lost" in page.locator(".page:visible .box h2").inner_text()
    assert "media.dropped" in page.locator(".page:visible .box").inner_text()


def test_copied_commands_work(watched: Watched, base: str, tmp_path: Path) -> None:
    page = live(watched, base)
    words = """quotes ' and " and ünïcode \U0001f600"""
    _, exchange = ask(base, *chat("google/rehearsal/rules", words, seed=7))
    made = page.evaluate(
        """async id => {
          const {asCase, asCurl, asPython} = await import("/dragoman/page/snippets.js");
          const one = await (await fetch(`/dragoman/exchanges/${id}`)).json();
          return [asCase(one), asCurl(one), asPython(one)];
        }""",
        exchange,
    )
    case, curl, python = made
    schema = json.loads((Path(__file__).parents[2] / "conformance/schema.json").read_text(encoding="utf-8"))
    one = {"$ref": "#/$defs/case", "$defs": schema["$defs"]}
    assert [error.message for error in jsonschema_rs.validator_for(one).iter_errors(json.loads(case))] == []
    answers = [subprocess.run([sys.executable, "-c", python], capture_output=True, text=True, timeout=30, check=True)]
    if shutil.which("curl"):
        answers.append(subprocess.run(["bash", "-c", curl], capture_output=True, text=True, timeout=30, check=True))
    for answer in answers:
        assert words in json.loads(answer.stdout)["choices"][0]["message"]["content"]


def test_the_keyboard_moves_through_the_exchanges(watched: Watched, base: str) -> None:
    sent = [ask(base, *chat("rehearsal/rules", f"number {number}"))[1] for number in range(2)]
    page = live(watched, base)
    row_of(page, sent[1]).wait_for()
    page.keyboard.press("j")
    page.wait_for_url(f"**/#live/{sent[1]}")
    page.keyboard.press("j")
    page.wait_for_url(f"**/#live/{sent[0]}")
    page.keyboard.press("Escape")
    page.wait_for_url("**/#live")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    page.wait_for_url("**/#translate")


def test_the_key_is_kept_in_memory_only(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR_KEYS", "sesame,tulip")
    with served('[listen]\nkey_env = "DOOR_KEYS"\n', tmp_path) as base:
        watched = Watched(browser)
        page = watched.open(f"{base}/")
        page.get_by_label("This gateway needs a key").fill("simsim")
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector("#refused:has-text('not one of')")
        assert not page.locator("#views").is_visible()
        page.get_by_label("This gateway needs a key").fill("sesame")
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector(".pill.on")
        _, own_exchange = ask(base, *chat("rehearsal/rules", "mine"), headers={"authorization": "Bearer sesame"})
        _, other = ask(base, *chat("rehearsal/rules", "not mine"), headers={"authorization": "Bearer tulip"})
        _, last = ask(base, *chat("rehearsal/rules", "mine again"), headers={"authorization": "Bearer sesame"})
        row_of(page, last).wait_for()
        assert row_of(page, own_exchange).count() == 1
        assert row_of(page, other).count() == 0
        assert page.locator("#sees").inner_text() == "your own exchanges"
        kept = page.evaluate("[Object.keys(localStorage), Object.keys(sessionStorage), document.cookie, location.href]")
        assert kept == [[], [], "", f"{base}/"]
        assert [address for address in watched.asked if "sesame" in address] == []
        page.reload()
        page.wait_for_selector("#door:visible")
        watched.close()
        assert watched.problems == []


def test_the_page_shows_the_end_of_the_gateway_and_reconnects(browser: Browser, tmp_path: Path) -> None:
    watched = Watched(browser)
    with served("", tmp_path) as base:
        page = watched.open(f"{base}/")
        page.wait_for_selector(".pill.on")
    page.wait_for_selector("#state:has-text('Is it still running?')")
    with served("", tmp_path, "--port", base.rpartition(":")[2]) as restarted:
        assert restarted == base
        _, exchange = ask(base, *chat("rehearsal/rules", "before the page is back"))
        page.wait_for_selector(".pill.on", timeout=30_000)
        row_of(page, exchange).wait_for()
    watched.close()


def test_on_a_phone_nothing_is_wider_than_the_screen(browser: Browser, base: str) -> None:
    watched = Watched(browser, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = live(watched, base)
    _, exchange = ask(base, *claude("google/rehearsal/rules", CYCLE, stream=True))
    row_of(page, exchange).click()
    page.locator(".beside article").wait_for()
    assert not page.locator(".rows").is_visible()
    page.get_by_role("tab", name="Wire").click()
    for view in ("live", f"live/{exchange}", "ask", "translate", "matrix", "numbers"):
        page.goto(f"{base}/#{view}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view
    watched.close()
    assert watched.problems == []
