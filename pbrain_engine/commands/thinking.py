"""Thinking while the terminal stays alive: Ctrl-C asks for the best move found so far."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..engine import Engine, Limit, Thought


def think(
    engine: Engine,
    limit: Limit,
    *,
    on_iteration: Callable[[Thought], bool | None] | None = None,
    multipv: int = 1,
) -> Thought:
    """Think in another thread; an interrupt ends the search, not the program.

    Raises:
        KeyboardInterrupt: there was a second interrupt before the search had ended.
        EngineError: the board is full.
    """
    result: list[Thought] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            result.append(engine.think(limit, on_iteration=on_iteration, multipv=multipv))
        except BaseException as error:  # raised again in the waiting thread
            failure.append(error)

    engine.arm()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        engine.stop()
        thread.join()
    if failure:
        raise failure[0]
    return result[0]
