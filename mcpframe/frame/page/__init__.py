"""The author's page: its HTML, elements and events, packages loaded later, and hints at errors that only a page has."""
