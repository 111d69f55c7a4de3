"""The template sqlite-analyst, end to end: a person chooses files, then queries answer from them."""

import base64
import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.async_api import BrowserContext, Frame

from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.conftest import Origins, TemplateSite, Troubles
from tests.browser.dropping import drop
from tests.browser.hosts import Connected, Host
from tests.browser.outers import PATIENCE

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def template() -> str:
    return "sqlite-analyst"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same people's cities and orders, as CSV, JSON and a SQLite file."""
    cities = tmp_path / "cities.csv"
    cities.write_text("city;country;people\nOslo;NO;709000\nBergen;NO;291000\nKöln;DE;1086000\n")
    countries = tmp_path / "countries.json"
    countries.write_text(json.dumps([{"code": "NO", "name": "Norway"}, {"code": "DE", "name": "Germany"}]))
    shop = tmp_path / "shop.db"
    database = sqlite3.connect(shop)
    database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, city TEXT NOT NULL, total REAL)")
    database.executemany("INSERT INTO orders (city, total) VALUES (?, ?)", [("Oslo", 10.5), ("Oslo", 4), ("Köln", 7)])
    database.commit()
    database.close()
    return [cities, countries, shop]


async def choose(host: Host, files: list[Path], *, writable: bool = False) -> dict[str, Any]:
    """Choose files in a setup, and confirm."""
    async with host.setup() as setting_up:
        frame = setting_up.frame
        await frame.set_input_files("#file", files)
        await frame.wait_for_selector(f"#files li:nth-child({len(files)})")
        if writable:
            await frame.check("#writable")
        await frame.click("#use")
        return await setting_up.result()


async def rows(server: Connected, sql: str) -> Any:
    return (await server.ok("query", sql=sql))["structuredContent"]["rows"]


def text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


async def shown(frame: Frame) -> str:
    return await frame.inner_text("#rows")


@pytest.mark.extended
async def test_several_files_in_one_query_and_exports(host: Host, files: list[Path]) -> None:
    result = await choose(host, files)
    assert result == {
        "title": "SQLite analyst: 3 files",
        "visibility": "optional",
        "message": "Loaded 3 files",
        "error": None,
    }
    async with host.connect() as server:
        answer = await server.ok(
            "query",
            sql="SELECT city, sum(total) AS total, people FROM shop.orders JOIN cities USING (city) "
            "JOIN countries ON code = country GROUP BY city ORDER BY total DESC",
        )
        assert answer["structuredContent"]["rows"] == [["Oslo", 14.5, 709000], ["Köln", 7, 1086000]]
        said, _, image = answer["content"]
        assert said["text"].splitlines()[0] == "city | total |  people"
        assert image["mimeType"] == "image/png"
        assert base64.b64decode(image["data"]).startswith(PNG)
        tables = {table["name"]: table for table in (await server.ok("describe"))["structuredContent"]["tables"]}
        assert set(tables) == {"cities", "countries", "shop.orders"}
        assert tables["shop.orders"]["rows"] == 3

        refused = await server.call("query", sql="DELETE FROM cities")
        assert refused["isError"]
        assert "read-only" in text(refused)
        assert await rows(server, "SELECT count(*) FROM cities") == [[3]]

        many = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
        large = (await server.ok("query", sql=many))["structuredContent"]
        assert (large["rows"], large["total_rows"]) == (None, 5000)
        odd = await server.ok("query", sql="SELECT i, i * i FROM result WHERE i % 2", result=large["handle"])
        handle = odd["structuredContent"]["handle"]
        assert (await server.ok("plot", result=handle))["content"][0]["mimeType"] == "image/png"
        link = (await server.ok("export", result=handle))["content"][1]
        assert link["mimeType"] == "text/csv"
        [file] = (await server.read(link["uri"]))["contents"]
        written = base64.b64decode(file["blob"]).decode()
        assert list(csv.reader(written.splitlines()))[2] == ["3", "9"]
        async with host.page.expect_download() as download:
            await server.ok("export", source="shop", format="sqlite", to="download", name="my shop")
        file = await download.value
        assert file.suggested_filename == "my shop.sqlite"
        saved = sqlite3.connect(await file.path())
        assert saved.execute("SELECT sum(total) FROM orders").fetchall() == [(21.5,)]
        saved.close()


PICKER = """
    let times = 0;
    window.showOpenFilePicker = async () => {
        times += 1;
        if (times === 1) throw new DOMException("The user aborted a request.", "AbortError");
        return [{ getFile: async () => new File(["city,people\\nOslo,709000\\n"], "picked.csv") }];
    };
"""


