"""Links and addresses of pages have one reading: what Python takes of them is what browsers read."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.frame.core.places import parse_address
from mcpframe.frame.hosting.policy import parse_link
from mcpframe.kit.base.node import find_node
from mcpframe.views.html import url_origin
from tests.vectors.cases import VECTORS

ROWS: list[dict[str, Any]] = json.loads((VECTORS / "addresses.json").read_text("utf-8"))["addresses"]
IN_NODE = VECTORS / "addresses_in_node.mjs"


def browser_readings(texts: list[str], folder: Path) -> list[dict[str, str] | None]:
    """Return what browsers read of each text: `href` and `origin`; None for no address."""
    given, written = folder / "texts.json", folder / "readings.json"
    given.write_text(json.dumps(texts))
    find_node().run(str(IN_NODE), str(given), str(written), timeout=120)
    readings: list[dict[str, str] | None] = json.loads(written.read_text("utf-8"))
    return readings


def taken(function: Any, text: str) -> Any:
    try:
        return function(text)
    except ValueError:
        return None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row["text"]))
def test_python_takes_what_has_one_reading(row: dict[str, Any]) -> None:
    text, link = row["text"], row["link"]
    assert taken(parse_link, text) == link
    if link is not None and link.startswith("http"):
        assert parse_address(text)[1] == row["origin"]
        assert parse_origin(row["origin"]) == row["origin"]
    for read in (parse_address, url_origin):
        address = taken(read, text)
        assert address is None or (address if isinstance(address, str) else address[1]) == row["origin"]


def test_browsers_read_each_as_the_table_says(tmp_path: Path) -> None:
    readings = browser_readings([row["text"] for row in ROWS], tmp_path)
    assert [reading and reading["origin"] for reading in readings] == [row["origin"] for row in ROWS]
    links = [row for row in ROWS if row["link"] is not None]
    assert browser_readings([row["link"] for row in links], tmp_path) == browser_readings(
        [row["text"] for row in links], tmp_path
    )


def test_whatever_python_takes_of_drawn_texts_browsers_read_alike(tmp_path: Path) -> None:
    draw = random.Random(21)
    parts = [*"aA1.:/@?#[]%\\-_ \t", "https://", "http:", "xn--", "%61", ":80", ":443", "::1", "127.", "0x7f", "é", "ß"]
    parts += ["\u3002", "\uff0e", "\u200b", "\u202e", "\u212a", "\u2460", "\u0661", "\u00ad", ".com", "com", "//"]
    texts = ["https://" * draw.randint(0, 1) + "".join(draw.choices(parts, k=draw.randint(1, 8))) for _ in range(6000)]
    for read in (parse_link, lambda text: parse_address(text)[0]):
        pairs = [(text, link) for text in texts if (link := taken(read, text)) is not None]
        assert len(pairs) > 100
        given = browser_readings([text for text, _ in pairs], tmp_path)
        assert given == browser_readings([link for _, link in pairs], tmp_path)
        for (text, link), reading in zip(pairs, given, strict=True):
            assert reading is None or reading["origin"] == parse_address(link)[1], (text, link)
