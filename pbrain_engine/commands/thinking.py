"""Thinking while the terminal stays alive: Ctrl-C asks for the best move found so far."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..engine.engine import Engine, Limit, Thought

POLL_SECONDS = 0.2  # on Windows a wait without a limit does not hear an interrupt


def wait(done: threading.Event) -> None:
    """Wait for an event, open to interrupts.

    Not by ``Thread.join``: interrupted, it takes a running thread for one that has ended.
    """
    while not done.wait(POLL_SECONDS):
        pass


def think(
    engine: Engine,
    limit: Limit,
    *,
    on_iteration: Callable[[Thought], bool | None] | None = None,
    multipv: int = 1,
    ends: bool = False,
) -> Thought:
    """Think in another thread; an interrupt ends the search, not the program.

    ``ends``: it ends both, once the search has stopped.

    Raises:
        KeyboardInterrupt: there was a second interrupt before the search had ended, or the
            first where it is to end the program.
        EngineError: the board is full.
    """
    result: list[Thought] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            result.append(engine.think(limit, on_iteration=on_iteration, multipv=multipv))
        except BaseException as error:  # raised again in the waiting thread
            failure.append(error)
        finally:
            done.set()

    engine.arm()
    threading.Thread(target=work, daemon=True).start()
    try:
        wait(done)
    except KeyboardInterrupt:
        engine.stop()
        wait(done)
        if ends:
            raise
    if failure:
        raise failure[0]
    return result[0]
