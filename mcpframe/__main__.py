"""`python -m mcpframe`: the command line."""

from mcpframe.kit.cli import main

if __name__ == "__main__":
    main()
