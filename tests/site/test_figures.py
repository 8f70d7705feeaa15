"""What the site costs: its speed beside the native kernel, and the memory of its tab."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pytest

from tests.board.board_page import Page
from tests.build.building import shipping
from tests.site.host import Site

ROOT = Path(__file__).parents[2]
NATIVE_LEVEL = "v2"  # 128-bit registers, as WebAssembly has them
LEAST_SPEED = 0.5  # of the native kernel's
MOST_MEMORY = 400e6  # bytes of the tab's process, what it shares counted in parts
CLEAR_SPEED = 0.6  # in the first round: the others are not needed
ROUNDS = 3
SIGNATURE = int((ROOT / "tests" / "signature.txt").read_text(encoding="ascii"))


def speed_of_tab(browser: Any, server: Site) -> float:
    """Return the nodes a second of the bench in the browser, whose signature is that of all."""
    page = Page(browser, server, "#selftest")  # type: ignore[arg-type]
    page.wait("document.querySelector('#selftest')?.textContent")
    found = json.loads(page.text("selftest"))
    assert found["signature"] == SIGNATURE and found["ready_ms"] > 0
    page.close()
    return float(found["nps"])


def memory_of_tabs() -> int:
    """Return the bytes of the largest renderer among the browser's processes."""
    tabs = [
        process
        for process in psutil.Process().children(recursive=True)
        if "--type=renderer" in " ".join(process.cmdline())
    ]
    return max(int(process.memory_full_info().pss) for process in tabs)


@pytest.mark.timed
def test_the_browser_has_the_signature_of_all_and_half_of_the_native_speed(
    browser: Any, server: Site
) -> None:
    shipping.build_kernels([shipping.host()])
    ratios: list[float] = []
    while len(ratios) < ROUNDS and max(ratios[:1], default=0.0) < CLEAR_SPEED:
        native = shipping.bench("--level", NATIVE_LEVEL)
        ratios.append(speed_of_tab(browser, server) / native["nps"])
    print(f"nodes a second beside native {NATIVE_LEVEL}: {[f'{ratio:.2f}' for ratio in ratios]}")
    assert median(ratios) >= LEAST_SPEED


def test_the_tab_keeps_within_its_memory(browser: Any, server: Site) -> None:
    page = Page(browser, server, "#b=15x15&r=freestyle&m=h8i9g9g7i8g8h7h9f7")  # type: ignore[arg-type]
    page.tab("analyse")
    page.wait("app.node.found?.depth >= 10")
    used = memory_of_tabs()
    print(f"{used / 1e6:.0f} MB")
    assert used < MOST_MEMORY
    page.close()
