"""The hub's browser over DevTools: started or attached to; its tabs are found and relayed."""
