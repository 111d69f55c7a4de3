"""The hub in a page: tabs of one origin, over broadcast channels, with Web Locks as the signal that one has ended.

    tab ── dialing ══ channel ══ switchboard ── hub
           (each tab)              (the one tab that leads: `election`)

Nothing here knows a browser: channels, locks and the clock are injected (`place`).
"""
