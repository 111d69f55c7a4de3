"""A framed page that begins anew: the contract's tests, over fake windows."""

from tests.contract.departures import *  # noqa: F403
