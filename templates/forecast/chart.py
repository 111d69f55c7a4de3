"""The chart of a forecast as SVG. Its colours are those of `style.css`, so that it follows the host's theme."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from weather import Day, Forecast, degrees, describe

Point = tuple[float, float]

HEIGHT = 292
_BAND = (108.0, 208.0)  # top and bottom of the temperatures
_RAIN = (226.0, 270.0)
_SUN = '<circle class="sun" r="6.5"/>' + "".join(
    f'<path class="ray" d="M0 -9.5V-13" transform="rotate({angle})"/>' for angle in range(0, 360, 45)
)
_CLOUD = '<path class="cloud" d="M-8 7a5.5 5.5 0 0 1-.6-11A7 7 0 0 1 5-5.4 6.2 6.2 0 0 1 6.5 7z"/>'
_DROPS = '<path class="drop" d="M-5 10l-1.6 4M1 10l-1.6 4M7 10l-1.6 4"/>'
_ICONS = {
    "sun": _SUN,
    "fair": f'<g transform="translate(5 -4) scale(.7)">{_SUN}</g><g transform="translate(-2 3) scale(.9)">{_CLOUD}</g>',
    "cloud": _CLOUD,
    "rain": f'<g transform="translate(0 -3)">{_CLOUD}{_DROPS}</g>',
    "storm": f'<g transform="translate(0 -3)">{_CLOUD}<path class="bolt" d="M2 8l-5 6h4l-2 5 6-7H1z"/></g>',
    "snow": f'<g transform="translate(0 -3)">{_CLOUD}'
    '<path class="flake" d="M-5 11v4m-2-2h4M1 12v4m-2-2h4M7 11v4m-2-2h4"/></g>',
}

_GRADIENT = (
    '<defs><linearGradient id="band" x1="0" x2="0" y1="0" y2="1">'
    '<stop class="warm" offset="0"/><stop class="cold" offset="1"/></linearGradient></defs>'
)


def draw(forecast: Forecast, width: int, selected: int | None = None) -> str:
    """Return the chart.

    Args:
        forecast: What is drawn.
        width: Its width, in CSS pixels.
        selected: The number of the day that stands out.
    """
    days = forecast.days
    step = width / len(days)
    lows, highs = _curves(days, step)
    title = f"Forecast for {escape(forecast.place)}"
    parts = [
        f'<svg class="chart" {_size(width)} role="group" aria-label="{title}">',
        _GRADIENT,
        *(_column(day, number, step, number == selected) for number, day in enumerate(days)),
        f'<path class="band" d="{_smooth(highs)} L{_at(lows[-1])} {_smooth(lows[::-1], start="")} Z"/>',
        f'<path class="line high" d="{_smooth(highs)}"/><path class="line low" d="{_smooth(lows)}"/>',
    ]
    wettest = max(4.0, *(day.rain for day in days))
    for number, (day, low, high) in enumerate(zip(days, lows[1:-1], highs[1:-1], strict=True)):
        parts.append(_values(day, number, low, high, step, wettest))
    return "".join([*parts, f'<path class="ground" d="M0 {_RAIN[1]}H{width}"/></svg>'])


def draw_waiting(days: int, width: int) -> str:
    """Return the chart's outline, for the time before there is a forecast."""
    step = width / days
    columns = []
    for number in range(days):
        left, broad = step * number + min(4.0, step * 0.06), step - 2 * min(4.0, step * 0.06)
        middle, top = step * (number + 0.5), 118 + number * 37 % 40
        columns.append(
            f'<g class="ghost" opacity="{_n(1 - 0.6 * number / days)}">'
            f'<rect class="pale" x="{_n(left)}" y="2" width="{_n(broad)}" height="{HEIGHT - 4}" rx="12"/>'
            f'<rect x="{_n(middle - 13)}" y="17" width="26" height="9" rx="4.5"/>'
            f'<circle cx="{_n(middle)}" cy="66" r="11"/>'
            f'<rect x="{_n(middle - 3)}" y="{top}" width="6" height="{64 - number * 23 % 20}" rx="3"/></g>'
        )
    return f'<svg class="chart waiting" {_size(width)} aria-hidden="true">{"".join(columns)}</svg>'


