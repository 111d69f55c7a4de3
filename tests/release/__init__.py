"""The packages of a release, built into dist/ and checked: `python3 build.py release`. It publishes nothing.

The wheel, the source distribution, the npm package of the host and the extension's zip are checked by the tools of
their fields, installed where nothing of the clone can be imported, and used there as the README says.
"""
