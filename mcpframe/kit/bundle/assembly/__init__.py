"""The pure part of a build, which runs in Pyodide, too: from a project, code and layers to the files of a bundle."""
