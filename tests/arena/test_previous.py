"""Twenty games against another version end without a fault.

The other version is the last tagged one before this commit. Where there is no tag, as before the
first release or in a clone without tags, there is no other version to play, and this one plays
itself with the hand-set weights; the names of the tests say which it was. Nodes are limited
besides time, so that a busy machine does not make a late move look like a fault of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pbrain_engine.arena import match as command

ROOT = Path(__file__).parents[2]
CONDITIONS = [("freestyle", "15", 8), ("standard", "20", 6), ("renju", "15", 6)]
LIMITS = ["--turn", "2", "--nodes", "1500", "--openings", "random:5", "--tolerance", "5"]
LAUNCHER = """\
import os, sys
sys.path.insert(0, {tree!r})
os.environ["NUMOKU_CACHE"] = {cache!r}
from pbrain_engine.__main__ import main
main()
"""


def git(*arguments: str) -> str | None:
    """Return what git says, or None where it cannot."""
    try:
        result = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip()


def previous_tag() -> str | None:
    """Return the last version tag before this commit."""
    return git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD~1")


TAG = previous_tag()
PLAYED = f"tag {TAG}" if TAG else "itself with hand weights"


@pytest.fixture(scope="module", params=[TAG], ids=[PLAYED.replace(" ", "-")])
def opponent(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Give the command of the opponent, with the previous version built where there is one."""
    tag = request.param
    if tag is None:
        yield "numoku:weights=hand"
        return
    folder = tmp_path_factory.mktemp("previous")
    tree, cache = str(folder / "tree"), str(ROOT / ".kernels")
    if git("worktree", "add", "--quiet", "--detach", tree, tag) is None:
        pytest.skip(f"{tag} cannot be checked out")
    try:
        environment = {**os.environ, "NUMOKU_CACHE": cache, "PYTHONPATH": tree}
        build = [sys.executable, "-m", "pbrain_engine.cli", "build"]
        subprocess.run(build, cwd=tree, env=environment, check=True, capture_output=True)
        launcher = folder / "previous.py"
        launcher.write_text(LAUNCHER.format(tree=tree, cache=cache), encoding="utf-8")
        yield str(launcher)
    finally:
        git("worktree", "remove", "--force", tree)


@pytest.mark.parametrize("rule, board, games", CONDITIONS)
def test_games_end_without_a_fault(
    opponent: str, rule: str, board: str, games: int,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("PYTHONPATH", raising=False)
    words = ["now=numoku", f"{'previous' if TAG else 'hand'}={opponent}", *LIMITS]
    words += ["--rule", rule, "--board", board, "--games", str(games)]
    words += ["--concurrency", "2", "--json", "--no-journal"]
    assert command.main([*words, "--view", "quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["games"] == games
    assert result["faults"] == []
