"""The report of `mcpframe check`: what the same hand can mend stands together."""

from __future__ import annotations

import pytest

from mcpframe.kit.cli.building.check import _print
from mcpframe.kit.publish.bundle_checks import Report
from mcpframe.kit.publish.bundle_checks.findings import HEADERS, error, warning


def test_headers_that_a_static_host_does_not_send_are_one_group(capsys: pytest.CaptureFixture[str]) -> None:
    files = [warning(f"{number}.js", "Asked for again.", f"Send it: {HEADERS}.") for number in range(30)]
    others = [warning(f"{number}.js", "Not readable.", f"Set that: {HEADERS}.") for number in range(10)]
    rest = [warning("allowed_origins", "Any page.", "Name the hosts."), error("csp", "No Python.", f"Add: {HEADERS}.")]
    _print(Report("https://a.example/", (*files, *others, *rest)))
    lines = capsys.readouterr().out.splitlines()
    group = lines.index(f"What your web server's headers would mend ({HEADERS})")
    assert [line.split(":")[0] for line in lines[1:group]] == ["warning", "  mend it", "error", "  mend it"]
    assert lines[group + 1 : group + 3] == [
        "warning: 0.js and 29 more: Asked for again.",
        "warning: 0.js and 9 more: Not readable.",
    ]
    assert "GitHub Pages" in lines[group + 3]
    assert lines[-1] == "1 error, 3 warnings"
