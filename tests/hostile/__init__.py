"""Bad input and attacks: what hostile peers send, as data, and the parts that their tests share.

    who sends                                       what must happen
    a stranger's window, whatever its origin        dropped unread: nobody hears it, and it is told nothing
    the peer's window at another origin             not heard; the session may end, and nothing is posted there
    the peer: wrong shapes, types and states        refused or nothing, and whoever waits gets an error
    the peer: too large, too deep, prototype keys   refused, and whoever waits gets an error
    the peer: ids of others, twice, forged, late    nobody's
    the peer: floods                                bounded
    a view or page: a way out of its frame          none

After each line a good call works, and nothing was posted to a wrong origin. What a dialect adds is in the module of its
name. `tests/unit/hostile` plays the lines over fake windows, `tests/browser/test_hostile_*.py` in Chromium those that
only a browser decides; `tests/contract/damaged.py` in both. A run prints how many lines have held.
"""
