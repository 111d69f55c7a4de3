"""The setup phase: the contract's tests, over fake windows."""

from tests.contract.setup import *  # noqa: F403
