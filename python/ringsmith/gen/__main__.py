# SPDX-License-Identifier: Apache-2.0
"""`python -m ringsmith.gen [--check]`: write the generated files, or say which have drifted."""

from __future__ import annotations

import argparse
import sys

from ringsmith.errors import RingsmithError
from ringsmith.gen.files import stale, write_all


def main() -> int:
    """Run the generator; exit status 0 done, 1 drift found by `--check`, 2 a specification is malformed."""
    parser = argparse.ArgumentParser(prog="python -m ringsmith.gen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a file has drifted")
    arguments = parser.parse_args()
    try:
        paths = stale() if arguments.check else write_all()
    except RingsmithError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in paths:
        print(f"{'drifted' if arguments.check else 'wrote'} {path}", file=sys.stderr)
    if arguments.check and paths:
        print("run `python -m ringsmith.gen` and commit the result", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
