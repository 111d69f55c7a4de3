"""The template data-analyst, end to end, with the real files of pandas and matplotlib: a person drops a file."""

import base64
import shutil
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
from playwright.async_api import BrowserContext

from mcpframe import Options, OuterFrame
from mcpframe.kit.base.data import templates_dir
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import BundleOf, Origins
from tests.browser.dropping import drop
from tests.browser.hosts import PythonHost
from tests.support.scientific import scientific_packages

pytestmark = pytest.mark.extended  # compiles the whole of pandas and matplotlib
REFUSED_BY_THE_POLICY = """() => new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
    fetch("https://elsewhere.example/").then(() => resolve("sent"), () => {});
})"""
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def address(bundle_of: BundleOf, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the server, at a name of the host's site: only there files are dropped by a driver."""
    project = tmp_path_factory.mktemp("projects") / "data-analyst"
    shutil.copytree(templates_dir() / project.name, project, ignore=shutil.ignore_patterns("mcpframe.lock", "tests"))
    packages = str(scientific_packages())
    return bundle_of(project, at="neighbour.host", distribution=packages).url


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same sales as CSV and Excel, and a SQLite file of cities."""
    sales, book, cities = (tmp_path / name for name in ("sales.csv", "book.xlsx", "cities.db"))
    sales.write_text("city;month;amount\nOslo;1;3.5\nRome;1;4\nOslo;2;5\n")
    pd.read_csv(sales, sep=";").to_excel(book, index=False)
    database = sqlite3.connect(cities)
    database.execute("CREATE TABLE people AS SELECT 'Oslo' AS city, 709000 AS number")
    database.commit()
    database.close()
    return [sales, book, cities]


async def test_files_are_dropped_and_analysed(
    context: BrowserContext, origins: Origins, address: str, files: list[Path]
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/template.html")
    host = PythonHost(page, address)
    host.outer = OuterFrame(address, visibility="required", options=Options(handshake_timeout=BOOT_PATIENCE))
    async with host.connect() as server:
        assert "drop" in (await server.call("describe"))["content"][0]["text"]
        await drop(server.frame, "#drop", *files[:2])
        await server.frame.wait_for_selector("#tables li:nth-child(2) >> text=3 rows")
        await server.frame.set_input_files("#file", files[2])
        await server.frame.wait_for_selector("#tables li:nth-child(3) >> text=people")

        rows = (await server.ok("describe"))["structuredContent"]["rows"]
        assert {row[0] for row in rows} == {"sales", "book", "people"}
        answer = await server.ok("query", expression="sales.groupby('city').amount.sum()")
        assert answer["structuredContent"]["rows"] == [["Oslo", 8.5], ["Rome", 4.0]]
        assert "Oslo" in await server.frame.inner_text("#result table")
        (picture,) = (await server.ok("plot", expression="sales.groupby('city').amount.sum()"))["content"]
        assert base64.b64decode(picture["data"]).startswith(PNG)
        await server.frame.wait_for_function("() => document.querySelector('#result img').naturalWidth > 300")
        (exported,) = (await server.ok("export", expression="book.merge(people, on='city')", format="xlsx"))["content"]
        assert exported["resource"]["mimeType"].endswith("spreadsheetml.sheet")

        refused = await server.call("query", expression="sales.to_csv('x')")
        assert refused["isError"]
        assert await server.frame.evaluate(REFUSED_BY_THE_POLICY) == "connect-src"