@pytest.mark.extended
async def test_in_a_popup_files_are_picked_with_the_browsers_own_picker(
    context: BrowserContext, origins: Origins, templates: TemplateSite
) -> None:
    """No driver can use the real picker: here one that is cancelled at first stands in for it."""
    await context.add_init_script(PICKER)
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    outer = OuterFrame(templates.url("sqlite-analyst"))
    place = PlaywrightPlace(page, popup=True)
    async with outer.setup(place) as setup:
        assert place.window
        popup = await place.window.frame()
        await popup.click("#file")
        await popup.click("#file")
        await popup.wait_for_selector("#files li >> text=picked.csv")
        await popup.click("#use")
        with anyio.fail_after(PATIENCE):
            assert (await setup.result()).ephemeral_message == "Loaded picked.csv"


@pytest.mark.extended
async def test_changes_that_the_person_allowed_are_kept(host: Host, files: list[Path]) -> None:
    await choose(host, files, writable=True)
    async with host.connect() as server:
        done = await server.ok("query", sql="UPDATE shop.orders SET total = total * 2")
        assert text(done) == "Done: 3 rows changed."
        await server.ok("query", sql="CREATE TABLE notes AS SELECT 'hello' AS note")
    async with host.connect() as server:
        assert await rows(server, "SELECT sum(total), note FROM shop.orders, notes") == [[43, "hello"]]


async def test_the_page_shows_queries_and_takes_the_persons(host: Host, troubles: Troubles) -> None:
    async with host.setup() as setting_up:
        await setting_up.frame.click("#example")
        await setting_up.frame.wait_for_selector("#files li >> text=sales")
        await setting_up.frame.click("#use")
        await setting_up.result()
    async with host.connect() as server:
        await server.show(True)
        frame = server.frame
        await frame.wait_for_selector("#tables li >> text=144 rows")
        sql = "SELECT product, round(sum(revenue)) AS revenue FROM sales GROUP BY product ORDER BY product"
        await server.ok("query", sql=sql)
        await frame.wait_for_selector("#chart:not([hidden])")
        assert await frame.input_value("#sql") == sql
        assert (await shown(frame)).startswith("product\trevenue\nCocoa\t")

        await frame.fill("#sql", "SELECT count(*) AS n FROM sales")
        await frame.press("#sql", "Control+Enter")
        await frame.wait_for_selector("#rows >> text=144")
        assert await frame.is_hidden("#chart")

        await frame.fill("#sql", "SELECT revenue FROM sales")
        await frame.click("#run")
        await frame.wait_for_selector("#rows >> text=rows 1 to 100 of 144")
        await frame.click("#rows >> text=Next")
        await frame.wait_for_selector("#rows >> text=rows 101 to 144 of 144")

        await frame.fill("#sql", "DELETE FROM sales")
        await frame.click("#run")
        await frame.wait_for_selector("#summary.bad >> text=read-only")
        await frame.fill("#sql", "SELECT '<b>bold</b>' AS html")
        await frame.click("#run")
        await frame.wait_for_selector("#rows td >> text=<b>bold</b>")

        columns = ", ".join(f"'a long value of this column' AS column_{number}" for number in range(20))
        await frame.fill("#sql", f"SELECT {columns}")
        await frame.click("#run")
        await frame.wait_for_selector("#rows th >> text=column_19")
        overflows = "element => element.scrollWidth > element.clientWidth"
        assert await frame.locator("#rows").evaluate(overflows)  # it scrolls by itself
        assert not await frame.locator("html").evaluate(overflows)


async def test_files_are_dropped_and_those_without_tables_are_reported(
    host: Host, files: list[Path], tmp_path: Path
) -> None:
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    async with host.setup() as setting_up:
        frame = setting_up.frame
        await drop(frame, ".drop", *files)
        await frame.wait_for_selector("#files li:nth-child(3) >> text=shop.orders")
        await frame.set_input_files("#file", [bad, files[0]])
        await frame.wait_for_selector("#status.bad >> text=bad.db is a damaged")
        assert await frame.locator("#files li").count() == 3
        await frame.click("#use")
        assert (await setting_up.result())["message"] == "Loaded 3 files"


@pytest.mark.extended
async def test_where_the_browser_keeps_nothing_files_are_chosen_at_run_time(
    host: Host, templates: TemplateSite, files: list[Path]
) -> None:
    host.retarget(templates.url("sqlite-analyst", stored=False))
    async with host.setup() as setting_up:
        assert (await setting_up.result())["visibility"] == "required"
    async with host.connect() as server:
        assert (await server.call("query", sql="SELECT 1"))["isError"]
        await server.frame.set_input_files("#file", files)
        await server.frame.wait_for_selector("#files li:nth-child(3)")
        await server.frame.click("#use")
        await server.frame.wait_for_selector("#tables li:nth-child(3)")
        assert await rows(server, "SELECT count(*) FROM shop.orders") == [[3]]
