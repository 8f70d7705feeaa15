"""Command lines: errors in one line, numbers that make sense, and what is not installed."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pbrain_engine
from pbrain_engine import cli
from pbrain_engine.errors import problem_of
from tests.programs import NUMOKU, ROOT, run_program

unix = pytest.mark.skipif(os.name == "nt" or not shutil.which("bash"), reason="needs a Unix shell")


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_wrong_use_of_every_command_is_told_in_one_line(name, run):
    status, out, err = run(name, "--no-such-option")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1 and name in err


@pytest.mark.parametrize(
    "words",
    ["analyse FILE", "solve FILE", "db x add FILE", "match random random --openings FILE",
     "match random random --games 2 --journal FILE", "match --resume FILE", "report FILE",
     "tune FILE --show", "openings FILE", "train FILE --out x", "weights FILE"],
)  # fmt: skip
def test_a_file_that_is_not_there_is_told_without_numbers(words, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").touch()
    name = "below" if os.name == "nt" else "be\nlow"
    path = str(tmp_path / "plain" / name)  # where no file can be
    found, out, err = run(*(path if word == "FILE" else word for word in words.split()))
    assert (found, out) == (1, "")
    assert err.count("\n") == 1 and "Errno" not in err and "plain" in err


def test_a_problem_is_one_line():
    assert problem_of(ValueError("two\nlines")) == "two lines"
    assert problem_of(ValueError("\x1b[31mred\0\udcff é")) == "\\x1b[31mred\\x00\\udcff é"
    missing = FileNotFoundError(2, "No such file or directory", "a")
    assert problem_of(missing) == "a: No such file or directory"
    assert problem_of(FileNotFoundError(2, "None", "")) == "'': None"


@unix
def test_a_line_break_in_a_name_breaks_no_line_and_a_tilde_is_ones_home(tmp_path, run, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a\nb.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    for words, told in (
        ("add ~/a\nb.sgf", "~/a b.sgf: stored 1 game, 2 positions"),
        ("check", "HOME/x y.db is intact: 2 positions, 1 game, 0 moves, 0 book positions"),
        ("export ~/a\nb.lib", "HOME/a b.lib: 22 bytes"),
    ):
        said = run("db", "~/x\ny.db", *words.split(" "))
        assert said == (0, f"{told}\n".replace("HOME", str(tmp_path)), "")


@unix
@pytest.mark.parametrize(
    ("words", "status"),
    [("--help", 0), ("analyse --help", 0), ("analyse h8 --depth 8", 0), ("--version", 0),
     ("weights learned hand", 0), ("solve README.md", 1)],
)  # fmt: skip
def test_a_closed_pipe_is_no_failure_and_makes_none_good(words, status):
    command = f"unset PYTHONUNBUFFERED; {' '.join(NUMOKU)} {words} | true"
    result = run_program("bash", "-o", "pipefail", "-c", command)
    assert (result.returncode, bool(result.stderr)) == (status, bool(status))


@unix
@pytest.mark.parametrize(
    ("name", "buffering"),
    [*((name, "unset PYTHONUNBUFFERED") for name in ("analyse", "train", "")),
     *((name, "export PYTHONUNBUFFERED=1") for name in ("analyse", ""))],
)  # fmt: skip
def test_help_for_a_full_disk_says_so(name, buffering):
    module = "pbrain_engine.cli" if name else "pbrain_engine"
    command = f"{buffering}; {sys.executable} -m {module} {name} --help >/dev/full"
    result = run_program("bash", "-c", command)
    assert result.returncode == 1 and result.stderr.endswith(": No space left on device\n")
    assert result.stderr.startswith("numoku") and result.stderr.count("\n") == 1


@unix
@pytest.mark.parametrize(
    ("words", "streams", "status", "output"),
    [
        ("--version", ">&-", 0, ""),
        ("--version", ">/dev/full", 1, "numoku: No space left on device"),
        ("weights learned hand", ">/dev/full", 1, "numoku: No space left on device"),
        ("nonsense", "2>&-", 2, ""),
        ("nonsense", "2>/dev/full", 2, ""),
        ("analyse --depth x", "2>/dev/full", 2, ""),
        ("analyse h8h8", "2>/dev/full", 1, ""),
        ("check ./no-such-engine", "2>/dev/full", 2, ""),
        ("play --level 1", "<&-", 0, "your move, black> "),
        ("analyse -", "<&-", 1, "numoku: the standard input is empty: there is no game in it"),
        ("solve -", "<&-", 1, "numoku: the standard input is empty: there is no puzzle in it"),
        ("analyse h8 --depth 1", "<&- >&- 2>&-", 0, ""),
        ("check true", ">/dev/full", 1, "numoku: No space left on device"),
    ],
)
def test_streams_that_are_closed_or_full_are_no_fault(words, streams, status, output):
    command = f"unset PYTHONUNBUFFERED; {' '.join(NUMOKU)} {words} {streams}"
    result = run_program("bash", "-c", command)
    reported = result.stdout + result.stderr
    assert result.returncode == status and "Traceback" not in reported and "ignored" not in reported
    assert output in reported and bool(output) == bool(reported)
    assert result.stderr.count("\n") == (status == 1 and bool(output))


@unix
@pytest.mark.parametrize(
    "words",
    [
        "weights /dev/zero", "weights --games /dev/zero", "analyse /dev/zero", "review /dev/zero",
        "analyse h8 --weights /dev/zero", "play /dev/zero", "board /dev/zero",
        "solve /dev/zero", "db a.db add /dev/zero", "db a.db merge /dev/zero",
        "db /dev/zero show", "book show /dev/zero h8", "report /dev/zero",
        "match random random --openings /dev/zero", "match --resume /dev/zero",
        "train /dev/zero --out a",
        "datagen a --positions /dev/zero", "tune /dev/zero --show",
    ],
)  # fmt: skip
def test_a_file_without_an_end_is_refused(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = cli.main(words.split())
    except SystemExit as leaving:
        status = leaving.code
    out, err = capsys.readouterr()
    assert status in (1, 2) and not out and err.count("\n") == 1
    assert "zero" in err


@unix
@pytest.mark.parametrize(
    "words",
    ["solve docs/puzzles.jsonl --threats-only --json",
     "match random random --games 2 --json --view plain --journal FILE"],
)  # fmt: skip
def test_without_a_stream_for_errors_the_output_is_still_json(words, tmp_path):
    words = words.replace("FILE", str(tmp_path / "match.jsonl"))
    result = run_program("bash", "-c", f"{' '.join(NUMOKU)} {words} 2>&-")
    assert result.returncode == 0
    assert all(isinstance(json.loads(line), dict) for line in result.stdout.splitlines())


GAMES, JOURNAL = "games/sample.games", "arena/journals/test-0.3.jsonl"


@pytest.mark.parametrize(
    ("words", "source"),
    [("report FILE --html FILE", JOURNAL), ("report FILE --pgn FILE", JOURNAL),
     ("train FILE --out FILE", GAMES), ("train GAMES --test FILE --out FILE", GAMES),
     ("datagen FILE --positions FILE", GAMES), ("tune FILE --page FILE", GAMES)],
)  # fmt: skip
def test_no_command_writes_over_a_file_that_it_reads(words, source, tmp_path, run):
    path, content = tmp_path / "file", (ROOT / "tests" / source).read_bytes()
    path.write_bytes(content)
    words = words.replace("GAMES", str(ROOT / "tests" / GAMES)).replace("FILE", str(path), 1)
    status, _, err = run(*words.replace("FILE", f"{tmp_path}/./file").split())
    assert status == 1 and err.endswith("file is read; name another file to write\n")
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "words",
    ["report JOURNAL --html out", "report JOURNAL --pgn out", "db a.db export out.lib",
     "db a.db export out.sgf", "db a.db export out.jsonl"],
)  # fmt: skip
def test_an_output_that_fails_leaves_the_file_that_was_there(words, tmp_path, monkeypatch, run):
    def is_full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    assert run("db", "a.db", "add", "h8i9")[0] == 0
    out = Path(words.split()[-1])
    out.write_bytes(b"before")
    monkeypatch.setattr(Path, "replace", is_full)
    status, _, err = run(*words.replace("JOURNAL", str(ROOT / "tests" / JOURNAL)).split())
    assert status == 1 and err.endswith(f"{out}: No space left on device\n")
    assert out.read_bytes() == b"before" and sorted(Path().glob("out*")) == [out]


INTERRUPTING = """\
import sys
sys.modules.pop({0!r}, None)
class Interrupt:
    def find_spec(self, name, *_):
        if name == {0!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from pbrain_engine import cli
sys.exit(cli.main({1!r}))
"""


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("importlib", ["--help"]),
        ("pbrain_engine.errors", ["--help"]),
        ("pbrain_engine.engine.engine", ["analyse", "h8"]),
        ("pbrain_engine.options", ["analyse", "h8"]),
        ("pbrain_engine.commands.analyse", ["analyse", "h8"]),
        ("pbrain_engine.commands.bench", ["--version"]),
    ],
)
def test_an_interrupt_while_modules_are_loaded_ends_the_command(module, words):
    result = run_program(sys.executable, "-c", INTERRUPTING.format(module, words))
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


WITHOUT = """\
import sys
sys.modules[{!r}] = None
from pbrain_engine import cli
sys.exit(cli.main({!r}))
"""


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("numpy", ["train", "x", "--out", "y"], "training"),
        ("numba", ["train", "--help"], "training"),
        ("numpy", ["weights", "--games", "tests/games/sample.games"], "training"),
        ("starlette", ["board"], "board"),
    ],
)
def test_what_is_not_installed_is_told_with_its_cure(missing, words, extra):
    result = run_program(sys.executable, "-c", WITHOUT.format(missing, words))
    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert f"pip install 'pbrain-numoku[{extra}]'" in result.stderr


def test_a_missing_module_that_no_extra_brings_is_not_explained(monkeypatch, run):
    monkeypatch.setitem(cli.COMMANDS, "gone", ("gone.entirely", ""))
    with pytest.raises(ModuleNotFoundError):
        run("gone")


def test_the_extra_for_learning_is_enough_for_it():
    words = ["weights", "--games", "tests/games/sample.games"]
    result = run_program(sys.executable, "-c", WITHOUT.format("ziglang", words))
    assert (result.returncode, result.stderr) == (0, "")


def test_only_commands_that_learn_cannot_be_loaded_without_what_is_not_python():
    code = (
        "from importlib import import_module; from pbrain_engine.cli import COMMANDS\n"
        "for name, (module, _) in COMMANDS.items():\n"
        "    try: import_module(f'pbrain_engine.{module}')\n"
        "    except ModuleNotFoundError: print(name)"
    )
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    said = run_program(sys.executable, "-S", "-c", code, env=bare)  # without site packages
    assert said.stdout.split() == ["train"]  # the others need nothing, or say themselves what


def test_only_commands_that_are_there_are_listed(monkeypatch, run):
    monkeypatch.setitem(cli.COMMANDS, "absent", ("commands.absent", "is not there"))
    monkeypatch.setitem(cli.COMMANDS, "gone", ("gone.entirely", "with its folder"))
    out = run("--help")[1]
    assert "absent" not in out and "gone" not in out and "  bench " in out


def test_the_package_lists_its_public_names_for_type_checkers_too():
    assert set(pbrain_engine.__all__) <= set(dir(pbrain_engine))
    tree = ast.parse(Path(pbrain_engine.__file__).read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    names = {name.name for node in typed.body for name in getattr(node, "names", ())}
    assert names | {"__version__"} == set(pbrain_engine.__all__)


def test_all_errors_of_the_package_have_one_base():
    package = Path(pbrain_engine.__file__).parent
    found: dict[str, type] = {}
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        classes = re.findall(r"^class (\w+)\(.*(?:Error|Exception)", path.read_text("utf-8"), re.M)
        found |= {word: getattr(import_module(name), word) for word in classes}
    assert len(found) <= 12
    assert all(issubclass(kind, pbrain_engine.NumokuError) for kind in found.values())


def test_help_for_a_command_is_what_its_option_shows(run):
    said = run_program(*NUMOKU, "help", "solve")
    assert said.returncode == 0 and said.stdout.startswith("usage: numoku solve")
    assert run("help", "no-such-command")[0] == 2
