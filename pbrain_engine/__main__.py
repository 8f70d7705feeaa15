"""``python -m pbrain_engine``: the protocol on a pipe, the command line on a terminal."""

from __future__ import annotations

import sys

from pbrain_engine.protocol import serve

HELP = """\
usage: pbrain-numoku [--row-first] [--log FILE] [--weights NAME] [--level LEVEL]
                     [--book FILE] [--book-seed N]

Speaks the Gomocup protocol on standard input and output; managers start it without arguments.

  --row-first    read and write cells as row, column, as Yixin-Board does
  --log FILE     log what both sides say
  --weights NAME network, or the file of other weights
  --level LEVEL  force a kernel: v2, v3 or v4
  --book FILE    play the moves of a book
  --book-seed N  choose among its equal moves

pbrain-numoku --version   the versions of the program, its kernel and its weights
pbrain-numoku bench       the speed, and a signature to compare with that of the sources

NUMOKU_LEVEL=v2 (or v3, v4) in the environment forces a kernel, NUMOKU_LOG names a log file.
"""
VERSION = ("-V", "--version")


def main() -> int:
    """Start the protocol or the command line."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help", "help"):
        from pbrain_engine.cli import guarded

        return guarded(lambda: print(HELP, end=""))
    options = serve.read_options(arguments)
    if options is None and arguments[0].startswith("-") and arguments[0] not in VERSION:
        return serve.refuse(f"cannot read {' '.join(arguments)}; `pbrain-numoku --help` helps")
    on_terminal = sys.stdin is not None and sys.stdin.isatty()
    if options is not None and (arguments or not on_terminal):
        return serve.main(options)
    from pbrain_engine.cli import main as run_tool

    return run_tool(arguments)


if __name__ == "__main__":
    sys.exit(main())
