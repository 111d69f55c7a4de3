"""The contract that every outer frame keeps, whatever window it has: test bodies, which are run elsewhere.

Each takes an `outer`, as `outer.py` has it, and the `origins` of its pages. `tests/unit/contract` runs them over fake
windows; `tests/browser/test_contract_*.py` in Chromium, with `static/host/host.js` and with Python over a Playwright
window, and beside them the rules that need a real page. The outcome of each single message is in `tests/vectors`.
"""
