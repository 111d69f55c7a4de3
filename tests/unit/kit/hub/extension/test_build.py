"""Input that the build of the extension accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcpframe.frame.core.errors import OriginError
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.hub.extension.build import build_extension, match_patterns


def test_an_origin_is_a_match_pattern() -> None:
    assert match_patterns("https://shop.example") == ["https://shop.example/*"]
    assert match_patterns("http://localhost:8080") == ["http://localhost:8080/*"]
    assert match_patterns("*") == ["http://*/*", "https://*/*"]


def test_a_folder_of_others_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(BuildError):
        build_extension(tmp_path)
    with pytest.raises(OriginError):
        build_extension(tmp_path / "new", sites=["shop.example"])
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_popup_has_the_colours_of_mcpframes_other_pages() -> None:
    def colours(path: str) -> dict[str, str]:
        return dict(re.findall(r"(--[a-z]+): (light-dark\(.*\));", (static_dir() / path).read_text("utf-8")))

    popup, pages = colours("extension/popup.css"), colours("page/frame.css")
    assert pages
    assert {name: popup.get(name) for name in pages} == pages
