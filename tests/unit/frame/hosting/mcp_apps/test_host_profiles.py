"""The profiles of hosts: the policy that each derives from a view's declaration, and what it writes into the view."""

from __future__ import annotations

from datetime import date
from html import unescape
from itertools import combinations

import pytest

from mcpframe.frame.hosting.mcp_apps.host_profiles import with_head
from mcpframe.hosts import HOST_PROFILES, HostProfile
from tests.support.host_profiles import allows_frames, allows_scripts, allows_wasm, directives

OWN = "https://tools.example"
CSP = {
    "resourceDomains": [OWN, "https://cdn.example"],
    "connectDomains": [OWN, "wss://live.example"],
    "frameDomains": [OWN],
    "baseUriDomains": ["https://base.example"],
}
FILES = {"script-src", "style-src", "img-src", "font-src", "media-src"}
AS_SPECIFIED = {
    "resourceDomains": FILES,
    "connectDomains": {"connect-src"},
    "frameDomains": {"frame-src"},
    "baseUriDomains": {"base-uri"},
}
WITH_WORKERS = {**AS_SPECIFIED, "resourceDomains": {*FILES, "worker-src"}}
NOWHERE: dict[str, set[str]] = {kind: set() for kind in CSP}
# The directives that a declaration of each kind reaches, in the policy of the header and in that of the meta element.
REACHES = {
    "claude": ({**WITH_WORKERS, "frameDomains": set(), "baseUriDomains": set()}, None),
    "vscode": (None, AS_SPECIFIED),
    "vscode-desktop": (None, AS_SPECIFIED),
    "chatgpt": (AS_SPECIFIED, None),
    "goose": (AS_SPECIFIED, None),
    "default": (NOWHERE, None),
    "two-policies": (WITH_WORKERS, AS_SPECIFIED),
    "no-storage": (WITH_WORKERS, None),
    "frame-per-call": (WITH_WORKERS, None),
    "opaque": (WITH_WORKERS, None),
    "inspector": (None, AS_SPECIFIED),
}
# Whether a view that declares its bundle may frame it, load its files, and compile WebAssembly.
ALLOWS = {
    "claude": (False, True, True),
    "vscode": (True, True, False),
    "vscode-desktop": (True, True, False),
    "chatgpt": (True, True, False),
    "goose": (True, True, False),
    "default": (False, False, False),
    "two-policies": (True, True, False),
    "no-storage": (True, True, True),
    "frame-per-call": (True, True, True),
    "opaque": (True, True, True),
    "inspector": (True, True, False),
}


def test_every_profile_is_in_the_tables_and_says_where_it_is_from() -> None:
    assert list(HOST_PROFILES) == list(REACHES) == list(ALLOWS)
    for name, profile in HOST_PROFILES.items():
        assert profile.name == name
        assert profile.title
        assert profile.header or profile.meta
        assert profile.sources
        assert all(source.startswith("https://") for source in profile.sources)
        assert date(2026, 11, 1) <= profile.read_on


@pytest.mark.parametrize("name", REACHES)
@pytest.mark.parametrize("count", range(len(CSP) + 1))
def test_a_declaration_reaches_its_directives_and_no_others(name: str, count: int) -> None:
    for kinds in combinations(CSP, count):
        mark = {kind: f"https://{kind.lower()}.example" for kind in kinds}
        policies = HOST_PROFILES[name].policies({kind: [source] for kind, source in mark.items()})
        for policy, reaches in zip(policies, REACHES[name], strict=True):
            assert bool(policy) is (reaches is not None)
            read = directives(policy)
            for kind, source in mark.items():
                assert {each for each, sources in read.items() if source in sources} == (reaches or {}).get(kind, set())


@pytest.mark.parametrize("name", ALLOWS)
def test_what_a_view_may_do(name: str) -> None:
    profile, (frames, files, wasm) = HOST_PROFILES[name], ALLOWS[name]
    assert allows_frames(profile, CSP, OWN) is frames
    assert allows_scripts(profile, CSP, OWN) is files
    assert allows_wasm(profile, CSP) is wasm
    for csp in (None, {}, {"wasmUnsafeEval": True}):
        assert not allows_frames(profile, csp, OWN)
        assert not allows_scripts(profile, csp, OWN)
        assert allows_wasm(profile, csp) is wasm


@pytest.mark.parametrize("profile", HOST_PROFILES.values(), ids=HOST_PROFILES)
def test_scripts_and_styles_in_the_text_are_allowed_everywhere_and_no_domain_ends_a_directive(
    profile: HostProfile,
) -> None:
    evil = ["https://x; script-src *", "https://x, https://y", "'unsafe-eval'", "https://x\n", 7, None]
    for policy in filter(None, profile.policies({"frameDomains": evil, "resourceDomains": evil})):
        assert policy in profile.policies({})
        read = directives(policy)
        assert "'unsafe-inline'" in read["script-src"]
        assert "'unsafe-inline'" in read["style-src"]


def test_only_claude_takes_https_alone_and_scheme_and_all() -> None:
    csp = {"connectDomains": ["http://localhost:8000", "blob:", "tools.example", "https://tools.example"]}
    for name, profile in HOST_PROFILES.items():
        found = [source for policy in profile.policies(csp) for source in directives(policy).get("connect-src", [])]
        declared = [source for source in csp["connectDomains"] if source in found]
        expected = {"claude": ["https://tools.example"], "default": []}.get(name, csp["connectDomains"])
        assert declared == expected


def test_the_documents_of_vs_code_begin_with_its_policy_and_its_parent() -> None:
    profile = HOST_PROFILES["vscode"]
    text = profile.document("<!doctype html><html><head><title>A view</title></head></html>", CSP)
    head, _, rest = text.partition("<title>")
    start, _, content = head.partition('<head><meta http-equiv="Content-Security-Policy" content="')
    policy, _, script = content.partition('"><script>')
    assert start == "<!doctype html><html>"
    assert unescape(policy) == profile.policies(CSP)[1]
    assert "window.parent =" in script
    assert rest == "A view</title></head></html>"
    assert HOST_PROFILES["claude"].document("<p>", CSP) == "<p>"


def test_the_official_inspector_writes_a_text_into_a_body() -> None:
    text = HOST_PROFILES["inspector"].document("<!doctype html><html><head><p>", CSP)
    start = '<!doctype html><html><head><meta http-equiv="Content-Security-Policy"'
    assert text.startswith(start)
    assert text.endswith("</head><body><!doctype html><html><head><p></body></html>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<head><p>", "<head>X<p>"),
        ('<HEAD lang="en"><p>', '<HEAD lang="en">X<p>'),
        ("<html><body><header>", "<html>X<body><header>"),
        ("<!doctype html><p>", "<!doctype html>X<p>"),
        ("<p>", "X<p>"),
    ],
)
def test_the_start_of_a_head(html: str, expected: str) -> None:
    assert with_head(html, "X") == expected
    assert with_head(html, "") == html
