"""A chart of a query's rows as a picture: bars for named values, lines for a series of numbers or dates."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from picture import TEXT_HEIGHT, Colour, Picture, fitting, text_width

Kind = Literal["auto", "bar", "line", "none"]

MAX_BARS = 40
MAX_SERIES = 4

_WIDTH, _HEIGHT = 960, 480
_TOP, _BOTTOM, _RIGHT, _GAP = 48, 44, 24, 10
_GROUND: Colour = (255, 255, 255)
_TEXT: Colour = (60, 66, 74)
_GRID: Colour = (224, 228, 233)
_ZERO: Colour = (150, 156, 164)
_COLOURS: tuple[Colour, ...] = ((37, 99, 200), (224, 122, 32), (34, 139, 94), (150, 70, 160))
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([ T].*)?\Z")


@dataclass(frozen=True)
class Data:
    """The content of a chart.

    Attributes:
        label: The column with the names along the x axis; empty if they are numbered.
        places: Those names.
        names: The columns that are drawn.
        series: Their values; None for a missing one.
        kind: The kind of chart.
    """

    label: str
    places: list[str]
    names: list[str]
    series: list[list[float | None]]
    kind: Literal["bar", "line"]


def chart_data(columns: Sequence[str], rows: Sequence[Sequence[Any]], kind: Kind = "auto") -> Data | None:
    """Return the chart of a result; None if it cannot be drawn."""
    if kind == "none" or len(rows) < 2:
        return None
    values = list(zip(*rows, strict=True))
    numeric = [at for at, column in enumerate(values) if _is_numeric(column)]
    labels = [at for at in range(len(columns)) if at not in numeric]
    if labels:
        label, drawn = labels[0], numeric
    elif len(numeric) > 1:
        label, drawn = numeric[0], numeric[1:]
    else:
        label, drawn = None, numeric
    drawn = drawn[:MAX_SERIES]
    if not drawn:
        return None
    places = (
        [str(number) for number in range(1, len(rows) + 1)]
        if label is None
        else [_name(item) for item in values[label]]
    )
    ordered = label is None or label in numeric or all(_DATE.match(place) for place in places)
    chosen: Literal["bar", "line"]
    if kind == "auto":
        chosen = "line" if (ordered and len(rows) > 8) or len(rows) > MAX_BARS else "bar"
    else:
        chosen = "line" if kind == "line" else "bar"
    shown = len(rows) if chosen == "line" else MAX_BARS
    return Data(
        "" if label is None else columns[label],
        places[:shown],
        [columns[at] for at in drawn],
        [[None if item is None else float(item) for item in values[at][:shown]] for at in drawn],
        chosen,
    )


def draw(data: Data) -> bytes:
    """Return the chart as a PNG file."""
    picture = Picture(_WIDTH, _HEIGHT, _GROUND)
    present = [value for series in data.series for value in series if value is not None]
    low, high = min(present), max(present)
    if data.kind == "bar" or (low > 0 and low < high / 2):
        low, high = min(0.0, low), max(0.0, high)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left = _GAP + max(text_width(_number(tick)) for tick in ticks) + _GAP
    width = _WIDTH - left - _RIGHT

    def height(value: float) -> float:
        return _TOP + (high - value) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    for tick in ticks:
        y = height(tick)
        picture.box(left, y - 1, _WIDTH - _RIGHT, y + 1, _ZERO if tick == 0 else _GRID)
        text = _number(tick)
        picture.text(left - _GAP - text_width(text), y - TEXT_HEIGHT / 2, text, _TEXT)
    step = width / len(data.places)
    for number, series in enumerate(data.series):
        if data.kind == "bar":
            _bars(picture, series, number, len(data.series), left, step, height)
        else:
            _curve(picture, series, number, left, step, height)
    _label_places(picture, data, left, step)
    _legend(picture, data, left)
    return picture.png()


def _bars(
    picture: Picture, series: list[float | None], number: int, count: int, left: float, step: float, height: Any
) -> None:
    broad = step * 0.78 / count
    for place, value in enumerate(series):
        if value is not None:
            x = left + step * (place + 0.11) + broad * number
            ends = sorted((height(0.0), height(value)))
            picture.box(x, ends[0], max(x + 1, x + broad - (1 if count > 1 else 0)), ends[1], _COLOURS[number])


def _curve(picture: Picture, series: list[float | None], number: int, left: float, step: float, height: Any) -> None:
    before: tuple[float, float] | None = None
    for place, value in enumerate(series):
        point = None if value is None else (left + step * (place + 0.5), height(value))
        if point and before:
            picture.line(before, point, _COLOURS[number])
        elif point:
            picture.box(point[0] - 3, point[1] - 3, point[0] + 3, point[1] + 3, _COLOURS[number])
        before = point


def _label_places(picture: Picture, data: Data, left: float, step: float) -> None:
    y = _HEIGHT - _BOTTOM + _GAP
    widest = min(160, max(text_width(place) for place in data.places))
    every = max(1, math.ceil((widest + _GAP) / step))
    if every > 1 and data.kind == "bar":
        every, widest = (1, step - 4) if step > 30 else (every, widest)
    for place in range(0, len(data.places), every):
        text = fitting(data.places[place], max(widest, step - _GAP))
        x = left + step * (place + 0.5) - text_width(text) / 2
        picture.text(min(max(x, 2), _WIDTH - text_width(text) - 2), y, text, _TEXT)


def _legend(picture: Picture, data: Data, left: float) -> None:
    x = left
    for number, name in enumerate(data.names):
        picture.box(x, 18, x + TEXT_HEIGHT, 18 + TEXT_HEIGHT, _COLOURS[number])
        text = fitting(name, 180)
        picture.text(x + TEXT_HEIGHT + 6, 18, text, _TEXT)
        x += TEXT_HEIGHT + 6 + text_width(text) + 24
    if data.label:
        text = fitting(f"by {data.label}", _WIDTH - _RIGHT - x)
        picture.text(_WIDTH - _RIGHT - text_width(text), 18, text, _TEXT)


def _ticks(low: float, high: float) -> list[float]:
    if low == high:
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (-1.0, 1.0)
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _number(value: float) -> str:
    if value and not 1e-3 <= abs(value) < 1e7:
        for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
            if size <= abs(value) < 1e15:
                return f"{value / size:.4g}{letter}"
        return f"{value:.2g}"
    return f"{value:,.10g}" if value == int(value) else f"{value:,.5g}"


def _name(value: Any) -> str:
    return "none" if value is None else str(value)


def _is_numeric(column: Sequence[Any]) -> bool:
    present = [item for item in column if item is not None]
    return bool(present) and all(isinstance(item, int | float) and math.isfinite(item) for item in present)
