"""The progress of a tuning run as a bar on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """A bar that counts games and carries a remark."""

    def __init__(self, total: int, done: int) -> None:
        """Begin to draw with so many games done."""
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("games"),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
        )
        self._task = self._progress.add_task("", total=total, completed=done)
        self._progress.start()

    def advance(self, games: int) -> None:
        """Count finished games."""
        self._progress.advance(self._task, games)

    def say(self, remark: str, last: bool = False) -> None:
        """Change the remark."""
        self._progress.update(self._task, description=remark)

    def close(self) -> None:
        """Leave the bar where it is."""
        self._progress.stop()
