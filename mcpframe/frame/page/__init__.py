"""The author's page: its HTML, elements and events, packages loaded later, and hints for errors of pages."""
