"""Our own engine with options that no client can set: search, weights, level, parameters.

``python -m pbrain_engine.protocol.configured weights=FILE futility_slope=70`` speaks the protocol
like ``pbrain-numoku``, with these options; the arena starts it for ``numoku:weights=FILE,...``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

OPTIONS = ("search", "weights", "level", "book")
FILES = ("weights", "book")
NUMBERS = ("book_seed",)

Options = Iterable[tuple[str, str]]


def is_parameter(key: str) -> bool:
    """Tell whether a search has a parameter of this name."""
    from ..search.parameters import PARAMETERS

    return key in PARAMETERS


def engine_arguments(options: Options) -> dict[str, Any]:
    """Return the arguments of Engine that these options mean; others are passed over.

    Raises:
        ValueError: a parameter or a seed is no whole number.
    """
    arguments: dict[str, Any] = {}
    parameters: dict[str, int] = {}
    for key, value in options:
        if key in OPTIONS:
            arguments[key] = value
        elif key in NUMBERS:
            arguments[key] = int(value)
        elif is_parameter(key):
            parameters[key] = int(value)
    if parameters:
        arguments["parameters"] = parameters
    return arguments


def main() -> None:
    """Speak the protocol with the options of the command line."""
    from . import serve, streams

    try:
        arguments = engine_arguments(_split(word) for word in sys.argv[1:])
    except ValueError as error:
        sys.exit(f"pbrain-numoku: {error}")
    if "book" in arguments and not serve.is_book(arguments["book"]):
        sys.exit(2)
    serve.start(arguments, streams.Log(serve.log_path([])))


def _split(word: str) -> tuple[str, str]:
    key, _, value = word.partition("=")
    return key, value


if __name__ == "__main__":
    main()