def icon(sky: str) -> str:
    """Return the picture of a sky, alone."""
    return f'<svg class="icon" viewBox="-16 -16 32 34" aria-hidden="true">{_ICONS[sky]}</svg>'


def _curves(days: Sequence[Day], step: float) -> tuple[list[Point], list[Point]]:
    """Return the points of both curves, which begin and end at the chart's edges."""
    low, high = min(day.low for day in days), max(day.high for day in days)
    top, bottom = _BAND

    def y(value: float) -> float:
        return bottom - (value - low) / max(high - low, 1) * (bottom - top)

    def curve(values: list[float]) -> list[Point]:
        inner = [(step * (number + 0.5), y(value)) for number, value in enumerate(values)]
        return [(0, inner[0][1]), *inner, (step * len(values), inner[-1][1])]

    return curve([day.low for day in days]), curve([day.high for day in days])


def _column(day: Day, number: int, step: float, selected: bool) -> str:
    """Return what can be chosen: a day's ground, name and sky."""
    middle = _n(step * (number + 0.5))
    name = "Today" if number == 0 and step > 56 else f"{day.date:%a}"
    label = f"{day.date:%A %d %B}: {describe(day)}"
    pad = min(4.0, step * 0.06)
    return (
        f'<g class="day{" chosen" if selected else ""}" data-day="{number}" tabindex="0" role="button" '
        f'aria-pressed="{"true" if selected else "false"}" aria-label="{escape(label)}"><title>{escape(label)}</title>'
        f'<rect class="ground-of-day" x="{_n(step * number + pad)}" y="2" width="{_n(step - 2 * pad)}" '
        f'height="{HEIGHT - 4}" rx="12"/>'
        f'<text class="name" x="{middle}" y="26">{name}</text>'
        f'<text class="date" x="{middle}" y="42">{day.date.day}</text>'
        f'<g transform="translate({middle} 68)">{_ICONS[day.sky]}</g></g>'
    )


def _values(day: Day, number: int, low: Point, high: Point, step: float, wettest: float) -> str:
    middle = _n(step * (number + 0.5))
    text = (
        f'<circle class="dot high" cx="{middle}" cy="{_n(high[1])}" r="3"/>'
        f'<circle class="dot low" cx="{middle}" cy="{_n(low[1])}" r="3"/>'
        f'<text class="high" x="{middle}" y="{_n(high[1] - 9)}">{degrees(day.high)}</text>'
        f'<text class="low" x="{middle}" y="{_n(low[1] + 18)}">{degrees(day.low)}</text>'
    )
    if day.rain:
        top, bottom = _RAIN
        height = max(2.0, day.rain / wettest * (bottom - top - 8))
        broad = min(26.0, step * 0.42)
        text += (
            f'<rect class="wet" x="{_n(step * (number + 0.5) - broad / 2)}" y="{_n(bottom - height)}" '
            f'width="{_n(broad)}" height="{_n(height)}" rx="{_n(min(4.0, height / 2))}"/>'
            f'<text class="rain" x="{middle}" y="{HEIGHT - 8}">{day.rain:.{0 if step < 56 else 1}f}'
            f"{' mm' if step > 56 else ''}</text>"
        )
    return f'<g class="values" aria-hidden="true">{text}</g>'


def _smooth(points: Sequence[Point], start: str = "M") -> str:
    """Return a curve through points: cubic Bézier segments whose ends are level (no overshoot)."""
    parts = [f"{start}{_at(points[0])}"] if start else []
    for before, after in pairwise(points):
        middle = (before[0] + after[0]) / 2
        parts.append(f"C{_at((middle, before[1]))} {_at((middle, after[1]))} {_at(after)}")
    return " ".join(parts)


def _size(width: int) -> str:
    return f'viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'


def _at(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
