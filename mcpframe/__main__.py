"""`python -m mcpframe`: the command line."""

from mcpframe.kit.cli.main import main

if __name__ == "__main__":
    main()
