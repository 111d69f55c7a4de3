"""The places where a hub runs: a page of an app, and an extension.

The third is a program on this machine, `mcpframe.kit.hub`: it needs the tool chain.
"""
