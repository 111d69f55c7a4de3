"""Fits a model with scikit-learn."""

from sklearn.cluster import KMeans

from mcpframe import FrameServer

server = FrameServer("with-sklearn")


@server.tool()
def compute(values: list[float]) -> float:
    """Return the center of numbers, as one cluster."""
    model = KMeans(n_clusters=1, n_init=1, random_state=0).fit([[value] for value in values])
    return round(float(model.cluster_centers_[0][0]), 6)
