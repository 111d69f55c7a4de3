"""The command line, as `mcpframe` and `python -m mcpframe`. Its imports take a second: Ctrl-C may end them, too."""

import sys


def main() -> None:
    """Run the command line: see `kit.cli.main`."""
    try:
        from mcpframe.kit.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
