"""`python -m studies`, from the root of the repository."""

import sys

from cyclopts import CycloptsError

from gossamer.cli.main import guarded
from gossamer.errors import UsageError
from studies.verbs import command


def main(arguments: list[str]) -> int:
    """Run one command; the exit code is that of `gossamer`."""

    def run() -> None:
        try:
            command(arguments, exit_on_error=False, print_error=False)
        except CycloptsError as error:
            raise UsageError(str(error)) from error

    return guarded(run, debug="--debug" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
