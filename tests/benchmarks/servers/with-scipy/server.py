"""Optimizes with scipy."""

from scipy import optimize

from mcpframe import FrameServer

server = FrameServer("with-scipy")


@server.tool()
def compute(values: list[float]) -> float:
    """Return the number with the least squares of distances to some."""
    found = optimize.minimize_scalar(lambda x: sum((x - value) ** 2 for value in values))
    return round(float(found.x), 6)
