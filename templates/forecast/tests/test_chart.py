"""The chart, as SVG."""

from datetime import date
from xml.etree import ElementTree

import pytest

from chart import draw, draw_waiting, icon
from weather import SKIES, degrees, invent

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text):
    return ElementTree.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314  our own


@pytest.mark.parametrize("width", [260, 480, 1200])
@pytest.mark.parametrize("days", [2, 7, 10])
def test_every_day_is_in_it(width, days):
    forecast = invent("Wien & <b>Umgebung</b>", days, 1, date(2026, 11, 22))
    chart = parsed(draw(forecast, width, 1))
    columns = chart.findall(f"{SVG}g[@data-day]")
    assert [column.get("data-day") for column in columns] == [str(number) for number in range(days)]
    assert [column.get("aria-pressed") for column in columns] == ["false", "true", *["false"] * (days - 2)]
    assert chart.get("aria-label") == "Forecast for Wien & <b>Umgebung</b>"
    highs = [text.text for text in chart.iterfind(f".//{SVG}text[@class='high']")]
    assert highs == [degrees(day.high) for day in forecast.days]
    assert all(0 <= float(text.get("x")) <= width for text in chart.iter(f"{SVG}text"))
    wet = [day for day in forecast.days if day.rain]
    assert len(chart.findall(f".//{SVG}rect[@class='wet']")) == len(wet)


def test_the_outline_and_the_icons():
    assert len(parsed(draw_waiting(5, 400))) == 5
    for sky in SKIES:
        assert len(parsed(icon(sky)))
