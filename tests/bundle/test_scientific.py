"""Servers with the real files of numpy, pandas, matplotlib and others start from a snapshot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from mcpframe.kit.bundle.output_root import BuildResult
from tests.bundle.conftest import write_project
from tests.bundle.served_pages import Serving, call
from tests.support.built import built
from tests.support.scientific import scientific_packages

IMPORTED = "starts from a snapshot with the server imported"
PACKAGES = ("numpy", "pandas", "matplotlib", "scipy", "sklearn", "packages")
"""Archives of packages, by how their names begin."""

SECOND_AT_START = """() => {
    const [{ startTime }] = performance.getEntriesByName("mcpframe:libraries");
    const early = performance.getEntriesByType("mark").filter((mark) => mark.startTime < startTime);
    return early.map(({ name }) => name).filter((name) => name.includes("second file"));
}"""
"""Returns the second WebAssembly files that a page has fetched before its server began."""

LIBRARY = '''
{imports}

from mcpframe import FrameServer

server = FrameServer("library", allowed_origins=["*"])


@server.tool()
def use() -> str:
    """Uses the library."""
    return str({use})
'''


def answer(text: str) -> Any:
    return json.loads(text)["structuredContent"]["result"]


def fetched_for(page: Page) -> list[str]:
    """Return the names that Python looked up in archives that the snapshot makes unnecessary."""
    marks: list[str] = page.frames[1].evaluate("performance.getEntriesByType('mark').map(({ name }) => name)")
    return [name for name in marks if "files for" in name]


def built_scientific(project: Path | str) -> tuple[Path, BuildResult]:
    folder = str(scientific_packages())
    root, result = built(project, distribution=folder, allowed_origins=["*"], snapshot=True)
    assert result.manifest["start"] == IMPORTED
    return root, result


def test_numpy_pandas_and_matplotlib_start_from_a_snapshot(page: Page, host: str, serving: Serving) -> None:
    root, result = built_scientific("scientific")
    assert result.manifest["snapshot"]["layers"] == ["packages", "server"]
    assert result.sizes["own"] < 300_000
    url = f"{serving(root)}/scientific/"
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    arguments = json.dumps({"matrix": [[2.0, 0.0], [0.0, 4.0]], "right": [2.0, 2.0]})
    assert answer(call(page, host, url, "solve", arguments)) == [1.0, 0.5]
    assert not [name for name in fetched if name.startswith(PACKAGES) and ".zip." in name]
    assert page.frames[1].evaluate(SECOND_AT_START) == []
    described = json.loads(call(page, host, url, "describe", json.dumps({"values": [1.0, 2.0, 3.0]})))
    assert described["structuredContent"]["mean"] == 2.0
    assert fetched_for(page) == []
    drawn = [answer(call(page, host, url, "draw")) for _ in range(2)]
    assert drawn[0] != drawn[1]
    assert answer(call(page, host, url, "plot", json.dumps({"values": [1.0, 3.0, 2.0]}))) == "Agg PNG"
    picture, note = json.loads(call(page, host, url, "titled", json.dumps({"title": "日本"})))["content"]
    assert picture["mimeType"] == "image/png"
    assert "boxes in place of 日, 本" in note["text"]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("requirement", "imports", "use", "expected"),
    [
        ("scipy", "from scipy import linalg, optimize, stats", "linalg.det([[1.0, 2.0], [3.0, 4.0]])", "-2.0"),
        (
            "scikit-learn",
            (
                "import tempfile\nfrom sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor\n\n"
                "FOLDER = tempfile.gettempdir()\nX, Y = [[0.0], [1.0]], [3.0, 3.0]\n"
                "MODEL = RandomForestRegressor(3, random_state=0).fit(X, Y)"
            ),
            "MODEL.predict([[0.5]]).round(6)",
            "[3.]",
        ),
        ("pillow", "from PIL import Image, ImageDraw, ImageFont", "Image.new('RGB', (2, 3)).size", "(2, 3)"),
        ("lxml", "from lxml import etree, html", "etree.fromstring('<a><b/></a>')[0].tag", "b"),
        (
            "sympy",
            "from sympy import Dummy, simplify",
            "[str(simplify('x + x')), Dummy() == Dummy()]",
            "['2*x', False]",
        ),
        ("regex", "import regex", "regex.findall('[a-z]', 'a1b')", "['a', 'b']"),
    ],
)
def test_a_library_starts_from_a_snapshot(
    page: Page, host: str, serving: Serving, tmp_path: Path, requirement: str, imports: str, use: str, expected: str
) -> None:
    server = LIBRARY.format(imports=imports, use=use)
    project = write_project(tmp_path / "project", server=server, dependencies=f'["{requirement}"]')
    root, _ = built_scientific(project)
    assert answer(call(page, host, f"{serving(root)}/adder/", "use")) == expected
    assert fetched_for(page) == []


@pytest.mark.extended
@pytest.mark.parametrize(
    ("library", "drawn"),
    [
        ("numpy", "import numpy as np\n\nTOKEN = np.random.bytes(16).hex()"),
        ("sympy", "from sympy.core import random\n\nTOKEN = random.random()"),
    ],
)
def test_what_is_drawn_from_a_library_s_generator_at_import_is_not_published(
    tmp_path: Path, library: str, drawn: str
) -> None:
    server = LIBRARY.format(imports=drawn, use="TOKEN")
    project = write_project(tmp_path / "project", server=server, dependencies=f'["{library}"]')
    folder = str(scientific_packages())
    _, result = built(project, distribution=folder, allowed_origins=["*"], snapshot=True)
    assert "server" not in result.manifest["snapshot"]["layers"]
    assert "randomness" in result.manifest["start"]


CHARTS = '''
import altair
import plotly.graph_objects as go

from mcpframe import FrameServer

server = FrameServer("charts", allowed_origins=["*"])


@server.tool()
def with_plotly() -> go.Figure:
    """Draws with plotly."""
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))


@server.tool()
def with_altair() -> altair.Chart:
    """Draws with altair."""
    data = altair.Data(values=[{"x": 1, "y": 3}, {"x": 2, "y": 4}])
    return altair.Chart(data).mark_line().encode(x="x:Q", y="y:Q")
'''


@pytest.mark.extended
def test_charts_of_plotly_and_altair_are_resources(page: Page, host: str, serving: Serving, tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", server=CHARTS, dependencies='["plotly", "altair"]')
    root, _ = built(project, allowed_origins=["*"])
    url = f"{serving(root)}/adder/"
    [plotly] = json.loads(call(page, host, url, "with_plotly"))["content"]
    [altair] = json.loads(call(page, host, url, "with_altair"))["content"]
    assert [each["resource"]["mimeType"].partition("+")[0] for each in (plotly, altair)] == [
        "application/vnd.plotly.v1",
        "application/vnd.vegalite.v6",
    ]
    assert json.loads(plotly["resource"]["text"])["data"][0]["type"] == "scatter"
    assert json.loads(altair["resource"]["text"])["mark"]["type"] == "line"
