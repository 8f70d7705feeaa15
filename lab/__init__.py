"""Experiments: what measures the engine and looks for faults for hours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Journal(list[dict[str, Any]]):
    """Records, one JSON object a line of a file, so that a run goes on where it ended."""

    def __init__(self, path: Path | None) -> None:
        """Read what the file holds; without a file nothing is kept."""
        self.path = path
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        super().__init__(map(json.loads, text.splitlines()))

    def add(self, record: dict[str, Any]) -> None:
        """Append a record, also to the file."""
        self.append(record)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
