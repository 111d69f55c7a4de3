"""The tools of all open tabs of the hub "notes", for the page that frames this one."""

from mcpframe.hub import PageHub

server = PageHub("notes").server
