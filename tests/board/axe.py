"""Accessibility of a page as axe-core sees it; it is fetched by npm for these tests only."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.board.board_page import Page

COLOURS = "color-contrast", "link-in-text-block"  # what another scheme can change


def axe() -> str:
    """Return the source of axe-core, or skip the test where it cannot be had."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed; accessibility is not checked")
    folder = Path(__file__).parents[2] / ".pytest_cache" / "axe"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "package" / "axe.min.js"
    if not source.exists():
        command = [npm, "pack", "axe-core@4", "--silent"]
        try:
            packed = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=90, check=True
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            pytest.skip("axe-core cannot be fetched; accessibility is not checked")
        shutil.unpack_archive(folder / packed.stdout.strip().splitlines()[-1], folder, "gztar")
    return source.read_text(encoding="utf-8")


def serious_findings(page: Page, *rules: str) -> list[Any]:
    """Return what axe finds serious or critical by some rules or all, with some of the pieces."""
    if not page.do("'axe' in window"):
        page.do(axe() + ";0")  # as the page's own policy forbids other scripts
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    run = f"axe.run({json.dumps(options)})"
    found = page.do(f"{run}.then((found) => JSON.stringify(found.violations))")
    return [
        (item["id"], [node["html"][:100] for node in item["nodes"]][:3])
        for item in json.loads(found)
        if item["impact"] in ("serious", "critical")
    ]
