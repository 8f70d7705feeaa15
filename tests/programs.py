"""Programs as users start them: the engine for managers, the tools, and Python with some code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAM = (sys.executable, "-m", "pbrain_engine")
NUMOKU = (sys.executable, "-m", "pbrain_engine.cli")


def start_program(*command: str, **options: Any) -> subprocess.Popen[str]:
    """Start a program that writes to pipes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{"cwd": ROOT, "text": True, **pipes, **options})


def run_program(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; return its status and what it has said."""
    usual = {"cwd": ROOT, "text": True, "capture_output": True}
    return subprocess.run(command, **{**usual, **options})


def run_on_small_disk(length: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program that can write so many bytes into a file; compiled modules are not written."""

    def limit() -> None:
        import resource  # Windows has none

        resource.setrlimit(resource.RLIMIT_FSIZE, (length, length))

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return run_program(*command, env=environment, preexec_fn=limit, timeout=300)
