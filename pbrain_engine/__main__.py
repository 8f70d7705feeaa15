"""``python -m pbrain_engine``: the protocol on a pipe, the command line on a terminal."""

from __future__ import annotations

import sys

VALUE_OPTIONS = ("--log", "--search", "--book")  # of the protocol, with a value


def speaks_protocol(arguments: list[str]) -> bool:
    """Say whether nothing on the command line asks for one of the tools."""
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word in VALUE_OPTIONS and words:
            words.pop(0)
        elif word != "--row-first" and not ("=" in word and word.split("=")[0] in VALUE_OPTIONS):
            return False
    return True


def main() -> int:
    """Start whichever the arguments and the terminal ask for."""
    arguments = sys.argv[1:]
    on_terminal = sys.stdin is not None and sys.stdin.isatty()
    if speaks_protocol(arguments) and (arguments or not on_terminal):
        from pbrain_engine.protocol import serve

        return serve.main(arguments)
    from pbrain_engine.cli import main as run_tool

    return run_tool(arguments)


if __name__ == "__main__":
    sys.exit(main())
