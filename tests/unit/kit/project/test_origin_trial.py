"""Tokens of origin trials: read, and where they do not count."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.assembly.build_warnings import trial_warnings
from mcpframe.kit.project.origin_trial import read_token, token_problems
from mcpframe.kit.project.pyproject import read_config
from mcpframe.kit.publish.bundle_checks.agents import agents_that_see, check_trials
from mcpframe.kit.static_hosts.headers_file import headers_for, parse
from mcpframe.kit.static_hosts.known import host_files
from tests.support.trial_tokens import trial_token

ORIGIN = "https://tools.example"
NOW = datetime(2026, 11, 28, tzinfo=UTC)


def test_what_a_token_says() -> None:
    text = trial_token(f"{ORIGIN}:443", expiry=1_800_000_000, isSubdomain=True)
    token = read_token(text)
    assert (token.text, token.origin, token.feature) == (text, ORIGIN, "WebMCP")
    assert (f"{token.expires:%Y-%m-%d}", token.subdomains, token.third_party) == ("2027-01-15", True, False)
    assert read_token(trial_token("http://localhost:8000", version=2)).origin == "http://localhost:8000"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a token",
        trial_token(ORIGIN)[:-4],
        trial_token(ORIGIN)[4:],
        trial_token(ORIGIN, version=4),
        trial_token("tools.example"),
        trial_token(ORIGIN, feature=3),  # type: ignore[arg-type]
        base64.b64encode(bytes([3]) + bytes(64) + (2).to_bytes(4) + b"[]").decode(),
        base64.b64encode(bytes([3]) + bytes(64) + (3).to_bytes(4) + b"\xff{}").decode(),
        trial_token(ORIGIN, expiry=2**31),
        trial_token(ORIGIN, more="x" * 5000),
    ],
)
def test_what_is_no_token(text: str) -> None:
    with pytest.raises(ConfigError, match=r"origin_trials.*token"):
        read_config({"origin_trials": [text]}, "pyproject.toml")


@pytest.mark.parametrize(
    ("token", "origin", "problem"),
    [
        (trial_token(ORIGIN), ORIGIN, None),
        (trial_token(ORIGIN), None, None),
        (trial_token(ORIGIN, isSubdomain=True), "https://a.tools.example", None),
        (trial_token(ORIGIN), "https://a.tools.example", "is for https://tools.example, not for"),
        (trial_token(ORIGIN, isSubdomain=True), "https://eviltools.example", "is for"),
        (trial_token(ORIGIN, isSubdomain=True), "http://a.tools.example", "is for"),
        (trial_token(ORIGIN, expiry=1_700_000_000), ORIGIN, "has ended on 2023-11-14"),
        (trial_token(ORIGIN, isThirdParty=True), ORIGIN, "is a third party's"),
    ],
)
def test_where_a_token_counts(token: str, origin: str | None, problem: str | None) -> None:
    found = token_problems(read_token(token), NOW, origin)
    assert (len(found), problem in found[0] if problem and found else None) == (bool(problem), problem and True)


def test_the_build_warns_by_the_public_address() -> None:
    table = {"origin_trials": [trial_token(ORIGIN)], "url": f"{ORIGIN}/forecast/"}
    assert trial_warnings(read_config(table, "pyproject.toml")) == []
    [warning] = trial_warnings(read_config({**table, "url": "https://other.example/"}, "pyproject.toml"))
    assert "not for https://other.example" in warning


def test_every_host_with_headers_sends_the_tokens() -> None:
    tokens = [trial_token(ORIGIN), trial_token(ORIGIN, "Other")]
    files = host_files({"pi": "default-src 'none'", "e": "default-src 'none'"}, {"pi": tokens})
    assert [name for name, data in files.items() if ", ".join(tokens) not in data.decode()] == [".nojekyll"]
    rules = parse(files["_headers"].decode())
    assert headers_for("/pi/", rules)["origin-trial"] == ", ".join(tokens)
    assert "origin-trial" not in headers_for("/e/", rules)


def test_check_says_which_agents_see_the_tools() -> None:
    manifest = {"kind": "server", "dialects": ["sep", "webmcp"], "origin_trials": [trial_token(ORIGIN)]}
    assert agents_that_see(manifest, ORIGIN, NOW).startswith("those of Chrome see the tools until 2036")
    assert list(check_trials(manifest, ORIGIN, NOW)) == []
    assert "its token does not count here" in agents_that_see(manifest, "https://other.example", NOW)
    [finding] = check_trials(manifest, "https://other.example", NOW)
    assert (finding.severity, finding.subject) == ("warning", "origin trial")
    assert f"is for {ORIGIN}, not for https://other.example, so" in finding.message
    assert list(check_trials(manifest, None, NOW)) == [], "it is not published yet"
    assert "it has no token" in agents_that_see({**manifest, "origin_trials": []}, ORIGIN, NOW)
    strange = {**manifest, "origin_trials": ["", 5, None, "é", "AA=="]}
    assert "it has no token" in agents_that_see(strange, ORIGIN, NOW)
    assert ["not a token" in each.message for each in check_trials(strange, ORIGIN, NOW)] == [True]
    other = {**manifest, "origin_trials": [trial_token(ORIGIN, "Other")]}
    assert "it has no token" in agents_that_see(other, ORIGIN, NOW)
    assert agents_that_see({**manifest, "dialects": ["sep"]}, ORIGIN, NOW) == ""
    assert agents_that_see({**manifest, "kind": "page"}, ORIGIN, NOW) == ""
    assert "of https only" in agents_that_see(manifest, "http://tools.example", NOW)
    assert "origin_trials" in agents_that_see({**manifest, "origin_trials": []}, "http://localhost:8000", NOW)
