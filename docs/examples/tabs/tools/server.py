"""The tools of all open tabs of the app "notes", for the page that frames this one."""

from mcpframe.hub import AppHub

server = AppHub("notes").server
