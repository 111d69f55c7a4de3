"""The output and the exit status of `mcpframe check --views`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.cli.building import check
from mcpframe.kit.cli.main import main
from mcpframe.kit.publish.view_checks import run
from mcpframe.kit.publish.view_checks.run import Row, ViewReport

DRAWS = Row("a", "A host", "draws", painted=61.4, initialized=300.0, drawn=402.6)
TEXT = Row("b", "Another [host]", "text", painted=58.0, drawn=97.0, violations=("frame-src https://tools.example",))
BLANK = Row("c", "A third", "blank")
ERROR = Row("d", "A fourth", "text", error_page=True)
CUT = Row("e", "A fifth", "draws", hidden=269)


@pytest.mark.parametrize(
    ("rows", "code"),
    [((DRAWS, TEXT), 0), ((DRAWS, BLANK), 1), ((ERROR,), 1), ((CUT,), 1)],
    ids=["fine", "blank", "error page", "cut off"],
)
def test_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rows: tuple[Row, ...], code: int
) -> None:
    @contextmanager
    def served(word: str, **_: Any) -> Iterator[list[tuple[str, Path | None]]]:
        yield [("https://tools.example/a/", None)]

    def shown(url: str, bundle: Path | None, *, server: list[str], **_: Any) -> ViewReport:
        assert server == ["python", "my server.py"]
        return ViewReport(url, "ask", {"place": "Sample"}, "It is destructive.", rows)

    monkeypatch.setattr(check, "served_bundles", served)
    monkeypatch.setattr(run, "check_url_views", shown)
    for more in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["mcpframe", "check", "--views", "--server", "python 'my server.py'", *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == code
        out = capsys.readouterr().out
        if more:
            [report] = json.loads(out)
            assert report["tool"] == "ask"
            assert [row["outcome"] for row in report["rows"]] == [row.outcome for row in rows]
            continue
        assert 'ask({"place": "Sample"})' in out
        assert "It is destructive." in out
        for row in rows:
            line = next(line for line in out.splitlines() if line.strip().startswith(row.title))
            assert {"draws": "draws", "text": "text form", "blank": "blank"}[row.outcome] in line
            assert ("error page" in line) is row.error_page
            assert ("269 px hidden" in line) is (row is CUT)
            assert ("403 ms" in line) is (row.drawn == 402.6)
            for violation in row.violations:
                assert f"{row.title} refuses {violation}" in out


@pytest.mark.parametrize("options", [["--server", "python server.py"], ["--views", "--server", "'"]])
def test_a_server_without_views_or_of_no_words(monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["mcpframe", "check", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
