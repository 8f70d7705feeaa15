"""Take screenshots of the board's page: those in the documents, and all views for inspection.

usage: python build/screenshots.py [FOLDER [VIEWS]]     (needs chromium)

FOLDER (docs/pictures) gets those of the documents, VIEWS (dist/screenshots) all views in both
themes and three widths.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
GAME = "h8i9g9g7i8g8h7h9f7j9"
SETTLE = 4000  # milliseconds until a search has something to show
WIDE, PHONE = {"width": 1280, "height": 820}, {"width": 400, "height": 860}
JPEG: Any = {"type": "jpeg", "quality": 88}  # wood is large as PNG
SIZES = ({"width": 390, "height": 844}, WIDE, {"width": 1920, "height": 1080})
# The clicks that lead to each view, and the element to wait for.
VIEWS = {
    "start": ((), "#invitation p"),
    "dialog": (("#new-game", "#more summary"), "#setup"),
    "play": (("#setup-cancel", "#board"), "#variations .node >> nth=1"),
    "analyse": (("#tab-analyse",), "#lines-found li"),
    "review": (("#tab-play", "#resign", "#yes", "#tab-review", "#review"), "#marks strong"),
    "puzzles": (("#tab-puzzle", "#next-puzzle"), "#board .stone"),
    "solution": (("#puzzle-solution",), "#proof-tree button"),
    "games": (("#tab-games",), "#game-list li"),
    "files": (("#tab-file",), "#turns"),
    "database": (("#tab-known",), "#known-found p"),
}


def main() -> None:
    """Take all screenshots."""
    given = [Path(name) for name in sys.argv[1:]]
    folder, views = (
        given + [ROOT / "docs" / "pictures", ROOT / "dist" / "screenshots"][len(given) :]
    )[:2]
    for place in (folder, views):
        place.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed")
    command = [sys.executable, "-m", "pbrain_engine.cli", "board", "--no-open", "--port", "0"]
    with tempfile.TemporaryDirectory() as state:
        command += ["--db", str(Path(state) / "known.db")]
        environment = {**os.environ, "XDG_STATE_HOME": state}
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                take_all(browser, address, folder)
                for size in SIZES:
                    for scheme in ("light", "dark"):
                        take_views(browser, address, views, size, scheme)
                browser.close()
        finally:
            server.terminate()
            server.wait()
    for path in sorted([*folder.glob("board-*.jpg"), *views.glob("*.png")]):
        print(f"{path}  {path.stat().st_size:,} bytes")


def take_all(browser: Any, address: str, folder: Path) -> None:
    """Take the screenshots of the documents."""
    game = f"#b=15x15&r=freestyle&m={GAME}"
    page = open_page(browser, address + game, WIDE, "light")
    page.click("#tab-analyse")
    page.wait_for_timeout(SETTLE)
    page.screenshot(path=folder / "board-analysis.jpg", **JPEG)
    page.click("#tab-puzzle")
    page.select_option("#difficulty", "4")
    page.click("#next-puzzle")
    page.wait_for_timeout(SETTLE // 3)
    page.click("#puzzle-solution")
    page.wait_for_timeout(SETTLE)
    page.click("#defend")
    page.wait_for_timeout(SETTLE)
    page.screenshot(path=folder / "board-proof.jpg", **JPEG)
    page = open_page(browser, address + game, WIDE, "dark")
    page.click("#tab-review")
    page.fill("#review-seconds", "0.3")
    page.click("#review")
    page.wait_for_selector("#marks strong", timeout=120_000)
    page.wait_for_timeout(SETTLE // 3)
    page.screenshot(path=folder / "board-review.jpg", **JPEG)
    take_known(open_page(browser, address + game, WIDE, "light"), folder)
    page = open_page(browser, address + game, PHONE, "dark")
    page.click("#tab-analyse")
    page.select_option("#overlay", "both")
    page.wait_for_timeout(SETTLE)
    page.screenshot(path=folder / "board-phone.jpg", **JPEG)


def take_views(browser: Any, address: str, folder: Path, size: dict[str, int], scheme: str) -> None:
    """Take a screenshot of each view, in the order in which a person reaches them."""
    page = open_page(browser, address, size, scheme)
    for name, (presses, selector) in VIEWS.items():
        for press in presses:
            page.click(press)
        page.wait_for_selector(selector, timeout=60_000)
        page.wait_for_timeout(SETTLE // 4)
        page.screenshot(path=folder / f"{name}-{size['width']}-{scheme}.png")


def take_known(page: Any, folder: Path) -> None:
    """Take the screenshot of the database, after storing something in it."""
    page.wait_for_timeout(SETTLE)
    page.click("#undo")
    page.fill("#comment", "White is under pressure already: four black stones on two diagonals.")
    page.click("#tab-known")
    page.click("#store-game")
    page.wait_for_timeout(SETTLE)
    page.click("#redo")
    page.click("#undo")
    page.wait_for_selector("#known-next tr")
    page.wait_for_timeout(SETTLE // 3)
    page.screenshot(path=folder / "board-database.jpg", **JPEG)


def open_page(browser: Any, address: str, size: dict[str, int], scheme: str) -> Any:
    """Return a new page of a size in light or dark, closing the previous one."""
    for context in browser.contexts:
        context.close()
    page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
    page.goto(address)
    page.wait_for_selector("#link[data-state=open]")
    return page


if __name__ == "__main__":
    main()
