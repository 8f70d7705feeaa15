"""The documents say what is true: their examples run, their commands and links exist."""

from __future__ import annotations

import doctest
import importlib
import re
from contextlib import redirect_stdout, suppress
from functools import cache
from io import StringIO

import pytest

import pbrain_engine
from pbrain_engine import cli
from pbrain_engine.commands import analyse, bench, demo, play
from tests.build.building import docs
from tests.programs import ROOT

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
OPTIONS = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_pages(page):
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", ["pbrain_engine", "pbrain_engine.engine.engine", "pbrain_engine.game.game"]
)
def test_examples_in_modules(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_navigation_has_every_page():
    text = (ROOT / "build" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    generated = set(docs.ROOT_PAGES.values())
    generated |= {
        f"reference/{name}.md" for name in ("commands", "formats", "parameters", "python")
    }
    named = re.findall(r": (\S+\.md)$", text, re.M)
    assert sorted(named) == sorted(pages | generated)
    contents = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Documents")[2]
    assert set(re.findall(r"\]\(docs/(\S+?\.md)\)", contents.partition("\n## ")[0])) == pages


def test_every_public_name_is_there_and_documented_with_examples():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert text.count(">>> ") > 30
    for name in pbrain_engine.__all__:
        assert getattr(pbrain_engine, name) is not None
        assert name.startswith("__") or f"`{name}`" in text.partition("## ")[0], name
    with pytest.raises(AttributeError):
        _ = pbrain_engine.no_such_name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_pages_name_are_there(page):
    for name in re.findall(r"`(pbrain_engine(?:\.\w+)+)`", page.read_text(encoding="utf-8")):
        importlib.import_module(name)


@cache
def help_of(command: str) -> str:
    out = StringIO()
    with redirect_stdout(out), suppress(SystemExit):
        cli.main([command, "--help"])
    return out.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_that_pages_name_are_those_of_the_command(page):
    text = page.read_text(encoding="utf-8")
    for command, words in re.findall(r"(?:`|^)numoku (\w+)([^`\n]*)", text, re.M):
        if command in cli.COMMANDS and "ACTION" not in help_of(command):  # its actions have others
            for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", words):
                assert option in help_of(command), f"{command} {option}"


def test_the_reference_has_every_command_and_action():
    page = docs.commands_page()
    headings = re.findall(r"^## (.*)$", page, re.M)
    assert headings == list(cli.COMMANDS)
    actions = re.findall(r"^### (.*)$", page, re.M)
    assert {"db add", "db rescue", "book build"} <= set(actions)
    assert page.count("usage: numoku ") == len(headings) + len(actions)


@pytest.mark.parametrize("module", [analyse, bench, demo, play])
def test_examples_of_commands_can_be_parsed(module):
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    name = module.__name__.rpartition(".")[2]
    examples = re.findall(rf"^numoku {name}\b(.*)$", text, re.M)
    assert examples
    for example in examples:
        words = example.partition("<")[0].split()
        assert module.COMMAND.parse(words)
