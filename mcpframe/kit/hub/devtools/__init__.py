"""The hub's browser over DevTools: it is started or attached to, and its tabs are found and relayed."""
