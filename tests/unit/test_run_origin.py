"""The options of a playground's run origin."""

from __future__ import annotations

import pytest

from docs.generate.run_origin import RunOrigin, parse_run_origin


def test_a_run_origin() -> None:
    assert parse_run_origin("https://*.run.example", "https://play.example") == RunOrigin(
        "https://*.run.example", "https://play.example"
    )
    assert parse_run_origin("http://*.localhost:81", "http://127.0.0.1").pattern == "http://*.localhost:81"


@pytest.mark.parametrize(
    ("pattern", "site"),
    [
        ("https://*.run.example", None),
        ("https://run.example", "https://play.example"),
        ("https://a.*.example", "https://play.example"),
        ("http://*.run.example", "https://play.example"),
        ("https://*.play.example", "https://play.example"),
        ("https://*.example", "https://play.example"),
        ("https://*.run.example/x", "https://play.example"),
    ],
)
def test_what_is_no_run_origin(pattern: str, site: str | None) -> None:
    with pytest.raises(ValueError, match=r"--run-origin|run\.example"):
        parse_run_origin(pattern, site)
