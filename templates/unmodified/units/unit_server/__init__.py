"""Units of length for assistants."""

import argparse
import asyncio

from unit_server.server import serve


def main() -> None:
    """Serve on standard input and output."""
    parser = argparse.ArgumentParser(description="Converts units of length.")
    parser.add_argument("--unit", choices=["m", "ft"], required=True, help="The unit of results.")
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.unit))
