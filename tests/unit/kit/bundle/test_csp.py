"""The policy of a page."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.assembly.csp import header_policy, page_policy
from mcpframe.kit.project.pyproject import CspConfig


def directives(policy: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in policy.split(";"))}


def test_a_page_may_do_nothing_that_is_not_listed() -> None:
    found = directives(page_policy(CspConfig()))
    assert found["default-src"] == ["'none'"]
    assert found["script-src"] == ["'self'", "'wasm-unsafe-eval'"]
    assert found["connect-src"] == ["'self'"]
    assert found["style-src"] == ["'self'"]
    assert found["base-uri"] == found["form-action"] == found["frame-src"] == found["worker-src"] == ["'none'"]
    assert "'unsafe-inline'" not in page_policy(CspConfig())


def test_workers_come_from_blobs_so_that_they_have_the_policy_of_their_page() -> None:
    assert directives(page_policy(CspConfig(), worker=True))["worker-src"] == ["blob:"]


def test_a_public_address_is_named_beside_the_page_itself() -> None:
    found = directives(page_policy(CspConfig(), url="https://tools.example/a/", frames=True))
    for name in ("script-src", "style-src", "connect-src", "img-src", "font-src", "media-src"):
        assert found[name][:2] == ["'self'", "https://tools.example"], name
    assert found["frame-src"] == ["'self'"]


def test_where_the_sandbox_of_views_may_be() -> None:
    assert directives(page_policy(CspConfig(), sandbox="self"))["frame-src"] == ["'self'"]
    found = directives(page_policy(CspConfig(), sandbox="https://sandbox.example"))["frame-src"]
    assert found == ["https://sandbox.example", "http://localhost:*", "http://127.0.0.1:*"]


def test_the_authors_list_is_added() -> None:
    csp = CspConfig(connect_src=["https://api.example"], frame_src=["https://f.example"], unsafe_eval=True)
    found = directives(page_policy(csp))
    assert found["connect-src"] == ["'self'", "https://api.example"]
    assert found["frame-src"] == ["https://f.example"]
    assert "'unsafe-eval'" in found["script-src"]


@pytest.mark.parametrize(
    ("origins", "opaque", "ancestors"),
    [
        (["https://b.example", "https://a.example"], False, ["'self'", "https://a.example", "https://b.example"]),
        (["*"], False, None),  # which would match no scheme of an editor on the desktop
        # Nothing matches an ancestor of opaque origin: tests/browser/test_view_text.py would notice.
        (["https://a.example"], True, None),
        (["null"], True, None),
        (["*", "null"], False, None),
    ],
)
def test_who_may_frame_a_page(origins: list[str], opaque: bool, ancestors: list[str] | None) -> None:
    made = directives(header_policy("default-src 'none'", origins, opaque=opaque))
    assert made.get("frame-ancestors") == ancestors
