"""The places where a hub runs: a page, for the tabs of its origin, and an extension.

The third is a program on this machine, `mcpframe.kit.hub`: it needs the tool chain.
"""
