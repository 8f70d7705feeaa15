"""Experiments: measurements of the engine, and searches for faults that run for hours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Journal(list[dict[str, Any]]):
    """Records in a file with one JSON object per line, so that a run can be continued."""

    def __init__(self, path: Path | None) -> None:
        """Read the records of the file; without a path they stay in memory."""
        self.path = path
        text = path.read_text(encoding="utf-8") if path is not None and path.exists() else ""
        super().__init__(map(json.loads, text.splitlines()))

    def add(self, record: dict[str, Any]) -> None:
        """Append a record, here and in the file."""
        self.append(record)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
