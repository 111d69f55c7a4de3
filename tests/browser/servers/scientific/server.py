"""Computes with numpy, describes with pandas and draws with matplotlib, all imported at the start."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mcpframe import FrameServer

server = FrameServer("scientific")


@server.tool()
def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of a system of linear equations."""
    return [float(value) for value in np.linalg.solve(np.array(matrix), np.array(right))]


@server.tool()
def describe(values: list[float]) -> dict[str, float]:
    """Return the statistics of a series."""
    return {str(name): float(value) for name, value in pd.Series(values).describe().items()}


@server.tool()
def draw() -> list[float]:
    """Return numbers of numpy's global generator."""
    return [float(value) for value in np.random.rand(3)]


@server.tool()
def plot(values: list[float]) -> str:
    """Draw a line, and return the backend and the first bytes of the picture."""
    figure, axes = plt.subplots()
    axes.plot(values)
    axes.set_title("values")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return f"{plt.get_backend()} {picture.getvalue()[1:4].decode()}"


@server.tool()
def titled(title: str) -> Figure:
    """Draw an empty figure with a title."""
    figure, axes = plt.subplots()
    axes.set_title(title)
    return figure
