"""The weather of this server. It is invented: a climate for each place, and noise that is the same for everybody."""

import hashlib
import math
from datetime import date, timedelta
from random import Random

from pydantic import BaseModel, Field

SOURCE = "Invented by this server: no real forecast"
MAX_DAYS = 10
SKIES = {"sun": "sunny", "fair": "fair", "cloud": "cloudy", "rain": "rain", "storm": "thunderstorms", "snow": "snow"}


class Day(BaseModel):
    """The weather of one day."""

    date: date
    sky: str = Field(description="sun, fair, cloud, rain, storm or snow")
    low: float = Field(description="Lowest temperature in °C")
    high: float = Field(description="Highest temperature in °C")
    rain: float = Field(description="Rain or melted snow in mm")
    wind: int = Field(description="Strongest wind in km/h")


class Forecast(BaseModel):
    """The weather of the coming days at a place."""

    place: str
    source: str = SOURCE
    run: int = Field(description="Which run of the model this is: a newer one differs a little")
    days: list[Day]

    def text(self) -> str:
        """Return it for a model, and for hosts that show no views."""
        lines = [f"{day.date:%a %d %b}: {describe(day)}" for day in self.days]
        return "\n".join([f"{self.place}. {self.source}.", *lines])


def degrees(value: float) -> str:
    """Return a temperature in whole degrees, with a minus sign."""
    return f"{round(value)}°".replace("-", "\N{MINUS SIGN}")


def describe(day: Day) -> str:
    """Return a day's weather in words."""
    rain = f", {day.rain:g} mm" if day.rain else ""
    return f"{SKIES[day.sky]}, {degrees(day.low)} to {degrees(day.high)}C{rain}, wind {day.wind} km/h"


def invent(place: str, days: int, run: int, first: date) -> Forecast:
    """Return a forecast. The same arguments have the same forecast, and later runs are near the earlier ones."""
    name = " ".join(place.split())
    climate = _random(name.casefold())
    mean, swing, spread, wet = climate.uniform(4, 17), climate.uniform(5, 12), climate.uniform(6, 11), climate.random()
    drawn = []
    for number in range(days):
        at = first + timedelta(number)
        noise = _random(name.casefold(), at.isoformat())
        doubt = _random(name.casefold(), at.isoformat(), str(run))
        season = -math.cos((at.timetuple().tm_yday - 15) / 365 * 2 * math.pi)
        high = mean + swing * season + noise.gauss(0, 3.2) + doubt.gauss(0, 0.5 + number * 0.12)
        low = high - spread * noise.uniform(0.6, 1.1)
        clouds = noise.random() * 0.75 + wet * 0.35
        rain = max(0.0, round(noise.gauss(1.5, 5) + doubt.gauss(0, 0.8), 1)) if clouds > 0.55 else 0.0
        wind = round(8 + noise.expovariate(1 / 12) + doubt.uniform(0, 4))
        drawn.append(
            Day(date=at, sky=_sky(clouds, rain, high), low=round(low, 1), high=round(high, 1), rain=rain, wind=wind)
        )
    return Forecast(place=name, run=run, days=drawn)


def _sky(clouds: float, rain: float, high: float) -> str:
    if rain >= 0.3:
        return "snow" if high < 2 else "storm" if rain > 8 and high > 18 else "rain"
    return "sun" if clouds < 0.3 else "fair" if clouds < 0.6 else "cloud"


def _random(*parts: str) -> Random:
    return Random(hashlib.sha256("\n".join(parts).encode()).digest())  # noqa: S311  weather is not a secret
