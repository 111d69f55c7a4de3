"""The command line of the survey."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError
from tests import survey
from tests.survey.packages import LIST, read_packages
from tests.survey.run import DEADLINE, in_process
from tests.survey.run import survey as run_survey
from tests.survey.table import SECTION, as_markdown, as_text


def main(arguments: Sequence[str]) -> int:
    """Run the survey and print its table; return 0, also if packages fail."""
    options = _options(arguments)
    try:
        packages = read_packages(options.list)
        attempt = in_process(options.list, deadline=options.deadline)
        found = run_survey(
            packages, options.keep, names=options.names, again=options.again, attempt=attempt, tell=_tell
        )
        outcomes = {outcome.name: outcome for outcome in found}
        print(as_text(packages, outcomes))
        if options.markdown:
            SECTION.write(checkout_dir() / "docs" / "how-to" / "existing-servers.md", as_markdown(packages, outcomes))
    except KitError as error:
        print(f"survey: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py survey", description=survey.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAMES", help="packages of the list to try now")
    parser.add_argument("--again", action="store_true", help="try those anew that failed")
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/how-to/existing-servers.md")
    parser.add_argument("--list", type=Path, default=LIST, metavar="FILE", help="another list of packages")
    kept = checkout_dir() / "dist" / "survey"
    parser.add_argument("--keep", type=Path, default=kept, metavar="FOLDER", help="where outcomes are kept")
    parser.add_argument("--deadline", type=float, default=DEADLINE, metavar="SECONDS", help="the limit of each package")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
