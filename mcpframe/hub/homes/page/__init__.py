"""The hub in a page: tabs of one origin, over broadcast channels, with Web Locks to detect that a tab has ended.

    tab ── dialing ══ channel ══ switchboard ── hub
           (each tab)              (the one tab that leads: `election`)

No I/O: channels, locks and the clock are injected (`place`).
"""
