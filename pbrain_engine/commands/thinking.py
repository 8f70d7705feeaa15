"""Thinking while the terminal stays alive: Ctrl-C asks for what has been found so far."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from ..engine.crew import start_deep
from ..engine.engine import Engine, Limit, Thought

POLL_SECONDS = 0.2  # on Windows a wait without a limit does not hear an interrupt

Result = TypeVar("Result")


def wait(done: threading.Event) -> None:
    """Wait for an event, open to interrupts.

    Not by ``Thread.join``: interrupted, it takes a running thread for one that has ended.
    """
    while not done.wait(POLL_SECONDS):
        pass


def apart(work: Callable[[], Result], stop: Callable[[], None], *, ends: bool = True) -> Result:
    """Do work in another thread, so that an interrupt is heard: it makes the work ``stop``.

    ``ends``: it ends both, once the work has stopped, through any number of further ones.

    Raises:
        KeyboardInterrupt: there was an interrupt that ends the program, or a second one
            before the work had stopped.
    """
    result: list[Result] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # raised again in the waiting thread
            failure.append(error)
        finally:
            done.set()

    start_deep([run])
    try:
        wait(done)
    except KeyboardInterrupt:
        stop()
        while not done.is_set():
            try:
                wait(done)
            except KeyboardInterrupt:
                if not ends:
                    raise
        if ends:
            raise
    if failure:
        raise failure[0]
    return result[0]


def think(
    engine: Engine,
    limit: Limit,
    *,
    on_iteration: Callable[[Thought], bool | None] | None = None,
    multipv: int = 1,
    ends: bool = False,
) -> Thought:
    """Think in another thread; an interrupt ends the search, and where it ``ends``, the program.

    Raises:
        KeyboardInterrupt: as ``apart`` does.
        EngineError: the board is full.
    """
    engine.arm()
    return apart(
        lambda: engine.think(limit, on_iteration=on_iteration, multipv=multipv),
        engine.stop,
        ends=ends,
    )
