"""What a data analyst imports: numpy, pandas and matplotlib."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mcpframe import FrameServer

server = FrameServer("with-numpy")


@server.tool()
def compute(values: list[float]) -> float:
    """Return the mean of numbers, by pandas and numpy."""
    assert plt.get_backend()
    return float(np.round(pd.Series(values).mean(), 6))
