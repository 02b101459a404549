"""The session calls of Code Assist. The gateway answers them, or sends them to an upstream of Code Assist."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.gateway.config import Config, Route, Target, Upstream
from dragoman.gateway.http.server import IncomingRequest

from ..gateway_and_upstreams import Received, Scripted, ask, through

METADATA = {"ideType": "IDE_UNSPECIFIED", "platform": "PLATFORM_UNSPECIFIED", "pluginType": "GEMINI"}
BEARER = {"authorization": "Bearer ya29.token"}


def rehearsing(places: list[str]) -> Config:
    return Config()


def call(base: str, verb: str, body: Any = None, method: str = "POST") -> Received:
    return ask(base, method, f"/v1internal{verb}", body if body is not None or method == "GET" else {}, BEARER)


def test_a_session_begins_without_an_upstream() -> None:
    def use(base: str) -> None:
        loaded = call(base, ":loadCodeAssist", {"metadata": METADATA}).json()
        assert loaded["currentTier"]["id"] == "standard-tier"
        assert loaded["cloudaicompanionProject"] == "dragoman"
        assert "ineligibleTiers" not in loaded
        own = call(base, ":loadCodeAssist", {"cloudaicompanionProject": "mine", "metadata": METADATA}).json()
        assert own["cloudaicompanionProject"] == "mine"
        onboarded = call(base, ":onboardUser", {"tierId": "free-tier", "metadata": METADATA}).json()
        assert onboarded["done"] is True
        assert onboarded["response"]["cloudaicompanionProject"]["id"] == "dragoman"
        assert call(base, f"/{onboarded['name']}", method="GET").json()["done"] is True
        assert call(base, ":listExperiments", {"project": "dragoman", "metadata": METADATA}).json() == {
            "experimentIds": [],
            "flags": [],
        }
        assert call(base, ":fetchAdminControls", {"project": "p"}).json() == {"adminControlsApplicable": False}
        assert call(base, ":recordCodeAssistMetrics", {"project": "p", "metrics": []}).json() == {}
        setting = call(base, ":getCodeAssistGlobalUserSetting", method="GET").json()
        assert setting["freeTierDataCollectionOptin"] is False

    through(use, rehearsing)


def test_the_quota_names_the_models_that_are_served() -> None:
    def config(places: list[str]) -> Config:
        upstream = Upstream("gemini", "http://127.0.0.1:9", list_models=False)
        routes = (Route("gemini-2.5-*", (Target("g"),)), Route("mine", (Target("g", "gemini-3"),)))
        return Config(upstreams={"g": upstream}, routes=routes)

    def use(base: str) -> list[str]:
        buckets = call(base, ":retrieveUserQuota", {"project": "p"}).json()["buckets"]
        assert {bucket["remainingFraction"] for bucket in buckets} == {1}
        return [bucket["modelId"] for bucket in buckets]

    assert through(use, config) == ["gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-2.5-flash", "mine"]


def test_an_unknown_or_broken_call_is_a_fault_in_the_form_of_code_assist() -> None:
    received = through(lambda base: call(base, ":makeCoffee"), rehearsing)
    assert received.status == 404
    assert received.json()["error"]["status"] == "NOT_FOUND"
    broken = through(lambda base: ask(base, "POST", "/v1internal:loadCodeAssist", b"{"), rehearsing)
    assert broken.status == 400
    assert broken.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("auth", ["client", "bearer"])
def test_a_session_call_goes_to_an_upstream_that_is_code_assist(auth: Any) -> None:
    def answers(request: IncomingRequest) -> tuple[int, list[tuple[str, str]], bytes]:
        return 200, [], b'{"currentTier":{"id":"free-tier"},"cloudaicompanionProject":"theirs"}'

    upstream = Scripted(answers)

    def config(places: list[str]) -> Config:
        return Config(upstreams={"ca": Upstream("code-assist", places[0], "TOKEN" if auth == "bearer" else "", auth)})

    body = {"metadata": METADATA}
    received = through(lambda base: call(base, ":loadCodeAssist", body), config, upstream, environment={"TOKEN": "t"})
    assert received.json()["cloudaicompanionProject"] == "theirs"
    assert upstream.seen[0].path == "/v1internal:loadCodeAssist"
    assert upstream.bodies() == [body]
    assert upstream.seen[0].headers["authorization"] == ("Bearer ya29.token" if auth == "client" else "Bearer t")


def test_an_unreachable_upstream_is_a_fault() -> None:
    def config(places: list[str]) -> Config:
        return Config(upstreams={"ca": Upstream("code-assist", "http://127.0.0.1:9", auth="client")})

    received = through(lambda base: call(base, ":loadCodeAssist"), config)
    assert received.status in (502, 503)
    assert "no connection" in received.json()["error"]["message"]
