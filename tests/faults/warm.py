"""A process that has imported what tests need, and runs each request in a child of its own.

What takes longest of a small test of plain Python is to import numba and pytest; a child that is
forked has them already, and takes whatever it has done to them along when it ends. Reads a line
of JSON a request, a tree and the arguments of pytest, and answers with the exit status and the
file of the output.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

OURS = ("pbrain_engine", "tests")


def run(tree: str, arguments: list[str]) -> None:
    """Run pytest in this process, on the modules of a tree, and end it."""
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    os.chdir(tree)
    sys.path.insert(0, tree)
    import pytest

    status = pytest.main(arguments)
    sys.stdout.flush()
    os._exit(int(status))


def serve() -> None:
    """Answer requests until the input ends."""
    import numba  # noqa: F401 - imported before the fork
    import pytest  # noqa: F401

    folder = tempfile.mkdtemp(prefix="numoku-warm-")
    answers = os.fdopen(os.dup(1), "w")
    for number, line in enumerate(sys.stdin):
        request: dict[str, Any] = json.loads(line)
        output = Path(folder, str(number))
        child = os.fork()
        if child == 0:
            descriptor = os.open(output, os.O_CREAT | os.O_WRONLY)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            try:
                run(request["tree"], request["arguments"])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(4)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([status, output.read_text(errors="replace")]), file=answers, flush=True)
        output.unlink()


if __name__ == "__main__":
    serve()
