"""Build the documents as a site: ``python build/docs.py dist/docs``.

README is the first page. The pages of ``docs/`` are copied; the reference is generated from the
commands' help, the table of search parameters and docstrings; MkDocs renders everything. Its strict
mode fails on broken links and anchors.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from inspect import getdoc
from io import StringIO
from pathlib import Path

from pbrain_engine import cli
from pbrain_engine.search import parameters

ROOT = Path(__file__).parent.parent
CONFIG = Path(__file__).with_name("mkdocs.yml")
PAGES = ROOT / "dist" / "docs-pages"  # what MkDocs reads: ``docs_dir`` of its configuration
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
API = (
    ("The engine", "pbrain_engine.engine.engine", "Engine"),
    ("Limits and results", "pbrain_engine.engine.pacing", "Limit"),
    ("", "pbrain_engine.game.result", "Result"),
    ("Games", "pbrain_engine.game.game", "Game"),
    ("The solver", "pbrain_engine.solver", "Solver"),
)
FORMATS = (  # modules whose docstrings describe a format
    ("commands/analyse", "numoku analyse --json"),
    ("commands/review", "numoku review --json"),
    ("commands/solve", "Puzzles"),
    ("commands/db", "numoku db --json"),
    ("arena/standings", "numoku match --json"),
    ("notation/journal", "Journals of matches"),
    ("notation/games", "Games of self-play"),
    ("eval/weights", "Weight files"),
    ("eval/network_block", "Networks in weight files"),
    ("board/app", "The server of the board"),
)
SOURCES = {f"pbrain_engine/{module}.py": title for module, title in FORMATS}


def help_of(words: Sequence[str]) -> str:
    """Return what a command prints for ``--help``."""
    out = StringIO()
    with redirect_stdout(out), suppress(SystemExit):
        cli.main([*words, "--help"])
    return out.getvalue().strip()


def commands_page() -> str:
    """Return the reference of all commands in Markdown."""
    parts = ["# Commands", "What each command prints for `--help`."]
    for name, (module, purpose) in cli.COMMANDS.items():
        text = help_of([name])
        parts += [f"## {name}", f"{purpose[0].upper()}{purpose[1:]}.", f"```text\n{text}\n```"]
        command = getattr(importlib.import_module(f"pbrain_engine.{module}"), "COMMAND", None)
        for action in command.actions if command else ():
            words = [name, action] if name != "db" else [name, "FILE", action]
            parts += [f"### {name} {action}", f"```text\n{help_of(words)}\n```"]
    return "\n\n".join(parts) + "\n"


def parameters_page() -> str:
    """Return the table of search parameters in Markdown."""
    rows = [
        "# Search parameters",
        "Each is an option of an engine, such as `numoku match numoku:futility_slope=70 numoku`.",
        "",
        "| name | default | range | meaning |",
        "|---|---|---|---|",
    ]
    rows += [
        f"| `{name}` | {one.default} | {one.low} to {one.high} | {one.meaning} |"
        for name, one in parameters.PARAMETERS.items()
    ]
    return "\n".join(rows) + "\n"


def api_page() -> str:
    """Return the page that mkdocstrings fills with the docstrings of the public classes."""
    parts = ["# Python classes", "How to use them: [the Python API](../api.md)."]
    for heading, module, name in API:
        parts += [f"## {heading}"] * bool(heading) + [f"::: {module}.{name}"]
    return "\n\n".join(parts) + "\n"


def formats_page() -> str:
    """Return the docstrings of the modules that define a format, in Markdown."""
    parts = ["# Formats", "JSON documents and files, described by the modules that define them."]
    for module, title in FORMATS:
        name = f"pbrain_engine.{module.replace('/', '.')}"
        text = getdoc(importlib.import_module(name)) or ""
        parts += [f"## {title}", f"`{name}`", text.replace("``", "`")]
    return "\n\n".join(parts) + "\n"


def anchor(title: str) -> str:
    """Return the anchor that Python-Markdown gives a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def relinked(text: str, place: str) -> str:
    """Return a page of ``docs/`` or the root with its links changed for the site."""
    up = "../" * place.count("/")
    targets = {
        **ROOT_PAGES,
        **{path: f"reference/formats.md#{anchor(title)}" for path, title in SOURCES.items()},
    }
    for source, target in targets.items():
        text = re.sub(rf"\]\((\.\./)*{re.escape(source)}", f"]({up}{target}", text)
    return text if place not in ROOT_PAGES.values() else text.replace("](docs/", "](")


def write_pages(folder: Path) -> None:
    """Write all pages that MkDocs reads into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    pages = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.md")}
    sources = {**pages, **{target: ROOT / source for source, target in ROOT_PAGES.items()}}
    for place, source in sources.items():
        text = relinked(source.read_text(encoding="utf-8"), place)
        (folder / place).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "LICENSE", folder)
    reference = folder / "reference"
    reference.mkdir()
    for name, page in (
        ("commands", commands_page), ("formats", formats_page),
        ("parameters", parameters_page), ("python", api_page),
    ):  # fmt: skip
        (reference / f"{name}.md").write_text(page(), encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Build the site of the documents into a folder; return MkDocs' status."""
    if len(words) != 1:
        print("name the output folder", file=sys.stderr)
        return 2
    write_pages(PAGES)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    out = Path(words[0]).resolve()
    quiet = dict(os.environ, NO_MKDOCS_2_WARNING="1")  # MkDocs' advertisement of a successor
    command += ["-f", str(CONFIG), "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
